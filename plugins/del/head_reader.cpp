// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/head_reader.h"

#include <algorithm>
#include <numeric>

namespace del {

using namespace engine;

namespace {

/// The sum over tokens of the lesser of both probabilities.
double sharedPart(const HeadSummary& a, const HeadSummary& b, const Sampler& sampler) {
    const auto law = [&](const HeadSummary& summary) {
        return sampler.distribution(
            std::span(summary.logits).first(static_cast<std::size_t>(summary.count)));
    };
    const Distribution first = law(a);
    const Distribution second = law(b);
    double shared = 0.0;
    for (std::size_t i = 0; i < first.ids.size(); ++i) {
        const int rank = b.rankOf(a.ids[static_cast<std::size_t>(first.ids[i])]);
        const auto found = std::find(second.ids.begin(), second.ids.end(), rank);
        if (found != second.ids.end())
            shared += std::min(
                first.probabilities[i],
                second.probabilities[static_cast<std::size_t>(found - second.ids.begin())]);
    }
    return std::min(shared, 1.0);
}

} // namespace

Result<std::vector<HeadSummary>>
HeadReader::read(Target& target, std::span<const HiddenPiece> pieces, const HeadWatch& watch) {
    Transformer& transformer = target.transformer();
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    std::vector<HeadSummary> summaries;
    std::vector<int> all(kRowsAtOnce);
    std::iota(all.begin(), all.end(), 0);
    int begun = 0; // rows of the first piece that were read
    while (!pieces.empty()) {
        if (target.stop().stop_requested())
            return Error{ErrorCode::Cancelled, "Comparing exits was cancelled.", ""};
        m_hidden.clear();
        int count = 0;
        while (!pieces.empty() && count < kRowsAtOnce) {
            const HiddenPiece& piece = pieces.front();
            const int rows = std::min(piece.count - begun, kRowsAtOnce - count);
            if (rows > 0)
                m_hidden.emplace_back(*piece.from, piece.first + begun, rows);
            count += rows;
            begun += rows;
            if (begun == piece.count) {
                pieces = pieces.subspan(1);
                begun = 0;
            }
        }
        if (count == 0)
            break;
        const AttentionLayout layout = AttentionLayout::chain(target.length(), count);
        const double startMs = target.nowMs();
        ENGINE_TRY_DO(transformer.forwardInto(
            {.plan = plan,
             .layout = layout,
             .hidden = m_hidden,
             .firstLayer = 1, // no layer: only the head
             .endLayer = 1,
             .summaryRows = std::span(all).first(static_cast<std::size_t>(count))},
            target.cache(),
            m_pass));
        watch(count, target.nowMs() - startMs);
        summaries.insert(summaries.end(), m_pass.summaries.begin(), m_pass.summaries.end());
    }
    return summaries;
}

ShadowToken compare(const HeadSummary& exit,
                    const HeadSummary& full,
                    const Sampler& sampler,
                    bool comparesLaws) {
    const bool isSame = exit.best() == full.best();
    const double agreement = comparesLaws && !sampler.isGreedy() ? sharedPart(exit, full, sampler)
                                                                 : (isSame ? 1.0 : 0.0);
    return {exit.best(), exit.probability(0), agreement};
}

} // namespace del
