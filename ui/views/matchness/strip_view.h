// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/matchness/matchness_strip.h"

class QLabel;

namespace ui {

class LiveLabel;

/// The γ tokens that candidates are scored on, and below them what the set shown would have
/// drafted.
class MatchnessStripView : public View {
    Q_OBJECT

public:
    explicit MatchnessStripView(const ViewContext& context, QWidget* parent = nullptr);

    /// "29 match, 3 miss", kept up to date.
    QWidget* makeLegend(QWidget* parent) override;
    FigureTable table() const override;

    MatchnessStrip& strip() { return *m_strip; }

    QString countsText() const;

protected:
    void refreshView(Topics changed) override;

private:
    void restyle();
    void showWords();
    QString emptyNote() const;

    MatchnessStrip* m_strip;
    QLabel* m_note; ///< shown until something was scored
    LiveLabel* m_counts = nullptr;
};

} // namespace ui
