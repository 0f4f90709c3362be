// SPDX-License-Identifier: Apache-2.0
#include "engine/text/token_stream.h"
#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/few_cases.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/programs/damaged_bytes.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

constexpr std::size_t kLargestFile = 4096;
constexpr int kFlips = 2000;
constexpr int kFlipsInSample = 500;
constexpr std::uint64_t kSeed = 20250717;
constexpr std::size_t kMaxExtraBytes = std::size_t(64) << 20U;

/// Loads, encodes a text, decodes what came of it, all ids once, and streams it.
Result<void> useAll(const std::filesystem::path& path) {
    ENGINE_TRY(const auto tokenizer, tiny::load(path));
    ENGINE_TRY(std::vector<TokenId> ids,
               tokenizer->encode("abc ab Ab\u00E9 d0 <s> [x]  \u4E2D<|end|>ab\n", true));
    for (TokenId id = 0; id < std::min(tokenizer->vocabSize(), 600); ++id)
        ids.push_back(id);
    ENGINE_TRY(const std::string text, tokenizer->decode(ids, false));
    ENGINE_TRY_DO(tokenizer->decode(ids, true));
    TokenStream stream(*tokenizer, false);
    std::string streamed;
    for (const TokenId id : ids) {
        ENGINE_TRY(const std::string piece, stream.push(id));
        streamed += piece;
    }
    ENGINE_TRY(const std::string rest, stream.finish());
    ENGINE_CHECK(streamed + rest == text, "a stream and decode() disagree");
    return {};
}

} // namespace

/// Every cut and 2,000 bit flips of one small valid file of each kind, in a sample every third cut
/// and 500 flips: a clear error or a valid tokenizer, within two seconds and the size of the file
/// and 64 MB.
class DamagedTokenizersTest : public QObject {
    Q_OBJECT

private slots:

    void tokenizerJsonSurvives() { damage("tokenizer.json", tiny::fullJson()); }

    void unigramJsonSurvives() { damage("tokenizer.json", tiny::unigramJson()); }

    void unigramModelSurvives() {
        damage("tokenizer.model", tiny::sentencePiece(true).serialize());
    }

    void bpeModelSurvives() { damage("tokenizer.model", tiny::sentencePiece(false).serialize()); }

    void addedTokensSurvive() {
        const TemporaryFolder folder;
        folder.write("tokenizer.model", tiny::sentencePiece(false).serialize());
        damageIn(folder, folder.path(), "added_tokens.json", R"({"<|im_end|>":267,"[x]":268})");
    }

    void ggufBpeSurvives() { damage("model.gguf", tiny::ggufBpe().toBytes()); }

    void ggufLlamaSurvives() { damage("model.gguf", tiny::LlamaVocabulary().toFile().toBytes()); }

    void tokenizerConfigSurvives() {
        const TemporaryFolder folder;
        folder.write("tokenizer.json", tiny::fullJson());
        damageIn(folder,
                 folder.path(),
                 "tokenizer_config.json",
                 R"({"tokenizer_class":"LlamaTokenizer","add_bos_token":true,"bos_token":)"
                 R"({"content":"<s>"},"eos_token":"<end>","added_tokens_decoder":{"13":)"
                 R"({"content":"<s>","special":true}}})");
    }

private:
    void damage(const std::string& name, const std::string& bytes) {
        const TemporaryFolder folder;
        const bool isAlone = name.ends_with(".gguf");
        damageIn(folder, isAlone ? folder.path() / name : folder.path(), name, bytes);
    }

    void damageIn(const TemporaryFolder& folder,
                  const std::filesystem::path& model,
                  const std::string& name,
                  const std::string& bytes);
};

void DamagedTokenizersTest::damageIn(const TemporaryFolder& folder,
                                     const std::filesystem::path& model,
                                     const std::string& name,
                                     const std::string& bytes) {
    QVERIFY2(bytes.size() <= kLargestFile, qPrintable(QString::number(bytes.size())));
    folder.write(name, bytes);
    const auto whole = useAll(model);
    QVERIFY2(whole, whole ? "" : whole.error().message.c_str());
    int refused = 0;
    const auto visit = [&](const std::string& damaged, std::size_t where) {
        folder.write(name, damaged);
        const support::ProcessorClock clock;
        const PeakAllocation peak;
        const auto used = useAll(model);
        const std::string place = fmt::format("{} at {}", name, where);
        QVERIFY2(peak.bytes() <= damaged.size() + kMaxExtraBytes, place.c_str());
        QVERIFY2(clock.ms() < support::kEndsSoonMs, place.c_str());
        if (used)
            return;
        ++refused;
        QVERIFY2(used.error().message.size() > 20, used.error().message.c_str());
        QVERIFY2(!used.error().hint.empty(), used.error().message.c_str());
    };
    const std::size_t step = support::takesAllCases() ? 1 : support::takesFewCases() ? 7 : 3;
    for (std::size_t length = 0; length < bytes.size(); length += step)
        visit(bytes.substr(0, length), length);
    // A SentencePiece file cut between two pieces is a smaller file that may be right.
    QVERIFY2(refused > static_cast<int>(bytes.size() / step) / 2, "cuts go unnoticed");
    forEachFlip(bytes, support::takesAllCases() ? kFlips : kFlipsInSample, kSeed, visit);
}

QTEST_GUILESS_MAIN(DamagedTokenizersTest)
#include "damaged_tokenizers_test.moc"
