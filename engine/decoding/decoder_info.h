// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/settings.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The name of the setting that chooses among the profiles.
inline constexpr const char* kProfileSetting = "profile";

/// Settings that are changed together, such as "code": as published.
struct SettingProfile {
    std::string name;
    std::string meaning;
    SettingValues values;
};

/// What a decoder says about itself.
struct DecoderInfo {
    std::string name;    ///< as typed: "swift"
    std::string title;   ///< as shown: "SWIFT"
    std::string summary; ///< one sentence
    std::string source;  ///< the paper
    std::vector<SettingInfo> settings;
    /// The first one is the default. If there is any, a setting "profile" chooses among them.
    std::vector<SettingProfile> profiles = {};
    /// Layers that its skip sets never name; below 0 counted from the end: -1 = the last one.
    std::vector<int> lockedLayers = {};
    /// A paragraph for people: how it works, when it helps, when it does not.
    std::string explanation = {};
    /// Whether every pass that drafts leaves layers of the model out, so that the r of equation 6
    /// and its cost c = 1 - r mean something. Drafts that need no pass have none in any case.
    bool hasDraftRatio = true;

    const SettingInfo* find(std::string_view setting) const;

    /// How many layers its skip sets never name; none where that means nothing.
    std::optional<int> lockedCount() const {
        return hasDraftRatio ? std::optional(static_cast<int>(lockedLayers.size())) : std::nullopt;
    }

    /// Whether its skip sets never name this layer of a model.
    bool isLocked(int layer, int layerCount) const;
};

/// Checks what a user gave and fills in the rest: the profile's values, then the defaults.
/// Errors: InvalidInput naming the setting, what is wrong, its range or choices, and for an unknown
/// name the nearest one.
Result<SettingValues> resolveSettings(const DecoderInfo& info, const SettingValues& given);

/// Errors: InvalidInput if a given setting has no effect because another one is not what it needs,
/// such as epsilon without early stop. For what a user typed together; values that were collected
/// over time may well contain such settings.
Result<void> checkTogether(const DecoderInfo& info, const SettingValues& given);

/// "NAME=VALUE" as typed. Errors: as resolveSettings.
Result<std::pair<std::string, SettingValue>> parseSetting(const DecoderInfo& info,
                                                          std::string_view text);

} // namespace engine
