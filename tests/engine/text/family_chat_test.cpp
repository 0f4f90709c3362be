// SPDX-License-Identifier: Apache-2.0
// Chats of the model families: what ends an answer, and that a prompt begins once. The formats are
// tiny copies of the families' own; where the published templates lie beside the checkout, they are
// asked the same.
#include "engine/loading/files/byte_reader.h"
#include "engine/text/chat_prompt.h"
#include "tests/engine/text/golden_cases.h"
#include "tests/support/models/tiny_gguf.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>

using namespace engine;
using namespace test_support;

namespace {

/// A family's special tokens and the texts around its turns.
struct Family {
    const char* name;
    std::vector<std::string> specials; ///< they are the first tokens of the vocabulary
    std::string bos;                   ///< empty: none
    std::string eos;
    std::vector<std::string> ends; ///< every token that must end an answer, and no other
    std::string format;
    std::string published = {}; ///< the published template's file
};

constexpr const char* kChatMl =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

std::vector<Family> families() {
    return {
        {"Qwen3",
         {"<|endoftext|>", "<|im_start|>", "<|im_end|>"},
         "",
         "<|im_end|>",
         {"<|im_end|>", "<|endoftext|>"},
         kChatMl,
         "Qwen-Qwen3-0.6B.jinja"},
        {"SmolLM3",
         {"<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>"},
         "",
         "<|im_end|>",
         {"<|im_end|>", "<|end_of_text|>"},
         kChatMl,
         "HuggingFaceTB-SmolLM3-3B.jinja"},
        {"Gemma",
         {"<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>"},
         "<bos>",
         "<eos>",
         {"<eos>", "<end_of_turn>"},
         "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content | trim }}"
         "<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif "
         "%}",
         "google-gemma-2-2b-it.jinja"},
        {"Phi-3",
         {"<s>", "<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"},
         "<s>",
         "<|endoftext|>",
         {"<|endoftext|>", "<|end|>"},
         "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}"
         "{% if add_generation_prompt %}<|assistant|>\n{% else %}{{ eos_token }}{% endif %}",
         "microsoft-Phi-3.5-mini-instruct.jinja"},
        {"Phi-4-mini",
         {"<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"},
         "<|endoftext|>",
         "<|endoftext|>",
         {"<|endoftext|>", "<|end|>"},
         "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
         "{% if add_generation_prompt %}<|assistant|>{% else %}{{ eos_token }}{% endif %}"},
        {"OLMo 2",
         {"<|endoftext|>"},
         "<|endoftext|>",
         "<|endoftext|>",
         {"<|endoftext|>"},
         "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}"
         "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"},
        {"OLMoE",
         {"<|endoftext|>", "<|padding|>", "|||IP_ADDRESS|||"},
         "",
         "<|endoftext|>",
         {"<|endoftext|>"},
         "{{ eos_token }}{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}"
         "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"},
        {"Granite",
         {"<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"},
         "<|end_of_text|>",
         "<|end_of_text|>",
         {"<|end_of_text|>"},
         "{% for m in messages %}<|start_of_role|>{{ m.role }}<|end_of_role|>{{ m.content }}"
         "<|end_of_text|>\n{% endfor %}"
         "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}",
         "ibm-granite-granite-3.3-2B-Instruct.jinja"},
        {"Mixtral",
         {"<unk>", "<s>", "</s>"},
         "<s>",
         "</s>",
         {"</s>"},
         "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} "
         "[/INST]{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"},
        {"Mistral-Nemo",
         {"<unk>", "<s>", "</s>", "[INST]", "[/INST]"},
         "<s>",
         "</s>",
         {"</s>"},
         "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}"
         "[/INST]{% else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
         "mistralai-Mistral-Nemo-Instruct-2407.jinja"},
        {"Llama 3.2",
         {"<|begin_of_text|>",
          "<|end_of_text|>",
          "<|start_header_id|>",
          "<|end_header_id|>",
          "<|eom_id|>",
          "<|eot_id|>"},
         "<|begin_of_text|>",
         "<|eot_id|>",
         {"<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"},
         "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role "
         "}}<|end_header_id|>\n\n"
         "{{ m.content }}<|eot_id|>{% endfor %}{% if add_generation_prompt %}<|start_header_id|>"
         "assistant<|end_header_id|>\n\n{% endif %}",
         "meta-llama-Llama-3.2-3B-Instruct.jinja"},
    };
}

/// The family's specials, and a token for every ASCII character as byte-level BPE spells it.
std::vector<std::string> tokensOf(const Family& family) {
    std::vector<std::string> tokens = family.specials;
    for (char letter = '!'; letter <= '~'; ++letter)
        tokens.emplace_back(1, letter);
    tokens.insert(tokens.end(), {"\u0120", "\u010a"});
    return tokens;
}

TokenId idOf(const Family& family, const std::string& text) {
    const auto found = std::find(family.specials.begin(), family.specials.end(), text);
    return found == family.specials.end() ? kNoToken
                                          : static_cast<TokenId>(found - family.specials.begin());
}

/// `endType`: what the file calls the tokens that end a turn; 3: control, 4: user-defined, 1: word.
std::unique_ptr<Tokenizer> tokenizerOf(const Family& family, std::int32_t endType = 3) {
    TinyGguf file;
    file.addString("general.architecture", "llama");
    file.addString("tokenizer.ggml.model", "gpt2");
    file.addString("tokenizer.ggml.pre", "gpt-2");
    const std::vector<std::string> tokens = tokensOf(family);
    file.addStrings("tokenizer.ggml.tokens", tokens);
    file.addStrings("tokenizer.ggml.merges", {});
    std::vector<std::int32_t> types(tokens.size(), 1);
    for (std::size_t id = 0; id < family.specials.size(); ++id) {
        const bool isEnd =
            std::find(family.ends.begin(), family.ends.end(), tokens[id]) != family.ends.end() &&
            tokens[id] != family.eos;
        types[id] = isEnd ? endType : 3;
    }
    file.addArray<std::int32_t>("tokenizer.ggml.token_type", GgufType::I32, types);
    file.addU32("tokenizer.ggml.eos_token_id",
                static_cast<std::uint32_t>(idOf(family, family.eos)));
    if (!family.bos.empty()) {
        file.addU32("tokenizer.ggml.bos_token_id",
                    static_cast<std::uint32_t>(idOf(family, family.bos)));
        file.addValue("tokenizer.ggml.add_bos_token", GgufType::Bool, bytesOf(true));
    }
    const TemporaryFolder folder;
    const auto files = ModelFiles::open(folder.write("m.gguf", file.toBytes()));
    if (!files)
        qFatal("%s", files.error().message.c_str());
    auto tokenizer = loadTokenizer(files.value());
    if (!tokenizer)
        qFatal("%s", tokenizer.error().message.c_str());
    return std::move(tokenizer).value();
}

const std::vector<ChatMessage> kConversation = {
    {"user", "Name one colour."}, {"assistant", "Red"}, {"user", "One more?"}};

/// What is wrong with the prompt that a template makes; empty: nothing.
QString problemOf(const Family& family, const std::string& source) {
    const auto tokenizer = tokenizerOf(family);
    const auto chatTemplate = ChatTemplate::compile(source, family.name);
    if (!chatTemplate)
        return QString::fromStdString(chatTemplate.error().message);
    const auto ids = encodeChat(chatTemplate.value(), kConversation, *tokenizer);
    if (!ids)
        return QString::fromStdString(ids.error().message);
    const TokenId bos = idOf(family, family.bos);
    const bool isAlsoEnd = family.bos == family.eos;
    if (bos != kNoToken && !isAlsoEnd &&
        std::count(ids.value().begin(), ids.value().end(), bos) > 1)
        return "the prompt has its first token twice";
    if (ids.value().size() > 1 && bos != kNoToken && ids.value()[0] == bos && ids.value()[1] == bos)
        return "the prompt begins twice";
    // The turn that the model is to write is open: nothing that ends one stands at the end.
    const std::vector<TokenId> ends = chatEndIds(*tokenizer);
    if (std::find(ends.begin(), ends.end(), ids.value().back()) != ends.end())
        return "the prompt ends the answer before it begins";
    const std::string text = tokenizer->decode(ids.value(), false).value();
    if (text != chatTemplate.value().renderChat(kConversation, *tokenizer, true).value())
        return QString("the tokens say another text: %1").arg(text.c_str());
    for (const std::string& special : family.specials)
        if (const std::string_view whole = text;
            whole.find(special) != std::string_view::npos &&
            std::find(ids.value().begin(), ids.value().end(), idOf(family, special)) ==
                ids.value().end())
            return QString("%1 was cut into letters").arg(special.c_str());
    return {};
}

} // namespace

class FamilyChatTest : public QObject {
    Q_OBJECT

private slots:
    void theTokensThatEndATurnEndAnAnswer_data();
    void theTokensThatEndATurnEndAnAnswer();

    void promptsBeginOnceAndLeaveTheAnswerOpen_data() { addFamilies(); }

    void promptsBeginOnceAndLeaveTheAnswerOpen();

    void publishedTemplatesDoTheSame_data();
    void publishedTemplatesDoTheSame();

private:
    static void addFamilies() {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Family& family : families())
            QTest::newRow(family.name) << index++;
    }
};

void FamilyChatTest::theTokensThatEndATurnEndAnAnswer_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<int>("type");
    int index = 0;
    for (const Family& family : families()) {
        for (const int type : {1, 3, 4})
            QTest::addRow("%s, type %d", family.name, type) << index << type;
        ++index;
    }
}

void FamilyChatTest::theTokensThatEndATurnEndAnAnswer() {
    QFETCH(int, index);
    QFETCH(int, type);
    const Family family = families()[static_cast<std::size_t>(index)];
    const auto tokenizer = tokenizerOf(family, type);
    std::vector<TokenId> expected;
    for (const std::string& end : family.ends) {
        expected.push_back(idOf(family, end));
        // What ends an answer is no part of it.
        const std::vector<TokenId> alone = {expected.back()};
        QCOMPARE(tokenizer->decode(alone, true).value(), std::string());
    }
    std::sort(expected.begin(), expected.end());
    QCOMPARE(chatEndIds(*tokenizer), expected);
}

void FamilyChatTest::promptsBeginOnceAndLeaveTheAnswerOpen() {
    QFETCH(int, index);
    const Family family = families()[static_cast<std::size_t>(index)];
    QCOMPARE(problemOf(family, family.format), QString());
}

void FamilyChatTest::publishedTemplatesDoTheSame_data() {
    QTest::addColumn<int>("index");
    int index = 0;
    for (const Family& family : families()) {
        if (!family.published.empty())
            QTest::newRow(family.name) << index;
        ++index;
    }
}

void FamilyChatTest::publishedTemplatesDoTheSame() {
    QFETCH(int, index);
    const Family family = families()[static_cast<std::size_t>(index)];
    const auto path = golden::folder() / "chat_templates" / "real" / family.published;
    if (!std::filesystem::exists(path))
        QSKIP("the published template does not lie beside the checkout");
    const auto source = readTextFile(path, std::uint64_t{1} << 20U);
    QVERIFY2(source.hasValue(), source ? "" : source.error().message.c_str());
    QCOMPARE(problemOf(family, source.value()), QString());
}

QTEST_GUILESS_MAIN(FamilyChatTest)
#include "family_chat_test.moc"
