// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/draft_end.h"

#include <algorithm>
#include <optional>

namespace engine {

/// When to stop drafting, and how wide. The pass whose confidence stops the draft is kept: dropping
/// a drawn token because of its own probability would change the distribution of what is emitted.
class DraftStopRule {
public:
    virtual ~DraftStopRule() = default;

    /// Why the draft ends behind this pass; nothing while it goes on. `confidence` is the
    /// probability of the pass's first choice at temperature 1, `steps` counts the passes of this
    /// draft.
    virtual std::optional<DraftEnd> stopsAfter(double confidence, int steps) const = 0;

    /// How many of the `offered` choices of a pass, the first ones, are worth their rows: at least
    /// 1. Asked before stopsAfter(), with the same confidence. It may not depend on what the other
    /// choices are, for the reason above.
    virtual int choicesWorth(double /*confidence*/, int offered) const { return offered; }

    /// Learns from the outcome of a round.
    virtual void learn(int /*accepted*/, int /*draftSteps*/) {}

    /// Another answer begins.
    virtual void beginAnswer() {}

protected:
    /// The rule of a threshold and a longest draft.
    static std::optional<DraftEnd>
    unsureOrLong(double confidence, double threshold, int steps, int maxSteps) {
        if (confidence < threshold)
            return DraftEnd{DraftEndReason::Unsure, confidence, threshold};
        if (steps >= maxSteps)
            return DraftEnd{DraftEndReason::Length, 0.0, static_cast<double>(maxSteps)};
        return std::nullopt;
    }
};

/// A fixed length, and no further once the draft is unsure. Source: arXiv 2410.06916 section 4.2.
class ConfidenceStopRule final : public DraftStopRule {
public:
    /// `epsilon` 0 switches the early stop off.
    ConfidenceStopRule(double epsilon, int maxSteps)
        : m_epsilon(epsilon)
        , m_maxSteps(maxSteps) {}

    std::optional<DraftEnd> stopsAfter(double confidence, int steps) const override {
        return unsureOrLong(confidence, m_epsilon, steps, m_maxSteps);
    }

private:
    double m_epsilon;
    int m_maxSteps;
};

/// Which acceptance a threshold follows.
enum class AcceptanceMeaning {
    /// Of the newest round, smoothed from 0 on in each answer; a draft of full length that was good
    /// enough leaves the threshold. Source: the code of arXiv 2309.08168.
    PerRound,
    /// Of the answer so far, smoothed on from answer to answer, its first value taken as it is.
    /// Source: the code of arXiv 2504.05598.
    Cumulative,
};

/// The constants of Self-SD's threshold rule, by their meaning.
struct AdaptiveThresholdOptions {
    double threshold = 0.6;        ///< at the start
    int maxSteps = 12;             ///< of one draft
    double targetAcceptance = 0.9; ///< a
    double stepSize = 0.01;        ///< epsilon
    double acceptanceMemory = 0.5; ///< beta1
    double thresholdMemory = 0.9;  ///< beta2
    bool adapts = true;            ///< false: the threshold stays
    AcceptanceMeaning acceptance = AcceptanceMeaning::PerRound;
};

/// A confidence threshold that follows the acceptance rate: less drafting while acceptance is below
/// its target, more while it is above. Source: arXiv 2309.08168 and its code.
class AdaptiveStopRule final : public DraftStopRule {
public:
    explicit AdaptiveStopRule(const AdaptiveThresholdOptions& options)
        : m_options(options)
        , m_threshold(options.threshold) {}

    std::optional<DraftEnd> stopsAfter(double confidence, int steps) const override {
        return unsureOrLong(confidence, m_threshold, steps, m_options.maxSteps);
    }

    void learn(int accepted, int draftSteps) override {
        if (!m_options.adapts || draftSteps == 0)
            return;
        m_accepted += accepted;
        m_drafted += draftSteps;
        smoothAcceptance(static_cast<double>(accepted) / draftSteps);
        double wanted = m_threshold;
        if (m_acceptance < m_options.targetAcceptance)
            wanted += m_options.stepSize;
        else if (isCumulative() || draftSteps < m_options.maxSteps)
            wanted -= m_options.stepSize;
        m_threshold = std::clamp(m_options.thresholdMemory * m_threshold +
                                     (1.0 - m_options.thresholdMemory) * wanted,
                                 0.0,
                                 1.0);
    }

    /// The threshold stays; whether the acceptance does, its meaning says.
    void beginAnswer() override {
        m_accepted = m_drafted = 0;
        if (!isCumulative())
            m_acceptance = 0.0;
    }

    /// Other constants from now on; the threshold goes on from where it is unless its start
    /// differs.
    void adopt(const AdaptiveThresholdOptions& options) {
        if (options.threshold != m_options.threshold)
            m_threshold = options.threshold;
        if (options.acceptance != m_options.acceptance) {
            m_acceptance = 0.0;
            m_hasAcceptance = false;
        }
        m_options = options;
    }

    double threshold() const { return m_threshold; }

    double acceptance() const { return m_acceptance; }

private:
    bool isCumulative() const { return m_options.acceptance == AcceptanceMeaning::Cumulative; }

    void smoothAcceptance(double roundRate) {
        const double rate =
            isCumulative() ? static_cast<double>(m_accepted) / m_drafted : roundRate;
        const double memory = isCumulative() && !m_hasAcceptance ? 0.0 : m_options.acceptanceMemory;
        m_acceptance = memory * m_acceptance + (1.0 - memory) * rate;
        m_hasAcceptance = true;
    }

    AdaptiveThresholdOptions m_options;
    double m_threshold;
    double m_acceptance = 0.0; // mu or AR, smoothed
    bool m_hasAcceptance = false;
    int m_accepted = 0; // of this answer
    int m_drafted = 0;
};

} // namespace engine
