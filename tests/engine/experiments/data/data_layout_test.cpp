// SPDX-License-Identifier: Apache-2.0
// What is known of a file before a run: its fields, a proposed layout, and a preview.
#include "engine/experiments/data/data_preview.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

class DataLayoutTest : public QObject {
    Q_OBJECT

private slots:
    void theNameSaysTheFormat();
    void fieldsComeFromTheFirstRecords();
    void usualNamesAreProposed_data();
    void usualNamesAreProposed();
    void aProposalFitsTablesWithOtherSeparators();
    void aHeaderIsAsItIsSaid();
    void tasksCanBeOfAFieldAFileOrFixed();
    void aPreviewCountsTasksAndNamesBadLines();
    void aPreviewCutsLongTexts();
    void aPreviewGoesOnBehindFilesThatCannotBeRead();
    void aPreviewTellsItsProgressAndStops();

private:
    test_support::TemporaryFolder m_folder;
};

void DataLayoutTest::theNameSaysTheFormat() {
    QVERIFY(dataFormatOf("a.jsonl") == DataFormat::JsonLines);
    QVERIFY(dataFormatOf("data") == DataFormat::JsonLines);
    QVERIFY(dataFormatOf("a.b.TSV") == DataFormat::Table);
    QVERIFY(dataFormatOf("a.csv") == DataFormat::Table);
    QVERIFY(dataFormatOf("a.txt") == DataFormat::Lines);
    QVERIFY(dataFormatOf("a.md") == DataFormat::Document);
}

void DataLayoutTest::fieldsComeFromTheFirstRecords() {
    const auto fields = fieldsOf(m_folder.write("a.jsonl",
                                                "bad\n"
                                                R"({"n":1,"q":"one","turns":["a","bb"]})"
                                                "\n"
                                                R"({"q":"three","more":null,"z":"z"})"),
                                 {});
    QVERIFY(fields);
    QCOMPARE(fields.value().size(), std::size_t(4));
    QCOMPARE(fields.value()[0].name, std::string("n"));
    QVERIFY(!fields.value()[0].isText);
    QCOMPARE(fields.value()[1].name, std::string("q"));
    QVERIFY(fields.value()[1].isText);
    QCOMPARE(fields.value()[1].textBytes, std::int64_t(8));
    QCOMPARE(fields.value()[1].firstValue, std::string("one"));
    QCOMPARE(fields.value()[2].textBytes, std::int64_t(3));
    QCOMPARE(fields.value()[3].name, std::string("z"));
    const auto columns = fieldsOf(m_folder.write("a.csv", "q;;n\n\"o;ne\";x;2\n"), {});
    QVERIFY(columns);
    QCOMPARE(columns.value().size(), std::size_t(3));
    QCOMPARE(columns.value()[0].firstValue, std::string("o;ne"));
    QCOMPARE(columns.value()[1].name, std::string("2")); // it has no name
    QVERIFY(fieldsOf(m_folder.write("a.txt", "one\n"), {}).value().empty());
    QVERIFY(!fieldsOf(m_folder.path() / "none.csv", {}));
}

void DataLayoutTest::usualNamesAreProposed_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QStringList>("expected"); // prompt, task or nothing, id, reference
    const auto row = [](const char* tag,
                        const QString& name,
                        const QByteArray& bytes,
                        const QStringList& expected) {
        QTest::newRow(tag) << name << bytes << expected;
    };
    row("our own",
        "a.jsonl",
        R"({"task":"t","id":"1","prompt":"p","reference":"r"})",
        {"prompt", "task", "id", "reference"});
    row("questions",
        "a.jsonl",
        R"({"question":"q","answer":"a"})",
        {"question", "", "id", "answer"});
    row("turns",
        "a.jsonl",
        R"({"question_id":"81","category":"writing","turns":["a","b"]})",
        {"turns", "category", "question_id", "reference"});
    row("instructions",
        "a.csv",
        "Instruction,Input,Output\nDo.,x,Done.\n",
        {"Instruction", "", "id", "Output"});
    row("programs",
        "a.jsonl",
        R"({"task_id":"H/0","prompt":"def f():","canonical_solution":"x","test":"t"})",
        {"prompt", "", "task_id", "canonical_solution"});
    row("a number by that name",
        "a.jsonl",
        R"({"prompt":5,"question":"why?"})",
        {"question", "", "id", "reference"});
    row("the longest text",
        "a.csv",
        "kind,frage\nx,Warum ist das so?\n",
        {"frage", "", "id", "reference"});
    row("no header", "a.csv", "Why is the sky blue?,1\nAnd now?,2\n", {"1", "", "id", "reference"});
    row("nothing", "a.jsonl", "", {"prompt", "", "id", "reference"});
    row("plain text", "a.txt", "question\n", {"prompt", "", "id", "reference"});
}

void DataLayoutTest::usualNamesAreProposed() {
    QFETCH(const QString, name);
    QFETCH(const QByteArray, bytes);
    QFETCH(const QStringList, expected);
    const auto layout = proposeLayout(m_folder.write(name.toStdString(), bytes.toStdString()));
    QVERIFY(layout);
    QCOMPARE(QString::fromStdString(layout.value().prompt), expected[0]);
    QCOMPARE(layout.value().taskSource == TaskSource::Field, !expected[1].isEmpty());
    if (!expected[1].isEmpty())
        QCOMPARE(QString::fromStdString(layout.value().task), expected[1]);
    QCOMPARE(QString::fromStdString(layout.value().id), expected[2]);
    QCOMPARE(QString::fromStdString(layout.value().reference), expected[3]);
    QCOMPARE(layout.value().hasHeader, QByteArray(QTest::currentDataTag()) != "no header");
}

void DataLayoutTest::aProposalFitsTablesWithOtherSeparators() {
    const std::string comma = m_folder.write("a.csv", "question,category\nWhy?,x\n").string();
    const std::string semicolon = m_folder.write("b.csv", "question;category\nHow?;y\n").string();
    const std::string tab = m_folder.write("c.tsv", "question\tcategory\nWhen?\tz\n").string();
    const auto layout = proposeLayout(comma);
    QVERIFY(layout);
    const auto preview = previewData({comma, semicolon, tab}, layout.value());
    QVERIFY(preview);
    QVERIFY2(preview.value().problems.empty(), "a file is left out");
    QCOMPARE(preview.value().prompts, std::int64_t(3));
    QCOMPARE(preview.value().tasks.size(), std::size_t(3));
}

void DataLayoutTest::aHeaderIsAsItIsSaid() {
    const auto path = m_folder.write("a.csv", "question,2023\nWhy is that so?,Because.\n");
    QVERIFY(!proposeLayout(path).value().hasHeader); // a number looks like no name
    const auto named = proposeLayout(path, true);
    QVERIFY(named.value().hasHeader);
    QCOMPARE(named.value().prompt, std::string("question"));
    const auto texts = m_folder.write("b.csv", "Why?,Because.\nWhen is it time?,Now.\n");
    QVERIFY(proposeLayout(texts).value().hasHeader); // short texts look like names
    const auto plain = proposeLayout(texts, false);
    QVERIFY(!plain.value().hasHeader);
    QCOMPARE(plain.value().prompt, std::string("1"));
    QCOMPARE(previewData({texts.string()}, plain.value()).value().prompts, std::int64_t(2));
}

void DataLayoutTest::tasksCanBeOfAFieldAFileOrFixed() {
    const std::string json = m_folder.write("j.jsonl", R"({"prompt":"a","task":"t"})").string();
    const std::string table = m_folder.write("c.csv", "prompt,task\na,t\n").string();
    const std::string text = m_folder.write("x.txt", "a\n").string();
    const auto tasksUnder = [&](TaskSource source) {
        DataLayout layout;
        layout.taskSource = source;
        if (source == TaskSource::Fixed)
            layout.task = "mine";
        QStringList tasks;
        const auto preview = previewData({json, table, text}, layout);
        for (const auto& [task, count] : preview.value().tasks)
            tasks << QStringLiteral("%1 %2").arg(QString::fromStdString(task)).arg(count);
        return tasks;
    };
    QCOMPARE(tasksUnder(TaskSource::Field), (QStringList{"t 2", "x 1"}));
    QCOMPARE(tasksUnder(TaskSource::File), (QStringList{"j 1", "c 1", "x 1"}));
    QCOMPARE(tasksUnder(TaskSource::Fixed), QStringList{"mine 3"});
}

void DataLayoutTest::aPreviewCountsTasksAndNamesBadLines() {
    std::string lines = "bad\n";
    for (int i = 0; i < 50; ++i)
        lines += R"({"prompt":"p","task":"x"})"
                 "\n{\"prompt\":\"\"}\n";
    const std::string file = m_folder.write("a.jsonl", lines).string();
    const auto preview = previewData({file}, {}, {.firstPrompts = 3});
    QVERIFY(preview);
    QCOMPARE(preview.value().prompts, std::int64_t(50));
    QCOMPARE(preview.value().badLines, std::int64_t(51));
    QCOMPARE(preview.value().first.size(), std::size_t(3));
    QCOMPARE(preview.value().first[2].record.line, std::int64_t(6));
    QCOMPARE(preview.value().first[2].file, file);
    QCOMPARE(preview.value().fields.size(), std::size_t(2));
    QCOMPARE(preview.value().problems.size(), std::size_t(kMaxProblemsOfFile));
    QCOMPARE(preview.value().problems[1].line, std::int64_t(3));
    QVERIFY(preview.value().problems[1].message.starts_with("line 3: "));
    QCOMPARE(preview.value().part, 1.0);
    std::string tasks;
    for (int i = 0; i < 1100; ++i)
        tasks += "{\"prompt\":\"p\",\"task\":\"" + std::to_string(i) + "\"}\n";
    const auto many = previewData({m_folder.write("many.jsonl", tasks).string()}, {});
    QCOMPARE(many.value().tasks.size(), kMaxPreviewTasks);
    QVERIFY(many.value().hasMoreTasks);
    QCOMPARE(many.value().prompts, std::int64_t(1100));
}

void DataLayoutTest::aPreviewCutsLongTexts() {
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "\xC3\xB6";
    const std::string file = m_folder.write("a.txt", text).string();
    const auto preview = previewData({file}, {}, {.textBytes = 11});
    QCOMPARE(QString::fromStdString(preview.value().first.at(0).record.turns[0]),
             QString::fromUtf8("\xC3\xB6").repeated(5) + "...");
}

void DataLayoutTest::aPreviewGoesOnBehindFilesThatCannotBeRead() {
    const std::string folder = m_folder.path() / "folder";
    std::filesystem::create_directory(folder);
    m_folder.write("folder/a.jsonl", "{\"prompt\":\"one\"}\n");
    m_folder.write("folder/b.csv", "question\nwhy\n");
    m_folder.write("folder/c.txt", std::string("\xFF\xFEt\0", 4));
    m_folder.write("folder/d.txt", "two\n");
    const auto preview = previewData({folder}, {});
    QVERIFY(preview);
    QCOMPARE(preview.value().files, std::int64_t(4));
    QCOMPARE(preview.value().prompts, std::int64_t(2));
    QCOMPARE(preview.value().problems.size(), std::size_t(2));
    QVERIFY(preview.value().problems[0].message.find("no column") != std::string::npos);
    QCOMPARE(preview.value().problems[0].line, std::int64_t(0));
    QVERIFY(preview.value().problems[1].message.find("UTF-16") != std::string::npos);
    QVERIFY(previewData({"nowhere.jsonl"}, {}).error().code == ErrorCode::NotFound);
}

void DataLayoutTest::aPreviewTellsItsProgressAndStops() {
    const std::string line = "{\"prompt\":\"" + std::string(100'000, 'x') + "\"}\n";
    std::string lines;
    for (int i = 0; i < 120; ++i)
        lines += line;
    const std::string file = m_folder.write("a.jsonl", lines).string();
    std::vector<double> parts;
    std::stop_source source;
    const PreviewOptions options = {.firstPrompts = 5, .onProgress = [&](const DataPreview& so) {
                                        parts.push_back(so.part);
                                        if (so.prompts > 60)
                                            source.request_stop();
                                    }};
    const auto stopped = previewData({file}, {}, options, source.get_token());
    QVERIFY(!stopped);
    QVERIFY(stopped.error().code == ErrorCode::Cancelled);
    QVERIFY(parts.size() >= 2 && parts.size() <= 4);
    QVERIFY(parts[0] > 0.0 && parts[0] < 0.1); // the first prompts are told at once
    QVERIFY(parts.back() > 0.5 && parts.back() < 1.0);
}

QTEST_APPLESS_MAIN(DataLayoutTest)
#include "data_layout_test.moc"
