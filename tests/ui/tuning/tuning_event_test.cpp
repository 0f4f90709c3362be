// SPDX-License-Identifier: GPL-3.0-only
#include "engine/tuning/tuning_plan.h"
#include "tests/ui/tuning/scripted_tuning.h"
#include "ui/tuning/compare/comparison_arguments.h"
#include "ui/tuning/tuning_run.h"

#include <QTest>

using namespace support;
using namespace ui;

/// What is read of the lines of `swift-run tune --json`, and what becomes of them together.
class TuningEventTest : public QObject {
    Q_OBJECT

    using Script = ScriptedTuning;

    template <typename Event> static Event read(const QByteArray& line) {
        const auto event = tuningEventOf(line);
        const Event* found = event ? std::get_if<Event>(&*event) : nullptr;
        return found != nullptr ? *found : Event();
    }

    static TuningRun runOf(const QByteArrayList& lines) {
        TuningRun run;
        for (const QByteArray& line : lines)
            if (const auto event = tuningEventOf(line))
                run.apply(*event);
        return run;
    }

private slots:

    void everyEventIsRead() {
        const auto started = read<TuningStarted>(Script::started());
        QCOMPARE(started.model, QStringLiteral("Tiny"));
        QCOMPARE(started.fingerprint, QStringLiteral("f00d"));
        QCOMPARE(started.trainedWeights, 4'200'000);
        QCOMPARE(started.answerTokens, 1'200'000);
        const auto collected = read<TuningCollected>(Script::collected(300'000));
        QCOMPARE(collected.prompts, 40);
        QCOMPARE(collected.part(), 0.25);
        QCOMPARE(collected.secondsLeft.value(), 3600.0);
        const auto step = read<TuningStep>(Script::stepped(250, 2.5));
        QCOMPARE(step.part(), 0.25);
        QCOMPARE(step.loss, 2.5);
        QCOMPARE(step.secondsLeft.value(), 90.0);
        const auto prices = read<TuningPrices>(Script::prices("end"));
        QCOMPARE(prices.draft, 0.05);
        QCOMPARE(prices.rows, std::vector<double>({1.12, 1.2, 1.35}));
        QVERIFY(prices.isOfResult);
        QVERIFY(!read<TuningPrices>(Script::prices()).isOfResult);
        QCOMPARE(prices.breakEven.value(), 0.17);
        QCOMPARE(prices.round(3).value(), 3 * 0.05 + 1.35);
        QVERIFY(!prices.round(4));
        QCOMPARE(read<TuningSelfPrompts>(Script::selfPrompts(120)).written, 120);
        const auto evaluation = read<TuningEvaluation>(Script::evaluated(100, 0.6));
        QCOMPARE(evaluation.step, 100);
        QCOMPARE(evaluation.all.acceptance, std::vector<double>({0.6, 0.5, 0.4, 0.3}));
        QCOMPARE(evaluation.all.tokensPerRound, 2.1);
        QVERIFY(evaluation.isBest);
        QCOMPARE(evaluation.tasks.size(), std::size_t(2));
        QCOMPARE(evaluation.tasks.at(QStringLiteral("long_story")).acceptance.front(), 0.25);
        QVERIFY(std::holds_alternative<TuningCheckpoint>(*tuningEventOf(Script::checkpoint())));
        QCOMPARE(read<TuningNote>(R"({"event":"remark","text":"Few."})").text,
                 QStringLiteral("Few."));
        const auto done = read<TuningDone>(Script::done(QStringLiteral("/a/b")));
        QCOMPARE(done.path, QStringLiteral("/a/b"));
        QCOMPARE(done.bytes, 4'500'000);
        QCOMPARE(done.seconds, 10'800.0);
        QVERIFY(done.hasAllSeconds);
        QVERIFY(done.isHeldOut);
        QCOMPARE(read<TuningError>(Script::error()).sentence(),
                 QStringLiteral("It cannot be. Wait."));
    }

    void whatIsNotKnownYetIsLeftOpen() {
        const auto collected = read<TuningCollected>(
            R"({"event":"collect","prompts":0,"answer_tokens":0,"planned":0,"tokens_per_s":0,"eta_s":null})");
        QVERIFY(!collected.secondsLeft);
        QCOMPARE(collected.part(), 0.0);
        const auto done = read<TuningDone>(
            Script::done(QStringLiteral("/a")).replace(R"("collect":3600)", R"("collect":null)"));
        QVERIFY(!done.hasAllSeconds); // an earlier run has collected
        QCOMPARE(done.seconds, 7200.0);
    }

    void aDamagedLineIsNoEvent_data() {
        QTest::addColumn<QByteArray>("line");
        const auto row = [](const char* name, const QByteArray& line) {
            QTest::newRow(name) << line;
        };
        row("empty", "");
        row("words", "error: no JSON");
        row("cut", Script::stepped(10, 2.0).chopped(20));
        row("a list", R"(["event","step"])");
        row("no name", R"({"step":10})");
        row("another name", R"({"event":"dance","step":10})");
        row("a loss that is not finite",
            Script::stepped(10, 2.0).replace(R"("loss":2)", R"("loss":null)"));
        row("a step that is a text",
            Script::stepped(10, 2.0).replace(R"("step":10)", R"("step":"10")"));
        row("a step before the first", Script::stepped(-10, 2.0));
        row("more steps than there can be",
            Script::stepped(10, 2.0).replace(R"("steps":1000)", R"("steps":1e300)"));
        row("prices without rows", Script::prices().replace(R"("3":1.2,)", ""));
        row("a price of nothing", Script::prices().replace(R"("c":0.05)", R"("c":0)"));
        row("a break-even above all",
            Script::prices().replace(R"("break_even":0.17)", R"("break_even":1.2)"));
        row("no acceptance",
            R"({"event":"eval","step":1,"acceptance":[],"tokens_per_round":1,)"
            R"("best":true,"tasks":{}})");
        row("more than all", Script::evaluated(100, 1.5));
        row("a task without figures",
            R"({"event":"eval","step":1,"acceptance":[0.5],"tokens_per_round":1,"best":true,)"
            R"("tasks":{"code":7}})");
        row("a result without a place", Script::done({}).replace(R"("path":"",)", ""));
        row("bytes", QByteArray("\xff\xfe{\0}", 5));
    }

    void aDamagedLineIsNoEvent() {
        QFETCH(const QByteArray, line);
        QVERIFY(!tuningEventOf(line));
    }

    void everyBeginOfALineIsHarmless() {
        for (const QByteArray& line :
             {Script::started(), Script::evaluated(1, 0.5), Script::done(QStringLiteral("/a"))})
            for (qsizetype length = 0; length < line.size(); ++length)
                QVERIFY(!tuningEventOf(line.left(length)));
    }

    void eventsMakeCurves() {
        const TuningRun run = runOf({Script::started(),
                                     Script::collected(1'200'000),
                                     Script::stepped(10, 5.0),
                                     Script::stepped(20, 4.0),
                                     Script::evaluated(20, 0.4),
                                     Script::stepped(30, 3.0),
                                     Script::evaluated(30, 0.3, false)});
        QVERIFY(run.phase == TuningPhase::Training);
        QCOMPARE(run.losses, std::vector<LossPoint>({{10, 5.0}, {20, 4.0}, {30, 3.0}}));
        QCOMPARE(run.evaluations.size(), std::size_t(2));
        QCOMPARE(run.best()->step, 20);
        QCOMPARE(run.newest()->step, 30);
        QCOMPARE(run.plannedSteps(), 1000);
    }

    void aSavedStateMeansThatItTrains() {
        const TuningRun run =
            runOf({Script::started(), Script::collected(1'200'000), Script::checkpoint()});
        QVERIFY(run.phase == TuningPhase::Training);
    }

    void whatIsTrainedAgainTakesThePlaceOfWhatWasLost() {
        const TuningRun run = runOf({Script::stepped(10, 5.0),
                                     Script::evaluated(10, 0.1),
                                     Script::stepped(20, 4.0),
                                     Script::stepped(30, 3.0),
                                     Script::evaluated(30, 0.4),
                                     Script::started(),
                                     Script::stepped(20, 4.5)});
        QCOMPARE(run.losses, std::vector<LossPoint>({{10, 5.0}, {20, 4.5}}));
        QCOMPARE(run.evaluations.size(), std::size_t(1));
        QCOMPARE(run.best()->step, 10);
    }

    void whereTimeDecidesThePartIsThatOfTheTime() {
        TuningRun run = runOf({Script::started(), Script::collected(300'000)});
        QCOMPARE(run.collectedPart(), 0.25);
        run.facts->minutes = 100.0; // 35 of them for answers
        run.collected->secondsLeft = 7.0 * 60.0;
        QCOMPARE(run.collectedPart(), 0.8);
        run.collected->secondsLeft = 1e9;
        QCOMPARE(run.collectedPart(), 0.25);
        QCOMPARE(TuningRun::kCollectShare, engine::TuningPlan::kCollectShare);
        QCOMPARE(TuningRun().collectedPart(), 0.0);
    }

    void theProfilesHaveTheTokensOfTheCommand() {
        for (const auto& [length, name] : {std::pair(TuningLength::Quick, "quick"),
                                           std::pair(TuningLength::Full, "full"),
                                           std::pair(TuningLength::Overnight, "overnight")}) {
            TuningChoice choice;
            choice.length = length;
            QCOMPARE(choice.answerTokens(),
                     qint64(engine::planOfProfile(name).value().answerTokens));
            QVERIFY(argumentsOf(choice, {}).contains(QLatin1String(name)));
        }
    }

    void whatCannotPayHasNoBreakEven() {
        const auto prices = read<TuningPrices>(
            Script::prices().replace(R"("break_even":0.17)", R"("break_even":null)"));
        QCOMPARE(prices.draft, 0.05);
        QVERIFY(!prices.breakEven);
    }

    void promptsAreWrittenBeforeTheyAreAnswered() {
        TuningRun run = runOf({Script::started(), Script::prices(), Script::selfPrompts(120)});
        QVERIFY(run.phase == TuningPhase::Writing);
        QCOMPARE(run.selfPrompts->planned, 500);
        QCOMPARE(run.prices->draft, 0.05);
        run = runOf({Script::selfPrompts(500), Script::collected(100)});
        QVERIFY(run.phase == TuningPhase::Collecting);
    }

    void chatsAndPromptsOfItsOwnAreToldToTheProgram() {
        TuningChoice choice;
        choice.model = {QStringLiteral("/m"), QStringLiteral("M"), false, 64};
        QVERIFY(!choice.hasPrompts());
        choice.selfPrompts = 500;
        QVERIFY(choice.hasPrompts());
        QVERIFY(!hasPromptsToCompare(choice));
        const QString alone = argumentsOf(choice, QStringLiteral("/a/out")).join(u' ');
        QVERIFY(alone.contains(QStringLiteral("--self-prompts 500")));
        QVERIFY(!alone.contains(QStringLiteral("--data")));
        choice.usesChats = true;
        choice.data = {QStringLiteral("/x"), QStringLiteral("/y")};
        QVERIFY(hasPromptsToCompare(choice));
        const auto read = tuningChoiceOf(toJson(choice));
        QVERIFY(read);
        const QString all = argumentsOf(*read, QStringLiteral("/a/out")).join(u' ');
        QVERIFY(all.contains(QStringLiteral(
            "--data /x --data /y --data /a/chats.jsonl --licence unknown --licence unknown "
            "--licence the user's own --self-prompts 500")));
    }

    void aComparisonIsToldWhatItNeeds() {
        TuningChoice choice;
        choice.model = {QStringLiteral("/m"), QStringLiteral("M"), true, 64};
        choice.data = {QStringLiteral("/x")};
        choice.usesChats = true;
        QCOMPARE(argumentsOfComparison(choice, QStringLiteral("/a/out")).join(u' '),
                 QStringLiteral(
                     "compare --json --model /m --planted --data /x --data /a/chats.jsonl "
                     "--held-out --total 18 --max-tokens 96 --draft-adapter /a/out --decoders "
                     "vanilla,with=auto,without=auto --set without.draft_adapter=off"));
    }

    void aChoiceComesBackFromTheDisk() {
        TuningChoice choice;
        choice.model = {QStringLiteral("/m"), QStringLiteral("M"), true, 64, 7000, 70, true};
        choice.data = {QStringLiteral("/a b"), QStringLiteral("/c")};
        choice.length = TuningLength::Minutes;
        choice.minutes = 25;
        choice.isUsed = false;
        const auto read = tuningChoiceOf(toJson(choice));
        QVERIFY(read);
        QCOMPARE(argumentsOf(*read, QStringLiteral("/out")),
                 QStringList({"tune",
                              "--json",
                              "--model",
                              "/m",
                              "--planted",
                              "--out",
                              "/out",
                              "--data",
                              "/a b",
                              "--data",
                              "/c",
                              "--profile",
                              "overnight",
                              "--minutes",
                              "25"}));
        QCOMPARE(toJson(*read), toJson(choice));
        QVERIFY(read->model.isFloat32);
        QVERIFY(!tuningChoiceOf(QJsonObject()));
    }
};

QTEST_GUILESS_MAIN(TuningEventTest)
#include "tuning_event_test.moc"
