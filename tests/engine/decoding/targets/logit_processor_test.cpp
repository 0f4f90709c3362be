// SPDX-License-Identifier: Apache-2.0
// Penalties and biases change what the full model says by the tokens before each row, a draft's
// rows by their own path; compared with fresh passes and a slow reference.
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/target.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/grammar_walk.h"
#include "tests/support/lossless/lossless_case.h"
#include "tests/support/lossless/plain_penalties.h"
#include "tests/support/models/plain_model.h"

#include <QTest>

using namespace engine;
using support::Ids;

namespace {

const Ids kPrompt = {3, 1, 4, 1, 5};
constexpr std::size_t kAnswer = 30;

/// What the law makes of the logits behind prompt and answer, by a fresh pass.
std::vector<double>
plainRow(Transformer& transformer, const SamplingOptions& options, const Ids& answer) {
    Ids all = kPrompt;
    all.insert(all.end(), answer.begin(), answer.end());
    KvCache cache = support::emptyCache(transformer, 100);
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    const auto logits = support::runChain(transformer, cache, plan, all, 64);
    return support::penalised(logits.back(), options, kPrompt, answer);
}

std::vector<SamplingOptions> laws() {
    return {{.repetitionPenalty = 1.4},
            {.repetitionPenalty = 1.4, .repetitionWindow = 3},
            {.presencePenalty = 1.7},
            {.frequencyPenalty = 1.4},
            {.logitBias = {{7, 2.5}, {9, -1.0}}},
            {.temperature = 0.9,
             .topP = 0.95,
             .seed = 5,
             .repetitionPenalty = 1.2,
             .repetitionWindow = 6,
             .presencePenalty = 0.3,
             .frequencyPenalty = 0.2,
             .logitBias = {{7, 1.5}}},
            {.temperature = 1.1, .typicalP = 0.8, .seed = 6, .frequencyPenalty = -1.5},
            {.temperature = 1.1, .minP = 0.1, .seed = 7, .presencePenalty = -1.5}};
}

} // namespace

class LogitProcessorTest : public QObject {
    Q_OBJECT

private slots:
    void vanillaFollowsTheDefinition();
    void eachLawChangesTheText();
    void rowsOfATreeFollowTheirOwnPaths();
    void factsAreThoseOfTheLaw();
    void aChangeOfSamplingChangesTheLaw();
    void aBiasOutsideTheVocabularyIsRefused();
    void aGrammarLeavesTheTokensThatFit();
    void anAnswerThatIsCutInsideItsGrammarSaysSo();
    void aGrammarNeedsAVocabulary();
    void anAnswerThatGoesOnIsTheOneThatWasNeverStopped();
    void whereADraftIsStuckOnlyItsAcceptanceMatters();
    void whatHasBegunMustFitTheGrammar();

private:
    Ids answerOf(const SamplingOptions& sampling) {
        return support::vanillaAnswer(*m_model, kPrompt, kAnswer, sampling);
    }

    std::unique_ptr<Transformer> m_model = support::layeredModel(3, 7);
};

void LogitProcessorTest::vanillaFollowsTheDefinition() {
    for (const SamplingOptions& options : laws()) {
        const Sampler sampler(options);
        Ids expected;
        while (expected.size() < kAnswer)
            expected.push_back(sampler.choose(plainRow(*m_model, options, expected),
                                              static_cast<Position>(expected.size())));
        QCOMPARE(answerOf(options), expected);
    }
}

void LogitProcessorTest::eachLawChangesTheText() {
    for (const SamplingOptions& options : laws()) {
        const SamplingOptions without{.temperature = options.temperature,
                                      .topP = options.topP,
                                      .minP = options.minP,
                                      .typicalP = options.typicalP,
                                      .seed = options.seed};
        QVERIFY(answerOf(options) != answerOf(without));
    }
}

void LogitProcessorTest::rowsOfATreeFollowTheirOwnPaths() {
    for (const SamplingOptions& options : laws()) {
        Target target = Target::make(*m_model, options, 100, 8).value();
        QVERIFY(target.begin({kPrompt}, {}, 2).hasValue());
        Ids answer;
        for (int round = 0; round < 4; ++round) {
            DraftTree draft; // 6 -> 7 -> 6, 8 beside 6, and 1 behind 8
            draft.add(6, -1, 0.5);
            draft.add(8, -1, 0.3);
            draft.add(7, 0, 0.5);
            draft.add(1, 1, 0.5);
            draft.add(6, 2, 0.5);
            const std::vector<Ids> paths = {{}, {6}, {8}, {6, 7}, {8, 1}, {6, 7, 6}};
            const DecodeStep step = target.verify(draft, VerifyRule::Match).value();
            std::vector<std::vector<double>> found; // before other passes
            for (std::size_t row = 0; row < paths.size(); ++row) {
                const auto logits = target.lastLogits(static_cast<int>(row)).value();
                found.emplace_back(logits.begin(), logits.end());
            }
            for (std::size_t row = 0; row < paths.size(); ++row) {
                Ids behind = answer;
                behind.insert(behind.end(), paths[row].begin(), paths[row].end());
                const std::vector<double> expected = plainRow(*m_model, options, behind);
                QCOMPARE(target.lastSummaries()[row].ids, summarise(expected).ids);
                QCOMPARE(found[row], expected);
            }
            answer.insert(answer.end(), step.tokens.begin(), step.tokens.end());
        }
    }
}

void LogitProcessorTest::factsAreThoseOfTheLaw() {
    const SamplingOptions options{.repetitionPenalty = 1.4, .logitBias = {{7, 2.5}}};
    const auto decoder = makeVanillaDecoder(*m_model, options, 100).value();
    QVERIFY(decoder->begin({kPrompt}, {}).hasValue());
    const DecodeStep step = decoder->step().value();
    const HeadSummary expected = summarise(plainRow(*m_model, options, {}));
    QCOMPARE(step.facts.front().targetProbability, expected.probability(0));
}

void LogitProcessorTest::aChangeOfSamplingChangesTheLaw() {
    Target target = Target::make(*m_model, {}, 100, 8).value();
    for (const SamplingOptions& options : laws()) {
        QVERIFY(target.changeSampling(options).hasValue());
        QVERIFY(target.begin({kPrompt}, {}).hasValue());
        Ids found;
        while (found.size() < kAnswer)
            found.push_back(target.plainStep().value().tokens.front());
        QCOMPARE(found, answerOf(options));
    }
}

void LogitProcessorTest::aBiasOutsideTheVocabularyIsRefused() {
    const SamplingOptions options{.logitBias = {{160, 1.0}}};
    QVERIFY(!Target::make(*m_model, options, 100, 8));
    Target target = Target::make(*m_model, {}, 100, 8).value();
    const auto changed = target.changeSampling(options);
    QVERIFY(!changed);
    QCOMPARE(changed.error().code, ErrorCode::InvalidInput);
}

/// Greedy and drawn, each token the best of those that a walk byte by byte allows.
void LogitProcessorTest::aGrammarLeavesTheTokensThatFit() {
    const int vocabSize = m_model->config().vocabSize;
    const auto vocabulary = support::caseVocabulary(vocabSize);
    const std::vector<TokenId> endIds = {0};
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        support::CaseRandom random(seed);
        SamplingOptions options{.temperature = seed % 2 == 0 ? 0.0 : 0.8, .seed = seed};
        options.grammar = support::randomGrammar(random, vocabSize);
        support::GrammarWalk walk(options.grammar);
        const Sampler sampler(options);
        const auto decoder = makeVanillaDecoder(*m_model, options, 100).value();
        QVERIFY(decoder->begin({.tokens = kPrompt, .endIds = endIds, .vocabulary = vocabulary}, {})
                    .hasValue());
        Ids answer;
        std::string text;
        while (answer.size() < kAnswer && (answer.empty() || answer.back() != endIds.front())) {
            std::vector<double> logits = plainRow(*m_model, options, answer);
            for (TokenId id = 0; id < vocabSize; ++id) {
                const std::string& bytes = vocabulary->bytesOf(id);
                const bool isAllowed = id == endIds.front()
                                           ? walk.accepts(text)
                                           : !bytes.empty() && walk.allows(text + bytes);
                if (!isAllowed)
                    logits[static_cast<std::size_t>(id)] = -1e300;
            }
            const auto step = decoder->step();
            QVERIFY(step.hasValue());
            const TokenId token = step.value().tokens.front();
            QCOMPARE(token, sampler.choose(logits, static_cast<Position>(answer.size())));
            answer.push_back(token);
            text += vocabulary->bytesOf(token);
        }
    }
}

void LogitProcessorTest::anAnswerThatIsCutInsideItsGrammarSaysSo() {
    const int vocabSize = m_model->config().vocabSize;
    const std::vector<TokenId> endIds = {0};
    const auto endsInside = [&](const char* pattern, int maxTokens) {
        SamplingOptions options;
        options.grammar = {GrammarKind::Regex, pattern};
        const auto decoder = makeVanillaDecoder(*m_model, options, 100).value();
        auto result =
            support::valueOf(generate(*decoder,
                                      {.prompt = kPrompt,
                                       .limits = {.maxTokens = maxTokens, .endIds = endIds},
                                       .vocabulary = support::caseVocabulary(vocabSize),
                                       .grammar = options.grammar}));
        return result.isInsideGrammar;
    };
    // None of the longer texts of that vocabulary is made of these letters.
    QVERIFY(endsInside("[w-z]{9}", 8));
    QVERIFY(!endsInside("[w-z]{9}", 9));
    QVERIFY(!endsInside("[w-z]{9}", 20));
}

void LogitProcessorTest::aGrammarNeedsAVocabulary() {
    SamplingOptions options;
    options.grammar = {GrammarKind::Json};
    Target target = Target::make(*m_model, options, 100, 8).value();
    const auto refused = target.begin({kPrompt}, {});
    QVERIFY(!refused);
    QVERIFY(refused.error().message.starts_with("A grammar needs the texts of tokens"));
    options.grammar = {GrammarKind::Regex, "("};
    QVERIFY(!Target::make(*m_model, options, 100, 8));
}

void LogitProcessorTest::anAnswerThatGoesOnIsTheOneThatWasNeverStopped() {
    const int vocabSize = m_model->config().vocabSize;
    const auto vocabulary = support::caseVocabulary(vocabSize);
    const std::vector<TokenId> endIds = {0};
    SamplingOptions options{.repetitionPenalty = 1.2,
                            .repetitionWindow = 6,
                            .presencePenalty = 0.5,
                            .frequencyPenalty = 0.3};
    options.grammar = {GrammarKind::Regex, "(?:[A-Z]{2}[0-9 ]){20}"};
    const auto answer = [&](const Ids& begun) {
        Ids prompt = kPrompt;
        prompt.insert(prompt.end(), begun.begin(), begun.end());
        const auto decoder = makeVanillaDecoder(*m_model, options, 100).value();
        const int left = 20 - static_cast<int>(begun.size());
        return support::valueOf(generate(*decoder,
                                         {.prompt = prompt,
                                          .begun = begun,
                                          .limits = {.maxTokens = left, .endIds = endIds},
                                          .vocabulary = vocabulary}))
            .tokens;
    };
    const Ids whole = answer({});
    for (const std::ptrdiff_t cut : {1, 4, 11}) {
        Ids joined(whole.begin(), whole.begin() + cut);
        const Ids rest = answer(joined);
        joined.insert(joined.end(), rest.begin(), rest.end());
        QCOMPARE(joined, whole);
    }
}

/// A draft may lead where no token of the model can go on. Vanilla is told so once it stands there,
/// and speculation neither earlier nor elsewhere.
void LogitProcessorTest::whereADraftIsStuckOnlyItsAcceptanceMatters() {
    const auto vocabulary = support::caseVocabulary(m_model->config().vocabSize);
    constexpr TokenId kHalf = 97; // the first byte of a character whose second one no token has
    QCOMPARE(vocabulary->bytesOf(kHalf), std::string("\xC3"));
    for (const double bias : {-50.0, 50.0}) {
        SamplingOptions options;
        options.grammar = {GrammarKind::Regex, "(?:[A-Z]|\xC3\xA5)*"};
        options.logitBias = {{kHalf, bias}};
        const auto vanilla = makeVanillaDecoder(*m_model, options, 100).value();
        QVERIFY(vanilla->begin({.tokens = kPrompt, .vocabulary = vocabulary}, {}).hasValue());
        const Ids first = vanilla->step().value().tokens;
        const auto second = vanilla->step();
        QCOMPARE(first.front() == kHalf, bias > 0.0);
        QCOMPARE(second.hasValue(), bias < 0.0);
        Target target = Target::make(*m_model, options, 100, 8).value();
        QVERIFY(target.begin({.tokens = kPrompt, .vocabulary = vocabulary}, {}).hasValue());
        Draft draft;
        draft.tree.add(kHalf, -1, 1.0);
        const auto step = target.verify(std::move(draft));
        QVERIFY2(step.hasValue(), step ? "" : step.error().message.c_str());
        QCOMPARE(step.value().tokens, first);
        const auto next = target.plainStep();
        QCOMPARE(next.hasValue(), second.hasValue());
        if (next)
            QCOMPARE(next.value().tokens, second.value().tokens);
        else
            QCOMPARE(next.error().message, second.error().message);
    }
}

void LogitProcessorTest::whatHasBegunMustFitTheGrammar() {
    SamplingOptions options;
    options.grammar = {GrammarKind::Regex, "[0-9]*"};
    Target target = Target::make(*m_model, options, 100, 8).value();
    const auto vocabulary = support::caseVocabulary(m_model->config().vocabSize);
    const Ids fitting = {5, 1 + '7' - ' '};
    const Ids other = {5, 1 + 'x' - ' '};
    QVERIFY(target.begin({.tokens = fitting, .vocabulary = vocabulary, .begunTokens = 1}, {})
                .hasValue());
    const auto refused =
        target.begin({.tokens = other, .vocabulary = vocabulary, .begunTokens = 1}, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().message,
             "The answer so far does not have the form that is asked for.");
}

QTEST_APPLESS_MAIN(LogitProcessorTest)
#include "logit_processor_test.moc"
