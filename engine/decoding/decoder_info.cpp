// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_info.h"

#include <algorithm>

namespace engine {

namespace {

const SettingProfile* findProfile(const DecoderInfo& info, std::string_view name) {
    for (const SettingProfile& profile : info.profiles)
        if (profile.name == name)
            return &profile;
    return nullptr;
}

} // namespace

const SettingInfo* DecoderInfo::find(std::string_view setting) const {
    return findSetting(settings, setting);
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
            return unknownSetting(fmt::format("The decoder {}", info.name), info.settings, name);
        ENGINE_TRY_DO(checkSetting(*setting, value));
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

Result<void> checkTogether(const DecoderInfo& info, const SettingValues& given) {
    ENGINE_TRY(const SettingValues resolved, resolveSettings(info, given));
    for (const auto& [name, value] : given) {
        const SettingInfo& setting = *info.find(name);
        if (hasEffect(setting, resolved))
            continue;
        const SettingInfo& needed = *info.find(setting.needs.setting);
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The setting {} has no effect with {}={}.",
                                 name,
                                 needed.name,
                                 settingText(needed, resolved.at(needed.name))),
                     fmt::format("Leave {} out, or set {}={}.",
                                 name,
                                 needed.name,
                                 settingText(needed, setting.needs.value))};
    }
    return {};
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
        return unknownSetting(fmt::format("The decoder {}", info.name), info.settings, name);
    ENGINE_TRY(SettingValue parsed, parseSettingValue(*setting, value));
    return std::pair(std::move(name), std::move(parsed));
}

} // namespace engine
