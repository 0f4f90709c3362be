// SPDX-License-Identifier: Apache-2.0
// On the default model and the cpu backend every decoder makes vanilla's tokens: a sample of the
// 51,200 that tests/benchmarks/decoding_study answers (tests/README.md has the command).
// SWIFT_STUDIO_EXACTNESS_PROMPTS sets how many prompts of each file are answered; without it each
// decoder answers one prompt of one file, or more until it has drafted.
#include "engine/model/draft_model.h"
#include "tests/support/few_cases.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/models/default_model.h"
#include "tests/support/models/tiny_adapter.h"

#include <QTest>

#include <algorithm>
#include <cstring>

using namespace engine;

namespace {

constexpr int kAnswerTokens = 32;

int promptCount() {
    bool isNumber = false;
    const int wanted = qEnvironmentVariableIntValue("SWIFT_STUDIO_EXACTNESS_PROMPTS", &isNumber);
    return isNumber ? wanted : 1;
}

bool takesSample() {
    return !support::takesAllCases() &&
           !qEnvironmentVariableIsSet("SWIFT_STUDIO_EXACTNESS_PROMPTS");
}

/// The answer, on behind its end, and how many tokens were drafted.
struct Answer {
    std::vector<TokenId> tokens;
    int drafted = 0;
};

Answer answer(Decoder& decoder, std::span<const TokenId> prompt, const std::string& task) {
    Answer made;
    ENGINE_CHECK(
        decoder.begin({.tokens = prompt, .maxTokens = kAnswerTokens, .task = task}, {}).hasValue(),
        "a prompt was refused");
    while (made.tokens.size() < kAnswerTokens) {
        const DecodeStep step = decoder.step().value();
        made.tokens.insert(made.tokens.end(), step.tokens.begin(), step.tokens.end());
        made.drafted += step.draft.size();
    }
    ENGINE_CHECK(decoder.endAnswer().hasValue(), "an answer did not end");
    return made;
}

} // namespace

class DefaultModelExactnessTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void everyDecoderMakesVanillasTokens_data();
    void everyDecoderMakesVanillasTokens();

private:
    std::unique_ptr<Decoder> make(const std::string& decoder, const SettingValues& settings);

    support::DefaultModel m_model;
    std::vector<std::pair<std::string, std::vector<TokenId>>> m_prompts; // task, ids
    std::vector<Answer> m_expected;                                      // [prompts]
};

std::unique_ptr<Decoder> DefaultModelExactnessTest::make(const std::string& decoder,
                                                         const SettingValues& settings) {
    DecoderContext context{.transformer = *m_model.transformer};
    context.contextLength = 2048;
    context.settings = settings;
    return support::openDecoder(decoder, context);
}

void DefaultModelExactnessTest::initTestCase() {
    if (!support::DefaultModel::isThere())
        QSKIP("the default model was not fetched");
    m_model = support::DefaultModel::load(false, "cpu");
    Transformer& model = *m_model.transformer;
    auto adapter = makeDraftModel(
        model, support::makeAdapter(model.config(), support::AdapterKind::Random, 4));
    QVERIFY(adapter.hasValue());
    model.useDraftModel(std::move(adapter).value());
    const std::vector<std::string> tasks =
        support::hasSharedData()
            ? std::vector<std::string>{"story", "code", "translation"}
            : std::vector<std::string>{"code", "summarization", "instruction_following"};
    for (const std::string& task : tasks)
        for (const std::string& text : support::dataPrompts(task, promptCount()))
            m_prompts.emplace_back(task, m_model.prompt(text));
    const auto vanilla = make("vanilla", {});
    for (const auto& [task, ids] : m_prompts)
        m_expected.push_back(answer(*vanilla, ids, task));
}

void DefaultModelExactnessTest::everyDecoderMakesVanillasTokens_data() {
    QTest::addColumn<QString>("decoder");
    QTest::addColumn<SettingValues>("settings");
    QTest::newRow("swift") << "swift" << SettingValues{{"gamma", 16.0}, {"rows_per_trial", 4.0}};
    QTest::newRow("swift, free drafts") << "swift" << SettingValues{{"free_draft", 1.0}};
    QTest::newRow("lookup") << "lookup" << SettingValues{};
    QTest::newRow("auto") << "auto" << SettingValues{};
    QTest::newRow("layerskip") << "layerskip" << SettingValues{{"exit_layer", 22.0}};
    QTest::newRow("layerskip-fs") << "layerskip-fs" << SettingValues{{"exit_layer", 26.0}};
    QTest::newRow("layerskip-dv") << "layerskip-dv" << SettingValues{{"exit_layer", 26.0}};
    QTest::newRow("del") << "del" << SettingValues{};
    QTest::newRow("del-ms") << "del-ms" << SettingValues{{"margin", -1.0}};
    QTest::newRow("lookahead") << "lookahead" << SettingValues{{"pool_from_prompt", 1.0}};
    QTest::newRow("jacobi") << "jacobi" << SettingValues{{"block", 9.0}};
    QTest::newRow("gauss_seidel") << "jacobi"
                                  << SettingValues{{"mode", std::string("gauss_seidel")}};
    // Any token does as the mask: what it drafts is seldom right, and verified like all else.
    QTest::newRow("space") << "space" << SettingValues{{"mask_token", 4.0}, {"adaptive", 0.0}};
    // What is not told above runs with its defaults.
    static const std::vector<std::string> told = {"vanilla",
                                                  "swift",
                                                  "lookup",
                                                  "auto",
                                                  "layerskip",
                                                  "layerskip-fs",
                                                  "layerskip-dv",
                                                  "del",
                                                  "del-ms",
                                                  "lookahead",
                                                  "jacobi",
                                                  "space"};
    for (const std::string& name : support::decoderNames())
        if (std::find(told.begin(), told.end(), name) == told.end())
            QTest::newRow(name.c_str()) << QString::fromStdString(name) << SettingValues{};
}

void DefaultModelExactnessTest::everyDecoderMakesVanillasTokens() {
    QFETCH(const QString, decoder);
    QFETCH(const SettingValues, settings);
    const auto drafting = make(decoder.toStdString(), settings);
    const std::size_t first = std::strlen(QTest::currentDataTag()); // decoders begin by turns
    int drafted = 0;
    for (std::size_t i = 0; i < m_prompts.size() && (drafted == 0 || !takesSample()); ++i) {
        const std::size_t place = (first + i) % m_prompts.size();
        const auto& [task, ids] = m_prompts[place];
        const Answer found = answer(*drafting, ids, task);
        QCOMPARE(found.tokens, m_expected[place].tokens);
        drafted += found.drafted;
    }
    // Auto drafts where it pays, and weights of 4 bits get no copy.
    QVERIFY(drafted > 0 || decoder == "auto" || decoder == "low_precision");
}

QTEST_GUILESS_MAIN(DefaultModelExactnessTest)
#include "default_model_exactness_test.moc"
