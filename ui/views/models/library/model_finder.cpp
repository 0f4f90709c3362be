// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/library/model_finder.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kDeepestFolder =
    5; ///< as deep as the Hugging Face cache and the folders of other programs
constexpr qsizetype kMostFolders = 512;
constexpr qsizetype kMostModels = 500;

/// "name-00002-of-00003.gguf".
bool isLaterPart(const QString& name) {
    static const QRegularExpression kPart(QStringLiteral("-(\\d{5})-of-\\d{5}\\.gguf$"),
                                          QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch part = kPart.match(name);
    return part.hasMatch() && part.captured(1).toInt() > 1;
}

bool isModelFolder(const QDir& folder) {
    return folder.exists(QStringLiteral("config.json")) &&
           !folder.entryList({QStringLiteral("*.safetensors")}, QDir::Files).isEmpty();
}

QString stampOf(const QString& path) {
    const QFileInfo info(path);
    const QFileInfo file(info.isDir() ? path + QStringLiteral("/config.json") : path);
    return QStringLiteral("%1 %2").arg(file.size()).arg(file.lastModified().toMSecsSinceEpoch());
}

void look(const QString& path, int depth, FoundModels& found) {
    if (found.folders.size() >= kMostFolders || found.models.size() >= kMostModels)
        return;
    const QDir folder(path);
    found.folders.append(path);
    if (isModelFolder(folder)) {
        found.models.append(path);
        return;
    }
    for (const QString& name : folder.entryList({QStringLiteral("*.gguf")}, QDir::Files))
        if (!isLaterPart(name))
            found.models.append(folder.filePath(name));
    if (depth < kDeepestFolder)
        for (const QString& name :
             folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot | QDir::NoSymLinks))
            look(folder.filePath(name), depth + 1, found);
}

} // namespace

FoundModels findModels(const QString& folder) {
    FoundModels found;
    if (QFileInfo(folder).isDir())
        look(QDir::cleanPath(folder), 0, found);
    std::sort(found.models.begin(), found.models.end());
    for (const QString& model : std::as_const(found.models))
        found.stamps.insert(model, stampOf(model));
    return found;
}

} // namespace ui
