// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/exit_drafter.h"

#include "engine/decoding/drafts/draft_level_maker.h"

namespace engine {

LayerPlan exitPlan(int layerCount, int exitLayers) {
    LayerPlan plan = LayerPlan::full(layerCount);
    plan.exitAfterLayer = exitLayers - 1;
    return plan;
}

Result<Draft> ExitDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    const ChainLimit limit = chainLimit(target, terms);
    Draft made = Draft::empty(limit.end);
    if (limit.tokens <= 0)
        return made;
    DraftTree& chain = made.tree;
    const DraftTerms onlyFirst{.rule = terms.rule, .sharesNoise = terms.sharesNoise};
    const DraftLevelMaker maker(target.sampler(), onlyFirst, m_draws, m_round++);
    const Position firstOutput = target.outputPosition();
    ENGINE_CHECK(!m_options.addBeside || terms.rule == VerifyRule::Match,
                 "drawn tokens are joined by others under the rule Rejection");
    m_head.use(terms.vocabularyShare);
    m_headSpans = m_head.spans(target); // what is drafted is in it
    beginRows(target);
    bool isDropped = false;
    for (bool isOver = false; !isOver;) {
        ENGINE_TRY_DO(runChainPass(target, maker.needsLogits(), made));
        const double confidence = m_pass.summaries.front().probability(0);
        const auto stopped = terms.stopsAfter(confidence, chain.size() + 1);
        if (stopped)
            chain.setEnd(*stopped);
        isDropped = stopped && !m_options.keepsUnsure && chain.size() + 1 < limit.tokens;
        if (isDropped)
            break;
        ENGINE_TRY(DraftLevel level, maker.make(m_pass, firstOutput + chain.size()));
        const DraftLevel::Choice choice = level.choices.front();
        if (!level.drawnFrom.ids.empty())
            chain.setDrawnFrom(chain.size() - 1, std::move(level.drawnFrom));
        chain.add(choice.token, chain.size() - 1, choice.probability);
        chain.addConfidence(confidence);
        m_tokens.assign(1, choice.token);
        const bool isAnswerOver = target.endsAnswer(choice.token);
        if (isAnswerOver)
            chain.setEnd({DraftEndReason::EndToken});
        isOver = stopped || isAnswerOver || chain.size() == limit.tokens;
    }
    const int rowsRun = chain.size() + (isDropped ? 1 : 0); // the root's, those of the chain
    if (m_options.addBeside)
        m_options.addBeside(chain);
    // The verification needs the last token behind the exit too, and what is beside the chain.
    if (rowsRun <= chain.size()) {
        ENGINE_TRY_DO(runLastPass(target, chain, rowsRun));
        made.layerLoads += m_options.exitLayers;
    }
    made.planId = m_options.planId;
    made.layersRun = m_options.exitLayers;
    made.hidden = m_handOuts.back().to;
    for (std::size_t i = 0; i + 1 < m_handOuts.size(); ++i)
        made.earlier.push_back(m_handOuts[i].to);
    return made;
}

void ExitDrafter::beginRows(Target& target) {
    const int layerCount = target.transformer().config().layerCount;
    ENGINE_CHECK(m_options.exitLayers >= 1 && m_options.exitLayers < layerCount,
                 "an exit behind {} of {} layers",
                 m_options.exitLayers,
                 layerCount);
    if (m_plan.layerCount() != layerCount)
        m_plan = LayerPlan::full(layerCount);
    m_plan.exitAfterLayer = m_options.exitLayers - 1;
    const std::size_t streams = m_options.earlierLayers.size() + 1;
    if (m_streams.size() < streams)
        m_streams.resize(streams);
    m_handOuts.clear();
    for (std::size_t i = 0; i < streams; ++i) {
        const bool isExit = i + 1 == streams;
        m_streams[i].clear();
        m_handOuts.push_back(
            {isExit ? m_plan.exitAfterLayer : m_options.earlierLayers[i], &m_streams[i]});
    }
    m_tokens.assign(target.unread().begin(), target.unread().end());
    m_tokens.push_back(target.pending());
    m_nextSlot = target.length();
    m_rootSlot = m_nextSlot + static_cast<Position>(m_tokens.size()) - 1;
}

/// The next step of the chain, the first one with what is unread of the prompt.
Result<void> ExitDrafter::runChainPass(Target& target, bool needsLogits, Draft& made) {
    const int rows = static_cast<int>(m_tokens.size());
    const double beganMs = target.nowMs();
    ENGINE_TRY_DO(runPass(target,
                          AttentionLayout::chain(m_nextSlot, rows),
                          {.summary = true, .logits = needsLogits}));
    made.promptMs += (target.nowMs() - beganMs) * (rows - 1) / rows;
    made.layerLoads += m_plan.exitAfterLayer + 1;
    return {};
}

/// The root and the nodes in order are rows; those that no pass has read yet, in one.
Result<void> ExitDrafter::runLastPass(Target& target, const DraftTree& draft, int rowsRun) {
    m_tokens.clear();
    for (int node = rowsRun - 1; node < draft.size(); ++node)
        m_tokens.push_back(draft.node(node).token);
    const std::vector<int> parents = draft.layoutParents();
    return runPass(
        target, AttentionLayout::tree(m_rootSlot, parents, rowsRun, m_rootSlot), HeadNeeds());
}

/// The first layers over m_tokens.
Result<void> ExitDrafter::runPass(Target& target, const AttentionLayout& layout, HeadNeeds needs) {
    if (target.stop().stop_requested())
        return Error{ErrorCode::Cancelled, "Drafting was cancelled.", ""};
    const int rows = static_cast<int>(m_tokens.size());
    const int lastRow = rows - 1;
    const std::span<const int> headRow(&lastRow, 1);
    ENGINE_TRY_DO(target.transformer().forwardInto(
        {.plan = m_plan,
         .layout = layout,
         .tokens = m_tokens,
         .logitRows = needs.logits ? headRow : std::span<const int>(),
         .summaryRows = needs.summary ? headRow : std::span<const int>(),
         .headSpans = m_headSpans,
         .handOuts = m_handOuts},
        target.cache(),
        m_pass));
    m_nextSlot += rows;
    return {};
}

} // namespace engine
