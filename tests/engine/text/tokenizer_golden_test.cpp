// SPDX-License-Identifier: Apache-2.0
// Every golden tokenizer case in both directions. Oracles: Hugging Face tokenizers and Python
// sentencepiece; tolerance none.
#include "engine/text/vocabulary/utf8.h"
#include "tests/engine/text/golden_cases.h"

namespace {

using engine::TokenId;
using engine::Tokenizer;

/// Compares and says which case it was.
bool isSame(const std::string& got, const std::string& wanted, const golden::Case& one) {
    if (got == wanted)
        return true;
    qWarning("tag %s, text '%s':\n  got    %s\n  wanted %s",
             one.tag.c_str(),
             one.text.substr(0, 300).c_str(),
             got.substr(0, 300).c_str(),
             wanted.substr(0, 300).c_str());
    return false;
}

std::string encoded(const Tokenizer& tokenizer, const golden::Case& one, bool addSpecial) {
    const auto ids = tokenizer.encode(one.text, addSpecial);
    return ids ? golden::spelled(ids.value()) : ids.error().message;
}

int countFailures(const Tokenizer& tokenizer,
                  const std::vector<golden::Case>& cases,
                  const std::vector<TokenId>& prefix) {
    int failures = 0;
    for (const golden::Case& one : cases) {
        std::vector<TokenId> special = prefix;
        special.insert(special.end(), one.ids.begin(), one.ids.end());
        const bool isRight =
            isSame(encoded(tokenizer, one, false), golden::spelled(one.ids), one) &&
            isSame(encoded(tokenizer, one, true), golden::spelled(special), one) &&
            isSame(tokenizer.decode(one.ids, false).value(), one.decoded, one) &&
            isSame(tokenizer.decode(one.ids, true).value(), one.decodedSkip, one) &&
            isSame(golden::streamed(tokenizer, one.ids, false), one.decoded, one) &&
            isSame(golden::streamed(tokenizer, one.ids, true), one.decodedSkip, one);
        failures += isRight ? 0 : 1;
    }
    return failures;
}

std::vector<TokenId> readPrefix(const std::string& name) {
    const auto document =
        engine::readJsonFile((golden::folder() / "tokenizers" / "golden.json").string());
    std::vector<TokenId> prefix;
    const auto entry = document.value().root()["tokenizers"][name];
    for (const engine::JsonValue& id : entry["prefix_with_special_tokens"].items())
        prefix.push_back(static_cast<TokenId>(id.asInteger().value_or(-1)));
    return prefix;
}

} // namespace

class TokenizerGoldenTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        if (!std::filesystem::exists(golden::folder()))
            QSKIP("../shared/golden is not there");
    }

    void everyCaseOfEveryTokenizerIsRight_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"llama3", "qwen2", "gpt2", "smollm", "deepseek", "llama2hf"})
            QTest::newRow(name) << QString(name);
    }

    void everyCaseOfEveryTokenizerIsRight() {
        QFETCH(QString, name);
        const auto folder = golden::folder() / "tokenizers" / name.toStdString();
        const auto tokenizer = golden::load(folder);
        const auto cases = golden::readCases(folder / "cases.jsonl");
        QCOMPARE(cases.size(), std::size_t{374});
        QCOMPARE(countFailures(*tokenizer, cases, readPrefix(name.toStdString())), 0);
    }

    void everyCaseOfEverySentencePieceModelIsRight_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"spm_llama2", "spm_unigram", "spm_nfkc"})
            QTest::newRow(name) << QString(name);
    }

    void everyCaseOfEverySentencePieceModelIsRight() {
        QFETCH(QString, name);
        const auto folder = golden::folder() / "tokenizers" / name.toStdString();
        const auto tokenizer = golden::load(folder);
        const auto cases = golden::readCases(folder / "cases.jsonl");
        QCOMPARE(cases.size(), std::size_t{374});
        QVERIFY(tokenizer->bosId() >= 0);
        QCOMPARE(countFailures(*tokenizer, cases, {tokenizer->bosId()}), 0);
    }

    void sentencePiecesAreSpelledAsInTheVocabulary() {
        const TokenId unknown = 0;
        for (const char* name : {"spm_llama2", "spm_unigram", "spm_nfkc"}) {
            const auto folder = golden::folder() / "tokenizers" / name;
            const auto tokenizer = golden::load(folder);
            for (const golden::Case& one : golden::readCases(folder / "cases.jsonl")) {
                if (!one.hasPieces)
                    continue;
                QCOMPARE(one.pieces.size(), one.ids.size());
                for (std::size_t i = 0; i < one.ids.size(); ++i) {
                    if (one.ids[i] != unknown) // an unknown piece is spelled as the text was
                        QCOMPARE(tokenizer->tokenText(one.ids[i]), one.pieces[i]);
                }
            }
        }
    }

    void everyCaseOfTheGgufVocabulariesIsRight() {
        const auto cases = golden::readCases(golden::folder() / "gguf" / "tokenizer_cases.jsonl");
        QCOMPARE(cases.size(), std::size_t{152});
        for (const char* name : {"llama_s_F32.gguf", "llama_s_Q4_0.gguf", "llama_k_Q6_K.gguf"}) {
            const auto tokenizer = golden::load(golden::folder() / "gguf" / name);
            QCOMPARE(tokenizer->vocabSize(), 512);
            for (const golden::Case& one : cases) { // these cases hold no decoded text
                QVERIFY(isSame(encoded(*tokenizer, one, false), golden::spelled(one.ids), one));
                QVERIFY(isSame(tokenizer->decode(one.ids, false).value(), one.text, one));
                QVERIFY(isSame(golden::streamed(*tokenizer, one.ids, false), one.text, one));
            }
        }
    }

    void everyCaseOfTheDefaultModelIsRight() {
        const std::filesystem::path model =
            SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
        if (!std::filesystem::exists(model))
            QSKIP("the default model is not in the cache folder");
        const auto tokenizer = golden::load(model);
        const auto cases =
            golden::readCases(golden::folder() / "tokenizers" / "smollm2" / "cases.jsonl");
        QCOMPARE(cases.size(), std::size_t{374});
        QCOMPARE(countFailures(*tokenizer, cases, {}), 0);
    }

    void streamsGiveOutWholeCharactersOnly() {
        for (const char* name : {"gpt2", "llama2hf", "spm_llama2", "spm_unigram"}) {
            const auto folder = golden::folder() / "tokenizers" / name;
            const auto tokenizer = golden::load(folder);
            for (const golden::Case& one : golden::readCases(folder / "cases.jsonl")) {
                engine::TokenStream stream(*tokenizer, false);
                for (const TokenId id : one.ids)
                    QVERIFY(!engine::utf8::findInvalid(stream.push(id).value()));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TokenizerGoldenTest)
#include "tokenizer_golden_test.moc"
