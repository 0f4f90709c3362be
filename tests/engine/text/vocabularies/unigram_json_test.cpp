// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json with a unigram vocabulary. The expected ids and texts are what the package
// tokenizers 0.23.3 of PyPI makes of the same JSON: Tokenizer.from_str(json).encode(text).ids and
// decode(ids, skip_special_tokens=True). With the charsmap of the golden spm_nfkc model it gave the
// same for 30,000 random texts as the steps that are tested here.
#include "tests/engine/text/tiny_tokenizers.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <utility>

using namespace engine;

namespace {

using Ids = std::vector<TokenId>;
using Json = nlohmann::ordered_json;

/// Rules as a trie with a block of 256 units for each node: the children of a node are in its
/// block, and its own text is at the block's first place.
class CharsmapMaker {
public:
    explicit CharsmapMaker(const std::vector<std::pair<std::string, std::string>>& rules) {
        m_units.resize(256, kFree); // the root alone
        const std::size_t root = addBlock();
        m_units[0] = static_cast<std::uint32_t>(root) << 10U;
        for (const auto& [from, to] : rules)
            add(root, from, to);
    }

    std::string bytes() const {
        const auto size = static_cast<std::uint32_t>(4 * m_units.size());
        return test_support::bytesOf(size) +
               test_support::bytesOf(std::span<const std::uint32_t>(m_units)) + m_targets;
    }

private:
    static constexpr std::uint32_t kFree = 0x80000000U;
    static constexpr std::uint32_t kHasText = 0x100U;

    std::size_t addBlock() {
        m_units.resize(m_units.size() + 256, kFree);
        return m_units.size() - 256;
    }

    void add(std::size_t block, const std::string& from, const std::string& to) {
        std::size_t place = block;
        for (const char c : from) {
            const auto byte = static_cast<std::uint8_t>(c);
            place = block + byte;
            if (m_units[place] == kFree) {
                block = addBlock();
                m_units[place] = static_cast<std::uint32_t>(place ^ block) << 10U | byte;
            } else {
                block = place ^ (m_units[place] >> 10U);
            }
        }
        m_units[place] |= kHasText;
        m_units[block] = kFree | static_cast<std::uint32_t>(m_targets.size());
        m_targets += to + '\0';
    }

    std::vector<std::uint32_t> m_units;
    std::string m_targets;
};

/// Of "o" and "o" with two dots the shorter one counts.
std::string charsmap() {
    return CharsmapMaker({{"A", "a"},
                          {"e\u0301", "\u00E9"},
                          {"\u2460", "1"},
                          {"o", "0"},
                          {"o\u0308", "\u00F6"},
                          {"\u200B", ""}})
        .bytes();
}

Json addedToken(int id, const char* content) {
    return {{"id", id},
            {"content", content},
            {"single_word", false},
            {"lstrip", false},
            {"rstrip", false},
            {"normalized", false},
            {"special", true}};
}

Json normalizer(const std::string& map) {
    const QByteArray digits = QByteArray::fromStdString(map).toBase64();
    return {{"type", "Precompiled"}, {"precompiled_charsmap", digits.toStdString()}};
}

/// The vocabulary of the cases below, behind which the bytes may stand.
Json unigram(bool hasBytes) {
    const std::pair<const char*, double> tokens[] = {{"<unk>", 0.0},
                                                     {"<s>", 0.0},
                                                     {"</s>", 0.0},
                                                     {"\u2581", -3.0},
                                                     {"a", -2.0},
                                                     {"b", -2.5},
                                                     {"ab", -2.25},
                                                     {"\u2581ab", -3.5},
                                                     {"ba", -4.5},
                                                     {"aa", -4.0},
                                                     {"0", -3.0},
                                                     {"\u00E9", -4.0},
                                                     {"1", -5.5},
                                                     {"xy", -30.0},
                                                     {"\u2581of\u2581ab", -6.0}};
    Json vocab = Json::array();
    for (const auto& [text, score] : tokens)
        vocab.push_back(Json::array({text, score}));
    for (int byte = 0; byte < 256 && hasBytes; ++byte)
        vocab.push_back(Json::array({tiny::byteName(byte), -20.0}));
    return {{"type", "Unigram"},
            {"unk_id", 0},
            {"vocab", std::move(vocab)},
            {"byte_fallback", hasBytes}};
}

struct Kind {
    bool hasBytes = false;
    bool cutsWords = true;
    bool hasRules = false;
};

/// Texts end with </s>, as those of T5 do.
Json document(const Kind& kind = {}) {
    const Json metaspace = {{"type", "Metaspace"},
                            {"replacement", "\u2581"},
                            {"prepend_scheme", "always"},
                            {"split", kind.cutsWords}};
    const Json end = {{"id", "</s>"}, {"ids", {2}}, {"tokens", {"</s>"}}};
    const Json single = Json::array({Json{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                     Json{{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}}});
    return {
        {"version", "1.0"},
        {"added_tokens", Json::array({addedToken(1, "<s>"), addedToken(2, "</s>")})},
        {"normalizer", kind.hasRules ? normalizer(charsmap()) : Json()},
        {"pre_tokenizer", metaspace},
        {"post_processor",
         {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", {{"</s>", end}}}}},
        {"decoder", metaspace},
        {"model", unigram(kind.hasBytes)}};
}

Result<std::unique_ptr<Tokenizer>> load(const Json& json) {
    return tiny::load("tokenizer.json", json.dump());
}

/// The message of the error with which a file is refused.
std::string refusal(const Json& json) {
    const auto tokenizer = load(json);
    if (tokenizer)
        return "it was read";
    return tokenizer.error().code == ErrorCode::CorruptFile ? tokenizer.error().message
                                                            : "another kind of error";
}

} // namespace

class UnigramJsonTest : public QObject {
    Q_OBJECT

private slots:
    void textsBecomeTheIdsOfHuggingFace_data();
    void textsBecomeTheIdsOfHuggingFace();
    void aFileOfBothKindsIsReadFromTheJson();
    void itSaysWhatItIs();
    void aTextThatNeedsTheUnknownTokenIsRefusedWithoutOne();
    void brokenVocabulariesAndCharsmapsAreNamed();
};

void UnigramJsonTest::textsBecomeTheIdsOfHuggingFace_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QList<int>>("expected");
    QTest::addColumn<QString>("decoded");
    const auto add = [](const char* name,
                        const char* kind,
                        const char* text,
                        const QList<int>& expected,
                        const char* decoded) {
        QTest::newRow(name) << kind << text << expected << decoded;
    };
    add("nothing", "plain", "", {2}, "");
    add("a word", "plain", "ab", {7, 2}, "ab");
    add("spaces", "plain", "ab ba  aab", {7, 3, 8, 3, 3, 4, 6, 2}, "ab ba  aab");
    add("equal sums", "plain", "aaa aaaa", {3, 4, 9, 3, 9, 9, 2}, "aaa aaaa");
    add("unknown runs", "plain", "xyz q", {3, 13, 0, 3, 0, 2}, "xy<unk> <unk>");
    add("added tokens", "plain", "qq<s>ab</s> ab", {3, 0, 1, 7, 2, 7, 2}, "<unk> ab ab");
    add("words cut", "plain", "a of ab ", {3, 4, 3, 0, 7, 3, 2}, "a <unk> ab ");
    add("words not cut", "whole", "a of ab ", {3, 4, 14, 3, 2}, "a of ab ");
    add("bytes", "bytes", "xyz q", {3, 13, 137, 3, 128, 2}, "xy<0x7A> <0x71>");
    add("many bytes",
        "bytes",
        "q\U0001F600",
        {3, 128, 255, 174, 167, 143, 2},
        "<0x71><0xF0><0x9F><0x98><0x80>");
    add("a rule that takes away", "rules", "\u00E9\u200B", {3, 11, 2}, "\u00E9");
    add("rules for clusters",
        "rules",
        "Ab A\u2460 oo o\u0308e\u0301 \u200Be",
        {7, 3, 4, 12, 3, 10, 10, 3, 10, 11, 3, 0, 2},
        "ab a1 00 0\u00E9 <unk>");
    add("rules and unknown", "rules", "a of ab ", {3, 4, 3, 10, 0, 7, 3, 2}, "a 0<unk> ab ");
}

void UnigramJsonTest::textsBecomeTheIdsOfHuggingFace() {
    QFETCH(QString, kind);
    QFETCH(QString, text);
    QFETCH(QList<int>, expected);
    QFETCH(QString, decoded);
    const auto tokenizer = load(document(
        {.hasBytes = kind == "bytes", .cutsWords = kind != "whole", .hasRules = kind == "rules"}));
    QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().message.c_str());
    const auto ids = tokenizer.value()->encode(text.toStdString(), true);
    QVERIFY(ids);
    QCOMPARE(ids.value(), Ids(expected.begin(), expected.end()));
    QCOMPARE(tokenizer.value()->decode(ids.value(), true).value(), decoded.toStdString());
}

/// As transformers does it where both are there.
void UnigramJsonTest::aFileOfBothKindsIsReadFromTheJson() {
    const test_support::TemporaryFolder folder;
    folder.write("tokenizer.json", document().dump());
    folder.write("tokenizer.model", tiny::sentencePiece(true).serialize());
    const auto tokenizer = tiny::load(folder.path());
    QVERIFY(tokenizer);
    QCOMPARE(tokenizer.value()->encode("xy", false).value(), (Ids{3, 13}));
}

void UnigramJsonTest::itSaysWhatItIs() {
    const auto tokenizer = load(document());
    QVERIFY(tokenizer);
    QCOMPARE(tokenizer.value()->description(), std::string("unigram (tokenizer.json, 15 tokens)"));
    QCOMPARE(tokenizer.value()->findToken("\u2581ab"), TokenId(7));
    QVERIFY(tokenizer.value()->isSpecial(2) && !tokenizer.value()->isSpecial(7));
}

void UnigramJsonTest::aTextThatNeedsTheUnknownTokenIsRefusedWithoutOne() {
    Json json = document();
    json["model"]["unk_id"] = nullptr;
    const auto tokenizer = load(json);
    QVERIFY(tokenizer);
    QCOMPARE(tokenizer.value()->encode("ab", false).value(), (Ids{7}));
    const auto refused = tokenizer.value()->encode("aq", false);
    QVERIFY(!refused && refused.error().code == ErrorCode::CorruptFile);
    QVERIFY(refused.error().message.find("no token for 'q'") != std::string::npos);
}

void UnigramJsonTest::brokenVocabulariesAndCharsmapsAreNamed() {
    const auto changed = [](const char* key, const Json& value) {
        Json json = document();
        json["model"][key] = value;
        return refusal(json);
    };
    const auto normalized = [](const Json& step) {
        Json json = document();
        json["normalizer"] = step;
        return refusal(json);
    };
    const std::pair<std::string, const char*> cases[] = {
        {changed("vocab", Json::object()), "the vocabulary has 0 tokens"},
        {changed("vocab", Json::array({Json::array({"a"})})), "no text with a score"},
        {changed("vocab", Json::array({Json::array({"a", "b"})})), "no text with a score"},
        {changed("vocab", Json::array({Json::array({"a", 1}), Json::array({"a", 2})})), "twice"},
        {changed("unk_id", 15), "the unknown token is not in the vocabulary"},
        {changed("unk_id", -1), "the unknown token is not in the vocabulary"},
        {normalized(Json::object({{"type", "Precompiled"}})), "base64"},
        {normalized(Json::object({{"type", "Precompiled"}, {"precompiled_charsmap", "a-b"}})),
         "base64"},
        {normalized(normalizer("abc")), "the charsmap is cut short"},
        {normalized(normalizer(charsmap().substr(0, 2000))), "the charsmap claims a trie"},
    };
    for (const auto& [message, words] : cases)
        QVERIFY2(message.find(words) != std::string::npos, message.c_str());
}

QTEST_GUILESS_MAIN(UnigramJsonTest)
#include "unigram_json_test.moc"
