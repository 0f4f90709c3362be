// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/setting_makers.h"
#include "engine/decoding/free/free_candidates.h"

#include <vector>

namespace engine {

/// The settings that every decoder with free drafts has: what they are made from, and whether
/// successors outlive the run.
inline std::vector<SettingInfo> freeDraftSettings() {
    return {
        stepSetting(
            flagSetting("lookup", "Earlier places", true),
            "",
            "Draft the tokens that followed the newest ones earlier in the prompt or the answer."),
        stepSetting(
            flagSetting("successors", "Successors", true),
            "",
            "Draft the tokens that the model last predicted behind the newest token, or behind "
            "the newest two."),
        describedSetting(flagSetting("remember", "Remember successors", true),
                         "",
                         SettingEffect::NextAnswer,
                         "Use the successors stored by earlier runs of this model, and store new "
                         "ones; off: drafts depend on this run alone.")};
}

/// What the first two of them say.
inline FreeSources freeSourcesOf(const SettingValues& values) {
    return {flagOf(values, "lookup"), flagOf(values, "successors")};
}

} // namespace engine
