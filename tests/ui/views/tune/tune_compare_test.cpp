// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/views/tune/tune_stage.h"
#include "ui/store/chat_store.h"
#include "ui/views/tune/compared/before_after_chart.h"

#include <QCheckBox>
#include <QSpinBox>
#include <QTableView>

using namespace support;
using namespace ui;

/// The workspace Tune: what drafting costs and when it pays, a finished layer compared on the
/// user's prompts, and where prompts can come from besides files.
class TuneCompareTest : public QObject, protected TuneStage {
    Q_OBJECT

private slots:

    void init() {
        m_desk = std::make_unique<Desk>();
        m_desk->open(script().places());
    }

    void cleanup() { m_desk.reset(); }

    void theBreakEvenIsALineAndAColumn() {
        script().say(QByteArrayList{Script::prices()} + someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        const FigureTable shares = view("tune_acceptance").table();
        QCOMPARE(shares.header.last(), QStringLiteral("break-even"));
        QCOMPARE(shares.rows[1].last(), QStringLiteral("0.17"));
        const FigureTable rounds = view("tune_round").table();
        QCOMPARE(rounds.header,
                 QStringList({"step", "tokens a round", "break-even with plain steps"}));
        QCOMPARE(rounds.rows[0].last().toDouble(), 3 * 0.05 + 1.35);
        QVERIFY(says(recipe(), QStringLiteral("0.050 of a plain step")));
        QVERIFY(says(recipe(), QStringLiteral("1.12, 1.20, 1.35")));
        // 2.1 tokens for 1.5 plain steps
        QVERIFY(page().finding().contains(QStringLiteral("1.40 times as fast")));
    }

    void withoutPricesThereIsNoLine() {
        script().say(someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        QCOMPARE(view("tune_round").table().header.size(), 2);
        QVERIFY(!says(recipe(), QStringLiteral("A drafted token")));
        QVERIFY(!page().finding().contains(QStringLiteral("times as fast")));
    }

    void aLineAboveAllPointsIsInSight() {
        script().say(QByteArrayList{Script::prices().replace(R"("4":1.35)", R"("4":3.2)")} +
                     someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        QVERIFY(plot("tune_round").shownY().contains(3 * 0.05 + 3.2));
    }

    void aFinishedLayerIsComparedOnTheUsersPrompts() {
        finish();
        QVERIFY(isShown(Action::Compare));
        QVERIFY(says(page(), QStringLiteral("Compare on my prompts, above")));
        script().sayCompared(gains(8));
        click(Action::Compare);
        QCOMPARE(page().button(Action::Compare).text(), QStringLiteral("Stop comparing"));
        QTRY_COMPARE(desk().session().comparison().prompts().prompts().size(), std::size_t(4));
        QVERIFY(says(page(), QStringLiteral("4 of 8 prompts")));
        QVERIFY(desk().note().state.startsWith(QStringLiteral("compares")));
        QVERIFY(!page().finding().contains(QStringLiteral("It pays"))); // not all is known
        click(Action::Compare);
        QCOMPARE(page().button(Action::Compare).text(), QStringLiteral("Compare on my prompts"));
        QVERIFY(page().finding().startsWith(QStringLiteral("On 4 prompts")));
        const FigureTable table = view("tune_compared").table();
        QCOMPARE(table.header,
                 QStringList({"task",
                              "with it",
                              "without it",
                              "acceptance",
                              "tokens a round",
                              "prompts",
                              "texts"}));
        QCOMPARE(table.rows.size(), std::size_t(3)); // two tasks, and all
        QCOMPARE(table.rows[2], QStringList({"All", "2", "1.25", "0.5", "2", "4", "equal"}));
        QCOMPARE(view("tune_compared").findChild<QTableView*>()->model()->index(2, 3).data(),
                 QVariant(QStringLiteral(".50")));
        auto* chart = view("tune_compared").findChild<BeforeAfterChart*>();
        QVERIFY(chart->isVisible());
        QVERIFY(chart->accessibleDescription().contains(
            QStringLiteral("All: 1.25\u00D7 without, 2.00\u00D7 with the layer")));
    }

    void onePromptIsToldInTheSingular() {
        finish();
        script().sayCompared(Script::compared(1, 200, 100, 160, 1, false));
        click(Action::Compare);
        QTRY_COMPARE(desk().session().comparison().prompts().prompts().size(), std::size_t(1));
        QVERIFY(says(page(), QStringLiteral("1 of 1 prompt")));
        QVERIFY(!says(page(), QStringLiteral("1 of 1 prompts")));
        click(Action::Compare);
        QVERIFY2(page().finding().contains(QStringLiteral("Its text was not the one")),
                 qPrintable(page().finding()));
    }

    void aHeldComparisonSaysThatItWaitsAndThenGoesOn() {
        finish();
        script().sayCompared(gains(8));
        click(Action::Compare);
        QTRY_COMPARE(desk().session().comparison().prompts().prompts().size(), std::size_t(4));
        const qint64 process = desk().session().comparison().processId();
        desk().setAnswering(true);
        QTRY_COMPARE(Script::stateOf(process), 'T');
        QVERIFY(says(page(), QStringLiteral("waits while an answer streams")));
        QCOMPARE(desk().note().state, QStringLiteral("waits while an answer streams"));
        QVERIFY(isShown(Action::Compare)); // it can be stopped all the same
        desk().setAnswering(false);
        QTRY_COMPARE(Script::stateOf(process), 'S');
        QVERIFY(says(page(), QStringLiteral("4 of 8 prompts")));
        desk().setAnswering(true);
        QTRY_COMPARE(Script::stateOf(process), 'T');
        click(Action::Compare);
        QTRY_VERIFY(Script::stateOf(process) == 'Z' || Script::stateOf(process) == 0);
        QVERIFY(page().finding().startsWith(QStringLiteral("On 4 prompts")));
    }

    void anotherRecipeLeavesAComparisonAloneAndATrainingEndsIt() {
        finish();
        script().sayCompared(gains(8));
        click(Action::Compare);
        QTRY_COMPARE(desk().session().comparison().prompts().prompts().size(), std::size_t(4));
        const qint64 process = desk().session().comparison().processId();
        desk().session().setRecipe(TuningRecipe::LayerSkip);
        QCOMPARE(desk().session().comparison().processId(), process);
        QCOMPARE(desk().note().title, QStringLiteral("Draft layer for Tiny"));
        QVERIFY(desk().note().state.startsWith(QStringLiteral("compares")));
        desk().session().setRecipe(TuningRecipe::Draft);
        QCOMPARE(desk().session().comparison().processId(), process);
        QTRY_VERIFY(says(page(), QStringLiteral("4 of 8 prompts")));
        script().endBy("wait");
        desk().session().start(script().copyChoice());
        QVERIFY(desk().session().comparison().state() == ComparisonState::Stopped);
        QTRY_VERIFY(Script::stateOf(process) == 'Z' || Script::stateOf(process) == 0);
    }

    void oneTextThatDiffersIsSaidInTheSingular() {
        script().sayCompared(Script::compared(1, 200, 100, 160, 1, false));
        script().endComparisonBy("done");
        finish();
        click(Action::Compare);
        QTRY_VERIFY(desk().session().comparison().state() == ComparisonState::Done);
        QCOMPARE(view("tune_compared").table().rows[0].last(), QStringLiteral("1 differs"));
    }

    void whatAComparisonHasShownIsSaidAsItIs_data() {
        QTest::addColumn<QList<double>>("with");
        QTest::addColumn<bool>("isEqual");
        QTest::addColumn<QString>("words");
        QTest::newRow("a gain") << QList<double>{100, 101, 99, 100, 101, 99} << true
                                << QStringLiteral("It pays: 1.60 times");
        QTest::newRow("a loss") << QList<double>{200, 201, 199, 200, 201, 199} << true
                                << QStringLiteral("It does not pay on this computer: 0.80 times");
        QTest::newRow("noise") << QList<double>{100, 220, 110, 210, 105, 215} << true
                               << QStringLiteral("Whether it pays is not sure: 1.00 times");
        QTest::newRow("few prompts") << QList<double>{100, 101, 99, 100, 101} << true
                                     << QStringLiteral("These are too few prompts to rely on");
        QTest::newRow("another text") << QList<double>{100, 101, 99, 100} << false
                                      << QStringLiteral("4 of 4 prompts had a text");
    }

    void whatAComparisonHasShownIsSaidAsItIs() {
        QFETCH(const QList<double>, with);
        QFETCH(const bool, isEqual);
        QFETCH(const QString, words);
        QByteArrayList lines;
        for (int i = 0; i < with.size(); ++i)
            lines += Script::compared(i + 1, 200, with[i], 160, 4, isEqual);
        script().sayCompared(lines);
        script().endComparisonBy("done");
        finish();
        click(Action::Compare);
        QTRY_VERIFY(desk().session().comparison().state() == ComparisonState::Done);
        QVERIFY2(page().finding().contains(words), qPrintable(page().finding()));
        QVERIFY(page().finding().contains(QStringLiteral("without it")));
        QCOMPARE(page().finding().contains(QStringLiteral("All texts were equal")), isEqual);
    }

    void withAComparisonThereIsASecondBreakEven() {
        script().sayCompared(gains(4));
        script().endComparisonBy("done");
        finish();
        click(Action::Compare);
        QTRY_VERIFY(desk().session().comparison().state() == ComparisonState::Done);
        const FigureTable rounds = view("tune_round").table();
        QCOMPARE(rounds.header.last(), QStringLiteral("break-even with Auto as it is"));
        QCOMPARE(rounds.rows[0].last().toDouble(), 1.25 * (3 * 0.05 + 1.35));
    }

    void whyAComparisonFailedIsSaid() {
        script().endComparisonBy("fail");
        finish();
        click(Action::Compare);
        QTRY_VERIFY(says(page(), QStringLiteral("It failed. Look.")));
        QVERIFY(isShown(Action::Compare));
    }

    void promptsOfTheModelItselfAreEnough() {
        loadModel();
        QVERIFY(!recipe().startButton().isEnabled());
        recipe().selfPrompts().setValue(500);
        QVERIFY(recipe().startButton().isEnabled());
        script().say({Script::started(), Script::selfPrompts(120)});
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(says(page(), QStringLiteral("the model writes prompts")));
        QVERIFY(says(page(), QStringLiteral("120 of 500 prompts written")));
        QVERIFY(Script::told(desk().session().adapter())
                    .front()
                    .contains(QStringLiteral("--self-prompts 500")));
        QVERIFY(!recipe().selfPrompts().isEnabled());
    }

    void oneWrittenPromptIsToldInTheSingular() {
        loadModel();
        recipe().selfPrompts().setValue(500);
        script().say({Script::started(), Script::selfPrompts(1, 1)});
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(says(page(), QStringLiteral("1 of 1 prompt written")));
    }

    void chatsAreReadOnlyWhenTheyAreTicked() {
        QVERIFY(!recipe().chats().isVisible()); // there are none to choose
        ChatStore chats({.path = script().path(QStringLiteral("chats.db"))});
        chats.open();
        desk().useChats(chats);
        QVERIFY(recipe().chats().isVisible());
        QVERIFY(!recipe().chats().isChecked());
        QVERIFY(says(recipe(), QStringLiteral("Nothing leaves this computer")));
        loadModel();
        QTest::mouseClick(&recipe().chats(), Qt::LeftButton, {}, {5, 5});
        QVERIFY(recipe().choice().usesChats);
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(m_desk->messages.isShown(QStringLiteral("tune"))); // nothing was asked yet
        QVERIFY(state() == TuningState::None);
        StoredMessage question;
        question.chatId = chats.createChat(ChatRecord());
        question.text = QStringLiteral("What is a draft?");
        chats.appendMessage(question);
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(state() == TuningState::Running);
        QFile file(chatPromptsPath(desk().session().adapter()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("What is a draft?"));
        m_desk->close(); // before the chats
    }
};

QTEST_MAIN(TuneCompareTest)
#include "tune_compare_test.moc"
