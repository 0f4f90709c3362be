// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/decode_metrics.h"

#include <fmt/format.h>

#include <string>

namespace app {

/// Acceptance with its counts, accepted tokens over draft steps: "141/149 (.95)"; "-" if nothing
/// was drafted.
inline std::string keptDrafts(const engine::DecodeMetrics& metrics) {
    const auto acceptance = metrics.acceptance();
    if (!acceptance)
        return "-";
    const std::string share = fmt::format("{:.2f}", *acceptance);
    return fmt::format("{}/{} ({})",
                       metrics.accepted,
                       metrics.draftSteps,
                       share.front() == '0' ? share.substr(1) : share);
}

} // namespace app
