// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/draft_tree.h"
#include "engine/model/transformer.h"
#include "engine/sampling/sampler.h"

#include <span>
#include <vector>

namespace engine {

/// How a draft is checked. Both are lossless; greedy decoding does the same under either.
enum class VerifyRule {
    /// The full model's token is drawn as vanilla draws it and accepted if it was drafted: the same
    /// tokens as vanilla under the same seed, whatever drafted.
    Match,
    /// Drafted tokens are accepted by ratio, and behind each rejection the residual is drawn from:
    /// the same distribution as vanilla, other tokens; needs drawn siblings.
    Rejection,
};

/// What an answer still takes.
struct AnswerRoom {
    int tokens = 1;                       ///< at least 1
    std::span<const TokenId> endIds = {}; ///< behind the first of them nothing is emitted
};

/// The outcome: `emitted` = the tokens of `path`, then the bonus unless the answer ended before, or
/// the grammar cannot go on (LogitProcessor::isStuck).
struct Verdict {
    std::vector<int> path; ///< accepted nodes, from the root on
    std::vector<TokenId> emitted;
    std::vector<int> rows; ///< [emitted] the row of the pass that decided each token
};

/// The random decisions of a verification: all that its outcome depends on besides its input.
class VerifyDraws {
public:
    virtual ~VerifyDraws() = default;

    /// Whether a drafted token passes a test that it passes with this probability, 0 to 1.
    virtual bool accepts(double probability, Position outputPosition, TokenId token) = 0;

    /// What the next token is drawn from behind a drafted one that was rejected: `p` what it was
    /// drawn from before, `q` what had been drafted from. The residual max(p - q, 0), made to sum
    /// to 1, keeps the full model's distribution; another answer shows what breaks without it.
    virtual Distribution leftBehind(const Distribution& p, const Distribution& q) const;

    /// A token of `p`.
    virtual TokenId draw(const Distribution& p, Position outputPosition) = 0;
};

/// Functions of the seed, the place and the token: what a Verifier decides Rejection by when it is
/// given nothing else.
class CounterVerifyDraws : public VerifyDraws {
public:
    explicit CounterVerifyDraws(std::uint64_t seed);

    bool accepts(double probability, Position outputPosition, TokenId token) override;

    TokenId draw(const Distribution& p, Position outputPosition) override;

private:
    std::uint64_t m_accept;
    std::uint64_t m_residual;
};

/// Decides which path of a draft is accepted, and the bonus token.
/// `sampler` is a guest as long as it lives. Thread: any; no state besides the options.
class Verifier {
public:
    /// `draws` is a guest of every call; null: counter random numbers under the sampler's seed, for
    /// Match vanilla's own.
    Verifier(const Sampler& sampler, VerifyRule rule, VerifyDraws* draws = nullptr)
        : m_sampler(sampler)
        , m_rule(rule)
        , m_draws(draws) {}

    /// Shapes: target.summaries [1 + tree.size() or more] and, unless greedy, target.logits
    /// [as many]; row 0 belongs to the root, row 1 + i to node i, what follows to nobody. Only
    /// the logits of rows that the walk comes to are asked for. `outputPosition` is that of the
    /// first token to emit. Errors: those of LogitRows::row().
    Result<Verdict> verify(const DraftTree& tree,
                           ForwardResult& target,
                           Position outputPosition,
                           const AnswerRoom& room) const;

private:
    /// Where the walk goes from a node: to a child, or to a token that ends it.
    struct Move {
        TokenId token;
        int child; // -1: a bonus
    };

    /// A node that the walk has come to.
    struct Place {
        int node; // -1: the root
        ForwardResult* target;
        Position out; // output position of the token to be decided

        int row() const { return node + 1; }
    };

    Result<Move> match(const DraftTree& tree, const Place& place) const;
    Result<TokenId> tokenAt(const Place& place) const;
    Result<Move> reject(const DraftTree& tree, const Place& place, VerifyDraws& draws) const;

    const Sampler& m_sampler;
    VerifyRule m_rule;
    VerifyDraws* m_draws;
};

/// Independent streams of random numbers under one user's seed: the draft's own draws, the
/// acceptance tests and the draws from what is left must not share numbers with each other.
enum class RandomStream : std::uint64_t { Shared = 0, Draft = 1, Accept = 2, Residual = 3 };

std::uint64_t streamSeed(std::uint64_t seed, RandomStream stream);

} // namespace engine
