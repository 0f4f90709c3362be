// SPDX-License-Identifier: Apache-2.0
#include "engine/text/builtin_templates.h"
#include "engine/text/chat_template.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

using namespace engine;

namespace {

/// Knows nothing but the spelling of its tokens; the first two begin and end a text.
class SpellingTokenizer : public Tokenizer {
public:
    explicit SpellingTokenizer(std::vector<std::string> tokens)
        : m_tokens(std::move(tokens)) {}

    Result<std::vector<TokenId>> encode(std::string_view, bool) const override {
        return std::vector<TokenId>();
    }

    std::unique_ptr<TokenDecoding> startDecoding(bool) const override { return nullptr; }

    int vocabSize() const override { return static_cast<int>(m_tokens.size()); }

    std::string tokenText(TokenId id) const override {
        return m_tokens[static_cast<std::size_t>(id)];
    }

    std::string tokenBytes(TokenId id) const override { return tokenText(id); }

    bool isSpecial(TokenId) const override { return true; }

    TokenId bosId() const override { return m_tokens.empty() ? kNoToken : 0; }

    std::vector<TokenId> eosIds() const override {
        return m_tokens.empty() ? std::vector<TokenId>() : std::vector<TokenId>{1};
    }

    TokenId findToken(std::string_view text) const override {
        const auto found = std::find(m_tokens.begin(), m_tokens.end(), text);
        return found == m_tokens.end() ? kNoToken : static_cast<TokenId>(found - m_tokens.begin());
    }

    std::string description() const override { return "spelling"; }

private:
    std::vector<std::string> m_tokens;
};

const std::vector<ChatMessage> kConversation = {
    {"system", "Be kind."}, {"user", " Hi\n"}, {"assistant", "Hello!"}, {"user", "Bye"}};

struct Expected {
    std::string name;
    std::vector<std::string> tokens;
    std::string architecture;
    std::string text; ///< the conversation above with a generation prompt
};

const std::vector<Expected> kExpected = {
    {"ChatML",
     {"<|endoftext|>", "<|im_end|>", "<|im_start|>"},
     "qwen2",
     "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n"
     "<|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
     "<|im_start|>assistant\n"},
    {"Llama 3",
     {"<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>"},
     "llama",
     "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe kind.<|eot_id|>"
     "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
     "<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|>"
     "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
     "<|start_header_id|>assistant<|end_header_id|>\n\n"},
    {"Llama 2",
     {"<s>", "</s>"},
     "llama",
     "<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\nHi [/INST] Hello! </s><s>[INST] Bye [/INST]"},
    {"Mistral",
     {"<s>", "</s>"},
     "mistral",
     "<s>[INST] Be kind.\n\nHi [/INST] Hello!</s>[INST] Bye [/INST]"},
    {"Mistral",
     {"<s>", "</s>", "[INST]", "[/INST]"},
     "",
     "<s>[INST] Be kind.\n\nHi [/INST] Hello!</s>[INST] Bye [/INST]"},
    {"DeepSeek",
     {"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>"},
     "llama",
     "<｜begin▁of▁sentence｜>Be kind.<｜User｜> Hi\n<｜Assistant｜>Hello!<｜end▁of▁sentence｜>"
     "<｜User｜>Bye<｜Assistant｜>"},
    {"DeepSeek-Coder",
     {"<｜begin▁of▁sentence｜>", "<|EOT|>"},
     "llama",
     "<｜begin▁of▁sentence｜>Be kind.\n### Instruction:\n Hi\n\n### Response:\nHello!\n<|EOT|>\n"
     "### Instruction:\nBye\n### Response:\n"},
    {"DeepSeek LLM",
     {"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"},
     "llama",
     "<｜begin▁of▁sentence｜>Be kind.\n\nUser:  Hi\n\n\nAssistant: Hello!<｜end▁of▁sentence｜>"
     "User: Bye\n\nAssistant:"},
    {"Gemma",
     {"<bos>", "<eos>", "<start_of_turn>"},
     "gemma3_text",
     "<bos><start_of_turn>user\nBe kind.\n\nHi<end_of_turn>\n<start_of_turn>model\n"
     "Hello!<end_of_turn>\n<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n"},
    {"Granite",
     {"<|end_of_text|>", "<|end_of_text|>", "<|start_of_role|>"},
     "granite",
     "<|start_of_role|>system<|end_of_role|>Be kind.<|end_of_text|>\n"
     "<|start_of_role|>user<|end_of_role|> Hi\n<|end_of_text|>\n"
     "<|start_of_role|>assistant<|end_of_role|>Hello!<|end_of_text|>\n"
     "<|start_of_role|>user<|end_of_role|>Bye<|end_of_text|>\n"
     "<|start_of_role|>assistant<|end_of_role|>"},
    {"Phi-3",
     {"<s>", "<|endoftext|>", "<|user|>", "<|placeholder1|>"},
     "phi3",
     "<|system|>\nBe kind.<|end|>\n<|user|>\n Hi\n<|end|>\n<|assistant|>\nHello!<|end|>\n"
     "<|user|>\nBye<|end|>\n<|assistant|>\n"},
    {"plain turns", {}, "", "Be kind.\n\nUser:  Hi\n\n\nAssistant: Hello!User: Bye\n\nAssistant:"},
};

Result<ChatTemplate> chosenFor(const test_support::TemporaryFolder& folder,
                               const Tokenizer& tokenizer) {
    folder.write("tokenizer.json", "{}");
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(folder.path()));
    return chooseChatTemplate(files, tokenizer);
}

} // namespace

class BuiltinTemplatesTest : public QObject {
    Q_OBJECT

private slots:

    void eachVocabularyGetsItsTemplate() {
        for (const Expected& expected : kExpected) {
            const SpellingTokenizer tokenizer(expected.tokens);
            const BuiltinTemplate& chosen = builtinTemplateFor(tokenizer, expected.architecture);
            QCOMPARE(std::string(chosen.name), expected.name);
            const auto compiled = ChatTemplate::compile(chosen.source, expected.name);
            QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
            const auto text = compiled.value().renderChat(kConversation, tokenizer, true);
            QVERIFY2(text, text ? "" : text.error().message.c_str());
            QCOMPARE(text.value(), expected.text);
        }
    }

    /// Left out: tools, what the published ones refuse, and Granite's default words of the system,
    /// which name the day.
    void publishedTemplatesGiveTheSameBytes() {
        const std::filesystem::path cases = std::filesystem::path(SWIFT_STUDIO_SHARED_DIR) /
                                            "golden/chat_templates/real/real.jsonl";
        if (!std::filesystem::exists(cases))
            QSKIP("no golden data beside the checkout");
        const std::map<std::string, std::string> markers = {
            {"google-gemma-2-2b-it", "<start_of_turn>"},
            {"ibm-granite-granite-3.3-2B-Instruct", "<|start_of_role|>"},
            {"microsoft-Phi-3.5-mini-instruct", "<|placeholder1|>"}};
        std::map<std::string, int> compared;
        std::ifstream stream(cases);
        for (std::string line; std::getline(stream, line);) {
            const auto one = nlohmann::ordered_json::parse(line);
            const std::string name = one["template"];
            const auto& input = one["input"];
            const bool saysNothing =
                name.starts_with("ibm") && input["messages"][0]["role"] != "system";
            if (!markers.contains(name) || one["group"] != "chat" || !one.contains("output") ||
                saysNothing)
                continue;
            const SpellingTokenizer tokenizer(
                {input["bos_token"], input["eos_token"], markers.at(name)});
            const auto compiled =
                ChatTemplate::compile(builtinTemplateFor(tokenizer, "").source, name);
            QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
            QCOMPARE(compiled.value().render(input).value(), one["output"].get<std::string>());
            ++compared[name];
        }
        QCOMPARE(compared.size(), markers.size());
        for (const auto& [name, count] : compared)
            QVERIFY2(count >= 3, name.c_str());
    }

    void withoutGenerationPromptTheAnswerIsNotBegun() {
        const SpellingTokenizer tokenizer({"<s>", "<|im_end|>", "<|im_start|>"});
        const auto compiled =
            ChatTemplate::compile(builtinTemplateFor(tokenizer, "").source, "ChatML");
        QVERIFY(compiled);
        const auto text = compiled.value().renderChat({{"user", "a"}}, tokenizer, false);
        QVERIFY(text);
        QCOMPARE(text.value(), std::string("<|im_start|>user\na<|im_end|>\n"));
    }

    void theModelsOwnTemplateComesFirst() {
        const test_support::TemporaryFolder folder;
        folder.write("tokenizer_config.json", R"({"chat_template": "{{ messages[0].content }}!"})");
        const SpellingTokenizer tokenizer({"<s>", "</s>"});
        const auto chosen = chosenFor(folder, tokenizer);
        QVERIFY(chosen);
        QVERIFY2(chosen.value().origin().find("tokenizer_config.json") != std::string::npos,
                 chosen.value().origin().c_str());
        const auto text = chosen.value().renderChat({{"user", "a"}}, tokenizer, true);
        QVERIFY(text);
        QCOMPARE(text.value(), std::string("a!"));
    }

    void withoutTemplateTheOriginSaysWhy() {
        const test_support::TemporaryFolder folder;
        const auto chosen = chosenFor(folder, SpellingTokenizer({"<s>", "<|im_start|>"}));
        QVERIFY(chosen);
        QCOMPARE(chosen.value().origin(),
                 std::string("built-in ChatML (the model has no chat template; the vocabulary has "
                             "<|im_start|>)"));
    }

    void aTemplateThatCannotBeUsedIsPassedOver() {
        const test_support::TemporaryFolder folder;
        folder.write("tokenizer_config.json", R"({"chat_template": "a\n{% include 'b' %}"})");
        const auto chosen = chosenFor(folder, SpellingTokenizer({"<s>", "</s>"}));
        QVERIFY(chosen);
        const std::string& origin = chosen.value().origin();
        QVERIFY2(origin.starts_with("built-in Llama 2 ("), origin.c_str());
        QVERIFY2(origin.find("line 2, column 4: the tag 'include'") != std::string::npos,
                 origin.c_str());
    }

    /// As the published template of openchat-3.5 writes roles.
    void aTemplateMayWriteRolesAsTitles() {
        const test_support::TemporaryFolder folder;
        folder.write("tokenizer_config.json",
                     R"({"chat_template": "{{ 'GPT4 Correct ' + messages[0]['role'].title() }}"})");
        const SpellingTokenizer tokenizer({"<s>", "</s>"});
        const auto chosen = chosenFor(folder, tokenizer);
        QVERIFY(chosen);
        const auto text = chosen.value().renderChat({{"user", "a"}}, tokenizer, true);
        QVERIFY2(text, text ? "" : text.error().message.c_str());
        QCOMPARE(text.value(), std::string("GPT4 Correct User"));
    }

    void aTemplateThatNeedsWhatIsMissingIsPassedOver() {
        const std::pair<std::string, std::string> cases[] = {
            {"{{ messages[0].content.zfill(9) }}", "'str' has no attribute 'zfill'"},
            {"{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content | xmlattr }}"
             "{% endif %}{% endfor %}",
             "the filter 'xmlattr' is not supported"},
            {"{{ messages | selectattr('role', 'sameas', 'user') | list }}",
             "the test 'sameas' is not supported"},
            {"{% if not add_generation_prompt %}{{ lipsum() }}{% endif %}",
             "'lipsum' is undefined"},
        };
        for (const auto& [source, words] : cases) {
            const test_support::TemporaryFolder folder;
            folder.write("tokenizer_config.json", "{\"chat_template\": \"" + source + "\"}");
            const auto chosen = chosenFor(folder, SpellingTokenizer({"<s>", "</s>"}));
            QVERIFY(chosen);
            const std::string& origin = chosen.value().origin();
            QVERIFY2(origin.starts_with("built-in Llama 2 ("), origin.c_str());
            QVERIFY2(origin.find(words) != std::string::npos, origin.c_str());
        }
    }

    void aTemplateThatRefusesARoleIsKept() {
        const test_support::TemporaryFolder folder;
        folder.write("tokenizer_config.json",
                     R"({"chat_template": "{% if messages[0].role == 'system' %})"
                     R"({{ raise_exception('no system') }}{% endif %}{{ messages[0].content }}"})");
        const auto chosen = chosenFor(folder, SpellingTokenizer({"<s>", "</s>"}));
        QVERIFY(chosen);
        QCOMPARE(chosen.value().origin(), std::string("tokenizer_config.json"));
    }

    /// As transformers 5.24 passes its special_tokens_map.
    void templatesSeeTheTokensThatTheConfigurationNames() {
        const test_support::TemporaryFolder folder;
        folder.write("tokenizer_config.json",
                     R"({"tokenizer_class": "Qwen2Tokenizer", "pad_token": "<p>",)"
                     R"("cls_token": {"content": "<c>"}, "mask_token": null, "chat_template":)"
                     R"("{{ pad_token }}|{{ cls_token }}|{{ unk_token }}|)"
                     R"({{ mask_token is defined }}|{{ sep_token is defined }}|{{ bos_token }}"})");
        const SpellingTokenizer tokenizer({"<s>", "</s>"});
        const auto chosen = chosenFor(folder, tokenizer);
        QVERIFY(chosen);
        const auto text = chosen.value().renderChat({{"user", "a"}}, tokenizer, true);
        QVERIFY2(text, text ? "" : text.error().message.c_str());
        QCOMPARE(text.value(), std::string("<p>|<c>|<|endoftext|>|False|False|<s>"));
    }

    void templatesSeeThatThereAreNoTools() {
        const auto compiled =
            ChatTemplate::compile("{{ tools is defined }} {{ tools is none }}", "a test");
        QVERIFY(compiled);
        const auto text = compiled.value().renderChat({}, SpellingTokenizer({}), true);
        QVERIFY(text);
        QCOMPARE(text.value(), std::string("True True"));
    }
};

QTEST_GUILESS_MAIN(BuiltinTemplatesTest)
#include "builtin_templates_test.moc"
