// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/guesses/ngram_pool.h"

#include "engine/base/result.h"

#include <algorithm>

namespace engine {

namespace {

using Tokens = std::span<const TokenId>;

/// What of an n-gram can be drafted.
Tokens drafted(Tokens ngram, const NgramRoom& room) {
    const Tokens fitting =
        ngram.first(std::min(ngram.size(), static_cast<std::size_t>(std::max(room.depth, 0))));
    const auto end =
        std::find_first_of(fitting.begin(), fitting.end(), room.endIds.begin(), room.endIds.end());
    return end == fitting.end()
               ? fitting
               : fitting.first(static_cast<std::size_t>(end - fitting.begin()) + 1);
}

/// Of the n-grams that are the same before a place, the part that has the same token there, too.
double shareOf(std::span<const Tokens> ngrams, Tokens ngram, std::size_t place) {
    int there = 0;
    int same = 0;
    for (const Tokens other : ngrams) {
        if (other.size() <= place ||
            !std::equal(ngram.begin(), ngram.begin() + place, other.begin()))
            continue;
        ++there;
        same += other[place] == ngram[place] ? 1 : 0;
    }
    return static_cast<double>(same) / there;
}

int childWith(const DraftTree& tree, int parent, TokenId token) {
    for (const int child : tree.children(parent))
        if (tree.node(child).token == token)
            return child;
    return -1;
}

} // namespace

NgramPool::NgramPool(int perKey, int maxKeys)
    : m_perKey(static_cast<std::size_t>(perKey))
    , m_maxKeys(static_cast<std::size_t>(maxKeys)) {
    ENGINE_CHECK(perKey > 0 && maxKeys > 0, "a pool of {} keys with {} n-grams", maxKeys, perKey);
}

/// A key that is written is the newest; a new one makes the oldest go when there are too many.
NgramPool::Entry& NgramPool::entryOf(TokenId key) {
    if (const auto known = m_entries.find(key); known != m_entries.end()) {
        m_uses.splice(m_uses.begin(), m_uses, known->second.use);
        return known->second;
    }
    if (m_entries.size() == m_maxKeys) {
        m_entries.erase(m_uses.back());
        m_uses.pop_back();
    }
    m_uses.push_front(key);
    Entry& entry = m_entries[key];
    entry.use = m_uses.begin();
    return entry;
}

void NgramPool::insert(TokenId key, std::span<const TokenId> ngram) {
    ENGINE_CHECK(!ngram.empty(), "no token behind {}", key);
    std::vector<Ngram>& ngrams = entryOf(key).ngrams;
    auto place = std::find_if(ngrams.begin(), ngrams.end(), [ngram](const Ngram& known) {
        return std::equal(known.begin(), known.end(), ngram.begin(), ngram.end());
    });
    if (place == ngrams.end()) {
        if (ngrams.size() < m_perKey)
            ngrams.emplace_back();
        place = ngrams.end() - 1; // the oldest makes room
        place->assign(ngram.begin(), ngram.end());
    }
    std::rotate(ngrams.begin(), place, place + 1);
}

void NgramPool::insertText(std::span<const TokenId> text, int length) {
    const auto behind = static_cast<std::size_t>(length);
    for (std::size_t at = 0; at + behind < text.size(); ++at)
        insert(text[at], text.subspan(at + 1, behind));
}

std::span<const Ngram> NgramPool::candidates(TokenId key) const {
    const auto known = m_entries.find(key);
    return known == m_entries.end() ? std::span<const Ngram>() : known->second.ngrams;
}

void NgramPool::limitTo(int perKey) {
    ENGINE_CHECK(perKey > 0, "{} ngrams of a key", perKey);
    m_perKey = static_cast<std::size_t>(perKey);
    for (auto& [key, entry] : m_entries)
        entry.ngrams.resize(std::min(entry.ngrams.size(), m_perKey));
}

void NgramPool::clear() {
    m_entries.clear();
    m_uses.clear();
}

void mergeNgrams(DraftTree& tree, std::span<const Ngram> ngrams, const NgramRoom& room) {
    std::vector<Tokens> wanted;
    for (const Ngram& ngram : ngrams)
        wanted.push_back(drafted(ngram, room));
    for (const Tokens ngram : wanted) {
        int parent = -1;
        for (std::size_t place = 0; place < ngram.size(); ++place) {
            const int known = childWith(tree, parent, ngram[place]);
            if (known < 0 && tree.size() >= room.nodes)
                break;
            const double share = shareOf(wanted, ngram, place);
            parent = known >= 0 ? known : tree.add(ngram[place], parent, share);
            if (static_cast<int>(place) == tree.draftSteps())
                tree.addConfidence(share);
        }
    }
}

} // namespace engine
