// SPDX-License-Identifier: Apache-2.0
// When auto drafts with a 4-bit copy of the weights, on networks that a table makes and at made-up
// prices: no clock of the machine is asked.
#include "engine/model/cpu/cpu_backend.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/priced_transformer.h"
#include "tests/support/transformers/tabular_transformer.h"

#include <QTest>

#include <algorithm>
#include <map>

using namespace engine;
using support::BigramTable;
using support::PricedTransformer;
using support::TabularTransformer;

namespace {

constexpr int kTokens = 400;

/// Nothing but chains of passes: what was seen before would win on the loops of a table.
const SettingValues kPassesOnly = {{"lookup", 0.0}, {"successors", 0.0}, {"search_beside", 0.0}};

struct Run {
    std::vector<TokenId> tokens;
    std::map<std::string_view, int> drafters; ///< rounds of each
    std::vector<std::string> notes;
    double ms = 0.0;
    double copyShare = 1.0; ///< at the end of the answer
};

Run answer(const char* decoder,
           Transformer& model,
           SettingValues settings = {},
           const std::vector<TokenId>& prompt = {3, 1, 4}) {
    PricedTransformer priced(model);
    const auto made = support::openDecoder(decoder,
                                           {.transformer = priced,
                                            .contextLength = 512,
                                            .settings = std::move(settings),
                                            .clock = priced.clock()});
    Run run;
    for (const DecodeStep& step :
         support::answer(*made, {.tokens = prompt, .maxTokens = kTokens})) {
        run.tokens.insert(run.tokens.end(), step.tokens.begin(), step.tokens.end());
        ++run.drafters[step.choice.drafter];
        run.notes.insert(run.notes.end(), step.search.notes.begin(), step.search.notes.end());
    }
    run.ms = priced.nowMs;
    run.copyShare = model.copyShare();
    return run;
}

SettingValues with(SettingValues settings, const std::string& name, double value) {
    settings[name] = value;
    return settings;
}

double noMemory() { return 0.0; }

} // namespace

class AutoCopyTest : public QObject {
    Q_OBJECT

private slots:
    void aCopyThatAgreesIsDraftedWith();
    void aCopyOfNoiseIsCountedAndNotDraftedWith();
    void freeDraftsDoNotHideTheCopy();
    void theCopyGoesWhenItIsNoLongerWanted();
    void theSettingLeavesItOut();
    void wantOfMemoryIsToldAndCostsNothing();
    void narrowWeightsAreNotWorthASentence();
};

/// At .3 of a plain step for a pass and .05 for a row, six tokens of a sure copy cost 3.1 plain
/// steps and give 7 tokens.
void AutoCopyTest::aCopyThatAgreesIsDraftedWith() {
    const BigramTable table(24, 5, 3.0);
    TabularTransformer model(table, table);
    model.makesCopies = true;
    const Run vanilla = answer("vanilla", model);
    const Run run = answer("auto", model, kPassesOnly);
    QCOMPARE(run.tokens, vanilla.tokens);
    QVERIFY(run.drafters.contains("copy"));
    QVERIFY2(run.ms < vanilla.ms / 1.9,
             qPrintable(QString("%1 of %2 ms").arg(run.ms).arg(vanilla.ms)));
}

void AutoCopyTest::aCopyOfNoiseIsCountedAndNotDraftedWith() {
    TabularTransformer model(BigramTable(24, 5, 3.0), BigramTable(24, 6, 3.0));
    model.makesCopies = true;
    const Run vanilla = answer("vanilla", model);
    const Run run = answer("auto", model, kPassesOnly);
    QCOMPARE(run.tokens, vanilla.tokens);
    QVERIFY(!run.drafters.contains("copy"));
    QVERIFY2(run.ms < 1.02 * vanilla.ms,
             qPrintable(QString("%1 of %2 ms").arg(run.ms).arg(vanilla.ms)));
}

/// The prompt holds what the answer repeats, so nearly every step is drafted from it and hardly any
/// is plain.
void AutoCopyTest::freeDraftsDoNotHideTheCopy() {
    const BigramTable table(24, 5, 3.0);
    TabularTransformer model(table, table);
    model.makesCopies = true;
    std::vector<TokenId> prompt = answer("vanilla", model).tokens;
    prompt.resize(100);
    const Run run = answer("auto", model, {{"search_beside", 0.0}}, prompt);
    QCOMPARE(run.tokens, answer("vanilla", model, {}, prompt).tokens);
    QVERIFY(run.drafters.at("free") > 0);
    QVERIFY(run.drafters.at("none") < 4);
    QCOMPARE(run.copyShare, 0.3);
}

void AutoCopyTest::theCopyGoesWhenItIsNoLongerWanted() {
    const BigramTable table(24, 5, 3.0);
    TabularTransformer model(table, table);
    model.makesCopies = true;
    PricedTransformer priced(model);
    const SettingValues copyOnly =
        with(with(kPassesOnly, "early_exit", 0.0), "skip_layers", 0.0); // a table has no exits
    auto decoder = support::openDecoder("auto",
                                        {.transformer = priced,
                                         .contextLength = 512,
                                         .settings = copyOnly,
                                         .clock = priced.clock()});
    const std::vector<TokenId> prompt = {3, 1, 4};
    const auto hasDrafted = [&] {
        const auto steps = support::answer(*decoder, {.tokens = prompt, .maxTokens = kTokens});
        return std::ranges::any_of(
            steps, [](const DecodeStep& step) { return step.choice.drafter == "copy"; });
    };
    const auto set = [&](double isWanted) {
        const SettingValues given = with(copyOnly, "low_precision", isWanted);
        const DecoderInfo info = support::registry().info("auto").value();
        return decoder->configure(resolveSettings(info, given).value(), {}).hasValue();
    };
    QVERIFY(hasDrafted());
    QCOMPARE(model.copyShare(), 0.3);
    QVERIFY(set(0.0));
    QCOMPARE(model.copyShare(), 1.0);
    QVERIFY(!hasDrafted());
    QVERIFY(set(1.0));
    QVERIFY(hasDrafted());
    decoder.reset();
    QCOMPARE(model.copyShare(), 1.0);
}

void AutoCopyTest::theSettingLeavesItOut() {
    const BigramTable table(24, 5, 3.0);
    TabularTransformer model(table, table);
    model.makesCopies = true;
    const Run run = answer("auto", model, with(kPassesOnly, "low_precision", 0.0));
    QVERIFY(!run.drafters.contains("copy"));
    QCOMPARE(run.copyShare, 1.0);
}

void AutoCopyTest::wantOfMemoryIsToldAndCostsNothing() {
    const ModelConfig config = support::layeredConfig(3);
    const auto model = makeCpuTransformer(
        config, support::randomWeights(config, 7), {.threads = 1, .freeMemory = &noMemory});
    QVERIFY(model.hasValue());
    const Run run = answer("auto", *model.value(), kPassesOnly);
    QVERIFY(!run.drafters.contains("copy"));
    QCOMPARE(run.notes.size(), std::size_t{1});
    QVERIFY(run.notes.front().starts_with("There is too little free memory for a 4-bit copy"));
}

void AutoCopyTest::narrowWeightsAreNotWorthASentence() {
    const ModelConfig config = support::layeredConfig(3);
    const auto model = makeCpuTransformer(
        config, support::randomWeights(config, 7), {.threads = 1, .weights = WeightForm::Int8});
    QVERIFY(model.hasValue());
    QVERIFY(answer("auto", *model.value(), kPassesOnly).notes.empty());
}

QTEST_GUILESS_MAIN(AutoCopyTest)
#include "auto_copy_test.moc"
