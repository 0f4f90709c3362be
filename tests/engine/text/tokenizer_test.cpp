// SPDX-License-Identifier: Apache-2.0
// What the parts of a tokenizer.json mean, on vocabularies small enough to follow by hand. The
// expected ids are those of Hugging Face tokenizers 0.23.
#include "engine/text/bpe/bpe_model.h"
#include "engine/text/splitting/normalizer.h"
#include "engine/text/token_stream.h"
#include "tests/engine/text/tiny_tokenizers.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

using Ids = std::vector<TokenId>;

std::unique_ptr<Tokenizer> loadJson(const std::string& bytes) {
    auto loaded = tiny::load("tokenizer.json", bytes);
    if (!loaded)
        qFatal("%s", loaded.error().message.c_str());
    return std::move(loaded).value();
}

Ids encoded(const Tokenizer& tokenizer, std::string_view text, bool addSpecial = false) {
    auto ids = tokenizer.encode(text, addSpecial);
    if (!ids)
        qFatal("%s", ids.error().message.c_str());
    return std::move(ids).value();
}

std::string
split(const std::string& pattern, const std::string& behavior, bool isInverted = false) {
    return fmt::format(R"({{"type":"Sequence","pretokenizers":[{{"type":"Split","pattern":{},)"
                       R"("behavior":"{}","invert":{}}},{{"type":"ByteLevel",)"
                       R"("add_prefix_space":false,"use_regex":false}}]}})",
                       pattern,
                       behavior,
                       isInverted);
}

std::unique_ptr<Tokenizer> withPreTokenizer(const std::string& preTokenizer) {
    return loadJson(tiny::json("[]", "null", preTokenizer));
}

/// The error message of a tokenizer.json that cannot be loaded.
std::string refusal(const std::string& bytes) {
    const auto loaded = tiny::load("tokenizer.json", bytes);
    return loaded ? "it was loaded" : loaded.error().message;
}

bool mentions(const std::string& message, std::string_view word) {
    if (message.find(word) != std::string::npos)
        return true;
    qWarning("'%s' does not mention '%s'", message.c_str(), std::string(word).c_str());
    return false;
}

/// A model of letters "a" to "h" with merges of equal neighbours up to 2^10 letters.
BpeModel doublingModel() {
    std::vector<std::string> texts;
    std::vector<BpeModel::Merge> merges;
    for (std::string run = "a"; run.size() <= 1024; run += run) {
        texts.push_back(run);
        if (run.size() > 1)
            merges.emplace_back(run.substr(0, run.size() / 2), run.substr(0, run.size() / 2));
    }
    return std::move(BpeModel::make(std::move(texts), merges, {}, MergeRules::TokenizerJson))
        .value();
}

} // namespace

class TokenizerTest : public QObject {
    Q_OBJECT

private slots:
    void aTokenIsReadableWhateverItsBytes();

    void mergesGoByRankAndWholeCharactersComeBack() {
        const auto tokenizer = loadJson(tiny::json());
        QCOMPARE(encoded(*tokenizer, "abc ab\u00E9\n"), (Ids{7, 8, 12, 9}));
        QCOMPARE(tokenizer->decode(Ids{7, 8, 12, 9}, false).value(), std::string("abc ab\u00E9\n"));
        QCOMPARE(tokenizer->tokenText(8), std::string("\u0120ab"));
        QCOMPARE(tokenizer->tokenBytes(8), std::string(" ab"));
        QCOMPARE(tokenizer->tokenBytes(10), std::string("\xC3"));
        QCOMPARE(tokenizer->findToken("abc"), 7);
        QCOMPARE(tokenizer->findToken("nothing"), kNoToken);
        QCOMPARE(tokenizer->vocabSize(), 13);
        QVERIFY(mentions(tokenizer->description(), "13 tokens"));
    }

    void splitBehavioursCutWhereTheyShould_data() {
        QTest::addColumn<QString>("behavior");
        QTest::addColumn<bool>("isInverted");
        QTest::addColumn<QList<int>>("ids");
        // "abcabcc" cut at each c (2): ab (6) and abc (7) tell what was left together.
        QTest::newRow("isolated") << "Isolated" << false << QList<int>{6, 2, 6, 2, 2};
        QTest::newRow("removed") << "Removed" << false << QList<int>{6, 6};
        QTest::newRow("previous") << "MergedWithPrevious" << false << QList<int>{7, 7, 2};
        QTest::newRow("next") << "MergedWithNext" << false << QList<int>{6, 2, 6, 2, 2};
        QTest::newRow("contiguous") << "Contiguous" << false << QList<int>{6, 2, 6, 2, 2};
        QTest::newRow("removed, inverted") << "Removed" << true << QList<int>{2, 2, 2};
        QTest::newRow("next, inverted") << "MergedWithNext" << true << QList<int>{7, 7, 2};
    }

    void splitBehavioursCutWhereTheyShould() {
        QFETCH(QString, behavior);
        QFETCH(bool, isInverted);
        QFETCH(QList<int>, ids);
        for (const char* pattern : {R"({"String":"c"})", R"({"Regex":"c"})"}) {
            const auto tokenizer =
                withPreTokenizer(split(pattern, behavior.toStdString(), isInverted));
            QCOMPARE(encoded(*tokenizer, "abcabcc"), Ids(ids.begin(), ids.end()));
        }
    }

    void aPatternMeansWhatItMeansToOniguruma() {
        // \h is a hexadecimal digit there; the mongolian vowel separator is no white space.
        const auto hex = withPreTokenizer(split(R"({"Regex":"\\h"})", "Isolated"));
        QCOMPARE(encoded(*hex, "abc"), (Ids{0, 1, 2}));
        const auto space = withPreTokenizer(split(R"({"Regex":"a\\s"})", "Removed"));
        QCOMPARE(encoded(*space, "a b"), (Ids{1}));
        QCOMPARE(encoded(*space, "a\u180Eb"), (Ids{6})); // what has no token is dropped
        // Marks, raised digits and enclosed letters are parts of words, joiners are not.
        const auto border = withPreTokenizer(split(R"({"Regex":"\\b"})", "Isolated"));
        for (const char* word : {"a\u0301b", "a\u00B2b", "a\u24D0b"})
            QCOMPARE(encoded(*border, word), (Ids{6}));
        QCOMPARE(encoded(*border, "a\u200Db"), (Ids{0, 1}));
        const auto inside = withPreTokenizer(split(R"({"Regex":"\\B"})", "Isolated"));
        QCOMPARE(encoded(*inside, "a\u0301b"), (Ids{0, 1}));
        QCOMPARE(encoded(*inside, "a\u200Db"), (Ids{6}));
        const std::string both = split(R"({"Regex":"[a&&b]"})", "Removed");
        QVERIFY(mentions(refusal(tiny::json("[]", "null", both)), "intersection"));
        const std::string backwards = split(R"({"Regex":"ba{2,1}"})", "Removed");
        QVERIFY(mentions(refusal(tiny::json("[]", "null", backwards)), "at character 6"));
    }

    void quantifiersMeanWhatTheyMeanToOniguruma() {
        const auto cut = [](const std::string& pattern, const char* how, std::string_view text) {
            return encoded(*withPreTokenizer(split("{\"Regex\":\"" + pattern + "\"}", how)), text);
        };
        // Possessive: nothing is given back.
        QCOMPARE(cut("[ab]++b", "Removed", "ab"), (Ids{6}));
        QCOMPARE(cut("[ab]*+b", "Removed", "ab"), (Ids{6}));
        QCOMPARE(cut("a?+a", "Removed", "ab"), (Ids{6}));
        QCOMPARE(cut("(?>a|ab)c", "Removed", "abc"), (Ids{7}));
        // A + behind an interval repeats it, and so does a ? behind a fixed one.
        for (const char* item : {"[abc]", "\\\\p{L}", "(?:a|(b|c))", "[^\u00E9]", "."}) {
            const std::string pattern = item + std::string("{1,2}+");
            QCOMPARE(cut(pattern, "Removed", "abc"), Ids());
            QCOMPARE(cut(pattern, "Isolated", "abc"), (Ids{7}));
        }
        for (const char* item : {"a", "\\\\x61", "\\\\x{61}", "\\\\u0061"})
            QCOMPARE(cut(item + std::string("{,2}+b"), "Removed", "aaab"), Ids());
        QCOMPARE(cut("\u00E9{2}+a", "Removed", "\u00E9\u00E9\u00E9\u00E9ab"), (Ids{1}));
        QCOMPARE(cut("ab{1}?", "Removed", "aab"), Ids());
        const std::string cl100k =
            R"('(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|)"
            R"( ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s)";
        QCOMPARE(cut(cl100k, "Isolated", "abc ab\n"), (Ids{7, 8, 9}));
    }

    void addedTokensTakeTheirSpacesAlong() {
        const auto tokenizer =
            loadJson(tiny::json(std::string("[") + tiny::addedToken(13, "<l>", R"("lstrip":true)") +
                                "," + tiny::addedToken(14, "<r>", R"("rstrip":true)") + "," +
                                tiny::addedToken(15, "<w>", R"("single_word":true)") + "," +
                                tiny::addedToken(16, "<r>ab") + "]"));
        QCOMPARE(encoded(*tokenizer, "a <l> b"), (Ids{0, 13, 5, 1}));
        QCOMPARE(encoded(*tokenizer, "a <r> b"), (Ids{0, 5, 14, 1}));
        QCOMPARE(encoded(*tokenizer, "a <w> b"), (Ids{0, 5, 15, 5, 1}));
        QCOMPARE(encoded(*tokenizer, "a<w>"), (Ids{0}));   // "<w>" is not in the vocabulary
        QCOMPARE(encoded(*tokenizer, "<r>ab"), (Ids{16})); // the longest wins
        QVERIFY(tokenizer->isSpecial(13));
        QVERIFY(!tokenizer->isSpecial(0));
        QCOMPARE(tokenizer->decode(Ids{0, 13, 1}, true).value(), std::string("ab"));
    }

    void addedTokensGoOnBehindTheLastOfThem() {
        // The vocabulary has three entries, but its ids go up to 5.
        const auto tokenizer = loadJson(
            R"({"added_tokens":[)" + tiny::addedToken(5, "<e>") + "," + tiny::addedToken(6, "<u>") +
            R"(],"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":)"
            R"({"type":"ByteLevel"},"model":{"type":"BPE","merges":[],)"
            R"("vocab":{"a":0,"b":1,"<e>":5}}})");
        QCOMPARE(encoded(*tokenizer, "a<u>b<e>"), (Ids{0, 6, 1, 5}));
        QCOMPARE(tokenizer->tokenText(6), std::string("<u>"));
        QCOMPARE(tokenizer->vocabSize(), 7);
    }

    void aTemplatePutsItsTokensAroundTheText() {
        const auto tokenizer = loadJson(tiny::fullJson());
        QCOMPARE(encoded(*tokenizer, "ab", true), (Ids{13, 6}));
        QCOMPARE(encoded(*tokenizer, "ab", false), (Ids{6}));
        QCOMPARE(tokenizer->bosId(), 13);
    }

    void tokenizerConfigNamesTheTokensAndSaysWhetherToAddThem() {
        const TemporaryFolder folder;
        folder.write("tokenizer.json", tiny::fullJson());
        folder.write("tokenizer_config.json",
                     R"({"tokenizer_class":"LlamaTokenizerFast","bos_token":{"content":"<s>"},)"
                     R"("eos_token":"<end>","add_bos_token":false,"add_eos_token":true})");
        const auto tokenizer = tiny::load(folder.path());
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer.value()->bosId(), 13);
        QCOMPARE(tokenizer.value()->eosIds(), (Ids{14}));
        QCOMPARE(encoded(*tokenizer.value(), "ab", true), (Ids{6, 14}));
    }

    void byteFallbackIsDecodedRunByRun() {
        const std::string json =
            R"({"added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[)"
            R"({"type":"Prepend","prepend":"\u2581"},{"type":"Replace","pattern":{"String":" "},)"
            R"("content":"\u2581"}]},"pre_tokenizer":null,"post_processor":null,"decoder":)"
            R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"\u2581"},)"
            R"("content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip",)"
            R"("content":" ","start":1,"stop":0}]},"model":{"type":"BPE","unk_token":"<unk>",)"
            R"("fuse_unk":true,"byte_fallback":true,"vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,)"
            R"("\u2581":3,"a":4,"\u2581a":5},"merges":["\u2581 a"]}})";
        const auto tokenizer = loadJson(json);
        QCOMPARE(encoded(*tokenizer, "a \u00E9 zz"), (Ids{5, 3, 1, 2, 3, 0}));
        QCOMPARE(tokenizer->decode(Ids{5, 3, 1, 2, 4}, false).value(), std::string("a \u00E9a"));
        // A run that is no text becomes one U+FFFD a byte, all of it.
        QCOMPARE(tokenizer->decode(Ids{4, 1, 2, 1, 4}, false).value(),
                 std::string("a\uFFFD\uFFFD\uFFFDa"));
        QVERIFY(mentions(tokenizer->description(), "byte fallback"));

        TokenStream stream(*tokenizer, false);
        QCOMPARE(stream.push(5).value(), std::string("a"));
        QCOMPARE(stream.push(1).value(), std::string());
        QCOMPARE(stream.push(2).value(), std::string()); // one more byte could still spoil it
        QCOMPARE(stream.push(4).value(), std::string("\u00E9a"));
        QCOMPARE(stream.push(1).value(), std::string());
        QCOMPARE(stream.finish().value(), std::string("\uFFFD"));
    }

    void aStreamHoldsBackHalfCharacters() {
        const auto tokenizer = loadJson(tiny::json());
        TokenStream stream(*tokenizer, false);
        QCOMPARE(stream.push(10).value(), std::string()); // the first byte of two
        QCOMPARE(stream.push(11).value(), std::string("\u00E9"));
        QCOMPARE(stream.push(10).value(), std::string());
        QCOMPARE(stream.push(0).value(), std::string("\uFFFDa"));
        QCOMPARE(stream.push(10).value(), std::string());
        QCOMPARE(stream.finish().value(), std::string("\uFFFD"));
    }

    void wrongInputIsNamed() {
        const auto tokenizer = loadJson(tiny::json());
        const auto text = tokenizer->encode("ab\xFFzz", false);
        QVERIFY(!text && text.error().code == ErrorCode::InvalidInput);
        QVERIFY(mentions(text.error().message, "byte 2"));
        for (const TokenId id : {-1, 13, 1 << 30}) {
            const auto decoded = tokenizer->decode(Ids{0, id}, false);
            QVERIFY(!decoded && decoded.error().code == ErrorCode::InvalidInput);
            QVERIFY(mentions(decoded.error().message, std::to_string(id)));
            TokenStream stream(*tokenizer, false);
            QVERIFY(!stream.push(id));
        }
    }

    void whatIsNotSupportedIsNamed() {
        QVERIFY(mentions(refusal(tiny::json("[]", R"({"type":"Precompiled"})")), "charsmap"));
        QVERIFY(mentions(refusal(tiny::json("[]", "null", R"({"type":"UnicodeScripts"})")),
                         "UnicodeScripts"));
        QVERIFY(mentions(refusal(tiny::json("[]", "null", "null", R"({"type":"WordPiece"})")),
                         "WordPiece"));
        QVERIFY(mentions(refusal(tiny::json("[]", "null", "null", "null", R"({"type":"Special"})")),
                         "Special"));
        QVERIFY(mentions(refusal(R"({"model":{"type":"WordPiece","vocab":{}}})"), "WordPiece"));
        QVERIFY(mentions(refusal(R"({"version":"1.0"})"), "model"));
        const TemporaryFolder empty;
        empty.write("config.json", "{}");
        const auto nothing = tiny::load(empty.path());
        QVERIFY(!nothing && nothing.error().code == ErrorCode::NotFound);
        QVERIFY(mentions(nothing.error().message, "tokenizer.model"));
    }

    void mergingARunTakesNearlyLinearWork() {
        const BpeModel model = doublingModel();
        const auto work = [&model](std::size_t length) {
            const std::uint64_t before = model.pairsTried();
            Ids ids;
            const auto done = model.tokenize(std::string(length, 'a'), ids);
            if (!done || ids.size() < length / 1024)
                qFatal("the run lost letters");
            return static_cast<double>(model.pairsTried() - before);
        };
        const double small = work(std::size_t{1} << 16U);
        const double large = work(std::size_t{1} << 20U);
        QVERIFY2(large < 16.5 * small, qPrintable(QString::number(large / small)));
        QVERIFY(large < 8.0 * (1U << 20U));
    }

    void aLongRunIsEncodedWhole() {
        const auto tokenizer = loadJson(tiny::json());
        QCOMPARE(encoded(*tokenizer, std::string(1'000'000, 'e')).size(), std::size_t{1'000'000});
        QCOMPARE(encoded(*tokenizer, std::string(1'000'000, ' ')).size(), std::size_t{1'000'000});
    }

    void orderingMarksTakesNoQuadraticTime() {
        // Marks of two classes in turn: half a million swaps each for a plain insertion sort.
        std::string marks = "a";
        for (int i = 0; i < 200'000; ++i)
            marks += i % 2 == 0 ? "\u0301" : "\u0323";
        const std::string ordered = toUnicodeForm(marks, {});
        QVERIFY(ordered.starts_with("\u1EA1\u0323\u0323")); // the dots below come first
        QVERIFY(ordered.ends_with("\u0301\u0301"));
    }

    void aHostilePatternEndsInAnError() {
        const std::string text(20'000, 'a');
        for (const char* pattern : {R"({"Regex":"(a+)+[bc]"})", R"({"Regex":"a*a*a*a*a*[bc]"})"}) {
            const auto tokenizer = withPreTokenizer(split(pattern, "Isolated"));
            const auto ids = tokenizer->encode(text, false);
            QVERIFY(!ids && ids.error().code == ErrorCode::Unsupported);
            QVERIFY(mentions(ids.error().message, "given up"));
        }
    }

    void aNormalizerMayNotBlowUpTheText() {
        const std::string content(5000, 'b');
        const auto tokenizer = loadJson(tiny::json(
            "[]",
            fmt::format(R"({{"type":"Replace","pattern":{{"String":"a"}},"content":"{}"}})",
                        content)));
        QVERIFY(tokenizer->encode("a", false));
        const auto ids = tokenizer->encode(std::string(1000, 'a'), false);
        QVERIFY(!ids && mentions(ids.error().message, "grow"));
    }

    void ggufControlTokensAreParsedAndSpecial() {
        const auto loaded = tiny::load("model.gguf", tiny::ggufBpe().toBytes());
        QVERIFY(loaded);
        const Tokenizer& tokenizer = *loaded.value();
        QCOMPARE(encoded(tokenizer, "<|user|>abc ab<tool>", true), (Ids{1, 7, 8, 9}));
        QVERIFY(tokenizer.isSpecial(0) && tokenizer.isSpecial(1) && !tokenizer.isSpecial(9));
        QCOMPARE(tokenizer.decode(Ids{1, 7, 9}, true).value(), std::string("abc<tool>"));
        QCOMPARE(tokenizer.decode(Ids{1, 7, 9}, false).value(), std::string("<|user|>abc<tool>"));
        QCOMPARE(tokenizer.eosIds(), (Ids{0}));
        QVERIFY(mentions(tokenizer.description(), "smollm"));
    }

    void everyNamedPreTokenizerLoads() {
        for (const char* name : {"llama-bpe",
                                 "llama3",
                                 "llama-v3",
                                 "smollm",
                                 "qwen2",
                                 "deepseek-coder",
                                 "deepseek-llm",
                                 "gpt-2",
                                 "gpt-4o",
                                 "dbrx",
                                 "smaug-bpe",
                                 "viking",
                                 "default"}) {
            const auto loaded = tiny::load("model.gguf", tiny::ggufBpe(name).toBytes());
            QVERIFY2(loaded, name);
            QCOMPARE(encoded(*loaded.value(), "abc ab"), (Ids{7, 8}));
        }
        const auto loaded = tiny::load("model.gguf", tiny::ggufBpe("poro").toBytes());
        QVERIFY(!loaded && mentions(loaded.error().message, "'poro'"));
    }

    void wordsEndAtCapitalsWhereThePreTokenizerSaysSo() {
        const auto ids = [](const char* pre) {
            TinyGguf file = tiny::gguf("gpt2", {"<|end|>", "a", "b", "A", "ab", "bA"});
            file.addString("tokenizer.ggml.pre", pre);
            file.addArray<std::int32_t>(
                "tokenizer.ggml.token_type", GgufType::I32, {3, 1, 1, 1, 1, 1});
            file.addStrings("tokenizer.ggml.merges", {"b A", "a b"});
            file.addU32("tokenizer.ggml.eos_token_id", 0);
            const auto loaded = tiny::load("model.gguf", file.toBytes());
            return loaded ? encoded(*loaded.value(), "abAb") : Ids();
        };
        QCOMPARE(ids("smollm"), (Ids{1, 5, 2}));
        QCOMPARE(ids("dbrx"), (Ids{1, 5, 2}));
        QCOMPARE(ids("gpt-4o"), (Ids{4, 3, 2})); // "ab", "Ab"
    }

    void numbersAreCutWhereThePreTokenizerSaysSo() {
        const auto ids = [](const std::string& pre) {
            TinyGguf file = tiny::gguf("gpt2", {"<|end|>", "1", "11", "1111", "111"});
            file.addString("tokenizer.ggml.pre", pre);
            file.addArray<std::int32_t>(
                "tokenizer.ggml.token_type", GgufType::I32, {3, 1, 1, 1, 1});
            file.addStrings("tokenizer.ggml.merges", {"1 1", "11 11", "11 1"});
            const auto loaded = tiny::load("model.gguf", file.toBytes());
            return loaded ? encoded(*loaded.value(), "11111") : Ids();
        };
        for (const char* pre : {"megrez", "seed-coder", "minerva-7b", "exaone", "viking"})
            QCOMPARE(ids(pre), (Ids{1, 1, 1, 1, 1}));
        for (const char* pre : {"mellum", "trillion", "a.x-4.0"})
            QCOMPARE(ids(pre), (Ids{3, 1}));
        for (const char* pre : {"midm-2.0", "minicpm5"})
            QCOMPARE(ids(pre), (Ids{4, 2})); // from the left
        QCOMPARE(ids("superbpe"), (Ids{2, 4}));
    }

    void addingBeginAndEndFollowsTheGguf() {
        TinyGguf file = tiny::ggufBpe();
        file.addValue("tokenizer.ggml.add_bos_token", GgufType::Bool, std::string(1, '\1'));
        file.addValue("tokenizer.ggml.add_eos_token", GgufType::Bool, std::string(1, '\1'));
        const auto loaded = tiny::load("model.gguf", file.toBytes());
        QVERIFY(loaded);
        QCOMPARE(encoded(*loaded.value(), "ab", true), (Ids{0, 6, 0}));
        // Llama 3 vocabularies get their begin token unless the file says otherwise.
        const auto llama = tiny::load("model.gguf", tiny::ggufBpe("llama-bpe").toBytes());
        QCOMPARE(encoded(*llama.value(), "ab", true), (Ids{0, 6}));
    }

    void ggufLlamaVocabulariesGoThroughSentencePiece() {
        const auto loaded = tiny::load("model.gguf", tiny::LlamaVocabulary().toFile().toBytes());
        QVERIFY(loaded);
        const Tokenizer& tokenizer = *loaded.value();
        QCOMPARE(encoded(tokenizer, "a ab", true), (Ids{1, 6, 3, 7}));
        QCOMPARE(encoded(tokenizer, "</s>a"), (Ids{2, 6})); // a space again after a special token
        QCOMPARE(tokenizer.decode(Ids{1, 6, 3, 7}, true).value(), std::string("a ab"));
        QCOMPARE(tokenizer.decode(Ids{1, 6}, false).value(), std::string("<s> a"));
        QCOMPARE(tokenizer.bosId(), 1);
        QCOMPARE(tokenizer.eosIds(), (Ids{2}));
    }

    /// As converters write the vocabularies of Gemma 3 and Phi-3.
    void anUnknownTokenMayBeWrittenAsAControlToken() {
        const auto plain = tiny::load("model.gguf", tiny::LlamaVocabulary().toFile().toBytes());
        tiny::LlamaVocabulary vocabulary;
        vocabulary.types[0] = 3;
        for (const bool isNamed : {false, true}) {
            auto file = vocabulary.toFile();
            if (isNamed)
                file.addU32("tokenizer.ggml.unknown_token_id", 0);
            const auto loaded = tiny::load("model.gguf", file.toBytes());
            QVERIFY(loaded);
            QVERIFY(loaded.value()->isSpecial(0));
            for (const char* text : {"a ab", "xa", "</s>a<unk>b"})
                QCOMPARE(encoded(*loaded.value(), text, true), encoded(*plain.value(), text, true));
        }
    }

    void controlTextIsPlainTextToSentencePieceAlone() {
        const std::string bytes = tiny::sentencePiece(false).serialize();
        const TemporaryFolder folder;
        folder.write("tokenizer.model", bytes);
        const auto alone = tiny::load(folder.path());
        QVERIFY(alone);
        QVERIFY(encoded(*alone.value(), "<s>").size() > 1);
        QCOMPARE(alone.value()->decode(Ids{1}, false).value(), std::string());
        folder.write("tokenizer_config.json",
                     R"({"add_bos_token":false,"added_tokens_decoder":{"1":{"content":"<s>",)"
                     R"("special":true},"300":{"content":"<pad>","special":true}}})");
        const auto configured = tiny::load(folder.path());
        QVERIFY(configured);
        QCOMPARE(encoded(*configured.value(), "<s><pad>", true), (Ids{1, 300}));
        QCOMPARE(configured.value()->vocabSize(), 301);
        QCOMPARE(configured.value()->decode(Ids{1, 300}, false).value(), std::string("<s><pad>"));
    }

    void sentencePieceStreamsKeepTheRulesForSpaces() {
        const auto loaded = tiny::load("tokenizer.model", tiny::sentencePiece(false).serialize());
        QVERIFY(loaded);
        const Tokenizer& tokenizer = *loaded.value();
        const TokenId space = tokenizer.findToken("\u2581");
        const TokenId first = tokenizer.findToken("<0xC3>");
        const TokenId second = tokenizer.findToken("<0xA9>");
        TokenStream stream(tokenizer, false);
        QCOMPARE(stream.push(space).value(), std::string()); // the dummy prefix
        QCOMPARE(stream.push(space).value(), std::string(" "));
        QCOMPARE(stream.push(first).value(), std::string());
        QCOMPARE(stream.push(second).value(), std::string("\u00E9"));
        QCOMPARE(stream.push(first).value(), std::string());
        QCOMPARE(stream.push(space).value(), std::string("\uFFFD "));
    }
};

void TokenizerTest::aTokenIsReadableWhateverItsBytes() {
    const auto tokenizer = loadJson(tiny::fullJson());
    QCOMPARE(readableToken(*tokenizer, 8), std::string(" ab"));
    QCOMPARE(readableToken(*tokenizer, 12), std::string("\u00E9"));
    QCOMPARE(readableToken(*tokenizer, 10), std::string("<0xC3>")); // half a character
    QCOMPARE(readableToken(*tokenizer, 11), std::string("<0xA9>"));
    QCOMPARE(readableToken(*tokenizer, 14), std::string("<end>"));
    QCOMPARE(readableToken(*tokenizer, 1000), std::string());
}

QTEST_GUILESS_MAIN(TokenizerTest)
#include "tokenizer_test.moc"
