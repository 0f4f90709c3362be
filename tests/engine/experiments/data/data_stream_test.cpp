// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/experiments/data/read_content.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QSet>
#include <QTest>

using namespace engine;
using test_support::Content;
using test_support::promptsOf;
using test_support::readContent;

namespace {

std::string line(const std::string& prompt) {
    return R"({"task":"code","id":"a","prompt":")" + prompt + "\"}";
}

} // namespace

class DataStreamTest : public QObject {
    Q_OBJECT

private slots:
    void recordsComeInTheirOrder();
    void linesEndWithLfOrCrLfOnly();
    void emptyLinesAreIgnoredButCounted();
    void theLastLineNeedsNoEnd();
    void aByteOrderMarkIsPassedOver();
    void wideEncodingsAreRefusedByName_data();
    void wideEncodingsAreRefusedByName();
    void badLinesAreNamedAndTheRestGoesOn_data();
    void badLinesAreNamedAndTheRestGoesOn();
    void overlongLinesAreSkipped();
    void fieldsCanBeNamed();
    void theFilesStemIsTheTaskOfRecordsWithoutOne();
    void idsAreTextsNumbersOrTheLine();
    void theLimitCountsGoodRecords();
    void otherTasksArePassedOver();
    void plainTextHasAPromptALine();
    void aDocumentIsOnePrompt();
    void aStopEndsTheReading();
    void filesThatCannotBeReadAreErrors();
    void damagedFilesNeverCrash();
    void theSharedFilesAreWithoutFault_data();
    void theSharedFilesAreWithoutFault();

private:
    test_support::TemporaryFolder m_folder;
};

void DataStreamTest::recordsComeInTheirOrder() {
    const Content content = readContent(m_folder.write(
        "a.jsonl", line("one") + "\n" + R"({"prompt":["two","three"],"task":"chat"})" + "\n"));
    QCOMPARE(content.badLines.size(), std::size_t(0));
    QCOMPARE(content.records.size(), std::size_t(2));
    QCOMPARE(content.records[0].line, std::int64_t(1));
    QCOMPARE(content.records[0].task, std::string("code"));
    QCOMPARE(content.records[0].id, std::string("a"));
    QVERIFY(content.records[0].turns == std::vector<std::string>{"one"});
    QCOMPARE(content.records[1].line, std::int64_t(2));
    QCOMPARE(content.records[1].task, std::string("chat"));
    QVERIFY(content.records[1].turns == (std::vector<std::string>{"two", "three"}));
    QCOMPARE(readContent(m_folder.write("empty.jsonl", "")).records.size(), std::size_t(0));
}

void DataStreamTest::linesEndWithLfOrCrLfOnly() {
    // U+2028, U+0085, vertical tab and form feed end a line elsewhere.
    const std::string strange = "a\xE2\x80\xA8"
                                "b\xC2\x85"
                                "c";
    const Content content =
        readContent(m_folder.write("a.jsonl", line(strange) + "\r\n" + line("two") + "\n"));
    QCOMPARE(promptsOf(content), (QStringList{QString::fromStdString(strange), "two"}));
    const Content text = readContent(m_folder.write("a.txt", "a\vb\fc\rd\r\ne\n"));
    QCOMPARE(promptsOf(text), (QStringList{"a\vb\fc\rd", "e"}));
}

void DataStreamTest::emptyLinesAreIgnoredButCounted() {
    const Content content = readContent(
        m_folder.write("a.jsonl", "\n \t\r\n" + line("one") + "\n\r\n\n" + line("two") + "\n\n"));
    QCOMPARE(promptsOf(content), (QStringList{"one", "two"}));
    QCOMPARE(content.badLines.size(), std::size_t(0));
    QCOMPARE(content.records[0].line, std::int64_t(3));
    QCOMPARE(content.records[1].line, std::int64_t(6));
}

void DataStreamTest::theLastLineNeedsNoEnd() {
    QCOMPARE(promptsOf(readContent(m_folder.write("a.jsonl", line("one") + "\n" + line("two")))),
             (QStringList{"one", "two"}));
    QCOMPARE(promptsOf(readContent(m_folder.write("b.jsonl", line("one") + "\r"))),
             QStringList{"one"});
}

void DataStreamTest::aByteOrderMarkIsPassedOver() {
    const Content content = readContent(m_folder.write("a.jsonl", "\xEF\xBB\xBF" + line("one")));
    QCOMPARE(promptsOf(content), QStringList{"one"});
    QCOMPARE(content.badLines.size(), std::size_t(0));
}

void DataStreamTest::wideEncodingsAreRefusedByName_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("name");
    QTest::newRow("mark, little") << QByteArray("\xFF\xFE{\0", 4) << "UTF-16";
    QTest::newRow("mark, big") << QByteArray("\xFE\xFF\0{", 4) << "UTF-16";
    QTest::newRow("only a mark") << QByteArray("\xFF\xFE", 2) << "UTF-16";
    QTest::newRow("little") << QByteArray("{\0\"\0", 4) << "UTF-16";
    QTest::newRow("big") << QByteArray("\0{\0\"", 4) << "UTF-16";
    QTest::newRow("32, mark") << QByteArray("\xFF\xFE\0\0{\0\0\0", 8) << "UTF-32";
    QTest::newRow("32, little") << QByteArray("{\0\0\0", 4) << "UTF-32";
    QTest::newRow("32, big") << QByteArray("\0\0\0{", 4) << "UTF-32";
}

void DataStreamTest::wideEncodingsAreRefusedByName() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, name);
    const auto stream = DataStream::open(m_folder.write("a.jsonl", bytes.toStdString()));
    QVERIFY(!stream);
    QVERIFY(stream.error().code == ErrorCode::Unsupported);
    QVERIFY(stream.error().message.find(name.toStdString()) != std::string::npos);
    QVERIFY(stream.error().hint.find("UTF-8") != std::string::npos);
}

void DataStreamTest::badLinesAreNamedAndTheRestGoesOn_data() {
    QTest::addColumn<QByteArray>("bad");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const QByteArray& bad, const QByteArray& words) {
        QTest::newRow(name) << bad << words;
    };
    row("no JSON", "{\"prompt\":", "not valid JSON");
    row("two values", "{\"prompt\":\"a\"} {\"prompt\":\"b\"}", "not valid JSON");
    row("text", "\"prompt\"", "not an object");
    row("list", "[\"prompt\"]", "not an object");
    row("missing", "{\"text\":\"a\"}", "\"prompt\" is missing");
    row("null", "{\"prompt\":null}", "\"prompt\" is missing");
    row("number", "{\"prompt\":5}", "\"prompt\" is neither");
    row("object", "{\"prompt\":{\"a\":1}}", "\"prompt\" is neither");
    row("empty", "{\"prompt\":\"\"}", "empty text");
    row("blank", "{\"prompt\":\" \\n\"}", "empty text");
    row("empty list", "{\"prompt\":[]}", "empty list");
    row("empty turn", "{\"prompt\":[\"a\",\"\"]}", "empty text");
    row("mixed list", "{\"prompt\":[\"a\",5]}", "not a text");
    row("task", "{\"prompt\":\"a\",\"task\":5}", "\"task\" is not a text");
    row("twice", "{\"prompt\":\"a\",\"prompt\":\"b\"}", "twice");
    row("half a surrogate", "{\"prompt\":\"\\ud800\"}", "not valid JSON");
    row("encoding", "{\"prompt\":\"caf\xE9\"}", "not valid UTF-8 (byte 14)");
    row("overlong form", "{\"prompt\":\"\xC0\xAF\"}", "not valid UTF-8");
    row("zero byte", QByteArray("{\"prompt\":\"a\0\"}", 15), "NUL");
    row("deep", "{\"prompt\":" + QByteArray(100'000, '['), "nested");
    row("many values", "{\"x\":[" + QByteArray("1,").repeated(1'000'001) + "1]}", "values");
}

void DataStreamTest::badLinesAreNamedAndTheRestGoesOn() {
    QFETCH(const QByteArray, bad);
    QFETCH(const QByteArray, words);
    const Content content = readContent(m_folder.write(
        "a.jsonl", line("one") + "\n" + bad.toStdString() + "\n" + line("two") + "\n"));
    QCOMPARE(promptsOf(content), (QStringList{"one", "two"}));
    QCOMPARE(content.badLines.size(), std::size_t(1));
    QCOMPARE(content.badLines[0].line, std::int64_t(2));
    const QByteArray message = QByteArray::fromStdString(content.badLines[0].message);
    QVERIFY2(message.startsWith("line 2: "), message.constData());
    QVERIFY2(message.contains(words), message.constData());
}

void DataStreamTest::overlongLinesAreSkipped() {
    constexpr std::size_t kLongest = 16'000'000;
    const std::string shortest = line("");
    const std::string fitting = line(std::string(kLongest - shortest.size(), 'x'));
    const std::string tooLong = line(std::string(kLongest + 1 - shortest.size(), 'y'));
    const Content content = readContent(m_folder.write(
        "a.jsonl", fitting + "\r\n" + tooLong + "\r\n" + tooLong + "zzz\n" + line("two")));
    QCOMPARE(content.records.size(), std::size_t(2));
    QCOMPARE(content.records[0].turns[0].size(), kLongest - shortest.size());
    QCOMPARE(content.records[1].line, std::int64_t(4));
    QCOMPARE(content.badLines.size(), std::size_t(2));
    QCOMPARE(content.badLines[1].line, std::int64_t(3));
    QVERIFY(content.badLines[0].message.find("16000000 bytes") != std::string::npos);
}

void DataStreamTest::fieldsCanBeNamed() {
    DataStreamOptions options;
    options.layout.prompt = "question";
    options.layout.task = "kind";
    const Content content = readContent(
        m_folder.write("a.jsonl", R"({"prompt":"no","question":"yes","task":"no","kind":"k"})"),
        options);
    QCOMPARE(promptsOf(content), QStringList{"yes"});
    QCOMPARE(content.records[0].task, std::string("k"));
    const Content missing = readContent(m_folder.write("b.jsonl", R"({"prompt":"no"})"), options);
    QCOMPARE(missing.badLines.size(), std::size_t(1));
    QVERIFY(missing.badLines[0].message.find("\"question\"") != std::string::npos);
}

void DataStreamTest::theFilesStemIsTheTaskOfRecordsWithoutOne() {
    const Content content = readContent(m_folder.write(
        "my.data.jsonl", "{\"prompt\":\"a\"}\n{\"prompt\":\"b\",\"task\":null}\n" + line("c")));
    QCOMPARE(content.records.size(), std::size_t(3));
    QCOMPARE(content.records[0].task, std::string("my.data"));
    QCOMPARE(content.records[1].task, std::string("my.data"));
    QCOMPARE(content.records[2].task, std::string("code"));
}

void DataStreamTest::idsAreTextsNumbersOrTheLine() {
    const Content content = readContent(m_folder.write("a.jsonl",
                                                       "\n{\"prompt\":\"a\",\"id\":\"x\"}\n"
                                                       "{\"prompt\":\"b\",\"id\":77}\n"
                                                       "{\"prompt\":\"c\"}\n"
                                                       "{\"prompt\":\"d\",\"id\":[1]}\n"));
    QStringList ids;
    for (const DataRecord& record : content.records)
        ids << QString::fromStdString(record.id);
    QCOMPARE(ids, (QStringList{"x", "77", "4", "5"}));
}

void DataStreamTest::theLimitCountsGoodRecords() {
    const auto path =
        m_folder.write("a.jsonl", "bad\n" + line("one") + "\nbad\n" + line("two") + "\nbad\n");
    DataStreamOptions options;
    options.limit = 2;
    const Content content = readContent(path, options);
    QCOMPARE(promptsOf(content), (QStringList{"one", "two"}));
    QCOMPARE(content.badLines.size(), std::size_t(2));
    options.limit = 0;
    QVERIFY(readContent(path, options).badLines.empty());
    options.limit = -1;
    const auto negative = DataStream::open(path, options);
    QVERIFY(!negative);
    QVERIFY(negative.error().message.find("-1") != std::string::npos);
}

void DataStreamTest::otherTasksArePassedOver() {
    DataStreamOptions options;
    options.onlyTask = "code";
    options.limit = 2;
    const Content content = readContent(
        m_folder.write("a.jsonl",
                       "{\"prompt\":\"a\",\"task\":\"x\"}\n" + line("one") +
                           "\nbad\n{\"prompt\":\"b\"}\n" + line("two") + "\n" + line("three")),
        options);
    QCOMPARE(promptsOf(content), (QStringList{"one", "two"}));
    QCOMPARE(content.badLines.size(), std::size_t(1));
}

void DataStreamTest::plainTextHasAPromptALine() {
    const Content content = readContent(
        m_folder.write("Prompts.TXT", "\xEF\xBB\xBF{\"prompt\":\"a\"}\n\n  two \ncaf\xE9\nfour"));
    QCOMPARE(promptsOf(content), (QStringList{"{\"prompt\":\"a\"}", "  two ", "four"}));
    QCOMPARE(content.records[1].task, std::string("Prompts"));
    QCOMPARE(content.records[1].id, std::string("3"));
    QCOMPARE(content.badLines.size(), std::size_t(1));
    QCOMPARE(content.badLines[0].line, std::int64_t(4));
}

void DataStreamTest::aDocumentIsOnePrompt() {
    const Content content =
        readContent(m_folder.write("Notes.MD", "# One\r\n\n{\"prompt\":\"a\"}\n"));
    QCOMPARE(promptsOf(content), QStringList{"# One\n\n{\"prompt\":\"a\"}"});
    QCOMPARE(content.records[0].task, std::string("Notes"));
    QCOMPARE(content.records[0].id, std::string("Notes"));
    QCOMPARE(readContent(m_folder.write("empty.md", "\n \n")).records.size(), std::size_t(0));
    const Content wrong = readContent(m_folder.write("wrong.md", "one\ncaf\xE9\nthree\n"));
    QCOMPARE(wrong.records.size(), std::size_t(0));
    QCOMPARE(wrong.badLines.size(), std::size_t(1));
    QCOMPARE(wrong.badLines[0].line, std::int64_t(2));
    const Content large = readContent(m_folder.write(
        "large.md", std::string(9'000'000, 'x') + "\n" + std::string(9'000'000, 'y')));
    QCOMPARE(large.records.size(), std::size_t(0));
    QVERIFY(large.badLines.at(0).message.find("16000000 bytes") != std::string::npos);
}

void DataStreamTest::aStopEndsTheReading() {
    const auto path = m_folder.write("a.jsonl", line(std::string(200'000, 'x')) + "\n" + line("b"));
    std::stop_source source;
    auto stream = DataStream::open(path, {.stop = source.get_token()});
    QVERIFY(stream);
    source.request_stop();
    const auto item = stream.value().next();
    QVERIFY(!item);
    QVERIFY(item.error().code == ErrorCode::Cancelled);
}

void DataStreamTest::filesThatCannotBeReadAreErrors() {
    QVERIFY(DataStream::open(m_folder.path() / "none").error().code == ErrorCode::NotFound);
    QVERIFY(!DataStream::open(m_folder.path()));
    const auto path = m_folder.write("cut.jsonl", line(std::string(300'000, 'x')) + "\n");
    auto stream = DataStream::open(path);
    QVERIFY(stream);
    std::filesystem::resize_file(path, 100'000);
    const auto item = stream.value().next();
    QVERIFY(!item);
    QVERIFY(item.error().message.find("cut short") != std::string::npos);
}

void DataStreamTest::damagedFilesNeverCrash() {
    const std::string good = line("one") + "\r\n" + line("tw\xC3\xB6") + "\n";
    std::size_t badLines = 0;
    test_support::forEachFlip(good, 1000, 3, [&](const std::string& bytes, std::size_t) {
        const auto path = m_folder.write("a.jsonl", bytes);
        if (DataStream::open(path))
            badLines += readContent(path).badLines.size();
    });
    QVERIFY(badLines > 200);
}

void DataStreamTest::theSharedFilesAreWithoutFault_data() {
    QTest::addColumn<int>("count");
    QTest::newRow("code") << 200;
    QTest::newRow("instruction_following") << 200;
    QTest::newRow("long_context_qa") << 54;
    QTest::newRow("math_reasoning") << 200;
    QTest::newRow("multi_turn_chat") << 200;
    QTest::newRow("question_answering") << 200;
    QTest::newRow("story") << 200;
    QTest::newRow("summarization") << 200;
    QTest::newRow("translation") << 200;
}

void DataStreamTest::theSharedFilesAreWithoutFault() {
    QFETCH(const int, count);
    const std::string task = QTest::currentDataTag();
    const std::filesystem::path path = SWIFT_STUDIO_SHARED_DIR "/data/" + task + ".jsonl";
    if (!std::filesystem::exists(path))
        QSKIP("the shared data does not lie beside the checkout");
    const Content content = readContent(path);
    QCOMPARE(content.badLines.size(), std::size_t(0));
    QCOMPARE(content.records.size(), static_cast<std::size_t>(count));
    QSet<QString> ids;
    bool hasTurns = false;
    for (const DataRecord& record : content.records) {
        QCOMPARE(record.task, task);
        ids.insert(QString::fromStdString(record.id));
        hasTurns = hasTurns || record.turns.size() > 1;
    }
    QCOMPARE(ids.size(), static_cast<qsizetype>(count));
    QCOMPARE(hasTurns, task == "multi_turn_chat");
}

QTEST_APPLESS_MAIN(DataStreamTest)
#include "data_stream_test.moc"
