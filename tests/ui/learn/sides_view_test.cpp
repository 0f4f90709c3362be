// SPDX-License-Identifier: GPL-3.0-only
#include "engine/session/asides.h"
#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/learn/sides/side_columns.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/sides/time_lanes.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace engine;
using namespace support;
using namespace ui;

/// Two sides of a scripted engine: what they write is compared, told, and kept when the user says
/// so.
class SidesViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<SidesView> m_view;

    void open(SidesForm form) {
        m_view.reset();
        m_stage = std::make_unique<ViewStage>();
        ModelLoaded loaded = loadedModel();
        loaded.decoders = {vanillaDecoder(), swiftDecoder()};
        m_stage->say(loaded);
        m_stage->say(DecoderChosen{swiftDecoder(), {}});
        m_view = std::make_unique<SidesView>(m_stage->context(), form);
        m_view->setQuestionMaker([this](const QString& words, MessageId) {
            ChatSession::Aside made;
            made.text = words;
            made.prompt.messages = {{"user", words.toStdString(), {}}};
            made.prompt.sampling = m_stage->store.sampling();
            return made;
        });
        m_view->resize(1000, 700);
        m_view->show();
        m_stage->settle();
    }

    /// The prompts that were sent to asides, by conversation; the newest of each.
    std::map<std::uint64_t, SubmitPrompt> asked() const {
        std::map<std::uint64_t, SubmitPrompt> prompts;
        for (const EngineCommand& command : m_stage->engine->sent)
            if (const auto* prompt = std::get_if<SubmitPrompt>(&command))
                prompts[prompt->conversation] = *prompt;
        return prompts;
    }

    std::uint64_t conversation(SideRun::Place side) const {
        return side == SideRun::Left ? asked().begin()->first : asked().rbegin()->first;
    }

    void say(SideRun::Place side, EventContent content) {
        m_stage->engine->waiting.push_back({0.0, std::move(content), conversation(side)});
        m_stage->bridge.tick();
    }

    void
    write(SideRun::Place side, int step, TokenId id, const std::string& text, double gap = 1.0) {
        StepFinished made = plainStep(asked().rbegin()->second.promptId, step, text, 20.0);
        made.tokens = {token(id, text, TokenOrigin::Vanilla, 0.25 * std::exp(gap))};
        made.tokens[0].choices = {{id, text, 0.25 * std::exp(gap)}, {id + 50, "other", 0.25}};
        say(side, made);
    }

    void end(SideRun::Place side) {
        PromptFinished finished = promptFinished(asked().rbegin()->second.promptId);
        finished.reason = FinishReason::EndToken;
        finished.text = m_view->run().answer(side).text;
        say(side, finished);
    }

    void askFor(const QString& words) {
        m_view->questionField().setFocus();
        QTest::keyClicks(&m_view->questionField(), words);
        QTest::keyClick(&m_view->questionField(), Qt::Key_Return);
    }

    QPushButton* button(const QString& text) const {
        for (QPushButton* each : m_view->findChildren<QPushButton*>())
            if (each->text() == text)
                return each;
        return nullptr;
    }

private slots:

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void bothSidesAreAskedTheSameWithTheirOwnDecoders() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        const auto prompts = asked();
        QCOMPARE(prompts.size(), std::size_t{2});
        for (const auto& [id, prompt] : prompts) {
            QVERIFY(isAside(id));
            QCOMPARE(prompt.messages.size(), std::size_t{1});
            QCOMPARE(prompt.messages[0].content, std::string("count"));
            QVERIFY(prompt.sampling == m_stage->store.sampling());
        }
        QCOMPARE(prompts.begin()->second.decoder->name, std::string("vanilla"));
        QCOMPARE(prompts.rbegin()->second.decoder->name, std::string("swift"));
        QVERIFY(m_view->run().isRunning());
        QVERIFY(button(QStringLiteral("Stop")) != nullptr);
    }

    void onRequestTheChatsDecoderIsComparedWhateverWasChosenBefore() {
        open(SidesForm::Check);
        for (QComboBox* box : m_view->findChildren<QComboBox*>())
            box->setCurrentIndex(1);
        m_view->chooseChatsDecoder();
        askFor(QStringLiteral("count"));
        QCOMPARE(asked().rbegin()->second.decoder->name, std::string("swift"));
    }

    void equalTokensAreCountedAndTold() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        write(SideRun::Left, 0, 1, "one");
        write(SideRun::Right, 0, 1, "one");
        write(SideRun::Right, 1, 2, " two");
        QVERIFY(m_view->verdictText().contains(QStringLiteral("Equal so far: 1 of 1 token.")));
        write(SideRun::Left, 1, 2, " two");
        end(SideRun::Left);
        end(SideRun::Right);
        QVERIFY2(m_view->verdictText().startsWith(QStringLiteral("Equal: 2 of 2 tokens.")),
                 qPrintable(m_view->verdictText()));
        QVERIFY(!m_view->run().isRunning());
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), std::size_t{2});
        QCOMPARE(table.rows[1].mid(0, 4),
                 QStringList({QStringLiteral("2"),
                              QStringLiteral("\u2423two"),
                              QStringLiteral("\u2423two"),
                              QStringLiteral("yes")}));
        QVERIFY(m_view->findChild<QTableView*>()->isVisible());
        QVERIFY(m_stage->store.answers().latest() == nullptr); // the run knows nothing of it
    }

    void theFirstDifferenceIsToldWithBothTokens() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right})
            write(side, 0, 1, "one");
        write(SideRun::Left, 1, 2, "two", 1.0);
        write(SideRun::Right, 1, 9, "ten", 1.0);
        end(SideRun::Left);
        end(SideRun::Right);
        const QString told = m_view->verdictText();
        QVERIFY2(told.startsWith(QStringLiteral("Different from token 2 on.")), qPrintable(told));
        QVERIFY(told.contains(QStringLiteral("two")) && told.contains(QStringLiteral("ten")));
        QVERIFY2(told.contains(QStringLiteral("0.6796")), qPrintable(told)); // .25 e
        QVERIFY(told.contains(QStringLiteral("no near tie")));
        const auto& lines = m_view->findChild<SideColumns*>()->lines();
        QVERIFY(!lines.empty() && !lines.back().isEqual);
    }

    void aNearTieIsExplained() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        write(SideRun::Left, 0, 2, "two", 0.0005);
        write(SideRun::Right, 0, 9, "ten", 0.0005);
        end(SideRun::Left);
        end(SideRun::Right);
        QVERIFY2(m_view->verdictText().contains(QStringLiteral("That is a near tie")),
                 qPrintable(m_view->verdictText()));
        QVERIFY(m_view->verdictText().contains(QStringLiteral("0.2501")));
    }

    void probabilitiesAreComparedOnlyWhereTokensAreEqual() {
        const auto saysEqual = [this] {
            return std::ranges::any_of(m_view->findChildren<QLabel*>(), [](const QLabel* label) {
                return label->text().contains(QStringLiteral("bit for bit"));
            });
        };
        for (const TokenId other : {TokenId{2}, TokenId{9}}) {
            open(SidesForm::Check);
            askFor(QStringLiteral("count"));
            write(SideRun::Left, 0, 2, "two");
            write(SideRun::Right, 0, other, "two");
            end(SideRun::Left);
            end(SideRun::Right);
            QCOMPARE(saysEqual(), other == 2);
        }
    }

    void linesHoldTheSameTokensOnBothSides() {
        open(SidesForm::Split);
        askFor(QStringLiteral("count"));
        for (int i = 0; i < 60; ++i) {
            write(SideRun::Left, i, i, " word");
            write(SideRun::Right,
                  i,
                  i == 30 ? 99 : i,
                  i == 30 ? " some very much longer words" : " word");
        }
        auto* columns = m_view->findChild<SideColumns*>();
        m_stage->settle();
        QVERIFY(columns->lines().size() > 2);
        int next = 0;
        for (const SideColumns::Line& line : columns->lines()) {
            QCOMPARE(line.first, next);
            QVERIFY(line.end > line.first);
            QCOMPARE(line.isEqual, line.end <= 30);
            next = line.end;
        }
        QCOMPARE(next, 60);
    }

    void arrowsChooseATokenAndSayIt() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right}) {
            write(side, 0, 1, "one");
            write(side, 1, 2, " two");
            end(side);
        }
        auto* columns = m_view->findChild<SideColumns*>();
        QTest::keyClick(columns, Qt::Key_Right);
        QTest::keyClick(columns, Qt::Key_Right);
        QCOMPARE(columns->token(), 1);
        QVERIFY2(columns->accessibleDescription().contains(QStringLiteral("two")),
                 qPrintable(columns->accessibleDescription()));
        QTest::keyClick(columns, Qt::Key_End);
        QCOMPARE(columns->token(), 1);
        QTest::keyClick(columns, Qt::Key_Home);
        QCOMPARE(columns->token(), 0);
    }

    /// 1.5049 and 1.4151 s are read as 1.50 and 1.42.
    void timesAndTheirDifferenceAgreeAsTheyAreRead() {
        TimeLanes lanes(m_stage->theme);
        const auto answer = [](double ms) {
            SideAnswer made;
            made.decodeMs = ms;
            made.state = SideState::Finished;
            return made;
        };
        lanes.show(
            {QStringLiteral("Vanilla"), QStringLiteral("Auto")}, answer(1504.9), answer(1415.1));
        QCOMPARE(lanes.accessibleDescription(),
                 QStringLiteral("Vanilla 1.50 s, Auto 1.42 s, 0.08 s sooner"));
    }

    void theEndOfTheTextsStaysInSightWhenTheyGetLower() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right}) {
            for (int i = 0; i < 40; ++i)
                write(side, i, i + 1, "word\n");
            end(side);
        }
        auto* columns = m_view->findChild<SideColumns*>();
        QScrollBar& bar = *columns->verticalScrollBar();
        bar.setValue(bar.maximum());
        QVERIFY(bar.maximum() > 0);
        m_view->resize(m_view->width(), m_view->height() - 100);
        m_stage->settle();
        QCOMPARE(bar.value(), bar.maximum());
        bar.setValue(10);
        m_view->resize(m_view->width(), m_view->height() - 20);
        m_stage->settle();
        QCOMPARE(bar.value(), 10);
    }

    void escStopsBothAndThenLeaves() {
        open(SidesForm::Check);
        QSignalSpy left(m_view.get(), &SidesView::leaveAsked);
        askFor(QStringLiteral("count"));
        write(SideRun::Left, 0, 1, "one");
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        std::vector<std::uint64_t> stopped;
        for (const EngineCommand& command : m_stage->engine->sent)
            if (const auto* stop = std::get_if<StopGeneration>(&command))
                stopped.push_back(stop->conversation.value_or(0));
        QCOMPARE(stopped, std::vector({conversation(SideRun::Left), conversation(SideRun::Right)}));
        QCOMPARE(left.count(), 0);
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right}) {
            PromptFinished cancelled = promptFinished(asked().rbegin()->second.promptId);
            cancelled.reason = FinishReason::Cancelled;
            say(side, cancelled);
        }
        QVERIFY2(m_view->verdictText().startsWith(QStringLiteral("Stopped.")),
                 qPrintable(m_view->verdictText()));
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QCOMPARE(left.count(), 1);
    }

    void theUserKeepsOneAnswerOrBoth() {
        open(SidesForm::Split);
        QVERIFY(!button(QStringLiteral("Keep the left answer"))->isEnabled());
        QList<StoredMessage> kept;
        connect(m_view.get(),
                &SidesView::answersKept,
                this,
                [&](const ChatSession::Aside& question, const QList<StoredMessage>& answers) {
                    QCOMPARE(question.text, QStringLiteral("count"));
                    kept = answers;
                });
        askFor(QStringLiteral("count"));
        write(SideRun::Left, 0, 1, "one");
        write(SideRun::Right, 0, 7, "seven");
        QVERIFY(!button(QStringLiteral("Keep the left answer"))->isEnabled());
        end(SideRun::Left);
        end(SideRun::Right);
        button(QStringLiteral("Keep the right answer"))->click();
        QCOMPARE(kept.size(), 1);
        QCOMPARE(kept[0].text, QStringLiteral("seven"));
        QCOMPARE(kept[0].tokens.size(), 1);
        QCOMPARE(kept[0].figures.tokensPerSecond, 50.0);
        button(QStringLiteral("Keep both as branches"))->click();
        QCOMPARE(kept.size(), 2);
        QCOMPARE(kept[0].text, QStringLiteral("one"));
    }

    void aKeptAnswerNamesTheModelThatWroteIt() {
        open(SidesForm::Split);
        QList<StoredMessage> kept;
        connect(m_view.get(),
                &SidesView::answersKept,
                this,
                [&](const ChatSession::Aside&, const QList<StoredMessage>& answers) {
                    kept = answers;
                });
        const std::string name = loadedModel().model.name;
        askFor(QStringLiteral("count"));
        write(SideRun::Left, 0, 1, "one");
        end(SideRun::Left);
        end(SideRun::Right);
        ModelLoaded other = loadedModel();
        other.model.name = "other";
        m_stage->say(other);
        button(QStringLiteral("Keep the left answer"))->click();
        QCOMPARE(kept.size(), 1);
        QCOMPARE(kept[0].figures.modelName, QString::fromStdString(name));
    }

    /// Its ids, its history and its system prompt may have become others meanwhile.
    void aGivenQuestionIsMadeAnewWhenItIsAsked() {
        open(SidesForm::Split);
        ChatSession::Aside given;
        given.text = QStringLiteral("count");
        given.question = 5;
        given.prompt.messages = {{"user", "old", {1, 2}}};
        m_view->setQuestion(given, true);
        QCOMPARE(asked().begin()->second.messages[0].content, std::string("count"));
    }

    /// Its ids may be those of a model that was loaded before.
    void aGivenQuestionWhoseChatIsNotShownIsAskedAsText() {
        open(SidesForm::Split);
        m_view->setQuestionMaker(
            [](const QString&, MessageId) { return std::optional<ChatSession::Aside>(); });
        ChatSession::Aside given;
        given.text = QStringLiteral("count");
        given.question = 5;
        given.prompt.messages = {
            {"user", "hi", {}}, {"assistant", "ho", {1, 2}}, {"user", "count", {}}};
        m_view->setQuestion(given, true);
        QVERIFY(asked().begin()->second.messages[1].tokens.empty());
        QCOMPARE(asked().begin()->second.messages[1].content, std::string("ho"));
    }

    void theTokenThatIsToldIsTheOneThatIsOutlined() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right}) {
            for (int i = 0; i < 9; ++i)
                write(side, i, i + 1, std::to_string(i + 1), 1.0 + i); // the first is the closest
            end(side);
        }
        auto* columns = m_view->findChild<SideColumns*>();
        QTableView* calls = m_view->findChild<QTableView*>();
        const auto isTold = [&](int token) {
            return columns->token() == token &&
                   m_view->subtitle() == (token < 0 ? QString() : columns->tokenInWords(token)) &&
                   columns->accessibleDescription() == m_view->subtitle();
        };
        calls->selectRow(0);
        QVERIFY2(isTold(0), qPrintable(m_view->subtitle()));
        QTest::keyClick(columns, Qt::Key_End); // far from any close call
        QVERIFY2(isTold(8), qPrintable(m_view->subtitle()));
        calls->selectRow(0); // the same row once more
        QVERIFY2(isTold(0), qPrintable(m_view->subtitle()));
        m_view->ask();
        QVERIFY2(isTold(-1), qPrintable(m_view->subtitle()));
    }

    void aFrozenPageKeepsItsMomentUntilItIsLiveOrAskedAgain() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right})
            write(side, 0, 1, "one");
        const QString moment = m_view->verdictText();
        m_view->setFrozen(true);
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right}) {
            write(side, 1, 2, " two");
            end(side);
        }
        QVERIFY(!m_view->run().isRunning());
        QCOMPARE(m_view->verdictText(), moment);
        QVERIFY(button(QStringLiteral("Run again")) != nullptr);
        m_view->setFrozen(false);
        m_stage->bridge.tick();
        QVERIFY2(m_view->verdictText().startsWith(QStringLiteral("Equal: 2 of 2 tokens.")),
                 qPrintable(m_view->verdictText()));
        m_view->setFrozen(true);
        m_view->ask();
        QVERIFY(!m_view->isFrozen());
        QVERIFY(m_view->verdictText().startsWith(QStringLiteral("Both sides read the prompt.")));
    }

    void eventsOfAnEarlierRunAreNotTaken() {
        open(SidesForm::Check);
        askFor(QStringLiteral("count"));
        write(SideRun::Left, 0, 1, "one");
        const std::uint64_t earlier = asked().begin()->second.promptId;
        for (const SideRun::Place side : {SideRun::Left, SideRun::Right})
            end(side);
        m_view->ask();
        StepFinished late = plainStep(earlier, 1, "late", 20.0);
        say(SideRun::Left, late);
        QVERIFY(m_view->run().answer(SideRun::Left).tokens.empty());
    }
};

QTEST_MAIN(SidesViewTest)

#include "sides_view_test.moc"
