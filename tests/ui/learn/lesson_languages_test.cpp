// SPDX-License-Identifier: GPL-3.0-only
// Which lessons a window has: those of its language, and the English ones where there are none.
#include "tests/support/file_content.h"
#include "ui/language/catalogue.h"
#include "ui/language/language.h"
#include "ui/learn/lessons/lesson_catalog.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace ui;

namespace {

const QString kLessons = QStringLiteral("resources/lessons");
const QString kTranslations = QStringLiteral("resources/translations");
const QString kGerman = QStringLiteral("de");

QString contentOf(const QString& path) { return QString::fromUtf8(support::fileBytes(path)); }

QStringList titlesOf(const LessonCatalog& catalog) {
    QStringList titles;
    for (const engine::Lesson& lesson : catalog.lessons)
        titles << QString::fromStdString(lesson.title);
    return titles;
}

} // namespace

class LessonLanguagesTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;

    QString path(const QString& name) const { return m_folder->filePath(name); }

    /// Both files of a shipped lesson, under another name.
    void copy(const QString& from, const QString& to) {
        for (const char* end : {".json", ".md"})
            QVERIFY(QFile::copy(kLessons + QLatin1Char('/') + from + QLatin1String(end),
                                path(to) + QLatin1String(end)));
    }

private slots:

    /// Two English lessons, and a folder for German ones.
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(QDir(m_folder->path()).mkdir(kGerman));
        copy("01_one_token", "01_one_token");
        copy("02_sublayers", "02_sublayers");
    }

    /// English again.
    void cleanup() {
        qDeleteAll(qApp->findChildren<QTranslator*>(QString(), Qt::FindDirectChildrenOnly));
        QLocale::setDefault(QLocale::system());
    }

    void anEnglishWindowHasEnglishLessonsOnAGermanSystemToo() {
        QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
        QCOMPARE(windowLanguage(), QStringLiteral("en"));
        QCOMPARE(titlesOf(LessonCatalog::of(kLessons)).front(),
                 QStringLiteral("One token at a time"));
    }

    void aWindowWhoseTextsCannotBeReadStaysEnglish() {
        QVERIFY(!useLanguage(kGerman, m_folder->path())); // a folder without texts
        QCOMPARE(windowLanguage(), QStringLiteral("en"));
    }

    void aGermanWindowHasGermanLessonsInTheSameOrder() {
        const LessonCatalog english = LessonCatalog::of(kLessons);
        QVERIFY(useLanguage(kGerman, kTranslations));
        QCOMPARE(windowLanguage(), kGerman);
        const LessonCatalog german = LessonCatalog::of(kLessons);
        QVERIFY2(german.problems.isEmpty(), qPrintable(german.problems.join(QLatin1Char('\n'))));
        QCOMPARE(german.lessons.size(), english.lessons.size());
        QCOMPARE(titlesOf(german).front(), QStringLiteral("Ein Token nach dem anderen"));
        for (std::size_t i = 0; i < german.lessons.size(); ++i) {
            QCOMPARE(german.lessons[i].name, english.lessons[i].name);
            QVERIFY2(german.lessons[i].title != english.lessons[i].title,
                     german.lessons[i].title.c_str());
        }
    }

    void aLessonThatTheLanguageLacksIsEnglish() {
        copy("de/02_sublayers", "de/02_sublayers");
        QCOMPARE(titlesOf(LessonCatalog::of(m_folder->path(), kGerman)),
                 QStringList({"One token at a time", "Was eine Teilschicht beiträgt"}));
        const QStringList english = {"One token at a time", "What a sublayer adds"};
        QCOMPARE(titlesOf(LessonCatalog::of(m_folder->path(), QStringLiteral("fr"))), english);
        QCOMPARE(titlesOf(LessonCatalog::of(m_folder->path(), QStringLiteral("en"))), english);
        QCOMPARE(titlesOf(LessonCatalog::of(m_folder->path(), QString())), english);
    }

    void aTranslationIsKnownByItsNameAndNotByItsFile() {
        copy("de/01_one_token", "de/zehn_minuten");
        QCOMPARE(titlesOf(LessonCatalog::of(m_folder->path(), kGerman)),
                 QStringList({"Ein Token nach dem anderen", "What a sublayer adds"}));
    }

    void aLessonThatThereIsInOneLanguageOnlyComesWithTheOthers() {
        copy("de/03_skipping", "de/03_skipping");
        QCOMPARE(titlesOf(LessonCatalog::of(m_folder->path(), kGerman)).back(),
                 QStringLiteral("Überspringen und Matchness"));
        QCOMPARE(LessonCatalog::of(m_folder->path(), QStringLiteral("en")).lessons.size(),
                 std::size_t(2));
    }

    void aTranslationThatCannotBeReadIsReportedAndTheLessonIsEnglish() {
        support::writeFile(path("de/01_one_token.json"), "{");
        support::writeFile(path("de/01_one_token.md"), "# Titel\n");
        copy("de/02_sublayers", "de/02_sublayers");
        QVERIFY(QFile::remove(path("de/02_sublayers.md")));
        support::writeFile(path("de/02_sublayers.md"),
                           "# Was eine Teilschicht beiträgt\n\n## Ein Fluss\n\nText.\n");
        const LessonCatalog catalog = LessonCatalog::of(m_folder->path(), kGerman);
        QCOMPARE(titlesOf(catalog), QStringList({"One token at a time", "What a sublayer adds"}));
        QCOMPARE(catalog.problems.size(), 2);
        QVERIFY2(catalog.problems[0].contains("de/01_one_token.json"),
                 qPrintable(catalog.problems[0]));
        QVERIFY2(catalog.problems[1].contains("Ein Fluss"), qPrintable(catalog.problems[1]));
    }

    void noFolderHasNoLessons() {
        QVERIFY(LessonCatalog::of(QString()).lessons.empty());
        QVERIFY(LessonCatalog::of(QString(), kGerman).problems.isEmpty());
    }

    /// *Parameters* in an English text is *Parameter* in the German one, as the window calls it;
    /// and "the stop Verify" is „Prüfen“.
    void namesOfTheWindowAreThoseOfTheGermanWindow() {
        const auto read = Catalogue::read(kTranslations + QStringLiteral("/de"));
        QVERIFY(read);
        QHash<QString, QString> names; // without the letters of menus
        for (const QByteArray& key : read.value()->keys())
            names[QString::fromUtf8(key).remove(QLatin1Char('&'))] =
                read.value()->translate("", key.constData()).remove(QLatin1Char('&'));
        static const QRegularExpression kEmphasised(
            QStringLiteral("(?<!\\*)\\*([^*\\n]+)\\*(?!\\*)"));
        static const QRegularExpression kStop(QStringLiteral("\\bstop ([A-Z][a-z]+)"));
        int found = 0;
        const auto check = [&](const QString& file,
                               const QRegularExpression& pattern,
                               const char* marked) {
            const QString german = contentOf(kLessons + QStringLiteral("/de/") + file);
            for (auto match = pattern.globalMatch(contentOf(kLessons + QLatin1Char('/') + file));
                 match.hasNext();) {
                const QString english = match.next().captured(1);
                if (!names.contains(english))
                    continue; // stressed, and no name
                ++found;
                const QString wanted = QString::fromUtf8(marked).arg(names[english]);
                QVERIFY2(german.contains(wanted), qPrintable(file + QStringLiteral(": ") + wanted));
            }
        };
        for (const QString& file : QDir(kLessons).entryList({QStringLiteral("*_*.md")}))
            check(file, kEmphasised, "*%1*");
        for (const QString& file : QDir(kLessons).entryList({QStringLiteral("*.json")}))
            check(file, kStop, "Halt „%1“");
        QVERIFY(found >= 10);
    }
};

QTEST_GUILESS_MAIN(LessonLanguagesTest)
#include "lesson_languages_test.moc"
