// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/priced_transformer.h"
#include "tests/support/transformers/spy_transformer.h"
#include "tests/support/transformers/tabular_transformer.h"

#include <QTest>

#include <map>

using namespace engine;
using support::firstOf;
using support::Ids;
using support::tokensOf;

namespace {

constexpr int kLength = 40;
const Ids kPrompt = {3, 1, 4, 1, 5, 9, 2, 6};

Transformer& model() {
    static const auto made = support::layeredModel(3, 5);
    return *made;
}

SettingValues settingsOf(const std::string& mode, int block, const std::string& refill = "random") {
    return {{"mode", mode}, {"block", static_cast<double>(block)}, {"refill", refill}};
}

std::unique_ptr<Decoder> decoderOf(const std::string& name,
                                   const SettingValues& settings,
                                   const SamplingOptions& sampling = {},
                                   Transformer& transformer = model()) {
    return support::openDecoder(name,
                                {.transformer = transformer,
                                 .sampling = sampling,
                                 .contextLength = 300,
                                 .settings = settings});
}

void begin(Decoder& decoder, const Ids& prompt, const Ids& ends = {}, int length = kLength) {
    const auto begun = decoder.begin({.tokens = prompt, .maxTokens = length, .endIds = ends}, {});
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
}

std::vector<DecodeStep>
answer(Decoder& decoder, const Ids& prompt = kPrompt, int length = kLength) {
    return support::answer(decoder, {.tokens = prompt, .maxTokens = length});
}

Ids guessesOf(const DecodeStep& step) { return support::draftedTokens(step.draft); }

/// A column of the table of guesses.
Ids columnOf(const DecodeStep& step, std::size_t column) {
    Ids tokens;
    for (const auto& row : step.tables.front().rows)
        tokens.push_back(std::get<TokenCell>(row[column]).token);
    return tokens;
}

bool isChain(const DraftTree& tree) {
    for (int node = 0; node < tree.size(); ++node)
        if (tree.node(node).parent != node - 1)
            return false;
    return tree.draftSteps() == tree.size();
}

Ids behind(const Ids& ids, std::size_t count) {
    return {ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size())), ids.end()};
}

} // namespace

class JacobiTest : public QObject {
    Q_OBJECT

private slots:
    void neverMorePassesThanTokens_data();
    void neverMorePassesThanTokens();
    void everyGuessIsWhatTheModelSaid_data();
    void everyGuessIsWhatTheModelSaid();
    void drawnGuessesUseTheNoiseOfTheirPlaces();
    void aJacobiBlockIsAlwaysFull();
    void aGaussSeidelBlockIsSolvedBeforeTheNext();
    void aHybridEndsWithItsBudget();
    void nothingIsGuessedBehindAGuessedEnd();
    void thePoolGuessesWhatFollowedBefore();
    void thePoolSavesPassesWhereTextRepeats();
    void aPlainStepBetweenKeepsTheGuesses();
    void sampledTokensAreVanillasWithOtherOptionsToo();
    void guessesRepeatFromPromptToPrompt();
    void automaticBlocksSuitTheBackend();
    void anAutomaticBlockFollowsWhatRowsCost();
};

void JacobiTest::neverMorePassesThanTokens_data() {
    QTest::addColumn<SettingValues>("settings");
    QTest::addColumn<double>("temperature");
    for (const double temperature : {0.0, 0.4, 1.0})
        for (const char* mode : {"jacobi", "gauss_seidel", "hybrid"})
            for (const int block : {1, 3, 5, 512}) // the last one: the whole answer
                for (const char* refill : {"random", "pool"})
                    QTest::addRow("%s, %d, %s, at %.1f", mode, block, refill, temperature)
                        << settingsOf(mode, block, refill) << temperature;
}

void JacobiTest::neverMorePassesThanTokens() {
    QFETCH(const SettingValues, settings);
    QFETCH(const double, temperature);
    const SamplingOptions sampling{.temperature = temperature, .seed = 4};
    static std::map<double, Ids> vanilla;
    Ids& expected = vanilla[temperature];
    if (expected.empty())
        expected = tokensOf(answer(*decoderOf("vanilla", {}, sampling)));
    support::SpyTransformer spy(model());
    const auto decoder = decoderOf("jacobi", settings, sampling, spy);
    begin(*decoder, kPrompt);
    const int before = spy.passes;
    Ids found;
    while (static_cast<int>(found.size()) < kLength) {
        const auto step = decoder->step();
        QVERIFY(step.hasValue() && isChain(step.value().draft));
        QCOMPARE(step.value().draftLayers, 0.0);
        found.insert(found.end(), step.value().tokens.begin(), step.value().tokens.end());
        QVERIFY(spy.passes - before <= static_cast<int>(found.size()));
    }
    QCOMPARE(found, expected);
}

void JacobiTest::everyGuessIsWhatTheModelSaid_data() {
    QTest::addColumn<double>("temperature");
    for (const double temperature : {0.0, 0.7})
        QTest::addRow("at %.1f", temperature) << temperature;
}

void JacobiTest::everyGuessIsWhatTheModelSaid() {
    QFETCH(const double, temperature);
    const auto decoder =
        decoderOf("jacobi", settingsOf("jacobi", 8), {.temperature = temperature, .seed = 4});
    const auto steps = answer(*decoder);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        const DecodeStep& step = steps[i];
        QCOMPARE(columnOf(step, 1), guessesOf(step));
        // The first places are decided: what the model said there is what was emitted.
        const Ids said = columnOf(step, 2);
        const std::size_t decided = step.tokens.size();
        QCOMPARE(firstOf(said, decided), firstOf(step.tokens, said.size()));
        // What it said of the others is guessed next, in front of what fills the block up.
        const Ids next = guessesOf(steps[i + 1]);
        const Ids shifted = firstOf(behind(said, decided), next.size());
        QCOMPARE(firstOf(next, shifted.size()), shifted);
        QCOMPARE(step.tables.front().chosenRow, static_cast<int>(step.path.size()) - 1);
    }
}

void JacobiTest::drawnGuessesUseTheNoiseOfTheirPlaces() {
    const support::BigramTable table(10, 3, 1.0);
    support::TabularTransformer network(table, table);
    const auto decoder =
        decoderOf("jacobi", settingsOf("jacobi", 6), {.temperature = 1.0, .seed = 4}, network);
    int several = 0;
    for (const DecodeStep& step : answer(*decoder, kPrompt, 150)) {
        if (step.isPlain())
            continue;
        // Behind guesses that are right, what is guessed next is what vanilla draws there.
        const Ids said = columnOf(step, 2);
        const std::size_t known = std::min(said.size(), step.tokens.size());
        QCOMPARE(firstOf(said, known), firstOf(step.tokens, known));
        several += known > 1 ? 1 : 0;
    }
    QVERIFY2(several > 5, qPrintable(QString::number(several)));
}

void JacobiTest::aJacobiBlockIsAlwaysFull() {
    for (const int block : {1, 4, 512}) {
        int emitted = 0;
        for (const DecodeStep& step : answer(*decoderOf("jacobi", settingsOf("jacobi", block)))) {
            QCOMPARE(step.draft.size(), std::min(block, kLength - emitted - 1));
            emitted += static_cast<int>(step.tokens.size());
        }
    }
}

void JacobiTest::aGaussSeidelBlockIsSolvedBeforeTheNext() {
    for (const int block : {1, 3, 5}) {
        int emitted = 0;
        int left = 0; // places of the block
        int passes = 0;
        for (const DecodeStep& step :
             answer(*decoderOf("jacobi", settingsOf("gauss_seidel", block)))) {
            const int room = kLength - emitted - 1;
            if (left <= 0) {
                left = std::min(block, room);
                passes = 0;
            }
            QCOMPARE(step.draft.size(), std::min(left, room));
            QVERIFY(++passes <= block);
            left -= static_cast<int>(step.tokens.size());
            emitted += static_cast<int>(step.tokens.size());
        }
    }
}

void JacobiTest::aHybridEndsWithItsBudget() {
    SettingValues settings = settingsOf("hybrid", 3);
    settings.emplace("budget", 10.0);
    int emitted = 0;
    int plain = 0;
    for (const DecodeStep& step : answer(*decoderOf("jacobi", settings))) {
        QCOMPARE(step.isPlain(), emitted >= 10);
        plain += step.isPlain() ? 1 : 0;
        emitted += static_cast<int>(step.tokens.size());
    }
    QVERIFY(plain >= kLength - 10 - 3);
}

void JacobiTest::nothingIsGuessedBehindAGuessedEnd() {
    const auto decoder = decoderOf("jacobi", settingsOf("jacobi", 8));
    const auto steps = answer(*decoder);
    const Ids text = tokensOf(steps);
    Ids others; // guesses that the answer does not have
    for (std::size_t i = 1; i < steps.size(); ++i)
        for (const TokenId token : guessesOf(steps[i]))
            if (std::find(text.begin(), text.end(), token) == text.end() &&
                std::find(kPrompt.begin(), kPrompt.end(), token) == kPrompt.end())
                others.push_back(token);
    QVERIFY(!others.empty());
    const Ids ends = {others.front()};
    begin(*decoder, kPrompt, ends);
    int cut = 0;
    int emitted = 0;
    while (emitted < kLength) {
        const DecodeStep step = decoder->step().value();
        const Ids guesses = guessesOf(step);
        const auto end = std::find(guesses.begin(), guesses.end(), ends[0]);
        QVERIFY(end == guesses.end() || end + 1 == guesses.end());
        const int full = std::min(8, kLength - emitted - 1);
        cut += static_cast<int>(guesses.size()) < full ? 1 : 0;
        QVERIFY(static_cast<int>(guesses.size()) == full || end != guesses.end());
        emitted += static_cast<int>(step.tokens.size());
    }
    QVERIFY(cut > 0);
}

void JacobiTest::thePoolGuessesWhatFollowedBefore() {
    const auto decoder = decoderOf("jacobi", settingsOf("jacobi", 5, "pool"));
    const auto steps = answer(*decoder, {1, 2, 3, 4, 5, 6, 7, 1});
    QCOMPARE(guessesOf(steps.front()), (Ids{2, 3, 4, 5, 6})); // behind 1, then behind 4
    const auto random = answer(*decoderOf("jacobi", settingsOf("jacobi", 5)), {1, 2, 3, 1});
    for (const TokenId token : guessesOf(random.front()))
        QVERIFY(token >= 1 && token <= 3);
}

void JacobiTest::thePoolSavesPassesWhereTextRepeats() {
    constexpr int kLong = 120; // two tokens decide what follows: it comes to repeat itself
    const support::BigramTable table(30, 3, 2.0);
    support::TabularTransformer network(table, table);
    const auto run = [&](const std::string& name, const SettingValues& settings) {
        return answer(*decoderOf(name, settings, {}, network), kPrompt, kLong);
    };
    const Ids expected = tokensOf(run("vanilla", {}));
    const auto pooled = run("jacobi", settingsOf("gauss_seidel", 3, "pool"));
    const auto random = run("jacobi", settingsOf("gauss_seidel", 3));
    QCOMPARE(tokensOf(pooled), expected);
    QCOMPARE(tokensOf(random), expected);
    const QString passes = QString("%1 and %2 passes").arg(pooled.size()).arg(random.size());
    QVERIFY2(4 * pooled.size() < 3 * random.size(), qPrintable(passes));
    qInfo("%s", qPrintable(passes));
}

void JacobiTest::aPlainStepBetweenKeepsTheGuesses() {
    const auto decoder = decoderOf("jacobi", settingsOf("gauss_seidel", 6));
    begin(*decoder, kPrompt);
    const DecodeStep first = decoder->step().value();
    const Ids left = behind(columnOf(first, 2), first.tokens.size());
    QVERIFY(left.size() > 1);
    const DecodeStep plain = decoder->plainStep().value();
    QVERIFY(plain.isPlain());
    QCOMPARE(guessesOf(decoder->step().value()), behind(left, 1));
}

void JacobiTest::sampledTokensAreVanillasWithOtherOptionsToo() {
    const auto decoder = decoderOf("jacobi", settingsOf("jacobi", 6, "pool"));
    for (const SamplingOptions& sampling :
         {SamplingOptions{}, {.temperature = 0.5, .seed = 2}, {.temperature = 1.1, .topK = 9}}) {
        QVERIFY(decoder->changeSampling(sampling).hasValue());
        QCOMPARE(tokensOf(answer(*decoder)), tokensOf(answer(*decoderOf("vanilla", {}, sampling))));
    }
}

void JacobiTest::guessesRepeatFromPromptToPrompt() {
    const auto decoder = decoderOf("jacobi", settingsOf("gauss_seidel", 4, "pool"));
    const auto first = answer(*decoder);
    (void)answer(*decoder, {7, 7, 3});
    const auto again = answer(*decoder);
    QCOMPARE(again.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i)
        QCOMPARE(guessesOf(again[i]), guessesOf(first[i]));
}

void JacobiTest::automaticBlocksSuitTheBackend() {
    const auto sizeOf = [](const std::string& mode) {
        return answer(*decoderOf("jacobi", settingsOf(mode, 0))).front().draft.size();
    };
    QCOMPARE(sizeOf("jacobi"), model().preferredTreeNodes() / 2);
    QCOMPARE(sizeOf("gauss_seidel"), 3);
    QCOMPARE(sizeOf("hybrid"), 3);
}

/// From answer to answer, and only where the user has not said how long it is.
void JacobiTest::anAutomaticBlockFollowsWhatRowsCost() {
    const auto secondBlock = [](int block, double rowPart) {
        support::PricedTransformer priced(model(), {.rowPart = rowPart});
        const auto decoder = support::openDecoder("jacobi",
                                                  {.transformer = priced,
                                                   .contextLength = 300,
                                                   .settings = settingsOf("jacobi", block),
                                                   .clock = priced.clock()});
        begin(*decoder, kPrompt);
        for (int i = 0; i < 5; ++i) {
            (void)decoder->plainStep().value();
            const int guesses = decoder->step().value().draft.size();
            ENGINE_CHECK(guesses == (block > 0 ? block : 3), "{} guesses in one answer", guesses);
        }
        begin(*decoder, kPrompt);
        return decoder->step().value().draft.size();
    };
    QVERIFY(secondBlock(0, 0.0) > 3);
    QCOMPARE(secondBlock(0, 0.5), 1);
    QCOMPARE(secondBlock(5, 0.0), 5);
    QCOMPARE(secondBlock(5, 0.5), 5);
}

QTEST_GUILESS_MAIN(JacobiTest)
#include "jacobi_test.moc"
