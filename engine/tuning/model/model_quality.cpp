// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/model/model_quality.h"

#include "engine/base/to_size.h"
#include "engine/tuning/training/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace engine {

namespace {

/// Rows whose logits are brought here at a time.
constexpr int kPieceRows = 64;

/// Reads one text; its first rows belong to the prompt.
class TextReader {
public:
    TextReader(Transformer& transformer, TextReading& reading, std::size_t most, TokenId forbidden)
        : m_transformer(transformer)
        , m_reading(reading)
        , m_most(most)
        , m_forbidden(forbidden)
        , m_plan(LayerPlan::full(transformer.config().layerCount)) {}

    Result<void> read(const AnswerRows& text, const std::stop_token& stop) {
        ENGINE_TRY(KvCache cache, m_transformer.makeCache(static_cast<Position>(text.rows())));
        for (int first = 0; first < text.rows() && m_reading.best.size() < m_most;
             first += kPieceRows) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, "The measurement was cancelled.", ""};
            ENGINE_TRY_DO(readPiece(text, first, cache));
        }
        return {};
    }

private:
    Result<void> readPiece(const AnswerRows& text, int first, KvCache& cache) {
        const int count = std::min(kPieceRows, text.rows() - first);
        std::vector<int> rows(toSize(count));
        std::iota(rows.begin(), rows.end(), 0);
        const AttentionLayout layout = AttentionLayout::chain(static_cast<Position>(first), count);
        ENGINE_TRY_DO(m_transformer.forwardInto(
            {.plan = m_plan,
             .layout = layout,
             .tokens = std::span(text.tokens).subspan(toSize(first), toSize(count)),
             .logitRows = rows},
            cache,
            m_pass));
        cache.commit(count);
        if (m_forbidden != kNoToken)
            m_pass.logits.forbid(m_forbidden);
        for (int row = 0; row < count && m_reading.best.size() < m_most; ++row) {
            const int next = first + row + 1;
            if (next < text.promptRows)
                continue;
            const TokenId token = next < text.rows() ? text.tokens[toSize(next)] : text.last;
            ENGINE_TRY(const std::span<double> logits, m_pass.logits.row(row));
            m_reading.best.push_back(
                static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
            m_reading.surprise += surpriseOf(logits, token);
        }
        return {};
    }

    static double surpriseOf(std::span<const double> logits, TokenId token) {
        const double most = *std::ranges::max_element(logits);
        double sum = 0.0;
        for (const double logit : logits)
            sum += std::exp(logit - most);
        return most + std::log(sum) - logits[toSize(token)];
    }

    Transformer& m_transformer;
    TextReading& m_reading;
    std::size_t m_most;
    TokenId m_forbidden;
    LayerPlan m_plan;
    ForwardResult m_pass;
};

} // namespace

double TextReading::perplexity() const {
    if (best.empty())
        return 0.0;
    const double found = std::exp(surprise / static_cast<double>(best.size()));
    return found < kHighestPerplexity ? found : kHighestPerplexity;
}

Result<TextReading> readTexts(Transformer& transformer,
                              const RowStore& rows,
                              const QualityTexts& texts,
                              TokenId forbidden,
                              const std::stop_token& stop) {
    constexpr int kAll = std::numeric_limits<int>::max();
    const std::size_t most = toSize(texts.tokens);
    TextReading reading;
    TextReader reader(transformer, reading, most, forbidden);
    for (const TextPlace place : textsToEvaluate(rows, texts.split, kAll, texts.seed)) {
        if (reading.best.size() >= most)
            break;
        ENGINE_TRY(const AnswerRows text, rows.read(place));
        ENGINE_TRY_DO(reader.read(text, stop));
    }
    return reading;
}

bool ModelQuality::isKept() const { return failing().empty(); }

std::string ModelQuality::failing() const {
    // Written so that figures that are no numbers fail, too.
    if (!(perplexityAfter <= kMostPerplexity * perplexityBefore &&
          perplexityAfter < kHighestPerplexity))
        return fmt::format("The perplexity of {} tokens of {} rose from {:.3f} to {:.3f}, by "
                           "more than {:.0f} %.",
                           tokens,
                           isHeldOut ? "held-out texts" : "texts that were trained on",
                           perplexityBefore,
                           perplexityAfter,
                           (kMostPerplexity - 1.0) * 100.0);
    if (!(agreement >= kLeastAgreement))
        return fmt::format("Of {} most probable tokens only a share of {:.3f} is still the "
                           "untouched model's, less than {:.2f}.",
                           tokens,
                           agreement,
                           kLeastAgreement);
    return {};
}

ModelQuality compareReadings(const TextReading& before, const TextReading& after, bool isHeldOut) {
    ENGINE_CHECK(before.best.size() == after.best.size(),
                 "{} rows beside {}",
                 before.best.size(),
                 after.best.size());
    ModelQuality quality;
    quality.tokens = static_cast<std::int64_t>(before.best.size());
    quality.perplexityBefore = before.perplexity();
    quality.perplexityAfter = after.perplexity();
    quality.isHeldOut = isHeldOut;
    std::int64_t same = 0;
    for (std::size_t i = 0; i < before.best.size(); ++i)
        same += before.best[i] == after.best[i] ? 1 : 0;
    quality.agreement =
        quality.tokens > 0 ? static_cast<double>(same) / static_cast<double>(quality.tokens) : 0.0;
    return quality;
}

} // namespace engine
