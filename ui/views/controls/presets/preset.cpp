// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/presets/preset.h"

#include "ui/files/whole_file.h"
#include "ui/language/engine_words.h"
#include "ui/language/tr.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace ui {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr const char* kFormat = "swift-studio-preset";
constexpr int kVersion = 1;
constexpr qint64 kLargestFile = 1 << 20;
constexpr int kLongestText = 400; // characters of a name or a meaning

Error corrupt(const QString& path, const QString& what) {
    return {ErrorCode::CorruptFile,
            tr("The preset %1 %2.").arg(QFileInfo(path).fileName(), what).toStdString(),
            tr("Correct the file or delete it.").toStdString()};
}

Result<QJsonObject> readObject(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorCode::Io,
                     tr("The preset %1 cannot be read: %2.")
                         .arg(QFileInfo(path).fileName(), file.errorString())
                         .toStdString(),
                     tr("Check the file's permissions.").toStdString()};
    if (file.size() > kLargestFile)
        return corrupt(path, tr("is larger than 1 MiB"));
    QJsonParseError problem;
    const QJsonDocument document = QJsonDocument::fromJson(file.readAll(), &problem);
    if (problem.error != QJsonParseError::NoError)
        return corrupt(
            path, tr("is not JSON: %1 at byte %2").arg(problem.errorString()).arg(problem.offset));
    if (!document.isObject())
        return corrupt(path, tr("is not a JSON object"));
    return document.object();
}

Result<engine::SettingValues> readValues(const QString& path, const QJsonObject& object) {
    engine::SettingValues values;
    for (auto member = object.begin(); member != object.end(); ++member) {
        const QJsonValue value = member.value();
        const std::string name = member.key().toStdString();
        if (value.isDouble())
            values[name] = value.toDouble();
        else if (value.isBool())
            values[name] = value.toBool() ? 1.0 : 0.0;
        else if (value.isString())
            values[name] = value.toString().toStdString();
        else
            return corrupt(path,
                           tr("has a value for \"%1\" that is not a number, a text, true or false")
                               .arg(member.key()));
    }
    return values;
}

QJsonObject jsonOf(const Preset& preset) {
    QJsonObject values;
    for (const auto& [name, value] : preset.values) {
        const QString key = QString::fromStdString(name);
        if (const double* number = std::get_if<double>(&value))
            values[key] = *number;
        else
            values[key] = QString::fromStdString(std::get<std::string>(value));
    }
    return {{"format", kFormat},
            {"version", kVersion},
            {"name", preset.name},
            {"meaning", preset.meaning},
            {"decoder", QString::fromStdString(preset.decoder)},
            {"values", values}};
}

/// A file name that every file system accepts.
QString fileNameFor(const QString& name) {
    QString made;
    for (const QChar c : name)
        made += c.isLetterOrNumber() ? c.toLower() : QLatin1Char('_');
    return made.left(80) + QStringLiteral(".json");
}

} // namespace

QString shownName(const Preset& preset) {
    return preset.isOwn ? preset.name : engineText(preset.name.toStdString());
}

QString shownMeaning(const Preset& preset) {
    return preset.isOwn ? preset.meaning : engineText(preset.meaning.toStdString());
}

Result<Preset> readPreset(const QString& path) {
    ENGINE_TRY(const QJsonObject root, readObject(path));
    if (root.value("format").toString() != kFormat)
        return corrupt(path, tr("has no \"format\": \"%1\"").arg(kFormat));
    if (root.value("version").toInt() != kVersion)
        return corrupt(path, tr("is not of version %1").arg(kVersion));
    for (const char* member : {"name", "decoder"})
        if (root.value(member).toString().trimmed().isEmpty())
            return corrupt(path, tr("has no text \"%1\"").arg(member));
    if (!root.value("values").isObject())
        return corrupt(path, tr("has no object \"values\""));
    Preset preset;
    ENGINE_TRY(preset.values, readValues(path, root.value("values").toObject()));
    preset.name = root.value("name").toString().simplified().left(kLongestText);
    preset.meaning = root.value("meaning").toString().simplified().left(kLongestText);
    preset.decoder = root.value("decoder").toString().toStdString();
    preset.path = path;
    return preset;
}

PresetShelf::PresetShelf(QString bundledFolder, QString ownFolder)
    : m_bundledFolder(std::move(bundledFolder))
    , m_ownFolder(std::move(ownFolder)) {
    reload();
}

void PresetShelf::reload() {
    m_presets.clear();
    m_problems.clear();
    readFolder(m_bundledFolder, false);
    readFolder(m_ownFolder, true);
}

void PresetShelf::readFolder(const QString& folder, bool isOwn) {
    if (folder.isEmpty())
        return;
    std::vector<Preset> found;
    const QDir directory(folder);
    for (const QString& name : directory.entryList({"*.json"}, QDir::Files, QDir::Name)) {
        auto preset = readPreset(directory.filePath(name));
        if (!preset) {
            m_problems << QString::fromStdString(preset.error().message);
            continue;
        }
        found.push_back(std::move(preset).value());
        found.back().isOwn = isOwn;
    }
    std::stable_sort(found.begin(), found.end(), [](const Preset& a, const Preset& b) {
        return a.name.localeAwareCompare(b.name) < 0;
    });
    m_presets.insert(m_presets.end(), found.begin(), found.end());
}

Result<void> PresetShelf::save(Preset preset) {
    preset.name = preset.name.simplified().left(kLongestText);
    if (preset.name.isEmpty())
        return Error{ErrorCode::InvalidInput,
                     tr("A preset needs a name.").toStdString(),
                     tr("Type one and save again.").toStdString()};
    const auto isReplaced = [&preset](const Preset& known) {
        return known.isOwn && known.name == preset.name && known.decoder == preset.decoder;
    };
    const auto replaced = std::find_if(m_presets.begin(), m_presets.end(), isReplaced);
    preset.path = replaced != m_presets.end()
                      ? replaced->path
                      : QDir(m_ownFolder).filePath(fileNameFor(preset.name));
    for (int i = 2; replaced == m_presets.end() && QFileInfo::exists(preset.path); ++i)
        preset.path =
            QDir(m_ownFolder).filePath(QString::number(i) + '_' + fileNameFor(preset.name));
    QDir().mkpath(m_ownFolder);
    const QByteArray bytes = QJsonDocument(jsonOf(preset)).toJson();
    if (const QString problem = saveWhole(bytes, preset.path); !problem.isEmpty())
        return Error{
            ErrorCode::Io,
            tr("The preset cannot be written to %1: %2.").arg(preset.path, problem).toStdString(),
            tr("Check the folder's permissions and the free space.").toStdString()};
    reload();
    return {};
}

Result<void> PresetShelf::remove(const Preset& preset) {
    if (!preset.isOwn)
        return Error{
            ErrorCode::InvalidInput,
            tr("%1 came with the program and cannot be deleted.").arg(preset.name).toStdString(),
            {}};
    QFile file(preset.path);
    if (!file.remove())
        return Error{
            ErrorCode::Io,
            tr("%1 cannot be deleted: %2.").arg(preset.path, file.errorString()).toStdString(),
            tr("Check the folder's permissions.").toStdString()};
    reload();
    return {};
}

} // namespace ui
