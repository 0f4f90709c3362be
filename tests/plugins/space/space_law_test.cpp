// SPDX-License-Identifier: Apache-2.0
// What SPACE emits when its candidates are sampled has vanilla's law: by running all outcomes on
// small tables, by samples on eight tokens; and both checks see the published resampling, and
// candidates that are taken for drawn but were not.
// SWIFT_STUDIO_FULL_LAWS=1 takes 1,000,000 samples in place of 20,000 (faults are seen by
// fewer) and larger tables.
#include "plugins/space/space_decoder.h"
#include "tests/engine/decoding/targets/wrong_samplers.h"

#include <QTest>

using namespace engine;
using support::BigramTable;
using support::Decisions;
using support::LawDistance;
using support::TabularTransformer;
using support::TokenLaw;
using support::Tokens;

namespace {

bool runsEverything() { return qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_LAWS") != 0; }

const Tokens kPrompt = {1, 0};
constexpr int kCount = 4; // tokens: the fewest with which the second place of a group matters

enum class Fault {
    None,
    PaperResampling, ///< the setting that shows it
    SoftArgmax,      ///< the most probable token, tested as if it had been drawn
};

struct LawCase {
    QString name;
    SamplingOptions sampling = {.temperature = 1.0};
    SettingValues settings = {};
    Fault fault = Fault::None;
    int count = kCount;
};

SettingValues settingsOf(int masks, double leastReach = 0.0) {
    return {{"masks", static_cast<double>(masks)},
            {"candidates", std::string("sampled")},
            {"adaptive", leastReach > 0.0 ? 1.0 : 0.0},
            {"least_reach", leastReach},
            {"mask_token", 2.0}};
}

std::vector<LawCase> lawCases() {
    const SamplingOptions warm = {.temperature = 1.0};
    const SamplingOptions cool = {.temperature = 0.6};
    const SamplingOptions both = {.temperature = 0.8, .topK = 3, .topP = 0.9};
    const SamplingOptions penalised = {.temperature = 0.9,
                                       .minP = 0.02,
                                       .repetitionPenalty = 1.5,
                                       .repetitionWindow = 3,
                                       .presencePenalty = 0.6,
                                       .frequencyPenalty = 0.5,
                                       .logitBias = {{1, 0.7}}};
    return {{"penalties, two masks", penalised, settingsOf(2)},
            {"one mask", warm, settingsOf(1)},
            {"two masks", warm, settingsOf(2)},
            {"two masks, T .6", cool, settingsOf(2)},
            {"top-k and top-p", both, settingsOf(2)},
            // One rejection, and the second place is left out for a while.
            {"rows that follow acceptance", warm, settingsOf(2, 0.22), Fault::None, kCount + 1},
            {"space_paper_sampling", warm, settingsOf(2), Fault::PaperResampling},
            {"argmax draft with soft q", warm, settingsOf(2), Fault::SoftArgmax}};
}

/// Answers from the decoder itself.
class Answers {
public:
    Answers(TabularTransformer& model, const LawCase& law)
        : m_model(model)
        , m_law(law) {
        SettingValues given = law.settings;
        if (law.fault == Fault::PaperResampling)
            given["space_paper_sampling"] = 1.0;
        m_settings = rounds::valueOf(resolveSettings(space::spaceInfo(), given));
    }

    /// Whatever is null in `draws` is drawn as usual.
    Tokens decode(std::uint64_t seed, space::SpaceDraws draws) const {
        rounds::TopDraws topDraws;
        if (m_law.fault == Fault::SoftArgmax)
            draws.draft = &topDraws;
        DecoderContext context{.transformer = m_model,
                               .sampling = m_law.sampling,
                               .contextLength = 64,
                               .settings = m_settings};
        context.sampling.seed = seed;
        const auto decoder = rounds::valueOf(space::SpaceDecoder::make(context, draws));
        ENGINE_CHECK(decoder->begin({kPrompt, m_law.count}, {}).hasValue(), "a prompt was refused");
        Tokens answer;
        while (static_cast<int>(answer.size()) < m_law.count) {
            const Tokens emitted = rounds::valueOf(decoder->step()).tokens;
            answer.insert(answer.end(), emitted.begin(), emitted.end());
        }
        return answer;
    }

private:
    TabularTransformer& m_model;
    LawCase m_law;
    SettingValues m_settings;
};

} // namespace

class SpaceLawTest : public QObject {
    Q_OBJECT

private slots:

    void everyOutcomeTogetherIsVanillasLawUnlessFaulty_data() { addRows(); }

    void everyOutcomeTogetherIsVanillasLawUnlessFaulty();

    void samplesFollowVanillasLawUnlessFaulty_data() { addRows(); }

    void samplesFollowVanillasLawUnlessFaulty();

private:
    static void addRows();
};

void SpaceLawTest::addRows() {
    QTest::addColumn<int>("index");
    const std::vector<LawCase> cases = lawCases();
    for (std::size_t i = 0; i < cases.size(); ++i)
        QTest::newRow(qPrintable(cases[i].name)) << static_cast<int>(i);
}

void SpaceLawTest::everyOutcomeTogetherIsVanillasLawUnlessFaulty() {
    QFETCH(int, index);
    const LawCase law = lawCases()[static_cast<std::size_t>(index)];
    const int vocabSize = runsEverything() ? 4 : 3;
    const BigramTable table(vocabSize, 41, 1.3);
    TabularTransformer model(table, table);
    const Answers answers(model, law);
    const TokenLaw found = support::enumeratedLaw(
        [&](const Tokens& /*prompt*/, Decisions& decisions) {
            return answers.decode(0, {.draft = &decisions, .verify = &decisions});
        },
        kPrompt,
        law.count);
    const TokenLaw expected = support::vanillaLaw(table, law.sampling, kPrompt, law.count);
    const double variation = support::totalVariation(found, expected);
    qInfo("total variation %.3g", variation);
    QCOMPARE(variation > 1e-12, law.fault != Fault::None);
    if (law.fault != Fault::None)
        QVERIFY(variation > 0.01);
}

void SpaceLawTest::samplesFollowVanillasLawUnlessFaulty() {
    QFETCH(int, index);
    const LawCase law = lawCases()[static_cast<std::size_t>(index)];
    const BigramTable table(8, 43, 1.3);
    TabularTransformer model(table, table);
    const Answers answers(model, law);
    const bool isWrong = law.fault != Fault::None;
    const std::uint64_t count = runsEverything() && !isWrong ? 1'000'000 : 20'000;
    std::map<Tokens, long> samples;
    for (std::uint64_t seed = 1; seed <= count; ++seed)
        ++samples[answers.decode(seed, {})];
    const LawDistance found = support::farthestFromLaw(
        support::vanillaLaw(table, law.sampling, kPrompt, law.count), samples);
    qInfo("%s", found.text().c_str());
    QCOMPARE(found.isFar(), isWrong);
}

QTEST_APPLESS_MAIN(SpaceLawTest)

#include "space_law_test.moc"
