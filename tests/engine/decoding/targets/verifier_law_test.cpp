// SPDX-License-Identifier: Apache-2.0
// What a draft-and-verify round emits has vanilla's law: by running all outcomes on small tables,
// by samples on larger ones; and both checks see each of six well-known faults.
// SWIFT_STUDIO_FULL_LAWS=1 runs more outcomes, and 1,000,000 samples a case in place of 7,000;
// faults are seen by 20,000 at most.
#include "tests/engine/decoding/targets/wrong_samplers.h"
#include "tests/support/lossless/plain_penalties.h"

#include <QTest>

using namespace engine;
using namespace rounds;
using support::BigramTable;
using support::LawDistance;
using support::TokenLaw;

namespace {

bool runsEverything() { return qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_LAWS") != 0; }

constexpr int kCount = 3; // tokens whose law is compared
const Tokens kPrompt = {1, 0};

/// A pair of tables, how they are used, and how many tokens are compared.
struct LawCase {
    QString name;
    int vocabSize = 4;
    double emptyPart = 0.0;
    double likeness = 0.5; ///< how far the draft's table is moved towards the model's
    Settings settings = {};
    int count = kCount;
    bool isLarge = false; ///< only when everything is run
    double spread = 1.3;  ///< of the logits; with 15 most choices are as good as certain
};

TabularTransformer modelOf(const LawCase& law, unsigned seed) {
    const BigramTable full(law.vocabSize, seed, law.spread, law.emptyPart);
    const BigramTable other(law.vocabSize, seed + 1000, law.spread, law.emptyPart);
    return {full, law.emptyPart > 0.0 ? other : other.mixedWith(full, law.likeness)};
}

Settings settingsOf(SamplingOptions sampling, std::array<int, 4> siblings, double epsilon) {
    Settings settings;
    settings.sampling = sampling;
    settings.draft.siblings.counts = siblings;
    settings.epsilon = epsilon;
    return settings;
}

/// A tree too small for all siblings: how many there are also depends on later draws of the spine.
Settings crowded(Settings settings) {
    settings.maxSteps = 3;
    settings.draft.maxNodes = 4;
    return settings;
}

std::vector<LawCase> smallCases() {
    const SamplingOptions warm = {.temperature = 1.0};
    const SamplingOptions cool = {.temperature = 0.6};
    const SamplingOptions topK = {.temperature = 0.6, .topK = 3};
    const SamplingOptions topP = {.temperature = 1.0, .topP = 0.8};
    const SamplingOptions minP = {.temperature = 1.0, .minP = 0.2};
    const SamplingOptions typical = {.temperature = 1.0, .typicalP = 0.7};
    const SamplingOptions repeated = {.temperature = 1.0,
                                      .repetitionPenalty = 1.8,
                                      .repetitionWindow = 2,
                                      .logitBias = {{3, 0.7}}};
    return {
        {"chain", 5, 0.0, 0.5, settingsOf(warm, {1, 1, 1, 1}, 0.0)},
        {"chain, T .6", 6, 0.0, 0.0, settingsOf(cool, {1, 1, 1, 1}, 0.0)},
        {"two siblings", 5, 0.0, 0.5, settingsOf(warm, {2, 2, 2, 2}, 0.0), 2},
        {"three siblings, T .6", 4, 0.0, 0.3, settingsOf(cool, {3, 3, 3, 3}, 0.0), 2},
        {"by confidence, early stop", 4, 0.0, 0.5, settingsOf(warm, {1, 1, 2, 3}, 0.4), 2},
        {"by confidence, T .6", 4, 0.0, 0.2, settingsOf(cool, {1, 2, 2, 3}, 0.5), 2},
        {"top-k", 6, 0.0, 0.5, settingsOf(topK, {1, 2, 3, 3}, 0.5)},
        {"top-p", 5, 0.0, 0.5, settingsOf(topP, {1, 2, 3, 3}, 0.4), 2},
        {"zeros", 6, 0.5, 0.0, settingsOf(warm, {2, 2, 3, 3}, 0.3), 2},
        {"min-p", 6, 0.0, 0.5, settingsOf(minP, {1, 2, 3, 3}, 0.4), 2},
        {"typical-p", 5, 0.0, 0.5, settingsOf(typical, {1, 2, 3, 3}, 0.4), 2},
        {"repetition and bias", 5, 0.0, 0.5, settingsOf(repeated, {1, 2, 2, 3}, 0.3), 2},
        {"full tree", 4, 0.0, 0.3, crowded(settingsOf(warm, {1, 2, 2, 2}, 0.4)), 2},
        {"five tokens, three siblings", 5, 0.0, 0.5, settingsOf(warm, {3, 3, 3, 3}, 0.0), 2, true},
        {"three tokens", 4, 0.0, 0.2, settingsOf(cool, {1, 2, 3, 3}, 0.5), 3, true},
        {"six tokens", 6, 0.0, 0.5, settingsOf(warm, {1, 1, 2, 3}, 0.4), 1, true},
    };
}

std::vector<LawCase> sampledCases() {
    const SamplingOptions warm = {.temperature = 1.0};
    const SamplingOptions cool = {.temperature = 0.6, .topP = 0.9};
    const SamplingOptions topK = {.temperature = 1.2, .topK = 8};
    const SamplingOptions both = {.temperature = 0.8, .topK = 12, .topP = 0.95};
    const SamplingOptions penalised = {.temperature = 0.9,
                                       .minP = 0.02,
                                       .repetitionPenalty = 1.5,
                                       .repetitionWindow = 3,
                                       .presencePenalty = 0.6,
                                       .frequencyPenalty = 0.5,
                                       .logitBias = {{3, 0.7}}};
    return {
        {"penalties, chain", 32, 0.0, 0.5, settingsOf(penalised, {1, 1, 1, 1}, 0.0)},
        {"penalties, joint", 6, 0.0, 0.5, settingsOf(penalised, {1, 2, 2, 3}, 0.3)},
        {"chain", 32, 0.0, 0.5, settingsOf(warm, {1, 1, 1, 1}, 0.0)},
        {"T .6, top-p", 32, 0.0, 0.5, settingsOf(cool, {1, 2, 3, 4}, 0.3)},
        {"T 1.2, top-k", 32, 0.0, 0.3, settingsOf(topK, {2, 2, 3, 4}, 0.0)},
        {"top-k and top-p", 32, 0.0, 0.7, settingsOf(both, {1, 3, 5, 10}, 0.2)},
        {"zeros", 32, 0.5, 0.0, settingsOf(warm, {1, 2, 3, 4}, 0.2)},
        {"joint", 6, 0.0, 0.5, settingsOf(warm, {1, 2, 2, 3}, 0.4)},
        {"joint, T .6", 5, 0.0, 0.2, settingsOf({.temperature = 0.6}, {2, 2, 2, 3}, 0.0)},
    };
}

LawDistance farthest(const TokenLaw& law, const std::map<Tokens, long>& samples) {
    return support::farthestFromLaw(law, samples, 300);
}

std::uint64_t sampleCount() { return runsEverything() ? 1'000'000 : 7'000; }

template <typename Sample>
std::map<Tokens, long> samplesOf(Sample&& sample, std::uint64_t count = sampleCount()) {
    std::map<Tokens, long> samples;
    for (std::uint64_t seed = 1; seed <= count; ++seed)
        ++samples[sample(seed)];
    return samples;
}

Tokens vanillaSample(const TabularTransformer& model, const SamplingOptions& sampling) {
    const Sampler sampler(sampling);
    Tokens whole = kPrompt;
    for (Position place = 0; place < kCount; ++place)
        whole.push_back(sampler.choose(
            support::penalised(model.full().row(whole[whole.size() - 2], whole[whole.size() - 1]),
                               sampling,
                               kPrompt,
                               {whole.begin() + 2, whole.end()}),
            place));
    return {whole.begin() + 2, whole.end()};
}

/// A wrong sampler and a case where it goes wrong.
struct FaultCase {
    QString name;
    Fault fault = Fault::None;
    SamplingOptions sampling = {.temperature = 1.0};
    std::array<int, 4> siblings = {1, 1, 1, 1};
    double epsilon = 0.0;     ///< of the early stop, 4 tokens
    double wideEpsilon = 0.0; ///< the same for 32, whose probabilities are smaller
};

std::vector<FaultCase> faultCases() {
    const SamplingOptions warm = {.temperature = 1.0};
    const SamplingOptions cool = {.temperature = 0.6};
    return {
        {"none", Fault::None, cool, {1, 2, 2, 2}, 0.4, 0.08},
        {"accept iff p >= q", Fault::AcceptIfLarger, warm, {1, 1, 1, 1}, 0.0},
        {"resample from p, as space_paper_sampling",
         Fault::ResampleFromTarget,
         warm,
         {1, 1, 1, 1},
         0.0},
        {"accept on argmax match", Fault::AcceptArgmax, warm, {1, 1, 1, 1}, 0.0},
        {"bonus at temperature 1", Fault::UnprocessedBonus, cool, {2, 2, 2, 2}, 0.0},
        {"argmax draft with soft q", Fault::RatioOnTopTokens, warm, {1, 1, 1, 1}, 0.0},
        {"top-k draft with soft q", Fault::RatioOnTopTokens, warm, {2, 2, 2, 2}, 0.0},
        {"drop by sampled confidence", Fault::DropUnsure, warm, {1, 1, 1, 1}, 0.4, 0.08},
    };
}

template <typename Case> void addRows(const std::vector<Case>& cases) {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < cases.size(); ++i)
        QTest::newRow(qPrintable(cases[i].name)) << static_cast<int>(i);
}

template <typename Case> Case currentCase(const std::vector<Case>& cases) {
    QFETCH(int, index);
    return cases[static_cast<std::size_t>(index)];
}

} // namespace

class VerifierLawTest : public QObject {
    Q_OBJECT

private slots:

    void everyOutcomeOfRejectionTogetherIsVanillasLaw_data() { addRows(smallCases()); }

    void everyOutcomeOfRejectionTogetherIsVanillasLaw();

    void everyOutcomeOfMatchingTogetherIsVanillasLaw_data() { addRows(smallCases()); }

    void everyOutcomeOfMatchingTogetherIsVanillasLaw();

    void samplesOfRejectionFollowVanillasLaw_data() { addRows(sampledCases()); }

    void samplesOfRejectionFollowVanillasLaw();

    void matchingGivesVanillasTokensAndLaw_data() { addRows(sampledCases()); }

    void matchingGivesVanillasTokensAndLaw();

    void bothChecksSeeWrongSamplers_data() { addRows(faultCases()); }

    void bothChecksSeeWrongSamplers();
    void greedyDecodingIsTheSameUnderEitherRule();
    void rejectionNeedsToKnowWhatWasDrawnFrom();
    void outcomesAreRepeatable();
};

void VerifierLawTest::everyOutcomeOfRejectionTogetherIsVanillasLaw() {
    const LawCase law = currentCase(smallCases());
    if (law.isLarge && !runsEverything())
        QSKIP("only with SWIFT_STUDIO_FULL_LAWS=1");
    TabularTransformer model = modelOf(law, 11);
    const TokenLaw found =
        support::enumeratedLaw(realRounds(model, law.settings), kPrompt, law.count);
    const TokenLaw expected =
        support::vanillaLaw(model.full(), law.settings.sampling, kPrompt, law.count);
    const double variation = support::totalVariation(found, expected);
    QVERIFY2(variation < 1e-12, qPrintable(QString("total variation %1").arg(variation)));
}

void VerifierLawTest::everyOutcomeOfMatchingTogetherIsVanillasLaw() {
    LawCase law = currentCase(smallCases());
    if (law.isLarge && !runsEverything())
        QSKIP("only with SWIFT_STUDIO_FULL_LAWS=1");
    law.settings.draft.rule = VerifyRule::Match;
    TabularTransformer model = modelOf(law, 12);
    for (const bool sharesNoise : {true, false}) {
        law.settings.draft.sharesNoise = sharesNoise;
        const TokenLaw found =
            support::enumeratedLaw(realRounds(model, law.settings), kPrompt, law.count);
        const TokenLaw expected =
            support::vanillaLaw(model.full(), law.settings.sampling, kPrompt, law.count);
        QVERIFY(support::totalVariation(found, expected) < 1e-12);
    }
}

void VerifierLawTest::samplesOfRejectionFollowVanillasLaw() {
    LawCase law = currentCase(sampledCases());
    TabularTransformer model = modelOf(law, 21);
    law.settings.maxSteps = 3;
    const TokenLaw expected =
        support::vanillaLaw(model.full(), law.settings.sampling, kPrompt, kCount);
    const LawDistance found = farthest(expected, samplesOf([&](std::uint64_t seed) {
                                           law.settings.sampling.seed = seed;
                                           return realSample(model, law.settings, kCount);
                                       }));
    qInfo("%s", found.text().c_str());
    QVERIFY(!found.isFar());
}

void VerifierLawTest::matchingGivesVanillasTokensAndLaw() {
    LawCase law = currentCase(sampledCases());
    TabularTransformer model = modelOf(law, 22);
    law.settings.draft.rule = VerifyRule::Match;
    law.settings.maxSteps = 3;
    const TokenLaw expected =
        support::vanillaLaw(model.full(), law.settings.sampling, kPrompt, kCount);
    long different = 0;
    const LawDistance found =
        farthest(expected, samplesOf([&](std::uint64_t seed) {
                     law.settings.sampling.seed = seed;
                     law.settings.draft.sharesNoise = seed % 2 == 0;
                     const Tokens tokens = realSample(model, law.settings, kCount);
                     different += tokens != vanillaSample(model, law.settings.sampling);
                     return tokens;
                 }));
    qInfo("%s", found.text().c_str());
    QCOMPARE(different, 0L);
    QVERIFY(!found.isFar());
}

void VerifierLawTest::bothChecksSeeWrongSamplers() {
    const FaultCase wrong = currentCase(faultCases());
    Settings settings = settingsOf(wrong.sampling, wrong.siblings, wrong.epsilon);
    LawCase small;
    TabularTransformer tiny = modelOf(small, 31);
    const TokenLaw exact = support::vanillaLaw(tiny.full(), wrong.sampling, kPrompt, kCount);
    const double variation = support::totalVariation(
        support::enumeratedLaw(faultyRounds(tiny, settings, wrong.fault), kPrompt, kCount), exact);
    LawCase large;
    large.vocabSize = 32;
    TabularTransformer wide = modelOf(large, 32);
    settings.epsilon = wrong.wideEpsilon;
    const support::Round round = faultyRounds(wide, settings, wrong.fault);
    const TokenLaw expected = support::vanillaLaw(wide.full(), wrong.sampling, kPrompt, kCount);
    const auto sample = [&](std::uint64_t seed) { return sampleOf(round, seed, kCount); };
    const bool isWrong = wrong.fault != Fault::None;
    LawDistance found = farthest(expected, isWrong ? samplesOf(sample, 5'000) : samplesOf(sample));
    if (isWrong && !found.isFar())
        found = farthest(expected, samplesOf(sample, 20'000));
    qInfo("enumerated total variation %.3g; %s", variation, found.text().c_str());
    QCOMPARE(found.isFar(), isWrong);
    QCOMPARE(variation > 1e-12, isWrong);
}

void VerifierLawTest::greedyDecodingIsTheSameUnderEitherRule() {
    for (unsigned seed = 0; seed < 50; ++seed) {
        LawCase law;
        law.vocabSize = 12;
        law.likeness = 0.1 * (seed % 10);
        law.spread = seed % 4 < 2 ? 1.3 : 15.0;
        TabularTransformer model = modelOf(law, seed);
        law.settings = settingsOf({}, {1, 2, 3, 4}, 0.3);
        Tokens whole = kPrompt;
        for (int step = 0; step < 8; ++step)
            whole.push_back(argmax(model.full().row(whole[whole.size() - 2], whole.back())));
        for (const VerifyRule rule : {VerifyRule::Match, VerifyRule::Rejection}) {
            law.settings.draft.rule = rule;
            QCOMPARE(realSample(model, law.settings, 8), Tokens(whole.begin() + 2, whole.end()));
        }
    }
}

void VerifierLawTest::rejectionNeedsToKnowWhatWasDrawnFrom() {
    LawCase law;
    TabularTransformer model = modelOf(law, 1);
    Target target = makeTarget(model, law.settings);
    begin(target, kPrompt);
    DraftTree tree;
    tree.add(2, -1, 0.5);
    QVERIFY_THROWS_EXCEPTION(EngineBug, (void)target.verify(tree, VerifyRule::Rejection));
}

void VerifierLawTest::outcomesAreRepeatable() {
    LawCase law;
    law.vocabSize = 32;
    TabularTransformer model = modelOf(law, 2);
    law.settings.sampling.seed = 77;
    const Tokens first = realSample(model, law.settings, 20);
    QCOMPARE(realSample(model, law.settings, 20), first);
    law.settings.sampling.seed = 78;
    QVERIFY(realSample(model, law.settings, 20) != first);
}

QTEST_APPLESS_MAIN(VerifierLawTest)

#include "verifier_law_test.moc"
