// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/penalties.h"
#include "tests/support/lossless/plain_penalties.h"

#include <QTest>

#include <limits>
#include <random>

using namespace engine;

namespace {

using Ids = std::vector<TokenId>;

constexpr int kVocab = 24;

struct Text {
    Ids prompt;
    Ids answer;

    Ids all() const {
        Ids joined = prompt;
        joined.insert(joined.end(), answer.begin(), answer.end());
        return joined;
    }
};

std::vector<double>
apply(const SamplingOptions& options, const Text& text, std::vector<double> logits) {
    Penalties(options, static_cast<int>(logits.size()))
        .apply(text.all(), text.prompt.size(), logits);
    return logits;
}

double part(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1.0p-53; }

SamplingOptions randomOptions(std::mt19937_64& random) {
    SamplingOptions options;
    if (random() % 2 == 0)
        options.repetitionPenalty = 0.2 + 3.0 * part(random);
    options.repetitionWindow = static_cast<int>(random() % 3 == 0 ? 0 : random() % 30);
    if (random() % 2 == 0)
        options.presencePenalty = 4.0 * part(random) - 2.0;
    if (random() % 2 == 0)
        options.frequencyPenalty = 4.0 * part(random) - 2.0;
    for (TokenId token = 0; token < kVocab; ++token)
        if (random() % 8 == 0)
            options.logitBias.push_back({token, 20.0 * part(random) - 10.0});
    return options;
}

Ids randomIds(std::mt19937_64& random, std::size_t most) {
    Ids ids(random() % (most + 1));
    for (TokenId& id : ids)
        id = static_cast<TokenId>(random() % kVocab);
    return ids;
}

} // namespace

class PenaltiesTest : public QObject {
    Q_OBJECT

private slots:
    void eachPenaltyDoesWhatItsDefinitionSays();
    void rowsAreThoseOfTheDefinition();
    void oneObjectServesManyRows();
    void whatIsForbiddenStaysForbidden();
    void theyAreOffWhenNothingIsAsked();
    void optionsOutsideTheirRangeAreRefused_data();
    void optionsOutsideTheirRangeAreRefused();
    void aBiasBelongsToTheVocabulary();
};

/// By hand: token 0 stands once in the prompt, 1 once in the answer, 2 twice there, 3 nowhere.
void PenaltiesTest::eachPenaltyDoesWhatItsDefinitionSays() {
    const Text text{{0}, {2, 1, 2}};
    const std::vector<double> logits = {3.0, -3.0, 1.5, 2.0};
    using Row = std::vector<double>;
    QCOMPARE(apply({.repetitionPenalty = 1.5}, text, logits), (Row{2.0, -4.5, 1.0, 2.0}));
    QCOMPARE(apply({.repetitionPenalty = 1.5, .repetitionWindow = 2}, text, logits),
             (Row{3.0, -4.5, 1.0, 2.0}));
    QCOMPARE(apply({.repetitionPenalty = 1.5, .repetitionWindow = 1}, text, logits),
             (Row{3.0, -3.0, 1.0, 2.0}));
    QCOMPARE(apply({.presencePenalty = 0.5}, text, logits), (Row{3.0, -3.5, 1.0, 2.0}));
    QCOMPARE(apply({.frequencyPenalty = 0.5}, text, logits), (Row{3.0, -3.5, 0.5, 2.0}));
    QCOMPARE(apply({.logitBias = {{3, -2.0}, {0, 1.0}}}, text, logits), (Row{4.0, -3.0, 1.5, 0.0}));
}

void PenaltiesTest::rowsAreThoseOfTheDefinition() {
    std::mt19937_64 random(7);
    for (int i = 0; i < 2000; ++i) {
        const SamplingOptions options = randomOptions(random);
        const Text text{randomIds(random, 40), randomIds(random, 40)};
        std::vector<double> logits(kVocab);
        for (double& logit : logits)
            logit = random() % 6 == 0 ? 0.0 : 20.0 * part(random) - 10.0;
        QCOMPARE(apply(options, text, logits),
                 support::penalised(logits, options, text.prompt, text.answer));
    }
}

void PenaltiesTest::oneObjectServesManyRows() {
    std::mt19937_64 random(8);
    const SamplingOptions options{
        .repetitionPenalty = 1.3, .presencePenalty = 0.4, .frequencyPenalty = 0.2};
    Penalties penalties(options, kVocab);
    for (int i = 0; i < 50; ++i) {
        const Text text{randomIds(random, 20), randomIds(random, 20)};
        const std::vector<double> logits(kVocab, 1.0);
        std::vector<double> found = logits;
        penalties.apply(text.all(), text.prompt.size(), found);
        QCOMPARE(found, support::penalised(logits, options, text.prompt, text.answer));
    }
}

void PenaltiesTest::whatIsForbiddenStaysForbidden() {
    const double never = -std::numeric_limits<double>::infinity();
    const SamplingOptions options{.repetitionPenalty = 0.5,
                                  .presencePenalty = -2.0,
                                  .frequencyPenalty = -2.0,
                                  .logitBias = {{1, 100.0}}};
    QCOMPARE(apply(options, {{1}, {1}}, {0.0, never})[1], never);
}

void PenaltiesTest::theyAreOffWhenNothingIsAsked() {
    QVERIFY(Penalties({.temperature = 0.7, .repetitionWindow = 64}, kVocab).areOff());
    QVERIFY(!Penalties({.repetitionPenalty = 1.1}, kVocab).areOff());
    QVERIFY(!Penalties({.presencePenalty = -0.1}, kVocab).areOff());
    QVERIFY(!Penalties({.frequencyPenalty = 0.1}, kVocab).areOff());
    QVERIFY(!Penalties({.logitBias = {{3, 1.0}}}, kVocab).areOff());
}

void PenaltiesTest::optionsOutsideTheirRangeAreRefused_data() {
    QTest::addColumn<SamplingOptions>("options");
    QTest::addColumn<QString>("sentence");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto add = [](const char* sentence, SamplingOptions options) {
        QTest::addRow("%s", sentence) << std::move(options) << QString(sentence);
    };
    add("Min-p is 1, but must be at least 0 and below 1.", {.minP = 1.0});
    add("Min-p is nan, but", {.minP = nan});
    add("Typical-p is 0, but must be above 0 and at most 1.", {.typicalP = 0.0});
    add("The repetition penalty is 0, but must be above 0 and at most 10.",
        {.repetitionPenalty = 0.0});
    add("The repetition penalty is 1e+300, but", {.repetitionPenalty = 1e300});
    add("The repetition window is -1, but must not be negative.", {.repetitionWindow = -1});
    add("The presence penalty is 2.5, but must be between -2 and 2.", {.presencePenalty = 2.5});
    add("The frequency penalty is nan, but", {.frequencyPenalty = nan});
    add("The logit bias of token 7 is 101, but must be between -100 and 100.",
        {.logitBias = {{7, 101.0}}});
    add("Token 7 has two logit biases.", {.logitBias = {{7, 1.0}, {8, 1.0}, {7, 2.0}}});
}

void PenaltiesTest::optionsOutsideTheirRangeAreRefused() {
    QFETCH(SamplingOptions, options);
    QFETCH(QString, sentence);
    const auto checked = options.validate();
    QVERIFY(!checked);
    const QString message = QString::fromStdString(checked.error().message);
    QVERIFY2(message.startsWith(sentence), qPrintable(message));
    QVERIFY(!checked.error().hint.empty());
}

void PenaltiesTest::aBiasBelongsToTheVocabulary() {
    const SamplingOptions options{.logitBias = {{24, 1.0}}};
    QVERIFY(options.validate().hasValue());
    QVERIFY(options.validateFor(25).hasValue());
    const auto refused = options.validateFor(kVocab);
    QVERIFY(!refused);
    QCOMPARE(refused.error().message,
             "The logit bias names token 24, but the model's vocabulary has the ids 0 to 23.");
}

QTEST_GUILESS_MAIN(PenaltiesTest)
#include "penalties_test.moc"
