// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/verifier.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

/// Probability of a token in a sparse distribution, by reference; null when it has none.
double* find(Distribution& distribution, TokenId token) {
    const auto at = std::lower_bound(distribution.ids.begin(), distribution.ids.end(), token);
    if (at == distribution.ids.end() || *at != token)
        return nullptr;
    return &distribution.probabilities[static_cast<std::size_t>(at - distribution.ids.begin())];
}

double probabilityOf(Distribution& distribution, TokenId token) {
    const double* found = find(distribution, token);
    return found == nullptr ? 0.0 : *found;
}

/// p <- max(p - q, 0) made to sum to 1; unchanged when nothing would be left.
void subtract(Distribution& p, Distribution& q) {
    std::vector<double> left = p.probabilities;
    double total = 0.0;
    for (std::size_t i = 0; i < left.size(); ++i)
        total += left[i] = std::max(left[i] - probabilityOf(q, p.ids[i]), 0.0);
    if (total <= 0.0)
        return;
    for (std::size_t i = 0; i < left.size(); ++i)
        p.probabilities[i] = left[i] / total;
}

/// Takes a rejected sibling out of what the next one was drawn from.
void removeToken(Distribution& q, TokenId token) {
    double* rejected = find(q, token);
    if (rejected == nullptr)
        return;
    *rejected = 0.0;
    double total = 0.0;
    for (const double probability : q.probabilities)
        total += probability;
    if (total > 0.0)
        for (double& probability : q.probabilities)
            probability /= total;
}

TokenId drawFrom(const Distribution& p, std::uint64_t seed, Position outputPosition) {
    TokenId best = p.ids.front();
    double bestScore = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < p.ids.size(); ++i) {
        if (p.probabilities[i] <= 0.0)
            continue;
        const double score =
            std::log(p.probabilities[i]) +
            counterGumbel(seed, static_cast<std::uint64_t>(outputPosition), p.ids[i]);
        if (score > bestScore) {
            bestScore = score;
            best = p.ids[i];
        }
    }
    return best;
}

} // namespace

std::uint64_t streamSeed(std::uint64_t seed, RandomStream stream) {
    const auto tag = static_cast<std::uint64_t>(stream);
    return tag == 0 ? seed : mixBits(seed ^ mixBits(tag));
}

Verdict Verifier::verify(const DraftTree& tree,
                         const ForwardResult& target,
                         Position outputPosition,
                         const AnswerRoom& room) const {
    ENGINE_CHECK(room.tokens > 0, "an answer that takes {} tokens", room.tokens);
    const bool usesMatch = m_rule == VerifyRule::Match || m_sampler.isGreedy();
    Verdict verdict;
    int at = -1; // the root
    while (true) {
        const Position out = outputPosition + static_cast<Position>(verdict.emitted.size());
        const auto logits = target.logitRow(at + 1);
        const Move move = usesMatch ? match(tree, at, logits, out) : reject(tree, at, logits, out);
        verdict.emitted.push_back(move.token);
        verdict.logitRows.push_back(at + 1);
        if (move.child >= 0)
            verdict.path.push_back(move.child);
        const bool isEnd =
            std::find(room.endIds.begin(), room.endIds.end(), move.token) != room.endIds.end();
        if (move.child < 0 || isEnd || static_cast<int>(verdict.emitted.size()) == room.tokens)
            return verdict;
        at = move.child;
    }
}

Verifier::Move
Verifier::match(const DraftTree& tree, int at, std::span<const double> logits, Position out) const {
    const TokenId token = m_sampler.choose(logits, out);
    for (const int child : tree.children(at))
        if (tree.node(child).token == token)
            return {token, child};
    return {token, -1};
}

Verifier::Move Verifier::reject(const DraftTree& tree,
                                int at,
                                std::span<const double> logits,
                                Position out) const {
    Distribution p = m_sampler.distribution(logits);
    const std::uint64_t seed = m_sampler.options().seed;
    const std::vector<int> children = tree.children(at);
    if (!children.empty()) {
        const Distribution* source = tree.drawnFrom(at);
        ENGINE_CHECK(source != nullptr, "rejection needs to know what node {} drew from", at);
        Distribution q = *source;
        for (const int child : children) {
            const TokenId token = tree.node(child).token;
            const double drafted = probabilityOf(q, token);
            if (drafted <= 0.0)
                continue;
            const double u = counterUniform(
                streamSeed(seed, RandomStream::Accept), static_cast<std::uint64_t>(out), token);
            if (u * drafted < probabilityOf(p, token))
                return {token, child};
            subtract(p, q);
            removeToken(q, token);
        }
    }
    return {drawFrom(p, streamSeed(seed, RandomStream::Residual), out), -1};
}

} // namespace engine
