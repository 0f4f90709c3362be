// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "ui/language/catalogue.h"
#include "ui/language/engine_words.h"
#include "ui/language/language.h"
#include "ui/language/tr.h"

#include <QDir>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace ui;

/// The texts of a language, and which language the window has.
class CatalogueTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;

    void write(const char* name, const QByteArray& content) {
        support::writeFile(m_folder->filePath(QLatin1String(name)), content);
    }

    std::string errorOf() {
        const auto read = Catalogue::read(m_folder->path());
        return read ? std::string() : read.error().message;
    }

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aTextIsFoundByItsEnglishInWhateverPlace() {
        write("a.json", R"({"Open": "Öffnen"})");
        write("b.json", R"({"%1 tokens": "%1 Token"})");
        const auto catalogue = Catalogue::read(m_folder->path());
        QVERIFY(catalogue);
        QCOMPARE(catalogue.value()->translate("ui::MainWindow", "Open"), QStringLiteral("Öffnen"));
        QCOMPARE(catalogue.value()->translate("QPlatformTheme", "Open"), QStringLiteral("Öffnen"));
        QCOMPARE(catalogue.value()->translate("ui", "%1 tokens"), QStringLiteral("%1 Token"));
    }

    void anUnknownTextStaysEnglish() {
        write("a.json", R"({"Open": "Öffnen"})");
        const auto catalogue = Catalogue::read(m_folder->path());
        QVERIFY(catalogue);
        QVERIFY(catalogue.value()->translate("ui", "Close").isNull());
        QVERIFY(QCoreApplication::installTranslator(catalogue.value().get()));
        QCOMPARE(ui::tr("Open"), QStringLiteral("Öffnen"));
        QCOMPARE(ui::tr("Close"), QStringLiteral("Close"));
    }

    void aMeaningTellsTwoUsesApart() {
        write("a.json", R"({"Right": {"": "Rechts", "correct": "Richtig"}})");
        const auto catalogue = Catalogue::read(m_folder->path());
        QVERIFY(catalogue);
        QVERIFY(QCoreApplication::installTranslator(catalogue.value().get()));
        QCOMPARE(ui::tr("Right"), QStringLiteral("Rechts"));
        QCOMPARE(ui::tr("Right", "correct"), QStringLiteral("Richtig"));
        QCOMPARE(ui::tr("Right", "a privilege"), QStringLiteral("Rechts"));
    }

    void theEnginesWordsAreTranslatedButNotWhatIsTyped() {
        write("a.json",
              R"({"Threshold": "Schwelle", "A draft ends here.": "Ein Entwurf endet hier.",
                  "epsilon": "falsch", "tokens": "Token"})");
        const auto catalogue = Catalogue::read(m_folder->path());
        QVERIFY(catalogue);
        QVERIFY(QCoreApplication::installTranslator(catalogue.value().get()));
        engine::DecoderInfo decoder;
        decoder.name = "epsilon";
        decoder.summary = "A draft ends here.";
        decoder.explanation = "Unknown.";
        engine::SettingInfo setting;
        setting.name = "epsilon";
        setting.title = "Threshold";
        setting.unit = "tokens";
        setting.choices = {"tokens"};
        decoder.settings.push_back(setting);
        const engine::DecoderInfo shown = inWindowLanguage(decoder);
        QCOMPARE(shown.name, std::string("epsilon"));
        QCOMPARE(shown.summary, std::string("Ein Entwurf endet hier."));
        QCOMPARE(shown.explanation, std::string("Unknown."));
        QCOMPARE(shown.settings.front().name, std::string("epsilon"));
        QCOMPARE(shown.settings.front().title, std::string("Schwelle"));
        QCOMPARE(shown.settings.front().unit, std::string("Token"));
        QCOMPARE(shown.settings.front().choices.front(), std::string("tokens"));
    }

    void badFilesAreToldWithTheirNames_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("told");
        QTest::newRow("no JSON") << QByteArray("{") << "are not JSON";
        QTest::newRow("a list") << QByteArray("[]") << "are not a JSON object";
        QTest::newRow("a number") << QByteArray(R"({"Open": 1})") << "have no text for \"Open\"";
        QTest::newRow("an empty text") << QByteArray(R"({"Open": ""})") << "have no text for";
        QTest::newRow("a list of uses") << QByteArray(R"({"Open": ["a"]})") << "have no text for";
    }

    void badFilesAreToldWithTheirNames() {
        QFETCH(QByteArray, content);
        QFETCH(QString, told);
        write("bad.json", content);
        const QString error = QString::fromStdString(errorOf());
        QVERIFY2(error.contains(told), qPrintable(error));
        QVERIFY2(error.contains(QStringLiteral("bad.json")), qPrintable(error));
    }

    void twoTranslationsOfOneTextAreTold() {
        write("a.json", R"({"Open": "Öffnen"})");
        write("b.json", R"({"Open": "Offen"})");
        const QString error = QString::fromStdString(errorOf());
        QVERIFY2(error.contains(QStringLiteral("b.json translate \"Open\"")), qPrintable(error));
    }

    void aFolderWithoutTextsIsTold() {
        QVERIFY(QString::fromStdString(errorOf()).startsWith(QStringLiteral("There are no texts")));
    }

    void everyFolderIsALanguageAndEnglishNeedsNone() {
        QCOMPARE(languagesIn(m_folder->path()), QStringList("en"));
        QCOMPARE(languagesIn(QString()), QStringList("en"));
        QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("de")));
        QCOMPARE(languagesIn(m_folder->path()), QStringList({"en", "de"}));
        QCOMPARE(languageTitle(QStringLiteral("de")), QStringLiteral("Deutsch"));
        QCOMPARE(languageTitle(QStringLiteral("en")), QStringLiteral("English"));
    }

    void theSystemsLanguageHoldsUnlessTheUserChoseAnother() {
        const QStringList known = {QStringLiteral("en"), QStringLiteral("de")};
        QCOMPARE(languageOf("system", known, {"de-AT", "de", "en"}), QStringLiteral("de"));
        QCOMPARE(languageOf("system", known, {"fr-FR", "fr", "de-DE"}), QStringLiteral("de"));
        QCOMPARE(languageOf("system", known, {"en-GB", "de"}), QStringLiteral("en"));
        QCOMPARE(languageOf("system", known, {"C"}), QStringLiteral("en"));
        QCOMPARE(languageOf("en", known, {"de-DE"}), QStringLiteral("en"));
        QCOMPARE(languageOf("de", known, {"en-US"}), QStringLiteral("de"));
        QCOMPARE(languageOf("fr", known, {"de-DE"}), QStringLiteral("de"));
    }

    void theChoiceIsKept() {
        QSettings settings(m_folder->filePath(QStringLiteral("studio.ini")), QSettings::IniFormat);
        QCOMPARE(keptLanguage(settings), QStringLiteral("system"));
        keepLanguage(settings, QStringLiteral("de"));
        QCOMPARE(keptLanguage(settings), QStringLiteral("de"));
    }
};

QTEST_GUILESS_MAIN(CatalogueTest)
#include "catalogue_test.moc"
