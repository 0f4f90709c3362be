// SPDX-License-Identifier: Apache-2.0
// Tables of comma- and tab-separated values, as RFC 4180 has them.
#include "tests/engine/experiments/data/read_content.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using test_support::Content;
using test_support::promptsOf;
using test_support::readContent;

class DataTablesTest : public QObject {
    Q_OBJECT

private slots:
    void columnsAreFoundByTheirNames();
    void namesOfColumnsMayHaveSpaceAroundThem();
    void aColumnThatIsThereTwiceIsTold();
    void quotedCellsHoldAnything();
    void theSeparatorIsFoundOut_data();
    void theSeparatorIsFoundOut();
    void theSeparatorCanBeGiven();
    void aTableWithoutAHeaderHasNumberedColumns();
    void wrongRowsAreNamedAndTheRestGoesOn_data();
    void wrongRowsAreNamedAndTheRestGoesOn();
    void aQuoteThatIsNeverClosedCostsOneRow();
    void manyOpenQuotesAreReadInTime();
    void overlongRowsAreSkipped();
    void aMissingColumnIsOneError();
    void emptyTablesHaveNoRecords();
    void damagedTablesNeverCrash();

private:
    test_support::TemporaryFolder m_folder;
};

void DataTablesTest::columnsAreFoundByTheirNames() {
    const Content content = readContent(
        m_folder.write("Colours.CSV",
                       "\xEF\xBB\xBFid,entry_point,task,prompt,test,reference\r\n"
                       "a7,f,code,Name a colour.,check,blue\r\n\r\n,,,Name two.,, \r\n"));
    QCOMPARE(content.badLines.size(), std::size_t(0));
    QCOMPARE(promptsOf(content), (QStringList{"Name a colour.", "Name two."}));
    const DataRecord& full = content.records[0];
    QCOMPARE(full.line, std::int64_t(2));
    QCOMPARE(full.task, std::string("code"));
    QCOMPARE(full.id, std::string("a7"));
    QVERIFY(full.references == std::vector<std::string>{"blue"});
    QCOMPARE(full.test, std::string("check"));
    QCOMPARE(full.entryPoint, std::string("f"));
    const DataRecord& bare = content.records[1];
    QCOMPARE(bare.line, std::int64_t(4));
    QCOMPARE(bare.task, std::string("Colours"));
    QCOMPARE(bare.id, std::string("4"));
    QVERIFY(bare.references.empty() && bare.test.empty() && bare.entryPoint.empty());
}

void DataTablesTest::namesOfColumnsMayHaveSpaceAroundThem() {
    const Content content = readContent(m_folder.write("a.csv", "prompt , task\n one,t\n"));
    QCOMPARE(promptsOf(content), QStringList{" one"});
    QCOMPARE(content.records[0].task, std::string("t"));
}

void DataTablesTest::aColumnThatIsThereTwiceIsTold() {
    const auto remarkOf = [this](const char* bytes) {
        const auto stream = DataStream::open(m_folder.write("a.csv", bytes));
        return QString::fromStdString(stream.value().remark());
    };
    QVERIFY(remarkOf("prompt,x,x\none,1,2\n").isEmpty()); // nobody reads it
    QVERIFY(remarkOf("prompt,task,task\none,1,2\n").contains("several columns \"task\""));
}

void DataTablesTest::quotedCellsHoldAnything() {
    const Content content = readContent(m_folder.write("a.csv",
                                                       "prompt,task\n"
                                                       "\"a, \"\"b\"\"\r\nc\n\n d\",\"t\"\n"
                                                       "\"\"\"\",u\n"
                                                       "How long is 5\" in cm?,v\n"
                                                       "last,\"\""));
    QCOMPARE(content.badLines.size(), std::size_t(0));
    QCOMPARE(promptsOf(content),
             (QStringList{"a, \"b\"\nc\n\n d", "\"", "How long is 5\" in cm?", "last"}));
    QCOMPARE(content.records[0].task, std::string("t"));
    QCOMPARE(content.records[1].line, std::int64_t(6));
    QCOMPARE(content.records[3].task, std::string("a"));
}

void DataTablesTest::theSeparatorIsFoundOut_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("comma") << "a.csv" << QByteArray("task,prompt\nt,one; or| two\n");
    QTest::newRow("semicolon") << "a.csv"
                               << QByteArray("task;prompt\nt;one, or| two\nt;a, b\nt;c, d\n");
    QTest::newRow("bar") << "a.csv" << QByteArray("task|prompt\nt|one; two\n");
    QTest::newRow("tab in a .csv") << "a.csv" << QByteArray("task\tprompt\nt\tone, two\n");
    QTest::newRow("tab") << "a.tsv" << QByteArray("task,no\tprompt\ttask\n1\tone, two\tt\n");
    QTest::newRow(".tab") << "a.tab" << QByteArray("prompt\ttask\none\tt\n");
    QTest::newRow("more columns in quotes")
        << "a.csv" << QByteArray("\"x;y;z\",prompt,task\n\"1;2;3\",one,t\n");
}

void DataTablesTest::theSeparatorIsFoundOut() {
    QFETCH(const QString, name);
    QFETCH(const QByteArray, bytes);
    const Content content = readContent(m_folder.write(name.toStdString(), bytes.toStdString()));
    QVERIFY2(content.badLines.empty(), QTest::currentDataTag());
    QVERIFY(!content.records.empty());
    QCOMPARE(content.records[0].task, std::string("t"));
    QVERIFY(content.records[0].turns[0].starts_with("one"));
}

void DataTablesTest::theSeparatorCanBeGiven() {
    const auto path = m_folder.write("a.csv", "prompt:b,c\none:2,3\n");
    DataLayout layout;
    layout.separator = ':';
    QCOMPARE(promptsOf(readContent(path, {.layout = layout})), QStringList{"one"});
    QVERIFY(!DataStream::open(path));
}

void DataTablesTest::aTableWithoutAHeaderHasNumberedColumns() {
    DataLayout layout;
    layout.hasHeader = false;
    layout.prompt = "2";
    layout.task = "1";
    const Content content =
        readContent(m_folder.write("a.csv", "t,one\nu,two\n"), {.layout = layout});
    QCOMPARE(promptsOf(content), (QStringList{"one", "two"}));
    QCOMPARE(content.records[0].task, std::string("t"));
    QCOMPARE(content.records[0].line, std::int64_t(1));
    layout.prompt = "3";
    QVERIFY(!DataStream::open(m_folder.write("b.csv", "t,one\n"), {.layout = layout}));
}

void DataTablesTest::wrongRowsAreNamedAndTheRestGoesOn_data() {
    QTest::addColumn<QByteArray>("bad");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("text behind a quote") << QByteArray("\"two\" or,t") << QByteArray("quote");
    QTest::newRow("space behind a quote") << QByteArray("\"two\" ,t") << QByteArray("quote");
    QTest::newRow("a cell is missing") << QByteArray("two") << QByteArray("has 1 cell,");
    QTest::newRow("a cell too many") << QByteArray("two,t,u") << QByteArray("has 3 cells");
    QTest::newRow("empty prompt") << QByteArray(" ,t") << QByteArray("\"prompt\" is empty");
    QTest::newRow("encoding") << QByteArray("caf\xE9,t") << QByteArray("not valid UTF-8");
    QTest::newRow("encoding in quotes")
        << QByteArray("\"caf\xE9\",t") << QByteArray("not valid UTF-8");
    QTest::newRow("cells") << QByteArray(20'000, ',') << QByteArray("more than 10000 cells");
}

void DataTablesTest::wrongRowsAreNamedAndTheRestGoesOn() {
    QFETCH(const QByteArray, bad);
    QFETCH(const QByteArray, words);
    const Content content = readContent(m_folder.write(
        "a.csv", "prompt,task\none,t\n" + bad.toStdString() + "\n\"three\nlines\",t\n"));
    QCOMPARE(promptsOf(content), (QStringList{"one", "three\nlines"}));
    QCOMPARE(content.badLines.size(), std::size_t(1));
    QCOMPARE(content.badLines[0].line, std::int64_t(3));
    const QByteArray message = QByteArray::fromStdString(content.badLines[0].message);
    QVERIFY2(message.startsWith("line 3: ") && message.contains(words), message.constData());
}

void DataTablesTest::aQuoteThatIsNeverClosedCostsOneRow() {
    for (const char* behind : {"two,t\nthree,t\n", "two,t\n\"three\",t\n"}) {
        const Content content =
            readContent(m_folder.write("a.csv", std::string("prompt,task\n\"one,t\n") + behind));
        QCOMPARE(promptsOf(content), (QStringList{"two", "three"}));
        QCOMPARE(content.records[1].line, std::int64_t(4));
        QCOMPARE(content.badLines.size(), std::size_t(1));
        QCOMPARE(content.badLines[0].line, std::int64_t(2));
        QVERIFY(content.badLines[0].message.find("quote") != std::string::npos);
        const bool hasQuote = std::string_view(behind).find('"') != std::string_view::npos;
        QCOMPARE(content.badLines[0].message.find("(line 4, ") != std::string::npos, hasQuote);
    }
}

/// If each of them were searched for its end up to the end of the file, this would take hours.
void DataTablesTest::manyOpenQuotesAreReadInTime() {
    std::string bytes = "prompt\n";
    for (int i = 0; i < 20'000; ++i)
        bytes += "\"open\n" + std::string(100, 'x') + "\n";
    const Content content = readContent(m_folder.write("a.csv", bytes));
    QCOMPARE(content.records.size(), std::size_t(20'000));
    QCOMPARE(content.badLines.size(), std::size_t(20'000));
}

void DataTablesTest::overlongRowsAreSkipped() {
    const std::string lines = std::string(999'999, 'x') + "\n";
    std::string row = "\"";
    for (int i = 0; i < 17; ++i)
        row += lines;
    const Content content = readContent(m_folder.write(
        "a.csv", "prompt,task\n" + std::string(16'000'001, 'y') + ",t\n" + row + "\",t\nlast,t\n"));
    QCOMPARE(content.badLines.at(0).line, std::int64_t(2));
    QVERIFY(content.badLines[0].message.find("16000000 bytes") != std::string::npos);
    QCOMPARE(content.badLines.at(1).line, std::int64_t(3));
    QVERIFY(content.badLines[1].message.find("16000000 bytes") != std::string::npos);
    QCOMPARE(promptsOf(content), QStringList{"last"});
}

void DataTablesTest::aMissingColumnIsOneError() {
    const auto stream =
        DataStream::open(m_folder.write("a.csv", "question,answer\nWhy?,Because.\n"));
    QVERIFY(!stream);
    QVERIFY(stream.error().code == ErrorCode::InvalidInput);
    QVERIFY(stream.error().message.find("has no column \"prompt\"; its columns are \"question\", "
                                        "\"answer\"") != std::string::npos);
    QVERIFY(stream.error().hint.find("--text-field \"question\"") != std::string::npos);
    const auto wrong = DataStream::open(m_folder.write("b.csv", "\"prompt\"s,task\na,b\n"));
    QVERIFY(!wrong);
    QVERIFY(wrong.error().message.find("line 1") != std::string::npos);
}

void DataTablesTest::emptyTablesHaveNoRecords() {
    for (const char* bytes : {"", "\n\n", "prompt,task\n", "prompt,task"}) {
        const Content content = readContent(m_folder.write("a.csv", bytes));
        QVERIFY(content.records.empty() && content.badLines.empty());
    }
}

void DataTablesTest::damagedTablesNeverCrash() {
    const std::string good = "prompt,task\r\n\"o \"\"n\"\"\r\ne\",\"t\"\ntw\xC3\xB6,\"t\"\n";
    std::size_t badLines = 0;
    test_support::forEachFlip(good, 1000, 3, [&](const std::string& bytes, std::size_t) {
        const auto path = m_folder.write("a.csv", bytes);
        if (DataStream::open(path))
            badLines += readContent(path).badLines.size();
    });
    QVERIFY(badLines > 100);
}

QTEST_APPLESS_MAIN(DataTablesTest)
#include "data_tables_test.moc"
