// SPDX-License-Identifier: Apache-2.0
// Vocabularies as they are published, with parts that are missing but that nothing needs, and older
// folders: they are read as llama.cpp and transformers read them.
#include "engine/loading/gguf/gguf_file.h"
#include "engine/text/bpe/gguf/gguf_tokenizer_json.h"
#include "engine/text/sentencepiece/protobuf_reader.h"
#include "tests/engine/text/tiny_tokenizers.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

using Ids = std::vector<TokenId>;

std::unique_ptr<Tokenizer> loaded(Result<std::unique_ptr<Tokenizer>> tokenizer) {
    if (!tokenizer)
        qFatal("%s", tokenizer.error().message.c_str());
    return std::move(tokenizer).value();
}

std::unique_ptr<Tokenizer> loaded(const TinyGguf& file) {
    return loaded(tiny::load("model.gguf", file.toBytes()));
}

Ids encoded(const Tokenizer& tokenizer, std::string_view text) {
    auto ids = tokenizer.encode(text, false);
    if (!ids)
        qFatal("%s", ids.error().message.c_str());
    return std::move(ids).value();
}

bool mentions(const std::string& message, std::string_view word) {
    if (message.find(word) != std::string::npos)
        return true;
    qWarning("'%s' does not mention '%s'", message.c_str(), std::string(word).c_str());
    return false;
}

/// Letters, and "abc" without "ab".
TinyGguf ggufWithMerges(const std::vector<std::string>& merges) {
    TinyGguf file = tiny::gguf("gpt2", {"<end>", "a", "b", "c", "d", "abc"});
    file.addString("tokenizer.ggml.pre", "smollm");
    file.addStrings("tokenizer.ggml.merges", merges);
    return file;
}

/// What a model file goes on with to say the id of a special token.
std::string specialId(std::uint32_t field, std::uint64_t id) {
    ProtobufWriter trainer;
    trainer.varint(field, id);
    ProtobufWriter model;
    model.bytes(2, trainer.take());
    return model.take();
}

/// A vocabulary of Gemma 3 as Ollama's converter writes it: it says nothing of spaces and lists the
/// token of an image. `rows`: of the embedding.
TinyGguf ollamasGemma(std::uint64_t rows) {
    tiny::LlamaVocabulary vocabulary;
    vocabulary.tokens.emplace_back("<image_soft_token>");
    vocabulary.scores.push_back(-1000);
    vocabulary.types.push_back(4);
    TinyGguf file;
    file.addString("general.architecture", "gemma3");
    file.addString("tokenizer.ggml.model", "llama");
    file.addStrings("tokenizer.ggml.tokens", vocabulary.tokens);
    file.addArray<float>("tokenizer.ggml.scores", GgufType::F32, vocabulary.scores);
    file.addArray<std::int32_t>("tokenizer.ggml.token_type", GgufType::I32, vocabulary.types);
    file.addU32("tokenizer.ggml.bos_token_id", 1);
    file.addU32("tokenizer.ggml.eos_token_id", 2);
    file.addFloats("token_embd.weight", {4, rows});
    return file;
}

/// A tokenizer.json whose added tokens have the ids from 13 on.
std::string jsonWith(const std::vector<std::string>& added) {
    std::string tokens;
    for (std::size_t i = 0; i < added.size(); ++i)
        tokens += (i > 0 ? "," : "") + tiny::addedToken(13 + static_cast<int>(i), added[i]);
    return tiny::json("[" + tokens + "]");
}

/// One that spells spaces as Llama 2 does.
constexpr const char* kPiecesJson =
    R"({"added_tokens":[{"id":6,"content":"<s>","special":true},)"
    R"({"id":7,"content":"</s>","special":true}],"normalizer":{"type":"Prepend",)"
    R"("prepend":"\u2581"},"pre_tokenizer":null,"post_processor":null,"decoder":)"
    R"({"type":"Fuse"},"model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,)"
    R"("byte_fallback":true,"vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,"\u2581":3,"a":4,)"
    R"("\u2581a":5,"<s>":6,"</s>":7},"merges":["\u2581 a"]}})";

Result<TokenizerJson> written(const TinyGguf& file) {
    const TemporaryFolder folder;
    ENGINE_TRY(const ModelFiles files,
               ModelFiles::open(folder.write("model.gguf", file.toBytes())));
    return ggufTokenizerJson(*files.gguf());
}

} // namespace

class PublishedTokenizersTest : public QObject {
    Q_OBJECT

private slots:
    void idsThatNothingNeedsMayBeBeyondTheVocabulary();
    void aGgufPieceMayBeEmpty();
    void aGgufMergeMayMakeAStepThatIsNoToken();
    void mergesWithMissingTokensAreWrittenAsTokenizerJsonKnowsThem();
    void anUnknownTokenIsMissedWhenItIsNeeded();
    void addedTokensOfOlderFoldersAreRead();
    void addedTokensOfOlderFoldersAreChecked();
    void addedTokensOfOlderFoldersCountBesideATokenizerJson();
    void aGemmaOfOllamaPutsNoSpaceInFrontAndHasNoImages();
    void piecesThatAreCalledByteLevelAreRefused();
    void aGemmaWithoutTypesIsRefused();
    void idsThatNothingUsesInAModelFileAreIgnored();
    void anEndThatTheConfigurationNamesCountsBesideTheModelsOwn();
    void aMapOfSpecialTokensNamesTheTokens();
    void aClassHasItsOwnTokensUnlessItIsToldOthers();
    void addedTokensOfTheConfigurationCount();
    void aModelFileIsReadBesideATokenizerJsonThatIsNotSupported();
    void textBehindASpecialTokenGetsASpaceInLegacyTokenizersOnly_data();
    void textBehindASpecialTokenGetsASpaceInLegacyTokenizersOnly();
};

void PublishedTokenizersTest::idsThatNothingNeedsMayBeBeyondTheVocabulary() {
    const auto plain = loaded(tiny::LlamaVocabulary().toFile());
    for (const char* key : {"unknown", "padding", "seperator", "mask", "cls"}) {
        TinyGguf file = tiny::LlamaVocabulary().toFile();
        file.addU32(fmt::format("tokenizer.ggml.{}_token_id", key), 32'000);
        QCOMPARE(encoded(*loaded(file), "a abx"), encoded(*plain, "a abx"));
    }
}

void PublishedTokenizersTest::aGgufPieceMayBeEmpty() {
    tiny::LlamaVocabulary vocabulary;
    vocabulary.tokens.emplace_back();
    vocabulary.scores.push_back(0);
    vocabulary.types.push_back(1);
    const auto tokenizer = loaded(vocabulary.toFile());
    QCOMPARE(tokenizer->tokenText(8), std::string("[EMPTY_8]"));
    QCOMPARE(encoded(*tokenizer, "a ab"),
             encoded(*loaded(tiny::LlamaVocabulary().toFile()), "a ab"));
}

void PublishedTokenizersTest::aGgufMergeMayMakeAStepThatIsNoToken() {
    const auto tokenizer = loaded(ggufWithMerges({"a b", "ab c", "c d", "x y"}));
    QCOMPARE(encoded(*tokenizer, "abc"), (Ids{5}));
    QCOMPARE(encoded(*tokenizer, "ab"), (Ids{1, 2})); // no token came of the step
    QCOMPARE(encoded(*tokenizer, "abcd"), (Ids{5, 4}));
    QCOMPARE(encoded(*tokenizer, "bcdab"), (Ids{2, 3, 4, 1, 2}));
    QCOMPARE(tokenizer->vocabSize(), 6);
    QCOMPARE(tokenizer->findToken("ab"), kNoToken);
    QVERIFY(mentions(tokenizer->description(), "3 of 4 merges with missing tokens"));
    std::vector<std::string> many; // the steps outgrow the vocabulary
    std::string run = "a";
    for (int length = 1; length < 64; ++length) {
        many.push_back("a " + run);
        run += 'a';
    }
    const auto longer = loaded(ggufWithMerges(many));
    QCOMPARE(encoded(*longer, run), Ids(64, 1));
    QCOMPARE(encoded(*longer, "abc"), (Ids{1, 2, 3}));
}

void PublishedTokenizersTest::mergesWithMissingTokensAreWrittenAsTokenizerJsonKnowsThem() {
    TinyGguf file = tiny::gguf("gpt2", tiny::bpeTokens());
    file.addString("tokenizer.ggml.pre", "smollm");
    file.addStrings("tokenizer.ggml.merges", {"a b", "x y", "ab c"});
    const auto json = written(file);
    QVERIFY2(json.hasValue(), json ? "" : json.error().message.c_str());
    QCOMPARE(encoded(*loaded(tiny::load("tokenizer.json", json.value().tokenizer)), "abc ab"),
             encoded(*loaded(file), "abc ab"));
    const auto refused = written(ggufWithMerges({"a b", "ab c"}));
    QVERIFY(!refused && refused.error().code == ErrorCode::Unsupported);
    QVERIFY(mentions(refused.error().message, "a merge makes 'ab', which is no token"));
}

void PublishedTokenizersTest::anUnknownTokenIsMissedWhenItIsNeeded() {
    const auto tokenizer = loaded(tiny::load(
        "tokenizer.json",
        R"({"added_tokens":[],"normalizer":null,"pre_tokenizer":null,"post_processor":null,)"
        R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","unk_token":"<unk>",)"
        R"("vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})"));
    QCOMPARE(encoded(*tokenizer, "aab"), (Ids{0, 2}));
    for (int again = 0; again < 2; ++again) {
        const auto ids = tokenizer->encode("abz", false);
        QVERIFY(!ids && ids.error().code == ErrorCode::CorruptFile);
        QVERIFY(mentions(ids.error().message, "no token for 'z'"));
        QVERIFY(mentions(ids.error().message, "'<unk>'"));
    }
}

/// As the ChatML models of the time of Llama 2 were saved.
void PublishedTokenizersTest::addedTokensOfOlderFoldersAreRead() {
    const TemporaryFolder folder;
    folder.write("tokenizer.model", tiny::sentencePiece(false).serialize());
    QVERIFY(encoded(*loaded(tiny::load(folder.path())), "<|im_end|>").size() > 1);
    folder.write("added_tokens.json",
                 R"({"<|im_end|>":267,"<pad>":268,"<|im_start|>":269,"<tool>":270,"</s>":2})");
    folder.write("special_tokens_map.json",
                 R"({"eos_token":"</s>","pad_token":{"content":"<pad>","lstrip":false},)"
                 R"("additional_special_tokens":["<|im_start|>"]})");
    const auto tokenizer = loaded(tiny::load(folder.path()));
    const TokenId word = tokenizer->findToken("\u2581ab");
    QCOMPARE(encoded(*tokenizer, "<|im_start|>ab<|im_end|><tool></s><s>"),
             (Ids{269, word, 267, 270, 2, 1}));
    QCOMPARE(tokenizer->vocabSize(), 271);
    for (const TokenId id : {1, 2, 267, 268, 269})
        QVERIFY2(tokenizer->isSpecial(id), tokenizer->tokenText(id).c_str());
    QVERIFY(!tokenizer->isSpecial(270));
    QCOMPARE(tokenizer->decode(Ids{269, 270, 267}, true).value(), std::string("<tool>"));
    // The newer list counts where both are there.
    folder.write("tokenizer_config.json", R"({"added_tokens_decoder":{"267":{"content":"<x>"}}})");
    const auto newer = loaded(tiny::load(folder.path()));
    QCOMPARE(newer->findToken("<x>"), TokenId(267));
    QCOMPARE(newer->findToken("<|im_end|>"), kNoToken);
}

void PublishedTokenizersTest::addedTokensOfOlderFoldersAreChecked() {
    const TemporaryFolder folder;
    folder.write("tokenizer.model", tiny::sentencePiece(false).serialize());
    for (const auto& [text, problem] :
         {std::pair(R"({"<x>":1})", "added_tokens.json calls token 1 '<x>'"),
          std::pair(R"({"<x>":-1})", "no usable id"),
          std::pair(R"({"<x>":"1"})", "no usable id"),
          std::pair(R"({"<x>":3000000})", "far beyond"),
          std::pair("[1]", "is no object"),
          std::pair("{", "added_tokens.json")}) {
        folder.write("added_tokens.json", text);
        const auto tokenizer = tiny::load(folder.path());
        QVERIFY2(!tokenizer, text);
        QVERIFY(mentions(tokenizer.error().message, problem));
    }
}

/// The ids and texts are those of PreTrainedTokenizerFast of transformers 5.24.
void PublishedTokenizersTest::addedTokensOfOlderFoldersCountBesideATokenizerJson() {
    const TemporaryFolder folder;
    folder.write("tokenizer.json",
                 tiny::json("[" + tiny::addedToken(13, "<s>") + "]", R"({"type":"Lowercase"})"));
    folder.write("added_tokens.json", R"({"<tool>":16,"<pad>":15,"<old>":13,"abc":7})");
    folder.write("special_tokens_map.json", R"({"pad_token":"<pad>"})");
    const auto tokenizer = loaded(tiny::load(folder.path()));
    const Ids ids = encoded(*tokenizer, "ab<TOOL>a<pad><s><old>abcab<PAD>");
    QCOMPARE(ids, (Ids{6, 15, 0, 14, 13, 3, 7, 6, 0, 3}));
    QCOMPARE(tokenizer->decode(ids, true).value(), std::string("ab<tool>adabcabad"));
    QCOMPARE(firstIdBeyond(*tokenizer, 14), kNoToken);
    folder.write("tokenizer_config.json", R"({"added_tokens_decoder":{}})");
    QCOMPARE(encoded(*loaded(tiny::load(folder.path())), "ab<tool><s>"), (Ids{6, 13}));
}

void PublishedTokenizersTest::aGemmaOfOllamaPutsNoSpaceInFrontAndHasNoImages() {
    const auto tokenizer = loaded(ollamasGemma(8));
    QCOMPARE(encoded(*tokenizer, "ab<s>ab"), (Ids{7, 1, 7}));
    QCOMPARE(tokenizer->vocabSize(), 8);
    QCOMPARE(tokenizer->findToken("<image_soft_token>"), kNoToken);
    QCOMPARE(firstIdBeyond(*tokenizer, 8), kNoToken);
    QCOMPARE(encoded(*loaded(ollamasGemma(9)), "<image_soft_token>"), (Ids{8}));
    TinyGguf said = ollamasGemma(8);
    said.addValue("tokenizer.ggml.add_space_prefix", GgufType::Bool, std::string(1, '\1'));
    QCOMPARE(encoded(*loaded(said), "ab"), (Ids{3, 7}));
    const Ids ends = tokenizer->eosIds();
    TinyGguf more = ollamasGemma(8); // all ends beside the first one
    more.addArray<std::int32_t>(
        "tokenizer.ggml.eos_token_ids", GgufType::I32, {ends.at(0), 6, -1, 5000});
    Ids both = ends;
    both.push_back(6);
    QCOMPARE(loaded(more)->eosIds(), both);
}

/// As Ollama's converter writes a Gemma whose folder has no tokenizer.model.
void PublishedTokenizersTest::piecesThatAreCalledByteLevelAreRefused() {
    const tiny::LlamaVocabulary vocabulary;
    TinyGguf file;
    file.addString("general.architecture", "gemma3");
    file.addString("tokenizer.ggml.model", "gpt2");
    file.addString("tokenizer.ggml.pre", "default");
    file.addStrings("tokenizer.ggml.tokens", vocabulary.tokens);
    file.addArray<std::int32_t>("tokenizer.ggml.token_type", GgufType::I32, vocabulary.types);
    file.addStrings("tokenizer.ggml.merges", {"a b", "\u2581 a"});
    const auto refused = tiny::load("model.gguf", file.toBytes());
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    QVERIFY(mentions(refused.error().message, "SentencePiece"));
    QCOMPARE(written(file).error().code, ErrorCode::Unsupported);
}

void PublishedTokenizersTest::aGemmaWithoutTypesIsRefused() {
    const tiny::LlamaVocabulary vocabulary;
    TinyGguf file;
    file.addString("general.architecture", "gemma2");
    file.addString("tokenizer.ggml.model", "llama");
    file.addStrings("tokenizer.ggml.tokens", vocabulary.tokens);
    file.addArray<float>("tokenizer.ggml.scores", GgufType::F32, vocabulary.scores);
    const auto refused = tiny::load("model.gguf", file.toBytes());
    QVERIFY(!refused);
    QVERIFY(mentions(refused.error().message, "token_type"));
}

void PublishedTokenizersTest::idsThatNothingUsesInAModelFileAreIgnored() {
    constexpr std::uint32_t kUnknown = 40;
    constexpr std::uint32_t kBegin = 41;
    constexpr std::uint32_t kEnd = 42;
    constexpr std::uint32_t kPadding = 43;
    SentencePieceModel model = tiny::sentencePiece(true);
    const std::string whole = model.serialize();
    const Ids ids = encoded(*loaded(tiny::load("tokenizer.model", whole)), "ab e");
    for (const std::uint32_t field : {kUnknown, kPadding}) {
        const auto tokenizer = tiny::load("tokenizer.model", whole + specialId(field, 5000));
        QVERIFY2(tokenizer.hasValue(), tokenizer ? "" : tokenizer.error().message.c_str());
        QCOMPARE(encoded(*tokenizer.value(), "ab e"), ids);
    }
    // "None", written as 64 bits and as 32.
    for (const std::uint64_t none : {~std::uint64_t{0}, std::uint64_t{0xFFFFFFFF}})
        for (const std::uint32_t field : {kUnknown, kBegin, kEnd, kPadding})
            QVERIFY(tiny::load("tokenizer.model", whole + specialId(field, none)).hasValue());
    model.pieces[1].type = PieceType::Normal; // now no text begins with a token
    const auto tokenizer =
        tiny::load("tokenizer.model", model.serialize() + specialId(kBegin, 5000));
    QVERIFY2(tokenizer.hasValue(), tokenizer ? "" : tokenizer.error().message.c_str());
    QCOMPARE(tokenizer.value()->bosId(), kNoToken);
    for (const std::uint32_t field : {kBegin, kEnd})
        QVERIFY(!tiny::load("tokenizer.model", whole + specialId(field, 5000)));
}

void PublishedTokenizersTest::anEndThatTheConfigurationNamesCountsBesideTheModelsOwn() {
    const TemporaryFolder folder;
    folder.write("tokenizer.model", tiny::sentencePiece(false).serialize());
    const auto configured = [&folder](const std::string& members) {
        folder.write("tokenizer_config.json",
                     "{" + members +
                         R"(,"added_tokens_decoder":{"267":{"content":"<|im_end|>"}}})");
        return loaded(tiny::load(folder.path()));
    };
    for (const char* end : {R"("<|im_end|>")", R"({"content":"<|im_end|>","lstrip":false})"}) {
        const auto tokenizer =
            configured(fmt::format(R"("add_eos_token":true,"eos_token":{})", end));
        QCOMPARE(tokenizer->eosIds(), (Ids{267, 2}));
        QVERIFY(tokenizer->isSpecial(267));
        QCOMPARE(tokenizer->encode("ab", true).value().back(), TokenId(267));
    }
    const auto ofModel = configured(R"("eos_token":"[u]","bos_token":"<|im_end|>")");
    QCOMPARE(ofModel->eosIds(), (Ids{266, 2}));
    QVERIFY(ofModel->isSpecial(266));
    QCOMPARE(ofModel->encode("ab", true).value().front(), TokenId(267));
    for (const char* end : {R"("</s>")", R"("<none>")", "null"})
        QCOMPARE(configured(fmt::format(R"("eos_token":{})", end))->eosIds(), (Ids{2}));
}

/// The names are those of PreTrainedTokenizerFast of transformers 5.24.
void PublishedTokenizersTest::aMapOfSpecialTokensNamesTheTokens() {
    const std::string known = R"("bos_token":"<s>","eos_token":"<e>")";
    const TemporaryFolder folder;
    folder.write("tokenizer.json", jsonWith({"<s>", "</s>", "<e>"}));
    folder.write("special_tokens_map.json", R"({"eos_token":"<e>"})");
    QCOMPARE(loaded(tiny::load(folder.path()))->eosIds(), (Ids{15}));
    folder.write("special_tokens_map.json",
                 R"({"bos_token":"<s>","eos_token":{"content":"</s>","lstrip":false}})");
    folder.write("tokenizer_config.json", R"({"tokenizer_class":"PreTrainedTokenizerFast"})");
    const auto named = loaded(tiny::load(folder.path()));
    QCOMPARE(named->bosId(), TokenId(13));
    QCOMPARE(named->eosIds(), (Ids{14}));
    folder.write("tokenizer_config.json", "{" + known + "}");
    QCOMPARE(loaded(tiny::load(folder.path()))->eosIds(), (Ids{14}));
    folder.write("tokenizer_config.json",
                 "{" + known +
                     R"(,"added_tokens_decoder":{"13":{"content":"<s>","special":true}}})");
    QCOMPARE(loaded(tiny::load(folder.path()))->eosIds(), (Ids{15}));
    folder.write("special_tokens_map.json", "{");
    QVERIFY(tiny::load(folder.path())); // is not read then
    folder.write("tokenizer_config.json", "{}");
    const auto refused = tiny::load(folder.path());
    QVERIFY(!refused);
    QVERIFY(mentions(refused.error().message, "special_tokens_map.json"));
}

/// The names are those of the special_tokens_map of each class of transformers 5.24.
void PublishedTokenizersTest::aClassHasItsOwnTokensUnlessItIsToldOthers() {
    const TemporaryFolder folder;
    const auto configured = [&folder](const std::string& members) {
        folder.write("tokenizer_config.json", "{" + members + "}");
        return loaded(tiny::load(folder.path()));
    };
    folder.write("tokenizer.json", jsonWith({"<|endoftext|>", "<bos>", "<eos>"}));
    QCOMPARE(configured(R"("tokenizer_class":"GPT2Tokenizer")")->bosId(), TokenId(13));
    QCOMPARE(configured(R"("tokenizer_class":"GPT2Tokenizer")")->eosIds(), (Ids{13}));
    QCOMPARE(configured(R"("tokenizer_class":"Qwen2TokenizerFast")")->bosId(), kNoToken);
    QCOMPARE(configured(R"("tokenizer_class":"Qwen2TokenizerFast")")->eosIds(), (Ids{13}));
    QCOMPARE(configured(R"("tokenizer_class":"GemmaTokenizerFast")")->bosId(), TokenId(14));
    QCOMPARE(configured(R"("tokenizer_class":"GemmaTokenizerFast")")->eosIds(), (Ids{15}));
    folder.write("tokenizer.json", kPiecesJson);
    for (const char* name : {"LlamaTokenizer", "CodeLlamaTokenizer"}) {
        const auto tokenizer = configured(fmt::format(R"("tokenizer_class":"{}")", name));
        QCOMPARE(tokenizer->bosId(), TokenId(6));
        QCOMPARE(tokenizer->eosIds(), (Ids{7}));
    }
    const auto told =
        configured(R"("tokenizer_class":"LlamaTokenizer","bos_token":null,"eos_token":"<unk>")");
    QCOMPARE(told->bosId(), kNoToken);
    QCOMPARE(told->eosIds(), (Ids{0}));
}

/// The ids and texts are those of PreTrainedTokenizerFast of transformers 5.24.
void PublishedTokenizersTest::addedTokensOfTheConfigurationCount() {
    const TemporaryFolder folder;
    folder.write("tokenizer.json",
                 tiny::json(R"([{"id":13,"content":"[ADD]","special":false,"normalized":true}])"));
    QCOMPARE(encoded(*loaded(tiny::load(folder.path())), "a [ADD] b"), (Ids{0, 5, 13, 5, 1}));
    folder.write("tokenizer_config.json",
                 R"({"tokenizer_class":"PreTrainedTokenizerFast","pad_token":"<pad>",)"
                 R"("eos_token":"abc","additional_special_tokens":["<x>","[ADD]"],)"
                 R"("added_tokens_decoder":{"20":{"content":"<new>","special":false,)"
                 R"("normalized":true,"lstrip":false,"rstrip":true,"single_word":false},)"
                 R"("13":{"content":"[ADD]","special":true,"normalized":false,"lstrip":true,)"
                 R"("rstrip":true,"single_word":false}}})");
    const auto tokenizer = loaded(tiny::load(folder.path()));
    QCOMPARE(encoded(*tokenizer, "a [ADD] b"), (Ids{0, 13, 1}));
    QCOMPARE(encoded(*tokenizer, "a<new> b"), (Ids{0, 14, 1}));
    QCOMPARE(encoded(*tokenizer, "a<pad>b"), (Ids{0, 15, 1}));
    QCOMPARE(encoded(*tokenizer, "e<x>"), (Ids{4, 16}));
    QCOMPARE(encoded(*tokenizer, "abcab"), (Ids{7, 6}));
    QCOMPARE(tokenizer->vocabSize(), 17);
    QCOMPARE(firstIdBeyond(*tokenizer, 14), kNoToken); // <new> is the configuration's alone
    QCOMPARE(firstIdBeyond(*tokenizer, 12), TokenId(12));
    QCOMPARE(tokenizer->eosIds(), (Ids{7}));
    const Ids all = {0, 13, 7, 14, 15, 16, 1};
    QCOMPARE(tokenizer->decode(all, true).value(), std::string("a<new>b"));
    QCOMPARE(tokenizer->decode(all, false).value(), std::string("a[ADD]abc<new><pad><x>b"));
}

/// The ids are those that the model file alone gives, which the golden cases check.
void PublishedTokenizersTest::aModelFileIsReadBesideATokenizerJsonThatIsNotSupported() {
    const std::string bytes = tiny::sentencePiece(true).serialize();
    const auto alone = loaded(tiny::load("tokenizer.model", bytes));
    const TemporaryFolder folder;
    folder.write("tokenizer.json", R"({"model":{"type":"WordPiece","vocab":{"a":0}}})");
    const auto refused = tiny::load(folder.path());
    QVERIFY(!refused && refused.error().code == ErrorCode::Unsupported);
    QVERIFY(mentions(refused.error().message, "WordPiece"));
    folder.write("tokenizer.model", bytes);
    const auto both = loaded(tiny::load(folder.path()));
    QCOMPARE(both->description(), alone->description());
    QCOMPARE(encoded(*both, "ab e Abc"), encoded(*alone, "ab e Abc"));
    folder.write("tokenizer.json", "{}");
    QVERIFY(!tiny::load(folder.path())); // a damaged one is told
}

void PublishedTokenizersTest::textBehindASpecialTokenGetsASpaceInLegacyTokenizersOnly_data() {
    QTest::addColumn<bool>("isUnigram");
    QTest::newRow("unigram") << true;
    QTest::newRow("BPE") << false;
}

/// As LlamaTokenizer of transformers has it.
void PublishedTokenizersTest::textBehindASpecialTokenGetsASpaceInLegacyTokenizersOnly() {
    QFETCH(bool, isUnigram);
    const TemporaryFolder folder;
    folder.write("tokenizer.model", tiny::sentencePiece(isUnigram).serialize());
    const auto configured = [&folder](const std::string& config) {
        folder.write("tokenizer_config.json", config);
        return loaded(tiny::load(folder.path()));
    };
    const auto newer = configured(R"({"tokenizer_class":"LlamaTokenizer","legacy":false})");
    const TokenId spaced = newer->findToken("\u2581ab");
    const TokenId bare = newer->findToken("ab");
    QVERIFY(spaced != kNoToken && bare != kNoToken);
    QCOMPARE(encoded(*newer, "ab<s>ab</s>ab"), (Ids{spaced, 1, bare, 2, bare}));
    QCOMPARE(encoded(*newer, "<s>ab"), (Ids{1, bare}));
    QCOMPARE(encoded(*newer, "ab<s> ab"), (Ids{spaced, 1, spaced}));
    QCOMPARE(newer->decode(Ids{spaced, 1, bare}, true).value(), std::string("abab"));
    QCOMPARE(encoded(*configured(R"({"legacy":false,"add_prefix_space":false})"), "ab<s>ab"),
             (Ids{bare, 1, bare}));
    for (const char* config : {"{}",
                               R"({"legacy":null})",
                               R"({"legacy":true})",
                               R"({"tokenizer_class":"GemmaTokenizer","legacy":false})"})
        QCOMPARE(encoded(*configured(config), "ab<s>ab"), (Ids{spaced, 1, spaced}));
}

QTEST_GUILESS_MAIN(PublishedTokenizersTest)
#include "published_tokenizers_test.moc"
