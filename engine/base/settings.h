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

// The settings of a decoder or a backend, described once: command line, window and checks are built
// from the description.

enum class SettingKind { Number, Integer, Flag, Choice, Text };

/// The moment at which a changed setting takes effect.
enum class SettingEffect {
    NextStep,   ///< the next round
    NextTrial,  ///< the next candidate of the search
    NextAnswer, ///< the next prompt
    NewSearch,  ///< the search starts again at the next round
    NextLoad,   ///< the next time that the model is loaded
};

std::string_view settingEffectName(SettingEffect effect); ///< "next step", "next trial", ...

/// Numbers, whole numbers and flags (0 or 1) are doubles; choices and texts are strings.
using SettingValue = std::variant<double, std::string>;

/// By setting name.
using SettingValues = std::map<std::string, SettingValue, std::less<>>;

/// What another setting must be for a setting to have any effect.
struct SettingNeed {
    std::string setting; ///< its name; empty = nothing is needed
    SettingValue value;

    bool operator==(const SettingNeed&) const = default;
};

/// One setting of a decoder or a backend, from which forms and help texts are made.
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
    std::vector<std::string> choiceTitles = {}; ///< of `choices`, as shown; empty = as typed
    std::string group = {};                     ///< heading under which forms show it; empty = none
    SettingNeed needs = {};
};

/// The setting of this name, null when there is none.
const SettingInfo* findSetting(std::span<const SettingInfo> settings, std::string_view name);

/// Errors: InvalidInput with the setting, what is wrong, and its range or choices.
Result<void> checkSetting(const SettingInfo& setting, const SettingValue& value);

/// A value as typed: "6", "on", "int8". Errors: as checkSetting.
Result<SettingValue> parseSettingValue(const SettingInfo& setting, const std::string& text);

/// The error that `owner` ("The decoder swift") has no setting of this name; it suggests the
/// nearest and lists all.
Error unknownSetting(std::string_view owner,
                     std::span<const SettingInfo> settings,
                     std::string_view name);

/// Whether the setting has an effect while the settings have these resolved values.
bool hasEffect(const SettingInfo& setting, const SettingValues& resolved);

/// "only with early_stop=on"; empty if the setting needs nothing.
std::string needText(std::span<const SettingInfo> settings, const SettingInfo& setting);

/// "0 to 1", "one of paper, code, guided".
std::string settingRange(const SettingInfo& setting);

/// The value as a user would type it; a flag as "on" or "off" if its setting is known.
std::string settingText(const SettingValue& value);
std::string settingText(const SettingInfo& setting, const SettingValue& value);

/// Reads resolved values; asking for a missing one is a bug.
double numberOf(const SettingValues& values, std::string_view name);
int integerOf(const SettingValues& values, std::string_view name);
bool flagOf(const SettingValues& values, std::string_view name);
const std::string& textOf(const SettingValues& values, std::string_view name);

/// The name that was probably meant: the nearest by edit distance, or empty if none is near.
std::string nearestName(std::string_view typed, std::span<const std::string> names);

} // namespace engine
