// SPDX-License-Identifier: Apache-2.0
// Which prompts a run uses, from files and folders.
#include "engine/experiments/data/prompt_set.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <unistd.h>

using namespace engine;

namespace {

QStringList textsOf(const std::vector<DataPrompt>& prompts) {
    QStringList texts;
    for (const DataPrompt& prompt : prompts)
        texts << QString::fromStdString(prompt.record.turns.front());
    return texts;
}

/// One JSON line for each letter: its task and its number within the task.
std::string linesOf(const std::string& tasks) {
    std::string lines;
    std::map<char, int> counts;
    for (const char task : tasks)
        lines +=
            fmt::format("{{\"task\":\"{}\",\"prompt\":\"{}{}\"}}\n", task, task, ++counts[task]);
    return lines;
}

/// As long as it lives, the process is a user who is not allowed everything.
class OrdinaryUser {
public:
    OrdinaryUser() {
        if (m_wasRoot)
            m_isOrdinary = ::seteuid(65534) == 0;
    }

    OrdinaryUser(const OrdinaryUser&) = delete;
    OrdinaryUser& operator=(const OrdinaryUser&) = delete;

    ~OrdinaryUser() {
        if (m_wasRoot && ::seteuid(0) != 0)
            qFatal("root cannot be made again");
    }

    bool isOrdinary() const { return m_isOrdinary; }

private:
    bool m_wasRoot = ::geteuid() == 0;
    bool m_isOrdinary = !m_wasRoot;
};

} // namespace

class PromptSetTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void filesComeInTheirOrder();
    void aFolderStandsForItsDataFiles();
    void documentsOfAFolderAreOneTask();
    void limitsTakeTheFirstPrompts_data();
    void limitsTakeTheFirstPrompts();
    void theOrderChangesNoPrompt();
    void aFieldThatTheUserNamesMustBeInOneOfTheFiles();
    void badLinesAreNamedUpToALimit();
    void aFaultyFileOfAFolderIsLeftOut();
    void anUnreadableFileOfAFolderIsLeftOut();
    void aFileThatShrinksKeepsItsPromptsSoFar();
    void aNamedFileThatFailsEndsIt_data();
    void aNamedFileThatFailsEndsIt();
    void lineOfTwoGigabytesIsOneBadLine();

private:
    /// Writes a file and returns its path.
    std::string write(const std::string& name, const std::string& bytes) {
        return m_folder->write(name, bytes).string();
    }

    std::string folder(const std::string& name) {
        std::filesystem::create_directory(m_folder->path() / name);
        return m_folder->path() / name;
    }

    Result<PromptSet> collect(const DataChoice& choice) {
        m_problems.clear();
        return collectPrompts(choice, [this](const DataProblem& problem) {
            m_problems << QString::fromStdString(problem.message);
        });
    }

    std::unique_ptr<test_support::TemporaryFolder> m_folder;
    QStringList m_problems;
};

void PromptSetTest::init() { m_folder = std::make_unique<test_support::TemporaryFolder>(); }

void PromptSetTest::filesComeInTheirOrder() {
    const std::string b = write("b.txt", "one\ntwo\n");
    const std::string a = write("a.csv", "prompt\nthree\n");
    const auto set = collect({.paths = {b, a}});
    QVERIFY(set);
    QCOMPARE(textsOf(set.value().prompts), (QStringList{"one", "two", "three"}));
    QCOMPARE(set.value().prompts[2].file, a);
    QCOMPARE(set.value().prompts[2].record.task, std::string("a"));
}

void PromptSetTest::aFolderStandsForItsDataFiles() {
    const std::string data = folder("data");
    write("data/b.jsonl", "{\"prompt\":\"json\"}\n");
    write("data/a.CSV", "prompt\ntable\n");
    write("data/c.txt", "text\n");
    write("data/README.md", "# About the data\n");
    write("data/.hidden.txt", "hidden\n");
    write("data/set.json", "{}");
    folder("data/more.txt");
    const auto set = collect({.paths = {data + "/"}});
    QVERIFY(set);
    QCOMPARE(textsOf(set.value().prompts), (QStringList{"table", "json", "text"}));
    QCOMPARE(set.value().prompts[0].record.task, std::string("a"));
    QVERIFY(m_problems.isEmpty());
}

void PromptSetTest::documentsOfAFolderAreOneTask() {
    const std::string data = folder("essays");
    write("essays/b.md", "# B\n\ntext\n");
    write("essays/a.markdown", "A");
    const auto set = collect({.paths = {data + "/"}});
    QVERIFY(set);
    QCOMPARE(textsOf(set.value().prompts), (QStringList{"A", "# B\n\ntext"}));
    QCOMPARE(set.value().prompts[0].record.task, std::string("essays"));
    QCOMPARE(set.value().prompts[1].record.id, std::string("b"));
}

void PromptSetTest::limitsTakeTheFirstPrompts_data() {
    QTest::addColumn<int>("perFile");
    QTest::addColumn<int>("perTask");
    QTest::addColumn<int>("total");
    QTest::addColumn<QString>("task");
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* name, int file, int task, int total, const QStringList& rest) {
        QTest::newRow(name) << file << task << total << "" << rest;
    };
    row("none", 0, 0, 0, {"a1", "a2", "a3", "b1", "b2", "c1", "a1", "a2"});
    row("of each file", 2, 0, 0, {"a1", "a2", "a1", "a2"});
    row("of each task", 0, 2, 0, {"a1", "a2", "b1", "b2", "c1"});
    row("in total", 0, 0, 4, {"a1", "a2", "b1", "c1"});
    row("more in total than there are", 0, 0, 99, {"a1", "a2", "a3", "b1", "b2", "c1", "a1", "a2"});
    row("of files and tasks", 5, 1, 0, {"a1", "b1"});
    row("of tasks and in total", 0, 2, 2, {"a1", "b1"});
    QTest::newRow("one task") << 0 << 0 << 1 << "b" << QStringList{"b1"};
}

void PromptSetTest::limitsTakeTheFirstPrompts() {
    QFETCH(const int, perFile);
    QFETCH(const int, perTask);
    QFETCH(const int, total);
    QFETCH(const QString, task);
    DataChoice choice = {.paths = {write("one.jsonl", linesOf("aaabbc"))}};
    if (task.isEmpty())
        choice.paths.push_back(write("two.jsonl", linesOf("aa")));
    else
        choice.onlyTask = task.toStdString();
    const auto given = [](int limit) {
        return limit > 0 ? std::optional<std::int64_t>(limit) : std::nullopt;
    };
    choice.limits = {given(perFile), given(perTask), given(total)};
    const auto set = collect(choice);
    QVERIFY(set);
    QTEST(textsOf(set.value().prompts), "expected");
    choice.limits.total = 0;
    QVERIFY(collect(choice).error().code == ErrorCode::InvalidInput);
}

void PromptSetTest::theOrderChangesNoPrompt() {
    DataChoice choice = {.paths = {write("a.jsonl", linesOf("abcabcabcabcabcabcabcabc"))}};
    choice.limits.total = 21;
    QStringList first = textsOf(collect(choice).value().prompts);
    std::sort(first.begin(), first.end());
    choice.order = DataOrder::ByTask;
    QCOMPARE(textsOf(collect(choice).value().prompts), first); // sorted by name is by task here
    for (const auto order : {DataOrder::Shuffled, DataOrder::Drift}) {
        choice.order = order;
        QStringList texts = textsOf(collect(choice).value().prompts);
        QVERIFY(texts != first);
        std::sort(texts.begin(), texts.end());
        QCOMPARE(texts, first);
    }
}

void PromptSetTest::aFieldThatTheUserNamesMustBeInOneOfTheFiles() {
    const std::string json =
        write("a.jsonl", "{\"prompt\":\"p\"}\n{\"prompt\":\"q\",\"category\":\"t\"}\n");
    const std::string table = write("b.csv", "prompt,category\np,t\n");
    const std::string text = write("c.txt", "p\n");
    const std::vector<std::vector<std::string>> cases = {{json}, {table}, {json, table}};
    DataChoice choice;
    for (const std::vector<std::string>& paths : cases) {
        choice.paths = paths;
        choice.layout.task = "categry";
        choice.layout.required = {"categry"};
        const auto wrong = collect(choice);
        QVERIFY(!wrong);
        QVERIFY(wrong.error().message.find("\"categry\"") != std::string::npos);
        QVERIFY(wrong.error().hint.find("\"prompt\", \"category\"") != std::string::npos);
        choice.layout.task = "category";
        choice.layout.required = {"category"};
        QVERIFY(collect(choice));
    }
    choice.paths = {text, table};
    QVERIFY(collect(choice));
    choice.paths = {text};
    QVERIFY(!collect(choice));
    choice.paths = {json};
    choice.limits.perFile = 1; // what is not read has it
    QVERIFY(!collect(choice));
}

void PromptSetTest::badLinesAreNamedUpToALimit() {
    const std::string file = write(
        "a.jsonl", linesOf("a") + std::string(50, '\n') + [] {
            std::string bad;
            for (int i = 0; i < 30; ++i)
                bad += "bad\n";
            return bad;
        }());
    const auto set = collect({.paths = {file}});
    QCOMPARE(set.value().badLines, std::int64_t(30));
    QCOMPARE(m_problems.size(), 21);
    QVERIFY(m_problems[0].startsWith("line 52: "));
    QCOMPARE(m_problems[20], QString::fromStdString(file) + ": 10 more invalid lines are skipped.");
    const auto limited = collect({.paths = {file}, .limits = {.perFile = 1}});
    QCOMPARE(limited.value().badLines, std::int64_t(0));
}

void PromptSetTest::aFaultyFileOfAFolderIsLeftOut() {
    const std::string data = folder("data");
    write("data/a.txt", std::string("\xFF\xFEt\0", 4));
    write("data/b.csv", "question\nwhy\n");
    write("data/c.jsonl", "bad\n");
    write("data/d.txt", "");
    const auto none = collect({.paths = {data}});
    QVERIFY(!none);
    QVERIFY(none.error().message.find("hold no prompts") != std::string::npos);
    write("data/e.txt", "one\n");
    const auto set = collect({.paths = {data}});
    QVERIFY(set);
    QCOMPARE(textsOf(set.value().prompts), QStringList{"one"});
    QCOMPARE(m_problems.size(), 3);
    QVERIFY(m_problems[0].contains("UTF-16"));
    QVERIFY(m_problems[1].contains("b.csv has no column"));
    QVERIFY(m_problems[2].startsWith("line 1: "));
}

void PromptSetTest::anUnreadableFileOfAFolderIsLeftOut() {
    const std::string data = folder("data");
    write("data/a.txt", "one\n");
    write("data/b.txt", "two\n");
    std::filesystem::permissions(data + "/a.txt", std::filesystem::perms::none);
    for (const std::string& place : {m_folder->path().string(), data})
        std::filesystem::permissions(place, std::filesystem::perms(0755));
    const OrdinaryUser user;
    if (!user.isOrdinary())
        QSKIP("Root may read everything, and no other user can be made here.");
    const auto set = collect({.paths = {data}});
    QVERIFY(set);
    QCOMPARE(textsOf(set.value().prompts), QStringList{"two"});
    QCOMPARE(m_problems.size(), 1);
    QVERIFY2(m_problems[0].contains("cannot be opened"), qPrintable(m_problems[0]));
    const auto named = collect({.paths = {data + "/a.txt"}});
    QVERIFY(!named);
    QVERIFY(named.error().message.find("cannot be opened") != std::string::npos);
}

void PromptSetTest::aFileThatShrinksKeepsItsPromptsSoFar() {
    const std::string data = folder("data");
    const std::string bytes =
        "one\ncaf\xE9\n" + std::string(300'000, 'x') + "\n" + std::string(300'000, 'y') + "\n";
    write("data/b.txt", "two\n");
    for (const bool isNamed : {false, true}) {
        const std::string file = write("data/a.txt", bytes);
        QStringList problems;
        const auto set =
            collectPrompts({.paths = {isNamed ? file : data}}, [&](const auto& problem) {
                problems << QString::fromStdString(problem.message);
                std::filesystem::resize_file(file, 200'000); // while it is read
            });
        QVERIFY(problems.at(0).startsWith("line 2: "));
        QCOMPARE(set.hasValue(), !isNamed);
        if (isNamed) {
            QVERIFY(set.error().message.find("cut short") != std::string::npos);
        } else {
            QCOMPARE(textsOf(set.value().prompts), (QStringList{"one", "two"}));
            QVERIFY(problems.at(1).contains("cut short"));
        }
    }
}

void PromptSetTest::aNamedFileThatFailsEndsIt_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QStringList>("named");
    QTest::newRow("empty") << "a.jsonl" << QByteArray() << QStringList{"a.jsonl", "it is empty"};
    QTest::newRow("an empty text")
        << "a.txt" << QByteArray() << QStringList{"it is empty", "Write a prompt in each line"};
    QTest::newRow("only a header") << "a.csv" << QByteArray("prompt,task\n")
                                   << QStringList{"it is empty", "below the row with the names"};
    QTest::newRow("only bad rows")
        << "a.csv" << QByteArray("prompt,task\none\n")
        << QStringList{"all 1 lines are invalid", "as many cells as the first line"};
    QTest::newRow("only bad lines")
        << "a.txt" << QByteArray("caf\xE9\n") << QStringList{"a.txt", "all 1 lines are invalid"};
    QTest::newRow("another field")
        << "a.jsonl" << QByteArray("{\"n\":1,\"q\":\"why\",\"r\":\"so\"}\n")
        << QStringList{"all 1 lines", "\"q\", \"r\"", "--text-field \"q\""};
    QTest::newRow("another task") << "a.jsonl" << QByteArray("{\"task\":\"b\",\"prompt\":\"p\"}")
                                  << QStringList{"no prompts of the task \"t\"", "tasks: b."};
    QTest::newRow("another column")
        << "a.csv" << QByteArray("q,r\n1,2\n") << QStringList{"no column \"prompt\""};
    QTest::newRow("no file") << "" << QByteArray() << QStringList{"does not exist"};
    QTest::newRow("a folder without data")
        << "empty/" << QByteArray() << QStringList{"holds no data", ".csv"};
}

void PromptSetTest::aNamedFileThatFailsEndsIt() {
    QFETCH(const QString, name);
    QFETCH(const QByteArray, bytes);
    QFETCH(const QStringList, named);
    std::string path = (m_folder->path() / "nothing").string();
    if (name.endsWith('/'))
        path = folder(name.chopped(1).toStdString());
    else if (!name.isEmpty())
        path = write(name.toStdString(), bytes.toStdString());
    DataChoice choice = {.paths = {write("good.txt", "good\n"), path}};
    if (QByteArray(QTest::currentDataTag()) == "another task") {
        choice.paths.erase(choice.paths.begin());
        choice.onlyTask = "t";
    }
    const auto set = collect(choice);
    QVERIFY(!set);
    const QString told = QString::fromStdString(set.error().message + " " + set.error().hint);
    for (const QString& part : named)
        QVERIFY2(told.contains(part), qPrintable(told));
}

void PromptSetTest::lineOfTwoGigabytesIsOneBadLine() {
    const std::string path = write("a.txt", "one\n");
    std::filesystem::resize_file(path, 2'000'000'000); // zeros that take no space
    std::ofstream(path, std::ios::app) << "\ntwo\n";
    const auto set = collect({.paths = {path}});
    QVERIFY(set);
    QCOMPARE(textsOf(set.value().prompts), (QStringList{"one", "two"}));
    QCOMPARE(m_problems, QStringList{"line 2: it has more than 16000000 bytes"});
}

QTEST_APPLESS_MAIN(PromptSetTest)
#include "prompt_set_test.moc"
