// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/decode_metrics.h"

#include <optional>

namespace engine {

/// What equation 6 of arXiv 2410.06916 expects of a run, beside what was measured. A plain value.
struct EquationSix {
    double draftCost = 0.0; ///< c that was put in, in vanilla steps
    double expected = 0.0;  ///< M alpha / ((M - 1) c + alpha), times vanilla
    double error = 0.0;     ///< expected / measured - 1

    /// From a run's M and acceptance and the speedup measured for it. None for a run without draft
    /// passes or without a measured speedup.
    static std::optional<EquationSix>
    of(const DecodeMetrics& sums, double draftCost, double measured);
};

/// Whether drafts were made by passes of the model, and not looked up in the text.
bool hasDraftPasses(const DecodeMetrics& sums);

/// The r of a run's drafts: the share of the sublayers that may be skipped which its draft passes
/// left out on average; none without draft passes, and where they read less than the locked layers,
/// because other drafts are counted in. `layers`: of the model, of which `lockedLayers` are never
/// skipped (DecoderInfo::lockedCount).
std::optional<double>
draftRatio(const DecodeMetrics& sums, double layers, std::optional<int> lockedLayers);

/// The measured c: a draft pass's time over `plainMs`, that of a vanilla step; none without draft
/// passes.
std::optional<double> draftCost(const DecodeMetrics& sums, double plainMs);

} // namespace engine
