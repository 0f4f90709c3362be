// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/compare/comparison_report.h"
#include "engine/metrics/equation_six.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace app {

/// Equation 6 of arXiv 2410.06916 beside a variant's measured speedup, with both costs of a draft
/// pass; none for a variant without draft passes. A plain value.
struct ExpectedSpeed {
    double measured = 0.0;                      ///< the speedup
    std::optional<engine::EquationSix> byRatio; ///< c = 1 - r; none where r means nothing
    std::optional<engine::EquationSix> byCost;  ///< c as measured

    /// `lockedLayers`: see DecoderInfo::lockedCount.
    ExpectedSpeed(const DecoderSums& own,
                  const DecoderSums& vanilla,
                  std::optional<int> lockedLayers);

    /// {"c_by_ratio":...,"expected_by_ratio":...,"error_by_ratio":...,"c_measured":..., ...}; null
    /// for what there is not.
    nlohmann::ordered_json json() const;

    /// "measured 1.20x; equation 6 expects 1.50x with c = 1 - r = 0.55 (+25 %), ...", with "-" for
    /// what there is not; empty without draft passes.
    std::string sentence() const;
};

} // namespace app
