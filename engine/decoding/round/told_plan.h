// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"

#include <cstdint>
#include <string>
#include <utility>

namespace engine {

/// The plan that a decoder drafts with, and its number among those it has drafted with. Each other
/// plan is told once. A plain value.
class ToldPlan {
public:
    /// Drafts with `plan` from now on. Unless it is the present one it gets the next number, and
    /// the report tells it with `skipRatio` and `reason` (see PlanChange).
    void use(LayerPlan plan, double skipRatio, std::string reason, SearchReport& report) {
        if (m_id != 0 && plan == m_plan)
            return;
        m_plan = std::move(plan);
        report.planChanges.push_back({++m_id, m_plan, skipRatio, std::move(reason)});
    }

    /// What DecodeStep::planId calls it; 0 before the first one.
    std::uint64_t id() const { return m_id; }

    const LayerPlan& plan() const { return m_plan; }

private:
    LayerPlan m_plan;
    std::uint64_t m_id = 0;
};

} // namespace engine
