// SPDX-License-Identifier: Apache-2.0
// Another temperature or seed between two answers: the tokens of every decoder there is are those
// of a fresh vanilla with these options, and what was searched and cached is still there.
#include "engine/decoding/answer/generation.h"
#include "tests/plugins/space/space_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <list>

using namespace engine;

namespace {

constexpr int kLayers = 10;
constexpr int kLength = 80;
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9, 2, 6};

Transformer& model() {
    static const auto made = support::layeredModel(kLayers, 5);
    return *made;
}

/// With a mask token that it was trained for.
Transformer& tunedModel() {
    static const auto made = support::plainSpaceModel();
    return *made;
}

std::unique_ptr<Decoder> decoderOf(const std::string& name,
                                   const SamplingOptions& sampling,
                                   Transformer& transformer = model()) {
    SettingValues settings;
    if (&transformer == &model())
        settings = support::neededSettings(name);
    if (name == "swift")
        settings = {{"gamma", 8.0},
                    {"rows_per_trial", 1.0},
                    {"search_share", 0.0}, // no clock is asked
                    {"weigh", 0.0},
                    {"trials_to_double", 0.0},
                    {"stop_score", 1.0},
                    {"lower_below", 0.0},
                    {"restart_drop", 0.0},
                    {"siblings", std::string("published")}};
    if (name == "auto") // drafts by passes all the time, whatever they give
        settings = {{"margin", -1.0}, {"probing", 1.0}, {"lookup", 0.0}, {"successors", 0.0}};
    return support::openDecoder(name,
                                {.transformer = transformer,
                                 .sampling = sampling,
                                 .contextLength = 512,
                                 .settings = settings});
}

struct Outcome {
    std::vector<TokenId> tokens;
    SearchReport search; // of all steps together
    int cachedAtBegin = 0;
};

Outcome answerOf(Decoder& decoder) {
    Outcome answer;
    ENGINE_CHECK(decoder.begin({.tokens = kPrompt, .maxTokens = kLength}, {}).hasValue(), "begin");
    answer.cachedAtBegin = decoder.cachedTokens();
    while (static_cast<int>(answer.tokens.size()) < kLength) {
        const auto step = support::valueOf(decoder.step());
        const auto& tokens = step.tokens;
        answer.tokens.insert(answer.tokens.end(), tokens.begin(), tokens.end());
        for (const TrialRecord& trial : step.search.trials)
            answer.search.trials.push_back(trial);
        for (const PlanChange& change : step.search.planChanges)
            answer.search.planChanges.push_back(change);
    }
    ENGINE_CHECK(decoder.endAnswer().hasValue(), "end");
    return answer;
}

/// Vanilla's tokens, made once for all decoders.
const std::vector<TokenId>& vanillaTokens(const SamplingOptions& sampling,
                                          Transformer& transformer = model()) {
    struct Known {
        Transformer* transformer;
        SamplingOptions sampling;
        std::vector<TokenId> tokens;
    };

    static std::list<Known> all;
    for (const Known& known : all)
        if (known.transformer == &transformer && known.sampling == sampling)
            return known.tokens;
    all.push_back(
        {&transformer, sampling, answerOf(*decoderOf("vanilla", sampling, transformer)).tokens});
    return all.back().tokens;
}

const std::vector<SamplingOptions> kOptions = {{},
                                               {.temperature = 0.8, .seed = 5},
                                               {.temperature = 0.8, .seed = 6},
                                               {.temperature = 1.5, .topK = 20, .seed = 6},
                                               {}};

} // namespace

class SamplingChangeTest : public QObject {
    Q_OBJECT

private slots:
    void tokensAreThoseOfAFreshVanilla_data();
    void tokensAreThoseOfAFreshVanilla();

    void anAnswerThatWasCutGoesOnAsIfItHadNotBeen_data() { tokensAreThoseOfAFreshVanilla_data(); }

    void anAnswerThatWasCutGoesOnAsIfItHadNotBeen();
    void theSearchGoesOn();
    void optionsOutOfRangeChangeNothing();
};

void SamplingChangeTest::tokensAreThoseOfAFreshVanilla_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("isTuned");
    for (const std::string& name : support::decoderNames())
        QTest::newRow(name.c_str()) << QString::fromStdString(name) << false;
    QTest::newRow("space, with its mask token") << "space" << true;
}

void SamplingChangeTest::tokensAreThoseOfAFreshVanilla() {
    QFETCH(const QString, name);
    QFETCH(const bool, isTuned);
    Transformer& transformer = isTuned ? tunedModel() : model();
    const auto decoder = decoderOf(name.toStdString(), kOptions.front(), transformer);
    std::vector<std::vector<TokenId>> answers;
    for (const SamplingOptions& options : kOptions) {
        QVERIFY(decoder->changeSampling(options).hasValue());
        const Outcome answer = answerOf(*decoder);
        QCOMPARE(answer.tokens, vanillaTokens(options, transformer));
        // The first answer may leave its prompt to the first step.
        if (!answers.empty())
            QCOMPARE(answer.cachedAtBegin, static_cast<int>(kPrompt.size()) - 1);
        answers.push_back(answer.tokens);
    }
    for (std::size_t i = 1; i < answers.size(); ++i)
        QVERIFY(answers[i] != answers[i - 1]); // else no option was seen to act
    QCOMPARE(answers.back(), answers.front());
}

/// The noise of every token hangs on its place in the answer, not behind what was read.
void SamplingChangeTest::anAnswerThatWasCutGoesOnAsIfItHadNotBeen() {
    QFETCH(const QString, name);
    QFETCH(const bool, isTuned);
    Transformer& transformer = isTuned ? tunedModel() : model();
    const SamplingOptions options{.temperature = 1.1, .seed = 7};
    const std::vector<TokenId>& whole = vanillaTokens(options, transformer);
    const auto decoder = decoderOf(name.toStdString(), options, transformer);
    support::FewCases few(2, !support::takesAllCases());
    for (const std::ptrdiff_t kept : {1, 2, 40, 17, kLength - 1}) {
        if (few.skipsNext())
            continue;
        const std::vector<TokenId> begun(whole.begin(), whole.begin() + kept);
        std::vector<TokenId> prompt = kPrompt;
        prompt.insert(prompt.end(), begun.begin(), begun.end());
        const int left = kLength - static_cast<int>(kept);
        const auto rest =
            generate(*decoder, {.prompt = prompt, .begun = begun, .limits = {.maxTokens = left}});
        QVERIFY(rest.hasValue());
        QCOMPARE(rest.value().tokens, std::vector<TokenId>(whole.begin() + kept, whole.end()));
    }
}

void SamplingChangeTest::theSearchGoesOn() {
    const auto decoder = decoderOf("swift", kOptions.front());
    int trials = 0;
    std::uint64_t planId = 0;
    for (const SamplingOptions& options : kOptions) {
        QVERIFY(decoder->changeSampling(options).hasValue());
        const Outcome answer = answerOf(*decoder);
        QVERIFY(!answer.search.trials.empty());
        for (const TrialRecord& trial : answer.search.trials) {
            trials += trial.counts ? 1 : 0;
            QCOMPARE(trial.index, trials); // counted on, never from the start
        }
        for (const PlanChange& change : answer.search.planChanges) {
            QCOMPARE(change.planId, ++planId);
            QCOMPARE(change.reason == "start", planId == 1);
        }
    }
    QVERIFY(trials > 50);
}

void SamplingChangeTest::optionsOutOfRangeChangeNothing() {
    for (const std::string& name : support::decoderNames()) {
        const auto decoder = decoderOf(name, kOptions[1]);
        const auto changed = decoder->changeSampling({.temperature = -1.0});
        QVERIFY(!changed);
        QCOMPARE(changed.error().code, ErrorCode::InvalidInput);
        QCOMPARE(answerOf(*decoder).tokens, vanillaTokens(kOptions[1]));
    }
}

QTEST_GUILESS_MAIN(SamplingChangeTest)
#include "sampling_change_test.moc"
