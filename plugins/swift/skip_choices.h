// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/skip_set_memory.h"
#include "engine/loading/model_config.h"
#include "engine/search/skip_space.h"
#include "plugins/swift/swift_settings.h"

#include <string>
#include <vector>

namespace swift {

/// A plan to begin a search with, and the ratio it was made for.
struct Start {
    engine::LayerPlan plan;
    double ratio = 0.0;
    std::string remark = {}; ///< for the user, when it is not what was asked for
};

/// Errors: InvalidInput for a manual set that is used and names a layer that the model does not
/// have, or one of the two that always run.
engine::Result<void> checkManualSet(const SearchSettings& settings, int layerCount);

/// Which sublayers to skip at a ratio: budgets, orders and start sets for one model.
class SkipChoices {
public:
    SkipChoices(const engine::ModelConfig& config, const SearchSettings& settings);

    const engine::SkipSpace& space() const { return m_space; }

    /// What a plan of this ratio may spend: sublayers or bytes.
    engine::SkipBudget budget(double ratio) const;

    /// What a plan spends of all that could be spent: the r whose budget it fills.
    double ratioOf(const engine::LayerPlan& plan) const;

    /// The sublayers of least influence that fit; uniform before any influence is known.
    /// Shapes: influence [2 * layers] or empty.
    engine::LayerPlan leastInfluence(const std::vector<double>& influence, double ratio) const;

    /// How likely a random proposal takes each coordinate: the less influence, the more; empty =
    /// all alike. Shapes: [dims].
    std::vector<double> weights(const std::vector<double>& influence) const;

    /// The start set that the settings name. Errors: InvalidInput for a manual set of another
    /// model; a broken memory is a remark and the uniform set, so that decoding goes on.
    engine::Result<Start> start(const std::vector<double>& influence,
                                const engine::SkipSetMemory* memory,
                                const std::string& task) const;

private:
    Start stored(const engine::SkipSetMemory* memory, const std::string& task) const;
    Start uniform(std::string remark = {}) const;

    engine::SkipSpace m_space;
    SearchSettings m_settings;
    std::vector<double> m_bytes; // [dims] relative sizes of the sublayers
};

} // namespace swift
