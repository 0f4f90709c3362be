// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/verifier.h"

#include "engine/base/counter_random.h"

#include <algorithm>

namespace engine {

namespace {

/// Where the probability of a token stands in a sparse distribution; -1 when it has none.
std::ptrdiff_t placeOf(const Distribution& distribution, TokenId token) {
    const auto at = std::lower_bound(distribution.ids.begin(), distribution.ids.end(), token);
    const bool isThere = at != distribution.ids.end() && *at == token;
    return isThere ? at - distribution.ids.begin() : -1;
}

double probabilityOf(const Distribution& distribution, TokenId token) {
    const std::ptrdiff_t place = placeOf(distribution, token);
    return place < 0 ? 0.0 : distribution.probabilities[static_cast<std::size_t>(place)];
}

/// Takes a rejected sibling out of what the next one was drawn from.
void removeToken(Distribution& q, TokenId token) {
    const std::ptrdiff_t rejected = placeOf(q, token);
    if (rejected < 0)
        return;
    q.probabilities[static_cast<std::size_t>(rejected)] = 0.0;
    double total = 0.0;
    for (const double probability : q.probabilities)
        total += probability;
    if (total > 0.0)
        for (double& probability : q.probabilities)
            probability /= total;
}

} // namespace

CounterVerifyDraws::CounterVerifyDraws(std::uint64_t seed)
    : m_accept(streamSeed(seed, RandomStream::Accept))
    , m_residual(streamSeed(seed, RandomStream::Residual)) {}

bool CounterVerifyDraws::accepts(double probability, Position outputPosition, TokenId token) {
    return counterUniform(m_accept, static_cast<std::uint64_t>(outputPosition), token) <
           probability;
}

TokenId CounterVerifyDraws::draw(const Distribution& p, Position outputPosition) {
    return drawByNoise(p, m_residual, outputPosition);
}

/// `p` itself when nothing would be left.
Distribution VerifyDraws::leftBehind(const Distribution& p, const Distribution& q) const {
    Distribution left = p;
    double total = 0.0;
    std::size_t drafted = 0; // both lists of ids ascend
    for (std::size_t i = 0; i < left.ids.size(); ++i) {
        while (drafted < q.ids.size() && q.ids[drafted] < left.ids[i])
            ++drafted;
        const bool isDrafted = drafted < q.ids.size() && q.ids[drafted] == left.ids[i];
        left.probabilities[i] =
            std::max(p.probabilities[i] - (isDrafted ? q.probabilities[drafted] : 0.0), 0.0);
        total += left.probabilities[i];
    }
    if (total <= 0.0)
        return p;
    for (double& probability : left.probabilities)
        probability /= total;
    return left;
}

std::uint64_t streamSeed(std::uint64_t seed, RandomStream stream) {
    const auto tag = static_cast<std::uint64_t>(stream);
    return tag == 0 ? seed : mixBits(seed ^ mixBits(tag));
}

Result<Verdict> Verifier::verify(const DraftTree& tree,
                                 ForwardResult& target,
                                 Position outputPosition,
                                 const AnswerRoom& room) const {
    ENGINE_CHECK(room.tokens > 0, "an answer that takes {} tokens", room.tokens);
    const bool usesMatch = m_rule == VerifyRule::Match || m_sampler.isGreedy();
    CounterVerifyDraws counterDraws(m_sampler.options().seed);
    VerifyDraws& draws = m_draws == nullptr ? counterDraws : *m_draws;
    ENGINE_CHECK(target.summaries.size() > static_cast<std::size_t>(tree.size()),
                 "summaries of {} rows for a draft of {}",
                 target.summaries.size(),
                 tree.size());
    Verdict verdict;
    int at = -1; // the root
    while (true) {
        const Position out = outputPosition + static_cast<Position>(verdict.emitted.size());
        const Place place{at, &target, out};
        ENGINE_TRY(const Move move, usesMatch ? match(tree, place) : reject(tree, place, draws));
        verdict.emitted.push_back(move.token);
        verdict.rows.push_back(at + 1);
        if (move.child >= 0)
            verdict.path.push_back(move.child);
        const bool isEnd =
            std::find(room.endIds.begin(), room.endIds.end(), move.token) != room.endIds.end();
        if (move.child < 0 || isEnd || static_cast<int>(verdict.emitted.size()) == room.tokens)
            return verdict;
        at = move.child;
    }
}

Result<Verifier::Move> Verifier::match(const DraftTree& tree, const Place& place) const {
    ENGINE_TRY(const TokenId token, tokenAt(place));
    for (const int child : tree.children(place.node))
        if (tree.node(child).token == token)
            return Move{token, child};
    return Move{token, -1};
}

Result<TokenId> Verifier::tokenAt(const Place& place) const {
    if (m_sampler.isGreedy())
        return place.target->summaries[static_cast<std::size_t>(place.row())].best();
    ENGINE_TRY(const std::span<const double> logits, place.target->logits.row(place.row()));
    return m_draws == nullptr ? m_sampler.choose(logits, place.out)
                              : m_draws->draw(m_sampler.distribution(logits), place.out);
}

Result<Verifier::Move>
Verifier::reject(const DraftTree& tree, const Place& place, VerifyDraws& draws) const {
    ENGINE_TRY(const std::span<const double> logits, place.target->logits.row(place.row()));
    Distribution p = m_sampler.distribution(logits);
    const std::vector<int> children = tree.children(place.node);
    if (!children.empty()) {
        const Distribution* source = tree.drawnFrom(place.node);
        ENGINE_CHECK(
            source != nullptr, "rejection needs to know what node {} drew from", place.node);
        Distribution q = *source;
        for (const int child : children) {
            const TokenId token = tree.node(child).token;
            const double drafted = probabilityOf(q, token);
            if (drafted <= 0.0)
                continue;
            const double ratio = std::min(probabilityOf(p, token) / drafted, 1.0);
            if (draws.accepts(ratio, place.out, token))
                return Move{token, child};
            p = draws.leftBehind(p, q);
            removeToken(q, token);
        }
    }
    return Move{draws.draw(p, place.out), -1};
}

} // namespace engine
