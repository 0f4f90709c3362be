// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/step_check.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <filesystem>
#include <functional>

using namespace engine;
namespace fs = std::filesystem;

namespace {

bool mentions(const Error& error, std::string_view text) {
    return error.message.find(text) != std::string::npos ||
           error.hint.find(text) != std::string::npos;
}

std::unique_ptr<Transformer> tinyTransformer(unsigned seed) {
    const ModelConfig config = support::tinyConfig();
    return makePlainTransformer(config, support::randomWeights(config, seed), {}).value();
}

std::vector<TokenId> somePrompt(int salt) {
    std::vector<TokenId> prompt;
    for (int i = 0; i < 3 + salt % 7; ++i)
        prompt.push_back((i * 37 + salt * 11) % 160);
    return prompt;
}

} // namespace

class DecoderRegistryTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void vanillaIsBuiltIn();
    void decodersAreListedWithTheirSettings();
    void refusedModulesAreToldAndTheOthersStillListed();
    void aModuleThatIsRefusedSaysWhy_data();
    void aModuleThatIsRefusedSaysWhy();
    void anUnknownDecoderSuggestsTheNearest();
    void aNameCannotLeadOutOfTheFolder();
    void oneModuleMayBringSeveralDecoders();
    void settingsAreCheckedWhenADecoderIsMade();
    void whatAModuleThrowsReachesTheHostAsAnError_data();
    void whatAModuleThrowsReachesTheHostAsAnError();
    void aStepThatBreaksTheContractIsAnError_data();
    void aStepThatBreaksTheContractIsAnError();
    void tablesThatAreTooLargeAreCutAndTold();
    void profilesBringTheirOwnSetting();
    void theGuidesExampleEqualsVanilla();
    void theShowingDecoderEqualsVanilla();
    void theGuidesExampleDraftsWhatRepeats();

private:
    void compareWithVanilla(const std::string& name,
                            const std::function<SettingValues(int)>& settings);
    Result<std::unique_ptr<Decoder>> faulty(const std::string& fault);
    GenerationRequest request(int maxTokens);

    std::unique_ptr<Transformer> m_transformer;
    std::vector<TokenId> m_prompt = {1, 2, 3};
};

void DecoderRegistryTest::initTestCase() { m_transformer = tinyTransformer(5); }

Result<std::unique_ptr<Decoder>> DecoderRegistryTest::faulty(const std::string& fault) {
    DecoderRegistry registry(TEST_DECODER_DIR);
    return registry.make(
        "faulty",
        {.transformer = *m_transformer, .contextLength = 64, .settings = {{"fault", fault}}});
}

GenerationRequest DecoderRegistryTest::request(int maxTokens) {
    GenerationRequest request;
    request.prompt = m_prompt;
    request.limits = {.maxTokens = maxTokens, .endIds = {159}};
    return request;
}

void DecoderRegistryTest::vanillaIsBuiltIn() {
    const test_support::TemporaryFolder folder;
    DecoderRegistry registry(folder.path() / "nothing");
    QCOMPARE(registry.list().size(), std::size_t{1});
    auto made = registry.make("vanilla", {.transformer = *m_transformer, .contextLength = 16});
    QVERIFY(made.hasValue());
    QCOMPARE(generate(*made.value(), request(4)).value().tokens.size(), std::size_t{4});
}

void DecoderRegistryTest::decodersAreListedWithTheirSettings() {
    DecoderRegistry registry(TEST_DECODER_DIR);
    const auto decoders = registry.list();
    const auto echo = std::find_if(
        decoders.begin(), decoders.end(), [](const auto& info) { return info.name == "echo"; });
    QVERIFY(echo != decoders.end());
    const SettingInfo* length = echo->find("length");
    QVERIFY(length != nullptr);
    QCOMPARE(settingRange(*length), std::string("a whole number from 1 to 16"));
    QCOMPARE(length->unit, std::string("tokens"));
    QVERIFY(std::is_sorted(decoders.begin(), decoders.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    }));
}

void DecoderRegistryTest::refusedModulesAreToldAndTheOthersStillListed() {
    DecoderRegistry registry(TEST_DECODER_DIR);
    std::vector<Error> refused;
    const std::size_t count = registry.list(&refused).size();
    QCOMPARE(count, std::size_t{5}); // vanilla, echo, faulty and its twin, showing
    QCOMPARE(refused.size(), std::size_t{6});
    std::vector<Error> again;
    QCOMPARE(registry.list(&again).size(), count);
    QCOMPARE(again.size(), refused.size());
    QCOMPARE(again.front().message, refused.front().message);
}

void DecoderRegistryTest::aModuleThatIsRefusedSaysWhy_data() {
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* module, const char* reason) {
        QTest::newRow(module) << module << reason;
    };
    row("stale", "0.0.1-of-last-year");
    row("throwing", "the registration broke down");
    row("silent", "registers no decoder");
    row("usurper", "registered twice");
    row("bad_default", "r is \"0.9\"");
    row("bad_profile", "no setting \"gamma\"");
}

void DecoderRegistryTest::aModuleThatIsRefusedSaysWhy() {
    QFETCH(QString, module);
    QFETCH(QString, reason);
    DecoderRegistry registry(TEST_DECODER_DIR);
    for (int attempt = 0; attempt < 2; ++attempt) { // nothing of it is left behind
        const auto found = registry.info(module.toStdString());
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::Unsupported);
        QVERIFY2(mentions(found.error(), reason.toStdString()), found.error().message.c_str());
        QVERIFY(mentions(found.error(), "libdecoder_" + module.toStdString() + ".so"));
    }
    QVERIFY(registry.make("vanilla", {.transformer = *m_transformer, .contextLength = 8}));
}

void DecoderRegistryTest::anUnknownDecoderSuggestsTheNearest() {
    DecoderRegistry registry(TEST_DECODER_DIR);
    const auto found = registry.info("ecko");
    QVERIFY(!found);
    QCOMPARE(found.error().code, ErrorCode::NotFound);
    QVERIFY(mentions(found.error(), "ecko") && mentions(found.error(), "Did you mean echo?"));
    QVERIFY(mentions(found.error(), "vanilla"));
}

void DecoderRegistryTest::aNameCannotLeadOutOfTheFolder() {
    const test_support::TemporaryFolder folder;
    fs::create_directory(folder.path() / "inner");
    fs::create_directory(folder.path() / "inner" / "libdecoder_");
    fs::copy_file(fs::path(TEST_DECODER_DIR) / "libdecoder_echo.so",
                  folder.path() / "libdecoder_outer.so");
    DecoderRegistry registry(folder.path() / "inner");
    for (const char* name : {"../outer", "/../../libdecoder_outer", "", ".", "echo"})
        QCOMPARE(registry.info(name).error().code, ErrorCode::NotFound);
}

void DecoderRegistryTest::oneModuleMayBringSeveralDecoders() {
    DecoderRegistry registry(TEST_DECODER_DIR);
    QVERIFY(registry.info("faulty_twin").hasValue()); // no file is called so
}

void DecoderRegistryTest::settingsAreCheckedWhenADecoderIsMade() {
    DecoderRegistry registry(TEST_DECODER_DIR);
    const auto made = [&](const std::string& name, double value) {
        return registry.make(
            "echo",
            {.transformer = *m_transformer, .contextLength = 16, .settings = {{name, value}}});
    };
    QVERIFY(made("length", 16.0).hasValue());
    QVERIFY(mentions(made("length", 17.0).error(), "1 to 16"));
    QVERIFY(mentions(made("lenght", 4.0).error(), "Did you mean length?"));
}

void DecoderRegistryTest::whatAModuleThrowsReachesTheHostAsAnError_data() {
    QTest::addColumn<QString>("fault");
    QTest::addColumn<QString>("reason");
    for (const char* place : {"factory", "begin", "step", "end", "remaining"})
        QTest::newRow(place) << place << QString("the fault in %1").arg(place);
    QTest::newRow("nothing made") << "nothing made"
                                  << "made nothing";
    QTest::newRow("no exception type") << "no exception type"
                                       << "an unknown type";
    QTest::newRow("memory") << "memory"
                            << "not enough memory";
}

void DecoderRegistryTest::whatAModuleThrowsReachesTheHostAsAnError() {
    QFETCH(QString, fault);
    QFETCH(QString, reason);
    auto made = faulty(fault.toStdString());
    const Error error = made ? generate(*made.value(), request(3)).error() : made.error();
    QCOMPARE(error.code, fault == "memory" ? ErrorCode::NoMemory : ErrorCode::Internal);
    QVERIFY2(mentions(error, reason.toStdString()), error.message.c_str());
    QVERIFY2(mentions(error, "decoder faulty"), error.message.c_str());
    if (made) {
        auto whole = faulty("configure");
        QVERIFY(mentions(whole.value()->configure({}, {}).error(), "the fault in configure"));
        QVERIFY(generate(*whole.value(), request(3)).hasValue());
    }
}

void DecoderRegistryTest::aStepThatBreaksTheContractIsAnError_data() {
    QTest::addColumn<QString>("fault");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* fault, const char* reason) {
        QTest::newRow(fault) << fault << reason;
    };
    row("no tokens", "0 tokens with 1 facts");
    row("no facts", "1 tokens with 0 facts");
    row("too many", "where the answer takes 3 more");
    row("beyond the end", "behind the end of the answer");
    row("foreign token", "which a vocabulary of 160 does not have");
    row("foreign path", "the node 3 is accepted of a draft of 0");
    row("wrong path", "is accepted, but");
    row("path in leaps", "accepted behind -1, but was drafted behind 0");
    row("foreign draft", "the drafted token -7");
    row("draft behind the end", "was drafted behind the end of the answer");
    row("draft probability", "the probability nan");
    row("foreign side", "beside the draft 1000000, which a vocabulary of 160");
    row("side on itself", "row 1 beside a draft of 0 hangs on 1");
    row("too many sides", "5000 rows beside the draft");
    row("no time", "the time of verifying in milliseconds is nan");
    row("negative time", "the time of drafting in milliseconds is -3");
    row("negative loads", "the number of layers that drafting read is -1");
    row("endless search", "the time of searching in milliseconds is inf");
    row("plan of another model", "a plan of 77 attention and 77 MLP");
    row("ragged table", "a row of 2 cells in the table pool of 1 columns");
    row("foreign cell", "the token in a table 1000000");
    row("foreign choice", "row 1 is chosen of the table pool of 1 rows");
}

void DecoderRegistryTest::aStepThatBreaksTheContractIsAnError() {
    QFETCH(QString, fault);
    QFETCH(QString, reason);
    const auto made = faulty(fault.toStdString());
    const auto result = generate(*made.value(), request(3));
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Internal);
    QVERIFY2(mentions(result.error(), reason.toStdString()), result.error().message.c_str());
    QVERIFY2(mentions(result.error(), "decoder faulty"), result.error().message.c_str());
    QVERIFY(generate(*faulty("none").value(), request(3)).hasValue()); // others go on
}

/// The text is right, so the answer goes on; only what is shown is cut.
void DecoderRegistryTest::tablesThatAreTooLargeAreCutAndTold() {
    const auto made = faulty("huge table");
    std::vector<std::string> notes;
    std::vector<StepTable> tables;
    auto answer = Answer::begin(*made.value(), request(3));
    while (const auto part = answer.value().next().value())
        if (const auto* step = std::get_if<AnswerStep>(&*part)) {
            const std::vector<std::string>& told = step->step.search.notes;
            notes.insert(notes.end(), told.begin(), told.end());
            tables = step->step.tables;
        }
    QCOMPARE(answer.value().result().tokens.size(), std::size_t{3});
    QCOMPARE(notes.size(), std::size_t{1}); // once, not at each of 3 steps
    QVERIFY2(notes[0].find("decoder faulty") != std::string::npos, notes[0].c_str());
    QVERIFY2(notes[0].find("\"pool\"") != std::string::npos, notes[0].c_str());
    QCOMPARE(tables.size(), StepCheck::kMostTables);
    const StepTable& table = tables.front();
    QCOMPARE(table.columns.size(), StepCheck::kMostColumns);
    QCOMPARE(table.rows.size(), StepCheck::kMostTableRows);
    QCOMPARE(table.rows[0].size(), StepCheck::kMostColumns);
    QCOMPARE(std::get<std::string>(table.rows[0][0]).size(), StepCheck::kMostTextBytes);
    QCOMPARE(table.chosenRow, -1); // the chosen one is gone
}

void DecoderRegistryTest::profilesBringTheirOwnSetting() {
    const test_support::TemporaryFolder folder;
    DecoderRegistry registry(folder.path());
    DecoderInfo info;
    info.name = "shaped";
    info.settings = {{.name = "r", .title = "r", .initial = 0.5, .maximum = 1.0}};
    info.profiles = {{"paper", "", {{"r", 0.4}}}, {"code", "", {{"r", 0.3}}}};
    double made = 0.0;
    registry.add(info, [&made](const DecoderContext& context) {
        made = numberOf(context.settings, "r");
        return makeVanillaDecoder(context.transformer, context.sampling, context.contextLength);
    });
    QCOMPARE(registry.info("shaped").value().find("profile")->choices,
             (std::vector<std::string>{"paper", "code"}));
    DecoderContext context{.transformer = *m_transformer, .contextLength = 8};
    QVERIFY(registry.make("shaped", context).hasValue());
    QCOMPARE(made, 0.4);
    context.settings = {{"profile", std::string("code")}};
    QVERIFY(registry.make("shaped", context).hasValue());
    QCOMPARE(made, 0.3);
}

/// 40 answers, greedy ones and sampled ones, on four models.
void DecoderRegistryTest::compareWithVanilla(const std::string& name,
                                             const std::function<SettingValues(int)>& settings) {
    DecoderRegistry registry(TEST_DECODER_DIR);
    for (int round = 0; round < 40; ++round) {
        const auto transformer = tinyTransformer(static_cast<unsigned>(round % 4));
        DecoderContext context{.transformer = *transformer, .contextLength = 24 + round % 5};
        if (round % 2 == 1)
            context.sampling = {.temperature = 0.7, .seed = static_cast<std::uint64_t>(round)};
        const auto vanilla = registry.make("vanilla", context);
        context.settings = settings(round);
        const auto other = registry.make(name, context);
        m_prompt = somePrompt(round);
        const auto expected = generate(*vanilla.value(), request(1 + round));
        const auto found = generate(*other.value(), request(1 + round));
        QVERIFY2(found.hasValue(), found ? "" : found.error().message.c_str());
        QCOMPARE(found.value().tokens, expected.value().tokens);
        QCOMPARE(found.value().reason, expected.value().reason);
        QCOMPARE(other.value()->cachedTokens(), vanilla.value()->cachedTokens());
    }
}

/// plugins/README.md's decoder, as a reader would type it.
void DecoderRegistryTest::theGuidesExampleEqualsVanilla() {
    compareWithVanilla("echo", [](int round) {
        return SettingValues{{"length", 1.0 + round % 9}};
    });
}

/// What the window's recordings are tried with.
void DecoderRegistryTest::theShowingDecoderEqualsVanilla() {
    compareWithVanilla("showing", [](int) { return SettingValues(); });
}

void DecoderRegistryTest::theGuidesExampleDraftsWhatRepeats() {
    DecoderRegistry registry(TEST_DECODER_DIR);
    const auto echo = registry.make("echo", {.transformer = *m_transformer, .contextLength = 300});
    m_prompt = {1, 2, 3};
    int accepted = 0;
    int drafted = 0;
    auto answer = Answer::begin(*echo.value(), request(200));
    while (const auto part = answer.value().next().value())
        if (const auto* made = std::get_if<AnswerStep>(&*part)) {
            accepted += static_cast<int>(made->step.path.size());
            drafted += made->step.draft.size();
        }
    QVERIFY(drafted > 0);
    QVERIFY(accepted > 0); // a small greedy model soon repeats itself
    QVERIFY(answer.value().result().metrics.tokensPerStep() > 1.0);
}

QTEST_APPLESS_MAIN(DecoderRegistryTest)
#include "decoder_registry_test.moc"
