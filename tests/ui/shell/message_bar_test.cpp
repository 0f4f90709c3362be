// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/shell/bars/removal_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

using namespace ui;

namespace {

Notice notice(const char* id, const char* headline) {
    Notice made;
    made.id = QLatin1String(id);
    made.headline = QLatin1String(headline);
    return made;
}

template <typename Button> Button* button(QWidget& parent, const QString& name) {
    for (auto* found : parent.findChildren<Button*>())
        if (found->text() == name || found->accessibleName() == name)
            return found;
    return nullptr;
}

} // namespace

class MessageBarTest : public QObject {
    Q_OBJECT

    Theme m_theme;

    static QStringList headlines(const MessageBar& bar) {
        QStringList texts;
        for (const Notice* shown : bar.notices())
            texts << shown->headline;
        return texts;
    }

private slots:

    void theNewestStandsFirstAndTheSameIdTakesThePlaceOfTheOld() {
        MessageBar bar(m_theme);
        QVERIFY(bar.isHidden());
        bar.show(notice("a", "one"));
        bar.show(notice("b", "two"));
        bar.show(notice("a", "three"));
        QCOMPARE(headlines(bar), (QStringList{QStringLiteral("three"), QStringLiteral("two")}));
        bar.show(notice("", "four"));
        bar.show(notice("", "five"));
        QCOMPARE(bar.notices().size(), 4U);
        bar.withdraw(QStringLiteral("a"));
        QCOMPARE(bar.notices().size(), 3U);
    }

    void atMostFourAreShown() {
        MessageBar bar(m_theme);
        for (const char* headline : {"1", "2", "3", "4", "5", "6"})
            bar.show(notice("", headline));
        QCOMPARE(headlines(bar).join(QString()), QStringLiteral("6543"));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCOMPARE(bar.findChildren<Banner*>().size(), qsizetype(MessageBar::kMostShown));
    }

    void tipsShowNamesAsTheyAre() {
        const QString words = QStringLiteral("Delete \"R&D\" <b>");
        RemovalBar removals(m_theme);
        removals.add({QStringLiteral("Chat deleted"), words, words, [] {}});
        for (const QLabel* label : removals.findChildren<QLabel*>())
            QCOMPARE(support::shownTip(label->toolTip()), words);
        QCOMPARE(support::shownTip(button<QPushButton>(removals, words)->toolTip()), words);
        Notice made = notice("x", "It broke.");
        made.sentence = words;
        made.isBrief = true;
        const Banner banner(m_theme, made);
        const auto labels = banner.findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [&](const QLabel* label) {
            return support::shownTip(label->toolTip()) == words;
        }));
    }

    void detailsAreShownOnDemandAndTheReportHoldsEverything() {
        MessageBar bar(m_theme);
        Notice made = notice("x", "It broke.");
        made.sentence = QStringLiteral("Try again.");
        made.details = QStringLiteral("<b>byte 12</b>");
        bar.show(made);
        auto* text = bar.findChild<QPlainTextEdit*>();
        QVERIFY(text->isHidden());
        QTest::keyClick(button<QPushButton>(bar, QStringLiteral("Details")), Qt::Key_Space);
        QVERIFY(!text->isHidden());
        QCOMPARE(text->toPlainText(), made.details);
        QTest::mouseClick(button<QPushButton>(bar, QStringLiteral("Copy report")), Qt::LeftButton);
        QCOMPARE(QApplication::clipboard()->text(),
                 QStringLiteral("It broke. Try again.\n<b>byte 12</b>"));
    }

    void wordsFromAFileAreShownAsTheyAre() {
        MessageBar bar(m_theme);
        Notice made = notice("x", "<i>a</i>");
        made.sentence = QStringLiteral("<img src='file:///x.png'>");
        bar.show(made);
        const auto labels = bar.findChildren<QLabel*>();
        const bool isEscaped = std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->text().contains(QStringLiteral("&lt;img")) &&
                   label->text().contains(QStringLiteral("&lt;i&gt;"));
        });
        QVERIFY(isEscaped);
    }

    void theKeyboardClosesANotice() {
        MessageBar bar(m_theme);
        bar.show(notice("x", "Closed by Space"));
        auto* close = button<QToolButton>(bar, QStringLiteral("Close: Closed by Space"));
        QVERIFY(close != nullptr);
        QVERIFY(close->focusPolicy() & Qt::TabFocus);
        QTest::keyClick(close, Qt::Key_Space);
        QVERIFY(bar.notices().empty());
        QVERIFY(bar.isHidden());
    }

    void aChoiceActsAndClosesWhereItSays() {
        MessageBar bar(m_theme);
        int kept = 0;
        int done = 0;
        Notice made = notice("x", "Choose");
        made.choices = {{QStringLiteral("Stay"), [&kept] { ++kept; }, false},
                        {QStringLiteral("Go"), [&done] { ++done; }, true}};
        bar.show(made);
        QTest::mouseClick(button<QPushButton>(bar, QStringLiteral("Stay")), Qt::LeftButton);
        QCOMPARE(kept, 1);
        QCOMPARE(bar.notices().size(), 1U);
        QTest::mouseClick(button<QPushButton>(bar, QStringLiteral("Go")), Qt::LeftButton);
        QCOMPARE(done, 1);
        QVERIFY(bar.notices().empty());
    }

    void aChoiceThatTellsAnotherNoticeLeavesThatOneShown() {
        MessageBar bar(m_theme);
        Notice made = notice("x", "First");
        made.choices = {
            {QStringLiteral("Again"), [&bar] { bar.show(notice("x", "Second")); }, true}};
        bar.show(made);
        QTest::mouseClick(button<QPushButton>(bar, QStringLiteral("Again")), Qt::LeftButton);
        QCOMPARE(headlines(bar), QStringList(QStringLiteral("Second")));
        QVERIFY(!bar.isHidden());
    }

    void aNoticeNeverTakesTheKeyboard() {
        QWidget window;
        auto* rows = new QVBoxLayout(&window);
        auto* bar = new MessageBar(m_theme, &window);
        auto* field = new QLineEdit(&window);
        rows->addWidget(bar);
        rows->addWidget(field);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window, support::kPatienceMs));
        field->setFocus();
        Notice made = notice("x", "Hello");
        made.kind = Notice::Kind::Error;
        made.details = QStringLiteral("d");
        made.choices = {{QStringLiteral("Go"), [] {}, true}};
        bar->show(made);
        QCoreApplication::processEvents();
        QCOMPARE(QApplication::focusWidget(), field);
        bar->withdraw(QStringLiteral("x"));
        QCoreApplication::processEvents();
        QCOMPARE(QApplication::focusWidget(), field);
    }
};

QTEST_MAIN(MessageBarTest)
#include "message_bar_test.moc"
