// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <set>
#include <string>

class QSettings;

namespace ui {

/// The settings that the user has given to each decoder, also in earlier runs of the program. All
/// controls that choose a decoder begin with them. Thread: UI.
class KeptSettings {
public:
    /// Both outlive it.
    KeptSettings(QSettings& settings, const RunStore& run);

    /// What the decoder is chosen with: startingSettings(), and what the user has changed in them.
    /// Each model has a skip set by hand of its own, which comes back for it alone.
    engine::SettingValues startOf(const std::string& decoder);

    /// The loaded model's own skip set by hand for the decoder, which counts as the one in use from
    /// here on; empty when it has none.
    engine::SettingValues useSetOf(const std::string& decoder);

    /// Takes these as the user's for the decoder that is chosen now.
    void keep(const engine::SettingValues& settings);

    /// The same for another one, which was asked for and is not chosen yet.
    void keep(const engine::DecoderInfo& decoder, const engine::SettingValues& settings);

    /// Takes what earlier versions of the program kept, if nothing is kept for the decoder yet.
    void takeOver(const std::string& decoder, const engine::SettingValues& settings);

    /// The decoder was refused with what startOf() gave. Its skip set by hand may be the reason,
    /// where the model's file is another one by now, or a setting that only another model takes,
    /// such as a layer: what may be it is left out from here on.
    void forgetRefused(const std::string& decoder);

private:
    void moveOldSet(const std::string& decoder);
    QString setKey(const std::string& decoder) const;
    engine::SettingValues setOf(const std::string& decoder) const;
    void keepSet(const std::string& decoder, const engine::SettingValues& set);
    void followModel();

    QSettings& m_settings;
    const RunStore& m_run;
    std::set<std::string> m_asked;   ///< decoders, until they are chosen; several may wait
    std::string m_baseOf;            ///< the decoder that the next member is of
    engine::SettingValues m_base;    ///< what it began with, without the user's changes
    QString m_usedSet;               ///< setKey() of the set by hand that was used last
    QString m_model;                 ///< that was loaded at the last call
    engine::SettingValues m_set;     ///< the set by hand that was in use then; empty = none
    engine::SettingValues m_staying; ///< that of the model before, as long as no other one is used
};

} // namespace ui
