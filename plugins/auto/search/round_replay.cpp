// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/search/round_replay.h"

#include "engine/decoding/drafts/draft_settings.h"
#include "engine/decoding/round/draft_head.h"
#include "engine/model/weight_share.h"

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

/// The nodes of the tree that hold the tokens of `expected`, from its root on.
std::vector<int> pathOf(const DraftTree& tree, std::span<const TokenId> expected) {
    int node = -1;
    std::vector<int> path;
    for (const TokenId token : expected) {
        const std::vector<int> children = tree.children(node);
        const auto found = std::find_if(children.begin(), children.end(), [&](int child) {
            return tree.node(child).token == token;
        });
        if (found == children.end())
            break;
        node = *found;
        path.push_back(node);
    }
    return path;
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
                    const ReplayTerms& terms,
                    const StepCosts& costs,
                    DraftWorth& worth) {
    Replay made;
    made.rows = static_cast<int>(summaries.size());
    for (std::size_t row = 0; row < summaries.size(); ++row)
        made.matches += summaries[row].best() == expected[row] ? 1 : 0;
    const auto longest = static_cast<std::size_t>(std::max(1, terms.maxNodes));
    for (std::size_t first = 0; first < summaries.size();) {
        WeighedStopRule stopRule(worth.thresholdBelow(terms.epsilon), terms.longest);
        stopRule.weigh(worth.rates(), worth.rate(), {.draft = terms.share}, costs);
        std::vector<DraftLevel> levels;
        bool isOver = false;
        while (!isOver && first + levels.size() < summaries.size()) {
            const HeadSummary& summary = summaries[first + levels.size()];
            const double confidence = summary.probability(0);
            DraftLevel& level = levels.emplace_back(levelOf(summary, terms.siblings));
            const int offered = static_cast<int>(level.choices.size());
            level.choices.resize(
                static_cast<std::size_t>(stopRule.choicesWorth(confidence, offered)));
            const int steps = static_cast<int>(levels.size());
            isOver = stopRule.stopsAfter(confidence, steps).has_value() || levels.size() == longest;
        }
        if (!isOver && !made.rounds.empty())
            break;
        DecodeStep step;
        step.planId = 1;
        step.draft = makeCaterpillar(levels, terms.maxNodes);
        step.path = pathOf(step.draft, expected.subspan(first));
        step.tokens.resize(1 + step.path.size());
        step.verifiedRows = 1 + step.draft.size();
        worth.observe(step, terms.share, costs);
        made.rounds.push_back(
            {step.draft.draftSteps(), step.verifiedRows, static_cast<int>(step.tokens.size())});
        first += step.tokens.size();
    }
    return made;
}

Result<Replay> replayAnswer(Target& target,
                            const LayerPlan& plan,
                            const AnswerPart& part,
                            const StepCosts& costs,
                            DraftWorth& worth) {
    const auto known = static_cast<int>(target.output().size()) - 1 - part.first;
    const int room = target.cache().capacity() - target.length();
    const int count = std::min({known, room, part.most});
    if (count <= 0)
        return Replay();
    const auto from = static_cast<std::size_t>(part.first);
    const auto tokens = target.output().subspan(from, static_cast<std::size_t>(count));
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    const AttentionLayout layout =
        AttentionLayout::beside(target.promptLength() + part.first, count, target.length());
    ENGINE_TRY(const ForwardResult pass,
               target.transformer().forward(
                   {.plan = plan, .layout = layout, .tokens = tokens, .summaryRows = rows},
                   target.cache()));
    ENGINE_TRY(const SiblingSchedule siblings, SiblingSchedule::parse(kSwiftSiblings));
    return replayRounds(
        pass.summaries,
        target.outputArgmax().subspan(from + 1, tokens.size()),
        {.epsilon = kSwiftEpsilon,
         .longest = kSwiftLongestDraft,
         .siblings = siblings,
         .maxNodes = target.transformer().preferredTreeNodes(),
         .share = weightShare(plan,
                              target.transformer().config(),
                              DraftHead::keptShare(target.transformer(), kDraftVocabulary))},
        costs,
        worth);
}

} // namespace automatic
