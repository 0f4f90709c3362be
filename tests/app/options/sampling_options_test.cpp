// SPDX-License-Identifier: Apache-2.0
// Tokens that are named by their text.
#include "app/commands/options/sampling_options.h"
#include "tests/engine/text/tiny_tokenizers.h"

#include <QTest>

using namespace engine;

class SamplingOptionsTest : public QObject {
    Q_OBJECT

private slots:
    void aTextNamesTheTokenThatWritesIt_data();
    void aTextNamesTheTokenThatWritesIt();
    void bytesAreNamedAsTheyAreRead();
    void aTextOfSeveralTokensIsRefused();
};

void SamplingOptionsTest::aTextNamesTheTokenThatWritesIt_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("piece"); // of SentencePiece
    QTest::newRow("a word") << "ab"
                            << "ab";
    QTest::newRow("a word behind a space") << " ab"
                                           << "\u2581ab";
    QTest::newRow("as it is spelt") << "\u2581ab"
                                    << "\u2581ab";
    QTest::newRow("a letter, which is a byte, too") << "a"
                                                    << "a";
    QTest::newRow("a space") << " "
                             << "\u2581";
    QTest::newRow("a byte") << "\n"
                            << "<0x0A>";
}

/// Alone, the word is encoded with a space in front.
void SamplingOptionsTest::aTextNamesTheTokenThatWritesIt() {
    QFETCH(const QString, text);
    QFETCH(const QString, piece);
    const auto tokenizer = tiny::load("tokenizer.model", tiny::sentencePiece(false).serialize());
    QVERIFY(tokenizer);
    app::TypedSampling typed;
    typed.biases = {text.toStdString() + "=2"};
    const auto options = app::resolveSampling(typed, tokenizer.value().get());
    QVERIFY2(options.hasValue(), options ? "" : options.error().message.c_str());
    QCOMPARE(options.value().logitBias.size(), std::size_t{1});
    QCOMPARE(options.value().logitBias.front().token,
             tokenizer.value()->findToken(piece.toStdString()));
}

/// A byte-level vocabulary spells spaces and letters beyond ASCII in its own way.
void SamplingOptionsTest::bytesAreNamedAsTheyAreRead() {
    const auto tokenizer = tiny::load("tokenizer.json", tiny::json());
    QVERIFY(tokenizer);
    app::TypedSampling typed;
    typed.biases = {" ab=1", "\u00E9=2", "\u0120=3"};
    const auto options = app::resolveSampling(typed, tokenizer.value().get());
    QVERIFY2(options.hasValue(), options ? "" : options.error().message.c_str());
    std::vector<TokenId> tokens;
    for (const LogitBias& bias : options.value().logitBias)
        tokens.push_back(bias.token);
    QCOMPARE(tokens, (std::vector<TokenId>{8, 12, 5}));
}

void SamplingOptionsTest::aTextOfSeveralTokensIsRefused() {
    const auto tokenizer = tiny::load("tokenizer.json", tiny::json());
    QVERIFY(tokenizer);
    app::TypedSampling typed;
    typed.biases = {"de=1"};
    const auto refused = app::resolveSampling(typed, tokenizer.value().get());
    QVERIFY(!refused);
    QCOMPARE(refused.error().message, std::string("--logit-bias: \"de\" is 2 tokens, not one."));
}

QTEST_GUILESS_MAIN(SamplingOptionsTest)
#include "sampling_options_test.moc"
