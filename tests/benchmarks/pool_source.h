// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/guesses/ngram_pool.h"
#include "engine/decoding/statistics/decayed_rate.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace study {

/// A further source of free drafts, to see whether it is worth being one: n-grams behind the newest
/// token join a draft where they are likelier than its least likely nodes. How likely they are is
/// learnt, by their place in the pool, their depth and what they hang on, from all that were
/// proposed, drafted or not: a real decoder could know no more.
class PoolSource {
public:
    static constexpr int kLength = 3; // tokens behind the key
    static constexpr int kPerKey = 7;

    PoolSource() { m_rates.fill(engine::DecayedRate(0.1, 8.0, 0.998)); }

    void addText(std::span<const engine::TokenId> text) { m_pool.insertText(text, kLength); }

    /// The `maxNodes` likeliest nodes of a draft and of what the pool has behind `newest`.
    engine::DraftTree
    widen(const engine::DraftTree& free, engine::TokenId newest, int maxNodes, int maxDepth) {
        m_union = free;
        m_paths.clear();
        m_kinds.assign(static_cast<std::size_t>(free.size()), kFree);
        for (const engine::DraftNode& node : free.nodes())
            m_paths.push_back(node.probability * pathOf(node.parent));
        const auto ngrams = m_pool.candidates(newest);
        for (std::size_t rank = 0; rank < ngrams.size(); ++rank)
            addNgram(ngrams[rank], rank, maxDepth);
        return likeliest(maxNodes);
    }

    /// What the answer really went on with behind the place of widen().
    void learn(std::span<const engine::TokenId> coming) {
        int at = -1;
        for (const engine::TokenId token : coming) {
            int next = -1;
            for (const int child : m_union.children(at)) {
                const bool isHit = m_union.node(child).token == token;
                const int kind = m_kinds[static_cast<std::size_t>(child)];
                if (kind != kFree)
                    m_rates[static_cast<std::size_t>(kind)].add(isHit);
                next = isHit ? child : next;
            }
            if (next < 0)
                return;
            at = next;
        }
    }

private:
    static constexpr int kFree = -1;
    static constexpr std::size_t kRanks = 4;

    double pathOf(int node) const {
        return node < 0 ? 1.0 : m_paths[static_cast<std::size_t>(node)];
    }

    void addNgram(const engine::Ngram& ngram, std::size_t rank, int maxDepth) {
        int at = -1;
        const std::size_t depths = std::min(ngram.size(), static_cast<std::size_t>(maxDepth));
        for (std::size_t depth = 0; depth < depths; ++depth) {
            int next = -1;
            for (const int child : m_union.children(at))
                if (m_union.node(child).token == ngram[depth])
                    next = child;
            if (next < 0) {
                const bool isBesideFree = !m_union.children(at).empty();
                const std::size_t kind =
                    (std::min(rank, kRanks - 1) * kLength + depth) * 2 + (isBesideFree ? 1 : 0);
                const double rate = m_rates[kind].value();
                m_paths.push_back(rate * pathOf(at));
                m_kinds.push_back(static_cast<int>(kind));
                next = m_union.add(ngram[depth], at, rate);
            }
            at = next;
        }
    }

    /// Parents are never less likely than their children and come first among equals.
    engine::DraftTree likeliest(int maxNodes) const {
        std::vector<std::size_t> order(m_paths.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
            return m_paths[a] > m_paths[b];
        });
        order.resize(std::min(order.size(), static_cast<std::size_t>(maxNodes)));
        engine::DraftTree tree;
        std::vector<int> places(m_paths.size(), -1);
        for (const std::size_t index : order) {
            const engine::DraftNode& node = m_union.node(static_cast<int>(index));
            const int parent = node.parent < 0 ? -1 : places[static_cast<std::size_t>(node.parent)];
            places[index] = tree.add(node.token, parent, node.probability);
        }
        return tree;
    }

    engine::NgramPool m_pool{kPerKey};
    std::array<engine::DecayedRate, kRanks * kLength * 2> m_rates;
    // Of the newest widen():
    engine::DraftTree m_union;
    std::vector<double> m_paths; // [nodes] products of probabilities
    std::vector<int> m_kinds;    // [nodes] index into m_rates; kFree = the draft's own
};

} // namespace study
