// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/counter_random.h"
#include "engine/decoding/drafts/self_drafter.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace support {

/// Every random decision of a round, of draft and verification alike, as a choice by weight.
class Decisions : public engine::DraftDraws, public engine::VerifyDraws {
public:
    /// An index of `weights`, whose sum need not be 1, with a probability in proportion to it.
    virtual std::size_t decide(std::span<const double> weights) = 0;

    std::vector<engine::TokenId> drawSeveral(const engine::Distribution& q,
                                             int count,
                                             engine::Position /*outputPosition*/) override {
        std::vector<double> left = q.probabilities;
        std::vector<engine::TokenId> ids;
        while (static_cast<int>(ids.size()) < count && ids.size() < q.ids.size()) {
            const std::size_t chosen = decide(left);
            left[chosen] = 0.0;
            ids.push_back(q.ids[chosen]);
        }
        return ids;
    }

    bool accepts(double probability,
                 engine::Position /*outputPosition*/,
                 engine::TokenId /*token*/) override {
        const double weights[] = {probability, 1.0 - probability};
        return decide(weights) == 0;
    }

    engine::TokenId draw(const engine::Distribution& p,
                         engine::Position /*outputPosition*/) override {
        return p.ids[decide(p.probabilities)];
    }
};

/// Decides at random, repeatably.
class RandomDecisions final : public Decisions {
public:
    explicit RandomDecisions(std::uint64_t seed)
        : m_seed(seed) {}

    std::size_t decide(std::span<const double> weights) override {
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        double left = total * engine::counterUniform(m_seed, m_count++, 0);
        std::size_t last = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (weights[i] <= 0.0)
                continue;
            last = i;
            left -= weights[i];
            if (left < 0.0)
                break;
        }
        return last;
    }

private:
    std::uint64_t m_seed;
    std::uint64_t m_count = 0;
};

/// Visits all outcomes depth first: run the same code repeatedly with these decisions, until next()
/// says that all outcomes have been seen.
class EnumeratedDecisions final : public Decisions {
public:
    std::size_t decide(std::span<const double> weights) override {
        if (m_at == m_trail.size()) {
            const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
            Decision decision;
            for (const double weight : weights)
                decision.probabilities.push_back(weight / total);
            m_trail.push_back(std::move(decision));
            ENGINE_CHECK(advance(m_trail.back(), 0), "a decision without a possible outcome");
        }
        const Decision& decision = m_trail[m_at++];
        ENGINE_CHECK(decision.probabilities.size() == weights.size(), "a replay went elsewhere");
        return decision.chosen;
    }

    /// The probability of the last run's outcome.
    double probability() const {
        double probability = 1.0;
        for (const Decision& decision : m_trail)
            probability *= decision.probabilities[decision.chosen];
        return probability;
    }

    /// Goes on to the next outcome; false when there is none.
    bool next() {
        ENGINE_CHECK(m_at == m_trail.size(), "a replay ended early");
        m_at = 0;
        while (!m_trail.empty() && !advance(m_trail.back(), m_trail.back().chosen + 1))
            m_trail.pop_back();
        return !m_trail.empty();
    }

private:
    struct Decision {
        std::vector<double> probabilities;
        std::size_t chosen = 0;
    };

    /// Chooses the first possible index from `from` on, if there is one.
    static bool advance(Decision& decision, std::size_t from) {
        while (from < decision.probabilities.size() && decision.probabilities[from] <= 0.0)
            ++from;
        decision.chosen = from;
        return from < decision.probabilities.size();
    }

    std::vector<Decision> m_trail;
    std::size_t m_at = 0;
};

} // namespace support
