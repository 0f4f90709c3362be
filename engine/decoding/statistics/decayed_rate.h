// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace engine {

/// How often something happens, estimated from trials of which the newest count most: each trial
/// has `memory` times the weight of the next one. The prior counts like `priorTrials` trials and
/// never fades, so a few trials change little. A plain value.
class DecayedRate {
public:
    explicit DecayedRate(double prior = 0.5, double priorTrials = 8.0, double memory = 0.99)
        : m_prior(prior)
        , m_priorTrials(priorTrials)
        , m_memory(memory) {}

    /// From 0 to 1.
    double value() const { return value(m_prior); }

    /// The same with another prior.
    double value(double prior) const {
        return (m_hits + m_priorTrials * prior) / (m_trials + m_priorTrials);
    }

    /// The weight of all trials seen; at most 1 / (1 - memory).
    double trials() const { return m_trials; }

    void add(bool isHit) {
        m_hits = m_memory * m_hits + (isHit ? 1.0 : 0.0);
        m_trials = m_memory * m_trials + 1.0;
    }

private:
    double m_prior;
    double m_priorTrials;
    double m_memory;
    double m_hits = 0.0;
    double m_trials = 0.0;
};

} // namespace engine
