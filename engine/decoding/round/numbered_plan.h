// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"

#include <cstdint>
#include <string>
#include <utility>

namespace engine {

/// The plan that a decoder drafts with, and its number among all plans it has drafted with. A plain
/// value.
class NumberedPlan {
public:
    /// Drafts with `plan` from now on. A plan other than the present one gets the next number and
    /// is reported, with `skipRatio` and `reason` (see PlanChange).
    void use(LayerPlan plan, double skipRatio, std::string reason, SearchReport& report) {
        if (m_id != 0 && plan == m_plan)
            return;
        m_plan = std::move(plan);
        report.planChanges.push_back({++m_id, m_plan, skipRatio, std::move(reason)});
    }

    /// Its number, as in DecodeStep::planId; 0 before the first plan.
    std::uint64_t id() const { return m_id; }

    const LayerPlan& plan() const { return m_plan; }

private:
    LayerPlan m_plan;
    std::uint64_t m_id = 0;
};

} // namespace engine
