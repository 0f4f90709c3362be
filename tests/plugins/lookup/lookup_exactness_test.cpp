// SPDX-License-Identifier: Apache-2.0
// Look-up gives vanilla's own tokens whatever its settings. The default run takes a sample of the
// cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "tests/support/lossless/lossless_test.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using support::CaseRandom;
using support::LosslessTask;
using support::registry;

namespace {

SettingValues randomSettings(CaseRandom& random, const LosslessTask& /*task*/) {
    return {{"max_nodes", static_cast<double>(random.whole(0, 24))},
            {"least_gain", random.oneIn(4) ? random.part() : 0.0},
            {"lookup", random.oneIn(5) ? 0.0 : 1.0},
            {"successors", random.oneIn(8) ? 0.0 : 1.0}};
}

/// What one decoder does with two prompts: its trees and its tokens.
struct Reported {
    std::vector<std::vector<DraftNode>> trees;
    std::vector<TokenId> tokens;
    std::vector<std::string> notes;
    int plainSteps = 0;

    bool operator==(const Reported&) const = default;
};

/// Everything is forgotten when the decoder goes, but for what `memory` remembers.
Reported decodeTwice(Transformer& transformer,
                     const SamplingOptions& sampling,
                     const SettingValues& settings,
                     SkipSetMemory* memory = nullptr) {
    const auto decoder = support::openDecoder("lookup",
                                              {.transformer = transformer,
                                               .sampling = sampling,
                                               .contextLength = 256,
                                               .settings = settings,
                                               .memory = memory});
    Reported told;
    std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    for (int turn = 0; turn < 2; ++turn) {
        const int room = 60;
        ENGINE_CHECK(decoder->begin({prompt, room}, {}).hasValue(), "a prompt was refused");
        const std::size_t before = told.tokens.size();
        while (told.tokens.size() < before + room) {
            auto step = decoder->step().value();
            told.trees.emplace_back(step.draft.nodes().begin(), step.draft.nodes().end());
            told.tokens.insert(told.tokens.end(), step.tokens.begin(), step.tokens.end());
            told.plainSteps += step.isPlain() ? 1 : 0;
            for (const std::string& note : step.search.notes)
                told.notes.push_back(note);
        }
        ENGINE_CHECK(decoder->endAnswer().hasValue(), "an answer did not end");
        prompt.push_back(9);
    }
    return told;
}

} // namespace

class LookupExactnessTest : public support::LosslessTest {
    Q_OBJECT

public:
    LookupExactnessTest()
        : LosslessTest(registry(),
                       {.decoders = {"lookup"},
                        .greedy = {.all = 2000, .sample = 60, .firstSeed = 2'000'000},
                        .sampled = {.all = 1000, .sample = 30, .firstSeed = 3'000'000},
                        .settings = randomSettings}) {}

private slots:
    void treesRepeatFromRunToRun();
    void nothingWorthItIsAPlainStep();
    void aSecondRunGoesOnWhereTheFirstOneEnded();
    void aDamagedFileIsToldAndHarmsNothing();
};

void LookupExactnessTest::treesRepeatFromRunToRun() {
    for (const SamplingOptions& sampling :
         {SamplingOptions(), SamplingOptions{.temperature = 0.8, .seed = 3}}) {
        const Reported first = decodeTwice(transformer(), sampling, {{"max_nodes", 7.0}});
        QVERIFY(first == decodeTwice(transformer(), sampling, {{"max_nodes", 7.0}}));
        QVERIFY(first.trees.size() < first.tokens.size()); // something was accepted
    }
}

void LookupExactnessTest::nothingWorthItIsAPlainStep() {
    const Reported none = decodeTwice(transformer(), {}, {{"least_gain", 1.0}});
    QCOMPARE(none.plainSteps, 120);
    const Reported silent =
        decodeTwice(transformer(), {}, {{"least_gain", 0.0}, {"lookup", 0.0}, {"successors", 0.0}});
    QCOMPARE(silent.plainSteps, 120);
    const Reported all = decodeTwice(transformer(), {}, {{"least_gain", 0.0}});
    QVERIFY(all.plainSteps < none.plainSteps / 2);
    QCOMPARE(all.tokens, none.tokens);
}

void LookupExactnessTest::aSecondRunGoesOnWhereTheFirstOneEnded() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", 5);
    const SettingValues settings = {{"max_nodes", 7.0}, {"least_gain", 0.0}};
    const Reported first = decodeTwice(transformer(), {}, settings, &memory);
    QVERIFY(std::filesystem::exists(folder.path() / "successors" / "0123456789abcdef.bin"));
    const Reported second = decodeTwice(transformer(), {}, settings, &memory);
    QCOMPARE(second.tokens, first.tokens);
    QVERIFY(second.trees.size() < first.trees.size()); // the answer was known
    SettingValues forgetful = settings;
    forgetful.emplace("remember", 0.0);
    QVERIFY(decodeTwice(transformer(), {}, forgetful, &memory) == first);
}

void LookupExactnessTest::aDamagedFileIsToldAndHarmsNothing() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", 5);
    std::filesystem::create_directory(folder.path() / "successors");
    folder.write("successors/0123456789abcdef.bin", "this is no table");
    const Reported told = decodeTwice(transformer(), {}, {}, &memory);
    QCOMPARE(told.notes.size(), std::size_t{1});
    QVERIFY(told.notes.front().find(".broken-1") != std::string::npos);
    QCOMPARE(told.tokens, decodeTwice(transformer(), {}, {}).tokens);
}

QTEST_GUILESS_MAIN(LookupExactnessTest)
#include "lookup_exactness_test.moc"
