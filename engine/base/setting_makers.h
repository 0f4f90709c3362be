// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace engine {

// Helpers with which a decoder or a backend describes its settings: one of these for the kind,
// wrapped in one that says when it takes effect.

inline SettingInfo
numberSetting(std::string name, std::string title, double initial, std::array<double, 2> range) {
    SettingInfo info;
    info.name = std::move(name);
    info.title = std::move(title);
    info.initial = initial;
    info.minimum = range[0];
    info.maximum = range[1];
    return info;
}

inline SettingInfo
integerSetting(std::string name, std::string title, int initial, std::array<double, 2> range) {
    SettingInfo info = numberSetting(std::move(name), std::move(title), initial, range);
    info.kind = SettingKind::Integer;
    return info;
}

inline SettingInfo flagSetting(std::string name, std::string title, bool initial) {
    SettingInfo info =
        numberSetting(std::move(name), std::move(title), initial ? 1.0 : 0.0, {0.0, 1.0});
    info.kind = SettingKind::Flag;
    return info;
}

/// The first choice is the default.
inline SettingInfo
choiceSetting(std::string name, std::string title, std::vector<std::string> choices) {
    SettingInfo info;
    info.name = std::move(name);
    info.title = std::move(title);
    info.kind = SettingKind::Choice;
    info.initial = choices.front();
    info.choices = std::move(choices);
    return info;
}

inline SettingInfo textSetting(std::string name, std::string title, std::string initial) {
    SettingInfo info;
    info.name = std::move(name);
    info.title = std::move(title);
    info.kind = SettingKind::Text;
    info.initial = std::move(initial);
    return info;
}

inline SettingInfo
describedSetting(SettingInfo info, std::string unit, SettingEffect effect, std::string meaning) {
    info.unit = std::move(unit);
    info.effect = effect;
    info.meaning = std::move(meaning);
    return info;
}

/// A setting that takes effect from the next step on; below, from the next trial of a search or the
/// next answer on, or with a new search.
inline SettingInfo stepSetting(SettingInfo info, std::string unit, std::string meaning) {
    return describedSetting(
        std::move(info), std::move(unit), SettingEffect::NextStep, std::move(meaning));
}

inline SettingInfo trialSetting(SettingInfo info, std::string unit, std::string meaning) {
    return describedSetting(
        std::move(info), std::move(unit), SettingEffect::NextTrial, std::move(meaning));
}

inline SettingInfo answerSetting(SettingInfo info, std::string unit, std::string meaning) {
    return describedSetting(
        std::move(info), std::move(unit), SettingEffect::NextAnswer, std::move(meaning));
}

inline SettingInfo searchSetting(SettingInfo info, std::string unit, std::string meaning) {
    return describedSetting(
        std::move(info), std::move(unit), SettingEffect::NewSearch, std::move(meaning));
}

/// The setting has an effect only while another one has this value.
inline SettingInfo neededSetting(std::string needed, SettingValue value, SettingInfo info) {
    info.needs = {std::move(needed), std::move(value)};
    return info;
}

/// Appends settings that forms show under this heading.
inline void appendGroup(std::vector<SettingInfo>& settings,
                        const std::string& group,
                        std::vector<SettingInfo> further) {
    for (SettingInfo& setting : further) {
        setting.group = group;
        settings.push_back(std::move(setting));
    }
}

/// Appends further settings.
inline void appendSettings(std::vector<SettingInfo>& settings, std::vector<SettingInfo> further) {
    std::move(further.begin(), further.end(), std::back_inserter(settings));
}

} // namespace engine
