// SPDX-License-Identifier: Apache-2.0
#include "engine/base/settings.h"

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
    case SettingEffect::NextLoad:
        return "next load";
    }
    return "unknown";
}

const SettingInfo* findSetting(std::span<const SettingInfo> settings, std::string_view name) {
    for (const SettingInfo& known : settings)
        if (known.name == name)
            return &known;
    return nullptr;
}

Result<void> checkSetting(const SettingInfo& setting, const SettingValue& value) {
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

Result<SettingValue> parseSettingValue(const SettingInfo& setting, const std::string& text) {
    SettingValue parsed = text;
    if (isNumeric(setting.kind)) {
        double number = 0.0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (setting.kind == SettingKind::Flag && (text == "on" || text == "true"))
            number = 1.0;
        else if (setting.kind == SettingKind::Flag && (text == "off" || text == "false"))
            number = 0.0;
        else if (failure != std::errc() || end != text.data() + text.size())
            return badValue(setting, text);
        parsed = number;
    }
    ENGINE_TRY_DO(checkSetting(setting, parsed));
    return parsed;
}

Error unknownSetting(std::string_view owner,
                     std::span<const SettingInfo> settings,
                     std::string_view name) {
    std::vector<std::string> names;
    for (const SettingInfo& setting : settings)
        names.push_back(setting.name);
    const std::string near = nearestName(name, names);
    std::string hint = names.empty() ? fmt::format("{} has no settings.", owner)
                                     : fmt::format("Settings: {}.", fmt::join(names, ", "));
    if (!near.empty())
        hint = fmt::format("Did you mean {}? {}", near, hint);
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} has no setting \"{}\".", owner, name),
                 std::move(hint)};
}

bool hasEffect(const SettingInfo& setting, const SettingValues& resolved) {
    const auto needed = resolved.find(setting.needs.setting);
    return needed == resolved.end() || needed->second == setting.needs.value;
}

std::string needText(std::span<const SettingInfo> settings, const SettingInfo& setting) {
    const SettingInfo* needed = findSetting(settings, setting.needs.setting);
    if (needed == nullptr)
        return {};
    return fmt::format("only with {}={}", needed->name, settingText(*needed, setting.needs.value));
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
