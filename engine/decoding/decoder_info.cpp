// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_info.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace engine {

namespace {

bool isNumeric(SettingKind kind) {
    return kind == SettingKind::Number || kind == SettingKind::Integer || kind == SettingKind::Flag;
}

Error badValue(const SettingInfo& setting, const std::string& given) {
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The setting {} is {}, but must be {}.",
                             setting.name,
                             given.empty() ? "empty" : fmt::format("\"{}\"", given),
                             settingRange(setting)),
                 setting.meaning};
}

Result<void> checkValue(const SettingInfo& setting, const SettingValue& value) {
    if (isNumeric(setting.kind)) {
        const double* number = std::get_if<double>(&value);
        const bool isWhole = setting.kind == SettingKind::Number ||
                             (number != nullptr && *number == std::floor(*number));
        const bool isFlag = setting.kind == SettingKind::Flag;
        if (number == nullptr || !isWhole || !(*number >= (isFlag ? 0.0 : setting.minimum)) ||
            !(*number <= (isFlag ? 1.0 : setting.maximum)))
            return badValue(setting, settingText(value));
        return {};
    }
    const std::string* text = std::get_if<std::string>(&value);
    if (text == nullptr)
        return badValue(setting, settingText(value));
    if (setting.kind == SettingKind::Choice &&
        std::find(setting.choices.begin(), setting.choices.end(), *text) == setting.choices.end())
        return badValue(setting, *text);
    return {};
}

Error unknownSetting(const DecoderInfo& info, std::string_view name) {
    std::vector<std::string> names;
    for (const SettingInfo& setting : info.settings)
        names.push_back(setting.name);
    const std::string near = nearestName(name, names);
    std::string hint = names.empty() ? fmt::format("{} has no settings.", info.name)
                                     : fmt::format("Settings: {}.", fmt::join(names, ", "));
    if (!near.empty())
        hint = fmt::format("Did you mean {}? {}", near, hint);
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The decoder {} has no setting \"{}\".", info.name, name),
                 std::move(hint)};
}

const SettingProfile* findProfile(const DecoderInfo& info, std::string_view name) {
    for (const SettingProfile& profile : info.profiles)
        if (profile.name == name)
            return &profile;
    return nullptr;
}

} // namespace

std::string_view settingEffectName(SettingEffect effect) {
    switch (effect) {
    case SettingEffect::NextStep:
        return "next step";
    case SettingEffect::NextTrial:
        return "next trial";
    case SettingEffect::NextAnswer:
        return "next answer";
    case SettingEffect::NewSearch:
        return "new search";
    }
    return "unknown";
}

const SettingInfo* DecoderInfo::find(std::string_view setting) const {
    for (const SettingInfo& known : settings)
        if (known.name == setting)
            return &known;
    return nullptr;
}

bool DecoderInfo::isLocked(int layer, int layerCount) const {
    return std::any_of(lockedLayers.begin(), lockedLayers.end(), [&](int locked) {
        return layer == (locked < 0 ? layerCount + locked : locked);
    });
}

Result<SettingValues> resolveSettings(const DecoderInfo& info, const SettingValues& given) {
    for (const auto& [name, value] : given) {
        const SettingInfo* setting = info.find(name);
        if (setting == nullptr)
            return unknownSetting(info, name);
        ENGINE_TRY_DO(checkValue(*setting, value));
    }
    SettingValues resolved = given;
    if (!info.profiles.empty()) {
        const auto chosen = given.find(kProfileSetting);
        const SettingProfile* profile =
            chosen == given.end() ? &info.profiles.front()
                                  : findProfile(info, std::get<std::string>(chosen->second));
        ENGINE_CHECK(profile != nullptr, "a choice of {} without a profile", info.name);
        resolved.emplace(kProfileSetting, profile->name);
        resolved.insert(profile->values.begin(), profile->values.end());
    }
    for (const SettingInfo& setting : info.settings)
        resolved.emplace(setting.name, setting.initial);
    return resolved;
}

Result<std::pair<std::string, SettingValue>> parseSetting(const DecoderInfo& info,
                                                          std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The setting \"{}\" has no value.", text),
                     "Write NAME=VALUE, for example gamma=32."};
    std::string name(text.substr(0, equals));
    const std::string value(text.substr(equals + 1));
    const SettingInfo* setting = info.find(name);
    if (setting == nullptr)
        return unknownSetting(info, name);
    SettingValue parsed = value;
    if (isNumeric(setting->kind)) {
        double number = 0.0;
        const auto [end, failure] =
            std::from_chars(value.data(), value.data() + value.size(), number);
        if (setting->kind == SettingKind::Flag && (value == "on" || value == "true"))
            number = 1.0;
        else if (setting->kind == SettingKind::Flag && (value == "off" || value == "false"))
            number = 0.0;
        else if (failure != std::errc() || end != value.data() + value.size())
            return badValue(*setting, value);
        parsed = number;
    }
    ENGINE_TRY_DO(checkValue(*setting, parsed));
    return std::pair(std::move(name), std::move(parsed));
}

std::string settingRange(const SettingInfo& setting) {
    switch (setting.kind) {
    case SettingKind::Number:
        return fmt::format("a number from {} to {}", setting.minimum, setting.maximum);
    case SettingKind::Integer:
        return fmt::format("a whole number from {} to {}", setting.minimum, setting.maximum);
    case SettingKind::Flag:
        return "on or off";
    case SettingKind::Choice:
        return fmt::format("one of {}", fmt::join(setting.choices, ", "));
    case SettingKind::Text:
        return "a text";
    }
    return "";
}

std::string settingText(const SettingInfo& setting, const SettingValue& value) {
    if (setting.kind == SettingKind::Flag && std::holds_alternative<double>(value))
        return std::get<double>(value) != 0.0 ? "on" : "off";
    return settingText(value);
}

std::string settingText(const SettingValue& value) {
    if (const double* number = std::get_if<double>(&value))
        return fmt::format("{}", *number);
    return std::get<std::string>(value);
}

double numberOf(const SettingValues& values, std::string_view name) {
    const auto found = values.find(name);
    ENGINE_CHECK(found != values.end() && std::holds_alternative<double>(found->second),
                 "no number is set for {}",
                 name);
    return std::get<double>(found->second);
}

int integerOf(const SettingValues& values, std::string_view name) {
    return static_cast<int>(numberOf(values, name));
}

bool flagOf(const SettingValues& values, std::string_view name) {
    return numberOf(values, name) != 0.0;
}

const std::string& textOf(const SettingValues& values, std::string_view name) {
    const auto found = values.find(name);
    ENGINE_CHECK(found != values.end() && std::holds_alternative<std::string>(found->second),
                 "no text is set for {}",
                 name);
    return std::get<std::string>(found->second);
}

std::string nearestName(std::string_view typed, std::span<const std::string> names) {
    std::string best;
    std::size_t bestDistance = std::max<std::size_t>(2, typed.size() / 2);
    for (const std::string& name : names) {
        // One row of the edit-distance table at a time.
        std::vector<std::size_t> row(name.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 1; i <= typed.size(); ++i) {
            std::size_t diagonal = row[0]++;
            for (std::size_t j = 1; j <= name.size(); ++j) {
                const std::size_t replaced = diagonal + (typed[i - 1] == name[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
            }
        }
        if (row.back() <= bestDistance && (best.empty() || row.back() < bestDistance)) {
            best = name;
            bestDistance = row.back();
        }
    }
    return best;
}

} // namespace engine
