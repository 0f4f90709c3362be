// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/logit_processor.h"

#include "engine/sampling/row_weight.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

/// As summarise() has it, up to rounding, by the quick sum.
HeadSummary processedSummary(std::span<const double> logits) {
    HeadSummary summary = bestTokens(logits);
    const double highest = summary.logits.front();
    summary.logSumExp = highest + std::log(rowWeight(logits, highest, 1.0));
    return summary;
}

} // namespace

LogitProcessor::LogitProcessor(const SamplingOptions& options, int vocabSize)
    : m_vocabSize(vocabSize)
    , m_penalties(options, vocabSize)
    , m_grammar(options.grammar) {}

void LogitProcessor::change(const SamplingOptions& options) {
    m_penalties = Penalties(options, m_vocabSize);
    if (m_grammar != options.grammar)
        m_tokens.reset();
    m_grammar = options.grammar;
}

Result<void> LogitProcessor::begin(const Prompt& prompt) {
    const auto begun = prompt.tokens.last(static_cast<std::size_t>(prompt.begunTokens));
    m_answerStart = prompt.tokens.size() - begun.size();
    if (m_grammar.isOff())
        return {};
    if (prompt.vocabulary == nullptr)
        return Error{ErrorCode::InvalidInput,
                     "A grammar needs the texts of tokens, and this model has no tokenizer.",
                     "Add the model's tokenizer file, or leave the grammar out."};
    if (m_tokens == nullptr || m_vocabulary != prompt.vocabulary) {
        ENGINE_TRY(auto graph, makeGrammarGraph(m_grammar));
        m_vocabulary = prompt.vocabulary;
        m_tokens = std::make_unique<TokenGrammar>(std::move(graph), m_vocabulary);
    }
    m_endIds.assign(prompt.endIds.begin(), prompt.endIds.end());
    m_state = m_tokens->start();
    if (m_state == GrammarMatcher::kDead)
        return TokenGrammar::ambiguityError();
    for (const TokenId token : begun)
        if (!isEnd(token))
            m_state = m_tokens->next(m_state, token);
    if (m_state == GrammarMatcher::kDead)
        return Error{ErrorCode::InvalidInput,
                     "The answer so far does not have the form that is asked for.",
                     "Take the form back, or have it answered again."};
    return {};
}

bool LogitProcessor::isEnd(TokenId token) const {
    return std::find(m_endIds.begin(), m_endIds.end(), token) != m_endIds.end();
}

/// Parents come before their children.
void LogitProcessor::findStates(const DraftTree& draft) {
    m_states.assign(1, m_state);
    for (const DraftNode& node : draft.nodes()) {
        const State before = m_states[static_cast<std::size_t>(node.parent + 1)];
        m_states.push_back(isEnd(node.token) ? GrammarMatcher::kDead
                                             : m_tokens->next(before, node.token));
    }
}

Result<void> LogitProcessor::apply(const ProcessedRows& rows, ForwardResult& pass) {
    m_sequence.assign(rows.sequence.begin(), rows.sequence.end());
    if (m_tokens != nullptr)
        findStates(rows.draft);
    m_isStuck.assign(static_cast<std::size_t>(rows.draft.size()) + 1, false);
    for (int row = 0; row <= rows.draft.size(); ++row) {
        const auto place = static_cast<std::size_t>(row);
        if (m_tokens != nullptr && m_states[place] == GrammarMatcher::kDead)
            continue; // no token can come of it
        m_sequence.resize(rows.sequence.size());
        for (int node = row - 1; node >= 0; node = rows.draft.node(node).parent)
            m_sequence.push_back(rows.draft.node(node).token);
        std::reverse(m_sequence.begin() + static_cast<std::ptrdiff_t>(rows.sequence.size()),
                     m_sequence.end());
        ENGINE_TRY(const std::span<double> logits, pass.logits.row(row));
        m_penalties.apply(m_sequence, m_answerStart, logits);
        if (m_tokens != nullptr) {
            auto applied = m_tokens->apply(m_states[place], m_endIds, logits);
            if (!applied && row == 0)
                return applied;
            if (!applied) {
                m_isStuck[place] = true;
                std::fill(logits.begin(), logits.end(), 0.0);
            }
        }
        pass.summaries[place] = processedSummary(logits);
    }
    return {};
}

void LogitProcessor::keep(std::span<const TokenId> tokens) {
    if (m_tokens == nullptr)
        return;
    for (const TokenId token : tokens) {
        if (isEnd(token))
            return;
        m_state = m_tokens->next(m_state, token);
        ENGINE_CHECK(m_state != GrammarMatcher::kDead, "token {} breaks the grammar", token);
    }
    m_state = m_tokens->settle(m_state);
}

} // namespace engine
