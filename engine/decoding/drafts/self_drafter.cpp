// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/self_drafter.h"

#include "engine/decoding/drafts/draft_level_maker.h"

namespace engine {

Result<Draft> SelfDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    const DraftLevelMaker maker(target.sampler(), terms, m_draws, m_round++);
    const ChainLimit limit = chainLimit(target, terms);
    if (limit.tokens <= 0)
        return Draft::empty(limit.end);
    m_head.use(terms.vocabularyShare);
    const auto head = m_head.spans(target); // what is drafted is in it
    DraftEnd end = limit.end;
    const Position firstOutput = target.outputPosition();
    std::vector<DraftLevel> levels;
    TokenId token = target.pending();
    const int onlyRow = 0;
    const std::span<const int> rows(&onlyRow, 1);
    for (bool isOver = false; !isOver;) {
        if (target.stop().stop_requested())
            return Error{ErrorCode::Cancelled, "Drafting was cancelled.", ""};
        const auto steps = static_cast<Position>(levels.size());
        const AttentionLayout layout = AttentionLayout::chain(target.length() + steps, 1);
        ENGINE_TRY_DO(target.transformer().forwardInto(
            {.plan = m_plan,
             .layout = layout,
             .tokens = std::span(&token, 1),
             .logitRows = maker.needsLogits() ? rows : std::span<const int>(),
             .summaryRows = rows,
             .headSpans = head},
            target.cache(),
            m_pass));
        ENGINE_TRY(DraftLevel level, maker.make(m_pass, firstOutput + steps));
        const DraftLevel::Choice first = level.choices.front();
        const int offered = static_cast<int>(level.choices.size());
        level.choices.resize(
            static_cast<std::size_t>(terms.choicesWorth(first.probability, offered)));
        levels.push_back(std::move(level));
        token = first.token;
        const auto stopped = terms.stopsAfter(first.probability, static_cast<int>(steps) + 1);
        if (stopped)
            end = *stopped;
        const bool isAnswerOver = target.endsAnswer(token);
        if (isAnswerOver)
            end = {DraftEndReason::EndToken};
        isOver = stopped || isAnswerOver || static_cast<int>(levels.size()) >= limit.tokens;
    }
    Draft made(makeCaterpillar(levels, terms.maxNodes));
    made.tree.setEnd(end);
    made.planId = m_planId;
    const double part = m_plan.weights == WeightSet::Copy ? target.transformer().copyShare() : 1.0;
    made.layerLoads = part * m_plan.layerLoads() * made.tree.draftSteps();
    return made;
}

} // namespace engine
