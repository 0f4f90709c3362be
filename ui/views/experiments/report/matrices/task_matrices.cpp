// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/matrices/task_matrices.h"

#include "ui/shell/figure_text.h"
#include "ui/views/skip_sets/compare/comparison_pane.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr double kLeastMatrixWidth = 264.0; ///< pixels at 100 %
constexpr double kCellWithInterval = 44.0;  ///< narrower ones are drawn without it
constexpr double kShareOfCells = 0.7;       ///< of the width; names take the rest at most

/// "1.08 times vanilla (1.02 to 1.13)", "acceptance .81"
QString cellValueWords(const engine::ResultFigure& figure,
                       const std::string& measure,
                       const engine::Estimate& value) {
    const bool isSpeed = figure.y.reference.has_value();
    const auto number = [isSpeed](double of) { return isSpeed ? decimalText(of) : shareText(of); };
    const QString name = measure == "acceptance" ? TaskMatrices::tr("acceptance")
                                                 : QString::fromStdString(figure.title);
    const QString words = isSpeed ? TaskMatrices::tr("%1 times vanilla").arg(number(value.value))
                                  : QStringLiteral("%1 %2").arg(name, number(value.value));
    if (!value.low || !value.high)
        return words;
    return TaskMatrices::tr("%1 (%2 to %3)").arg(words, number(*value.low), number(*value.high));
}

std::vector<int> skippedIn(const std::vector<engine::Estimate>& layers) {
    std::vector<int> skipped;
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
        if (layers[layer].value > 0.5)
            skipped.push_back(static_cast<int>(layer));
    return skipped;
}

} // namespace

TaskMatrices::TaskMatrices(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_grid(new QGridLayout)
    , m_words(plainLabel(this, true))
    , m_compare(new QPushButton(tr("Compare the two sets"), this))
    , m_pane(new ComparisonPane(theme, this)) {
    build();
    connect(m_compare, &QPushButton::toggled, this, [this](bool isOpen) {
        m_isOpening = isOpen;
        showCell();
    });
    connect(m_pane, &ComparisonPane::closed, this, [this] {
        m_compare->setFocus(Qt::OtherFocusReason);
        m_compare->setChecked(false);
    });
    connect(m_pane, &ComparisonPane::runAsked, this, [this] {
        if (m_pane->comparison())
            emit runAsked(*m_pane->comparison());
    });
    connect(&theme, &Theme::changed, this, &TaskMatrices::restyle);
    restyle();
    showCell();
}

void TaskMatrices::build() {
    m_compare->setProperty("form", "small");
    m_compare->setCheckable(true);
    m_compare->setToolTip(tr("Which sublayers each of the two sets skips (Enter)"));
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(0);
    auto* line = new QHBoxLayout;
    line->addWidget(m_words, 1);
    line->addWidget(m_compare, 0, Qt::AlignTop);
    m_below = new QVBoxLayout;
    m_below->addLayout(line);
    m_below->addWidget(m_pane);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_grid);
    column->addLayout(m_below);
}

void TaskMatrices::restyle() {
    const int side = m_theme.scaled(12);
    m_below->setContentsMargins(side, 0, side, side);
    m_below->setSpacing(m_theme.scaled(8));
    m_columns = 0;
    arrange();
}

void TaskMatrices::add(FigureView* view, const std::string& measure) {
    m_matrices.push_back({view, measure});
    connect(view, &FigureView::cellChosen, this, [this, view](const MatrixCell& cell) {
        choose(cell);
        const QRect place = view->cellRect(cell).toRect();
        emit sightWanted({view->mapTo(this, place.topLeft()), place.size()});
    });
    connect(view, &FigureView::cellOpened, m_compare, &QPushButton::click);
    m_columns = 0;
    arrange();
}

/// Side by side as far as each has room for its intervals.
void TaskMatrices::arrange() {
    const int count = static_cast<int>(m_matrices.size());
    double least = kLeastMatrixWidth;
    for (const Matrix& matrix : m_matrices) {
        const auto cells = static_cast<double>(matrix.view->figure().x.names.size());
        least = std::max(least, kCellWithInterval * cells / kShareOfCells + 24.0);
    }
    const int columns = std::clamp(width() / m_theme.scaled(least), 1, std::max(1, count));
    if (std::exchange(m_columns, columns) == columns)
        return;
    for (int i = 0; i < count; ++i)
        m_grid->addWidget(
            m_matrices[static_cast<std::size_t>(i)].view->parentWidget(), i / columns, i % columns);
    for (int column = 0; column < count; ++column)
        m_grid->setColumnStretch(column, column < columns ? 1 : 0);
}

void TaskMatrices::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
    if (std::exchange(m_isOpening, false))
        emit sightWanted({0, height() - 1, 1, 1});
}

void TaskMatrices::setFigures(const std::vector<ResultFigurePtr>& figures) {
    m_sets.clear();
    for (const ResultFigurePtr& figure : figures)
        for (const engine::FigurePanel& panel : figure->panels)
            if (figure->kind == engine::FigureKind::LayerGrids && panel.cells.size() == 2)
                m_sets[panel.title] = {{skippedIn(panel.cells[0]), skippedIn(panel.cells[1])},
                                       static_cast<int>(panel.cells[0].size())};
    const auto hasCell = [this](const Matrix& matrix) {
        const engine::ResultFigure& figure = matrix.view->figure();
        return std::ranges::count(figure.y.names, m_cell->row) > 0 &&
               std::ranges::count(figure.x.names, m_cell->column) > 0;
    };
    if (m_cell && std::ranges::none_of(m_matrices, hasCell))
        m_cell.reset(); // of another run
    m_compare->setVisible(!m_sets.empty());
    showCell();
    arrange();
}

void TaskMatrices::choose(const MatrixCell& cell) {
    m_cell = cell;
    showCell();
}

QString TaskMatrices::sentence() const { return m_words->text(); }

void TaskMatrices::showCell() {
    m_words->setText(m_cell ? sentenceOf(*m_cell)
                            : tr("Choose a cell with the mouse or the arrow keys to read what it "
                                 "means."));
    for (const Matrix& matrix : m_matrices)
        matrix.view->setCell(m_cell, m_cell ? m_words->text() : QString());
    const auto sets = comparison();
    m_compare->setEnabled(sets.has_value());
    if (m_pane->comparison() != sets)
        m_pane->setComparison(sets);
    m_pane->setVisible(sets.has_value() && m_compare->isChecked());
}

QString TaskMatrices::sentenceOf(const MatrixCell& cell) const {
    const QString row = QString::fromStdString(cell.row);
    const QString column = QString::fromStdString(cell.column);
    const bool isOwn = cell.row == cell.column;
    QStringList values;
    const engine::Estimate* overlap = nullptr;
    for (const auto& [view, measure] : m_matrices) {
        const engine::Estimate* value = view->value(cell);
        if (measure == "jaccard")
            overlap = value;
        else if (value != nullptr)
            values << cellValueWords(view->figure(), measure, *value);
        else if (view->figure().y.reference)
            values << tr("no speedup");
    }
    const QString words = tr("%1: %2").arg(
        isOwn ? tr("The own set of %1").arg(row) : tr("The set of %1 on %2").arg(row, column),
        values.isEmpty() ? tr("not measured") : values.join(QStringLiteral(", ")));
    if (overlap == nullptr || isOwn)
        return words + u'.';
    return tr("%1; of the sublayers that it or the own set of %2 skips, both skip %3 %.")
        .arg(words, column, QString::number(100.0 * overlap->value, 'f', 0));
}

std::optional<SetComparison> TaskMatrices::comparison() const {
    if (!m_cell || m_cell->row == m_cell->column)
        return std::nullopt;
    const auto a = m_sets.find(m_cell->row);
    const auto b = m_sets.find(m_cell->column);
    if (a == m_sets.end() || b == m_sets.end() || a->second.layers != b->second.layers)
        return std::nullopt;
    return SetComparison{{QString::fromStdString(a->first), a->second.set},
                         {QString::fromStdString(b->first), b->second.set},
                         a->second.layers};
}

} // namespace ui
