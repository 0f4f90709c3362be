// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/search/skip_space.h"

#include <vector>

namespace engine {

/// The unit of a skip ratio.
enum class BudgetUnit { Sublayers, Bytes };

/// Chooses which sublayers of one model to skip at a ratio: budgets, and orders by influence.
/// Covers the inner layers. A plain value.
class SkipChoices {
public:
    SkipChoices(const ModelConfig& config, BudgetUnit unit);

    const SkipSpace& space() const { return m_space; }

    /// The budget of a plan with this ratio: sublayers or bytes.
    SkipBudget budget(double ratio) const;

    /// The share that a plan spends of everything: the r whose budget it fills.
    double ratioOf(const LayerPlan& plan) const;

    /// The sublayers of least influence that fit; uniform before any influence is known.
    /// Shapes: influence [2 * layers] or empty.
    LayerPlan leastInfluence(const std::vector<double>& influence, double ratio) const;

    /// How likely a random proposal should skip each coordinate: the less influence, the more
    /// likely; empty = no influence is known. Shapes: influence [2 * layers] or empty, the answer
    /// [dims].
    std::vector<double> weights(const std::vector<double>& influence) const;

private:
    SkipSpace m_space;
    BudgetUnit m_unit;
    std::vector<double> m_bytes; // [dims] relative sizes of the sublayers
};

} // namespace engine
