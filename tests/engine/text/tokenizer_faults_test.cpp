// SPDX-License-Identifier: Apache-2.0
// One small file for each public fault of other vocabulary readers and
// for each check of our own: refused with a message that names what is wrong.
#include "engine/text/sentencepiece/charsmap_check.h"
#include "engine/text/sentencepiece/protobuf_reader.h"
#include "tests/engine/text/tiny_tokenizers.h"

#include <QTest>

#include <limits>

using namespace engine;
using namespace test_support;

namespace {

bool isRefused(const Result<std::unique_ptr<Tokenizer>>& loaded, std::string_view word) {
    if (loaded) {
        qWarning("it was loaded: %s", loaded.value()->description().c_str());
        return false;
    }
    if (loaded.error().message.find(word) != std::string::npos && !loaded.error().hint.empty())
        return true;
    qWarning(
        "'%s' does not mention '%s'", loaded.error().message.c_str(), std::string(word).c_str());
    return false;
}

bool isRefused(const TinyGguf& file, std::string_view word) {
    return isRefused(tiny::load("model.gguf", file.toBytes()), word);
}

bool isRefused(const SentencePieceModel& model, std::string_view word) {
    return isRefused(tiny::load("tokenizer.model", model.serialize()), word);
}

TinyGguf bpeWithTypes(const std::vector<std::int32_t>& types) {
    TinyGguf file = tiny::gguf("gpt2", tiny::bpeTokens());
    file.addStrings("tokenizer.ggml.merges", {"a b"});
    file.addArray<std::int32_t>("tokenizer.ggml.token_type", GgufType::I32, types);
    return file;
}

std::string withUnit(std::size_t index, std::uint32_t value) {
    std::string map = tiny::charsmap();
    map.replace(4 + 4 * index, 4, bytesOf(value));
    return map;
}

} // namespace

class TokenizerFaultsTest : public QObject {
    Q_OBJECT

private slots:

    // llama.cpp#27226: "<0x-1>" was read as byte -1 and written before the buffer.
    void aNegativeByteTokenIsNoByte() {
        tiny::LlamaVocabulary vocabulary;
        vocabulary.tokens.push_back("<0x-1>");
        vocabulary.scores.push_back(0);
        vocabulary.types.push_back(6);
        QVERIFY(isRefused(vocabulary.toFile(), "<0x-1>"));
        SentencePieceModel model = tiny::sentencePiece(false);
        model.pieces[3].text = "<0x-1>";
        QVERIFY(isRefused(model, "<0x-1>"));
    }

    void bytePiecesMustBeAllThere() {
        SentencePieceModel model = tiny::sentencePiece(false);
        model.pieces[10].type = PieceType::Normal;
        QVERIFY(isRefused(model, "255 byte pieces"));
        model = tiny::sentencePiece(false);
        model.pieces[10].text = "<0x0a>"; // lower case is another spelling
        QVERIFY(isRefused(model, "<0x0a>"));
    }

    // llama.cpp#20735: scores and types shorter than tokens.
    void scoresAndTypesMustBeAsManyAsTokens() {
        tiny::LlamaVocabulary vocabulary;
        vocabulary.scores.pop_back();
        QVERIFY(isRefused(vocabulary.toFile(), "7 entries for 8 tokens"));
        vocabulary = {};
        vocabulary.types.push_back(1);
        QVERIFY(isRefused(vocabulary.toFile(), "9 entries for 8 tokens"));
        QVERIFY(isRefused(bpeWithTypes({1, 1}), "2 entries for 10 tokens"));
    }

    // tokenizer.ggml.scores given as bytes and read as floats.
    void scoresOfAnotherTypeAreNotReadAsFloats() {
        const tiny::LlamaVocabulary vocabulary;
        TinyGguf file = tiny::gguf("llama", vocabulary.tokens);
        file.addArray<std::uint8_t>(
            "tokenizer.ggml.scores", GgufType::U8, {0, 0, 0, 0, 0, 0, 0, 0});
        QVERIFY(isRefused(file, "tokenizer.ggml.scores"));
        QVERIFY(isRefused(tiny::gguf("llama", vocabulary.tokens), "tokenizer.ggml.scores"));
    }

    void scoresMustBeNumbers() {
        tiny::LlamaVocabulary vocabulary;
        vocabulary.scores[4] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(isRefused(vocabulary.toFile(), "piece 4"));
        SentencePieceModel model = tiny::sentencePiece(true);
        model.pieces[5].score = std::numeric_limits<float>::infinity();
        QVERIFY(isRefused(model, "piece 5"));
    }

    // llama.cpp#25508: special ids beyond a small vocabulary.
    void specialIdsMustBeInTheVocabulary() {
        for (const char* key : {"bos", "eos", "eot", "eom"}) {
            TinyGguf file = tiny::gguf("gpt2", tiny::bpeTokens());
            file.addStrings("tokenizer.ggml.merges", {"a b"});
            file.addU32(fmt::format("tokenizer.ggml.{}_token_id", key), 10);
            QVERIFY(isRefused(file, "beyond the vocabulary of 10 tokens"));
        }
        ProtobufWriter trainer;
        trainer.varint(41, 5000);
        ProtobufWriter model;
        model.bytes(2, trainer.take());
        QVERIFY(isRefused(
            tiny::load("tokenizer.model", tiny::sentencePiece(true).serialize() + model.take()),
            "5000"));
        QVERIFY(isRefused(
            tiny::load("tokenizer.json",
                       tiny::json("[]",
                                  "null",
                                  "null",
                                  "null",
                                  R"({"type":"BertProcessing","sep":["x",99],"cls":["y",0]})")),
            "99"));
    }

    // llama.cpp's default begin id 11 does not apply to us: no key, no token.
    void aVocabularyWithoutSpecialIdsHasNone() {
        TinyGguf file = tiny::gguf("gpt2", tiny::bpeTokens());
        file.addStrings("tokenizer.ggml.merges", {"a b"});
        file.addString("tokenizer.ggml.pre", "llama-bpe");
        const auto loaded = tiny::load("model.gguf", file.toBytes());
        QVERIFY(loaded);
        QCOMPARE(loaded.value()->bosId(), kNoToken);
        QCOMPARE(loaded.value()->encode("ab", true).value(), std::vector<TokenId>{6});
    }

    // CVE-2025-49847: the length of a token text was cast to a 32-bit number, and copied.
    void aTokenTextMayNotBeHuge() {
        std::vector<std::string> tokens = tiny::bpeTokens();
        tokens[2] = std::string(100'000, 'a');
        TinyGguf file = tiny::gguf("gpt2", tokens);
        file.addStrings("tokenizer.ggml.merges", {"b c"});
        QVERIFY(isRefused(file, "token 2 has 100000 bytes"));
        SentencePieceModel model = tiny::sentencePiece(true);
        model.pieces[4].text = std::string(5000, 'a');
        QVERIFY(isRefused(model, "piece 4 has 5000 bytes"));
    }

    // CVE-2025-52566: the number of tokens of a prompt was cast to a 32-bit number.
    void aTextThatIsTooLongIsRefused() {
        const auto loaded = tiny::load("tokenizer.json", tiny::json());
        const auto ids = loaded.value()->encode(std::string((64U << 20U) + 1, 'a'), false);
        QVERIFY(!ids && ids.error().code == ErrorCode::InvalidInput);
    }

    void tokenTypesMustBeKnown() {
        QVERIFY(isRefused(bpeWithTypes({1, 1, 1, 1, 1, 1, 1, 1, 1, 7}), "unknown type 7"));
        QVERIFY(isRefused(bpeWithTypes({1, 1, 1, 1, 1, 1, 1, 1, 1, -1}), "unknown type -1"));
        TinyGguf file = tiny::gguf("gpt2", tiny::bpeTokens());
        file.addStrings("tokenizer.ggml.token_type", {"a"});
        QVERIFY(isRefused(file, "not a list of integers"));
    }

    void piecesMustBeDifferentTexts() {
        tiny::LlamaVocabulary vocabulary;
        vocabulary.tokens[5] = "a";
        QVERIFY(isRefused(vocabulary.toFile(), "there twice"));
        SentencePieceModel model = tiny::sentencePiece(true);
        model.pieces[5].text.clear();
        QVERIFY(isRefused(model, "piece 5 is empty"));
        vocabulary = {};
        vocabulary.tokens[5] = std::string("a\0b", 3);
        QVERIFY(isRefused(vocabulary.toFile(), "NUL"));
        vocabulary = {};
        vocabulary.types[0] = 1;
        QVERIFY(isRefused(vocabulary.toFile(), "0 unknown pieces"));
        std::vector<std::string> tokens = tiny::bpeTokens();
        tokens[3] = "a";
        TinyGguf file = tiny::gguf("gpt2", tokens);
        file.addStrings("tokenizer.ggml.merges", {});
        QVERIFY(isRefused(file, "twice"));
    }

    void mergesMustBelongToTheVocabulary() {
        const auto refused = [](const std::string& merge, std::string_view word) {
            const std::string bytes =
                R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[)" + merge + "]}}";
            return isRefused(tiny::load("tokenizer.json", bytes), word);
        };
        QVERIFY(refused("\"a z\"", "merge 0 needs the token 'z'"));
        QVERIFY(refused("\"a b\"", "merge 0 needs the token 'ab'"));
        TinyGguf alone = tiny::gguf("gpt2", tiny::bpeTokens());
        alone.addStrings("tokenizer.ggml.merges", {"ab"});
        QVERIFY(isRefused(alone, "merge 0"));
        QVERIFY(isRefused(tiny::gguf("gpt2", tiny::bpeTokens()), "tokenizer.ggml.merges"));
        QVERIFY(isRefused(tiny::gguf("bert", tiny::bpeTokens()), "'bert'"));
    }

    void idsOfTokenizerJsonMustBePlausible() {
        const auto refused = [](const std::string& vocab, std::string_view word) {
            return isRefused(
                tiny::load("tokenizer.json",
                           R"({"model":{"type":"BPE","merges":[],"vocab":)" + vocab + "}}"),
                word);
        };
        QVERIFY(refused(R"({"a":-1})", "'a'"));
        QVERIFY(refused(R"({"a":3999999})", "'a'")); // a few bytes may not ask for 128 MB
        QVERIFY(refused(R"({"a":1,"b":1})", "same id"));
        QVERIFY(refused(R"({"a":"x"})", "'a'"));
        QVERIFY(refused("[]", "vocab"));
    }

    // CVE-2026-1260 and its like: the library follows the trie of a charsmap without looking.
    void aCharsmapMayNotLeadOutOfItself() {
        QVERIFY(!findCharsmapFault(tiny::charsmap()));
        const std::string whole = tiny::charsmap();
        QVERIFY(findCharsmapFault(whole.substr(0, 3)));
        QVERIFY(findCharsmapFault(whole.substr(0, 4 + 1024)));         // no texts
        QVERIFY(findCharsmapFault(whole.substr(0, whole.size() - 1))); // no NUL at the end
        QVERIFY(findCharsmapFault(bytesOf(std::uint32_t{4096}) + whole.substr(4)));
        QVERIFY(findCharsmapFault(bytesOf(std::uint32_t{1020}) + whole.substr(4)));
        QVERIFY(findCharsmapFault(withUnit(0, 300U << 10U))); // children beyond the 256 units
        QVERIFY(findCharsmapFault(withUnit((1 ^ 'A') ^ 2, 0x80000001U))); // inside a text
        QVERIFY(findCharsmapFault(withUnit((1 ^ 'A') ^ 2, 0x80000077U))); // behind all texts
        // A unit whose children are those of the root: a loop.
        QVERIFY(
            findCharsmapFault(withUnit(1 ^ 'A', (static_cast<std::uint32_t>('A') << 10U) | 'A')));
        SentencePieceModel model = tiny::sentencePiece(true);
        model.charsmap = withUnit(0, 300U << 10U);
        QVERIFY(isRefused(model, "charsmap"));
    }

    // The library keeps 64 matches of user-defined pieces, counts all, and reads as many.
    void userDefinedPiecesMayNotNestTooDeep() {
        SentencePieceModel model = tiny::sentencePiece(true);
        for (std::size_t length = 1; length <= 64; ++length)
            model.pieces.push_back({std::string(length, 'q'), 0.0F, PieceType::UserDefined});
        QVERIFY(tiny::load("tokenizer.model", model.serialize()));
        model.pieces.push_back({std::string(65, 'q'), 0.0F, PieceType::UserDefined});
        QVERIFY(isRefused(model, "begin alike"));
    }

    void wireTypesMustFit() {
        const std::string whole = tiny::sentencePiece(true).serialize();
        const auto refused = [&whole](const std::string& field, std::string_view word) {
            return isRefused(tiny::load("tokenizer.model", whole + field), word);
        };
        QVERIFY(refused("\x0B", "wire type 3"));    // a group
        QVERIFY(refused("\x08\x01", "wrong type")); // pieces as a number
        QVERIFY(refused("\x0A\x7F", "claims 127 bytes"));
        QVERIFY(refused(std::string(11, '\xFF'), "ten bytes"));
        QVERIFY(refused(std::string("\x00", 1), "field number 0"));
        QVERIFY(refused("\x12\x02\x18\x04", "type 4")); // a character model
        QVERIFY(refused("\x0A\x04\x0A\x02\xC3\x28", "UTF-8"));
    }
};

QTEST_GUILESS_MAIN(TokenizerFaultsTest)
#include "tokenizer_faults_test.moc"
