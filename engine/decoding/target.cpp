// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/target.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace engine {

Result<Target> Target::make(Transformer& transformer,
                            const SamplingOptions& sampling,
                            int contextLength,
                            int scratchRows) {
    ENGINE_TRY_DO(sampling.validate());
    ENGINE_TRY(KvCache cache, transformer.makeCache(contextLength + scratchRows));
    return Target(transformer, sampling, contextLength, std::move(cache));
}

Target::Target(Transformer& transformer,
               const SamplingOptions& sampling,
               int contextLength,
               KvCache cache)
    : m_transformer(&transformer)
    , m_sampler(sampling)
    , m_sequence(std::move(cache))
    , m_fullPlan(LayerPlan::full(transformer.config().layerCount))
    , m_contextLength(contextLength) {}

Result<void> Target::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(checkPrompt(prompt.tokens, m_transformer->config().vocabSize, m_contextLength));
    m_pending = kNoToken;
    m_output.clear();
    m_outputArgmax.clear();
    m_endIds.assign(prompt.endIds.begin(), prompt.endIds.end());
    m_maxTokens = prompt.maxTokens;
    m_stop = work.stop;
    m_promptLength = static_cast<Position>(prompt.tokens.size());
    PromptWork watched = work;
    watched.influence = &m_influence;
    ENGINE_TRY_DO(
        m_sequence.fill(*m_transformer, prompt.tokens.first(prompt.tokens.size() - 1), watched));
    m_pending = prompt.tokens.back();
    return {};
}

Result<void> Target::changeSampling(const SamplingOptions& sampling) {
    ENGINE_TRY_DO(sampling.validate());
    m_sampler = Sampler(sampling);
    return {};
}

int Target::remainingTokens() const {
    return std::min(remainingContext(), m_maxTokens - static_cast<int>(m_output.size()));
}

Result<DecodeStep> Target::plainStep() { return verify({}, VerifyRule::Match); }

Result<DecodeStep> Target::verify(DraftTree draft, VerifyRule rule, VerifyDraws* draws) {
    ENGINE_CHECK(m_pending != kNoToken && remainingTokens() > 0, "a step without room or prompt");
    if (m_stop.stop_requested())
        return Error{ErrorCode::Cancelled, "Decoding was cancelled.", ""};
    const auto start = std::chrono::steady_clock::now();
    std::vector<TokenId> tokens = {m_pending}; // [1 + nodes]
    for (const DraftNode& node : draft.nodes())
        tokens.push_back(node.token);
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    const AttentionLayout layout = AttentionLayout::tree(length(), draft.layoutParents());
    ENGINE_TRY(const ForwardResult result,
               m_transformer->forward({.plan = m_fullPlan,
                                       .layout = layout,
                                       .tokens = tokens,
                                       .logitRows = rows,
                                       .wantsInfluence = true},
                                      m_sequence.cache()));
    m_influence.add(result.influence, layout.rowCount());
    const AnswerRoom room{remainingTokens(), m_endIds};
    const Verdict verdict =
        Verifier(m_sampler, rule, draws)
            .verify(draft, result, static_cast<Position>(m_output.size()), room);
    DecodeStep step;
    step.draft = std::move(draft);
    step.verifiedRows = layout.rowCount();
    describe(step, verdict, result);
    keep(step, verdict, result);
    step.verifyMs =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return step;
}

void Target::describe(DecodeStep& step, const Verdict& verdict, const ForwardResult& result) const {
    step.tokens = verdict.emitted;
    step.path = verdict.path;
    for (std::size_t i = 0; i < verdict.emitted.size(); ++i) {
        TokenFact fact;
        if (i < verdict.path.size()) {
            const DraftNode& node = step.draft.node(verdict.path[i]);
            fact.origin = node.rank == 0 ? TokenOrigin::Draft : TokenOrigin::Sibling;
            fact.rank = node.rank;
            fact.draftProbability = node.probability;
        } else {
            fact.origin = step.isPlain() ? TokenOrigin::Vanilla : TokenOrigin::Bonus;
        }
        fact.targetProbability =
            probabilityOf(result.logitRow(verdict.logitRows[i]), verdict.emitted[i]);
        step.facts.push_back(fact);
    }
}

/// Commits the rows of the old pending token and of all emitted ones but the last.
void Target::keep(const DecodeStep& step, const Verdict& verdict, const ForwardResult& result) {
    std::vector<TokenId> kept = {m_pending};
    std::vector<Position> slots = {length()};
    for (std::size_t i = 0; i + 1 < verdict.emitted.size(); ++i) {
        kept.push_back(verdict.emitted[i]);
        slots.push_back(length() + 1 + verdict.path[i]);
    }
    m_sequence.commit(kept, slots);
    m_pending = verdict.emitted.back();
    m_output.insert(m_output.end(), step.tokens.begin(), step.tokens.end());
    for (const int row : verdict.logitRows)
        m_outputArgmax.push_back(argmax(result.logitRow(row)));
}

double probabilityOf(std::span<const double> logits, TokenId token) {
    const double logit = logits[static_cast<std::size_t>(token)];
    const double highest = *std::max_element(logits.begin(), logits.end());
    double total = 0.0;
    for (const double other : logits)
        total += std::exp(other - highest);
    return std::exp(logit - highest) / total;
}

} // namespace engine
