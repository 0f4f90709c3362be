// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/catalogue.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

namespace ui {

using namespace engine;

namespace {

constexpr char kBeforeMeaning = '\t';

Error corrupt(const QString& path, const QString& what) {
    return {ErrorCode::CorruptFile,
            QStringLiteral("The texts in %1 %2.").arg(path, what).toStdString(),
            "Correct the file, or choose English with --language en."};
}

} // namespace

Result<void> Catalogue::insert(const QString& path, const QByteArray& key, const QString& text) {
    if (text.isEmpty())
        return corrupt(path, QStringLiteral("have no text for \"%1\"").arg(QString::fromUtf8(key)));
    if (m_texts.contains(key))
        return corrupt(
            path,
            QStringLiteral("translate \"%1\", as another file does").arg(QString::fromUtf8(key)));
    m_texts.insert(key, text);
    return {};
}

Result<void> Catalogue::add(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{
            ErrorCode::Io,
            QStringLiteral("%1 cannot be read: %2.").arg(path, file.errorString()).toStdString(),
            "Check the file's permissions."};
    QJsonParseError problem;
    const QJsonDocument document = QJsonDocument::fromJson(file.readAll(), &problem);
    if (problem.error != QJsonParseError::NoError)
        return corrupt(path,
                       QStringLiteral("are not JSON: %1 at byte %2")
                           .arg(problem.errorString())
                           .arg(problem.offset));
    if (!document.isObject())
        return corrupt(path, QStringLiteral("are not a JSON object"));
    const QJsonObject texts = document.object();
    for (auto text = texts.begin(); text != texts.end(); ++text) {
        const QByteArray english = text.key().toUtf8();
        if (!text.value().isObject()) {
            ENGINE_TRY_DO(insert(path, english, text.value().toString()));
            continue;
        }
        const QJsonObject uses = text.value().toObject();
        for (auto use = uses.begin(); use != uses.end(); ++use) {
            const QByteArray key =
                use.key().isEmpty() ? english : english + kBeforeMeaning + use.key().toUtf8();
            ENGINE_TRY_DO(insert(path, key, use.value().toString()));
        }
    }
    return {};
}

Result<std::unique_ptr<Catalogue>> Catalogue::read(const QString& folder) {
    auto catalogue = std::make_unique<Catalogue>();
    for (const QFileInfo& file :
         QDir(folder).entryInfoList({QStringLiteral("*.json")}, QDir::Files))
        ENGINE_TRY_DO(catalogue->add(file.filePath()));
    if (catalogue->isEmpty())
        return Error{ErrorCode::NotFound,
                     QStringLiteral("There are no texts in %1.").arg(folder).toStdString(),
                     "Choose English with --language en."};
    return catalogue;
}

QString Catalogue::translate(const char*, const char* english, const char* meaning, int) const {
    if (meaning != nullptr && *meaning != '\0') {
        const auto found = m_texts.find(QByteArray(english) + kBeforeMeaning + meaning);
        if (found != m_texts.end())
            return *found;
    }
    return m_texts.value(QByteArray::fromRawData(english, static_cast<int>(qstrlen(english))));
}

} // namespace ui
