// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"

namespace clasp {

/// What the two kinds of sublayers cost at the present length of the text, measured by passes that
/// run only one kind. Attention grows with the length, so it is measured anew before each choice.
/// Costs are parts of a full pass of one row, so that a machine that becomes slower does not
/// matter. Thread: engine.
class SublayerCosts {
public:
    /// Three passes of one row behind the cached ones, which they overwrite: all, the inner
    /// attentions alone, the inner MLPs alone. Errors: those of a pass; Cancelled between passes.
    engine::Result<void> measure(engine::Target& target);

    /// Of one attention, as a part of a full pass; 0 before the first measurement.
    double attention() const { return m_attention; }

    double mlp() const { return m_mlp; }

    /// Of a draft pass under this plan.
    double draftCost(const engine::LayerPlan& plan) const;

private:
    double m_attention = 0.0;
    double m_mlp = 0.0;
};

} // namespace clasp
