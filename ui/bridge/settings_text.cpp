// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/settings_text.h"

#include "engine/session/recording/event_json.h"

namespace ui {

using namespace engine;

QString settingsText(const SettingValues& settings) {
    return QString::fromStdString(eventJson({0.0, SettingsChanged{settings}}));
}

SettingValues settingsFrom(const QString& text) {
    const auto event = readEventJson(text.toStdString(), "settings", 0);
    if (!event || !event.value())
        return {};
    const auto* changed = event.value()->as<SettingsChanged>();
    return changed != nullptr ? changed->settings : SettingValues();
}

QStringList loadOptions(const LoadModel* load) {
    QStringList options;
    if (load == nullptr)
        return options;
    if (!load->backend.empty())
        options << QStringLiteral("--backend") << QString::fromStdString(load->backend);
    if (load->contextLength > 0)
        options << QStringLiteral("--context") << QString::number(load->contextLength);
    for (const auto& [name, value] : load->settings)
        options << QStringLiteral("--") + QString::fromStdString(name)
                << QString::fromStdString(settingText(value));
    return options;
}

} // namespace ui
