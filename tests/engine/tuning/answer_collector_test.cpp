// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/tuning/rows/answer_collector.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace engine;
using support::Ids;

namespace {

constexpr int kLayers = 2;
constexpr unsigned kSeed = 7;
constexpr int kAnswer = 12;

Transformer& model() {
    static const auto made = support::layeredModel(kLayers, kSeed);
    return *made;
}

const std::vector<SamplingOptions>& samplings() {
    static const std::vector<SamplingOptions> all = {{},
                                                     {.temperature = 0.7, .topP = 0.9, .seed = 5},
                                                     {.temperature = 1.0, .seed = 6},
                                                     {.temperature = 0.7, .topP = 0.9, .seed = 8}};
    return all;
}

/// The first is read again in the second; the last one is a single token.
std::vector<Ids> prompts() {
    std::mt19937 random(2);
    const Ids first = support::randomIds(random, 6);
    return {first,
            support::joined(first, support::randomIds(random, 4)),
            support::randomIds(random, 9),
            support::firstOf(first, 1)};
}

AnswerCollector collectorFor(int contextLength, int answers = 4, int tokens = kAnswer) {
    auto made = AnswerCollector::make(model(), contextLength, answers, tokens);
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return std::move(made).value();
}

std::vector<AnswerRows>
collected(AnswerCollector& collector, const Ids& prompt, const Ids& endIds = {}) {
    auto rows = collector.collect(
        prompt, {.sampling = samplings(), .maxTokens = kAnswer, .endIds = endIds, .stop = {}});
    ENGINE_CHECK(rows.hasValue(), "{}", rows.error().message);
    return std::move(rows).value();
}

Ids answerOf(const AnswerRows& rows) {
    Ids ids(rows.tokens.begin() + rows.promptRows, rows.tokens.end());
    ids.push_back(rows.last);
    return ids;
}

/// Vanilla's answer, cut behind the first of these tokens.
Ids vanillaUntil(const Ids& prompt, const SamplingOptions& sampling, const Ids& endIds) {
    const Ids all = support::vanillaAnswer(model(), prompt, kAnswer, sampling);
    const auto end = std::find_first_of(all.begin(), all.end(), endIds.begin(), endIds.end());
    return support::firstOf(all, toSize(end - all.begin()) + 1);
}

/// What the model's head makes of a stored stream: the final norm, then the head.
double logitOf(std::span<const std::uint16_t> stream, TokenId token) {
    static support::MemoryWeights weights =
        support::randomWeights(support::layeredConfig(kLayers), kSeed);
    const std::vector<float>& norm = weights.values("model.norm.weight");
    const std::vector<float>& head = weights.values("lm_head.weight");
    double squares = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        const double value = floatFromHalf(stream[i]);
        squares += value * value;
        sum += value * norm[i] * head[toSize(token) * stream.size() + i];
    }
    return sum / std::sqrt(squares / static_cast<double>(stream.size()) + 1e-5);
}

} // namespace

class AnswerCollectorTest : public QObject {
    Q_OBJECT

private slots:
    void answersAreVanillasOwn();
    void answersEndWithAnEndToken();
    void teachersSayWhatTheModelSays();
    void streamsAreWhatTheHeadReads();
    void rowsDoNotDependOnEarlierPrompts();
    void ofALongPromptTheLastRowsAreKept();
    void wholePromptsAreKeptWhereTheyAreWanted();
    void aForbiddenTokenIsNeverWritten();
    void theContextEndsAnAnswer();
    void promptsThatDoNotFitAreRefused();
    void aStopCancelsIt();
};

void AnswerCollectorTest::answersAreVanillasOwn() {
    AnswerCollector collector = collectorFor(64);
    for (const Ids& prompt : prompts()) {
        const auto answers = collected(collector, prompt);
        QCOMPARE(answers.size(), samplings().size());
        for (std::size_t i = 0; i < answers.size(); ++i) {
            QCOMPARE(answerOf(answers[i]), vanillaUntil(prompt, samplings()[i], {}));
            QCOMPARE(answers[i].promptRows, static_cast<int>(prompt.size()));
            QCOMPARE(support::firstOf(answers[i].tokens, prompt.size()), prompt);
            QCOMPARE(answers[i].answerRows(), kAnswer - 1);
        }
    }
}

void AnswerCollectorTest::answersEndWithAnEndToken() {
    AnswerCollector collector = collectorFor(64);
    for (const Ids& prompt : prompts()) {
        const Ids greedy = support::vanillaAnswer(model(), prompt, kAnswer);
        for (const std::size_t place : {std::size_t{0}, std::size_t{4}, std::size_t{11}}) {
            const Ids endIds = {greedy[place], 3};
            const auto answers = collected(collector, prompt, endIds);
            for (std::size_t i = 0; i < answers.size(); ++i)
                QCOMPARE(answerOf(answers[i]), vanillaUntil(prompt, samplings()[i], endIds));
        }
    }
}

void AnswerCollectorTest::teachersSayWhatTheModelSays() {
    AnswerCollector collector = collectorFor(64);
    const Ids prompt = prompts()[1];
    for (const AnswerRows& rows : collected(collector, prompt)) {
        QCOMPARE(rows.teacher.size(), toSize(rows.answerRows() + 1));
        for (std::size_t i = 0; i < rows.teacher.size(); ++i) {
            const Ids read = support::firstOf(rows.tokens, prompt.size() + i);
            const HeadSummary wanted = support::freshSummary(model(), read);
            QVERIFY(rows.teacher[i].ids == wanted.ids);
            for (std::size_t rank = 0; rank < wanted.ids.size(); ++rank)
                QVERIFY(std::abs(static_cast<double>(rows.teacher[i].logProbabilities[rank]) -
                                 (wanted.logits[rank] - wanted.logSumExp)) < 1e-5);
        }
    }
}

void AnswerCollectorTest::streamsAreWhatTheHeadReads() {
    AnswerCollector collector = collectorFor(64);
    const std::size_t width = toSize(model().config().hiddenSize);
    for (const AnswerRows& rows : collected(collector, prompts()[2])) {
        QCOMPARE(rows.streams.size(), toSize(rows.rows()) * width);
        for (std::size_t row = 0; row < rows.tokens.size(); ++row) {
            const auto stream = std::span(rows.streams).subspan(row * width, width);
            const HeadSummary wanted =
                support::freshSummary(model(), support::firstOf(rows.tokens, row + 1));
            for (std::size_t rank = 0; rank < wanted.ids.size(); ++rank)
                QVERIFY(std::abs(logitOf(stream, wanted.ids[rank]) - wanted.logits[rank]) < 0.02);
        }
    }
}

void AnswerCollectorTest::rowsDoNotDependOnEarlierPrompts() {
    AnswerCollector used = collectorFor(64);
    for (int round = 0; round < 2; ++round)
        for (const Ids& prompt : prompts()) {
            AnswerCollector fresh = collectorFor(64);
            QVERIFY(collected(used, prompt) == collected(fresh, prompt));
        }
}

void AnswerCollectorTest::ofALongPromptTheLastRowsAreKept() {
    std::mt19937 random(4);
    const Ids prompt = support::randomIds(random, 300);
    AnswerCollector collector = collectorFor(330);
    collected(collector, support::firstOf(prompt, 290)); // most of it is cached
    const auto answers = collected(collector, prompt);
    const Ids kept(prompt.end() - kPromptRows, prompt.end());
    for (std::size_t i = 0; i < answers.size(); ++i) {
        QCOMPARE(answers[i].promptRows, kPromptRows);
        QCOMPARE(support::firstOf(answers[i].tokens, toSize(kPromptRows)), kept);
        QCOMPARE(answerOf(answers[i]), vanillaUntil(prompt, samplings()[i], {}));
    }
    AnswerCollector fresh = collectorFor(330);
    QVERIFY(collected(fresh, prompt) == answers);
}

void AnswerCollectorTest::wholePromptsAreKeptWhereTheyAreWanted() {
    std::mt19937 random(4);
    const Ids prompt = support::randomIds(random, 300);
    AnswerCollector collector =
        AnswerCollector::make(model(), 330, static_cast<int>(samplings().size()), kAnswer, 330)
            .value();
    collected(collector, support::firstOf(prompt, 290));
    for (const AnswerRows& rows : collected(collector, prompt)) {
        QCOMPARE(rows.promptRows, 300);
        QCOMPARE(support::firstOf(rows.tokens, 300), prompt);
        QCOMPARE(rows.streams.size(), rows.tokens.size() * toSize(model().config().hiddenSize));
    }
}

/// Of answers that vanilla writes with it.
void AnswerCollectorTest::aForbiddenTokenIsNeverWritten() {
    const Ids prompt = prompts()[0];
    AnswerCollector collector = collectorFor(64);
    const TokenId common = answerOf(collected(collector, prompt).front()).front();
    const auto rows = collector.collect(prompt,
                                        {.sampling = samplings(),
                                         .maxTokens = kAnswer,
                                         .endIds = {},
                                         .stop = {},
                                         .forbidden = common});
    QVERIFY(rows.hasValue());
    for (const AnswerRows& answer : rows.value()) {
        QCOMPARE(std::ranges::count(answerOf(answer), common), 0);
        for (const TeacherRow& teacher : answer.teacher)
            QCOMPARE(std::ranges::count(teacher.ids, common), 0);
    }
}

void AnswerCollectorTest::theContextEndsAnAnswer() {
    const Ids prompt = prompts()[2];
    AnswerCollector collector = collectorFor(static_cast<int>(prompt.size()) + 3);
    const Ids vanilla = support::vanillaAnswer(model(), prompt, kAnswer);
    QCOMPARE(answerOf(collected(collector, prompt).front()), support::firstOf(vanilla, 3));
    AnswerCollector narrow = collectorFor(static_cast<int>(prompt.size()) + 1);
    const AnswerRows rows = collected(narrow, prompt).front();
    QCOMPARE(answerOf(rows), support::firstOf(vanilla, 1));
    QCOMPARE(rows.answerRows(), 0);
}

void AnswerCollectorTest::promptsThatDoNotFitAreRefused() {
    AnswerCollector collector = collectorFor(16);
    std::mt19937 random(4);
    for (const Ids& prompt : {Ids(), support::randomIds(random, 16), Ids{3, 160}, Ids{-1}}) {
        const auto refused = collector.collect(
            prompt, {.sampling = samplings(), .maxTokens = 2, .endIds = {}, .stop = {}});
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    }
    QCOMPARE(answerOf(collected(collector, Ids{3}).front()),
             support::vanillaAnswer(model(), {3}, kAnswer)); // it still works
}

void AnswerCollectorTest::aStopCancelsIt() {
    AnswerCollector collector = collectorFor(64);
    std::stop_source source;
    source.request_stop();
    const Ids prompt = prompts()[0];
    const auto cancelled = collector.collect(
        prompt,
        {.sampling = samplings(), .maxTokens = kAnswer, .endIds = {}, .stop = source.get_token()});
    QVERIFY(!cancelled.hasValue());
    QCOMPARE(cancelled.error().code, ErrorCode::Cancelled);
    QCOMPARE(answerOf(collected(collector, prompt).front()),
             support::vanillaAnswer(model(), prompt, kAnswer));
}

QTEST_GUILESS_MAIN(AnswerCollectorTest)
#include "answer_collector_test.moc"
