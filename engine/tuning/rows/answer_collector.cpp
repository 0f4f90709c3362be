// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/answer_collector.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/sampling/sampler.h"

#include <algorithm>
#include <numeric>

namespace engine {

namespace {

constexpr double kLargestHalf = 65504.0;

std::uint16_t storedHalf(double value) {
    return halfFromFloat(static_cast<float>(std::clamp(value, -kLargestHalf, kLargestHalf)));
}

void addStream(AnswerRows& rows, TokenId token, std::span<const double> stream) {
    rows.tokens.push_back(token);
    std::transform(stream.begin(), stream.end(), std::back_inserter(rows.streams), storedHalf);
}

/// What the model says behind a row, at temperature 1.
TeacherRow teacherOf(const HeadSummary& summary) {
    static_assert(HeadSummary::kMost == kTeacherTokens);
    TeacherRow row{};
    for (int rank = 0; rank < kTeacherTokens; ++rank) {
        const bool isThere = rank < summary.count;
        row.ids[toSize(rank)] = isThere ? summary.ids[toSize(rank)] : summary.best();
        row.logProbabilities[toSize(rank)] =
            isThere ? static_cast<float>(summary.logits[toSize(rank)] - summary.logSumExp)
                    : kNoLogProbability;
    }
    return row;
}

} // namespace

Result<AnswerCollector> AnswerCollector::make(
    Transformer& transformer, int contextLength, int mostAnswers, int mostTokens, int promptRows) {
    ENGINE_TRY(KvCache cache, transformer.makeCache(contextLength + mostAnswers * mostTokens));
    return AnswerCollector(transformer, contextLength, promptRows, std::move(cache));
}

AnswerCollector::AnswerCollector(Transformer& transformer,
                                 int contextLength,
                                 int promptRows,
                                 KvCache cache)
    : m_transformer(&transformer)
    , m_contextLength(contextLength)
    , m_keptBefore(toSize(promptRows - 1))
    , m_width(toSize(transformer.config().hiddenSize))
    , m_prompt(std::move(cache)) {}

Result<std::vector<AnswerRows>> AnswerCollector::collect(std::span<const TokenId> prompt,
                                                         const AnswerTerms& terms) {
    ENGINE_TRY_DO(readPrompt(prompt, terms));
    ENGINE_TRY_DO(readLastToken(prompt.back(), terms));
    const int room = m_contextLength - static_cast<int>(prompt.size());
    const auto mostTokens = static_cast<Position>(std::min(terms.maxTokens, room));
    const auto isOpen = [](const Answer& answer) { return answer.isOpen; };
    for (Position made = 1; made < mostTokens && std::ranges::any_of(m_answers, isOpen); ++made) {
        if (terms.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Collecting answers was cancelled.", ""};
        ENGINE_TRY_DO(makeStep(terms, made));
    }
    std::vector<AnswerRows> collected;
    for (Answer& answer : m_answers) {
        answer.rows.last = answer.pending;
        collected.push_back(std::move(answer.rows));
    }
    return collected;
}

/// Reads the prompt and keeps the streams of its last rows but one. Rows that an earlier prompt
/// left in the cache are read again where their streams are wanted.
Result<void> AnswerCollector::readPrompt(std::span<const TokenId> prompt,
                                         const AnswerTerms& terms) {
    ENGINE_TRY_DO(checkPrompt(prompt, m_transformer->config().vocabSize, m_contextLength));
    const std::size_t before = prompt.size() - 1;
    const std::size_t first = before - std::min(before, m_keptBefore);
    m_promptRows = {};
    PromptStreams streams;
    streams.known = static_cast<Position>(first);
    streams.pieceRead = [&]() -> Result<void> {
        const int count = streams.rows.count();
        m_read.resize(toSize(count) * m_width);
        ENGINE_TRY_DO(streams.rows.read(0, m_read));
        for (int row = 0; row < count; ++row) {
            const std::size_t place = toSize(streams.first + row);
            if (place >= first)
                addStream(m_promptRows,
                          prompt[place],
                          std::span(m_read).subspan(toSize(row) * m_width, m_width));
        }
        streams.rows.clear();
        streams.first += static_cast<Position>(count);
        return {};
    };
    return m_prompt.fill(
        *m_transformer, prompt.first(before), {.stop = terms.stop, .streams = &streams});
}

/// The row of the prompt's last token, behind which all answers begin.
Result<void> AnswerCollector::readLastToken(TokenId token, const AnswerTerms& terms) {
    m_answers.assign(terms.sampling.size(), {});
    m_parents = {-1};
    m_rowTokens = {token};
    ENGINE_TRY_DO(runPass(terms));
    for (std::size_t i = 0; i < m_answers.size(); ++i) {
        Answer& answer = m_answers[i];
        answer.rows = m_promptRows;
        addRow(answer, 0, token);
        answer.rows.promptRows = answer.rows.rows();
        ENGINE_TRY(answer.pending, choose(0, terms.sampling[i], 0));
        answer.isOpen = std::ranges::find(terms.endIds, answer.pending) == terms.endIds.end();
    }
    return {};
}

/// One token more of every answer that has not ended.
Result<void> AnswerCollector::makeStep(const AnswerTerms& terms, Position outputPosition) {
    m_rowTokens.clear();
    m_rowAnswers.clear();
    for (std::size_t i = 0; i < m_answers.size(); ++i) {
        Answer& answer = m_answers[i];
        if (!answer.isOpen)
            continue;
        m_rowTokens.push_back(answer.pending);
        m_rowAnswers.push_back(static_cast<int>(i));
        m_parents.push_back(answer.node);
        answer.node = static_cast<int>(m_parents.size()) - 1;
    }
    ENGINE_TRY_DO(runPass(terms));
    for (std::size_t row = 0; row < m_rowAnswers.size(); ++row) {
        const std::size_t index = toSize(m_rowAnswers[row]);
        Answer& answer = m_answers[index];
        addRow(answer, static_cast<int>(row), answer.pending);
        ENGINE_TRY(answer.pending,
                   choose(static_cast<int>(row), terms.sampling[index], outputPosition));
        answer.isOpen = std::ranges::find(terms.endIds, answer.pending) == terms.endIds.end();
    }
    return {};
}

/// The full model over m_rowTokens, the newest nodes.
Result<void> AnswerCollector::runPass(const AnswerTerms& terms) {
    const int firstNode = static_cast<int>(m_parents.size() - m_rowTokens.size());
    const AttentionLayout layout =
        AttentionLayout::tree(m_prompt.length(), m_parents, firstNode, m_prompt.length());
    const int layerCount = m_transformer->config().layerCount;
    const LayerPlan plan = LayerPlan::full(layerCount);
    std::vector<int> rows(m_rowTokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    m_streams.clear();
    const HandOut handOut{layerCount - 1, &m_streams};
    ENGINE_TRY_DO(m_transformer->forwardInto({.plan = plan,
                                              .layout = layout,
                                              .tokens = m_rowTokens,
                                              .logitRows = rows,
                                              .summaryRows = rows,
                                              .handOuts = std::span(&handOut, 1)},
                                             m_prompt.cache(),
                                             m_pass));
    // Decoding never emits it either, see Target.
    const TokenId named = m_transformer->config().maskTokenId;
    if (const TokenId mask = terms.forbidden == kNoToken ? named : terms.forbidden;
        mask != kNoToken) {
        for (HeadSummary& summary : m_pass.summaries)
            summary.remove(mask);
        m_pass.logits.forbid(mask);
    }
    m_read.resize(toSize(m_streams.count()) * m_width);
    return m_streams.read(0, m_read);
}

/// What row `row` of the newest pass, which has read this token, is for this answer.
void AnswerCollector::addRow(Answer& answer, int row, TokenId token) const {
    addStream(answer.rows, token, std::span(m_read).subspan(toSize(row) * m_width, m_width));
    answer.rows.teacher.push_back(teacherOf(m_pass.summaries[toSize(row)]));
}

Result<TokenId>
AnswerCollector::choose(int row, const SamplingOptions& sampling, Position outputPosition) {
    const Sampler sampler(sampling);
    if (sampler.isGreedy())
        return m_pass.summaries[toSize(row)].best();
    ENGINE_TRY(const std::span<double> logits, m_pass.logits.row(row));
    return sampler.choose(logits, outputPosition);
}

} // namespace engine
