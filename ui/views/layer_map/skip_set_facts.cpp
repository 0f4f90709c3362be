// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/skip_set_facts.h"

#include "ui/language/tr.h"

#include <algorithm>

namespace ui {

namespace {

const std::vector<int>& layersOf(const engine::SkipSet& set, Sublayer kind) {
    return kind == Sublayer::Attention ? set.attention : set.mlp;
}

std::size_t sizeOf(const engine::SkipSet& set) { return set.attention.size() + set.mlp.size(); }

} // namespace

bool isSkipped(const engine::SkipSet& set, const Cell& cell) {
    return std::ranges::binary_search(layersOf(set, cell.kind), cell.layer);
}

engine::SkipSet flipped(engine::SkipSet set, const Cell& cell) {
    std::vector<int>& layers = cell.kind == Sublayer::Attention ? set.attention : set.mlp;
    const auto place = std::ranges::lower_bound(layers, cell.layer);
    if (place != layers.end() && *place == cell.layer)
        layers.erase(place);
    else
        layers.insert(place, cell.layer);
    return set;
}

CopiesFound copiesFound(const engine::SkipSet& set, const std::vector<int>& copies) {
    CopiesFound found{.total = static_cast<int>(copies.size())};
    int skipped = 0;
    for (const int layer : copies) {
        const int both = (isSkipped(set, {Sublayer::Attention, layer}) ? 1 : 0) +
                         (isSkipped(set, {Sublayer::Mlp, layer}) ? 1 : 0);
        found.whole += both == 2 ? 1 : 0;
        found.half += both == 1 ? 1 : 0;
        skipped += both;
    }
    found.originals = static_cast<int>(sizeOf(set)) - skipped;
    return found;
}

QString copiesText(const engine::SkipSet& set, const std::vector<int>& copies) {
    if (copies.empty())
        return {};
    const CopiesFound found = copiesFound(set, copies);
    QString text = tr(" \u00B7 %1 of %2 copies found").arg(found.whole).arg(found.total);
    if (found.half > 0)
        text = tr("%1, %2 more by half").arg(text).arg(found.half);
    if (found.originals > 0)
        text = tr("%1, sublayers of originals skipped: %2").arg(text).arg(found.originals);
    return text;
}

QString
differenceText(const engine::SkipSet& set, const engine::SkipSet& reference, const QString& name) {
    const engine::SkipSetComparison comparison = engine::compareSkipSets(set, reference);
    return countText(comparison.hamming(),
                     tr(" \u00B7 1 cell differs from the %2, Jaccard %3"),
                     tr(" \u00B7 %1 cells differ from the %2, Jaccard %3"))
        .arg(name, shareText(comparison.jaccard()));
}

std::vector<int> silentCopies(const RunStore& store, int layerCount) {
    if (store.model() == nullptr || store.model()->model.layerCount != layerCount)
        return {};
    std::vector<int> copies = store.model()->model.silentCopies; // a recording may say anything
    std::erase_if(copies, [&](int layer) { return layer < 0 || layer >= layerCount; });
    std::ranges::sort(copies);
    const auto repeated = std::ranges::unique(copies);
    copies.erase(repeated.begin(), repeated.end());
    return copies;
}

std::optional<double> savedMsPerSublayer(const RunStore& store) {
    const SpanFigures chat = store.speed().chat();
    const auto factors = chat.factors();
    const BestSet* current = store.search().used();
    const bool allSkip = store.decoder() == nullptr || store.decoder()->hasDraftRatio;
    if (!factors || current == nullptr || !allSkip)
        return std::nullopt;
    const std::size_t count = sizeOf(leftOutBy(current->change.plan));
    const bool isOneSize = std::ranges::all_of(store.search().bestSets(), [&](const BestSet& set) {
        return sizeOf(leftOutBy(set.change.plan)) == count;
    });
    const double savedMs = *chat.baselineMs * (1.0 - factors->draftCost);
    if (count == 0 || !isOneSize || savedMs <= 0.0)
        return std::nullopt;
    return savedMs / static_cast<double>(count);
}

AdapterRounds adapterRounds(const RunStore& store) {
    const auto& answers = store.answers().answers();
    for (auto answer = answers.rbegin(); answer != answers.rend(); ++answer) {
        if (answer->promptId >= kFirstHiddenPrompt)
            continue; // a search has tried something
        AdapterRounds rounds;
        for (const engine::StepFinished& step : answer->steps) {
            ++rounds.all;
            rounds.drafted += step.drafter == "tuned" ? 1 : 0;
        }
        if (rounds.drafted > 0 || (rounds.all > 0 && !answer->isRunning()))
            return rounds;
    }
    return {};
}

bool LayerMapState::differs(const Cell& cell) const {
    return reference && isSkipped(skipped, cell) != isSkipped(*reference, cell);
}

bool LayerMapState::isLocked(int layer) const {
    return std::ranges::binary_search(lockedLayers, layer);
}

bool LayerMapState::isSilentCopy(int layer) const {
    return std::ranges::binary_search(silentCopies, layer);
}

QString sublayerName(Sublayer kind) {
    return kind == Sublayer::Attention ? tr("attention") : tr("MLP");
}

QString setText(const engine::SkipSet& set) {
    return QString::fromStdString(engine::skipSetJson(set));
}

} // namespace ui
