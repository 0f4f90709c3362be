// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>

namespace ui {

/// What may be a model in a folder, by names alone; whether it is one its inspection tells.
struct FoundModels {
    QStringList models; ///< GGUF files, and folders with config.json and weights; sorted
    QHash<QString, QString> stamps; ///< [model] changes when the model on the disk does
    QStringList folders; ///< the folder and those below it that were looked at, to be watched
};

/// Looks through a folder, kDeepest levels down, without following links to folders and without
/// opening a file. Of a model in several GGUF files the first one counts. Thread: any; may take
/// long where a disk is slow.
FoundModels findModels(const QString& folder);

} // namespace ui
