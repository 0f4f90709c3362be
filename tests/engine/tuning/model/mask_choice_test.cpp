// SPDX-License-Identifier: Apache-2.0
// Which token becomes the mask of SPACE.
#include "engine/tuning/model/mask_token.h"
#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/models/tiny_folder_model.h"

#include <QTest>

using namespace engine;

namespace {

/// The letters' tokenizer, whose ids end with 12, and these special tokens behind them.
std::unique_ptr<Tokenizer> tokenizerOf(const std::vector<std::string>& specials) {
    std::string added;
    int id = 13;
    for (const std::string& special : specials)
        added += (added.empty() ? "" : ",") + tiny::addedToken(id++, special);
    auto loaded = tiny::load("tokenizer.json", tiny::json("[" + added + "]"));
    ENGINE_CHECK(loaded.hasValue(), "{}", loaded.error().message);
    return std::move(loaded).value();
}

/// What a search finds in a vocabulary of `size`.
Result<TokenId> found(const std::vector<std::string>& specials,
                      int size,
                      const std::set<TokenId>& used = {},
                      TokenId wanted = kNoToken,
                      TokenId named = kNoToken) {
    const auto tokenizer = tokenizerOf(specials);
    ModelConfig config = support::letterConfig(1);
    config.vocabSize = size;
    config.maskTokenId = named;
    return chooseMaskToken({.config = config,
                            .tokenizer = *tokenizer,
                            .chatTemplate = "{{ '<user>' }}",
                            .usedTokens = used},
                           wanted);
}

} // namespace

class MaskChoiceTest : public QObject {
    Q_OBJECT

private slots:
    void anIdWithoutATextIsTakenFirst();
    void reservedTokensComeBeforeOtherSpecialOnes();
    void tokensInUseAreLeftOut();
    void theModelsOwnMaskIsKept();
    void aWantedTokenIsTakenOrRefused();
    void aVocabularyInUseIsOneSentence();
};

void MaskChoiceTest::anIdWithoutATextIsTakenFirst() {
    QCOMPARE(found({"<reserved>"}, 16).value(), 15);
    QCOMPARE(found({"<reserved>"}, 16, {15}).value(), 14);
}

void MaskChoiceTest::reservedTokensComeBeforeOtherSpecialOnes() {
    QCOMPARE(found({"<one>", "<|reserved_special_7|>", "<two>"}, 16).value(), 14);
    QCOMPARE(found({"<one>", "<Unused>", "<two>"}, 16).value(), 14);
    QCOMPARE(found({"<one>", "<two>"}, 15).value(), 14);
}

void MaskChoiceTest::tokensInUseAreLeftOut() {
    QCOMPARE(found({"<one>", "<two>"}, 15, {14}).value(), 13);
    QCOMPARE(found({"<one>", "<user>"}, 15).value(), 13); // the template writes <user>
    QCOMPARE(found({"<one>", "<pad>"}, 15).value(), 13);
    QCOMPARE(found({"<one>", "</s>"}, 15).value(), 13); // the tokenizer's end
}

void MaskChoiceTest::theModelsOwnMaskIsKept() {
    QCOMPARE(found({"<one>", "<two>"}, 16, {}, kNoToken, 13).value(), 13);
    QCOMPARE(found({"<one>", "<two>"}, 16, {13}, kNoToken, 13).value(), 15); // texts hold it
}

void MaskChoiceTest::aWantedTokenIsTakenOrRefused() {
    QCOMPARE(found({"<one>"}, 16, {}, 3).value(), 3);
    for (const auto& [wanted, used] : {std::pair<TokenId, TokenId>{16, 0}, {3, 3}, {-2, 0}}) {
        const auto refused = found({"<one>"}, 16, {used}, wanted);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
        QVERIFY(refused.error().hint.find("mask_token") != std::string::npos);
    }
}

void MaskChoiceTest::aVocabularyInUseIsOneSentence() {
    const auto refused = found({}, 13);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    QVERIFY(refused.error().message.find("no mask token") != std::string::npos);
    QVERIFY(refused.error().hint.find("--set mask_token") != std::string::npos);
}

QTEST_GUILESS_MAIN(MaskChoiceTest)
#include "mask_choice_test.moc"
