// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/model/skip_sets/skip_set.h"

#include <optional>
#include <string>

namespace self_sd {

/// Where the plan to draft with comes from.
enum class PlanSource {
    Library,   ///< what an earlier search stored for this task
    Last,      ///< what an earlier search stored last, for whatever task
    Published, ///< the setting entry, of the sets that came with the papers
    Manual,    ///< the setting skip_set
    Uniform,   ///< even distances at the setting r
};

/// What decides the plan. A plain value.
struct PlanSettings {
    PlanSource source = PlanSource::Library;
    std::optional<engine::SkipSet> manualSet; ///< nothing when none was given
    std::string entry;                        ///< name of a published set, "" = the only one
    double ratio = 0.43;                      ///< of the uniform set, over all sublayers

    bool operator==(const PlanSettings&) const = default;
};

/// All settings of the decoder, checked.
struct SelfSdSettings {
    PlanSettings plan;
    /// The stop rule aside; 0 nodes: as many as are worth their rows.
    engine::DraftTerms draft;
    engine::AdaptiveThresholdOptions threshold;
    /// Draft trees with siblings and a confidence threshold that stays, as SWIFT has them.
    bool isDynamic = false;
    double epsilon = 0.8; ///< that threshold

    /// From resolved values. Errors: InvalidInput for texts that say nothing sensible.
    static engine::Result<SelfSdSettings> make(const engine::SettingValues& values);
};

/// What the decoder says about itself.
engine::DecoderInfo selfSdInfo();

} // namespace self_sd
