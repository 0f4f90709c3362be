// SPDX-License-Identifier: Apache-2.0
#include "engine/text/sentencepiece/unigram_encoder.h"

#include "engine/text/joining/token_decoder.h"
#include "engine/text/vocabulary/text_starts.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

constexpr float kUnknownPenalty = 10.0F;
constexpr float kScoreResetLimit = 100'000.0F; // beyond it sums lose the digits that decide

bool mayAppearInText(PieceType type) {
    return type == PieceType::Normal || type == PieceType::UserDefined || type == PieceType::Unused;
}

} // namespace

UnigramEncoder::UnigramEncoder(const SentencePieceModel& model)
    : m_model(model) {
    float lowest = std::numeric_limits<float>::max();
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        const SentencePieceModel::Piece& piece = model.pieces[i];
        const auto id = static_cast<TokenId>(i);
        if (mayAppearInText(piece.type)) {
            m_sorted.push_back(id);
            m_longestPiece = std::max(m_longestPiece, piece.text.size());
        }
        if (piece.type == PieceType::Normal)
            lowest = std::min(lowest, piece.score);
        if (piece.type == PieceType::Unknown)
            m_unknownId = id;
        if (piece.type == PieceType::Byte) {
            m_byteIds.resize(256, kNoToken);
            m_byteIds[static_cast<std::size_t>(byteOfToken(piece.text))] = id;
        }
    }
    m_unknownScore = lowest - kUnknownPenalty;
    std::sort(m_sorted.begin(), m_sorted.end(), [&model](TokenId a, TokenId b) {
        return model.pieces[static_cast<std::size_t>(a)].text <
               model.pieces[static_cast<std::size_t>(b)].text;
    });
}

/// A user-defined piece scores nearly a tenth a byte, more than any sum of logarithms; one long
/// piece beats several short ones.
float UnigramEncoder::scoreOf(TokenId id, std::size_t length) const {
    const SentencePieceModel::Piece& piece = m_model.pieces[static_cast<std::size_t>(id)];
    if (piece.type == PieceType::UserDefined)
        return static_cast<float>(0.1 * static_cast<double>(length - 1));
    return piece.score;
}

/// Takes all pieces that begin here; says whether one of them is just the character here.
bool UnigramEncoder::tryPieces(std::string_view text,
                               std::size_t begin,
                               std::span<Arrival> arrivals) const {
    const std::size_t characterLength = utf8::lengthByFirstByte(text[begin]);
    const float scoreHere = arrivals[begin].score;
    const auto pieceOf = [this](TokenId id) -> const SentencePieceModel::Piece& {
        return m_model.pieces[static_cast<std::size_t>(id)];
    };
    const auto textOf = [&](TokenId id) -> const std::string& { return pieceOf(id).text; };
    bool hasCharacter = false;
    forEachStart(m_sorted.begin(), m_sorted.end(), text.substr(begin), textOf, [&](TokenId id) {
        if (pieceOf(id).type == PieceType::Unused)
            return;
        const std::size_t length = textOf(id).size();
        Arrival& arrival = arrivals[begin + length];
        const float score = scoreOf(id, length) + scoreHere;
        if (arrival.begin < 0 || score > arrival.score)
            arrival = {score, id, static_cast<std::int64_t>(begin)};
        hasCharacter = hasCharacter || length == characterLength;
    });
    return hasCharacter;
}

void UnigramEncoder::extendFrom(std::string_view text,
                                std::size_t begin,
                                std::span<Arrival> arrivals) const {
    const float scoreHere = arrivals[begin].score;
    if (std::abs(scoreHere) > kScoreResetLimit) {
        const std::size_t frontier = std::min(text.size(), begin + m_longestPiece + 4);
        for (std::size_t i = begin; i <= frontier; ++i) {
            if (i == begin || arrivals[i].begin >= 0)
                arrivals[i].score -= scoreHere;
        }
    }
    if (tryPieces(text, begin, arrivals))
        return;
    const std::size_t end = std::min(text.size(), begin + utf8::lengthByFirstByte(text[begin]));
    const float score = m_unknownScore + arrivals[begin].score;
    if (arrivals[end].begin < 0 || score > arrivals[end].score)
        arrivals[end] = {score, m_unknownId, static_cast<std::int64_t>(begin)};
}

void UnigramEncoder::appendUnknown(std::string_view piece,
                                   bool isRepeated,
                                   std::vector<TokenId>& ids) const {
    if (m_byteIds.empty()) {
        if (!isRepeated)
            ids.push_back(m_unknownId);
        return;
    }
    for (const char byte : piece)
        ids.push_back(m_byteIds[static_cast<std::uint8_t>(byte)]);
}

void UnigramEncoder::encode(std::string_view normalized, std::vector<TokenId>& ids) const {
    if (normalized.empty())
        return;
    std::vector<Arrival> arrivals(normalized.size() + 1);
    for (std::size_t begin = 0; begin < normalized.size();
         begin += utf8::lengthByFirstByte(normalized[begin]))
        extendFrom(normalized, begin, arrivals);
    std::vector<std::size_t> ends;
    for (std::size_t end = normalized.size(); end > 0;
         end = static_cast<std::size_t>(arrivals[end].begin)) {
        ENGINE_CHECK(arrivals[end].begin >= 0, "no piece ends at byte {}", end);
        ends.push_back(end);
    }
    bool wasUnknown = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        const Arrival& arrival = arrivals[*end];
        const auto begin = static_cast<std::size_t>(arrival.begin);
        const bool isUnknown = arrival.id == m_unknownId;
        if (isUnknown)
            appendUnknown(normalized.substr(begin, *end - begin), wasUnknown, ids);
        else
            ids.push_back(arrival.id);
        wasUnknown = isUnknown;
    }
}

} // namespace engine
