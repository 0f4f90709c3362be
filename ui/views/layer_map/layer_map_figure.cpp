// SPDX-License-Identifier: GPL-3.0-only
// What the layer map says of its cells: in words, as a table and as a picture.
#include "ui/shell/figure_text.h"
#include "ui/views/layer_map/grid/grid_geometry.h"
#include "ui/views/layer_map/grid/layer_legend.h"
#include "ui/views/layer_map/layer_map_view.h"

#include <QPainter>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace ui {

namespace {

QString stateOf(const SublayerFacts& facts) {
    return facts.isBehindExit ? LayerMapView::tr("not run, after the exit")
           : facts.isSkipped  ? LayerMapView::tr("skipped")
           : facts.isLocked   ? LayerMapView::tr("locked")
                              : LayerMapView::tr("kept");
}

} // namespace

SublayerFacts LayerMapView::factsOf(const Cell& cell) const {
    const CellLook look = m_model.look(cell);
    const LayerMapState& state = m_model.state();
    SublayerFacts facts;
    facts.cell = cell;
    if (look.isDraftLayer) {
        const AdapterRounds rounds = adapterRounds(store());
        facts.draftLayer = tr("Rounds of the newest answer that it drafted: %1 of %2")
                               .arg(rounds.drafted)
                               .arg(rounds.all);
        return facts;
    }
    facts.isSkipped = look.isSkipped;
    facts.isBehindExit = state.isBehindExit(cell.layer);
    facts.isLocked = look.isLocked;
    facts.isCopy = look.isCopy;
    if (state.reference) {
        const bool skips = isSkipped(*state.reference, cell);
        facts.comparison =
            (look.differs ? (skips ? tr("The %1 skips it (outlined: differs).")
                                   : tr("The %1 keeps it (outlined: differs)."))
                          : (skips ? tr("The %1 skips it too.") : tr("The %1 keeps it too.")))
                .arg(state.referenceName);
    }
    const auto scores = m_scores.find(cell.kind);
    if (const auto layer = static_cast<std::size_t>(cell.layer);
        scores != m_scores.end() && layer < scores->second.size())
        facts.scores = scores->second[layer];
    if (look.isSkipped)
        facts.savedMs = savedMsPerSublayer(store());
    return facts;
}

/// The card's content in one line.
QString LayerMapView::pinnedText() const {
    if (!m_pinnedCell || m_pinnedCell->layer >= m_model.state().columnCount())
        return {};
    const SublayerFacts facts = factsOf(*m_pinnedCell);
    if (!facts.draftLayer.isEmpty())
        return tr("Draft layer, %1 \u00B7 %2 \u00B7 Return unpins it")
            .arg(sublayerName(facts.cell.kind), facts.draftLayer);
    QString text =
        tr("Layer %1, %2: %3")
            .arg(QString::number(facts.cell.layer), sublayerName(facts.cell.kind), stateOf(facts));
    if (facts.isCopy)
        text = tr("%1, silent copy").arg(text);
    const auto trials = facts.scores.skipped + facts.scores.kept;
    if (trials > 0)
        text = countText(trials,
                         tr("%2 \u00B7 skipped by %3 of 1 trial"),
                         tr("%2 \u00B7 skipped by %3 of %1 trials"))
                   .arg(text)
                   .arg(facts.scores.skipped);
    if (facts.scores.meanSkipped() && facts.scores.meanKept())
        text = tr("%1 \u00B7 mean matchness %2 skipped, %3 kept")
                   .arg(text,
                        shareText(*facts.scores.meanSkipped()),
                        shareText(*facts.scores.meanKept()));
    if (facts.savedMs)
        text = tr("%1 \u00B7 saves about %2 ms per draft token")
                   .arg(text, decimalText(*facts.savedMs));
    return tr("%1 \u00B7 Return unpins it").arg(text);
}

FigureTable LayerMapView::table() const {
    FigureTable made;
    const LayerMapState& state = m_model.state();
    made.header = {tr("Layer"),
                   tr("Sublayer"),
                   tr("State"),
                   tr("Silent copy"),
                   tr("Differs from the pinned or live set"),
                   tr("Trials that skipped it"),
                   tr("Trials"),
                   tr("Mean matchness when skipped"),
                   tr("Mean matchness when kept")};
    const auto mean = [](const std::optional<double>& value) {
        return value ? QString::number(*value, 'f', 4) : QString();
    };
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
        for (int layer = 0; layer < state.layerCount; ++layer) {
            const SublayerFacts facts = factsOf({kind, layer});
            made.rows.push_back({QString::number(layer),
                                 sublayerName(kind),
                                 stateOf(facts),
                                 facts.isCopy ? tr("yes") : tr("no"),
                                 state.differs({kind, layer}) ? tr("yes") : tr("no"),
                                 QString::number(facts.scores.skipped),
                                 QString::number(facts.scores.skipped + facts.scores.kept),
                                 mean(facts.scores.meanSkipped()),
                                 mean(facts.scores.meanKept())});
        }
    if (state.hasDraftLayer)
        for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
            made.rows.push_back({tr("draft layer"),
                                 sublayerName(kind),
                                 tr("drafts"),
                                 tr("no"),
                                 tr("no"),
                                 {},
                                 {},
                                 {},
                                 {}});
    return made;
}

void LayerMapView::drawFigure(QPainter& painter, const QSize& size) {
    painter.fillRect(QRect(QPoint(), size), theme().colours().panel);
    const int margin = theme().scaled(12);
    const int legendHeight = theme().scaled(28);
    const QRect area =
        QRect(QPoint(), size).adjusted(margin, margin, -margin, -margin - legendHeight);
    const LayerMapState& state = m_model.state();
    const GridGeometry geometry =
        GridGeometry::make(theme(), area, state.layerCount, state.columnCount() > state.layerCount);
    paintGridLabels(painter, geometry, m_model, theme(), std::nullopt);
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
        for (int layer = 0; layer < state.columnCount(); ++layer) {
            const Cell cell{kind, layer};
            const int gap = state.isDraftLayer(layer) ? draftLayerGap(theme()) : 0;
            paintCell(painter,
                      geometry.cell(cell).adjusted(gap, 0, 0, 0),
                      m_model.look(cell),
                      theme().colours());
        }
    const int bottom = geometry.isMini ? geometry.numbers.bottom() : geometry.cells.bottom();
    std::vector<LayerLegend::Item> items = m_miniLegend->items(); // with the numbers
    std::ranges::move(markItems(state), std::back_inserter(items));
    LayerLegend legend(theme());
    legend.setItems(std::move(items));
    legend.paint(painter, QRect(area.left(), bottom + 1, area.width(), legendHeight));
}

} // namespace ui
