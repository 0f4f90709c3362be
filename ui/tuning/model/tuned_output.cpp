// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/model/tuned_output.h"

#include "ui/language/tr.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace ui {

namespace {

/// All entries of the folder but `.` and `..`.
QStringList entriesOf(const QString& folder) {
    return QDir(folder).entryList(QDir::AllEntries | QDir::Hidden | QDir::System |
                                  QDir::NoDotAndDotDot);
}

/// Whether a training has made the folder, and nothing else lies in it. Its list of files says so.
bool isTunedModel(const QString& folder) {
    constexpr qint64 kMostBytes = 16 << 20;
    QFile file(folder + QStringLiteral("/tuning.json"));
    if (!file.open(QIODevice::ReadOnly))
        return false;
    const QJsonObject told = QJsonDocument::fromJson(file.read(kMostBytes)).object();
    QStringList known;
    for (const auto& name : told[QLatin1String("files")].toArray())
        known << name.toString();
    const QStringList entries = entriesOf(folder);
    return told.contains(QLatin1String("swift_studio_tuning")) &&
           std::ranges::all_of(entries, [&](const QString& name) { return known.contains(name); });
}

/// Nothing, an empty folder, or what an earlier training has made.
bool mayBeReplaced(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists())
        return true;
    if (!info.isDir())
        return false;
    return entriesOf(path).isEmpty() || isTunedModel(path);
}

} // namespace

QString usualOutput(const QString& folder, const TuningModel& model, TuningRecipe recipe) {
    if (folder.isEmpty() || model.path.isEmpty())
        return {};
    QString name = model.name;
    for (QChar& letter : name)
        if (letter == u'/' || letter.unicode() < 32)
            letter = u'-';
    return folder + u'/' + name + u'-' + recipeKey(recipe);
}

QString outputProblem(const QString& output) {
    if (output.isEmpty())
        return tr("Name a folder for the new model.");
    if (!QDir::isAbsolutePath(output))
        return tr("Name the new model's folder with its whole path, from / on.");
    for (const QString& path : {output, output + QStringLiteral("-rejected")})
        if (!mayBeReplaced(path))
            return tr("%1 holds files that no training has made, and they are not replaced: name "
                      "another folder.")
                .arg(QDir::toNativeSeparators(path));
    return {};
}

} // namespace ui
