// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>

namespace ui {

/// Possible models in a folder, judged by names alone; an inspection shows whether they are models.
struct FoundModels {
    QStringList models; ///< GGUF files, and folders with config.json and weights; sorted
    QHash<QString, QString> stamps;    ///< [model] changes when the model on the disk does
    QHash<QString, QStringList> files; ///< [model] what it is read from, as far as it is there
    QStringList folders; ///< the folder and those below it that were looked at, to be watched
};

/// Searches a folder, kDeepestFolder levels deep, without following links to folders and without
/// opening a file. For a model in several GGUF files, only the first one counts. Thread: any; may
/// take long where a disk is slow.
FoundModels findModels(const QString& folder);

} // namespace ui
