// SPDX-License-Identifier: Apache-2.0
// Rounds of every decoder there is, recorded to a file and walked through: the last stops show
// exactly what the recording has.
#include "engine/learn/rounds/round_walk.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/session/engine_session.h"
#include "engine/session/recording/run_recording.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/patience.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace engine;

namespace {

constexpr int kLayers = 8;
constexpr int kAnswers = 3;
constexpr int kAnswerTokens = 56;

/// Two layers hardly matter, so that drafts without some layers are now and then right.
Result<SessionModel> tinyModel(const LoadModel&, const ModelLoadWork&) {
    const ModelConfig config = support::layeredConfig(kLayers);
    support::MemoryWeights weights = support::randomWeights(config, 3);
    for (const int layer : {2, 3, 5})
        support::quietenLayer(weights, layer, 0.02F);
    SessionModel model;
    ENGINE_TRY(model.transformer, makePlainTransformer(config, weights, {}));
    model.tokenizer = std::make_unique<test_support::ByteTokenizer>();
    model.contextLength = 512;
    model.backend = "plain";
    return model;
}

/// Those that make a short answer show all that a decoder does.
SettingValues settingsOf(const std::string& decoder) {
    if (decoder == "swift")
        return {{"gamma", 8.0},
                {"rows_per_trial", 1.0},
                {"search_share", 0.0},
                {"weigh", 0.0},
                {"epsilon", 0.0},
                {"max_draft", 4.0},
                {"beta", 5.0}};
    return support::neededSettings(decoder);
}

/// Three answers of a decoder, in a file. Fails by exception.
void record(const std::string& decoder, double temperature, const std::filesystem::path& path) {
    EngineSession session(
        {.moduleFolder = QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString(),
         .loader = tinyModel});
    SamplingOptions sampling;
    sampling.temperature = temperature;
    session.send(LoadModel{"tiny"});
    session.send(ChangeSampling{sampling});
    session.send(ChooseDecoder{decoder, settingsOf(decoder)});
    session.send(StartRecording{path.string()});
    for (int answer = 1; answer <= kAnswers; ++answer)
        session.send(SubmitPrompt{.promptId = static_cast<std::uint64_t>(answer),
                                  .text = "abcab abc",
                                  .maxTokens = kAnswerTokens});
    while (session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
        for (const EngineEvent& event : session.takeEvents()) {
            if (const auto* failed = event.as<EngineFailed>())
                ENGINE_CHECK(false, "{}: {}", decoder, failed->error.message);
            const auto* finished = event.as<PromptFinished>();
            if (finished != nullptr && finished->promptId == std::uint64_t{kAnswers})
                session.send(StopRecording{});
            if (event.as<RecordingStopped>() != nullptr)
                return;
        }
    ENGINE_CHECK(false, "{}: the recording did not end", decoder);
}

std::vector<TokenId> idsOf(const std::vector<EmittedToken>& tokens) {
    std::vector<TokenId> ids;
    for (const EmittedToken& token : tokens)
        ids.push_back(token.id);
    return ids;
}

/// What is wrong with the walk through a round; empty if nothing is.
std::string faultOf(const StepFinished& step, const RoundWalk& walk, bool isGreedy) {
    const auto accept = std::ranges::find(walk.stops, RoundStop::Accept);
    if (accept == walk.stops.end() || !std::ranges::is_sorted(walk.stops))
        return "the stops are not in order";
    if (walk.has(RoundStop::Draft) == step.draft.empty() && step.confidences.empty())
        return "the stop Draft is told wrongly";
    if (walk.isPlain && walk.stops.front() != RoundStop::Verify)
        return "a plain round does not begin with its pass";
    if (idsOf(walk.accepting.tokens) != idsOf(step.tokens))
        return "other tokens";
    std::vector<int> path;
    for (const int row : walk.shape.path)
        path.push_back(row - 1);
    if (path != step.path || walk.accepting.accepted != static_cast<int>(step.path.size()))
        return "another path";
    if (walk.shape.rowCount() != step.verifiedRows)
        return "another number of rows";
    for (std::size_t i = 0; i < path.size(); ++i)
        if (walk.rows[static_cast<std::size_t>(walk.shape.path[i])].token != step.tokens[i].id)
            return "an accepted row has another token";
    for (std::size_t i = 0; i < step.tokens.size(); ++i) {
        const auto row = i == 0 ? 0 : static_cast<std::size_t>(walk.shape.path[i - 1]);
        if (!walk.rows[row].choice || walk.rows[row].choice->id != step.tokens[i].id)
            return "the model's choice is not what was written";
        if (isGreedy && !step.rowChoices.empty() && step.rowChoices[row].id != step.tokens[i].id)
            return "the most likely token was not written";
    }
    if (!step.draft.empty() && !walk.verifying.knowsChoices)
        return "a choice is missing";
    return {};
}

} // namespace

class RoundWalkTest : public QObject {
    Q_OBJECT

    test_support::TemporaryFolder m_folder;
    int m_rounds = 0;
    std::set<RoundStop> m_stops;

    /// Walks through all rounds of a recording; returns the error that ended it, if one did.
    std::optional<Error> walk(const std::filesystem::path& path, bool isGreedy) {
        ENGINE_TRY(RunReader reader, RunReader::open(path));
        RoundLog log;
        DecodeMetrics sums;
        std::vector<TokenId> written;
        while (true) {
            ENGINE_TRY(const auto next, reader.next());
            if (!next)
                return std::nullopt;
            const EngineEvent& event = *next;
            log.apply(event);
            if (event.as<PromptStarted>() != nullptr) {
                written.clear();
                sums = {};
            }
            if (const auto* step = event.as<StepFinished>()) {
                const RoundGround* ground = log.find(step->promptId, step->step);
                ENGINE_CHECK(ground != nullptr, "a round without its ground");
                const RoundWalk round = walkThrough(*step, *ground);
                const std::string fault = faultOf(*step, round, isGreedy);
                ENGINE_CHECK(fault.empty(), "round {}: {}", step->step, fault);
                ENGINE_CHECK(round.accepting.before == sums, "figures before the round");
                sums = round.accepting.soFar;
                for (const EmittedToken& token : round.accepting.tokens)
                    written.push_back(token.id);
                m_stops.insert(round.stops.begin(), round.stops.end());
                ++m_rounds;
            }
            if (const auto* end = event.as<PromptFinished>()) {
                const DecodeMetrics& told = end->decoding;
                ENGINE_CHECK(written == end->tokens, "the answer has other tokens");
                ENGINE_CHECK(sums.tokensPerRound() == told.tokensPerRound() &&
                                 sums.acceptance() == told.acceptance() &&
                                 sums.rounds == told.rounds && sums.accepted == told.accepted &&
                                 sums.draftSteps == told.draftSteps &&
                                 sums.plainRounds == told.plainRounds &&
                                 sums.baselineTokens == told.baselineTokens &&
                                 sums.verifiedRows == told.verifiedRows,
                             "M {} and acceptance {} are not those of the recording",
                             sums.tokensPerRound().value_or(0.0),
                             sums.acceptance().value_or(0.0));
            }
        }
    }

private slots:

    void theLastStopsShowWhatTheRecordingHas() {
        try {
            for (const std::string& decoder : support::decoderNames())
                for (const double temperature : {0.0, 0.8}) {
                    const auto path = m_folder.path() / (decoder + ".swiftrun");
                    const int before = m_rounds;
                    record(decoder, temperature, path);
                    const auto error = walk(path, temperature == 0.0);
                    QVERIFY2(!error, error ? error->message.c_str() : "");
                    QVERIFY2(m_rounds > before, decoder.c_str());
                    std::filesystem::remove(path);
                }
        } catch (const std::exception& exception) {
            QFAIL(exception.what());
        }
        QVERIFY2(m_rounds >= 500, qPrintable(QString::number(m_rounds)));
        QCOMPARE(m_stops.size(), std::size_t{6}); // every kind of stop was met
    }

    void theRoundsBeforeTheEndOfACutFileCanBeWalkedThrough() {
        try {
            const auto path = m_folder.path() / "cut.swiftrun";
            record("swift", 0.0, path);
            std::filesystem::resize_file(path, std::filesystem::file_size(path) * 2 / 3);
            m_rounds = 0;
            const auto error = walk(path, true);
            QVERIFY(error.has_value());
            QCOMPARE(error->code, ErrorCode::CorruptFile);
            QVERIFY(m_rounds > 10);
        } catch (const std::exception& exception) {
            QFAIL(exception.what());
        }
    }
};

/// Rounds that no decoder makes, but a file may hold.
class StrangeRoundTest : public QObject {
    Q_OBJECT

private slots:

    void aRoundOfAnOlderRecordingKnowsOnlyWhatWasWritten() {
        StepFinished step;
        step.draft = {{7, -1, 0, 0.9}, {8, 0, 0, 0.6}, {9, 0, 1, 0.2}};
        step.path = {0};
        step.tokens = {{7, "a", {}}, {5, "b", {}}};
        step.verifiedRows = 4;
        const RoundWalk walk = walkThrough(step, {});
        QVERIFY(!walk.verifying.knowsChoices);
        QCOMPARE(walk.rows[0].choice->id, 7);
        QCOMPARE(walk.rows[1].choice->id, 5);
        QVERIFY(!walk.rows[2].choice && !walk.rows[3].choice);
        QCOMPARE(walk.accepting.own(), 1);
        QCOMPARE(walk.widening.choices, (std::vector<int>{1, 2}));
    }

    void parentsAndPathsThatCannotBeAreNotFollowed() {
        StepFinished step;
        step.draft = {{7, 5, 0, 0.9}, {8, -9, 0, 0.6}, {9, 2, 1, 0.2}};
        step.sides = {{4, 70}, {4, 3}};
        step.path = {-4, 2, 90};
        step.confidences = {0.5};
        const RoundWalk walk = walkThrough(step, {});
        for (int row = 0; row < walk.shape.rowCount(); ++row) {
            QVERIFY(walk.shape.parents[static_cast<std::size_t>(row)] < row);
            QCOMPARE(walk.shape.lineOf(row).front(), 0);
            QVERIFY(!walk.shape.isSide(walk.shape.draftRowOf(row)));
        }
        QCOMPARE(walk.shape.path, (std::vector<int>{3}));
        QCOMPARE(walk.accepting.accepted, 0); // nothing was written
        QCOMPARE(walk.stops.back(), RoundStop::Accept);
    }

    void aPlainRoundHasItsPassAndItsToken() {
        StepFinished step;
        step.tokens = {{7, "a", {}}};
        step.verifiedRows = 1;
        const RoundWalk walk = walkThrough(step, {});
        QVERIFY(walk.isPlain);
        QCOMPARE(walk.stops, (std::vector<RoundStop>{RoundStop::Verify, RoundStop::Accept}));
    }
};

int main(int argc, char** argv) {
    RoundWalkTest walks;
    StrangeRoundTest strange;
    return QTest::qExec(&walks, argc, argv) | QTest::qExec(&strange, argc, argv);
}

#include "round_walk_test.moc"
