// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_stop_rule.h"

#include <algorithm>

namespace layerskip {

/// A draft length that grows by one when a whole draft was accepted and shrinks by one when not.
/// Source: arXiv 2504.05598 (its baseline FS). Differs: the length stays within 1
/// and a maximum, and a draft that ended early, at an end id or the answer's room, changes nothing.
class FiniteStateRule final : public engine::DraftStopRule {
public:
    /// 1 <= `first` <= `most`.
    FiniteStateRule(int first, int most)
        : m_first(first)
        , m_most(most)
        , m_length(first) {}

    std::optional<engine::DraftEnd> stopsAfter(double confidence, int steps) const override {
        return unsureOrLong(confidence, 0.0, steps, m_length);
    }

    void learn(int accepted, int draftSteps) override {
        if (draftSteps == m_length)
            m_length = std::clamp(accepted == draftSteps ? m_length + 1 : m_length - 1, 1, m_most);
    }

    void beginAnswer() override { m_length = m_first; }

    /// Other bounds from now on; the length goes on from where it is unless its start differs.
    void adopt(int first, int most) {
        m_length = std::min(first == m_first ? m_length : first, most);
        m_first = first;
        m_most = most;
    }

    int length() const { return m_length; }

private:
    int m_first;
    int m_most;
    int m_length;
};

} // namespace layerskip
