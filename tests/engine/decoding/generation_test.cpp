// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/answer/stop_strings.h"
#include "tests/engine/text/tiny_tokenizers.h"

#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

/// Emits prepared steps, and ends an answer where every decoder must.
class ScriptedDecoder : public Decoder {
public:
    explicit ScriptedDecoder(std::vector<std::vector<TokenId>> steps, int context = 1000)
        : m_steps(std::move(steps))
        , m_remaining(context) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        m_maxTokens = prompt.maxTokens;
        m_endIds.assign(prompt.endIds.begin(), prompt.endIds.end());
        if (work.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "cancelled", ""};
        return {};
    }

    Result<DecodeStep> step() override {
        if (m_next == m_steps.size())
            return Error{ErrorCode::Numeric, "the script has ended", ""};
        DecodeStep step;
        for (const TokenId id : m_steps[m_next++]) {
            step.tokens.push_back(id);
            if (--m_maxTokens == 0 ||
                std::find(m_endIds.begin(), m_endIds.end(), id) != m_endIds.end())
                break;
        }
        step.facts.resize(step.tokens.size());
        m_remaining -= static_cast<int>(step.tokens.size());
        return step;
    }

    Result<DecodeStep> plainStep() override { return step(); }

    int remainingContext() const override { return m_remaining; }

    int cachedTokens() const override { return 0; }

private:
    std::vector<std::vector<TokenId>> m_steps;
    std::vector<TokenId> m_endIds;
    std::size_t m_next = 0;
    int m_remaining;
    int m_maxTokens = 0;
};

class ByteDecoding : public TokenDecoding {
public:
    Result<void> push(TokenId id, std::string& text) override {
        if (id > 255)
            return Error{ErrorCode::InvalidInput, "no byte", ""};
        text += static_cast<char>(id);
        return {};
    }

    Result<void> finish(std::string&) override { return {}; }
};

/// Token i is the byte i.
class ByteTokenizer : public Tokenizer {
public:
    Result<std::vector<TokenId>> encode(std::string_view text, bool) const override {
        std::vector<TokenId> ids;
        for (const char c : text)
            ids.push_back(static_cast<unsigned char>(c));
        return ids;
    }

    std::unique_ptr<TokenDecoding> startDecoding(bool) const override {
        return std::make_unique<ByteDecoding>();
    }

    int vocabSize() const override { return 256; }

    std::string tokenText(TokenId id) const override { return tokenBytes(id); }

    std::string tokenBytes(TokenId id) const override { return {static_cast<char>(id)}; }

    bool isSpecial(TokenId) const override { return false; }

    TokenId bosId() const override { return kNoToken; }

    std::vector<TokenId> eosIds() const override { return {}; }

    TokenId findToken(std::string_view) const override { return kNoToken; }

    std::string description() const override { return "bytes"; }
};

using Steps = std::vector<std::vector<TokenId>>;

const std::vector<TokenId> kPrompt = {1};

std::vector<TokenId> bytes(std::string_view text) {
    return ByteTokenizer().encode(text, false).value();
}

} // namespace

class GenerationTest : public QObject {
    Q_OBJECT

private slots:
    void anEndTokenInsideAStepEndsTheAnswer();
    void aStepIsCutAtTheTokenLimit();
    void theContextEndsTheAnswer();
    void textEndsBeforeAStopString();
    void heldBackTextComesOutAtTheEnd();
    void noTextIsStreamedTwice();
    void aGrammarIsCompleteIfTheTextBeforeTheStopStringIs_data();
    void aGrammarIsCompleteIfTheTextBeforeTheStopStringIs();
    void cancellingKeepsWhatIsThere();
    void cancellingWhileThePromptIsReadGivesAnEmptyAnswer();
    void aFailedStepIsAnError();
    void stopStringsNeedATokenizer();
    void idsBeyondTheTokenizerWriteNothing();
    void aSpaceThatIsNotShownIsNoPartOfTheForm();
    void overlappingStopStringsTakeTheFirst();
};

void GenerationTest::anEndTokenInsideAStepEndsTheAnswer() {
    ScriptedDecoder decoder({{5, 6}, {7, 2, 8}});
    const auto result = generate(decoder, {.prompt = kPrompt, .limits = {.endIds = {2}}});
    QCOMPARE(result.value().tokens, (std::vector<TokenId>{5, 6, 7, 2}));
    QCOMPARE(result.value().reason, FinishReason::EndToken);
    QCOMPARE(result.value().metrics.steps, 2);
}

void GenerationTest::aStepIsCutAtTheTokenLimit() {
    ScriptedDecoder decoder({{5, 6}, {7, 2, 8}});
    const auto result =
        generate(decoder, {.prompt = kPrompt, .limits = {.maxTokens = 3, .endIds = {2}}});
    QCOMPARE(result.value().tokens, (std::vector<TokenId>{5, 6, 7}));
    QCOMPARE(result.value().reason, FinishReason::MaxTokens);
}

void GenerationTest::theContextEndsTheAnswer() {
    ScriptedDecoder decoder({{5}, {6}}, 2);
    const auto result = generate(decoder, {.prompt = kPrompt});
    QCOMPARE(result.value().tokens.size(), std::size_t{2});
    QCOMPARE(result.value().reason, FinishReason::ContextFull);
}

void GenerationTest::textEndsBeforeAStopString() {
    const ByteTokenizer tokenizer;
    ScriptedDecoder decoder({bytes("one ST"), bytes("OP two")});
    const auto result = generate(
        decoder, {.prompt = kPrompt, .limits = {.stopStrings = {"STOP"}}, .tokenizer = &tokenizer});
    QCOMPARE(result.value().text, std::string("one "));
    QCOMPARE(result.value().reason, FinishReason::StopString);
    QCOMPARE(result.value().tokens, bytes("one STOP"));
}

void GenerationTest::heldBackTextComesOutAtTheEnd() {
    const ByteTokenizer tokenizer;
    ScriptedDecoder decoder({bytes("one ST")});
    const auto result = generate(decoder,
                                 {.prompt = kPrompt,
                                  .limits = {.maxTokens = 6, .stopStrings = {"STOP"}},
                                  .tokenizer = &tokenizer});
    QCOMPARE(result.value().text, std::string("one ST"));
}

void GenerationTest::noTextIsStreamedTwice() {
    const ByteTokenizer tokenizer;
    ScriptedDecoder decoder({bytes("abSa"), bytes("bST"), bytes("STx")});
    auto answer = Answer::begin(decoder,
                                {.prompt = kPrompt,
                                 .limits = {.maxTokens = 10, .stopStrings = {"STOP"}},
                                 .tokenizer = &tokenizer});
    std::string streamed;
    while (const auto part = answer.value().next().value()) {
        if (const auto* made = std::get_if<AnswerStep>(&*part))
            streamed += made->text();
        else if (const auto* late = std::get_if<LateText>(&*part))
            streamed += late->text;
    }
    QCOMPARE(streamed, std::string("abSabSTSTx"));
    QCOMPARE(answer.value().result().text, streamed);
}

void GenerationTest::aGrammarIsCompleteIfTheTextBeforeTheStopStringIs_data() {
    QTest::addColumn<QByteArray>("stop");
    QTest::addColumn<bool>("isInside");
    QTest::newRow("none") << QByteArray() << false;
    QTest::newRow("behind the first item, amid a step") << QByteArray(",") << false;
    QTest::newRow("amid an item") << QByteArray("b") << true;
    QTest::newRow("behind a comma") << QByteArray("c") << true;
    QTest::newRow("over two steps") << QByteArray("b,c") << true;
}

/// The whole step fits the grammar; what a stop string leaves of it need not.
void GenerationTest::aGrammarIsCompleteIfTheTextBeforeTheStopStringIs() {
    QFETCH(const QByteArray, stop);
    QFETCH(const bool, isInside);
    const ByteTokenizer tokenizer;
    const auto vocabulary = std::make_shared<const TokenTrie>(TokenTrie::of(tokenizer, 256));
    ScriptedDecoder decoder({bytes("ab,"), bytes("cd,ef")});
    const auto result = generate(decoder,
                                 {.prompt = kPrompt,
                                  .limits = {.maxTokens = 8, .stopStrings = {stop.toStdString()}},
                                  .tokenizer = &tokenizer,
                                  .vocabulary = vocabulary,
                                  .grammar = {GrammarKind::Regex, "[a-z]{2}(,[a-z]{2})*"}});
    QCOMPARE(result.value().isInsideGrammar, isInside);
}

void GenerationTest::cancellingKeepsWhatIsThere() {
    ScriptedDecoder decoder({{5}, {6}, {7}});
    std::stop_source source;
    auto answer = Answer::begin(decoder, {.prompt = kPrompt, .stop = source.get_token()});
    for (int part = 0; part < 3; ++part) // the prompt, two steps
        QVERIFY(answer.value().next().value().has_value());
    source.request_stop();
    QVERIFY(!answer.value().next().value());
    QCOMPARE(answer.value().result().tokens, (std::vector<TokenId>{5, 6}));
    QCOMPARE(answer.value().result().reason, FinishReason::Cancelled);
}

void GenerationTest::cancellingWhileThePromptIsReadGivesAnEmptyAnswer() {
    ScriptedDecoder decoder(Steps{{5}});
    std::stop_source source;
    source.request_stop();
    const auto result = generate(decoder, {.prompt = kPrompt, .stop = source.get_token()});
    QVERIFY(result.value().tokens.empty());
    QCOMPARE(result.value().reason, FinishReason::Cancelled);
}

void GenerationTest::aFailedStepIsAnError() {
    ScriptedDecoder decoder(Steps{{5}});
    const auto result = generate(decoder, {.prompt = kPrompt});
    QCOMPARE(result.error().code, ErrorCode::Numeric);
}

void GenerationTest::stopStringsNeedATokenizer() {
    ScriptedDecoder decoder(Steps{{5}});
    const auto result = generate(decoder, {.prompt = kPrompt, .limits = {.stopStrings = {"x"}}});
    QCOMPARE(result.error().code, ErrorCode::InvalidInput);
}

/// The ids with which a model's vocabulary is padded to a round size.
void GenerationTest::idsBeyondTheTokenizerWriteNothing() {
    const ByteTokenizer tokenizer;
    ScriptedDecoder decoder({{'H', 300}, {256, 'i'}});
    const auto result =
        generate(decoder, {.prompt = kPrompt, .limits = {.maxTokens = 4}, .tokenizer = &tokenizer});
    QVERIFY2(result.hasValue(), result ? "" : result.error().message.c_str());
    QCOMPARE(result.value().text, std::string("Hi"));
    QCOMPARE(result.value().tokens, (std::vector<TokenId>{'H', 300, 256, 'i'}));
}

/// Of a SentencePiece vocabulary, whose first word has a space that belongs to no text.
void GenerationTest::aSpaceThatIsNotShownIsNoPartOfTheForm() {
    const auto loaded = tiny::load("tokenizer.model", tiny::sentencePiece(false).serialize());
    QVERIFY(loaded);
    const Tokenizer& tokenizer = *loaded.value();
    const TokenId word = tokenizer.findToken("\u2581ab");
    const auto vocabulary =
        std::make_shared<const TokenTrie>(TokenTrie::of(tokenizer, tokenizer.vocabSize()));
    for (const auto& [form, isInside] :
         std::vector<std::pair<std::string, bool>>{{"ab ab", false}, {" ab ab", true}}) {
        ScriptedDecoder decoder(Steps{{word}, {word}});
        const auto result = generate(decoder,
                                     {.prompt = kPrompt,
                                      .limits = {.maxTokens = 2},
                                      .tokenizer = &tokenizer,
                                      .vocabulary = vocabulary,
                                      .grammar = {GrammarKind::Regex, form}});
        QCOMPARE(result.value().text, std::string("ab ab"));
        QCOMPARE(result.value().isInsideGrammar, isInside);
    }
}

void GenerationTest::overlappingStopStringsTakeTheFirst() {
    StopStringFilter filter({"bcd", "abc", ""});
    QCOMPARE(filter.push("xab"), std::string("x"));
    QCOMPARE(filter.push("cd"), std::string());
    QVERIFY(filter.hasHit());
    QCOMPARE(filter.push("more"), std::string());
}

QTEST_GUILESS_MAIN(GenerationTest)
#include "generation_test.moc"
