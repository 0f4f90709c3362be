// SPDX-License-Identifier: Apache-2.0
// Which tokens may follow: the walk through the trie gives what trying each token byte by byte
// gives, for vocabularies of whole, broken and equal texts.
#include "engine/sampling/grammar/token_grammar.h"
#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/lossless/grammar_walk.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <random>

using namespace engine;
using support::GrammarWalk;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr TokenId kEnd = 0;

std::shared_ptr<const TokenTrie> trieOf(std::vector<std::string> bytes) {
    return std::make_shared<const TokenTrie>(std::move(bytes));
}

/// The first is no text; all single bytes of the alphabet, then longer ones, some twice.
std::vector<std::string> randomTokens(std::mt19937& random, std::string_view alphabet) {
    std::vector<std::string> tokens = {""};
    for (const char letter : alphabet)
        tokens.emplace_back(1, letter);
    for (int i = 0; i < 150; ++i) {
        std::string text;
        for (auto left = 1 + random() % 5; left > 0; --left)
            text += alphabet[random() % alphabet.size()];
        tokens.push_back(std::move(text));
    }
    return tokens;
}

std::shared_ptr<const GrammarGraph> graphOf(const Grammar& grammar) {
    return support::valueOf(makeGrammarGraph(grammar));
}

std::vector<Grammar> grammars() {
    return {{GrammarKind::Regex, "(ab|ba)*c?"},
            {GrammarKind::Regex, "[a-c]{3,9}"},
            {GrammarKind::Regex, "(a|b)*a(a|b){3}"},
            {GrammarKind::Json},
            {GrammarKind::Schema,
             R"({"properties": {"a": {"type": "string"}, "b": {"items": {"$ref": "#"}}}})"}};
}

/// The empty token, then every text of so many letters a and b.
std::vector<std::string> textsOfTwoLetters(int length) {
    std::vector<std::string> tokens = {""};
    for (int bits = 0; bits < 1 << length; ++bits) {
        std::string text;
        for (int place = 0; place < length; ++place)
            text += (bits >> place & 1) == 0 ? 'a' : 'b';
        tokens.push_back(std::move(text));
    }
    return tokens;
}

/// What a tokenizer shows of the tokens that a form allows.
class ShownTexts {
public:
    ShownTexts(const Tokenizer& tokenizer, const Grammar& grammar)
        : m_tokenizer(tokenizer)
        , m_vocabulary(
              std::make_shared<const TokenTrie>(TokenTrie::of(tokenizer, tokenizer.vocabSize())))
        , m_masks(graphOf(grammar), m_vocabulary)
        , m_walk(grammar) {}

    /// Of up to three tokens: a token is allowed exactly if it adds text and all that is shown
    /// fits. Empty if that holds.
    std::string firstFault() { return faultBehind(m_masks.start(), {}); }

private:
    std::string textOf(const std::vector<TokenId>& ids) const {
        return support::valueOf(m_tokenizer.decode(ids, true));
    }

    std::string faultBehind(TokenGrammar::State state, std::vector<TokenId> ids) {
        std::vector<double> logits(static_cast<std::size_t>(m_vocabulary->vocabSize()), 1.0);
        if (!m_masks.apply(state, {}, logits)) // none fits
            std::fill(logits.begin(), logits.end(), kNever);
        const std::string before = textOf(ids);
        for (TokenId id = 0; id < m_vocabulary->vocabSize(); ++id) {
            ids.push_back(id);
            const std::string shown = textOf(ids);
            const bool isText = shown.size() > before.size() && !m_vocabulary->bytesOf(id).empty();
            const bool isAllowed = logits[static_cast<std::size_t>(id)] == 1.0;
            if (isAllowed != (isText && m_walk.allows(shown)))
                return fmt::format("token {} behind \"{}\" shows \"{}\"", id, before, shown);
            if (isAllowed && ids.size() < 3)
                if (std::string fault = faultBehind(m_masks.next(state, id), ids); !fault.empty())
                    return fault;
            ids.pop_back();
        }
        return {};
    }

    const Tokenizer& m_tokenizer;
    std::shared_ptr<const TokenTrie> m_vocabulary;
    TokenGrammar m_masks;
    GrammarWalk m_walk;
};

} // namespace

class TokenGrammarTest : public QObject {
    Q_OBJECT

private slots:
    void theTrieHoldsEveryTokenOnce();
    void tokensThatMayFollowAreThoseThatFit();
    void whatIsShownFitsFromTheFirstTokenOn_data();
    void whatIsShownFitsFromTheFirstTokenOn();
    void theEndComesOnlyWhereTheTextIsComplete();
    void whatNoTokenWritesIsTold();
    void anAmbiguousGrammarIsTold();
    void aWalkThatCostsTooMuchIsGivenUp();
    void whatWasAskedBeforeDoesNotChangeTheLimit();
    void oldStatesAreForgottenAndFoundAgain();
};

void TokenGrammarTest::theTrieHoldsEveryTokenOnce() {
    std::mt19937 random(5);
    const std::vector<std::string> tokens = randomTokens(random, "abc");
    const TokenTrie trie(tokens);
    std::vector<int> times(tokens.size(), 0);
    std::string path;
    for (const TokenTrie::Node& node : trie.nodes()) {
        path.resize(static_cast<std::size_t>(node.depth) - 1);
        path += static_cast<char>(node.byte);
        for (int place = node.firstToken; place < node.endToken; ++place) {
            const auto id =
                static_cast<std::size_t>(trie.tokens()[static_cast<std::size_t>(place)]);
            QCOMPARE(tokens[id], path);
            ++times[id];
        }
    }
    for (std::size_t id = 0; id < tokens.size(); ++id)
        QCOMPARE(times[id], tokens[id].empty() ? 0 : 1);
}

void TokenGrammarTest::tokensThatMayFollowAreThoseThatFit() {
    std::mt19937 random(6);
    for (const Grammar& grammar : grammars()) {
        const std::vector<std::string> tokens =
            randomTokens(random, "abc{}[]\":, \n0129truefalsn\\u\xC3\xA4");
        TokenGrammar masks(graphOf(grammar), trieOf(tokens));
        GrammarWalk walk(grammar);
        for (int text = 0; text < 30; ++text) {
            std::string written;
            auto state = masks.start();
            for (int step = 0; step < 12; ++step) {
                std::vector<double> logits(tokens.size(), 1.0);
                QVERIFY(masks.apply(state, {&kEnd, 1}, logits).hasValue());
                std::vector<std::size_t> allowed;
                for (std::size_t id = 1; id < tokens.size(); ++id) {
                    QVERIFY2((logits[id] == 1.0) == walk.allows(written + tokens[id]),
                             (written + " and " + tokens[id]).c_str());
                    if (logits[id] == 1.0)
                        allowed.push_back(id);
                }
                QCOMPARE(logits[kEnd] == 1.0, walk.accepts(written));
                if (allowed.empty())
                    break;
                const std::size_t next = allowed[random() % allowed.size()];
                state = masks.next(state, static_cast<TokenId>(next));
                written += tokens[next];
            }
        }
    }
}

void TokenGrammarTest::whatIsShownFitsFromTheFirstTokenOn_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("content");
    const auto json = [](const std::string& decoder) {
        return QByteArray::fromStdString(tiny::json("[]", "null", "null", decoder));
    };
    for (const bool isUnigram : {false, true})
        QTest::newRow(isUnigram ? "unigram pieces" : "pieces")
            << "tokenizer.model"
            << QByteArray::fromStdString(tiny::sentencePiece(isUnigram).serialize());
    QTest::newRow("Metaspace")
        << "tokenizer.json"
        << json(R"({"type":"Metaspace","replacement":"\u0120","prepend_scheme":"always"})");
    QTest::newRow("Strip") << "tokenizer.json"
                           << json(R"({"type":"Sequence","decoders":[{"type":"Replace",)"
                                   R"("pattern":{"String":"\u0120"},"content":" "},)"
                                   R"({"type":"Fuse"},)"
                                   R"({"type":"Strip","content":" ","start":1,"stop":0}]})");
    QTest::newRow("all spaces are shown") << "tokenizer.json" << json(R"({"type":"ByteLevel"})");
}

/// Some tokenizers leave out the space before the first word.
void TokenGrammarTest::whatIsShownFitsFromTheFirstTokenOn() {
    QFETCH(const QString, file);
    QFETCH(const QByteArray, content);
    const auto tokenizer = tiny::load(file.toStdString(), content.toStdString());
    QVERIFY2(tokenizer.hasValue(), tokenizer ? "" : tokenizer.error().message.c_str());
    for (const char* form : {"ab( ab)*", " ab", "(ab| )*", "[ab ]{1,5}"}) {
        ShownTexts texts(*tokenizer.value(), {GrammarKind::Regex, form});
        const std::string fault = texts.firstFault();
        QVERIFY2(fault.empty(), fault.c_str());
    }
}

void TokenGrammarTest::theEndComesOnlyWhereTheTextIsComplete() {
    // The end id has a text of its own, which does not count.
    TokenGrammar masks(graphOf({GrammarKind::Regex, "ab+"}), trieOf({"b", "a", "b", "bb"}));
    std::vector<double> logits(4, 1.0);
    auto state = masks.start();
    QVERIFY(masks.apply(state, {&kEnd, 1}, logits).hasValue());
    QCOMPARE(logits, (std::vector<double>{kNever, 1.0, kNever, kNever}));
    state = masks.next(masks.next(state, 1), 3);
    logits.assign(4, 1.0);
    QVERIFY(masks.apply(state, {&kEnd, 1}, logits).hasValue());
    QCOMPARE(logits, (std::vector<double>{1.0, kNever, 1.0, 1.0}));
}

void TokenGrammarTest::whatNoTokenWritesIsTold() {
    TokenGrammar masks(graphOf({GrammarKind::Regex, "az"}), trieOf({"", "a", "b"}));
    std::vector<double> logits(3, 1.0);
    const auto stuck = masks.apply(masks.next(masks.start(), 1), {&kEnd, 1}, logits);
    QVERIFY(!stuck);
    QCOMPARE(stuck.error().message,
             "No token of this model writes what the grammar asks for next.");
    TokenGrammar endless(graphOf({GrammarKind::Regex, "a"}), trieOf({"", "a", "b"}));
    logits.assign(3, 1.0);
    const auto ended = endless.apply(endless.next(endless.start(), 1), {}, logits);
    QVERIFY(!ended);
    QVERIFY(ended.error().message.starts_with("The answer fits the grammar and has to end"));
}

void TokenGrammarTest::anAmbiguousGrammarIsTold() {
    TokenGrammar masks(graphOf({GrammarKind::Regex, "a(((a?){900}){900}){900}b"}),
                       trieOf({"", "a", "b"}));
    std::vector<double> logits(3, 1.0);
    const auto refused = masks.apply(masks.start(), {&kEnd, 1}, logits);
    QVERIFY(!refused);
    QVERIFY(refused.error().message.starts_with("The grammar is too ambiguous"));
}

/// Each text of a and b leads to a state of its own, with a place for each a in it.
void TokenGrammarTest::aWalkThatCostsTooMuchIsGivenUp() {
    const std::vector<std::string> tokens = textsOfTwoLetters(16);
    const auto vocabulary = trieOf(tokens);
    std::vector<double> logits(tokens.size(), 1.0);
    TokenGrammar plain(graphOf({GrammarKind::Regex, "(a|b)*"}), vocabulary);
    QVERIFY(plain.apply(plain.start(), {&kEnd, 1}, logits).hasValue());
    TokenGrammar masks(graphOf({GrammarKind::Regex, "(a|b)*a(a|b){1500}"}), vocabulary);
    auto state = masks.start();
    for (int i = 0; i < 20; ++i)
        state = masks.next(state, 1); // sixteen a
    QVERIFY(state != GrammarMatcher::kDead);
    const auto refused = masks.apply(state, {&kEnd, 1}, logits);
    QVERIFY(!refused);
    QVERIFY(refused.error().message.starts_with("The grammar is too ambiguous"));
}

/// Two thirds of the states are known already, so that the rest alone would be no work too much.
void TokenGrammarTest::whatWasAskedBeforeDoesNotChangeTheLimit() {
    const std::vector<std::string> tokens = textsOfTwoLetters(13);
    TokenGrammar masks(graphOf({GrammarKind::Regex, "(a|b)*a(a|b){1500}"}), trieOf(tokens));
    auto state = masks.start();
    for (int i = 0; i < 7; ++i)
        state = masks.next(state, 1);
    QVERIFY(state != GrammarMatcher::kDead);
    for (std::size_t token = 1; token <= tokens.size() * 2 / 3; ++token)
        QVERIFY(masks.next(state, static_cast<TokenId>(token)) != GrammarMatcher::kDead);
    std::vector<double> logits(tokens.size(), 1.0);
    const auto refused = masks.apply(state, {&kEnd, 1}, logits);
    QVERIFY(!refused);
    QVERIFY(refused.error().message.starts_with("The grammar is too ambiguous"));
}

void TokenGrammarTest::oldStatesAreForgottenAndFoundAgain() {
    GrammarMatcher matcher(graphOf({GrammarKind::Json}));
    const std::string begun = R"({"a": [[{"b": [1, 2], "c": {"d": tru)";
    auto state = matcher.start();
    for (const char byte : begun)
        state = matcher.next(state, static_cast<std::uint8_t>(byte));
    const std::size_t before = matcher.stateCount();
    state = matcher.forgetAllBut(state);
    QVERIFY(matcher.stateCount() < before);
    QVERIFY(!matcher.canEnd(state));
    for (const char byte : std::string("e}}]]}"))
        state = matcher.next(state, static_cast<std::uint8_t>(byte));
    QVERIFY(matcher.canEnd(state));
    QCOMPARE(matcher.next(state, 'e'), GrammarMatcher::kDead);
}

QTEST_GUILESS_MAIN(TokenGrammarTest)
#include "token_grammar_test.moc"
