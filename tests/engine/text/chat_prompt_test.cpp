// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_prompt.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

const std::string kChatMl =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// Puts a space before an answer that it does not write behind the prompt.
const std::string kSpaced =
    "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
    "{% else %} {{ m.content | trim }} <|im_end|>{% endif %}{% endfor %}";

/// Llama 2's way, whose tokenizer puts a space before every text.
const std::string kLlama2 =
    "{% for m in messages %}{% if m.role == 'user' %}{{ bos_token }}[INST] {{ m.content }} [/INST]"
    "{% else %} {{ m.content }} {{ eos_token }}{% endif %}{% endfor %}";

std::unique_ptr<Tokenizer> goldenTokenizer(const char* name) {
    const auto folder =
        std::filesystem::path(SWIFT_STUDIO_SHARED_DIR) / "golden" / "tokenizers" / name;
    const auto files = ModelFiles::open(folder);
    if (!files)
        return nullptr;
    auto tokenizer = loadTokenizer(files.value());
    return tokenizer ? std::move(tokenizer).value() : nullptr;
}

ChatTemplate compiled(const std::string& source) {
    return ChatTemplate::compile(source, "a test").value();
}

/// The text in pieces that the tokenizer itself would never choose: a token a byte where it can.
std::vector<TokenId> oddlySplit(const std::string& text, const Tokenizer& tokenizer) {
    std::vector<TokenId> ids;
    for (const char letter : text) {
        const auto encoded = tokenizer.encode(std::string(1, letter), false).value();
        ids.insert(ids.end(), encoded.begin(), encoded.end());
    }
    return ids;
}

bool beginsWith(const std::vector<TokenId>& ids, const std::vector<TokenId>& beginning) {
    return ids.size() >= beginning.size() &&
           std::equal(beginning.begin(), beginning.end(), ids.begin());
}

std::vector<TokenId> joined(std::vector<TokenId> first, const std::vector<TokenId>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

const ChatMessage kQuestion{"user", "Name three colours."};
const ChatMessage kNext{"user", "And three more?"};

} // namespace

class ChatPromptTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void aSecondTurnBeginsWithTheFirstPromptAndAnswer();
    void anEndIdIsNotDoubled();
    void anAnswerThatWasCutGetsItsEnd();
    void aSpaceBeforeAnswersDoesNotComeBetween();
    void threeTurnsKeepAllTheirIds();
    void sentencePieceModelsKeepTheirIdsToo();
    void textsAreEncodedWhereTheTemplateDropsAnswers();
    void thoughtsThatATemplateLeavesOutAreNotReadAgain();
    void textsAreEncodedWhereNoIdsAreStored();
    void anAnswerThatGoesOnEndsThePrompt();
    void anEditedAnswerThatGoesOnIsReadWithWhatStandsBeforeIt();
    void aMessageThatLooksLikeAPlaceholderStaysText();
    void countsOfMessagesAddUpToThePrompt();
    void whatATemplateJoinsIsCountedOnce();
    void droppedAnswersCountNothing();
    void aUsersTurnIsFoundInItsTemplate_data();
    void aUsersTurnIsFoundInItsTemplate();
    void withoutAPlaceForItThereIsNoUsersTurn_data();
    void withoutAPlaceForItThereIsNoUsersTurn();

private:
    std::vector<TokenId> first(const ChatTemplate& chatTemplate) const {
        return encodeChat(chatTemplate, {kQuestion}, *m_tokenizer).value();
    }

    std::vector<TokenId> second(const ChatTemplate& chatTemplate,
                                const std::vector<TokenId>& answer) const {
        return encodeConversation(chatTemplate,
                                  {{kQuestion}, {{"assistant", "Red, blue"}, answer}, {kNext}},
                                  *m_tokenizer)
            .value();
    }

    std::unique_ptr<Tokenizer> m_tokenizer;
};

void ChatPromptTest::initTestCase() {
    m_tokenizer = goldenTokenizer("qwen2");
    if (!m_tokenizer)
        QSKIP("the golden tokenizers do not lie beside the checkout");
}

void ChatPromptTest::aSecondTurnBeginsWithTheFirstPromptAndAnswer() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const auto answer = oddlySplit("Red, blue", *m_tokenizer);
    QVERIFY(answer != m_tokenizer->encode("Red, blue", false).value());
    const auto prompt = second(chatTemplate, answer);
    QVERIFY(beginsWith(prompt, joined(first(chatTemplate), answer)));
    const auto plain =
        encodeChat(chatTemplate, {kQuestion, {"assistant", "Red, blue"}, kNext}, *m_tokenizer)
            .value();
    QVERIFY(!beginsWith(plain, joined(first(chatTemplate), answer)));
    QCOMPARE(m_tokenizer->decode(prompt, false).value(), m_tokenizer->decode(plain, false).value());
}

void ChatPromptTest::anEndIdIsNotDoubled() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const TokenId end = m_tokenizer->findToken("<|im_end|>");
    QVERIFY(end != kNoToken);
    const auto answer = oddlySplit("Red, blue", *m_tokenizer);
    const auto ended = joined(answer, {end});
    QCOMPARE(second(chatTemplate, ended), second(chatTemplate, answer));
    QVERIFY(beginsWith(second(chatTemplate, ended), joined(first(chatTemplate), ended)));
}

void ChatPromptTest::anAnswerThatWasCutGetsItsEnd() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const auto answer = oddlySplit("Red", *m_tokenizer);
    const auto prompt = second(chatTemplate, answer);
    const std::size_t behind = first(chatTemplate).size() + answer.size();
    QCOMPARE(prompt.at(behind), m_tokenizer->findToken("<|im_end|>"));
}

void ChatPromptTest::aSpaceBeforeAnswersDoesNotComeBetween() {
    const ChatTemplate chatTemplate = compiled(kSpaced);
    const auto answer = oddlySplit(" Red, blue", *m_tokenizer);
    QVERIFY(beginsWith(second(chatTemplate, answer), joined(first(chatTemplate), answer)));
}

void ChatPromptTest::threeTurnsKeepAllTheirIds() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const auto one = oddlySplit("Red, blue", *m_tokenizer);
    const auto two = oddlySplit("Green", *m_tokenizer);
    const auto prompt = second(chatTemplate, one);
    const auto third = encodeConversation(chatTemplate,
                                          {{kQuestion},
                                           {{"assistant", "Red, blue"}, one},
                                           {kNext},
                                           {{"assistant", "Green"}, two},
                                           {{"user", "Thanks."}}},
                                          *m_tokenizer)
                           .value();
    QVERIFY(beginsWith(third, joined(prompt, two)));
}

void ChatPromptTest::sentencePieceModelsKeepTheirIdsToo() {
    const auto tokenizer = goldenTokenizer("spm_llama2");
    QVERIFY(tokenizer != nullptr);
    const ChatTemplate chatTemplate = compiled(kLlama2);
    const auto prompt = encodeChat(chatTemplate, {kQuestion}, *tokenizer).value();
    auto answer = oddlySplit("Red, blue", *tokenizer);
    answer.push_back(tokenizer->eosIds().at(0));
    const auto next =
        encodeConversation(
            chatTemplate, {{kQuestion}, {{"assistant", "Red, blue"}, answer}, {kNext}}, *tokenizer)
            .value();
    answer.pop_back(); // the template writes the end itself, behind a space
    QVERIFY(beginsWith(next, joined(prompt, answer)));
    QCOMPARE(std::count(next.begin(), next.end(), tokenizer->eosIds().at(0)), 1);
    QCOMPARE(std::count(next.begin(), next.end(), tokenizer->bosId()), 2);
}

void ChatPromptTest::textsAreEncodedWhereTheTemplateDropsAnswers() {
    const ChatTemplate dropping =
        compiled("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}\n{% endif %}"
                 "{% endfor %}");
    const ChatTemplate doubling =
        compiled("{% for m in messages %}{{ m.content }}{{ m.content }}\n{% endfor %}");
    const ChatTemplate shouting =
        compiled("{% for m in messages %}{{ m.content | upper }}\n{% endfor %}");
    for (const ChatTemplate* odd : {&dropping, &doubling, &shouting}) {
        const auto texts =
            encodeChat(*odd, {kQuestion, {"assistant", "Red, blue"}, kNext}, *m_tokenizer);
        QCOMPARE(second(*odd, oddlySplit("Red, blue", *m_tokenizer)), texts.value());
    }
}

/// As Qwen3 and DeepSeek-R1 do it.
void ChatPromptTest::thoughtsThatATemplateLeavesOutAreNotReadAgain() {
    const ChatTemplate chatTemplate =
        compiled("{% for m in messages %}{{ m.content.split('</think>')[-1] }}\n{% endfor %}");
    const std::string answer = "<think>Which?</think>Red, blue";
    const auto prompt = encodeConversation(
        chatTemplate,
        {{kQuestion}, {{"assistant", answer}, oddlySplit(answer, *m_tokenizer)}, {kNext}},
        *m_tokenizer);
    const auto texts =
        encodeChat(chatTemplate, {kQuestion, {"assistant", answer}, kNext}, *m_tokenizer);
    QCOMPARE(prompt.value(), texts.value());
    QVERIFY(m_tokenizer->decode(prompt.value(), false).value().find("Which") == std::string::npos);
}

void ChatPromptTest::textsAreEncodedWhereNoIdsAreStored() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const auto texts =
        encodeChat(chatTemplate, {kQuestion, {"assistant", "Red, blue"}, kNext}, *m_tokenizer);
    QCOMPARE(second(chatTemplate, {}), texts.value());
}

void ChatPromptTest::anAnswerThatGoesOnEndsThePrompt() {
    for (const std::string& source : {kChatMl, kSpaced}) {
        const ChatTemplate chatTemplate = compiled(source);
        auto answer = oddlySplit("Red, blue", *m_tokenizer);
        const auto goingOn = [&](const std::vector<TokenId>& ids) {
            return encodeContinuation(
                       chatTemplate, {{kQuestion}, {{"assistant", "Red, blue"}, ids}}, *m_tokenizer)
                .value();
        };
        const PromptTokens prompt = goingOn(answer);
        QCOMPARE(prompt.begun, answer);
        QCOMPARE(prompt.ids, joined(first(chatTemplate), answer));
        // An end that the model wrote would be an answer that is over.
        auto ended = answer;
        ended.push_back(m_tokenizer->findToken("<|im_end|>"));
        QCOMPARE(goingOn(ended).ids, prompt.ids);
    }
}

void ChatPromptTest::anEditedAnswerThatGoesOnIsReadWithWhatStandsBeforeIt() {
    const auto textOf = [this](const std::string& source, const std::string& words) {
        const auto ids = encodeContinuation(
                             compiled(source), {{kQuestion}, {{"assistant", words}}}, *m_tokenizer)
                             .value()
                             .ids;
        return m_tokenizer->decode(ids, false).value();
    };
    QCOMPARE(textOf(kChatMl, "Red, "),
             std::string("<|im_start|>user\nName three colours.<|im_end|>\n"
                         "<|im_start|>assistant\nRed, "));
    QCOMPARE(textOf(kSpaced, "Red, "), std::string("[INST] Name three colours. [/INST] Red, "));
}

void ChatPromptTest::aMessageThatLooksLikeAPlaceholderStaysText() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const auto answer = oddlySplit("Red", *m_tokenizer);
    const ChatMessage sly{"user", "StoredAnswer000000Z StoredAnswerQ000000Z"};
    const auto prompt = encodeConversation(
        chatTemplate, {{sly}, {{"assistant", "Red"}, answer}, {kNext}}, *m_tokenizer);
    const auto start = encodeChat(chatTemplate, {sly}, *m_tokenizer).value();
    QVERIFY(beginsWith(prompt.value(), joined(start, answer)));
}

void ChatPromptTest::countsOfMessagesAddUpToThePrompt() {
    const ChatTemplate chatTemplate = compiled(kChatMl);
    const TokenId end = m_tokenizer->findToken("<|im_end|>");
    const auto answer = joined(oddlySplit("Red, blue", *m_tokenizer), {end});
    const std::vector<StoredMessage> messages = {
        {kQuestion}, {{"assistant", "Red, blue"}, answer}, {kNext}};
    const auto count = countConversation(chatTemplate, messages, *m_tokenizer);
    QVERIFY(count.hasValue());
    const auto& [total, perMessage] = count.value();
    QCOMPARE(total, static_cast<int>(second(chatTemplate, answer).size()));
    QCOMPARE(perMessage.size(), std::size_t{3});
    const int opening =
        static_cast<int>(m_tokenizer->encode("<|im_start|>assistant\n", false).value().size());
    QCOMPARE(perMessage[0] + perMessage[1] + perMessage[2] + opening, total);
    QCOMPARE(perMessage[0] + opening, static_cast<int>(first(chatTemplate).size()));
    const int encoded = static_cast<int>(m_tokenizer->encode("Red, blue", false).value().size());
    const auto plain =
        countConversation(chatTemplate, {{kQuestion}, {{"assistant", "Red, blue"}}}, *m_tokenizer);
    QCOMPARE(perMessage[1] - plain.value().perMessage[1],
             static_cast<int>(answer.size()) - 1 - encoded);
}

void ChatPromptTest::whatATemplateJoinsIsCountedOnce() {
    const ChatTemplate joining =
        compiled("{% if messages[-1].role == 'system' %}{{ raise_exception('no question') }}"
                 "{% endif %}{% for m in messages %}{{ m.content }}\n{% endfor %}");
    const ChatMessage system{"system", "Be brief and friendly."};
    const auto count = countConversation(joining, {{system}, {kQuestion}}, *m_tokenizer);
    QVERIFY(count.hasValue());
    QCOMPARE(count.value().perMessage, (std::vector<int>{0, count.value().total}));
    QVERIFY(!countConversation(joining, {{system}}, *m_tokenizer));
}

void ChatPromptTest::droppedAnswersCountNothing() {
    const ChatTemplate dropping =
        compiled("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}\n{% endif %}"
                 "{% endfor %}");
    const auto count = countConversation(
        dropping,
        {{kQuestion}, {{"assistant", "Red, blue"}, oddlySplit("Red, blue", *m_tokenizer)}, {kNext}},
        *m_tokenizer);
    const auto& perMessage = count.value().perMessage;
    QCOMPARE(perMessage.at(1), 0);
    QCOMPARE(perMessage.at(0) + perMessage.at(2), count.value().total);
}

void ChatPromptTest::aUsersTurnIsFoundInItsTemplate_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("end");
    QTest::newRow("ChatML") << QString::fromStdString(kChatMl) << "<|im_end|>";
    QTest::newRow("with spaces") << QString::fromStdString(kSpaced) << "[/INST]";
    QTest::newRow("lines") << "Q: {{ messages[0].content }}\nA: B"
                           << "A: B";
    QTest::newRow("no end") << "Q: {{ messages[0].content }} \n"
                            << "";
}

/// What it begins with and a message together are the begin of the prompt.
void ChatPromptTest::aUsersTurnIsFoundInItsTemplate() {
    QFETCH(const QString, source);
    QFETCH(const QString, end);
    const ChatTemplate chatTemplate = compiled(source.toStdString());
    const auto turn = userTurnOf(chatTemplate, *m_tokenizer);
    QVERIFY2(turn.hasValue(), turn ? "" : turn.error().message.c_str());
    QCOMPARE(QString::fromStdString(turn.value().end), end);
    const std::string begin = m_tokenizer->decode(turn.value().begin, false).value();
    QVERIFY(!begin.empty());
    const std::string prompt = chatTemplate.renderChat({kQuestion}, *m_tokenizer, true).value();
    QVERIFY(prompt.starts_with(begin + kQuestion.content));
}

void ChatPromptTest::withoutAPlaceForItThereIsNoUsersTurn_data() {
    QTest::addColumn<QString>("source");
    QTest::newRow("nothing before it") << "{{ messages[0].content }}\n";
    QTest::newRow("not written") << "Hello.";
}

void ChatPromptTest::withoutAPlaceForItThereIsNoUsersTurn() {
    QFETCH(const QString, source);
    const auto turn = userTurnOf(compiled(source.toStdString()), *m_tokenizer);
    QVERIFY(!turn.hasValue());
    QCOMPARE(turn.error().code, ErrorCode::Unsupported);
}

QTEST_APPLESS_MAIN(ChatPromptTest)
#include "chat_prompt_test.moc"
