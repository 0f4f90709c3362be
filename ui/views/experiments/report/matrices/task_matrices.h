// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/experiments/report/figure_view.h"
#include "ui/views/skip_sets/compare/set_comparison.h"

#include <map>

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ui {

class ComparisonPane;

/// The matrices of a result over the same tasks, side by side where there is room. One cell is
/// chosen in all of them; below stands in a sentence what it means, and on demand the two sets that
/// it is about. Thread: UI.
class TaskMatrices : public QWidget {
    Q_OBJECT

public:
    explicit TaskMatrices(const Theme& theme, QWidget* parent = nullptr);

    /// Takes a view with the part of the page that it stands in, below its title. `measure` is that
    /// of its cells, as recipes name it.
    void add(FigureView* view, const std::string& measure);

    /// After the views were given theirs: takes the sets that figures of the result show.
    void setFigures(const std::vector<ResultFigurePtr>& figures);

    void choose(const MatrixCell& cell);

    QString sentence() const;

    /// Compares the sets of the chosen cell's row and column while it is checked.
    QPushButton& compareButton() { return *m_compare; }

    ComparisonPane& comparisonPane() { return *m_pane; }

signals:
    /// This rectangle should be in sight.
    void sightWanted(const QRect& place);
    void runAsked(const ui::SetComparison& sets);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Matrix {
        FigureView* view;
        std::string measure;
    };

    struct FoundSet {
        engine::SkipSet set;
        int layers = 0;
    };

    void build();
    void restyle();
    void arrange();
    void showCell();
    QString sentenceOf(const MatrixCell& cell) const;
    /// None where both are the same, or where the result shows no sets.
    std::optional<SetComparison> comparison() const;

    const Theme& m_theme;
    std::vector<Matrix> m_matrices;
    std::map<std::string, FoundSet> m_sets; ///< by their tasks' names
    std::optional<MatrixCell> m_cell;
    QGridLayout* m_grid;
    int m_columns = 0; ///< of m_grid; 0 = to be arranged anew
    QLabel* m_words;
    QPushButton* m_compare;
    ComparisonPane* m_pane;
    QVBoxLayout* m_below = nullptr; ///< sentence, button and pane
    bool m_isOpening = false;       ///< the pane; it is not laid out yet
};

} // namespace ui
