// SPDX-License-Identifier: Apache-2.0
// What CLaSp and KnapSpec draft with, on networks whose right answer is known and at made-up
// prices: no clock of the machine is asked.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "tests/support/file_content.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/priced_transformer.h"
#include "tests/support/transformers/spy_transformer.h"

#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace engine;
using support::PricedTransformer;
using test_support::TemporaryFolder;

namespace {

constexpr int kLayers = 10;
constexpr support::QuietLayers kQuiet = {2, 6, 1e-3F}; // four of eight inner layers
constexpr int kQuietLayers = 4;
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9};

Transformer& model() {
    static const std::unique_ptr<Transformer> made = support::quietModel(kLayers, 31, kQuiet);
    return *made;
}

/// A decoder at made-up prices.
struct Made {
    PricedTransformer priced{model()};
    std::unique_ptr<Decoder> decoder;

    Made(const std::string& name, const SettingValues& settings, SkipSetMemory* memory = nullptr)
        : decoder(support::openDecoder(name,
                                       {.transformer = priced,
                                        .contextLength = 240,
                                        .settings = settings,
                                        .memory = memory,
                                        .clock = priced.clock()})) {}

    std::vector<DecodeStep> answer(int tokens, std::string_view task = "test") {
        return support::answer(*decoder, {.tokens = kPrompt, .maxTokens = tokens, .task = task});
    }
};

bool skipsExactlyTheQuietLayers(const LayerPlan& plan) {
    for (int layer = 0; layer < kLayers; ++layer) {
        const bool isQuiet = layer >= kQuiet.first && layer < kQuiet.end;
        if (plan.runsAttention(layer) == isQuiet || plan.runsMlp(layer) == isQuiet)
            return false;
    }
    return true;
}

std::vector<int> roundsOfUpdates(const std::vector<DecodeStep>& steps) {
    std::vector<int> rounds;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (support::tableOf(steps[i], "front") != nullptr)
            rounds.push_back(static_cast<int>(i));
    return rounds;
}

std::vector<PlanChange> plansOf(const std::vector<DecodeStep>& steps) {
    std::vector<PlanChange> plans;
    for (const DecodeStep& step : steps)
        plans.insert(plans.end(), step.search.planChanges.begin(), step.search.planChanges.end());
    return plans;
}

Error errorOf(const std::string& name, const SettingValues& settings, Transformer& transformer) {
    const auto made = support::registry().make(
        name, {.transformer = transformer, .contextLength = 100, .settings = settings});
    ENGINE_CHECK(!made.hasValue(), "{} took impossible settings", name);
    return made.error();
}

} // namespace

class ClaspTest : public QObject {
    Q_OBJECT

private slots:
    void claspDraftsWithoutTheQuietLayersFromTheFirstRoundOn();
    void knapSpecStopsWhereSkippingBeginsToHarm();
    void knapSpecDraftsLongerWhereThatPays();
    void updatesComeAfterTheirInterval();
    void aWorseSetDoesNotReplaceACheckedOne();
    void aSetIsCheckedOnTokensThatItsSearchDidNotFollow();
    void theFrontIsShownBesideItsRound();
    void aPromptOfOneTokenWaitsForTheFirstPass();
    void anotherBudgetWhileRunningFindsAnotherSet();
    void impossibleBudgetsAreRefusedInASentence();
    void passesNeverChangeTheCacheUpToTheEndOfTheContext();
    void itIsCancelledBetweenPasses_data();
    void itIsCancelledBetweenPasses();
    void aCheckedSetIsStoredUnlessABetterOneIs();
    void aSetIsStoredForTheTasksThatItWasCheckedIn();
    void besideASetOfAnotherDecoderTokensCountAndNotItsScore();
    void whatACancelledAnswerHasCheckedIsStored();
    void aDamagedFileOfStoredSetsIsPutAsideAndTold_data();
    void aDamagedFileOfStoredSetsIsPutAsideAndTold();
};

void ClaspTest::claspDraftsWithoutTheQuietLayersFromTheFirstRoundOn() {
    Made made("clasp", {{"skipped", double(kQuietLayers)}, {"confidence", 0.0}});
    const auto steps = made.answer(60);
    QCOMPARE(steps.front().search.planChanges.size(), std::size_t{1});
    QVERIFY(skipsExactlyTheQuietLayers(steps.front().search.planChanges.front().plan));
    QVERIFY(steps.front().search.searchMs > 0.0);
    QCOMPARE(steps.front().planId, std::uint64_t{1});
    QVERIFY(steps.front().search.phase == DecoderPhase::Accelerate);
    int drafted = 0;
    int accepted = 0;
    double best = 0.0;
    for (const DecodeStep& step : steps) {
        drafted += step.draft.size();
        accepted += static_cast<int>(step.path.size());
        for (const TrialRecord& trial : step.search.trials)
            best = std::max(best, trial.score);
    }
    QVERIFY(accepted >= 0.95 * drafted && drafted > 40);
    QVERIFY(best >= 0.95); // checked as soon as there were 16 tokens
    QCOMPARE(plansOf(steps).size(), std::size_t{1});
}

/// By itself: most allows nearly everything to be left out.
void ClaspTest::knapSpecStopsWhereSkippingBeginsToHarm() {
    Made made("knapspec", {{"most", 0.9}});
    const auto steps = made.answer(80);
    const auto plans = plansOf(steps);
    QVERIFY(!plans.empty());
    QVERIFY(skipsExactlyTheQuietLayers(plans.front().plan));
    QVERIFY(skipsExactlyTheQuietLayers(plans.back().plan));
}

/// Short drafts where a row of the verification costs as much as a pass, long ones where it is
/// free.
void ClaspTest::knapSpecDraftsLongerWhereThatPays() {
    const auto longestDraft = [](double rowPart) {
        Made made("knapspec", {{"most", 0.6}, {"confidence", 0.0}, {"interval", 8.0}});
        made.priced.prices.rowPart = rowPart;
        int longest = 0;
        const auto steps = made.answer(120);
        for (std::size_t i = steps.size() / 2; i < steps.size(); ++i)
            longest = std::max(longest, steps[i].draft.size());
        return longest;
    };
    QVERIFY(longestDraft(0.0) > longestDraft(0.6));
}

void ClaspTest::updatesComeAfterTheirInterval() {
    const SettingValues unchecked = {
        {"check", 0.0}, {"interval", 5.0}, {"max_draft", 1.0}, {"confidence", 0.0}};
    for (const char* name : {"clasp", "knapspec"}) {
        SettingValues settings = unchecked;
        settings.emplace(std::string(name) == "clasp" ? "skipped" : "most",
                         std::string(name) == "clasp" ? 2.0 : 0.3);
        Made made(name, settings);
        auto rounds = roundsOfUpdates(made.answer(30));
        QVERIFY(rounds.size() >= 3);
        QCOMPARE(rounds[0], 0);
        if (std::string(name) == "clasp") // KnapSpec also looks again as the text grows
            for (std::size_t i = 1; i < rounds.size(); ++i)
                QCOMPARE(rounds[i] - rounds[i - 1], 5);
    }
}

/// Six layers must go where only four are quiet: the sets change from token to token, but none that
/// predicts fewer of the newest tokens than the present one is used.
void ClaspTest::aWorseSetDoesNotReplaceACheckedOne() {
    Made made("clasp", {{"skipped", 6.0}, {"interval", 2.0}});
    int replaced = 0;
    int kept = 0;
    for (const DecodeStep& step : made.answer(150)) {
        double present = -1.0;
        for (const TrialRecord& trial : step.search.trials) {
            if (trial.kind == "rescore")
                present = trial.score;
            if (trial.kind != "stream" || present < 0.0)
                continue;
            QCOMPARE(trial.isBest, trial.score >= present);
            QCOMPARE(step.search.planChanges.size(), std::size_t(trial.isBest ? 1 : 0));
            ++(trial.isBest ? replaced : kept);
        }
    }
    qInfo("%d sets replaced another, %d did not", replaced, kept);
    QVERIFY(kept > 0);
}

/// The search follows the newest token.
void ClaspTest::aSetIsCheckedOnTokensThatItsSearchDidNotFollow() {
    Made made("clasp", {{"skipped", 6.0}, {"interval", 2.0}, {"references", 1.0}});
    std::vector<TokenId> before;
    int checked = 0;
    for (const DecodeStep& step : made.answer(60)) {
        for (const TrialRecord& trial : step.search.trials) {
            const auto count = static_cast<std::ptrdiff_t>(trial.window.size());
            QVERIFY(std::equal(trial.window.begin(),
                               trial.window.end(),
                               before.end() - 1 - count,
                               before.end() - 1));
            ++checked;
        }
        before.insert(before.end(), step.tokens.begin(), step.tokens.end());
    }
    QVERIFY(checked > 0);
}

void ClaspTest::theFrontIsShownBesideItsRound() {
    Made made("knapspec", {{"most", 0.5}});
    const auto steps = made.answer(10);
    const StepTable* front = support::tableOf(steps.front(), "front");
    QVERIFY(front != nullptr);
    QCOMPARE(front->columns.size(), std::size_t{5});
    QVERIFY(front->rows.size() > 4 && front->chosenRow >= 0);
    double before = -1.0;
    for (const auto& row : front->rows) {
        QCOMPARE(row.size(), front->columns.size());
        const double skipped = std::get<double>(row[0]);
        QVERIFY(skipped >= 1.0 && skipped <= 2.0 * (kLayers - 2));
        QVERIFY(std::get<double>(row[1]) >= 0.0);
        before = std::max(before, std::get<double>(row[4]));
    }
    const auto& chosen = front->rows[static_cast<std::size_t>(front->chosenRow)];
    QCOMPARE(std::get<double>(chosen[4]), before);
}

void ClaspTest::aPromptOfOneTokenWaitsForTheFirstPass() {
    for (const char* name : {"clasp", "knapspec"}) {
        Made made(name, {});
        QVERIFY(made.decoder->begin({.tokens = std::span(kPrompt).first(1)}, {}).hasValue());
        const DecodeStep first = made.decoder->step().value();
        QVERIFY(first.isPlain() && first.search.planChanges.empty());
        QVERIFY(first.search.phase == DecoderPhase::Accumulate);
        const DecodeStep second = made.decoder->step().value();
        QCOMPARE(second.search.planChanges.size(), std::size_t{1});
    }
}

void ClaspTest::anotherBudgetWhileRunningFindsAnotherSet() {
    Made made("clasp", {{"skipped", 2.0}});
    QVERIFY(made.decoder->begin({.tokens = kPrompt}, {}).hasValue());
    QVERIFY(made.decoder->step().hasValue());
    const SettingValues given = {{"skipped", double(kQuietLayers)}};
    const DecoderInfo info = support::registry().info("clasp").value();
    QVERIFY(made.decoder->configure(resolveSettings(info, given).value(), given).hasValue());
    const DecodeStep next = made.decoder->step().value();
    QCOMPARE(next.search.planChanges.size(), std::size_t{1});
    QVERIFY(skipsExactlyTheQuietLayers(next.search.planChanges.front().plan));
}

void ClaspTest::impossibleBudgetsAreRefusedInASentence() {
    const Error layers = errorOf("clasp", {{"skipped", 9.0}}, model());
    QCOMPARE(layers.code, ErrorCode::InvalidInput);
    QVERIFY(layers.message.find("9 layers") != std::string::npos);
    QVERIFY(layers.hint.find("1 to 8") != std::string::npos);
    const Error most = errorOf("knapspec", {{"most", 0.01}}, model());
    QCOMPARE(most.code, ErrorCode::InvalidInput);
    QVERIFY(most.hint.find("0.063") != std::string::npos); // the hint works
    Made least("knapspec", {{"most", 0.063}});
    QCOMPARE(plansOf(least.answer(4)).size(), std::size_t{1});
    const auto shallow = support::layeredModel(2, 3);
    for (const char* name : {"clasp", "knapspec"})
        QCOMPARE(errorOf(name, {}, *shallow).code, ErrorCode::Unsupported);
}

void ClaspTest::passesNeverChangeTheCacheUpToTheEndOfTheContext() {
    support::SpyTransformer spy(model());
    for (const char* name : {"clasp", "knapspec"}) {
        const auto decoder = support::openDecoder(
            name, {.transformer = spy, .contextLength = 48, .settings = {{"interval", 1.0}}});
        const auto steps =
            support::answer(*decoder, {.tokens = kPrompt, .maxTokens = 200, .task = "end"});
        QVERIFY(roundsOfUpdates(steps).size() > 1);
        QCOMPARE(decoder->remainingContext(), 0);
    }
}

void ClaspTest::itIsCancelledBetweenPasses_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("clasp") << "clasp";
    QTest::newRow("knapspec") << "knapspec";
}

void ClaspTest::itIsCancelledBetweenPasses() {
    QFETCH(const QString, name);
    Made made(name.toStdString(), {});
    std::stop_source source;
    QVERIFY(made.decoder->begin({.tokens = kPrompt}, {.stop = source.get_token()}).hasValue());
    source.request_stop();
    const double before = made.priced.nowMs;
    const auto step = made.decoder->step();
    QVERIFY(!step.hasValue());
    QCOMPARE(step.error().code, ErrorCode::Cancelled);
    QCOMPARE(made.priced.nowMs, before); // no pass was made
    QVERIFY(made.decoder->begin({.tokens = kPrompt}, {}).hasValue());
    QVERIFY(made.decoder->step().hasValue());
}

void ClaspTest::aCheckedSetIsStoredUnlessABetterOneIs() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef0123456789abcdef", kLayers);
    Made made("clasp", {{"skipped", double(kQuietLayers)}}, &memory);
    made.answer(8);
    QVERIFY(made.decoder->endAnswer().hasValue());
    QVERIFY(!memory.find("test").value().has_value()); // too short to be checked
    made.answer(60);
    QVERIFY(made.decoder->endAnswer().hasValue());
    const auto stored = memory.find("test").value();
    QVERIFY(stored.has_value());
    QCOMPARE(stored->decoder, std::string("clasp"));
    QVERIFY(stored->score >= 0.95);
    QCOMPARE(stored->set.mlp, (std::vector<int>{2, 3, 4, 5}));
    Made worse("clasp", {{"skipped", 8.0}}, &memory);
    worse.answer(60);
    QVERIFY(worse.decoder->endAnswer().hasValue());
    QCOMPARE(memory.find("test").value(), stored);
}

void ClaspTest::aSetIsStoredForTheTasksThatItWasCheckedIn() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef0123456789abcdef", kLayers);
    const StoredSkipSet best{.set = {{2}, {2}}, .score = 1.0, .skipRatio = 0.1, .decoder = "swift"};
    QVERIFY(memory.store("test", best).hasValue());
    Made made("clasp", {{"skipped", double(kQuietLayers)}}, &memory);
    const auto storedBehind = [&](int tokens, const std::string& task) {
        made.answer(tokens, task);
        ENGINE_CHECK(made.decoder->endAnswer().hasValue(), "an answer's end");
        return memory.find(task).value().has_value();
    };
    QVERIFY(storedBehind(60, "test"));
    QCOMPARE(memory.find("test").value()->decoder, best.decoder);
    QVERIFY(!storedBehind(8, "another")); // what was counted is of the first task
    QVERIFY(storedBehind(60, "another"));
    QVERIFY(storedBehind(60, "a third"));
}

/// The scores say the opposite of what the sets predict.
void ClaspTest::besideASetOfAnotherDecoderTokensCountAndNotItsScore() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef0123456789abcdef", kLayers);
    const std::vector<int> loud = {1, 6, 7, 8};
    const StoredSkipSet poor{
        .set = {loud, loud}, .score = 7.0, .skipRatio = 0.5, .decoder = "self-sd"};
    const StoredSkipSet good{.set = {{2}, {2}}, .score = 0.1, .skipRatio = 0.1, .decoder = "swift"};
    QVERIFY(memory.store({{"poor", poor}, {"good", good}}).hasValue());
    Made made("clasp", {{"skipped", double(kQuietLayers)}}, &memory);
    made.answer(60, "poor");
    // A cancelled answer may make no pass, so the stored set stays for now.
    QCOMPARE(made.decoder->storeStatistics(), std::vector<std::string>());
    QCOMPARE(memory.find("poor").value()->decoder, poor.decoder);
    QVERIFY(made.decoder->endAnswer().hasValue());
    QCOMPARE(memory.find("poor").value()->decoder, std::string("clasp"));
    made.answer(60, "good");
    QVERIFY(made.decoder->endAnswer().hasValue());
    QCOMPARE(memory.find("good").value(), std::optional(good));
}

void ClaspTest::whatACancelledAnswerHasCheckedIsStored() {
    const TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef0123456789abcdef", kLayers);
    Made made("clasp", {{"skipped", double(kQuietLayers)}}, &memory);
    made.answer(60);
    QCOMPARE(made.decoder->storeStatistics(), std::vector<std::string>());
    QVERIFY(memory.find("test").value().has_value());
}

void ClaspTest::aDamagedFileOfStoredSetsIsPutAsideAndTold_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("broken") << QByteArray("{ broken");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("of another model")
        << QByteArray(R"({"format":1,"layers":99,"tasks":{"test":{"attention":[98],"mlp":[]}}})");
}

void ClaspTest::aDamagedFileOfStoredSetsIsPutAsideAndTold() {
    QFETCH(QByteArray, content);
    for (const char* name : {"clasp", "knapspec"}) {
        const TemporaryFolder folder;
        SkipSetMemory memory(folder.path(), "0123456789abcdef0123456789abcdef", kLayers);
        std::filesystem::create_directories(memory.path().parent_path());
        std::ofstream(memory.path()) << content.toStdString();
        Made made(name, {}, &memory);
        std::size_t tokens = 0;
        for (const DecodeStep& step : made.answer(60))
            tokens += step.tokens.size();
        QCOMPARE(tokens, std::size_t{60});
        const auto end = made.decoder->endAnswer();
        QVERIFY(end.hasValue());
        QCOMPARE(end.value().notes.size(), std::size_t{1});
        const std::string& note = end.value().notes.front();
        const std::string aside = memory.path().string() + ".broken-1";
        QVERIFY2(note.find(std::filesystem::path(aside).filename().string()) != std::string::npos,
                 note.c_str());
        QCOMPARE(support::fileBytes(QString::fromStdString(aside)), content);
        QCOMPARE(memory.find("test").value()->decoder, std::string(name));
    }
}

QTEST_GUILESS_MAIN(ClaspTest)
#include "clasp_test.moc"
