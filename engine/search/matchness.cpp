// SPDX-License-Identifier: Apache-2.0
#include "engine/search/matchness.h"

#include <numeric>

namespace engine {

namespace {

AttentionLayout
windowLayout(const MatchnessWindow& window, Position cachedLength, MatchnessKeys keys) {
    const int rows = static_cast<int>(window.inputs.size());
    if (keys == MatchnessKeys::Target)
        return AttentionLayout::beside(window.promptLength, rows, cachedLength);
    std::vector<int> parents(window.inputs.size()); // a chain: -1, 0, 1, ...
    std::iota(parents.begin(), parents.end(), -1);
    return AttentionLayout::tree(window.promptLength, parents, 0, cachedLength);
}

} // namespace

Result<Matchness> matchness(Transformer& transformer,
                            KvCache& cache,
                            const LayerPlan& plan,
                            const MatchnessWindow& window,
                            MatchnessKeys keys) {
    const std::size_t count = window.inputs.size();
    ENGINE_CHECK(count > 0 && window.expected.size() == count,
                 "a window of {} inputs and {} expected tokens",
                 count,
                 window.expected.size());
    const AttentionLayout layout = windowLayout(window, cache.length(), keys);
    ENGINE_CHECK(layout.endSlot() <= cache.capacity(),
                 "a window of {} rows behind {} of {} slots",
                 count,
                 cache.length(),
                 cache.capacity());
    std::vector<int> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    ENGINE_TRY(
        const ForwardResult result,
        transformer.forward(
            {.plan = plan, .layout = layout, .tokens = window.inputs, .summaryRows = rows}, cache));
    Matchness found;
    std::size_t matchCount = 0;
    for (std::size_t i = 0; i < count; ++i) {
        found.guesses.push_back(result.summaries[i].best());
        const bool isMatch = found.guesses.back() == window.expected[i];
        found.matches.push_back(isMatch ? 1 : 0);
        matchCount += isMatch ? 1 : 0;
    }
    found.score = static_cast<double>(matchCount) / static_cast<double>(count);
    return found;
}

} // namespace engine
