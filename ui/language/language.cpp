// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/language.h"

#include "ui/language/catalogue.h"

#include <QCoreApplication>
#include <QDir>
#include <QSettings>

namespace ui {

namespace {

constexpr const char* kKey = "window/language";
const QString kSystem = QStringLiteral("system");
const QString kEnglish = QStringLiteral("en");

} // namespace

QStringList languagesIn(const QString& folder) {
    QStringList languages(kEnglish);
    if (!folder.isEmpty()) // to QDir, an empty path is the working directory
        languages += QDir(folder).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
    return languages;
}

QString languageTitle(const QString& code) {
    // Qt's own name of "en" is that of a country's English.
    return code == kEnglish ? QStringLiteral("English") : QLocale(code).nativeLanguageName();
}

QString keptLanguage(const QSettings& settings) { return settings.value(kKey, kSystem).toString(); }

void keepLanguage(QSettings& settings, const QString& choice) { settings.setValue(kKey, choice); }

QString
languageOf(const QString& choice, const QStringList& languages, const QStringList& usersOwn) {
    if (languages.contains(choice))
        return choice;
    for (const QString& wanted : usersOwn) { // "de-AT", "de"
        const QString code = wanted.section(QLatin1Char('-'), 0, 0);
        if (languages.contains(code))
            return code;
    }
    return kEnglish;
}

engine::Result<void> useLanguage(const QString& code, const QString& folder) {
    const QLocale::Language language = QLocale(code).language();
    // As in the user's country, where the language is spoken there.
    const QLocale system = QLocale::system();
    const bool isSystems =
        system.language() == language || (code == kEnglish && system.language() == QLocale::C);
    QLocale::setDefault(isSystems ? system : QLocale(language, system.territory()));
    if (code == kEnglish)
        return {};
    ENGINE_TRY(std::unique_ptr<Catalogue> catalogue, Catalogue::read(QDir(folder).filePath(code)));
    catalogue->setObjectName(code);
    catalogue->setParent(QCoreApplication::instance());
    QCoreApplication::installTranslator(catalogue.release());
    return {};
}

QString windowLanguage() {
    const auto* app = QCoreApplication::instance();
    const auto* texts = app == nullptr ? nullptr : app->findChild<QTranslator*>();
    return texts == nullptr ? kEnglish : texts->objectName();
}

} // namespace ui
