// SPDX-License-Identifier: GPL-3.0-only
// Slow motion tells the reasons of the round that it shows, and shows no round of a search.
#include "tests/support/patience.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QComboBox>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

class RoundReasonsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<SlowMotionView> m_view;

    /// A model comes, which changes no settings, and an answer begins.
    void begin() {
        m_stage->say(loadedModel());
        PlanChanged change;
        change.planId = 1;
        change.plan = {.layerCount = 4, .skipped = {{1}, {2}}};
        m_stage->say(change);
        m_stage->say(promptStarted(1));
    }

    void show() {
        m_view = std::make_unique<SlowMotionView>(m_stage->context());
        m_view->resize(1100, 900);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get(), kPatienceMs));
        m_stage->settle();
    }

    /// Two passes and a third token in a row, and one beside the second.
    static StepFinished joinedStep() {
        StepFinished made = draftStep(1, 0, {" a", " b", " c"}, 1, " d");
        made.draft.push_back({77, 0, 1, 0.2});
        made.draftTexts = {" a", " b", " c", " e"};
        made.confidences.resize(2);
        made.draftLayers = 4.0;
        made.verifiedRows = 5;
        return made;
    }

    QString sentenceAt(RoundStop stop) {
        const auto& stops = m_view->scene()->walk.stops;
        for (std::size_t i = 0; i < stops.size(); ++i)
            if (stops[i] == stop)
                m_view->goTo(static_cast<int>(i));
        return m_view->scene()->current() == stop ? m_view->sentence() : QString();
    }

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    /// As Auto makes them.
    void guessesThatJoinADraftAreNotSaidToComeFromItsPasses() {
        m_stage->say(DecoderChosen()); // without a setting that widens drafts
        begin();
        m_stage->say(joinedStep());
        show();
        const QString draft = sentenceAt(RoundStop::Draft);
        QVERIFY2(draft.contains(QStringLiteral("guesses 2 tokens, one after the other")) &&
                     draft.contains(QStringLiteral("1 more token follows")),
                 qPrintable(draft));
        const QString widen = sentenceAt(RoundStop::Widen);
        QVERIFY2(widen.contains(QStringLiteral("took no pass")), qPrintable(widen));
        QVERIFY2(!widen.contains(QStringLiteral("less sure")), qPrintable(widen));
        StepFinished adapted = joinedStep();
        adapted.step = 1;
        adapted.drafter = "tuned"; // the adapter has alternatives of its own
        m_stage->say(adapted);
        m_view->showRound(1, 1);
        QVERIFY(sentenceAt(RoundStop::Widen).contains(QStringLiteral("the adapter was less sure")));
    }

    void alternativesOfADraftComeFromItsPasses() {
        DecoderChosen chosen;
        chosen.settings["siblings"] = std::string("1,2,2,3");
        m_stage->say(chosen);
        begin();
        m_stage->say(joinedStep());
        show();
        const QString widen = sentenceAt(RoundStop::Widen);
        QVERIFY2(widen.contains(QStringLiteral("from the same passes")), qPrintable(widen));
    }

    void aCandidateTellsWhatBecomesOfIt_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<double>("best");
        QTest::addColumn<bool>("isBest");
        QTest::addColumn<bool>("isBeside");
        QTest::addColumn<QString>("told");
        QTest::newRow("used") << "random" << .75 << true << false << "leave these sublayers out";
        QTest::newRow("beside") << "random" << .75 << true << true << "No draft leaves these";
        QTest::newRow("worse") << "random" << .8 << false << false << "no better than the best";
        QTest::newRow("refused") << "random" << .5 << false << false << "not expected";
        QTest::newRow("measured") << "rescore" << .75 << true << false << "Nothing else changes";
    }

    void aCandidateTellsWhatBecomesOfIt() {
        QFETCH(QString, kind);
        QFETCH(double, best);
        QFETCH(bool, isBest);
        QFETCH(bool, isBeside);
        QFETCH(QString, told);
        begin();
        TrialFinished tried =
            trial(kind.toStdString(), 3, .75, best, {.layerCount = 4, .skipped = {{1}, {2}}});
        tried.isBest = isBest;
        tried.isBeside = isBeside;
        m_stage->say(tried);
        m_stage->say(draftStep(1, 0, {" a"}, 1, " b"));
        show();
        const QString sentence = sentenceAt(RoundStop::Search);
        QVERIFY2(sentence.contains(told), qPrintable(sentence));
        QCOMPARE(sentence.contains(QStringLiteral("another choice")), kind != u"rescore");
        if (isBeside || kind == u"rescore")
            QVERIFY2(!sentence.contains(QStringLiteral("from now on")), qPrintable(sentence));
    }

    /// What only measures the set in use is no other choice.
    void onlyCandidatesAreCounted() {
        begin();
        const PlanOutline plan{.layerCount = 4, .skipped = {{1}, {2}}};
        m_stage->say(trial("rescore", 2, .5, .5, plan));
        m_stage->say(trial("random", 3, .75, .75, plan));
        m_stage->say(draftStep(1, 0, {" a"}, 1, " b"));
        show();
        const QString sentence = sentenceAt(RoundStop::Search);
        QVERIFY2(sentence.contains(QStringLiteral("another choice")), qPrintable(sentence));
    }

    /// What was not drawn, the model would not always have written.
    void ofDrawnTokensOnlyThoseOfTheAnswerAreSaidToBeWritten() {
        SamplingChanged sampling;
        sampling.sampling.temperature = 0.8;
        m_stage->say(sampling);
        begin();
        StepFinished step = draftStep(1, 0, {" a", " b"}, 1, " c");
        step.rowChoices = {{0, " a", .6}, {99, " c", .5}, {5, " d", .4}};
        m_stage->say(SamplingChanged()); // for the next answer
        m_stage->say(step);
        show();
        const QString drawn = sentenceAt(RoundStop::Verify);
        QVERIFY2(drawn.contains(QStringLiteral("likeliest")), qPrintable(drawn));
        QVERIFY2(!drawn.contains(QStringLiteral("would have written")), qPrintable(drawn));
        m_stage->say(promptFinished(1));
        m_stage->say(promptStarted(2));
        step.promptId = 2;
        m_stage->say(step);
        m_stage->settle();
        QCOMPARE(m_view->promptId(), std::uint64_t{2});
        QVERIFY(sentenceAt(RoundStop::Verify).contains(QStringLiteral("would have written")));
    }

    /// It asks again and again, and is over before anybody could look.
    void theAnswersOfASearchAreNotShownAndTakeNoPlace() {
        begin();
        m_stage->say(draftStep(1, 0, {" a", " b"}, 1, " c"));
        m_stage->say(promptFinished(1));
        show();
        for (std::uint64_t id = kFirstHiddenPrompt; id < kFirstHiddenPrompt + 12; ++id) {
            m_stage->say(promptStarted(id));
            m_stage->say(draftStep(id, 0, {" x", " y", " z"}, 3, " w"));
            m_stage->say(promptFinished(id));
            m_stage->settle();
        }
        QCOMPARE(m_view->promptId(), std::uint64_t{1});
        QCOMPARE(m_view->findChild<QComboBox*>()->count(), 1);
        m_view->showRound(1, 0);
        QCOMPARE(m_view->scene()->walk.layerCount, 4);
        QVERIFY(m_view->scene()->walk.plan != nullptr);
    }
};

QTEST_MAIN(RoundReasonsTest)
#include "round_reasons_test.moc"
