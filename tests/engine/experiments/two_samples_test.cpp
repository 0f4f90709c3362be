// SPDX-License-Identifier: Apache-2.0
// Whether samples of two sides have one distribution, and what a report says of it. The expected
// statistics are those of scipy.stats.chi2_contingency (1.17) without Yates' correction, summed;
// the p-values were counted by a program of its own with the same random numbers.
#include "engine/experiments/report/analysis/measures/two_samples.h"
#include "engine/experiments/run/draw_seed.h"
#include "engine/experiments/run/shard_json.h"
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace engine;
using namespace test_support;

namespace {

using Samples = std::vector<std::vector<int>>;

bool isNear(double value, double wanted) { return std::abs(value - wanted) < 1e-9; }

/// Four against four: of the 70 ways to choose a side, two are as far apart.
const SamplePair kApart = {{{1}, {1}, {1}, {1}}, {{2}, {2}, {2}, {2}}};

/// Of two places; one sample ends behind the first. 29 of 126 ways are as far apart.
const SamplePair kMixed = {{{1, 5}, {1, 6}, {2, 5}, {1}}, {{2, 7}, {2, 7}, {1, 6}, {3, 7}, {2}}};

const SamplePair kOther = {{{4}, {4}, {5}}, {{5}, {6}, {5}}};

void addDraws(ShardResult& shard, const std::string& variant, int count, int kinds, int first) {
    for (int prompt : {0, 1})
        for (int i = 0; i < count; ++i)
            shard.draws.push_back({.variant = variant,
                                   .prompt = prompt,
                                   .seed = drawSeed(1, variant, prompt, i),
                                   .tokens = {first + i % kinds, 5}});
}

/// Two prompts of which vanilla and SWIFT have drawn 20 continuations each.
SampleRun drawnRun(int firstOfSwift) {
    SampleRun run;
    run.add({"math"}, 2, {kSwift});
    addDraws(run.shards[0], "vanilla", 20, 3, 1);
    addDraws(run.shards[0], "swift", 20, 3, firstOfSwift);
    run.recipe.verdict.kind = "equal";
    run.recipe.tables = {tableOf("variant", {"draws", "draw_p"})};
    return run;
}

} // namespace

class TwoSamplesTest : public QObject {
    Q_OBJECT

private slots:

    void theStatisticIsPearsonsSummedOverPlacesAndPairs() {
        QVERIFY(isNear(twoSampleTest(std::vector{kApart}).statistic, 8.0));
        QVERIFY(isNear(twoSampleTest(std::vector{kMixed}).statistic, 7.875));
        QVERIFY(isNear(twoSampleTest(std::vector{kMixed, kOther}).statistic, 269.0 / 24.0));
    }

    /// Until 50 mixtures are as far apart: the shares of all are 2/70, 29/126 and 392/2520.
    void thePValueIsTheShareOfMixturesAsFarApart() {
        QVERIFY(isNear(twoSampleTest(std::vector{kApart}).pValue, 50.0 / 1360.0));
        QVERIFY(isNear(twoSampleTest(std::vector{kMixed}).pValue, 50.0 / 187.0));
        const TwoSampleTest both = twoSampleTest(std::vector{kMixed, kOther});
        QVERIFY(isNear(both.pValue, 50.0 / 327.0));
        QCOMPARE(both.first, std::size_t{7});
        QCOMPARE(both.second, std::size_t{8});
    }

    void itIsNeverZero() {
        const SamplePair far = {Samples(30, {7}), Samples(30, {8})};
        const TwoSampleTest test = twoSampleTest(std::vector{far});
        QVERIFY(isNear(test.statistic, 60.0));
        QVERIFY(isNear(test.pValue, 1.0 / 100'000.0));
    }

    void equalSamplesAndNoneHaveAPValueOfOne() {
        const Samples some = {{1}, {2}, {3}};
        QVERIFY(isNear(twoSampleTest(std::vector<SamplePair>{{some, some}}).pValue, 1.0));
        const TwoSampleTest none = twoSampleTest(std::vector<SamplePair>{{some, {}}});
        QVERIFY(isNear(none.pValue, 1.0));
        QCOMPARE(none.first, std::size_t{0});
    }

    /// Of samples with one distribution a share of about alpha is below alpha.
    void itSeldomTellsApartWhatIsOne() {
        constexpr int kRuns = 400;
        int below = 0;
        for (int run = 0; run < kRuns; ++run) {
            SamplePair pair;
            for (int i = 0; i < 24; ++i) {
                const double part =
                    counterUniform(17, static_cast<std::uint64_t>(run), static_cast<int>(i));
                Samples& side = i < 12 ? pair.first : pair.second;
                side.push_back({static_cast<int>(part * part * 6.0)});
            }
            below += twoSampleTest(std::vector{pair}).pValue <= 0.05 ? 1 : 0;
        }
        QVERIFY2(below <= 36, qPrintable(QString::number(below))); // 20, and 4 standard deviations
    }

    void everyDrawHasASeedOfItsOwn() {
        std::set<std::uint64_t> seeds;
        for (const std::uint64_t seed : {1U, 2U})
            for (const char* variant : {"vanilla", "swift", "swift_sampled"})
                for (int prompt = 0; prompt < 10; ++prompt)
                    for (int draw = 0; draw < 50; ++draw)
                        seeds.insert(drawSeed(seed, variant, prompt, draw));
        QCOMPARE(seeds.size(), std::size_t{2 * 3 * 10 * 50});
    }

    void aDrawIsWrittenAndReadBack() {
        const ShardDraw draw{.variant = "swift", .prompt = 1, .seed = 7, .tokens = {3, 4}};
        const std::string text = recordJson(ShardRecord(draw));
        QCOMPARE(text,
                 std::string(R"({"draw":{"variant":"swift","prompt":1,"seed":7,"tokens":[3,4]}})"));
        const auto read = readRecord(text, "part", 2);
        QVERIFY(read);
        ShardResult result;
        addRecord(result, read.value());
        QCOMPARE(result.draws.at(0).tokens, draw.tokens);
        QVERIFY(!readRecord(text, "part", 1));
    }

    /// A folder of a run may be anybody's.
    void aDrawThatNoRecipeAsksForIsRefused() {
        ShardResult result;
        result.draws.push_back({.variant = "swift", .tokens = std::vector<int>(kMostDrawTokens)});
        QVERIFY(readShard(shardJson(result), "part", 1));
        result.draws[0].tokens.push_back(1);
        QVERIFY(!readShard(shardJson(result), "part", 1));
        QVERIFY(!readRecord(recordJson(ShardRecord(result.draws[0])), "part", 1));
    }

    void aDecoderThatDrawsAsVanillaPasses() {
        const ExperimentResult result = drawnRun(1).result();
        QCOMPARE(result.verdict.kind, VerdictKind::Gain);
        QCOMPARE(result.verdict.headline, std::string("Passed. No token differs in 4 answers."));
        QCOMPARE(result.verdict.cause,
                 std::string("Drawn under seeds of their own, no tokens can be told from "
                             "vanilla's: the smallest p is that of SWIFT (p = 1, n = 40 and 40); "
                             "a permutation test with the limit p < 0.001 / 1 = 0.001."));
        const std::vector<ResultCell>& row = result.tables.at(0).rows.at(1);
        QCOMPARE(row.at(1).text, std::string("40"));
        QCOMPARE(row.at(2).text, std::string("1"));
    }

    void aDecoderThatDrawsOtherwiseFails() {
        const ExperimentResult result = drawnRun(2).result();
        QCOMPARE(result.verdict.kind, VerdictKind::NoGain);
        QCOMPARE(QString::fromStdString(result.verdict.headline),
                 QStringLiteral("Failed. Drawn under seeds of their own, these tokens do not have "
                                "vanilla's distribution: SWIFT (p = 5e-05, n = 40 and 40); a "
                                "permutation test with the limit p < 0.001 / 1 = 0.001."));
        QCOMPARE(result.verdict.cause, std::string("No token differs in 4 answers."));
    }

    /// Decoders that only keep the distribution have a stage without vanilla.
    void vanillasDrawsServeAllStages() {
        SampleRun run;
        run.add({"math"}, 2, {kSwift});
        SampleVariant other = kSwift;
        other.name = "other";
        other.stage = "rejection";
        run.add({"math"}, 2, {other});
        addDraws(run.shards[0], "vanilla", 20, 3, 1);
        addDraws(run.shards[1], "other", 20, 3, 1);
        std::erase_if(run.shards[1].answers,
                      [](const ShardAnswer& answer) { return answer.variant == "vanilla"; });
        run.recipe.tables = {tableOf("stage", {"draws", "draw_p"}, {"other"})};
        const ExperimentResult result = run.result();
        const std::vector<std::vector<ResultCell>>& rows = result.tables.at(0).rows;
        QCOMPARE(rows.size(), std::size_t{1});
        const std::vector<std::string> wanted = {"Rejection", "Other", "40", "1"};
        for (std::size_t i = 0; i < wanted.size(); ++i)
            QCOMPARE(rows[0].at(i).text, wanted[i]);
    }

    void aDecoderThatNeverDraftedIsNotAudited() {
        SampleRun run;
        SampleVariant second = kSwift;
        second.name = "tuned";
        run.add({"math"}, 2, {kSwift, second});
        run.recipe.verdict.kind = "equal";
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.variant == "tuned") {
                answer.decoding = {};
                answer.decoding.plainRounds = SampleRun::kTokens;
            }
        const ExperimentVerdict verdict = run.result().verdict;
        QCOMPARE(verdict.headline, std::string("Passed. No token differs in 4 answers."));
        QCOMPARE(verdict.cause, std::string("Never drafted, and so not audited: Tuned."));
    }

    /// Near ties are allowed, so they are not what has failed.
    void theFailureStandsInFrontOfNearTies() {
        SampleRun run = drawnRun(2);
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.isEqual) {
                answer.isEqual = false;
                answer.isNearTie = true;
            }
        const ExperimentVerdict verdict = run.result().verdict;
        QCOMPARE(verdict.kind, VerdictKind::NoGain);
        QVERIFY(verdict.headline.starts_with("Failed. Drawn under seeds of their own, these"));
        QVERIFY(verdict.cause.find("4 of 4 answers differ, each where") != std::string::npos);
    }

    void theFirstDifferenceAndTheWidestGapAreInTheTable() {
        SampleRun run;
        run.add({"math"}, 2, {kSwift});
        int place = 40;
        double gap = 0.0004;
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.isEqual) {
                answer.isEqual = false;
                answer.isNearTie = true;
                answer.differsAt = place -= 10;
                answer.gap = gap;
                gap /= 2.0;
            }
        run.recipe.tables = {tableOf("variant", {"first_difference", "difference_gap"}, {"swift"})};
        const ExperimentResult result = run.result();
        const std::vector<ResultCell>& row = result.tables.at(0).rows.at(0);
        QCOMPARE(row.at(1).text, std::string("1"));
        QCOMPARE(row.at(2).text, std::string("0.0004"));
    }
};

QTEST_APPLESS_MAIN(TwoSamplesTest)
#include "two_samples_test.moc"
