// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/figure_table.h"
#include "ui/views/tune/curves/tune_view.h"

class QLabel;

namespace ui {

class ScoreTable;

/// A view of a training that is one table; a note stands in its place while there are no figures.
/// Thread: UI.
class TuneTableView : public TuneView {
    Q_OBJECT

public:
    FigureTable table() const override { return m_whole; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    /// Unscaled pixels.
    struct Heights {
        int usual;
        int least;
    };

    TuneTableView(const ViewContext& context,
                  const TuningSession& session,
                  const ViewInfo& info,
                  Heights heights,
                  QWidget* parent);

    void setNote(const QString& note);

    /// The figures with all digits, and as they are read.
    void showTable(FigureTable whole, FigureTable read);

private:
    Heights m_heights;
    FigureTable m_whole;
    ScoreTable* m_table;
    QLabel* m_note;
};

} // namespace ui
