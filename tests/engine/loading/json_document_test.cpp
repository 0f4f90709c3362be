// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/json/json_document.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <sys/stat.h>

using namespace engine;

namespace {

JsonDocument parsed(std::string_view text) {
    auto document = JsonDocument::parse(text, "test");
    if (!document)
        qFatal("%s", document.error().message.c_str());
    return std::move(document).value();
}

QString errorOf(std::string_view text, const JsonLimits& limits = {}) {
    const auto document = JsonDocument::parse(text, "test", limits);
    return document ? QString() : QString::fromStdString(document.error().message);
}

} // namespace

class JsonDocumentTest : public QObject {
    Q_OBJECT

private slots:
    void valuesKeepTheirTypes();
    void membersComeInFileOrderAndByName();
    void largeObjectsFindEveryMember();
    void missingValuesAnswerNothing();
    void offsetsPointBehindTheFirstToken();
    void valuesOutliveAMoveOfTheDocument();
    void escapesBecomeUtf8();
    void duplicateKeysAreRefused();
    void depthSizeAndCountAreLimited();
    void brokenTextSaysWhere_data();
    void brokenTextSaysWhere();
    void reasonsHoldNoNamesOfTheLibrary_data();
    void reasonsHoldNoNamesOfTheLibrary();
    void memoryIsASmallMultipleOfTheText();
    void filesAreReadAndNamed();
};

void JsonDocumentTest::valuesKeepTheirTypes() {
    const JsonDocument document =
        parsed(R"([null, true, -7, 3.0, "x", [], {}, 9223372036854775807, 18446744073709551615])");
    const auto items = document.root().items();
    QCOMPARE(items.size(), std::size_t(9));
    QVERIFY(items[0].isNull());
    QCOMPARE(items[1].asBool(), std::optional(true));
    QCOMPARE(items[2].asInteger(), std::optional<std::int64_t>(-7));
    QCOMPARE(items[2].asNumber(), std::optional(-7.0));
    QVERIFY(!items[3].asInteger());
    QCOMPARE(items[3].asNumber(), std::optional(3.0));
    QVERIFY(items[4].asString() == "x");
    QVERIFY(items[5].isArray() && items[5].size() == 0);
    QVERIFY(items[6].isObject() && items[6].size() == 0);
    QCOMPARE(items[7].asInteger(), std::optional(std::numeric_limits<std::int64_t>::max()));
    QVERIFY(!items[8].asInteger());
    QCOMPARE(items[8].asNumber(), std::optional(18446744073709551615.0));
}

void JsonDocumentTest::membersComeInFileOrderAndByName() {
    const JsonDocument document = parsed(R"({"b":1,"a":{"x":[1,2]},"":3})");
    const auto members = document.root().members();
    QCOMPARE(members.size(), std::size_t(3));
    QVERIFY(members[0].first == "b" && members[1].first == "a" && members[2].first.empty());
    QCOMPARE(document.root()[""].asInteger(), std::optional<std::int64_t>(3));
    QCOMPARE(document.root()["a"]["x"].items()[1].asInteger(), std::optional<std::int64_t>(2));
    QVERIFY(document.root().contains("a") && !document.root().contains("x"));
}

void JsonDocumentTest::largeObjectsFindEveryMember() {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i)
        text += fmt::format("{}\"k{}\":{{\"v\":{}}}", i == 0 ? "" : ",", i, i);
    const JsonDocument document = parsed(text + "}");
    for (int i = 0; i < 1000; ++i)
        QCOMPARE(document.root()[fmt::format("k{}", i)]["v"].asInteger(),
                 std::optional<std::int64_t>(i));
    QVERIFY(!document.root().contains("k1000") && !document.root().contains(""));
}

void JsonDocumentTest::missingValuesAnswerNothing() {
    const JsonDocument document = parsed("[1]");
    for (const JsonValue& value : {JsonValue(), document.root()["a"]["b"]}) {
        QVERIFY(value.isNull() && !value.asBool() && !value.asInteger() && !value.asNumber());
        QVERIFY(!value.asString() && value.size() == 0 && value.items().empty());
        QVERIFY(value.members().empty() && value.offset() == 0);
    }
    QVERIFY(document.root().items()[0].items().empty());
}

void JsonDocumentTest::offsetsPointBehindTheFirstToken() {
    const JsonDocument document = parsed(R"({"a":12,"b":"xy","c":[5],"d":1.5 ,"e":true})");
    QCOMPARE(document.root().offset(), std::uint64_t(1));
    QCOMPARE(document.root()["a"].offset(), std::uint64_t(7));
    QCOMPARE(document.root()["b"].offset(), std::uint64_t(16));
    QCOMPARE(document.root()["c"].offset(), std::uint64_t(22));
    QCOMPARE(document.root()["c"].items()[0].offset(), std::uint64_t(23));
    QCOMPARE(document.root()["d"].offset(), std::uint64_t(32));
    QCOMPARE(parsed("12").root().offset(), std::uint64_t(2));
}

void JsonDocumentTest::valuesOutliveAMoveOfTheDocument() {
    JsonDocument first = parsed(R"({"a":"here"})");
    const JsonValue value = first.root()["a"];
    const JsonDocument second = std::move(first);
    QVERIFY(value.asString() == "here");
}

void JsonDocumentTest::escapesBecomeUtf8() {
    QVERIFY(parsed(R"("\u00e9\ud83d\ude00\n")").root().asString() == "é😀\n");
    QVERIFY(!errorOf(R"("\ud83d")").isEmpty());
}

void JsonDocumentTest::duplicateKeysAreRefused() {
    QCOMPARE(errorOf(R"({"a":1,"b":2,"a":3})"),
             "test: the key \"a\" appears twice in one object (byte 18)");
    QVERIFY(errorOf(R"({"x":{"a":1,"\u0061":2}})").contains("twice"));
    QVERIFY(errorOf(R"([{"a":1},{"a":2}])").isEmpty());
}

void JsonDocumentTest::depthSizeAndCountAreLimited() {
    QVERIFY(errorOf(std::string(64, '[') + std::string(64, ']')).isEmpty());
    QCOMPARE(errorOf(std::string(65, '[') + std::string(65, ']')),
             "test: nested deeper than 64 levels (byte 65)");
    QVERIFY(errorOf(std::string(1'000'000, '[')).contains("nested"));
    JsonLimits limits;
    limits.maxNodes = 3;
    QVERIFY(errorOf("[1,2]", limits).isEmpty());
    QCOMPARE(errorOf("[1,2,3]", limits), "test: more than 3 values (byte 6)");
    limits.maxBytes = 4;
    QVERIFY(errorOf("[1,2]", limits).contains("at most 4"));
}

void JsonDocumentTest::brokenTextSaysWhere_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("place");
    QTest::newRow("empty") << QByteArray("") << "byte ";
    QTest::newRow("cut") << QByteArray("{\"a\":") << "byte 6";
    QTest::newRow("tail") << QByteArray("{} x") << "byte 4";
    QTest::newRow("bad utf-8") << QByteArray("[\"\xff\"]") << "byte 3";
    QTest::newRow("overlong utf-8") << QByteArray("[\"\xc0\x80\"]") << "byte 3";
    QTest::newRow("control") << QByteArray("[\"\n\"]") << "byte 3";
    QTest::newRow("behind a NUL") << QByteArray("{}\0[", 4) << "byte 2";
    QTest::newRow("number too large") << QByteArray("[1e999]") << "byte ";
    QTest::newRow("comment") << QByteArray("[1, // two\n2]") << "byte ";
}

void JsonDocumentTest::brokenTextSaysWhere() {
    QFETCH(QByteArray, text);
    QFETCH(QString, place);
    const auto document = JsonDocument::parse(text.toStdString(), "test");
    QVERIFY(!document);
    QCOMPARE(document.error().code, ErrorCode::CorruptFile);
    const QString message = QString::fromStdString(document.error().message);
    QVERIFY2(message.startsWith("test: ") && message.contains(place), qPrintable(message));
    QVERIFY(!message.contains(QChar::ReplacementCharacter));
}

void JsonDocumentTest::reasonsHoldNoNamesOfTheLibrary_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const char* text, const char* message) {
        QTest::newRow(name) << QByteArray(text) << QString(message);
    };
    row("number", "[1e999]", "test: not valid JSON: the number 1e999 is too large (byte 6)");
    row("negative number",
        "{\"a\": -1e400}",
        "test: not valid JSON: the number -1e400 is too large (byte 12)");
    row("comma",
        "[1,]",
        "test: not valid JSON: unexpected ']'; expected '[', '{', or a literal (byte 4)");
    row("end",
        "{\"a\":",
        "test: not valid JSON: unexpected end of input; expected '[', '{', or a literal (byte 6)");
    row("word", "[nul]", "test: not valid JSON: invalid literal (byte 5)");
    row("line break in text",
        "[\"a\nb\"]",
        "test: not valid JSON: invalid string: control character U+000A (LF) must be escaped to "
        "\\u000A or \\n (byte 4)");
    row("digits",
        "[1.]",
        "test: not valid JSON: invalid number; expected digit after '.' (byte 4)");
    row("half a surrogate",
        "[\"\\ud800\"]",
        "test: not valid JSON: invalid string: surrogate U+D800..U+DBFF must be followed by "
        "U+DC00..U+DFFF (byte 9)");
}

void JsonDocumentTest::reasonsHoldNoNamesOfTheLibrary() {
    QFETCH(QByteArray, text);
    QFETCH(QString, message);
    const auto document = JsonDocument::parse(text.toStdString(), "test");
    QCOMPARE(QString::fromStdString(document.error().message), message);
    QVERIFY(!document.error().hint.empty());
}

void JsonDocumentTest::memoryIsASmallMultipleOfTheText() {
    std::string vocabulary = "{";
    for (int i = 0; i < 150'000; ++i)
        vocabulary += fmt::format("{}\"token number {}\":{}", i == 0 ? "" : ",", i, i);
    vocabulary += "}";
    const test_support::PeakAllocation peak;
    const JsonDocument document = parsed(vocabulary);
    QVERIFY2(peak.bytes() < 4 * vocabulary.size(), qPrintable(QString::number(peak.bytes())));
    QCOMPARE(document.root()["token number 149999"].asInteger(),
             std::optional<std::int64_t>(149999));
}

void JsonDocumentTest::filesAreReadAndNamed() {
    const test_support::TemporaryFolder folder;
    const std::string path = folder.write("a.json", "{\"a\":1}").string();
    QCOMPARE(readJsonFile(path).value().root()["a"].asInteger(), std::optional<std::int64_t>(1));
    const auto absent = readJsonFile(path + ".missing");
    QCOMPARE(absent.error().code, ErrorCode::NotFound);
    QVERIFY(absent.error().message.find(path) != std::string::npos);
    QCOMPARE(readJsonFile(folder.path().string()).error().code, ErrorCode::InvalidInput);
    const std::string pipe = (folder.path() / "pipe.json").string();
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    QCOMPARE(readJsonFile(pipe).error().code, ErrorCode::InvalidInput);
    QCOMPARE(readJsonFile("/dev/zero").error().code, ErrorCode::InvalidInput);
}

QTEST_APPLESS_MAIN(JsonDocumentTest)
#include "json_document_test.moc"
