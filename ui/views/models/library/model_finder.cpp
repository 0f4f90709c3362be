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
QRegularExpressionMatch partOf(const QString& name) {
    static const QRegularExpression kPart(QStringLiteral("-(\\d{5})-of-\\d{5}\\.gguf$"),
                                          QRegularExpression::CaseInsensitiveOption);
    return kPart.match(name);
}

bool isLaterPart(const QString& name) {
    const QRegularExpressionMatch part = partOf(name);
    return part.hasMatch() && part.captured(1).toInt() > 1;
}

bool isModelFolder(const QDir& folder) {
    return folder.exists(QStringLiteral("config.json")) &&
           !folder.entryList({QStringLiteral("*.safetensors")}, QDir::Files).isEmpty();
}

/// What a model is read from: all parts of a GGUF file, and in a folder everything that tells or
/// holds something of it. What is still missing may come.
QFileInfoList filesOf(const QString& path) {
    const QFileInfo info(path);
    if (info.isDir())
        return QDir(path).entryInfoList(
            {QStringLiteral("*.json"), QStringLiteral("*.safetensors")}, QDir::Files, QDir::Name);
    const QString name = info.fileName();
    const QRegularExpressionMatch part = partOf(name);
    if (!part.hasMatch())
        return {info};
    const QString before = name.left(part.capturedStart(1));
    const QString behind = name.mid(part.capturedEnd(1));
    QFileInfoList parts;
    for (const QFileInfo& each :
         info.dir().entryInfoList({QStringLiteral("*.gguf")}, QDir::Files, QDir::Name)) {
        const QString other = each.fileName();
        if (other.size() == name.size() && other.startsWith(before) && other.endsWith(behind))
            parts.append(each);
    }
    return parts;
}

QString stampOf(const QFileInfoList& files) {
    QStringList stamps;
    for (const QFileInfo& file : files)
        stamps.append(QStringLiteral("%1 %2 %3")
                          .arg(file.size())
                          .arg(file.lastModified().toMSecsSinceEpoch())
                          .arg(file.fileName()));
    return stamps.join(u'\n');
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
    for (const QString& model : std::as_const(found.models)) {
        const QFileInfoList files = filesOf(model);
        found.stamps.insert(model, stampOf(files));
        for (const QFileInfo& file : files)
            found.files[model].append(file.filePath());
    }
    return found;
}

} // namespace ui
