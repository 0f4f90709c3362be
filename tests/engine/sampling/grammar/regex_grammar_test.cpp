// SPDX-License-Identifier: Apache-2.0
// Regular expressions as grammars: compared with QRegularExpression on all short texts.
#include "tests/support/lossless/grammar_walk.h"

#include <QRegularExpression>
#include <QTest>

#include <random>

using namespace engine;
using support::GrammarWalk;

namespace {

/// All texts of these characters up to a length.
std::vector<std::string> allTexts(std::string_view characters, std::size_t longest) {
    std::vector<std::string> texts = {""};
    for (std::size_t from = 0, length = 0; length < longest; ++length) {
        const std::size_t end = texts.size();
        for (; from < end; ++from)
            for (const char character : characters)
                texts.push_back(texts[from] + character);
    }
    return texts;
}

/// A pattern of the letters a, b and c.
std::string randomPattern(std::mt19937& random, int depth) {
    const auto oneOf = [&](std::initializer_list<const char*> choices) {
        return std::string(*(choices.begin() + random() % choices.size()));
    };
    if (depth == 0)
        return oneOf({"a", "b", "c", "[ab]", "[^a]", ".", "ab", "\\w", "[a-c]"});
    const std::string first = randomPattern(random, depth - 1);
    switch (random() % 4) {
    case 0:
        return fmt::format("{}{}", first, randomPattern(random, depth - 1));
    case 1:
        return fmt::format("({}|{})", first, randomPattern(random, depth - 1));
    case 2:
        return fmt::format(
            "(?:{}){}", first, oneOf({"*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?"}));
    default:
        return fmt::format("{}|{}", first, randomPattern(random, depth - 1));
    }
}

/// Every short text is accepted by both or by neither, and what begins an accepted one is allowed.
QString differenceFromQt(const std::string& pattern, const std::vector<std::string>& texts) {
    const QRegularExpression expected(
        QRegularExpression::anchoredPattern(QString::fromStdString(pattern)),
        QRegularExpression::UseUnicodePropertiesOption);
    if (!expected.isValid())
        return expected.errorString();
    GrammarWalk walk({GrammarKind::Regex, pattern});
    for (const std::string& text : texts) {
        const bool isAccepted = expected.match(QString::fromStdString(text)).hasMatch();
        if (walk.accepts(text) != isAccepted)
            return QString("%1 and \"%2\"").arg(pattern.c_str(), text.c_str());
        for (std::size_t length = 0; isAccepted && length < text.size(); ++length)
            if (!walk.allows(std::string_view(text).substr(0, length)))
                return QString("%1 forbids a beginning of \"%2\"")
                    .arg(pattern.c_str(), text.c_str());
    }
    return {};
}

} // namespace

class RegexGrammarTest : public QObject {
    Q_OBJECT

private slots:
    void patternsAcceptWhatTheirDefinitionSays_data();
    void patternsAcceptWhatTheirDefinitionSays();
    void randomPatternsAcceptTheSameTexts();
    void charactersBeyondAsciiAreReadWhole();
    void whatIsNotSupportedIsRefusedByName_data();
    void whatIsNotSupportedIsRefusedByName();
    void boundsAddUpAndDoNotMultiply();
    void whatAllowsNothingIsRefused();
    void ambiguityEndsTheWalk();
};

void RegexGrammarTest::patternsAcceptWhatTheirDefinitionSays_data() {
    QTest::addColumn<QString>("pattern");
    for (const char* pattern : {"",
                                "a",
                                "a|",
                                "(a|b)*a(a|b)",
                                "[a-c]{2,4}",
                                "(?:ab?)+",
                                "^a.c$",
                                "\\x61[^b]?",
                                "[]a]+",
                                "[a\\]]*b",
                                "(?<name>a)(?P<other>b)",
                                "(a*)*b",
                                "((a|b|ab)?){3}",
                                "a{0}b",
                                "a{2,}",
                                "[b-]a",
                                "(()|a)b"})
        QTest::addRow("%s", pattern) << QString(pattern);
}

void RegexGrammarTest::patternsAcceptWhatTheirDefinitionSays() {
    QFETCH(QString, pattern);
    const QString fault = differenceFromQt(pattern.toStdString(), allTexts("abc]-", 5));
    QVERIFY2(fault.isEmpty(), qPrintable(fault));
}

void RegexGrammarTest::randomPatternsAcceptTheSameTexts() {
    std::mt19937 random(3);
    const std::vector<std::string> texts = allTexts("abc", 6);
    for (int i = 0; i < 150; ++i) {
        const QString fault = differenceFromQt(randomPattern(random, 3), texts);
        QVERIFY2(fault.isEmpty(), qPrintable(fault));
    }
}

void RegexGrammarTest::charactersBeyondAsciiAreReadWhole() {
    // Every length of UTF-8 and both sides of each border, against the range itself.
    const std::vector<char32_t> codes = {0x61,
                                         0x7F,
                                         0x80,
                                         0xE9,
                                         0x7FF,
                                         0x800,
                                         0xD7FF,
                                         0xE000,
                                         0xFFFD,
                                         0xFFFF,
                                         0x10000,
                                         0x1F600,
                                         0x10FFFF};
    for (const auto& [low, high] : std::vector<std::pair<char32_t, char32_t>>{{0x62, 0x10FFFF},
                                                                              {0xE9, 0x800},
                                                                              {0x7F, 0x80},
                                                                              {0xFFFF, 0x1F600},
                                                                              {0x10001, 0x1F5FF}}) {
        const QString pattern = QString("[\\x{%1}-\\x{%2}]").arg(low, 0, 16).arg(high, 0, 16);
        GrammarWalk walk({GrammarKind::Regex, pattern.toStdString()});
        for (const char32_t code : codes) {
            const std::string text = QString::fromUcs4(&code, 1).toStdString();
            QVERIFY2(walk.accepts(text) == (code >= low && code <= high),
                     qPrintable(QString("%1, %2").arg(pattern).arg(code, 0, 16)));
        }
    }
    GrammarWalk any({GrammarKind::Regex, "."});
    QVERIFY(!any.allows("\xED\xA0")); // a surrogate
    QVERIFY(!any.allows("\xC0"));     // an overlong form
    QVERIFY(!any.allows("\xF5"));
    QVERIFY(GrammarWalk({GrammarKind::Regex, "[äöü]+"}).accepts("üöä"));
}

void RegexGrammarTest::whatIsNotSupportedIsRefusedByName_data() {
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("reason");
    QTest::newRow("look-ahead") << "a(?=b)"
                                << "look-ahead and look-behind are not supported";
    QTest::newRow("look-behind") << "(?<!b)a"
                                 << "look-ahead and look-behind are not supported";
    QTest::newRow("reference") << "(a)\\1"
                               << "\\1 is not supported";
    QTest::newRow("boundary") << "a\\b"
                              << "\\b is not supported";
    QTest::newRow("flags") << "(?i)a"
                           << "flags and other forms of (? are not supported";
    QTest::newRow("possessive") << "a*+"
                                << "possessive repetition is not supported";
    QTest::newRow("open group") << "(a"
                                << "a ( has no )";
    QTest::newRow("closed group") << "a)"
                                  << "there is a ) without a (";
    QTest::newRow("open class") << "[a"
                                << "a [ has no ]";
    QTest::newRow("nothing to repeat") << "*a"
                                       << "there is nothing before * to repeat";
    QTest::newRow("bounds") << "a{3,2}"
                            << "{3,2} asks for at most fewer than at least";
    QTest::newRow("anchor") << "a^b"
                            << "^ is only allowed at the start of the pattern";
    QTest::newRow("range") << "[b-a]"
                           << "does not go up";
    QTest::newRow("end") << "a\\"
                         << "ends with a single \\";
    QTest::newRow("deep") << QString(500, '(') << "groups are nested deeper than 200";
}

void RegexGrammarTest::whatIsNotSupportedIsRefusedByName() {
    QFETCH(QString, pattern);
    QFETCH(QString, reason);
    const auto graph = makeGrammarGraph({GrammarKind::Regex, pattern.toStdString()});
    QVERIFY(!graph);
    QCOMPARE(graph.error().code, ErrorCode::InvalidInput);
    const QString message = QString::fromStdString(graph.error().message);
    QVERIFY2(message.contains(reason), qPrintable(message));
}

void RegexGrammarTest::boundsAddUpAndDoNotMultiply() {
    GrammarWalk walk({GrammarKind::Regex, "((ab){100}c){100}"});
    std::string text;
    for (int i = 0; i < 100; ++i) {
        for (int j = 0; j < 100; ++j)
            text += "ab";
        text += "c";
    }
    QVERIFY(walk.accepts(text));
    QVERIFY(!walk.allows(text + "a"));
    QVERIFY(!walk.accepts(text.substr(0, text.size() - 1)));
    const auto tooLarge = makeGrammarGraph({GrammarKind::Regex, "(a{60000}){60000}"});
    QVERIFY(!tooLarge);
    QCOMPARE(tooLarge.error().message,
             "The regular expression is too large: it needs more than 100000 states.");
}

void RegexGrammarTest::whatAllowsNothingIsRefused() {
    const auto graph = makeGrammarGraph({GrammarKind::Regex, "a[^\\x{0}-\\x{10FFFF}]"});
    QVERIFY(!graph);
    QCOMPARE(graph.error().message, "The regular expression allows no text at all.");
    // What cannot be completed is not begun either.
    GrammarWalk walk({GrammarKind::Regex, "ab|a[^\\x{0}-\\x{10FFFF}]|cc"});
    QVERIFY(walk.accepts("ab") && walk.accepts("cc"));
    QVERIFY(!walk.allows("b"));
}

/// Nothing hangs: a state with too many places is given up.
void RegexGrammarTest::ambiguityEndsTheWalk() {
    auto graph = makeGrammarGraph({GrammarKind::Regex, "(((a?){900}){900}){900}b"});
    QVERIFY(graph.hasValue());
    GrammarMatcher matcher(std::move(graph).value());
    QCOMPARE(matcher.start(), GrammarMatcher::kDead);
    QCOMPARE(matcher.next(matcher.start(), 'a'), GrammarMatcher::kDead);
}

QTEST_APPLESS_MAIN(RegexGrammarTest)
#include "regex_grammar_test.moc"
