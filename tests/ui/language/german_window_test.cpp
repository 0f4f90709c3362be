// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/studio_stage.h"
#include "ui/language/language.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/shell/figure_text.h"
#include "ui/studio/settings_dialog.h"

#include <QComboBox>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QTest>

#include <map>

using namespace support;

/// The window in German.
class GermanWindowTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        QVERIFY(ui::useLanguage(QStringLiteral("de"), QStringLiteral("resources/translations")));
    }

    /// Decimals keep their point, as in papers and exported files.
    void numbersCannotBeMisread() {
        QCOMPARE(ui::numberText(1234567), QStringLiteral("1\u202F234\u202F567"));
        QCOMPARE(ui::factorText(1.5), QStringLiteral("1.50\u00D7"));
        QCOMPARE(QLocale().toString(QDate(2026, 3, 4), QLocale::ShortFormat).left(6),
                 QStringLiteral("04.03."));
    }

    void theLanguageIsChosenInTheSettings() {
        StudioStage stage;
        stage.options.translationsFolder = QStringLiteral("resources/translations");
        stage.open();
        stage.action("app.settings")->trigger();
        auto* dialog = stage.studio->window().findChild<ui::SettingsDialog*>();
        QVERIFY(dialog != nullptr);
        QComboBox* box = nullptr;
        for (QComboBox* candidate : dialog->findChildren<QComboBox*>())
            if (candidate->accessibleName() == QStringLiteral("Sprache"))
                box = candidate;
        QVERIFY(box != nullptr);
        QCOMPARE(box->currentText(), QStringLiteral("Wie das System"));
        QCOMPARE(box->count(), 3);
        QTest::keyClick(box, Qt::Key_End);
        QCOMPARE(box->currentText(), QStringLiteral("Deutsch"));
        const QSettings kept(stage.options.settingsPath, QSettings::IniFormat);
        QTRY_COMPARE(ui::keptLanguage(kept), QStringLiteral("de"));
    }

    void theLessonsAreGerman() {
        StudioStage stage;
        stage.options.lessonsFolder = QStringLiteral("resources/lessons");
        stage.open();
        const auto& buttons = stage.studio->lessonPanel().lessonButtons();
        const auto english =
            ui::LessonCatalog::of(stage.options.lessonsFolder, QStringLiteral("en")).lessons;
        QCOMPARE(buttons.size(), english.size());
        QCOMPARE(buttons.front()->text(), QStringLiteral("1  Ein Token nach dem anderen"));
        for (std::size_t i = 0; i < buttons.size(); ++i)
            QVERIFY2(!buttons[i]->text().contains(QString::fromStdString(english[i].title)),
                     qPrintable(buttons[i]->text()));
    }

    void noTwoEntriesOfAMenuHaveTheSameLetter() {
        StudioStage stage;
        stage.open();
        stage.loadModel();
        QStringList twice;
        QList<const QWidget*> menus = {stage.studio->window().menuBar()};
        for (const QMenu* menu : stage.studio->window().menuBar()->findChildren<QMenu*>())
            menus << menu;
        for (const QWidget* menu : menus) {
            std::map<QString, QString> entries;
            for (const QAction* action : menu->actions()) {
                static const QRegularExpression kLetter(QStringLiteral("&(\\w)"));
                const QString letter = kLetter.match(action->text()).captured(1).toLower();
                if (!letter.isEmpty() && !entries.emplace(letter, action->text()).second)
                    twice << entries[letter] + QStringLiteral(" / ") + action->text();
            }
        }
        QVERIFY2(twice.isEmpty(), qPrintable(twice.join(QLatin1Char('\n'))));
        QCOMPARE(stage.studio->window().menuBar()->actions().front()->text(),
                 QStringLiteral("&Datei"));
    }
};

QTEST_MAIN(GermanWindowTest)
#include "german_window_test.moc"
