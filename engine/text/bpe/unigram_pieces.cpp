// SPDX-License-Identifier: Apache-2.0
// The part of the model for unigram vocabularies.
// Source: encode_optimized of Hugging Face tokenizers 0.23, whose sums are in double and whose ties
// go to the token that begins first.
#include "engine/loading/files/readable_text.h"
#include "engine/text/bpe/bpe_model.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/text_starts.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>

namespace engine {

namespace {

constexpr double kUnknownCost = 10.0;

/// The best way to reach a place: the token that ends there and where it begins.
struct Arrival {
    double score = 0.0;
    TokenId id = kNoToken;
    std::int64_t begin = -1; // -1: none yet

    void offer(const Arrival& other) {
        if (begin < 0 || other.score > score)
            *this = other;
    }
};

} // namespace

/// Longer tokens than any that is searched for in texts are left out.
void BpeModel::sortTexts() {
    for (std::size_t id = 0; id < m_size; ++id)
        if (!m_texts[id].empty() && m_texts[id].size() <= kMaxTokenBytes)
            m_sorted.push_back(static_cast<TokenId>(id));
    std::ranges::sort(m_sorted, {}, [this](TokenId id) -> const std::string& { return text(id); });
    m_unknownScore = *std::ranges::min_element(m_options.scores) - kUnknownCost;
}

/// A run of unknown characters is a token of that text where there is one, else bytes, else
/// unknown.
void BpeModel::appendUnknown(std::string_view run, std::vector<TokenId>& ids) const {
    const TokenId whole = find(run);
    if (whole != kNoToken || !m_options.hasByteFallback || !appendByteTokens(run, ids))
        ids.push_back(whole != kNoToken ? whole : m_unknownId);
}

Result<std::vector<TokenId>> BpeModel::likeliest(std::string_view piece) const {
    const auto textOf = [this](TokenId id) -> const std::string& { return text(id); };
    std::vector<Arrival> arrivals(piece.size() + 1);
    for (std::size_t begin = 0, length = 0; begin < piece.size(); begin += length) {
        length = utf8::lengthByFirstByte(piece[begin]);
        const auto place = static_cast<std::int64_t>(begin);
        const double scoreHere = arrivals[begin].score;
        bool hasCharacter = false;
        forEachStart(
            m_sorted.begin(), m_sorted.end(), piece.substr(begin), textOf, [&](TokenId id) {
                const std::size_t size = text(id).size();
                const double score = m_options.scores[static_cast<std::size_t>(id)] + scoreHere;
                arrivals[begin + size].offer({score, id, place});
                hasCharacter = hasCharacter || size == length;
            });
        if (hasCharacter)
            continue;
        Arrival& behind = arrivals[begin + length];
        behind.offer({m_unknownScore + scoreHere, m_unknownId, place});
        if (behind.id == kNoToken)
            return Error{ErrorCode::CorruptFile,
                         fmt::format("the vocabulary has no token for '{}', and no unknown token",
                                     readable(piece.substr(begin, length))),
                         "Use another export of the tokenizer, or a text without it."};
    }
    std::vector<std::size_t> ends;
    for (std::size_t end = piece.size(); end > 0;
         end = static_cast<std::size_t>(arrivals[end].begin))
        ends.push_back(end);
    std::vector<TokenId> ids;
    const auto isUnknown = [&](std::size_t end) { return arrivals[end].id == m_unknownId; };
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        const auto begin = static_cast<std::size_t>(arrivals[*end].begin);
        if (!isUnknown(*end)) {
            ids.push_back(arrivals[*end].id);
            continue;
        }
        while (end + 1 != ends.rend() && isUnknown(*(end + 1)))
            ++end;
        appendUnknown(piece.substr(begin, *end - begin), ids);
    }
    return ids;
}

} // namespace engine
