// SPDX-License-Identifier: Apache-2.0
// Drafts by early exit that are verified by rejection have vanilla's law, on a network of 8 tokens:
// by running every outcome of the random decisions, and by samples of the three decoders; both
// checks see argmax drafts with a soft q, and tokens dropped for their own probability.
// SWIFT_STUDIO_FULL_LAWS=1 takes 1,000,000 samples a case in place of 5,000; faults are seen by
// fewer.
#include "tests/plugins/exit_rounds.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

using namespace engine;
using rounds::valueOf;
using support::ExitFault;
using support::LawDistance;
using support::registry;
using support::TokenLaw;
using support::Tokens;

namespace {

constexpr int kLayers = 3;
constexpr int kCount = 3; // tokens of a sample
const Tokens kPrompt = {1, 5, 0};

bool runsEverything() { return qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_LAWS") != 0; }

std::uint64_t sampleCount(bool isWrong = false) {
    return runsEverything() && !isWrong ? 1'000'000 : 5'000;
}

Transformer& model() {
    static const auto made = support::eightTokens(kLayers, kLayers);
    return *made;
}

struct RoundCase {
    const char* name;
    ExitFault fault;
    SamplingOptions sampling = {.temperature = 1.0};
};

const std::vector<RoundCase> kRoundCases = {
    {"keeping what is unsure", ExitFault::KeepUnsure},
    {"keeping what is unsure, T .6, top-p .9",
     ExitFault::KeepUnsure,
     {.temperature = 0.6, .topP = 0.9}},
    {"ending before what is unsure", ExitFault::DropUnsure},
    {"argmax draft with soft q", ExitFault::SoftArgmax},
    {"drop by sampled confidence", ExitFault::DropDrawn},
};

support::Round roundsOf(const RoundCase& tried) {
    return support::exitRounds(
        {.model = model(), .sampling = tried.sampling, .fault = tried.fault, .threshold = 0.35});
}

} // namespace

class LayerSkipLawTest : public QObject {
    Q_OBJECT

private slots:

    void everyOutcomeTogetherIsVanillasLawUnlessFaulty_data() { roundRows(); }

    void everyOutcomeTogetherIsVanillasLawUnlessFaulty();

    void samplesOfRoundsFollowVanillasLawUnlessFaulty_data() { roundRows(); }

    void samplesOfRoundsFollowVanillasLawUnlessFaulty();
    void samplesHaveVanillasLaw_data();
    void samplesHaveVanillasLaw();

private:
    static void roundRows() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < kRoundCases.size(); ++i)
            QTest::newRow(kRoundCases[i].name) << static_cast<int>(i);
    }
};

void LayerSkipLawTest::everyOutcomeTogetherIsVanillasLawUnlessFaulty() {
    QFETCH(int, index);
    const RoundCase& tried = kRoundCases[static_cast<std::size_t>(index)];
    const TokenLaw found = support::enumeratedLaw(roundsOf(tried), kPrompt, 2);
    const double variation =
        support::totalVariation(found, support::modelLaw(model(), kPrompt, tried.sampling, 2));
    qInfo("total variation %.3g", variation);
    QVERIFY(support::isWrong(tried.fault) ? variation > 0.01 : variation < 1e-9);
}

void LayerSkipLawTest::samplesOfRoundsFollowVanillasLawUnlessFaulty() {
    QFETCH(int, index);
    const RoundCase& tried = kRoundCases[static_cast<std::size_t>(index)];
    const support::Round round = roundsOf(tried);
    std::map<Tokens, long> samples;
    for (std::uint64_t seed = 1; seed <= sampleCount(support::isWrong(tried.fault)); ++seed)
        ++samples[rounds::sampleOf(round, seed, kCount, kPrompt)];
    const LawDistance found = support::farthestFromLaw(
        support::modelLaw(model(), kPrompt, tried.sampling, kCount), samples);
    qInfo("%s", found.text().c_str());
    QCOMPARE(found.isFar(), support::isWrong(tried.fault));
}

void LayerSkipLawTest::samplesHaveVanillasLaw_data() {
    QTest::addColumn<QString>("decoder");
    for (const char* name : {"layerskip", "layerskip-fs", "layerskip-dv"})
        QTest::newRow(name) << name;
}

void LayerSkipLawTest::samplesHaveVanillasLaw() {
    QFETCH(QString, decoder);
    SettingValues settings = {{"verification", std::string("rejection")}, {"exit_layer", 1.0}};
    if (decoder != "layerskip-dv")
        settings["length"] = decoder == "layerskip" ? 2.0 : 1.0;
    const SamplingOptions sampling{.temperature = 1.0};
    const auto made = valueOf(registry().make(decoder.toStdString(),
                                              {.transformer = model(),
                                               .sampling = sampling,
                                               .contextLength = support::kLawContext,
                                               .settings = settings}));
    std::map<Tokens, long> samples;
    long accepted = 0;
    long drafted = 0;
    for (std::uint64_t seed = 1; seed <= sampleCount(); ++seed) {
        QVERIFY(made->changeSampling({.temperature = 1.0, .seed = seed}).hasValue());
        // The answer ends there or soon after, so that some rounds have little room.
        const int room = kCount + static_cast<int>(seed % 3);
        QVERIFY(made->begin({.tokens = kPrompt, .maxTokens = room}, {}).hasValue());
        Tokens tokens;
        while (tokens.size() < kCount) {
            const DecodeStep step = valueOf(made->step());
            tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
            accepted += static_cast<long>(step.path.size());
            drafted += step.draft.size();
        }
        tokens.resize(kCount);
        ++samples[tokens];
    }
    const LawDistance distance =
        support::farthestFromLaw(support::modelLaw(model(), kPrompt, sampling, kCount), samples);
    qInfo("%s; %ld of %ld drafted tokens accepted", distance.text().c_str(), accepted, drafted);
    QVERIFY(!distance.isFar());
    QVERIFY(accepted > 1000 && accepted < drafted);
}

QTEST_GUILESS_MAIN(LayerSkipLawTest)
#include "layerskip_law_test.moc"
