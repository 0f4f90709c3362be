// SPDX-License-Identifier: Apache-2.0
// On the cpu backend the trees, plans, trials and tokens of every decoder there is are the same
// from run to run and for one thread or two: nothing they decide hangs on how work is divided, nor
// on any clock but the one they are given. With the machine's own clock the tokens stay the same.
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/draft_model.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/models/tiny_adapter.h"

#include <QTest>

#include <algorithm>
#include <array>

using namespace engine;

namespace {

constexpr int kLayers = 6;
constexpr int kAnswerTokens = 72;

/// Wide enough that two threads share every product.
std::unique_ptr<Transformer> makeCpu(TensorType type, int threads) {
    ModelConfig config = support::layeredConfig(kLayers);
    config.hiddenSize = 128;
    config.mlpSize = 256;
    config.headDim = 32;
    config.vocabSize = 1200;
    const support::StoredWeights source(support::randomWeights(config, 4), type);
    cpu::Options options;
    options.weights = WeightForm::File;
    options.threads = threads;
    auto made = support::valueOf(makeCpuTransformer(config, source, options));
    const auto adapter = support::makeAdapter(config, support::AdapterKind::Random, 4);
    made->useDraftModel(support::valueOf(makeDraftModel(*made, adapter)));
    return made;
}

struct ToldTrial {
    std::string kind;
    double score = 0.0;
    LayerPlan plan;
    std::vector<TokenId> guesses;

    bool operator==(const ToldTrial&) const = default;
};

/// All that a decoder decides while it answers three prompts.
struct Reported {
    std::vector<std::vector<DraftNode>> trees;
    std::vector<std::vector<double>> confidences;
    std::vector<std::vector<int>> paths;
    std::vector<TokenId> tokens;
    std::vector<LayerPlan> plans;
    std::vector<ToldTrial> trials;

    bool operator==(const Reported&) const = default;

    void take(const SearchReport& report) {
        for (const PlanChange& change : report.planChanges)
            plans.push_back(change.plan);
        for (const TrialRecord& trial : report.trials)
            trials.push_back({trial.kind, trial.score, trial.plan, trial.guesses});
    }

    void take(const DecodeStep& step) {
        trees.emplace_back(step.draft.nodes().begin(), step.draft.nodes().end());
        confidences.emplace_back(step.draft.confidences().begin(), step.draft.confidences().end());
        paths.push_back(step.path);
        tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
        take(step.search);
    }
};

/// A clock that goes by how often it is asked.
StepClock countingClock() {
    return [ms = 0.0]() mutable { return ms += 1.0; };
}

Reported decode(Transformer& transformer,
                const std::string& name,
                const SettingValues& settings,
                StepClock clock = countingClock()) {
    const auto decoder = support::openDecoder(name,
                                              {.transformer = transformer,
                                               .contextLength = 320,
                                               .settings = settings,
                                               .clock = std::move(clock)});
    Reported told;
    std::vector<TokenId> prompt = {3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4};
    for (int turn = 0; turn < 3; ++turn) {
        ENGINE_CHECK(
            decoder->begin({.tokens = prompt, .maxTokens = kAnswerTokens, .task = "repeat"}, {})
                .hasValue(),
            "a prompt was refused");
        const std::size_t end = told.tokens.size() + kAnswerTokens;
        while (told.tokens.size() < end)
            told.take(decoder->step().value());
        told.take(decoder->endAnswer().value());
        prompt.push_back(7 + turn);
    }
    return told;
}

} // namespace

class DecoderRepeatTest : public QObject {
    Q_OBJECT

private slots:
    void everythingRepeatsWhateverTheThreads_data();
    void everythingRepeatsWhateverTheThreads();
    void everyDecoderRepeats_data();
    void everyDecoderRepeats();
    void anotherNetworkIsToldApart();
};

void DecoderRepeatTest::everythingRepeatsWhateverTheThreads_data() {
    QTest::addColumn<TensorType>("type");
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<SettingValues>("settings");
    QTest::addColumn<bool>("searches");
    const SettingValues searching = {{"gamma", 8.0},
                                     {"rows_per_trial", 1.0},
                                     {"search_share", 0.0}, // no clock is asked
                                     {"weigh", 0.0},
                                     {"epsilon", 0.0},
                                     {"max_draft", 4.0},
                                     {"beta", 5.0}};
    SettingValues both = searching;
    both.emplace("free_draft", 1.0);
    both.emplace("free_least", 0.0);
    const SettingValues free = {{"max_nodes", 7.0}, {"least_gain", 0.0}};
    int turn = 0; // in a sample each type has one of the three
    for (const TensorType type : {TensorType::BF16, TensorType::Q8_0, TensorType::Q4_1}) {
        const char* held = tensorTypeName(type).data();
        const auto isTaken = [&turn](int way) { return way == turn || support::takesAllCases(); };
        if (isTaken(0))
            QTest::addRow("swift, %s", held) << type << "swift" << searching << true;
        if (isTaken(1))
            QTest::addRow("swift with free drafts, %s", held) << type << "swift" << both << true;
        if (isTaken(2))
            QTest::addRow("lookup, %s", held) << type << "lookup" << free << false;
        ++turn;
    }
}

void DecoderRepeatTest::everythingRepeatsWhateverTheThreads() {
    QFETCH(const TensorType, type);
    QFETCH(const QString, decoder);
    QFETCH(const SettingValues, settings);
    QFETCH(const bool, searches);
    const auto one = makeCpu(type, 1);
    const auto two = makeCpu(type, 2);
    const std::string name = decoder.toStdString();
    const Reported first = decode(*one, name, settings);
    QVERIFY(decode(*one, name, settings) == first);
    QVERIFY(decode(*two, name, settings) == first);
    QVERIFY(first.trees.size() < first.tokens.size()); // some drafts were accepted
    QCOMPARE(first.trials.size() > 10, searches);
    QCOMPARE(first.plans.size() > 1, searches);
}

void DecoderRepeatTest::everyDecoderRepeats_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<TensorType>("type");
    constexpr std::array kTypes = {TensorType::BF16, TensorType::Q8_0, TensorType::Q4_1};
    std::size_t next = 0;
    for (const std::string& name : support::decoderNames())
        QTest::newRow(name.c_str()) << QString::fromStdString(name)
                                    << (name == "low_precision" // narrower weights get no copy
                                            ? TensorType::BF16
                                            : kTypes[next++ % kTypes.size()]);
}

void DecoderRepeatTest::everyDecoderRepeats() {
    QFETCH(const QString, decoder);
    QFETCH(const TensorType, type);
    const auto one = makeCpu(type, 1);
    const auto two = makeCpu(type, 2);
    const std::string name = decoder.toStdString();
    const SettingValues settings = support::neededSettings(name);
    const Reported first = decode(*one, name, settings);
    QVERIFY(decode(*two, name, settings) == first);
    QVERIFY(decode(*two, name, settings, {}).tokens == first.tokens); // by the machine's clock
    const bool drafts = std::any_of(
        first.trees.begin(), first.trees.end(), [](const auto& tree) { return !tree.empty(); });
    QCOMPARE(drafts, name != "vanilla");
}

/// What the comparison above is worth: a network that differs in its last bits only is found.
void DecoderRepeatTest::anotherNetworkIsToldApart() {
    const SettingValues free = {{"max_nodes", 7.0}, {"least_gain", 0.0}};
    const auto wide = makeCpu(TensorType::F32, 2);
    const auto narrow = makeCpu(TensorType::BF16, 2);
    QVERIFY(!(decode(*wide, "lookup", free) == decode(*narrow, "lookup", free)));
}

QTEST_GUILESS_MAIN(DecoderRepeatTest)
#include "decoder_repeat_test.moc"
