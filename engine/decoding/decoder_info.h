// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

enum class SettingKind { Number, Integer, Flag, Choice, Text };

/// The moment from which a changed setting acts.
enum class SettingEffect {
    NextStep,   ///< the next round
    NextTrial,  ///< the next candidate of the search
    NextAnswer, ///< the next prompt
    NewSearch,  ///< the search starts anew at the next round
};

std::string_view settingEffectName(SettingEffect effect); ///< "next step", "next trial", ...

/// Numbers, whole numbers and flags (0 or 1) are doubles; choices and texts are strings.
using SettingValue = std::variant<double, std::string>;

/// By setting name.
using SettingValues = std::map<std::string, SettingValue, std::less<>>;

/// One thing that can be set about a decoder; a form or a help text is made from it.
struct SettingInfo {
    std::string name;  ///< as typed: "gamma"
    std::string title; ///< as shown: "Context window γ"
    SettingKind kind = SettingKind::Number;
    SettingValue initial = 0.0;
    double minimum = 0.0; ///< Number and Integer only
    double maximum = 0.0;
    std::vector<std::string> choices = {}; ///< choices only
    std::string unit = {};                 ///< "tokens", "" = none
    std::string meaning = {};              ///< one sentence
    SettingEffect effect = SettingEffect::NextStep;
};

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

    const SettingInfo* find(std::string_view setting) const;

    /// Whether its skip sets never name this layer of a model.
    bool isLocked(int layer, int layerCount) const;
};

/// Checks what a user gave and fills in the rest: the profile's values, then the defaults.
/// Errors: InvalidInput naming the setting, what is wrong, its range or choices, and for an unknown
/// name the nearest one.
Result<SettingValues> resolveSettings(const DecoderInfo& info, const SettingValues& given);

/// "NAME=VALUE" as typed. Errors: as resolveSettings.
Result<std::pair<std::string, SettingValue>> parseSetting(const DecoderInfo& info,
                                                          std::string_view text);

/// "0 to 1", "one of paper, code, guided".
std::string settingRange(const SettingInfo& setting);

/// The value as a user would type it; a flag as "on" or "off" where its setting is known.
std::string settingText(const SettingValue& value);
std::string settingText(const SettingInfo& setting, const SettingValue& value);

/// Reads resolved values; asking for what is not there is a bug.
double numberOf(const SettingValues& values, std::string_view name);
int integerOf(const SettingValues& values, std::string_view name);
bool flagOf(const SettingValues& values, std::string_view name);
const std::string& textOf(const SettingValues& values, std::string_view name);

/// The name that was probably meant: the nearest by edit distance, empty when none is near.
std::string nearestName(std::string_view typed, std::span<const std::string> names);

} // namespace engine
