// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/skip_sets/compare/comparison_pane.h"

#include "ui/shell/figure_text.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/grid/layer_legend.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

ComparisonPane::ComparisonPane(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_names(plainLabel(this, true))
    , m_grid(new LayerGrid(theme, m_model, this))
    , m_legend(new LayerLegend(theme, this))
    , m_numbers(plainLabel(this, true))
    , m_cell(plainLabel(this, true))
    , m_run(new QPushButton(tr("Run A against B..."), this))
    , m_close(new QPushButton(tr("Close"), this)) {
    m_grid->table().setAccessibleName(tr("Comparison of two skip sets"));
    m_grid->table().setAccessibleDescription(
        tr("Which of the two sets skip each attention and MLP sublayer."));
    m_run->setToolTip(tr("Makes an experiment that measures both sets on the same prompts"));
    m_close->setAccessibleName(tr("Close the comparison"));
    const auto look = [](bool isA, bool isB) {
        return CellLook{.kind = Sublayer::Attention,
                        .isSkipped = isA,
                        .isCompared = true,
                        .isSkippedBySecond = isB};
    };
    m_legend->setItems({{look(true, true), tr("both")},
                        {look(true, false), tr("only A")},
                        {look(false, true), tr("only B")},
                        {look(false, false), tr("neither")}});
    for (QPushButton* button : {m_run, m_close})
        button->setProperty("form", "small");
    m_numbers->setProperty("tone", "small");
    m_cell->setProperty("tone", "muted");
    auto* head = new QHBoxLayout;
    head->addWidget(m_names, 1);
    head->addWidget(m_run, 0, Qt::AlignTop);
    head->addWidget(m_close, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(head);
    column->addWidget(m_grid);
    column->addWidget(m_legend);
    column->addWidget(m_numbers);
    column->addWidget(m_cell);
    column->addStretch(1);
    connect(m_run, &QPushButton::clicked, this, &ComparisonPane::runAsked);
    connect(m_close, &QPushButton::clicked, this, &ComparisonPane::closed);
    connect(m_grid, &LayerGrid::currentChanged, this, &ComparisonPane::showCurrent);
    connect(&theme, &Theme::changed, this, &ComparisonPane::restyle);
    restyle();
}

void ComparisonPane::restyle() { layout()->setSpacing(m_theme.scaled(6)); }

void ComparisonPane::setComparison(const std::optional<SetComparison>& comparison,
                                   const std::vector<int>& silentCopies) {
    m_comparison = comparison;
    LayerMapState state;
    if (comparison) {
        state.layerCount = comparison->layerCount;
        state.skipped = comparison->a.set;
        state.reference = comparison->b.set;
        state.referenceName = comparison->b.title;
        state.isComparison = true;
        state.silentCopies = silentCopies;
        m_names->setText(tr("A: %1\nB: %2").arg(comparison->a.title, comparison->b.title));
        const engine::SkipSetComparison found = comparison->numbers();
        m_numbers->setText(tr("Jaccard %1, Hamming %2. Skipped by both %3, only by A %4, only by "
                              "B %5, by neither %6.")
                               .arg(shareText(found.jaccard()))
                               .arg(found.hamming())
                               .arg(found.both)
                               .arg(found.onlyFirst)
                               .arg(found.onlySecond)
                               .arg(comparison->neither()));
    }
    m_model.setState(state);
    showCurrent();
}

/// The line keeps its place, so that nothing moves below the pointer.
void ComparisonPane::showCurrent() {
    const auto cell = m_grid->current();
    m_cell->setText(cell && m_comparison ? m_model.words(*cell) : QStringLiteral(" "));
}

} // namespace ui
