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

/// What a training has written of its copy; nothing for another folder.
QJsonObject toldOf(const QString& folder) {
    constexpr qint64 kMostBytes = 16 << 20;
    QFile file(folder + QStringLiteral("/tuning.json"));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.read(kMostBytes)).object()
                                          : QJsonObject();
}

/// Whether a training has made the folder, and nothing else lies in it. Its list of files says so.
bool isTunedModel(const QString& folder) {
    const QJsonObject told = toldOf(folder);
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

/// The model of a copy that was made from another model, or with another recipe. A model may have
/// had another name then.
QString modelOfOther(const QString& folder, const TuningModel& model, TuningRecipe recipe) {
    const QJsonObject told = toldOf(folder);
    const QString name = told[QLatin1String("model")].toString();
    const QString fingerprint = told[QLatin1String("fingerprint")].toString();
    const QString key = told[QLatin1String("recipe")].toObject()[QLatin1String("name")].toString();
    const bool areKnown = !fingerprint.isEmpty() && !model.fingerprint.isEmpty();
    const bool isOfModel = areKnown ? fingerprint == model.fingerprint : name == model.name;
    const bool isOther = !isOfModel || key != recipeKey(recipe);
    return isOther && !key.isEmpty() ? name : QString();
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

QString outputProblem(const QString& output,
                      const TuningModel& model,
                      TuningRecipe recipe,
                      const QString& replaced) {
    if (output.isEmpty())
        return tr("Name a folder for the new model.");
    if (!QDir::isAbsolutePath(output))
        return tr("Name the new model's folder with its whole path, from / on.");
    for (const QString& path : {output, output + QStringLiteral("-rejected")}) {
        if (!mayBeReplaced(path))
            return tr("%1 holds files that no training has made, and they are not replaced: name "
                      "another folder.")
                .arg(QDir::toNativeSeparators(path));
        if (const QString name = modelOfOther(path, model, recipe); !name.isEmpty())
            return tr("%1 holds another copy, of %2, which would be replaced: name another folder.")
                .arg(QDir::toNativeSeparators(path), name);
    }
    const QString work = output + QStringLiteral(".work");
    if (output != replaced && QFileInfo::exists(work + QStringLiteral("/plan.json")))
        return tr("%1 holds what another training has made so far, which would be deleted: name "
                  "another folder.")
            .arg(QDir::toNativeSeparators(work));
    return {};
}

} // namespace ui
