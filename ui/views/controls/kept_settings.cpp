// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/kept_settings.h"

#include "ui/bridge/settings_text.h"
#include "ui/views/controls/decoder_switch.h"

#include <QCryptographicHash>
#include <QSettings>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

using namespace engine;

namespace {

/// What holds a set that was made for one model, and what makes a decoder use no other.
constexpr std::array kSetHolders = {"skip_set", "entry"};
constexpr std::array kSetUses = {"start", "optimise"};

QString decoderKey(const std::string& decoder, const char* what) {
    return QStringLiteral("run/decoders/%1/").arg(QString::fromStdString(decoder)) +
           QLatin1String(what);
}

/// A lesson model has other layers than the model at its path.
QString modelOfSets(const RunStore& run) {
    if (run.model() == nullptr)
        return {};
    const QString path = QString::fromStdString(run.model()->path);
    return run.model()->model.silentCopies.empty() ? path : path + QStringLiteral(" (planted)");
}

/// Where a decoder's set by hand for a model is kept; a path itself is no name of a setting.
QString keyOfSet(const std::string& decoder, const QString& model) {
    return decoderKey(decoder, "sets/") +
           QString::fromLatin1(
               QCryptographicHash::hash(model.toUtf8(), QCryptographicHash::Sha1).toHex());
}

bool haveSameSet(const SettingValues& first, const SettingValues& second) {
    return std::ranges::all_of(kSetHolders, [&](const char* name) {
        const auto inFirst = first.find(name);
        const auto inSecond = second.find(name);
        return inFirst == first.end() || inSecond == second.end()
                   ? (inFirst == first.end()) == (inSecond == second.end())
                   : inFirst->second == inSecond->second;
    });
}

/// The set by hand with what makes a decoder use it: without it that would skip nothing.
SettingValues takeSet(SettingValues& values) {
    SettingValues set;
    if (haveSameSet(values, {}))
        return set;
    for (const auto& names : {kSetHolders, kSetUses})
        for (const char* name : names)
            if (auto taken = values.extract(name))
                set.insert(std::move(taken));
    return set;
}

} // namespace

KeptSettings::KeptSettings(QSettings& settings, const RunStore& run)
    : m_settings(settings)
    , m_run(run) {}

SettingValues KeptSettings::startOf(const std::string& decoder) {
    m_asked.insert(decoder);
    m_baseOf = decoder;
    m_base = startingSettings(m_run, decoder);
    SettingValues values = m_base;
    if (m_run.model() == nullptr)
        return values;
    const auto& known = m_run.model()->decoders;
    const auto info = std::ranges::find(known, decoder, &DecoderInfo::name);
    if (info == known.end())
        return values;
    SettingValues kept = settingsFrom(m_settings.value(decoderKey(decoder, "settings")).toString());
    for (const auto& [name, value] : useSetOf(decoder))
        kept.insert_or_assign(name, value);
    for (const auto& [name, value] : kept) {
        const SettingInfo* setting = info->find(name);
        if (setting != nullptr && checkSetting(*setting, value))
            values[name] = value;
    }
    return values;
}

SettingValues KeptSettings::useSetOf(const std::string& decoder) {
    followModel();
    moveOldSet(decoder);
    SettingValues set = setOf(decoder);
    if (!set.empty()) {
        m_usedSet = setKey(decoder);
        m_set = set;
    }
    return set;
}

void KeptSettings::keep(const SettingValues& settings) {
    if (m_run.decoder() == nullptr)
        return;
    m_asked.erase(m_run.decoder()->name);
    keep(*m_run.decoder(), settings);
}

/// Only what differs from the settings that the decoder would have by itself: those may become
/// others, for example on a lesson model.
void KeptSettings::keep(const DecoderInfo& decoder, const SettingValues& settings) {
    const SettingValues start =
        m_baseOf == decoder.name ? m_base : startingSettings(m_run, decoder.name);
    SettingValues ofProfile = start;
    if (const auto profile = settings.find(kProfileSetting); profile != settings.end())
        ofProfile.insert_or_assign(kProfileSetting, profile->second);
    const auto first = resolveSettings(decoder, start);
    const auto usual = resolveSettings(decoder, ofProfile);
    SettingValues changed;
    for (const auto& [name, value] : settings) {
        const auto& before = name == kProfileSetting ? first : usual;
        if (!before || !before.value().contains(name) || before.value().at(name) != value)
            changed[name] = value;
    }
    followModel();
    m_set = takeSet(changed);
    keepSet(decoder.name, m_set);
    m_settings.setValue(decoderKey(decoder.name, "settings"), settingsText(changed));
}

void KeptSettings::takeOver(const std::string& decoder, const SettingValues& settings) {
    const QString key = decoderKey(decoder, "settings");
    if (!m_settings.contains(key))
        m_settings.setValue(key, settingsText(settings));
}

void KeptSettings::forgetRefused(const std::string& decoder) {
    if (m_asked.erase(decoder) == 0)
        return;
    m_settings.remove(setOf(decoder).empty() ? decoderKey(decoder, "settings") : setKey(decoder));
}

/// Earlier versions of the program kept one set for each decoder, beside its model.
void KeptSettings::moveOldSet(const std::string& decoder) {
    const QString model = decoderKey(decoder, "model");
    const QString set = decoderKey(decoder, "set");
    if (!m_settings.contains(model))
        return;
    m_settings.setValue(keyOfSet(decoder, m_settings.value(model).toString()),
                        m_settings.value(set));
    m_settings.remove(model);
    m_settings.remove(set);
}

QString KeptSettings::setKey(const std::string& decoder) const {
    return keyOfSet(decoder, modelOfSets(m_run));
}

SettingValues KeptSettings::setOf(const std::string& decoder) const {
    return settingsFrom(m_settings.value(setKey(decoder)).toString());
}

/// The settings stay until the window has chosen again for another model: that they have the set of
/// the one before, or none, says nothing of the set of this one.
void KeptSettings::keepSet(const std::string& decoder, const SettingValues& set) {
    moveOldSet(decoder);
    const QString key = setKey(decoder);
    if (!haveSameSet(set, m_staying))
        m_staying.clear();
    if (set.empty() && m_usedSet == key) {
        m_settings.remove(key);
    } else if (!set.empty() && m_staying.empty()) {
        m_settings.setValue(key, settingsText(set));
        m_usedSet = key;
    }
}

void KeptSettings::followModel() {
    const QString model = modelOfSets(m_run);
    if (!model.isEmpty() && std::exchange(m_model, model) != model)
        m_staying = std::exchange(m_set, {});
}

} // namespace ui
