// SPDX-License-Identifier: Apache-2.0
// What the sentence above the pictures claims, and why.
#include "tests/engine/experiments/report/sample_run.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

const SampleVariant kSlow = {"swift", 0.8, 2.0, 0.8, 0.95, 1.25};

ExperimentVerdict verdictOf(const SampleRun& run) { return run.result().verdict; }

/// A run that asks for its best variant. That of the name "noisy" gains on three of five prompts.
SampleRun runOf(const std::vector<SampleVariant>& variants) {
    SampleRun run;
    run.speedOf = [](const SampleVariant& variant, const std::string&, int prompt) {
        constexpr double kNoisy[] = {0.8, 1.5, 1.6, 0.9, 1.5};
        return variant.name == "noisy" ? kNoisy[prompt] : variant.speedup;
    };
    run.add({"math"}, 5, variants);
    run.recipe.verdict.kind = "best";
    return run;
}

SampleVariant named(const std::string& name, double speedup) {
    SampleVariant variant = kSwift;
    variant.name = name;
    variant.speedup = speedup;
    return variant;
}

} // namespace

class VerdictTest : public QObject {
    Q_OBJECT

private slots:

    void aGainNamesTheNumberAndItsReason() {
        SampleRun run;
        run.add({"math"}, 4, {kSwift});
        run.recipe.verdict.variant = "swift";
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::Gain);
        QVERIFY2(
            contains(verdict.headline, "SWIFT gains 1.25× over vanilla (1.25 to 1.25, 4 prompts)"),
            verdict.headline.c_str());
        QVERIFY2(contains(verdict.cause, "a draft pass costs .50") ||
                     contains(verdict.cause, "A draft pass costs .50"),
                 verdict.cause.c_str());
        QVERIFY(contains(verdict.cause, "(352 of 392)")); // 44 of 49, eight answers
        QVERIFY(contains(verdict.cause, "No token differs in 8 answers."));
    }

    void noGainSaysWhichNumberIsToBlame_data() {
        QTest::addColumn<SampleVariant>("variant");
        QTest::addColumn<QString>("reason");
        QTest::newRow("drafts are too dear")
            << kSlow << "because a draft pass costs .95 of a plain step";
        QTest::newRow("verifying is too dear")
            << SampleVariant{"swift", 0.9, 2.0, 0.9, 0.3, 2.1}
            << "because verifying a round costs more than its tokens bring";
        QTest::newRow("both are too dear")
            << SampleVariant{"swift", 0.9, 2.0, 0.9, 0.3, 1.8}
            << "because drafting and verifying a round cost more than its tokens bring";
        QTest::newRow("hardly any token more")
            << SampleVariant{"swift", 0.9, 1.1, 0.0, 0.0, 1.2}
            << "because a round gives hardly more than one token";
    }

    void noGainSaysWhichNumberIsToBlame() {
        QFETCH(SampleVariant, variant);
        QFETCH(QString, reason);
        SampleRun run;
        run.add({"math"}, 4, {variant});
        run.recipe.verdict.variant = "swift";
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::NoGain);
        QVERIFY(contains(verdict.headline, "SWIFT does not gain on this model"));
        QVERIFY2(contains(verdict.cause, reason.toStdString()), verdict.cause.c_str());
    }

    /// Without its search it would have gained, or would have been at half of vanilla's speed.
    void aSearchIsToBlameOnlyIfItsTimeAloneIsTheLoss() {
        for (const bool isAlone : {true, false}) {
            SampleRun run;
            run.add({"math"}, 5, {SampleVariant{"swift", 0.9, 2.0, 0.9, 0.3, 1.6}});
            for (ShardAnswer& answer : run.shards[0].answers)
                if (answer.variant == "swift")
                    answer.decoding.searchMs = isAlone ? 200.0 : 70.0;
            run.recipe.verdict.variant = "swift";
            if (!isAlone)
                for (ShardAnswer& answer : run.shards[0].answers)
                    answer.decodeMs *= answer.variant == "swift" ? 2.0 : 1.0;
            const ExperimentVerdict verdict = verdictOf(run);
            QCOMPARE(verdict.kind, VerdictKind::NoGain);
            QCOMPARE(contains(verdict.cause, "because searching took"), isAlone);
        }
    }

    void withoutABaselineNoPriceIsTold() {
        SampleRun run = runOf({named("one", 1.2), named("two", 1.1)});
        std::erase_if(run.shards[0].answers,
                      [](const ShardAnswer& answer) { return answer.variant == "vanilla"; });
        run.recipe.verdict.measure = "M";
        const ExperimentVerdict verdict = verdictOf(run);
        QVERIFY2(contains(verdict.cause,
                          ".90 of the drafted tokens are kept (440 of 490); a round gives M = 3.20 "
                          "tokens."),
                 verdict.cause.c_str());
        QVERIFY(!contains(verdict.cause, "–"));
    }

    void oneSpeedIsNoGainAndFewAreSaidToBe() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        run.recipe.verdict.variant = "swift";
        const ExperimentVerdict one = verdictOf(run);
        QCOMPARE(one.kind, VerdictKind::Finding);
        QCOMPARE(one.headline, std::string("SWIFT runs at 1.25× of vanilla on one prompt."));
        QVERIFY2(contains(one.cause, "One prompt alone cannot tell a speed from chance. No token"),
                 one.cause.c_str());
        run.recipe.verdict.kind = "best";
        QCOMPARE(verdictOf(run).headline,
                 std::string("The highest on one prompt is SWIFT with 1.25× of vanilla."));
        run.recipe.verdict.kind = "better";
        const ExperimentVerdict better = verdictOf(run);
        QCOMPARE(better.kind, VerdictKind::NoGain);
        QVERIFY2(better.cause.starts_with("There is one prompt alone, so the difference may be "),
                 better.cause.c_str());
        SampleRun few;
        few.add({"math"}, 2, {kSwift});
        few.recipe.verdict.variant = "swift";
        QVERIFY(contains(verdictOf(few).cause, "With 2 prompts alone, the interval is no more"));
        SampleRun enough;
        enough.add({"math"}, 5, {kSwift});
        enough.recipe.verdict.variant = "swift";
        QVERIFY(!contains(verdictOf(enough).cause, "prompts alone"));
    }

    /// Each task is fastest with its own set, and the speeds of both sets spread over one range.
    void ownSetsThatMayWinByChanceAreAFindingAndNoGain() {
        SampleRun run;
        SampleVariant first = kSwift;
        first.name = "set of translation";
        first.setTask = "translation";
        SampleVariant second = first;
        second.name = "set of story";
        second.setTask = "story";
        double noise = 0.0;
        run.speedOf = [&](const SampleVariant& variant, const std::string& task, int prompt) {
            return 1.3 + noise * prompt + (variant.setTask == task ? 0.01 : 0.0);
        };
        SampleRun steady = run;
        steady.add({"translation", "story"}, 4, {first, second});
        steady.recipe.verdict.kind = "diagonal";
        QCOMPARE(verdictOf(steady).kind, VerdictKind::Gain);
        noise = 0.05;
        run.add({"translation", "story"}, 4, {first, second});
        run.recipe.verdict.kind = "diagonal";
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::Finding);
        QVERIFY(contains(verdict.cause, "overlap for Translation and Story"));
    }

    void aDecoderThatNeverDraftsCannotShowAPaper() {
        SampleRun run;
        run.add({"math"}, 2, {kSwift});
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.variant == "swift") {
                answer.decoding = {};
                answer.decoding.plainRounds = SampleRun::kTokens;
            }
        run.recipe.verdict = {"better", "speedup", "swift", "vanilla", {}};
        const ExperimentVerdict verdict = verdictOf(run);
        QVERIFY2(contains(verdict.cause,
                          "It never drafted: every step was a plain one. So this model cannot show "
                          "Table 2 of arXiv 2410.06916."),
                 verdict.cause.c_str());
    }

    void aClearGainIsToldThoughAnotherIsHigherByChance() {
        const ExperimentVerdict verdict =
            verdictOf(runOf({named("clear", 1.2), named("noisy", 0.0)}));
        QCOMPARE(verdict.kind, VerdictKind::Gain);
        QVERIFY2(
            verdict.headline.starts_with(
                "Clear gains 1.20× over vanilla (1.20 to 1.20, 5 prompts); higher, but perhaps "
                "by chance, is Noisy with 1.50× ("),
            verdict.headline.c_str());
    }

    void aBestThatMayGainIsNotSaidToGainNothing() {
        const ExperimentVerdict open = verdictOf(runOf({named("noisy", 0.0), named("slow", 0.7)}));
        QCOMPARE(open.kind, VerdictKind::NoGain);
        QVERIFY2(open.headline.starts_with("None shows a gain that can be told from none: the best "
                                           "is Noisy with 1.50× of vanilla ("),
                 open.headline.c_str());
        QVERIFY(!contains(open.cause, "No gain here"));
        const ExperimentVerdict none = verdictOf(runOf({named("slow", 0.7)}));
        QCOMPARE(none.kind, VerdictKind::NoGain);
        QVERIFY2(
            none.headline.starts_with("None gains here: the best is Slow with 0.70× of vanilla"),
            none.headline.c_str());
    }

    /// Seeds of a prompt are one prompt, models are not.
    void aPromptOfTwoModelsCountsForEach() {
        SampleRun run;
        run.add({"math"}, 5, {kSwift});
        run.add({"math"}, 5, {kSwift});
        run.plan.models.push_back(run.plan.models.front());
        run.plan.models.back().name = "large";
        run.plan.shards.back().model = 1;
        run.recipe.verdict.variant = "swift";
        const ExperimentVerdict verdict = verdictOf(run);
        QVERIFY2(contains(verdict.headline, "10 prompts"), verdict.headline.c_str());
    }

    void equalValuesHaveNoHighest() {
        SampleRun run = runOf({named("one", 1.2), named("two", 1.1)});
        run.recipe.verdict.measure = "M";
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::Finding);
        QVERIFY2(verdict.headline.starts_with("All have the same M: 3.2"),
                 verdict.headline.c_str());
    }

    void thoseThatReadLikeTheHighestShareItsPlace() {
        SampleVariant low = named("low", 1.1);
        low.tokensPerRound = 2.0;
        SampleRun run = runOf({named("one", 1.2), named("two", 1.1), low});
        run.recipe.verdict.measure = "M";
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.headline, std::string("One and Two have the highest M: 3.20."));
        QVERIFY2(verdict.cause.starts_with("The next is Low with 2.00. "), verdict.cause.c_str());
    }

    /// Sums have no interval: what reads alike is no difference, and no chance.
    void ofTwoThatReadAlikeNoneIsBetter() {
        SampleRun run = runOf({named("one", 1.2), named("two", 1.1)});
        run.recipe.verdict = {"better", "tokens_per_layer", "one", "two", {}};
        for (ShardAnswer& answer : run.shards[0].answers)
            if (answer.variant == "one")
                answer.decoding.verifyLayers *= 0.9999;
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::NoGain);
        QVERIFY2(verdict.headline.starts_with("One and Two have the same tokens per layer: 0."),
                 verdict.headline.c_str());
        QVERIFY(!contains(verdict.cause, "overlap"));
    }

    void tokensPerLayerHaveTwoDigits() {
        SampleRun run = runOf({named("one", 1.2), named("two", 1.1)});
        run.recipe.verdict = {"better", "tokens_per_layer", "one", "two", {}};
        for (ShardAnswer& answer : run.shards[0].answers) {
            answer.decoding.draftLayers = 0.0;
            answer.decoding.verifyLayers =
                static_cast<double>(SampleRun::kTokens) / (answer.variant == "one" ? 0.083 : 0.081);
        }
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::Gain);
        QCOMPARE(verdict.headline,
                 std::string("One has more tokens per layer than Two: 0.083 against 0.081."));
    }

    /// One speed has an interval, vanilla's has none.
    void whatMayBeVanillasSpeedIsNotFaster() {
        SampleRun run = runOf({named("noisy", 0.0)});
        run.recipe.verdict = {"better", "speedup", "noisy", "vanilla", {}};
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::NoGain);
        QVERIFY2(contains(verdict.cause, "The interval holds the other value"),
                 verdict.cause.c_str());
    }

    void aDecoderThatWasDroppedIsNamedAsNotAudited() {
        SampleRun run = runOf({named("one", 1.2)});
        run.recipe.verdict.kind = "equal";
        run.shards[0].failures["tuned"] = "It has no draft adapter.";
        const ExperimentVerdict verdict = verdictOf(run);
        QCOMPARE(verdict.kind, VerdictKind::Gain);
        QVERIFY2(contains(verdict.cause, "Dropped, and so not audited: Tuned."),
                 verdict.cause.c_str());
    }

    void ofTwoOnlyTheNextIsNamed() {
        const ExperimentVerdict verdict = verdictOf(runOf({named("one", 1.2), named("two", 1.1)}));
        QVERIFY2(verdict.cause.starts_with("The next is Two with 1.10×. "), verdict.cause.c_str());
    }

    /// A share of five tokens says less than one of five hundred.
    void whatDriftsIsToldWithItsCounts() {
        SampleRun run;
        run.add({"math", "code"}, 2, {kSwift, named("self_sd", 1.1)});
        run.recipe.verdict.kind = "drift";
        run.recipe.verdict.variant = "swift";
        run.recipe.verdict.against = "self_sd";
        const ExperimentVerdict verdict = verdictOf(run);
        QVERIFY2(contains(verdict.headline,
                          "the share of drafted tokens that are kept goes from .90 to .90"),
                 verdict.headline.c_str());
        // 44 of 49 in each of four answers.
        QVERIFY2(contains(verdict.cause,
                          ", 176 of 196 drafted tokens are kept there and 176 of 196 later; with "),
                 verdict.cause.c_str());
    }

    void aSetThatIsScoredAgainIsTriedOnce() {
        SampleRun run;
        run.add({"math"}, 1, {kSwift});
        run.shards[0].answers.clear();
        run.recipe.verdict.kind = "none";
        const auto add = [&](const char* kind) {
            run.shards[0].trials.push_back(
                {.variant = "swift", .task = "math", .kind = kind, .score = 0.5, .best = 0.5});
        };
        add("random");
        QCOMPARE(verdictOf(run).headline,
                 std::string("One set was tried; it predicts .50 of the tokens."));
        add("bayesian");
        add("rescore");
        QCOMPARE(verdictOf(run).headline,
                 std::string("2 sets were tried; the best one predicts .50 of the tokens."));
        run.plan.variants[0].search = RecipeSearch{.method = "self_sd"}; // its scores are speeds
        QCOMPARE(verdictOf(run).headline, std::string("2 sets were tried."));
    }
};

QTEST_APPLESS_MAIN(VerdictTest)
#include "verdict_test.moc"
