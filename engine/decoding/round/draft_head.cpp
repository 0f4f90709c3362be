// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/draft_head.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// So many tokens are always kept: fewer hold too little of any text.
constexpr int kLeastKept = 4096;

int keptTokens(const Transformer& transformer, double share) {
    const int all = transformer.config().vocabSize;
    if (!transformer.leavesTokensOut())
        return all;
    const int wanted = std::max(static_cast<int>(std::ceil(share * all)), kLeastKept);
    return std::min((wanted + kHeadBlock - 1) / kHeadBlock * kHeadBlock, all);
}

} // namespace

double DraftHead::keptShare(const Transformer& transformer, double share) {
    return static_cast<double>(keptTokens(transformer, share)) / transformer.config().vocabSize;
}

std::span<const TokenSpan> DraftHead::spans(const Target& target) {
    if (keptTokens(target.transformer(), m_wanted) == target.transformer().config().vocabSize)
        return {};
    const auto tokens = target.cachedTokens();
    const bool goesOn = m_used == m_wanted && !m_isKept.empty() && tokens.size() >= m_seen.size() &&
                        std::equal(m_seen.begin(), m_seen.end(), tokens.begin());
    if (!goesOn)
        begin(target);
    for (const TokenId token : tokens.subspan(m_seen.size())) {
        keep(token);
        m_seen.push_back(token);
    }
    for (const TokenId token : target.unread())
        keep(token);
    for (const TokenId token : target.endIds())
        keep(token);
    keep(target.pending());
    if (m_hasNew)
        gather();
    return m_spans;
}

/// Another share, or another text: what was kept for the old one is forgotten.
void DraftHead::begin(const Target& target) {
    m_vocabSize = target.transformer().config().vocabSize;
    m_used = m_wanted;
    m_seen.clear();
    m_isKept.assign(toSize((m_vocabSize + kHeadBlock - 1) / kHeadBlock), 0);
    const int first = keptTokens(target.transformer(), m_wanted);
    std::fill_n(m_isKept.begin(), first / kHeadBlock, std::uint8_t{1});
    m_hasNew = true;
}

/// A tokenizer may name an end for which the model has no row.
void DraftHead::keep(TokenId token) {
    if (token < 0 || token >= m_vocabSize)
        return;
    std::uint8_t& isKept = m_isKept[toSize(token / kHeadBlock)];
    m_hasNew = m_hasNew || isKept == 0;
    isKept = 1;
}

void DraftHead::gather() {
    m_spans.clear();
    for (std::size_t block = 0; block < m_isKept.size(); ++block) {
        if (m_isKept[block] == 0)
            continue;
        const int first = static_cast<int>(block) * kHeadBlock;
        const int end = std::min(first + kHeadBlock, m_vocabSize);
        if (!m_spans.empty() && m_spans.back().end == first)
            m_spans.back().end = end;
        else
            m_spans.push_back({first, end});
    }
    m_hasNew = false;
}

} // namespace engine
