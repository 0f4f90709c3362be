// SPDX-License-Identifier: Apache-2.0
// The skip sets that a run has found, and the file in which its report hands them on.
#include "engine/decoding/skip_sets/skip_set_exchange.h"
#include "engine/experiments/report/write_report.h"
#include "tests/engine/experiments/report/searched_run.h"
#include "tests/support/made_up_stream.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

constexpr int kLayers = 5;

StoredSkipSet foundSet(int mlp) {
    return {.set = {{1}, {mlp}},
            .score = 0.75,
            .skipRatio = 0.25,
            .decoder = "bayes, Own search",
            .savedAt = 1'767'323'045, // 2026-01-02 03:04:05
            .trials = 30};
}

/// Two decoders along the prompts of one task: the fast one has the set of the lower score, and
/// finds two of them.
RunFolder twoDecoders(const std::filesystem::path& path) {
    RecipeStage stage{
        .name = "run",
        .variants = {{.name = "slow", .decoder = "swift"}, {.name = "fast", .decoder = "swift"}}};
    stage.hasBaseline = false;
    stage.isTwice = false;
    const auto fill = [](const PlannedShard&, ShardResult& result) {
        for (const bool isFast : {false, true}) {
            ShardAnswer answer;
            answer.variant = isFast ? "fast" : "slow";
            answer.task = "code";
            answer.tokens = 10;
            answer.decodeMs = isFast ? 100.0 : 200.0;
            result.answers.push_back(answer);
            for (const double score : {0.75, isFast ? 0.5 : 0.875}) {
                ShardPlan plan;
                plan.variant = answer.variant;
                plan.task = "code";
                plan.attention = {isFast ? 2 : 1};
                plan.score = score;
                result.plans.push_back(plan);
            }
        }
    };
    return finishedRun(path, recipeOf({stage}), {"code"}, {runModel("tiny", "aa", kLayers)}, fill);
}

} // namespace

class FoundSetsTest : public QObject {
    Q_OBJECT

private slots:

    void aSearchBeforehandGivesTheSetOfItsTask() {
        const TemporaryFolder folder;
        const RunFolder run = searchedRun(folder.path() / "run", {runModel("tiny", "aa", kLayers)});
        const std::vector<FoundSkipSet> wanted = {{"code", "tiny", "aa", foundSet(1)},
                                                  {"story", "tiny", "aa", foundSet(1)}};
        QVERIFY(foundSets(run).value() == wanted);
    }

    void ofSeveralDecodersTheFastestHasTheSet() {
        const TemporaryFolder folder;
        const auto found = foundSets(twoDecoders(folder.path() / "run")).value();
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].stored.set.attention, std::vector<int>{2});
        QCOMPARE(found[0].stored.score, 0.5); // its last one
        QCOMPARE(found[0].stored.decoder, std::string("swift, Own search"));
    }

    void aStreamAtWorkHasThoseOfThePromptsThatAreDone() {
        const TemporaryFolder folder;
        MadeUpStream stream(folder.path() / "run", {"code", "story"}, 1);
        QVERIFY(foundSets(stream.folder).value().empty());
        stream.findSet(0, {1}, {2}, 0.0); // a start set, which nobody has scored
        stream.findSet(0, {1, 3}, {2}, 0.75);
        stream.answer(0);
        const auto found = foundSets(stream.folder).value();
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].task, std::string("code"));
        QCOMPARE(found[0].stored.set.attention, (std::vector<int>{1, 3}));
    }

    void theFileOfAReportIsImportedAsItWasFound() {
        const TemporaryFolder folder;
        const RunFolder run = searchedRun(folder.path() / "run", {runModel("tiny", "aa", kLayers)});
        const auto report = run.path() / "report";
        QVERIFY(writeReport(report, {}, "{}", foundSets(run).value()).hasValue());
        const auto imports = readSkipSetImport(report / kFoundSetsName, kLayers, "aa");
        QVERIFY2(imports.hasValue(), imports ? "" : imports.error().message.c_str());
        QVERIFY(imports.value().leftOut.empty());
        QVERIFY((imports.value().sets ==
                 SkipSetsByTask{{"code", foundSet(1)}, {"story", foundSet(1)}}));
        // It is of the published shape, too.
        const auto plan = readSkipSetFile(report / kFoundSetsName, kLayers, "story");
        QVERIFY2(plan.hasValue(), plan ? "" : plan.error().message.c_str());
        QVERIFY(skipSetOf(plan.value()) == foundSet(1).set);
    }

    void eachModelGetsItsOwnSets() {
        const TemporaryFolder folder;
        const RunFolder run =
            searchedRun(folder.path() / "run",
                        {runModel("tiny", "aa", kLayers), runModel("large", "bb", kLayers)});
        const auto file = folder.write("sets.json", foundSetsJson(foundSets(run).value()));
        const auto imports = readSkipSetImport(file, kLayers, "bb");
        QVERIFY((imports.value().sets ==
                 SkipSetsByTask{{"code", foundSet(2)}, {"story", foundSet(2)}}));
        QCOMPARE(imports.value().leftOut.size(), std::size_t{2});
        QVERIFY(imports.value().leftOut[0].find("another model (tiny)") != std::string::npos);
        QVERIFY(readSkipSetFile(file, kLayers, "large_code").hasValue());
    }

    void setsThatTheModelCannotHaveAreLeftOut() {
        const TemporaryFolder folder;
        const RunFolder run = searchedRun(folder.path() / "run", {runModel("tiny", "aa", 1)});
        QVERIFY(foundSets(run).value().empty());
    }

    void aDamagedPartIsLeftOut() {
        const TemporaryFolder folder;
        const RunFolder run = searchedRun(folder.path() / "run", {runModel("tiny", "aa", kLayers)});
        folder.write("run/shards/0000.json", "broken"); // the search for the first task
        const auto found = foundSets(run).value();
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(found[0].stored.set.attention, std::vector<int>{2}); // SWIFT's own
        QCOMPARE(found[1].stored.set.attention, std::vector<int>{1});
    }

    void aReportWithoutSetsHasNoFileOfThem() {
        const TemporaryFolder folder;
        QVERIFY(writeReport(folder.path(), {}, "{}").hasValue());
        QVERIFY(!std::filesystem::exists(folder.path() / kFoundSetsName));
    }
};

QTEST_APPLESS_MAIN(FoundSetsTest)
#include "found_sets_test.moc"
