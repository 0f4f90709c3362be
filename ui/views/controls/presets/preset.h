// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace ui {

/// Named settings of a decoder, kept in a JSON file: {"format": "swift-studio-preset", "version":
/// 1, "name": "...", "meaning": "...", "decoder": "swift", "values": {"r": 0.45, "rescore": false,
/// "start": "uniform"}}. A setting that is missing in `values` has its default. A plain value.
struct Preset {
    QString name;
    QString meaning; ///< one sentence; may be empty
    std::string decoder;
    engine::SettingValues values;
    QString path;       ///< of its file; empty = not kept
    bool isOwn = false; ///< made by the user: can be deleted
};

/// Name and meaning as the window shows them: those that came with the program in its language.
QString shownName(const Preset& preset);
QString shownMeaning(const Preset& preset);

/// Errors: NotFound, Io, CorruptFile, naming the file and the place or the member in it.
engine::Result<Preset> readPreset(const QString& path);

/// The presets of two folders: the bundled ones and the user's own. Thread: UI.
class PresetShelf {
public:
    /// Reads both folders; `ownFolder` is created when something is saved there.
    PresetShelf(QString bundledFolder, QString ownFolder);

    /// Reads both folders again.
    void reload();

    /// Bundled ones first, each kind by name.
    const std::vector<Preset>& presets() const { return m_presets; }

    /// One sentence for each file that was ignored.
    const QStringList& problems() const { return m_problems; }

    /// Saves it as one of the user's own, replacing the decoder's one with the same name. Errors:
    /// InvalidInput for an empty name, Io.
    engine::Result<void> save(Preset preset);

    /// Errors: InvalidInput for one that is not the user's own, Io.
    engine::Result<void> remove(const Preset& preset);

private:
    void readFolder(const QString& folder, bool isOwn);

    QString m_bundledFolder;
    QString m_ownFolder;
    std::vector<Preset> m_presets;
    QStringList m_problems;
};

} // namespace ui
