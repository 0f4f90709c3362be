// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/pending_changes.h"
#include "ui/plots/line_plot.h"
#include "ui/shell/docks/view.h"
#include "ui/views/matchness/search_figures.h"

#include <array>
#include <optional>

namespace ui {

/// The scores of all candidate sets, the score of the set in use, and the phases of the search. A
/// click selects the best set at that place.
class MatchnessView : public View {
    Q_OBJECT

public:
    explicit MatchnessView(const ViewContext& context, QWidget* parent = nullptr);

    QWidget* makeLegend(QWidget* parent) override;
    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    LinePlot& plot() { return *m_plot; }

protected:
    void refreshView(Topics changed) override;

private:
    void makePlot();
    bool isOfSearch() const;
    void takeTrials();
    QString summary() const;
    void updateAxes();
    void updateCursor();
    std::optional<double> stopScore() const;
    void choosePlace(double place);
    void goTo(std::optional<int> index);
    void showEmptyNote();
    void useSearch();

    PendingChanges m_choices; ///< of the decoder
    LinePlot* m_plot = nullptr;
    std::array<int, 6> m_series{}; ///< [TrialLook]
    int m_bestSeries = 0;
    std::size_t m_taken = 0;
    double m_takenUntil = 0.0;        ///< time of the newest trial taken
    FigureTable m_table;              ///< a row for each of them, with the current set behind it
    std::optional<int> m_placeBefore; ///< in the history, before the newest click
    double m_lowest = 1.0;            ///< score
    QString m_problem;                ///< with choosing the decoder that searches
};

} // namespace ui
