// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/matchness/strip_model.h"

#include <QTableView>

namespace ui {

class Theme;

/// The window's tokens, and below them the draft's prediction: a tick, or a cross and the guess
/// struck out. A table that wraps: arrows go from cell to cell. Thread: UI.
class MatchnessStrip : public QTableView {
    Q_OBJECT

public:
    explicit MatchnessStrip(const Theme& theme, QWidget* parent = nullptr);

    void setCells(std::vector<StripCell> cells);

    const StripModel& cellModel() const { return m_model; }

    /// Pixels that all lines need at this width.
    int heightFor(int width) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();
    void restyle();
    int columnsFor(int width) const;
    int placeOfKeyboard() const;
    void returnTo(int place);

    const Theme& m_theme;
    StripModel m_model;
};

} // namespace ui
