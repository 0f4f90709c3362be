// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/draft_tree.h"

#include <list>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

/// An n-gram without its first token, which it is kept by: what could follow that, in order.
using Ngram = std::vector<TokenId>;

/// N-grams by their first token, the key. Of a key the newest `perKey` are kept, of the keys those
/// that were written last: memory is bounded. Thread: one.
/// Source: the n-gram pool of arXiv 2402.02057, 3.2; differs: the keys are bounded, too.
class NgramPool {
public:
    static constexpr int kUsualKeys = 1 << 14;

    /// Both at least 1.
    explicit NgramPool(int perKey, int maxKeys = kUsualKeys);

    NgramPool(const NgramPool&) = delete; // entries know their places in the list of uses
    NgramPool& operator=(const NgramPool&) = delete;
    NgramPool(NgramPool&&) = default;
    NgramPool& operator=(NgramPool&&) = default;
    ~NgramPool() = default;

    /// Puts an n-gram, not empty, in front of its key's others; one that is there is only moved.
    void insert(TokenId key, std::span<const TokenId> ngram);

    /// Puts the `length` tokens behind each token of a text in, in order; where fewer follow, none.
    void insertText(std::span<const TokenId> text, int length);

    /// Newest first; empty when there are none. Lasts until the pool changes.
    std::span<const Ngram> candidates(TokenId key) const;

    int keyCount() const { return static_cast<int>(m_entries.size()); }

    /// Keeps at most so many n-grams of a key from now on; the oldest go.
    void limitTo(int perKey);

    void clear();

private:
    struct Entry {
        std::vector<Ngram> ngrams;        // newest first
        std::list<TokenId>::iterator use; // in m_uses
    };

    Entry& entryOf(TokenId key);

    std::size_t m_perKey;
    std::size_t m_maxKeys;
    std::unordered_map<TokenId, Entry> m_entries;
    std::list<TokenId> m_uses; // keys, the one written last first
};

/// What a draft may still take.
struct NgramRoom {
    int nodes = 0;                        ///< of the tree when all is merged, old ones included
    int depth = 0;                        ///< of any node; room for the bonus is the caller's
    std::span<const TokenId> endIds = {}; ///< nothing is drafted behind one of them
};

/// Merges n-grams into a tree whose root is their key: equal prefixes share nodes, of siblings no
/// two are the same token, what there is no room for is left out from the last n-gram's end on. New
/// nodes have the share of the n-grams that go on with them, and a level that the tree had not is
/// one draft step. In a tree that was empty the first n-gram is the spine.
void mergeNgrams(DraftTree& tree, std::span<const Ngram> ngrams, const NgramRoom& room);

} // namespace engine
