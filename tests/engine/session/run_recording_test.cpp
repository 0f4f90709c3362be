// SPDX-License-Identifier: Apache-2.0
#include "engine/session/recording/event_json.h"
#include "engine/session/recording/run_recording.h"
#include "tests/engine/session/sample_events.h"
#include "tests/support/few_cases.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <sys/stat.h>
#include <xxhash.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <set>

using namespace engine;

namespace {

/// What a reader made of a file.
struct Played {
    std::vector<std::string> events; ///< as JSON
    std::optional<Error> error;
    std::int64_t unknownEvents = 0;
};

Played play(const std::filesystem::path& path) {
    Played played;
    auto reader = RunReader::open(path);
    if (!reader) {
        played.error = reader.error();
        return played;
    }
    while (true) {
        auto event = reader.value().next();
        if (!event)
            played.error = event.error();
        if (!event || !event.value())
            break;
        played.events.push_back(eventJson(*event.value()));
    }
    played.unknownEvents = reader.value().unknownEvents();
    return played;
}

std::vector<std::string> jsonOf(const std::vector<EngineEvent>& events) {
    std::vector<std::string> lines;
    for (const EngineEvent& event : events)
        lines.push_back(eventJson(event));
    return lines;
}

bool isBeginning(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// The file's head and records with right checksums, whatever they hold.
std::string fileOf(const std::vector<std::string>& payloads) {
    std::string bytes("SWIFTRUN\1\0\0\0", 12);
    const auto add = [&bytes](auto number) {
        bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
    };
    for (const std::string& payload : payloads) {
        const std::uint64_t place = bytes.size();
        add(static_cast<std::uint32_t>(payload.size()));
        add(static_cast<std::uint64_t>(
            XXH3_64bits_withSeed(payload.data(), payload.size(), place)));
        bytes += payload;
    }
    return bytes;
}

/// Of cuts and of flipped bits.
support::FewCases damagesTaken() {
    return support::FewCases(support::takesFewCases() ? 17 : 5, !support::takesAllCases());
}

} // namespace

class RunRecordingTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void everyKindOfEventComesBackAsItWas();
    void stepsKeepTheirNumbersExactly();
    void whatAModelIsHeldAsIsKeptAndMayBeMissing();
    void samplingComesBackAndMayBeOlder();
    void everyEventIsReadableBeforeTheRecordingEnds();
    void everyTruncationGivesABeginningOrAnError();
    void everyFlippedBitGivesABeginningAndAnError();
    void aNewerVersionIsRefusedByName();
    void otherFilesAreNoRecordings();
    void unknownEventsAndMembersArePassedOver();
    void trialsWithoutTextsStillReplay();
    void stepsWithoutSidesAndTablesStillReplay();
    void cellsOfTablesKeepTheirKind();
    void wrongTypesAreNamedWithTheirByte();
    void moreLayersThanAModelHasAreRefused();
    void whereAnAnswerGoesOnIsKeptAndMayBeMissing();
    void stepsThatCannotBeCountedAreRefused();
    void aHugeLengthAllocatesNothing();
    void swappedRecordsAreNoticed();
    void aFullDiskIsAnError();
    void aFolderThatIsMissingIsAnError();
    void onlyRecordingsAreReplaced();

private:
    std::filesystem::path recorded() const {
        const auto path = m_folder->path() / "run.swiftrun";
        auto recorder = RunRecorder::start(path);
        for (const EngineEvent& event : m_events)
            if (!recorder.value().write(event))
                return {};
        return recorder.value().finish() ? path : std::filesystem::path();
    }

    Played playBytes(const std::string& bytes) const {
        return play(m_folder->write("damaged.swiftrun", bytes));
    }

    const std::vector<EngineEvent> m_events = test_support::sampleEvents();
    std::unique_ptr<test_support::TemporaryFolder> m_folder;
};

void RunRecordingTest::init() { m_folder = std::make_unique<test_support::TemporaryFolder>(); }

void RunRecordingTest::everyKindOfEventComesBackAsItWas() {
    const Played played = play(recorded());
    QVERIFY2(!played.error, played.error ? played.error->message.c_str() : "");
    QCOMPARE(played.events, jsonOf(m_events));
    std::set<std::string_view> kinds;
    for (const EngineEvent& event : m_events)
        kinds.insert(eventKind(event));
    QCOMPARE(kinds.size(), std::variant_size_v<EventContent>);
}

void RunRecordingTest::stepsKeepTheirNumbersExactly() {
    StepFinished step;
    step.promptId = std::numeric_limits<std::uint64_t>::max();
    step.tokens = {{7, "a\xC3\xA9", {TokenOrigin::Sibling, 2, 0.1, std::nextafter(1.0, 0.0)}}};
    step.draft = {{7, -1, 0, 1.0 / 3.0}, {8, 0, 1, 5e-324}};
    step.path = {1};
    step.draftMs = std::numeric_limits<double>::quiet_NaN();
    const auto path = m_folder->path() / "step.swiftrun";
    QVERIFY(RunRecorder::start(path).value().write({1e-9, step}));
    auto reader = RunReader::open(path);
    const auto event = reader.value().next().value();
    const StepFinished* read = event->as<StepFinished>();
    QVERIFY(read != nullptr);
    QCOMPARE(event->time, 1e-9);
    QCOMPARE(read->promptId, step.promptId);
    QCOMPARE(read->tokens[0].text, step.tokens[0].text);
    QCOMPARE(read->tokens[0].fact.origin, TokenOrigin::Sibling);
    QVERIFY(read->tokens[0].fact.targetProbability == step.tokens[0].fact.targetProbability);
    QVERIFY(read->draft == step.draft);
    QCOMPARE(read->path, step.path);
    QVERIFY(std::isnan(read->draftMs));
}

void RunRecordingTest::samplingComesBackAndMayBeOlder() {
    SamplingOptions sampling{.temperature = 0.7,
                             .topK = 5,
                             .topP = 0.9,
                             .minP = 0.05,
                             .typicalP = 0.8,
                             .seed = 7,
                             .repetitionPenalty = 1.1,
                             .repetitionWindow = 64,
                             .presencePenalty = 0.5,
                             .frequencyPenalty = -0.5,
                             .logitBias = {{42, -5.0}, {7, 2.5}}};
    sampling.grammar = {GrammarKind::Schema, R"({"type": "object"})"};
    const std::string json = eventJson({1.0, SamplingChanged{sampling}});
    const auto kept = readEventJson(json, "test", 0).value().value();
    QVERIFY(kept.as<SamplingChanged>()->sampling == sampling);
    const std::string older = R"({"event": "sampling_changed", "time": 1.0, "sampling":
        {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "seed": 7}})";
    const auto old = readEventJson(older, "test", 0).value().value();
    QVERIFY(old.as<SamplingChanged>()->sampling ==
            (SamplingOptions{.temperature = 0.7, .topK = 5, .topP = 0.9, .seed = 7}));
}

/// Earlier recordings tell less of a model.
void RunRecordingTest::whatAModelIsHeldAsIsKeptAndMayBeMissing() {
    ModelLoaded loaded;
    loaded.model.precision = "4-bit";
    loaded.model.arithmetic = "4-bit, scale per 32";
    loaded.model.instructionSet = "avx2";
    loaded.model.kvType = "float16";
    std::string json = eventJson({1.0, loaded});
    const auto kept = readEventJson(json, "test", 0).value().value();
    QCOMPARE(kept.as<ModelLoaded>()->model.arithmetic, loaded.model.arithmetic);
    QCOMPARE(kept.as<ModelLoaded>()->model.instructionSet, loaded.model.instructionSet);
    QCOMPARE(kept.as<ModelLoaded>()->model.kvType, loaded.model.kvType);
    for (const char* part : {"\"arithmetic\":\"4-bit, scale per 32\",",
                             "\"instruction_set\":\"avx2\",",
                             "\"kv_type\":\"float16\","}) {
        const std::size_t begin = json.find(part);
        QVERIFY2(begin != std::string::npos, part);
        json.erase(begin, std::string_view(part).size());
    }
    const auto old = readEventJson(json, "test", 0).value().value();
    QCOMPARE(old.as<ModelLoaded>()->model.precision, std::string("4-bit"));
    QVERIFY(old.as<ModelLoaded>()->model.arithmetic.empty());
    QVERIFY(old.as<ModelLoaded>()->model.kvType.empty());
}

void RunRecordingTest::everyEventIsReadableBeforeTheRecordingEnds() {
    const auto path = m_folder->path() / "live.swiftrun";
    auto recorder = RunRecorder::start(path);
    for (std::size_t i = 0; i < 3; ++i) {
        QVERIFY(recorder.value().write(m_events[i]));
        const Played played = play(path); // the recorder is still open, as in a killed program
        QVERIFY(!played.error);
        QCOMPARE(played.events.size(), i + 1);
    }
}

void RunRecordingTest::everyTruncationGivesABeginningOrAnError() {
    const std::string bytes = support::fileText(recorded());
    const auto all = jsonOf(m_events);
    std::set<std::size_t> recordEnds = {12};
    std::size_t end = 12;
    for (const std::string& line : all)
        recordEnds.insert(end += 12 + line.size());
    QCOMPARE(end, bytes.size());
    support::FewCases few = damagesTaken();
    test_support::forEachCut(bytes, [&](const std::string& cut, std::size_t length) {
        if (few.skipsNext())
            return;
        const Played played = playBytes(cut);
        QVERIFY(isBeginning(played.events, all));
        QCOMPARE(!played.error, recordEnds.contains(length));
        if (!played.error)
            return;
        QVERIFY(played.error->message.find("byte") != std::string::npos);
        const auto whole = std::distance(recordEnds.begin(), recordEnds.upper_bound(length)) - 1;
        QCOMPARE(static_cast<std::ptrdiff_t>(played.events.size()), std::max(whole, {0}));
    });
}

void RunRecordingTest::everyFlippedBitGivesABeginningAndAnError() {
    const std::string bytes = support::fileText(recorded());
    const auto all = jsonOf(m_events);
    support::FewCases few = damagesTaken();
    test_support::forEachFlip(bytes, 2000, 4, [&](const std::string& damaged, std::size_t bit) {
        if (few.skipsNext())
            return;
        const Played played = playBytes(damaged);
        QVERIFY2(played.error.has_value(), qPrintable(QString("bit %1").arg(bit)));
        QVERIFY(isBeginning(played.events, all) && played.events.size() < all.size());
        QVERIFY(played.error->message.find("byte") != std::string::npos);
    });
}

void RunRecordingTest::aNewerVersionIsRefusedByName() {
    std::string bytes = support::fileText(recorded());
    bytes[8] = 2;
    const Played played = playBytes(bytes);
    QCOMPARE(played.error->code, ErrorCode::Unsupported);
    QVERIFY(played.error->message.find("version 2") != std::string::npos);
}

void RunRecordingTest::otherFilesAreNoRecordings() {
    for (const std::string bytes : {"", "SWIFT", "{\"event\":\"remark\"} and more"}) {
        const Played played = playBytes(bytes);
        QCOMPARE(played.error->code, ErrorCode::CorruptFile);
        QVERIFY(played.error->message.find("not a recording") != std::string::npos);
    }
    QCOMPARE(play(m_folder->path() / "missing").error->code, ErrorCode::NotFound);
    QCOMPARE(play(m_folder->path()).error->code, ErrorCode::InvalidInput);
    QCOMPARE(play("/dev/zero").error->code, ErrorCode::InvalidInput);
}

void RunRecordingTest::unknownEventsAndMembersArePassedOver() {
    const Played played = playBytes(fileOf({R"({"event":"dream","time":1})",
                                            R"({"event":"remark","colour":[1,2],"text":"x"})",
                                            R"({"event":"remark"})"}));
    QVERIFY(!played.error);
    QCOMPARE(played.unknownEvents, 1);
    QCOMPARE(played.events, jsonOf({{0.0, Note{"x"}}, {0.0, Note{""}}}));
}

void RunRecordingTest::trialsWithoutTextsStillReplay() {
    const auto event = readEventJson(
        R"({"event":"trial_finished","kind":"random","score":0.5,"ticks":[1,0]})", "a test", 0);
    QVERIFY(event.hasValue() && event.value().has_value());
    const TrialFinished* trial = event.value()->as<TrialFinished>();
    QVERIFY(trial != nullptr);
    QCOMPARE(trial->ticks, (std::vector<int>{1, 0}));
    QVERIFY(trial->window.empty() && trial->guesses.empty());
}

void RunRecordingTest::stepsWithoutSidesAndTablesStillReplay() {
    const auto event =
        readEventJson(R"({"event":"step_finished","draft":[{"token":7}]})", "a test", 0);
    QVERIFY(event.hasValue() && event.value().has_value());
    const StepFinished* step = event.value()->as<StepFinished>();
    QVERIFY(step != nullptr);
    QVERIFY(step->sides.empty() && step->sideTexts.empty() && step->tables.empty());
    QCOMPARE(step->draftLayers, 0.0);
}

void RunRecordingTest::cellsOfTablesKeepTheirKind() {
    StepFinished step;
    step.tables = {{"exits",
                    "Exits",
                    {"layer", "token", "tau", "alpha"},
                    {{std::string("12"), ShownToken{7, " the"}, 0.25},
                     {{}, ShownToken{}, std::numeric_limits<double>::quiet_NaN(), -1e300}},
                    1}};
    step.sides = {{5, -1}, {6, 0}};
    step.sideTexts = {"a", "b"};
    const auto read = readEventJson(eventJson({0.0, step}), "a test", 0);
    QVERIFY(read.hasValue());
    const auto* found = read.value()->as<StepFinished>();
    QCOMPARE(found->sides, step.sides);
    QCOMPARE(found->tables.size(), std::size_t{1});
    const ShownTable& table = found->tables.front();
    QCOMPARE(table.chosenRow, 1);
    QCOMPARE(table.columns, step.tables.front().columns);
    QVERIFY(table.rows[0] == step.tables.front().rows[0]); // "12" stays words
    QVERIFY(std::holds_alternative<ShownToken>(table.rows[1][1]));
    QVERIFY(std::isnan(std::get<double>(table.rows[1][2])));
    QCOMPARE(std::get<double>(table.rows[1][3]), -1e300);
}

void RunRecordingTest::wrongTypesAreNamedWithTheirByte() {
    const std::pair<std::string, std::string> cases[] = {
        {R"({"event":7})", "event"},
        {R"([1,2])", "event"},
        {R"({"event":"remark","text":7})", "text"},
        {R"({"event":"remark","time":"now","text":"x"})", "time"},
        {R"({"event":"phase_changed","phase":"asleep"})", "phase"},
        {R"({"event":"step_finished","step":99999999999})", "step"},
        {R"({"event":"step_finished","tokens":[{"id":1},{"id":true}]})", "id"},
        {R"({"event":"step_finished","path":{"a":1}})", "path"},
        {R"({"event":"plan_changed","plan":{"skipped":{"mlp":[1,"x"]}}})", "mlp"},
        {R"({"event":"settings_changed","settings":{"gamma":[1]}})", "settings"},
        {R"({"event":"step_finished","sides":[{"token":1,"parent":"x"}]})", "parent"},
        {R"({"event":"step_finished","tables":[{"rows":[[true]]}]})", "rows"},
        {R"({"event":"step_finished","tables":[{"rows":[[{"token":"x"}]]}]})", "token"},
    };
    for (const auto& [payload, name] : cases) {
        const Played played = playBytes(fileOf({R"({"event":"remark","text":"x"})", payload}));
        QCOMPARE(played.events.size(), std::size_t{1});
        QVERIFY2(played.error.has_value(), payload.c_str());
        QCOMPARE(played.error->code, ErrorCode::CorruptFile);
        QVERIFY2(played.error->message.find("\"" + name + "\"") != std::string::npos,
                 played.error->message.c_str());
    }
    QVERIFY(playBytes(fileOf({"{\"event\":"})).error.has_value());
    QVERIFY(playBytes(fileOf({std::string(100'000, '[')})).error.has_value());
}

/// Views would have a column for each of them.
void RunRecordingTest::moreLayersThanAModelHasAreRefused() {
    const std::string events[] = {R"({"event":"plan_changed","plan":{"layers":)",
                                  R"({"event":"trial_finished","plan":{"layers":)",
                                  R"({"event":"model_loaded","model":{"layers":)"};
    for (const std::string& event : events) {
        QVERIFY(!playBytes(fileOf({event + "1024}}"})).error.has_value());
        for (const char* layers : {"1025", "2000000000", "-1"}) {
            const Played played = playBytes(fileOf({event + layers + "}}"}));
            QVERIFY2(played.error.has_value(), layers);
            QCOMPARE(played.error->code, ErrorCode::CorruptFile);
            QVERIFY2(played.error->message.find("\"layers\"") != std::string::npos,
                     played.error->message.c_str());
        }
    }
    const PlanOutline farExit{4, {{1}, {}}, std::numeric_limits<int>::max()};
    QCOMPARE(leftOutBy(farExit).attention, std::vector<int>{1});
}

void RunRecordingTest::whereAnAnswerGoesOnIsKeptAndMayBeMissing() {
    PromptStarted goesOn;
    goesOn.continuesLast = true;
    goesOn.firstStep = 7;
    goesOn.begunText = ""; // at its first token
    const auto kept = readEventJson(eventJson({1.0, goesOn}), "test", 0).value().value();
    QCOMPARE(kept.as<PromptStarted>()->firstStep, 7);
    QVERIFY(kept.as<PromptStarted>()->begunText == std::string());
    const std::string older = R"({"event":"prompt_started","continues_last":true})";
    const auto old = readEventJson(older, "test", 0).value().value();
    QCOMPARE(old.as<PromptStarted>()->firstStep, 0);
    QVERIFY(!old.as<PromptStarted>()->begunText);
}

/// Views add the two up.
void RunRecordingTest::stepsThatCannotBeCountedAreRefused() {
    const std::string events[] = {R"({"event":"prompt_started","first_step":)",
                                  R"({"event":"step_finished","step":)"};
    for (const std::string& event : events) {
        QVERIFY(!playBytes(fileOf({event + "1000000000}"})).error.has_value());
        for (const char* step : {"2147483647", "-1"})
            QVERIFY2(playBytes(fileOf({event + step + "}"})).error.has_value(), step);
    }
}

void RunRecordingTest::aHugeLengthAllocatesNothing() {
    std::string bytes = fileOf({R"({"event":"remark","text":"x"})"});
    const std::size_t place = bytes.size();
    bytes += fileOf({R"({"event":"remark","text":"y"})"}).substr(12);
    for (const char highByte : {'\x00', '\x01', '\x7F', '\xFF'}) {
        bytes[place + 2] = static_cast<char>(0xFF);
        bytes[place + 3] = highByte;
        const auto path = m_folder->write("huge.swiftrun", bytes);
        const test_support::PeakAllocation peak;
        const Played played = play(path);
        QVERIFY(played.error.has_value());
        QCOMPARE(played.events.size(), std::size_t{1});
        QVERIFY(peak.bytes() < 1'000'000);
    }
}

void RunRecordingTest::swappedRecordsAreNoticed() {
    const std::string first = fileOf({R"({"event":"remark","text":"x"})"});
    const Played played = playBytes(first + first.substr(12));
    QCOMPARE(played.events.size(), std::size_t{1});
    QVERIFY(played.error->message.find("checksum") != std::string::npos);
}

void RunRecordingTest::aFullDiskIsAnError() {
    if (!std::filesystem::exists("/dev/full"))
        QSKIP("this system has no /dev/full");
    const auto recorder = RunRecorder::start("/dev/full");
    QVERIFY(!recorder);
    QCOMPARE(recorder.error().code, ErrorCode::Io);
    QVERIFY(recorder.error().message.find("/dev/full") != std::string::npos);
}

void RunRecordingTest::aFolderThatIsMissingIsAnError() {
    const auto recorder = RunRecorder::start(m_folder->path() / "none" / "run.swiftrun");
    QVERIFY(!recorder);
    QVERIFY(!recorder.error().hint.empty());
}

void RunRecordingTest::onlyRecordingsAreReplaced() {
    const auto path = recorded();
    const std::string before = support::fileText(path);
    {
        auto next = RunRecorder::start(path);
        QVERIFY(next.hasValue());
        QCOMPARE(support::fileText(path), before); // until there is something to record
        QVERIFY(next.value().write({1.0, Note{"a word"}}).hasValue());
    }
    QVERIFY(support::fileText(path).size() < before.size());
    QVERIFY(RunRecorder::start(m_folder->write("empty", "")).hasValue());
    const auto letter = m_folder->write("letter.txt", "Dear all, I cannot be replaced.");
    const auto refused = RunRecorder::start(letter);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QCOMPARE(support::fileText(letter), std::string("Dear all, I cannot be replaced."));
    QVERIFY(RunRecorder::start(letter, true).value().write({1.0, Note{"yes"}}).hasValue());
    QVERIFY(isRecording(letter).value());
    QVERIFY(!RunRecorder::start(m_folder->path()));
    const auto pipe = m_folder->path() / "pipe";
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    QVERIFY(!RunRecorder::start(pipe)); // and it does not wait for a reader
}

QTEST_APPLESS_MAIN(RunRecordingTest)
#include "run_recording_test.moc"
