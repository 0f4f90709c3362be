// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/self_drafter.h"

#include "engine/decoding/drafts/draft_level_maker.h"

#include <algorithm>
#include <charconv>

namespace engine {

Result<SiblingSchedule> SiblingSchedule::parse(std::string_view text) {
    SiblingSchedule schedule;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (std::size_t i = 0; i < schedule.counts.size(); ++i) {
        int& count = schedule.counts[i];
        const auto [next, failure] = std::from_chars(at, end, count);
        const bool isLast = i + 1 == schedule.counts.size();
        const bool goesOn = isLast ? next == end : next < end && *next == ',';
        if (failure != std::errc() || !goesOn || count < 1 || count > 64)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("The sibling schedule \"{}\" is not four whole numbers from 1 "
                                     "to 64.",
                                     text),
                         "Write the choices for a confidence above .95, .8, .5 and the rest: "
                         "1,3,5,10."};
        at = isLast ? next : next + 1;
    }
    return schedule;
}

Result<DraftTree> SelfDrafter::draft(Target& target,
                                     const LayerPlan& plan,
                                     const DraftStopRule& stopRule,
                                     const SelfDraftOptions& options) {
    RoundDraws roundDraws(target.sampler().options().seed, m_round++);
    DraftDraws* draws = m_draws;
    if (draws == nullptr && options.rule == VerifyRule::Rejection)
        draws = &roundDraws;
    const DraftLevelMaker maker(target.sampler(), options, draws);
    // The bonus takes a place of the answer too.
    const int room = target.remainingTokens() - 1;
    const int mostSteps = std::min(room, options.maxNodes);
    DraftEnd end{DraftEndReason::Room};
    if (options.maxNodes < room)
        end = {DraftEndReason::Nodes, 0.0, static_cast<double>(options.maxNodes)};
    const Position firstOutput = target.outputPosition();
    std::vector<DraftLevel> levels;
    TokenId token = target.pending();
    const int onlyRow = 0;
    const std::span<const int> rows(&onlyRow, 1);
    while (static_cast<int>(levels.size()) < mostSteps) {
        if (target.stop().stop_requested())
            return Error{ErrorCode::Cancelled, "Drafting was cancelled.", ""};
        const auto steps = static_cast<Position>(levels.size());
        const AttentionLayout layout = AttentionLayout::chain(target.length() + steps, 1);
        ENGINE_TRY_DO(target.transformer().forwardInto(
            {.plan = plan,
             .layout = layout,
             .tokens = std::span(&token, 1),
             .logitRows = maker.needsLogits() ? rows : std::span<const int>(),
             .summaryRows = rows},
            target.cache(),
            m_pass));
        levels.push_back(maker.make(m_pass, firstOutput + steps));
        token = levels.back().choices.front().token;
        if (const auto stopped = stopRule.stopsAfter(levels.back().choices.front().probability,
                                                     static_cast<int>(levels.size()))) {
            end = *stopped;
            break;
        }
    }
    DraftTree tree = makeCaterpillar(levels, options.maxNodes);
    tree.setEnd(end);
    return tree;
}

} // namespace engine
