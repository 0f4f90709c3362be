// SPDX-License-Identifier: Apache-2.0
// Drafts that are no longer and no wider than their time pays for. Costs are invented, so no clock
// of the machine is asked.
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/priced_transformer.h"

#include <QTest>

#include <algorithm>
#include <map>

using namespace engine;
using support::PricedTransformer;

namespace {

constexpr int kLayers = 12;
constexpr int kAnswers = 4;

std::vector<TokenId> promptOf(int answer) {
    std::vector<TokenId> prompt;
    for (int i = 0; i < 8; ++i)
        prompt.push_back((answer * 37 + i * 23) % 160);
    return prompt;
}

struct Run {
    std::vector<TokenId> tokens;
    double ms = 0.0;
    bool isFirstPlain = false;
    int draftSteps = 0;
    int rounds = 0;
    int siblings = 0; // nodes beside the first choices
};

/// Answers with the uniform set and no search.
Run runWith(Transformer& inner, double weigh, double rowPart) {
    PricedTransformer priced(inner, {.rowPart = rowPart});
    const auto decoder = support::openDecoder(
        "swift",
        {.transformer = priced,
         .contextLength = 512,
         .settings = {{"start", std::string("uniform")}, {"optimise", 0.0}, {"weigh", weigh}},
         .clock = priced.clock()});
    Run run;
    for (int answer = 0; answer < kAnswers; ++answer) {
        const std::vector<TokenId> prompt = promptOf(answer);
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 150})) {
            run.ms += step.draftMs + step.verifyMs;
            run.isFirstPlain = run.isFirstPlain || (run.tokens.empty() && step.isPlain());
            run.rounds += step.isPlain() ? 0 : 1;
            run.draftSteps += step.draft.draftSteps();
            run.tokens.insert(run.tokens.end(), step.tokens.begin(), step.tokens.end());
            run.siblings += step.draft.size() - step.draft.draftSteps();
        }
    }
    return run;
}

struct Search {
    std::vector<TokenId> tokens;
    double decodeMs = 0.0;
    double searchMs = 0.0;
    double dearestMs = 0.0; // one trial and the score of the best set before it
    int trials = 0;
};

/// A trial with every step, as far as its time allows.
Search searchWith(Transformer& inner, double share) {
    PricedTransformer priced(inner, {.rowPart = 0.5});
    const auto decoder = support::openDecoder("swift",
                                              {.transformer = priced,
                                               .contextLength = 512,
                                               .settings = {{"start", std::string("uniform")},
                                                            {"rows_per_trial", 1.0},
                                                            {"trials_to_double", 0.0},
                                                            {"stop_score", 1.0},
                                                            {"search_share", share}},
                                               .clock = priced.clock()});
    Search search;
    for (int answer = 0; answer < kAnswers; ++answer) {
        const std::vector<TokenId> prompt = promptOf(answer);
        const auto add = [&](const SearchReport& report) {
            search.searchMs += report.searchMs;
            search.dearestMs = std::max(search.dearestMs, report.searchMs);
            search.trials += static_cast<int>(report.trials.size());
        };
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 150})) {
            search.tokens.insert(search.tokens.end(), step.tokens.begin(), step.tokens.end());
            search.decodeMs += step.draftMs + step.verifyMs;
            add(step.search);
        }
        add(decoder->endAnswer().value());
    }
    return search;
}

/// No layer of it can be left out without harm.
Transformer& dense() {
    static const auto made = support::layeredModel(kLayers, 21);
    return *made;
}

/// On that one; each run is made once for all functions.
const Run& denseRun(double weigh) {
    static std::map<double, Run> known;
    const auto [at, isNew] = known.try_emplace(weigh);
    if (isNew)
        at->second = runWith(dense(), weigh, 0.2);
    return at->second;
}

} // namespace

class SwiftWorthTest : public QObject {
    Q_OBJECT

private slots:

    void whereDraftsAreOftenWrongWeighingThemLosesLess() {
        const Run& weighed = denseRun(1.0);
        const Run& unweighed = denseRun(0.0);
        QVERIFY(weighed.tokens == unweighed.tokens);
        QVERIFY2(weighed.ms < 0.9 * unweighed.ms,
                 qPrintable(QString("%1 ms, %2 ms").arg(weighed.ms).arg(unweighed.ms)));
    }

    void aRoundStillDraftsSomething() {
        const Run& weighed = denseRun(1.0);
        QVERIFY(weighed.rounds > 100);
        QVERIFY(weighed.draftSteps >= weighed.rounds);
    }

    /// With its time the others are compared. An answer's last token may be a plain step, too.
    void theFirstStepOfAllIsMeasuredPlain() {
        QVERIFY(denseRun(1.0).isFirstPlain);
        QVERIFY(!denseRun(0.0).isFirstPlain);
    }

    /// The layers that the uniform set leaves out do nothing, so every draft is right.
    void whereDraftsAreRightWeighingThemCostsNothing() {
        const auto model = support::quietModel(kLayers, 22, {.first = 1, .end = 11, .part = 1e-6F});
        const Run weighed = runWith(*model, 1.0, 0.02);
        const Run unweighed = runWith(*model, 0.0, 0.02);
        QVERIFY(weighed.tokens == unweighed.tokens);
        QVERIFY2(weighed.ms < 1.02 * unweighed.ms,
                 qPrintable(QString("%1 ms, %2 ms").arg(weighed.ms).arg(unweighed.ms)));
        QVERIFY(weighed.siblings < unweighed.siblings || unweighed.siblings == 0);
    }

    /// Of the time of drafting and verifying; one trial may still be unpaid at the end.
    void trialsTakeNoMoreThanTheirShare() {
        std::map<double, std::vector<TokenId>> tokens;
        for (const double share : {0.1, 0.25, 1.0}) {
            const Search made = searchWith(dense(), share);
            tokens[share] = made.tokens;
            QVERIFY(made.trials > 3);
            QVERIFY2(made.searchMs <= share * made.decodeMs + made.dearestMs,
                     qPrintable(QString("%1 ms of %2 ms").arg(made.searchMs).arg(made.decodeMs)));
        }
        const Search any = searchWith(dense(), 0.0);
        QVERIFY(any.searchMs > 1.5 * any.decodeMs);
        QVERIFY(any.tokens == tokens[0.25]);
    }

    /// The layers of this model do nothing, so no set is better than the first.
    void trialsTakeATenthOfTheirShareWhereNothingIsLeftToFind() {
        const auto model = support::quietModel(kLayers, 22, {.first = 1, .end = 11, .part = 1e-6F});
        const Search made = searchWith(*model, 1.0);
        QVERIFY(made.trials > 3);
        QVERIFY2(made.searchMs <= 0.1 * made.decodeMs + made.dearestMs,
                 qPrintable(QString("%1 ms of %2 ms").arg(made.searchMs).arg(made.decodeMs)));
    }
};

QTEST_GUILESS_MAIN(SwiftWorthTest)
#include "swift_worth_test.moc"
