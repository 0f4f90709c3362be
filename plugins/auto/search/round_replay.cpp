// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/search/round_replay.h"

#include "engine/decoding/drafts/draft_settings.h"

#include <algorithm>
#include <numeric>

namespace automatic {

using namespace engine;

namespace {

/// Older rounds are forgotten.
constexpr std::size_t kMostRounds = 400;

DraftLevel levelOf(const HeadSummary& summary, const SiblingSchedule& siblings) {
    DraftLevel level;
    const int count = std::min(siblings.choicesAt(summary.probability(0)), summary.count);
    for (int rank = 0; rank < count; ++rank)
        level.choices.push_back(
            {summary.ids[static_cast<std::size_t>(rank)], summary.probability(rank)});
    return level;
}

/// Tokens of `expected` that the tree holds, from its root on.
int acceptedOf(const DraftTree& tree, std::span<const TokenId> expected) {
    int node = -1;
    int accepted = 0;
    for (const TokenId token : expected) {
        const std::vector<int> children = tree.children(node);
        const auto found = std::find_if(children.begin(), children.end(), [&](int child) {
            return tree.node(child).token == token;
        });
        if (found == children.end())
            break;
        node = *found;
        ++accepted;
    }
    return accepted;
}

} // namespace

void Replay::add(const Replay& other) {
    rounds.insert(rounds.end(), other.rounds.begin(), other.rounds.end());
    if (rounds.size() > kMostRounds)
        rounds.erase(rounds.begin(), rounds.end() - static_cast<std::ptrdiff_t>(kMostRounds));
    matches += other.matches;
    rows += other.rows;
}

Replay replayRounds(std::span<const HeadSummary> summaries,
                    std::span<const TokenId> expected,
                    const DraftTerms& terms) {
    Replay made;
    made.rows = static_cast<int>(summaries.size());
    for (std::size_t row = 0; row < summaries.size(); ++row)
        made.matches += summaries[row].best() == expected[row] ? 1 : 0;
    const auto longest =
        static_cast<std::size_t>(std::max(1, std::min(terms.maxDepth, terms.maxNodes)));
    for (std::size_t first = 0; first < summaries.size();) {
        std::vector<DraftLevel> levels;
        bool isOver = false;
        while (!isOver && first + levels.size() < summaries.size()) {
            const HeadSummary& summary = summaries[first + levels.size()];
            levels.push_back(levelOf(summary, terms.siblings));
            const int steps = static_cast<int>(levels.size());
            isOver = terms.stopsAfter(summary.probability(0), steps).has_value() ||
                     levels.size() == longest;
        }
        if (!isOver && !made.rounds.empty())
            break;
        const DraftTree tree = makeCaterpillar(levels, terms.maxNodes);
        const int tokens = 1 + acceptedOf(tree, expected.subspan(first));
        made.rounds.push_back({tree.draftSteps(), 1 + tree.size(), tokens});
        first += static_cast<std::size_t>(tokens);
    }
    return made;
}

Result<Replay> replayAnswer(Target& target, const LayerPlan& plan, int first, int most) {
    const auto known = static_cast<int>(target.output().size()) - 1 - first;
    const int room = target.cache().capacity() - target.length();
    const int count = std::min({known, room, most});
    if (count <= 0)
        return Replay();
    const auto from = static_cast<std::size_t>(first);
    const auto tokens = target.output().subspan(from, static_cast<std::size_t>(count));
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    const AttentionLayout layout =
        AttentionLayout::beside(target.promptLength() + first, count, target.length());
    ENGINE_TRY(const ForwardResult pass,
               target.transformer().forward(
                   {.plan = plan, .layout = layout, .tokens = tokens, .summaryRows = rows},
                   target.cache()));
    const ConfidenceStopRule stopRule(kSwiftEpsilon, kSwiftLongestDraft);
    ENGINE_TRY(const SiblingSchedule siblings, SiblingSchedule::parse(kSwiftSiblings));
    return replayRounds(pass.summaries,
                        target.outputArgmax().subspan(from + 1, tokens.size()),
                        {.siblings = siblings,
                         .maxNodes = target.transformer().preferredTreeNodes(),
                         .stopRule = &stopRule});
}

} // namespace automatic
