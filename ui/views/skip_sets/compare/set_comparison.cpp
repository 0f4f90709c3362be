// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/skip_sets/compare/set_comparison.h"

#include "ui/language/tr.h"
#include "ui/views/layer_map/grid/layer_map_model.h"

namespace ui {

int SetComparison::neither() const {
    const engine::SkipSetComparison found = numbers();
    return 2 * layerCount - found.both - found.onlyFirst - found.onlySecond;
}

FigureTable SetComparison::table() const {
    FigureTable table;
    table.header = {tr("Layer"), tr("Attention"), tr("MLP")};
    const auto words = [this](Sublayer kind, int layer) {
        const Cell cell{kind, layer};
        return comparedWords({.kind = kind,
                              .isSkipped = isSkipped(a.set, cell),
                              .isSkippedBySecond = isSkipped(b.set, cell)});
    };
    for (int layer = 0; layer < layerCount; ++layer)
        table.rows.push_back({QString::number(layer),
                              words(Sublayer::Attention, layer),
                              words(Sublayer::Mlp, layer)});
    const engine::SkipSetComparison found = numbers();
    table.rows.push_back({tr("A"), a.title, {}});
    table.rows.push_back({tr("B"), b.title, {}});
    table.rows.push_back({tr("Jaccard"), numberCell(found.jaccard()), {}});
    table.rows.push_back({tr("Hamming"), numberCell(found.hamming()), {}});
    return table;
}

} // namespace ui
