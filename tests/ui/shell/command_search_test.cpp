// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/commands/command_search.h"

#include <QAction>
#include <QLineEdit>
#include <QListWidget>
#include <QMainWindow>
#include <QPointer>
#include <QTest>

using namespace ui;

class CommandSearchTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    QString m_ran;

    std::vector<Command> commands() {
        std::vector<Command> made;
        for (const char* text : {"Export chat...", "New chat", "Show origin", "A chat about rain"})
            made.push_back(
                {QLatin1String(text), {}, [this, text] { m_ran = QLatin1String(text); }});
        return made;
    }

private slots:

    void init() { m_ran.clear(); }

    void aBeginningBeatsAWordThatBeatsAPlaceThatBeatsLetters() {
        const QString text = QStringLiteral("Show origin");
        const auto score = [&](const char* typed) {
            return CommandSearch::matchScore(text, QLatin1String(typed));
        };
        QVERIFY(score("sho") > score("orig"));
        QVERIFY(score("orig") > score("gin"));
        QVERIFY(score("gin") > score("sgn"));
        QVERIFY(score("sgn") > 0);
        QCOMPARE(score("xyz"), 0);
        QCOMPARE(score("nigiro"), 0);
        QCOMPARE(score(""), 1);
    }

    void nothingThatMatchesIsSaidSo() {
        CommandSearch search(m_theme, commands());
        search.open();
        auto* field = search.findChild<QLineEdit*>();
        auto* list = search.findChild<QListWidget*>();
        QTest::keyClicks(field, QStringLiteral("zebra"));
        QCOMPARE(list->count(), 1);
        QVERIFY(list->item(0)->text().contains(QStringLiteral("zebra")));
        QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(search.isVisible());
        QVERIFY(m_ran.isEmpty());
    }

    void aNameThatIsNotShownFindsItsCommand() {
        std::vector<Command> all = commands();
        all.push_back({QStringLiteral("Setting: Confidence threshold"),
                       {},
                       [] {},
                       QStringLiteral("epsilon")});
        CommandSearch search(m_theme, std::move(all));
        search.open();
        QTest::keyClicks(search.findChild<QLineEdit*>(), QStringLiteral("eps"));
        const auto* list = search.findChild<QListWidget*>();
        QCOMPARE(list->count(), 1);
        QCOMPARE(list->item(0)->text(), QStringLiteral("Setting: Confidence threshold"));
    }

    void typingShowsTheBestMatchFirstAndEnterRunsIt() {
        QPointer<CommandSearch> search = new CommandSearch(m_theme, commands());
        search->setAttribute(Qt::WA_DeleteOnClose);
        search->open();
        auto* field = search->findChild<QLineEdit*>();
        auto* list = search->findChild<QListWidget*>();
        QCOMPARE(list->count(), 4);
        QTest::keyClicks(field, QStringLiteral("chat"));
        QCOMPARE(list->count(), 3);
        QTest::keyClicks(field, QStringLiteral(" a"));
        QCOMPARE(list->item(0)->text(), QStringLiteral("A chat about rain"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(m_ran, QStringLiteral("A chat about rain"));
        QTRY_VERIFY(search.isNull());
    }

    void arrowsWalkRoundTheMatchesWhileTheFieldKeepsTheKeyboard() {
        CommandSearch search(m_theme, commands());
        auto* field = search.findChild<QLineEdit*>();
        auto* list = search.findChild<QListWidget*>();
        QTest::keyClick(field, Qt::Key_Up);
        QCOMPARE(list->currentRow(), 3);
        QTest::keyClick(field, Qt::Key_Down);
        QTest::keyClick(field, Qt::Key_Down);
        QCOMPARE(list->currentRow(), 1);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(m_ran, QStringLiteral("New chat"));
    }

    void escapeClosesTheSearchAndNotWhatIsBehindIt() {
        QMainWindow window;
        int stopped = 0;
        QAction stop;
        stop.setShortcut(Qt::Key_Escape);
        connect(&stop, &QAction::triggered, this, [&stopped] { ++stopped; });
        window.addAction(&stop);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window, support::kPatienceMs));
        CommandSearch search(m_theme, commands(), &window);
        search.open();
        QTest::keyClick(search.findChild<QLineEdit*>(), Qt::Key_Escape);
        QVERIFY(!search.isVisible());
        QCOMPARE(stopped, 0);
    }
};

QTEST_MAIN(CommandSearchTest)
#include "command_search_test.moc"
