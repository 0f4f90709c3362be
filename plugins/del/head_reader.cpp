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
HeadReader::read(Target& target, std::span<const StreamRow> rows, const HeadWatch& watch) {
    Transformer& transformer = target.transformer();
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    std::vector<HeadSummary> summaries;
    summaries.reserve(rows.size());
    std::vector<int> all(kRowsAtOnce);
    std::iota(all.begin(), all.end(), 0);
    while (!rows.empty()) {
        if (target.stop().stop_requested())
            return Error{ErrorCode::Cancelled, "Comparing exits was cancelled.", ""};
        const auto piece = rows.first(std::min(rows.size(), all.size()));
        const int count = static_cast<int>(piece.size());
        m_hidden.clear();
        for (const StreamRow& row : piece)
            m_hidden.insert(m_hidden.end(), row.begin(), row.end());
        const AttentionLayout layout = AttentionLayout::chain(target.length(), count);
        const double startMs = target.nowMs();
        ENGINE_TRY_DO(transformer.forwardInto({.plan = plan,
                                               .layout = layout,
                                               .hidden = m_hidden,
                                               .firstLayer = 1, // no layer: only the head
                                               .endLayer = 1,
                                               .summaryRows = std::span(all).first(piece.size())},
                                              target.cache(),
                                              m_pass));
        watch(count, target.nowMs() - startMs);
        summaries.insert(summaries.end(), m_pass.summaries.begin(), m_pass.summaries.end());
        rows = rows.subspan(piece.size());
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
