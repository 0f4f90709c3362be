// SPDX-License-Identifier: Apache-2.0
// The three decoders of LayerSkip give vanilla's own tokens whatever their settings. The default
// run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "engine/decoding/answer/generation.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

const std::vector<std::string> kDecoders = {"layerskip", "layerskip-fs", "layerskip-dv"};

/// Settings from their whole ranges. With sampling only the rule that repeats vanilla's tokens.
SettingValues randomSettings(CaseRandom& random, const LosslessTask& task) {
    static const std::vector<std::string> rules = {"match", "rejection"};
    static const std::vector<std::string> meanings = {"cumulative", "per_round"};
    SettingValues values = {
        {"exit_layer", static_cast<double>(random.whole(0, task.layerCount - 1))},
        {"verification", task.samples ? std::string("match") : random.oneOf(rules)},
        {"shared_noise", random.oneIn(3) ? 0.0 : 1.0},
        {"fused_start", random.oneIn(4) ? 0.0 : 1.0}};
    if (task.decoder != "layerskip-dv")
        values["length"] =
            static_cast<double>(random.oneIn(4) ? random.whole(1, 64) : random.whole(1, 8));
    if (task.decoder != "layerskip")
        values["max_draft"] = static_cast<double>(random.whole(1, random.oneIn(3) ? 64 : 18));
    if (task.decoder == "layerskip-dv") {
        values["th"] = random.oneIn(3) ? 0.0 : random.part();
        values["adapt"] = random.oneIn(4) ? 0.0 : 1.0;
        values["acceptance"] = random.oneOf(meanings);
        values["a"] = random.part();
        values["step"] = random.part();
        values["beta1"] = random.part();
        values["beta2"] = random.part();
    }
    return values;
}

} // namespace

class LayerSkipExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    LayerSkipExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = kDecoders,
                        .greedy = {.all = 2000, .sample = 45, .firstSeed = 7'000'000},
                        .sampled = {.all = 500, .sample = 30, .firstSeed = 8'000'000},
                        .settings = randomSettings}) {}

private slots:
    void everyExitAndLengthEqualsVanilla();
    void longPromptsEqualVanilla();
};

/// The corners one by one: each exit, lengths up to far beyond what is left, prompts of one token,
/// answers of one, contexts that end within, ends within a draft. In a sample every fifth, so that
/// each pair of two neighbouring loops is still met.
void LayerSkipExactnessTest::everyExitAndLengthEqualsVanilla() {
    Transformer& model = transformer();
    const int layers = model.config().layerCount;
    const int step = support::takesAllCases() ? 1 : 5;
    int corner = 0;
    int cases = 0;
    support::DraftCounts counts;
    for (int exit = 1; exit < layers; ++exit)
        for (const int length : {1, 2, 5, 64})
            for (const int maxTokens : {1, 2, 9})
                for (const int context : {5, 40})
                    for (const TokenId end : {kNoToken, TokenId{0}}) {
                        if (corner++ % step != 0)
                            continue;
                        ++cases;
                        support::LosslessCase tried;
                        tried.prompts = {{11}, {3, 1, 4}};
                        tried.maxTokens = maxTokens;
                        tried.contextLength = context;
                        if (end != kNoToken) { // the third token of the second answer
                            auto vanilla = makeVanillaDecoder(model, {}, 40);
                            QVERIFY(vanilla.value()->begin({tried.prompts[1]}, {}).hasValue());
                            for (int i = 0; i < 3; ++i)
                                tried.endIds = vanilla.value()->step().value().tokens;
                        }
                        tried.settings = {{"exit_layer", double(exit)}, {"length", double(length)}};
                        check(support::compareWithVanilla(
                            registry(), "layerskip", tried, model, &counts));
                    }
    QVERIFY(counts.drafted > 3 * cases);
}

/// Longer than what a first round reads along.
void LayerSkipExactnessTest::longPromptsEqualVanilla() {
    Transformer& model = transformer();
    CaseRandom random(17);
    for (const std::string& decoder : kDecoders)
        for (const int length : {128, 129, 130, 200}) {
            support::LosslessCase tried;
            tried.prompts.resize(1);
            while (static_cast<int>(tried.prompts.front().size()) < length)
                tried.prompts.front().push_back(random.whole(0, model.config().vocabSize - 1));
            tried.maxTokens = 6;
            tried.contextLength = 220;
            tried.settings = {{"exit_layer", 3.0}};
            support::DraftCounts counts;
            check(support::compareWithVanilla(registry(), decoder, tried, model, &counts));
            QVERIFY(counts.drafted > 0);
        }
}

QTEST_GUILESS_MAIN(LayerSkipExactnessTest)
#include "layerskip_exactness_test.moc"
