// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/row_collector.h"
#include "tests/engine/tuning/tuning_rows.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <numeric>
#include <random>
#include <set>

using namespace engine;
using support::Ids;

namespace {

constexpr int kAnswer = 12;

/// Of an answer of kAnswer tokens.
constexpr int kAnswerRows = kAnswer - 1;

Transformer& model() {
    static const auto made = support::layeredModel(2, 7);
    return *made;
}

/// Prompts of each split; the task of each is a name of its own.
std::vector<TuningPrompt> promptsOf(int training, int validation, int test) {
    std::map<RowSplit, int> wanted = {
        {RowSplit::Training, training}, {RowSplit::Validation, validation}, {RowSplit::Test, test}};
    std::mt19937 random(11);
    std::vector<TuningPrompt> prompts;
    for (int i = 0; static_cast<int>(prompts.size()) < training + validation + test; ++i) {
        const std::string id = "prompt " + std::to_string(i);
        const RowSplit split = splitOf(id);
        if (--wanted[split] >= 0)
            prompts.push_back({split, id, support::randomIds(random, 3 + random() % 6)});
    }
    return prompts;
}

/// The tokens of an answer.
Ids answerOf(const AnswerRows& rows) {
    Ids ids(rows.tokens.begin() + rows.promptRows, rows.tokens.end());
    ids.push_back(rows.last);
    return ids;
}

/// A run's folder and what collecting works with.
struct Collecting {
    test_support::TemporaryFolder folder;
    CollectPlan plan = {.answerTokens = 300, .longestAnswer = kAnswer, .seed = 3};
    std::vector<TuningPrompt> prompts = promptsOf(5, 2, 2);
    Ids endIds = {};
    int contextLength = 64;
    double clockMs = 0.0;
    double keepSeconds = 300.0;
    std::function<void(const CollectProgress&)> onProgress = {};

    RowStore store() const { return tuning_rows::openStore(folder.path()); }

    Result<void> run(const std::stop_token& stop = {}) {
        RowStore rows = store();
        return collectRows(rows,
                           folder.path(),
                           tuning_rows::kRun,
                           plan,
                           {.transformer = model(),
                            .contextLength = contextLength,
                            .prompts = prompts,
                            .endIds = endIds,
                            .nowMs = [this] { return clockMs; },
                            .onProgress = onProgress,
                            .stop = stop,
                            .keepSeconds = keepSeconds});
    }

    /// Runs until so many prompts more have been answered.
    Result<void> runUntil(int reports) {
        std::stop_source source;
        const auto told = onProgress;
        onProgress = [&](const CollectProgress& progress) {
            if (told)
                told(progress);
            if (--reports == 0)
                source.request_stop();
        };
        auto result = run(source.get_token());
        onProgress = told;
        return result;
    }

    /// The answers to a prompt, in the order in which they were collected.
    std::vector<Ids> answersTo(const TuningPrompt& prompt) const {
        const RowStore rows = store();
        std::vector<Ids> answers;
        for (const RowSplit split : {RowSplit::Training, RowSplit::Validation, RowSplit::Test})
            for (const TextPlace place : rows.texts(split))
                if (rows.facts(place).task == prompt.task)
                    answers.push_back(answerOf(rows.read(place).value()));
        return answers;
    }
};

std::vector<std::string> undisturbedHashes() {
    Collecting undisturbed;
    const auto done = undisturbed.run();
    ENGINE_CHECK(done.hasValue(), "{}", done.error().message);
    return undisturbed.store().hashes();
}

} // namespace

class RowCollectorTest : public QObject {
    Q_OBJECT

private slots:
    void answersAreVanillasOwnOfTheTrainingAndTheValidationSplit();
    void promptsOfTheTestSplitAreNeverAnswered();
    void eachPromptIsAnsweredGreedilyOnceAndThenByDraws();
    void howeverFewAnswersThereAreSomeAreHeldOut();
    void progressCountsTokensOfTraining();
    void rowsDoNotDependOnWhereARunWasStopped_data();
    void rowsDoNotDependOnWhereARunWasStopped();
    void aKilledRunBeginsItsShardAgain();
    void aKillLosesNoMoreThanItMay();
    void whatIsKeptMeanwhileChangesNoRow_data();
    void whatIsKeptMeanwhileChangesNoRow();
    void damagedLeftoversAreMadeAgain();
    void anotherSeedGivesOtherRows();
    void nothingIsCollectedWhenAllIsThere();
    void aLimitOfTimeEndsIt();
    void aPauseDoesNotCountAsTime();
    void withoutAPromptThatFitsThereIsNothingToTrainOn_data();
    void withoutAPromptThatFitsThereIsNothingToTrainOn();
    void aPromptThatJustFitsIsAnswered();
    void answersOfOneTokenAreNoRowsAndEndIt();
    void passesWithoutRowsCountAcrossAStop_data();
    void passesWithoutRowsCountAcrossAStop();
};

void RowCollectorTest::answersAreVanillasOwnOfTheTrainingAndTheValidationSplit() {
    Collecting collecting;
    QVERIFY(collecting.run().hasValue());
    const RowStore store = collecting.store();
    int texts = 0;
    for (const TuningPrompt& prompt : collecting.prompts)
        for (const TextPlace place : store.texts(prompt.split)) {
            if (store.facts(place).task != prompt.task)
                continue;
            const AnswerRows rows = store.read(place).value();
            QCOMPARE(support::firstOf(rows.tokens, toSize(rows.promptRows)), prompt.tokens);
            QCOMPARE(rows.answerRows(), kAnswerRows);
            // Whatever was drawn, the teacher says what the model says there.
            Ids read = prompt.tokens;
            for (const TokenId token : answerOf(rows)) {
                const HeadSummary summary = support::freshSummary(model(), read);
                const TeacherRow& said = rows.teacher[read.size() - prompt.tokens.size()];
                QVERIFY(said.ids == summary.ids);
                read.push_back(token);
            }
            ++texts;
        }
    QVERIFY(texts > 5 * kAnswersAtOnce);
    for (const TuningPrompt& prompt : collecting.prompts)
        if (prompt.split != RowSplit::Test)
            QCOMPARE(collecting.answersTo(prompt).front(),
                     support::vanillaAnswer(model(), prompt.tokens, kAnswer));
}

void RowCollectorTest::promptsOfTheTestSplitAreNeverAnswered() {
    Collecting collecting;
    collecting.plan.answerTokens = 1000; // some passes
    QVERIFY(collecting.run().hasValue());
    for (const TuningPrompt& prompt : collecting.prompts)
        QCOMPARE(collecting.answersTo(prompt).empty(), prompt.split == RowSplit::Test);
    QVERIFY(collecting.store().texts(RowSplit::Test).empty());
    QVERIFY(collecting.store().trainingTokens() >= 1000);
}

void RowCollectorTest::eachPromptIsAnsweredGreedilyOnceAndThenByDraws() {
    Collecting collecting;
    // One token more than pass 0 gives.
    collecting.plan.answerTokens = 5 * kAnswersAtOnce * kAnswerRows + 1;
    QVERIFY(collecting.run().hasValue());
    QCOMPARE(collecting.store().trainingTokens(),
             std::int64_t{6 * kAnswersAtOnce * kAnswerRows}); // a prompt of pass 1
    int answeredTwice = 0;
    for (const TuningPrompt& prompt : collecting.prompts) {
        const std::vector<Ids> answers = collecting.answersTo(prompt);
        if (prompt.split == RowSplit::Test)
            continue;
        if (prompt.split == RowSplit::Validation)
            QCOMPARE(answers.size(), toSize(kAnswersOfValidation));
        else if (answers.size() != toSize(kAnswersAtOnce))
            ++answeredTwice;
        const Ids greedy = support::vanillaAnswer(model(), prompt.tokens, kAnswer);
        QCOMPARE(answers.front(), greedy);
        QCOMPARE(std::set<Ids>(answers.begin(), answers.end()).size(), answers.size());
    }
    QCOMPARE(answeredTwice, 1);
}

void RowCollectorTest::howeverFewAnswersThereAreSomeAreHeldOut() {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        Collecting few;
        few.plan.seed = seed;
        few.plan.answerTokens = 1;
        QVERIFY(few.run().hasValue());
        QVERIFY(few.store().trainingTokens() > 0);
        QVERIFY(!few.store().texts(RowSplit::Validation).empty());
        Collecting stopped;
        stopped.plan = few.plan;
        (void)stopped.runUntil(1);
        QVERIFY(stopped.run().hasValue());
        QCOMPARE(stopped.store().hashes(), few.store().hashes());
    }
}

void RowCollectorTest::progressCountsTokensOfTraining() {
    Collecting collecting;
    std::vector<CollectProgress> told;
    collecting.onProgress = [&](const CollectProgress& progress) {
        collecting.clockMs += 500.0;
        told.push_back(progress);
    };
    QVERIFY(collecting.run().hasValue());
    QVERIFY(told.size() >= 7);
    std::int64_t before = 0;
    for (const CollectProgress& progress : told) {
        QCOMPARE(progress.plannedTokens, std::int64_t{300});
        QVERIFY(progress.answerTokens >= before);
        before = progress.answerTokens;
    }
    QCOMPARE(before, collecting.store().trainingTokens());
    QVERIFY(before >= 300);
    QVERIFY(told[told.size() - 2].answerTokens < 300);
    const double seconds = 0.5 * static_cast<double>(told.size() - 1);
    QCOMPARE(told.back().tokensPerSecond, static_cast<double>(before) / seconds);
}

void RowCollectorTest::rowsDoNotDependOnWhereARunWasStopped_data() {
    QTest::addColumn<int>("reports");
    for (const int reports : {1, 2, 3, 7})
        QTest::addRow("%d", reports) << reports;
}

void RowCollectorTest::rowsDoNotDependOnWhereARunWasStopped() {
    QFETCH(const int, reports);
    Collecting stopped;
    int stops = 0;
    while (true) {
        const auto result = stopped.runUntil(reports);
        if (result)
            break;
        QCOMPARE(result.error().code, ErrorCode::Cancelled);
        QVERIFY(std::filesystem::exists(RowStore::unfinishedFile(stopped.folder.path())));
        QVERIFY(++stops < 50); // each run gets further
    }
    QVERIFY(stops > 0);
    QCOMPARE(stopped.store().hashes(), undisturbedHashes());
    QVERIFY(!std::filesystem::exists(RowStore::unfinishedFile(stopped.folder.path())));
}

void RowCollectorTest::aKilledRunBeginsItsShardAgain() {
    struct Killed {};

    Collecting killed;
    QVERIFY(!killed.runUntil(2).hasValue());
    int reports = 0;
    killed.onProgress = [&](const CollectProgress&) {
        if (++reports == 2)
            throw Killed();
    };
    QVERIFY_THROWS_EXCEPTION(Killed, (void)killed.run());
    killed.onProgress = {};
    QVERIFY(killed.run().hasValue());
    QCOMPARE(killed.store().hashes(), undisturbedHashes());
}

/// Each prompt takes ten seconds, so what is there is kept behind every third one.
void RowCollectorTest::aKillLosesNoMoreThanItMay() {
    struct Killed {};

    Collecting undisturbed;
    int all = 0;
    undisturbed.onProgress = [&](const CollectProgress&) { ++all; };
    QVERIFY(undisturbed.run().hasValue());
    QVERIFY(all > 5);

    Collecting killed;
    killed.keepSeconds = 25.0;
    int reports = 0;
    killed.onProgress = [&](const CollectProgress&) {
        killed.clockMs += 10e3;
        if (++reports == 5)
            throw Killed();
    };
    QVERIFY_THROWS_EXCEPTION(Killed, (void)killed.run());
    reports = 0;
    killed.onProgress = [&](const CollectProgress&) { ++reports; };
    QVERIFY(killed.run().hasValue());
    QCOMPARE(reports, all - 3);
    QCOMPARE(killed.store().hashes(), undisturbed.store().hashes());
}

void RowCollectorTest::whatIsKeptMeanwhileChangesNoRow_data() {
    QTest::addColumn<double>("keepSeconds");
    QTest::newRow("behind every prompt") << 0.0;
    QTest::newRow("behind every second one") << 15.0;
}

void RowCollectorTest::whatIsKeptMeanwhileChangesNoRow() {
    QFETCH(const double, keepSeconds);
    Collecting keeping;
    keeping.keepSeconds = keepSeconds;
    std::vector<CollectProgress> told;
    keeping.onProgress = [&](const CollectProgress& progress) {
        keeping.clockMs += 10e3;
        told.push_back(progress);
    };
    QVERIFY(keeping.run().hasValue());
    QCOMPARE(keeping.store().hashes(), undisturbedHashes());
    for (std::size_t i = 1; i < told.size(); ++i)
        QVERIFY(told[i].answerTokens >= told[i - 1].answerTokens);
    QVERIFY(told.back().tokensPerSecond > 0.0);

    Collecting timed; // a limit of time counts what was kept once
    timed.prompts = promptsOf(6, 0, 0);
    timed.keepSeconds = keepSeconds;
    timed.plan.answerTokens = 1'000'000'000;
    timed.plan.seconds = 35.0;
    timed.onProgress = [&](const CollectProgress&) { timed.clockMs += 10e3; };
    QVERIFY(timed.run().hasValue());
    QCOMPARE(timed.store().seconds(), 40.0);
    QCOMPARE(timed.store().texts(RowSplit::Training).size(), toSize(4 * kAnswersAtOnce));
}

void RowCollectorTest::damagedLeftoversAreMadeAgain() {
    Collecting stopped;
    QVERIFY(!stopped.runUntil(3).hasValue());
    tuning_rows::damage(RowStore::unfinishedFile(stopped.folder.path()), 100);
    QVERIFY(stopped.run().hasValue());
    QCOMPARE(stopped.store().hashes(), undisturbedHashes());
}

void RowCollectorTest::anotherSeedGivesOtherRows() {
    Collecting other;
    other.plan.seed = 4;
    QVERIFY(other.run().hasValue());
    QVERIFY(other.store().hashes() != undisturbedHashes());
}

void RowCollectorTest::nothingIsCollectedWhenAllIsThere() {
    Collecting collecting;
    QVERIFY(collecting.run().hasValue());
    const auto hashes = collecting.store().hashes();
    collecting.onProgress = [](const CollectProgress&) { QFAIL("a prompt was answered"); };
    QVERIFY(collecting.run().hasValue());
    QCOMPARE(collecting.store().hashes(), hashes);
}

void RowCollectorTest::aLimitOfTimeEndsIt() {
    Collecting collecting;
    collecting.prompts = promptsOf(6, 0, 0);
    collecting.plan.answerTokens = 1'000'000'000;
    collecting.plan.seconds = 35.0;
    int prompts = 0;
    collecting.onProgress = [&](const CollectProgress& progress) {
        collecting.clockMs += 10e3;
        prompts = progress.prompts;
    };
    QVERIFY(collecting.run().hasValue());
    QCOMPARE(prompts, 4);
    const RowStore store = collecting.store();
    QVERIFY(store.isComplete());
    QCOMPARE(store.seconds(), 40.0);
    QCOMPARE(store.texts(RowSplit::Training).size(), toSize(4 * kAnswersAtOnce));
}

void RowCollectorTest::aPauseDoesNotCountAsTime() {
    Collecting collecting;
    collecting.prompts = promptsOf(6, 0, 0);
    collecting.plan.answerTokens = 1'000'000'000;
    collecting.plan.seconds = 35.0;
    collecting.onProgress = [&](const CollectProgress&) { collecting.clockMs += 10e3; };
    const auto stopped = collecting.runUntil(2);
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    collecting.clockMs = 1e9;
    QVERIFY(collecting.run().hasValue());
    QCOMPARE(collecting.store().seconds(), 40.0);
    QCOMPARE(collecting.store().texts(RowSplit::Training).size(), toSize(4 * kAnswersAtOnce));
}

void RowCollectorTest::withoutAPromptThatFitsThereIsNothingToTrainOn_data() {
    QTest::addColumn<int>("training");
    QTest::addColumn<int>("others");
    QTest::addColumn<int>("contextLength");
    QTest::newRow("no prompts") << 0 << 0 << 64;
    QTest::newRow("only held out ones") << 0 << 2 << 64;
    QTest::newRow("a tiny context") << 4 << 1 << 5;
    QTest::newRow("no room at all") << 4 << 1 << 2;
}

void RowCollectorTest::withoutAPromptThatFitsThereIsNothingToTrainOn() {
    QFETCH(const int, training);
    QFETCH(const int, others);
    QFETCH(const int, contextLength);
    Collecting collecting;
    collecting.prompts = promptsOf(training, others, others);
    collecting.contextLength = contextLength;
    const auto refused = collecting.run();
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    const std::string& message = refused.error().message;
    QVERIFY(message.starts_with("Of " + std::to_string(training + 2 * others) + " prompts"));
    QVERIFY(message.back() == '.' && message.find(". ") == std::string::npos);
    QVERIFY(!refused.error().hint.empty());
    QCOMPARE(collecting.store().shardCount(), 0);
}

void RowCollectorTest::aPromptThatJustFitsIsAnswered() {
    Collecting collecting;
    collecting.prompts = promptsOf(2, 0, 0);
    std::mt19937 random(5);
    collecting.prompts[0].tokens = support::randomIds(random, 13);
    collecting.prompts[1].tokens = support::randomIds(random, 14); // one too many
    collecting.contextLength = 16;
    collecting.plan.answerTokens = 1;
    QVERIFY(collecting.run().hasValue());
    QCOMPARE(collecting.answersTo(collecting.prompts[0]).front(),
             support::vanillaAnswer(model(), collecting.prompts[0].tokens, 3));
    QVERIFY(collecting.answersTo(collecting.prompts[1]).empty());
}

void RowCollectorTest::answersOfOneTokenAreNoRowsAndEndIt() {
    Collecting collecting;
    collecting.endIds.resize(support::kTinyVocab);
    std::iota(collecting.endIds.begin(), collecting.endIds.end(), 0);
    int prompts = 0;
    collecting.onProgress = [&](const CollectProgress& progress) { prompts = progress.prompts; };
    QVERIFY(collecting.run().hasValue());
    QVERIFY(prompts >= 7); // each has had its chance
    QVERIFY(collecting.store().isComplete());
    QCOMPARE(collecting.store().answerTokens(), std::int64_t{0});
}

void RowCollectorTest::passesWithoutRowsCountAcrossAStop_data() {
    QTest::addColumn<int>("reports");
    for (const int reports : {7, 8, 13, 20})
        QTest::addRow("%d", reports) << reports;
}

/// Behind the seven prompts of pass 0 all answers end at once, so three passes more end it.
void RowCollectorTest::passesWithoutRowsCountAcrossAStop() {
    QFETCH(const int, reports);
    const auto endAnswersLater = [](Collecting& collecting, int& prompts) {
        collecting.endIds.resize(support::kTinyVocab, kNoToken);
        collecting.onProgress = [&collecting, &prompts](const CollectProgress&) {
            if (++prompts == 7)
                std::iota(collecting.endIds.begin(), collecting.endIds.end(), 0);
        };
    };
    int all = 0;
    Collecting undisturbed;
    endAnswersLater(undisturbed, all);
    QVERIFY(undisturbed.run().hasValue());
    QCOMPARE(all, 4 * 7);
    QVERIFY(undisturbed.store().trainingTokens() > 0);

    int told = 0;
    Collecting stopped;
    endAnswersLater(stopped, told);
    const auto ended = stopped.runUntil(reports);
    QVERIFY(!ended.hasValue());
    QCOMPARE(ended.error().code, ErrorCode::Cancelled);
    QVERIFY(stopped.run().hasValue());
    QCOMPARE(told, all);
    QCOMPARE(stopped.store().hashes(), undisturbed.store().hashes());
}

QTEST_GUILESS_MAIN(RowCollectorTest)
#include "row_collector_test.moc"
