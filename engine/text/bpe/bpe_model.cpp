// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/bpe_model.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/vocabulary/utf8.h"

#include <queue>

#include <bit>
#include <functional>

namespace engine {

namespace {

constexpr std::size_t kMaxRememberedPieces = 16'384;
constexpr std::size_t kMaxRememberedBytes = 64; // a piece longer than this is not worth keeping

std::uint64_t pairKey(TokenId left, TokenId right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) |
           static_cast<std::uint32_t>(right);
}

/// Spreads the bits of a pair: both ids are small numbers.
std::uint64_t mixed(std::uint64_t pair) {
    pair *= 0x9E3779B97F4A7C15ULL;
    return pair ^ pair >> 32U;
}

Error missingToken(std::string_view text, std::uint32_t rank) {
    return {ErrorCode::CorruptFile,
            fmt::format("merge {} needs the token '{}', which is not in the vocabulary",
                        rank,
                        text.substr(0, 100)),
            "The vocabulary and the merges do not belong together: fetch the file again."};
}

} // namespace

/// Pairs that may merge: lowest rank first, leftmost among equals. A pair is one number, rank above
/// place: the queue of a long piece is several times as large as the piece.
class BpeModel::MergeQueue {
public:
    struct Candidate {
        std::uint32_t rank;
        std::int32_t left;
    };

    static std::uint64_t packed(Candidate candidate) {
        return std::uint64_t{candidate.rank} << 32U | static_cast<std::uint32_t>(candidate.left);
    }

    explicit MergeQueue(std::vector<std::uint64_t> packedCandidates)
        : m_queue(std::greater<>(), std::move(packedCandidates)) {}

    void push(Candidate candidate) { m_queue.push(packed(candidate)); }

    bool isEmpty() const { return m_queue.empty(); }

    Candidate pop() {
        const std::uint64_t top = m_queue.top();
        m_queue.pop();
        return {static_cast<std::uint32_t>(top >> 32U), static_cast<std::int32_t>(top)};
    }

private:
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> m_queue;
};

Result<BpeModel> BpeModel::make(std::vector<std::string> texts,
                                const std::vector<Merge>& merges,
                                BpeOptions options,
                                MergeRules rules) {
    BpeModel model;
    model.m_texts = std::move(texts);
    model.m_size = model.m_texts.size();
    model.m_options = std::move(options);
    ENGINE_TRY_DO(model.indexTexts());
    model.m_merges.resize(std::bit_ceil(merges.size() + merges.size() / 4 + 1));
    for (std::size_t rank = 0; rank < merges.size(); ++rank)
        ENGINE_TRY_DO(model.addMerge(merges[rank], static_cast<std::uint32_t>(rank), rules));
    if (!model.m_options.unknownToken.empty())
        model.m_unknownId = model.find(model.m_options.unknownToken);
    if (!model.m_options.scores.empty())
        model.sortTexts();
    return model;
}

Result<void> BpeModel::indexTexts() {
    m_ids.assign(std::bit_ceil(m_texts.size() * 2 + 1), kNoToken);
    for (std::size_t id = 0; id < m_texts.size(); ++id) {
        const std::string& text = m_texts[id];
        if (text.empty())
            continue;
        TokenId& place = m_ids[placeOf(text)];
        if (place != kNoToken)
            return Error{ErrorCode::CorruptFile,
                         fmt::format("the vocabulary holds the token '{}' twice, the second time "
                                     "as id {}",
                                     std::string_view(text).substr(0, 100),
                                     id),
                         "Fetch the file again, or convert the model anew."};
        place = static_cast<TokenId>(id);
    }
    return {};
}

/// Where a text is, or would be put.
std::size_t BpeModel::placeOf(std::string_view text) const {
    const std::size_t mask = m_ids.size() - 1;
    std::size_t place = std::hash<std::string_view>()(text) & mask;
    while (m_ids[place] != kNoToken && m_texts[static_cast<std::size_t>(m_ids[place])] != text)
        place = (place + 1) & mask;
    return place;
}

std::size_t BpeModel::placeOf(std::uint64_t pair) const {
    const std::size_t mask = m_merges.size() - 1;
    std::size_t place = mixed(pair) & mask;
    while (m_merges[place].rule.result != kNoToken && m_merges[place].pair != pair)
        place = (place + 1) & mask;
    return place;
}

Result<void> BpeModel::addMerge(const Merge& merge, std::uint32_t rank, MergeRules rules) {
    const auto& [left, right] = merge;
    const std::string& prefix = m_options.continuingPrefix;
    const bool hasPrefix = !prefix.empty() && std::string_view(right).starts_with(prefix);
    const std::string joined = left + (hasPrefix ? right.substr(prefix.size()) : right);
    const TokenId leftId = findAny(left);
    const TokenId rightId = findAny(right);
    TokenId joinedId = findAny(joined);
    const bool hasParts = leftId != kNoToken && rightId != kNoToken;
    if (!hasParts || joinedId == kNoToken) {
        if (rules == MergeRules::TokenizerJson)
            return missingToken(leftId == kNoToken    ? left
                                : rightId == kNoToken ? right
                                                      : joined,
                                rank);
        ++m_incompleteMerges;
        if (!hasParts)
            return {};
        joinedId = addStep(joined);
    }
    const std::uint64_t pair = pairKey(leftId, rightId);
    MergePlace& place = m_merges[placeOf(pair)];
    if (place.rule.result == kNoToken || rules == MergeRules::TokenizerJson)
        place = {pair, {rank, joinedId}};
    return {};
}

TokenId BpeModel::find(std::string_view text) const {
    const TokenId id = findAny(text);
    return id < static_cast<TokenId>(m_size) ? id : kNoToken; // at most kMaxVocabSize
}

/// Also finds steps.
TokenId BpeModel::findAny(std::string_view text) const { return m_ids[placeOf(text)]; }

TokenId BpeModel::addStep(std::string text) {
    const auto id = static_cast<TokenId>(m_texts.size()); // files have fewer merges than 2^31
    m_texts.push_back(std::move(text));
    if (m_texts.size() * 2 >= m_ids.size()) {
        m_ids.assign(m_ids.size() * 2, kNoToken);
        for (std::size_t known = 0; known < m_texts.size(); ++known)
            if (!m_texts[known].empty())
                m_ids[placeOf(m_texts[known])] = static_cast<TokenId>(known);
    } else {
        m_ids[placeOf(m_texts.back())] = id;
    }
    return id;
}

bool BpeModel::appendByteTokens(std::string_view character, std::vector<TokenId>& ids) const {
    std::vector<TokenId> bytes;
    for (const char byte : character) {
        const TokenId id = find(fmt::format("<0x{:02X}>", static_cast<std::uint8_t>(byte)));
        if (id == kNoToken)
            return false;
        bytes.push_back(id);
    }
    ids.insert(ids.end(), bytes.begin(), bytes.end());
    return true;
}

/// The ids of single characters, byte tokens or the unknown token; with `fusesUnknown` a run of
/// unknown characters is one token.
Result<std::vector<TokenId>> BpeModel::characterIds(std::string_view piece) const {
    std::vector<TokenId> ids;
    bool hasPendingUnknown = false;
    std::string decorated;
    for (std::size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
        end = std::min(piece.size(), begin + utf8::lengthByFirstByte(piece[begin]));
        std::string_view character = piece.substr(begin, end - begin);
        const bool hasPrefix = begin > 0 && !m_options.continuingPrefix.empty();
        const bool hasSuffix = end == piece.size() && !m_options.endSuffix.empty();
        if (hasPrefix || hasSuffix) {
            decorated = fmt::format("{}{}{}",
                                    hasPrefix ? m_options.continuingPrefix : "",
                                    character,
                                    hasSuffix ? m_options.endSuffix : "");
            character = decorated;
        }
        if (const TokenId id = find(character); id != kNoToken) {
            if (hasPendingUnknown)
                ids.push_back(m_unknownId);
            hasPendingUnknown = false;
            ids.push_back(id);
            continue;
        }
        if (m_options.hasByteFallback && appendByteTokens(character, ids))
            continue;
        if (m_options.unknownToken.empty())
            continue;
        if (m_unknownId == kNoToken)
            return Error{ErrorCode::CorruptFile,
                         fmt::format("the vocabulary has no token for '{}', and lacks the unknown "
                                     "token '{}' too",
                                     readable(character),
                                     readable(m_options.unknownToken)),
                         "Use another export of the tokenizer, or a text without it."};
        if (hasPendingUnknown && !m_options.fusesUnknown)
            ids.push_back(m_unknownId);
        hasPendingUnknown = true;
    }
    if (hasPendingUnknown)
        ids.push_back(m_unknownId);
    return ids;
}

const BpeModel::MergeRule* BpeModel::findMerge(TokenId left, TokenId right) const {
    ++m_pairsTried;
    const MergePlace& place = m_merges[placeOf(pairKey(left, right))];
    return place.rule.result == kNoToken ? nullptr : &place.rule;
}

std::vector<TokenId> BpeModel::merge(const std::vector<TokenId>& characters) const {
    const auto count = static_cast<std::int32_t>(characters.size()); // kMaxTextBytes at most
    std::vector<Symbol> symbols(characters.size());
    const auto at = [&symbols](std::int32_t i) -> Symbol& {
        return symbols[static_cast<std::size_t>(i)];
    };
    for (std::int32_t i = 0; i < count; ++i)
        at(i) = {characters[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1};
    const auto ruleAt = [&](std::int32_t left) {
        const bool isPair = left >= 0 && at(left).next >= 0;
        return isPair ? findMerge(at(left).id, at(at(left).next).id) : nullptr;
    };
    std::vector<std::uint64_t> first;
    for (std::int32_t i = 0; i + 1 < count; ++i)
        if (const MergeRule* rule = ruleAt(i))
            first.push_back(MergeQueue::packed({rule->rank, i}));
    MergeQueue queue(std::move(first));
    while (!queue.isEmpty()) {
        const auto top = queue.pop();
        Symbol& left = at(top.left);
        const MergeRule* rule = left.id == kNoToken ? nullptr : ruleAt(top.left);
        if (rule == nullptr || rule->rank != top.rank) // an earlier merge took one of the two
            continue;
        Symbol& right = at(left.next);
        left.id = rule->result;
        left.next = right.next;
        right.id = kNoToken;
        if (left.next >= 0)
            at(left.next).previous = top.left;
        for (const std::int32_t changed : {left.previous, top.left})
            if (const MergeRule* next = ruleAt(changed))
                queue.push({next->rank, changed});
    }
    std::vector<TokenId> ids;
    for (std::int32_t i = count > 0 ? 0 : -1; i >= 0; i = at(i).next)
        ids.push_back(at(i).id);
    return ids;
}

/// What no longer token came of falls apart into its characters.
Result<std::vector<TokenId>> BpeModel::withoutSteps(std::vector<TokenId> ids) const {
    if (m_texts.size() == m_size)
        return ids;
    std::vector<TokenId> whole;
    for (const TokenId id : ids) {
        if (static_cast<std::size_t>(id) < m_size) {
            whole.push_back(id);
            continue;
        }
        ENGINE_TRY(const std::vector<TokenId> characters, characterIds(text(id)));
        whole.insert(whole.end(), characters.begin(), characters.end());
    }
    return whole;
}

void BpeModel::remember(std::string_view piece, const std::vector<TokenId>& ids) const {
    if (piece.size() > kMaxRememberedBytes)
        return;
    if (m_remembered.size() >= kMaxRememberedPieces)
        m_remembered.clear();
    m_remembered.emplace(piece, ids);
}

Result<void> BpeModel::tokenize(std::string_view piece, std::vector<TokenId>& ids) const {
    if (piece.empty())
        return {};
    if (m_options.ignoresMerges) {
        if (const TokenId id = find(piece); id != kNoToken) {
            ids.push_back(id);
            return {};
        }
    }
    if (piece.size() <= kMaxRememberedBytes) {
        if (const auto known = m_remembered.find(std::string(piece)); known != m_remembered.end()) {
            ids.insert(ids.end(), known->second.begin(), known->second.end());
            return {};
        }
    }
    std::vector<TokenId> found;
    if (m_options.scores.empty()) {
        ENGINE_TRY(const std::vector<TokenId> characters, characterIds(piece));
        ENGINE_TRY(found, withoutSteps(merge(characters)));
    } else {
        ENGINE_TRY(found, likeliest(piece));
    }
    remember(piece, found);
    ids.insert(ids.end(), found.begin(), found.end());
    return {};
}

} // namespace engine
