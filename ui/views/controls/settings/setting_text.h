// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <QString>

#include <string>
#include <string_view>

namespace ui {

/// A setting's title in two parts, as the form shows it: "r" and "Skip ratio".
struct SettingTitle {
    QString symbol; ///< empty = none
    QString name;

    /// For screen readers and lists: "Skip ratio r".
    QString whole() const { return symbol.isEmpty() ? name : name + QLatin1Char(' ') + symbol; }
};

SettingTitle settingTitle(const engine::SettingInfo& setting);

/// When a change takes effect: "live", "next trial", "next answer", "new search".
QString effectText(engine::SettingEffect effect);

/// The same as a sentence.
QString effectSentence(engine::SettingEffect effect);

/// An explanation for someone who has not read the paper: what the setting does, what higher and
/// lower values change, its range, when a change takes effect. Plain text.
QString settingHelp(const engine::SettingInfo& setting);

/// What this value means for the loaded model or this run, "25 of 56 inner sublayers; ends stay
/// locked". Empty if there is nothing to say.
QString settingNote(const RunStore& store, const std::string& setting);

/// Why a setting of a decoder with these values has no effect; empty if it has one.
QString needNote(const engine::DecoderInfo& decoder,
                 const engine::SettingValues& values,
                 const std::string& setting);

/// The value of this name, or null where there is none or it is of another kind.
const double* numberIn(const engine::SettingValues& values, std::string_view name);
const std::string* textIn(const engine::SettingValues& values, std::string_view name);

/// The value of this setting, or its initial value where there is none.
engine::SettingValue valueIn(const engine::SettingValues& values,
                             const engine::SettingInfo& setting);

/// The value as a person reads it: "0.45", "on".
QString shownValue(const engine::SettingInfo& setting, const engine::SettingValue& value);

} // namespace ui
