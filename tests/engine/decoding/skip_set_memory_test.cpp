// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/loading/files/byte_reader.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <limits>
#include <thread>

using namespace engine;

namespace {

const std::string kModel = "0123456789abcdef0123456789abcdef";
constexpr int kLayers = 12;

StoredSkipSet storedSet(std::int64_t savedAt, double score = 0.75) {
    return {.set = {{1, 3}, {11}},
            .score = score,
            .skipRatio = 0.45,
            .decoder = "swift",
            .savedAt = savedAt,
            .trials = 120};
}

SkipSetMemory memoryIn(const test_support::TemporaryFolder& folder) {
    return {folder.path(), kModel, kLayers};
}

/// Writes the model's file by hand.
void writeMemory(const test_support::TemporaryFolder& folder, const std::string& bytes) {
    std::filesystem::create_directories(folder.path() / "skip-sets");
    QVERIFY(!folder.write("skip-sets/" + kModel + ".json", bytes).empty());
}

std::string contentOf(const std::filesystem::path& path) {
    const auto text = readTextFile(path, 100'000'000);
    return text ? text.value() : "unreadable: " + text.error().message;
}

QStringList filesIn(const std::filesystem::path& folder) {
    QStringList names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names << QString::fromStdString(entry.path().filename().string());
    names.sort();
    return names;
}

bool mentions(const Error& error, const std::string& words) {
    return (error.message + " " + error.hint).find(words) != std::string::npos;
}

/// A variable of the environment with another value while this lives.
class EnvironmentValue {
public:
    EnvironmentValue(const char* name, const QByteArray& value)
        : m_name(name)
        , m_wasSet(qEnvironmentVariableIsSet(name))
        , m_before(qgetenv(name)) {
        qputenv(name, value);
    }

    EnvironmentValue(const EnvironmentValue&) = delete;
    EnvironmentValue& operator=(const EnvironmentValue&) = delete;

    ~EnvironmentValue() {
        if (m_wasSet)
            qputenv(m_name, m_before);
        else
            qunsetenv(m_name);
    }

private:
    const char* m_name;
    bool m_wasSet;
    QByteArray m_before;
};

} // namespace

class SkipSetMemoryTest : public QObject {
    Q_OBJECT

private slots:
    void nothingStoredIsNoError();
    void anyTaskNameIsOnlyAKey();
    void storingAgainReplacesThatTaskOnly();
    void theNewestOfAnyTaskIsTheLast();
    void modelsDoNotMix();
    void extremeNumbersComeBack();
    void setsOfAnotherModelAreNotStored();
    void namesThatCannotBeWrittenAreRefused();
    void brokenFilesAreErrorsAndStay_data();
    void brokenFilesAreErrorsAndStay();
    void anEntryThatCannotBeUsedCostsOnlyItself_data();
    void anEntryThatCannotBeUsedCostsOnlyItself();
    void ofATaskThatIsThereTwiceTheFirstSetCounts();
    void severalSetsAreStoredTogetherOrNotAtAll();
    void aBrokenFileIsSetAsideNotOverwritten();
    void aFolderInTheWayIsNotSetAside();
    void aFullMemoryKeepsWhatItHas();
    void damagedFilesNeverCrash();
    void hugeFilesAreRefusedUnread();
    void aFolderThatCannotBeMadeIsAnError();
    void writersAtOnceLeaveWholeSets();
    void writersOfOneTaskEachLoseNothing();
    void theDataFolderFollowsTheEnvironment();
};

void SkipSetMemoryTest::nothingStoredIsNoError() {
    const test_support::TemporaryFolder folder;
    const SkipSetMemory memory = memoryIn(folder);
    QVERIFY(!memory.find("code").value());
    QVERIFY(!memory.last().value());
    QVERIFY(memory.all().value().sets.empty());
    QVERIFY(filesIn(folder.path()).isEmpty());
}

void SkipSetMemoryTest::anyTaskNameIsOnlyAKey() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    const std::vector<std::string> names = {"",
                                            "../x",
                                            "/etc/passwd",
                                            "code",
                                            "a\"b\\c\n",
                                            std::string("nul\0nul", 7),
                                            "\xE6\x97\xA5\xE6\x9C\xAC",
                                            std::string(4096, 'x')};
    for (std::size_t i = 0; i < names.size(); ++i)
        QVERIFY(memory.store(names[i], storedSet(static_cast<std::int64_t>(i))).value().empty());
    for (std::size_t i = 0; i < names.size(); ++i)
        QVERIFY(memoryIn(folder).find(names[i]).value() == storedSet(static_cast<std::int64_t>(i)));
    QCOMPARE(memory.all().value().sets.size(), names.size());
    QCOMPARE(filesIn(folder.path()), QStringList{"skip-sets"});
    QCOMPARE(filesIn(folder.path() / "skip-sets"),
             (QStringList{QString::fromStdString(kModel) + ".json",
                          QString::fromStdString(kModel) + ".lock"}));
}

void SkipSetMemoryTest::storingAgainReplacesThatTaskOnly() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.store("code", storedSet(1)));
    QVERIFY(memory.store("story", storedSet(2)));
    StoredSkipSet better = storedSet(3, 0.9);
    better.set = {{}, {2}};
    QVERIFY(memory.store("code", better));
    QVERIFY(memory.find("code").value() == better);
    QVERIFY(memory.find("story").value() == storedSet(2));
    QVERIFY(!memory.find("math").value());
}

void SkipSetMemoryTest::theNewestOfAnyTaskIsTheLast() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.store("z", storedSet(100)));
    QVERIFY(memory.store("b", storedSet(300, 0.5)));
    QVERIFY(memory.store("a", storedSet(300, 0.6)));
    QVERIFY(memory.store("y", storedSet(200)));
    QVERIFY(memory.last().value() == storedSet(300, 0.6));
}

void SkipSetMemoryTest::modelsDoNotMix() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    SkipSetMemory other(folder.path(), "00ff", kLayers);
    QVERIFY(memory.store("code", storedSet(1)));
    QVERIFY(!other.find("code").value());
    QVERIFY(other.store("code", storedSet(2)));
    QVERIFY(memory.find("code").value() == storedSet(1));
}

void SkipSetMemoryTest::extremeNumbersComeBack() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    const StoredSkipSet extreme = {.set = {},
                                   .score = -1e300,
                                   .skipRatio = 0.1 + 0.2,
                                   .decoder = "a\"\xC3\xA9",
                                   .savedAt = std::numeric_limits<std::int64_t>::max(),
                                   .trials = std::numeric_limits<int>::max()};
    QVERIFY(memory.store("x", extreme));
    QVERIFY(memory.find("x").value() == extreme);
    StoredSkipSet whole;
    whole.score = 1.0;
    whole.skipRatio = 1.0;
    whole.savedAt = -5;
    QVERIFY(memory.store("x", whole));
    QVERIFY(memory.find("x").value() == whole);
}

void SkipSetMemoryTest::setsOfAnotherModelAreNotStored() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.store("code", storedSet(1)));
    StoredSkipSet tooDeep = storedSet(2);
    tooDeep.set.mlp = {12};
    const auto result = memory.store("code", tooDeep);
    QVERIFY(!result);
    QVERIFY(result.error().code == ErrorCode::InvalidInput);
    QVERIFY(mentions(result.error(), "mlp layer 12"));
    QVERIFY(memory.find("code").value() == storedSet(1));
}

void SkipSetMemoryTest::namesThatCannotBeWrittenAreRefused() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    for (const std::string& name : {std::string("caf\xE9"), std::string(4097, 'x')}) {
        const auto result = memory.store(name, storedSet(1));
        QVERIFY(!result);
        QVERIFY(result.error().code == ErrorCode::InvalidInput);
    }
    QVERIFY(filesIn(folder.path()).isEmpty());
}

void SkipSetMemoryTest::brokenFilesAreErrorsAndStay_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const QString& text, const char* words) {
        QTest::newRow(name) << text << words;
    };
    row("empty", "", "byte");
    row("no JSON", "{\"format\":1,", "byte");
    row("no memory", "{}", "no memory of skip sets");
    row("a list", "[]", "no memory of skip sets");
    row("later", R"({"format":2})", "later version");
    row("other layers", R"({"format":1,"layers":32,"tasks":{}})", "32 layers");
    row("no layers", R"({"format":1,"tasks":{}})", "no number of layers");
    row("no tasks", R"({"format":1,"layers":12})", "no list of tasks");
    row("infinite score",
        R"({"format":1,"layers":12,"tasks":{"code":{"mlp":[1],"score":1e999}}})",
        "byte");
}

void SkipSetMemoryTest::anEntryThatCannotBeUsedCostsOnlyItself_data() {
    QTest::addColumn<QString>("entry");
    QTest::addColumn<QString>("words");
    const QString entry = R"({"attention":[1],"mlp":[],)"
                          R"("score":%1,"skip_ratio":%2,"decoder":%3,"saved_at":%4,"trials":%5})";
    const auto row = [](const char* name, const QString& text, const char* words) {
        QTest::newRow(name) << text << words;
    };
    row("no set", "{}", "task \"code\"");
    row("beyond the model", R"({"mlp":[12]})", "mlp layer 12");
    row("score", entry.arg("\"x\"", "0.4", "\"d\"", "1", "1"), "task \"code\"");
    row("skip ratio", entry.arg("0.5", "1.5", "\"d\"", "1", "1"), "task \"code\"");
    row("decoder", entry.arg("0.5", "0.4", "7", "1", "1"), "task \"code\"");
    row("saved at", entry.arg("0.5", "0.4", "\"d\"", "1.5", "1"), "task \"code\"");
    row("trials", entry.arg("0.5", "0.4", "\"d\"", "1", "-1"), "task \"code\"");
}

void SkipSetMemoryTest::anEntryThatCannotBeUsedCostsOnlyItself() {
    QFETCH(const QString, entry);
    QFETCH(const QString, words);
    const std::string good =
        R"({"mlp":[1],"score":1,"skip_ratio":0,"decoder":"","saved_at":1,"trials":1})";
    const test_support::TemporaryFolder folder;
    const std::string text =
        fmt::format(R"({{"format":1,"layers":12,"tasks":{{"code":{},"story":{}}}}})",
                    entry.toStdString(),
                    good);
    writeMemory(folder, text);
    SkipSetMemory memory = memoryIn(folder);
    const auto found = memory.find("code");
    QVERIFY(!found);
    QVERIFY2(mentions(found.error(), words.toStdString()), found.error().message.c_str());
    QVERIFY(mentions(found.error(), kModel + ".json"));
    QVERIFY(memory.find("story").value());
    QVERIFY(memory.last().value());
    const auto all = memory.all();
    QCOMPARE(all.value().sets.size(), std::size_t(1));
    QCOMPARE(all.value().unusable.size(), std::size_t(1));
    QCOMPARE(contentOf(memory.path()), text);
    const auto note = memory.store("math", storedSet(2));
    QVERIFY2(note.value().find(".broken-1") != std::string::npos, note.value().c_str());
    QCOMPARE(contentOf(memory.path().string() + ".broken-1"), text);
    QCOMPARE(memory.all().value().sets.size(), std::size_t(2));
    QVERIFY(memory.all().value().unusable.empty());
}

void SkipSetMemoryTest::ofATaskThatIsThereTwiceTheFirstSetCounts() {
    const test_support::TemporaryFolder folder;
    const std::string one = R"("code":{"mlp":[%],"score":1,"skip_ratio":0,"decoder":"",)"
                            R"("saved_at":1,"trials":1})";
    std::string first = one;
    std::string second = one;
    first.replace(first.find('%'), 1, "1");
    second.replace(second.find('%'), 1, "2");
    writeMemory(folder, R"({"format":1,"layers":12,"tasks":{)" + first + "," + second + "}}");
    const auto all = memoryIn(folder).all();
    QCOMPARE(all.value().sets.at("code").set.mlp, std::vector<int>{1});
    QCOMPARE(all.value().unusable.size(), std::size_t(1));
    QVERIFY(mentions(all.value().unusable.front().second, "\"code\" is there twice"));
    QCOMPARE(memoryIn(folder).find("code").value()->set.mlp, std::vector<int>{1});
}

void SkipSetMemoryTest::severalSetsAreStoredTogetherOrNotAtAll() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    StoredSkipSet tooDeep = storedSet(2);
    tooDeep.set.mlp = {12};
    QVERIFY(!memory.store({{"code", storedSet(1)}, {"story", tooDeep}}));
    QVERIFY(memory.all().value().sets.empty());
    QVERIFY(memory.store({{"code", storedSet(1)}, {"story", storedSet(2)}}));
    QVERIFY(memory.store({{"code", storedSet(3)}}));
    QVERIFY(memory.find("code").value() == storedSet(3));
    QVERIFY(memory.find("story").value() == storedSet(2));
}

void SkipSetMemoryTest::brokenFilesAreErrorsAndStay() {
    QFETCH(const QString, text);
    QFETCH(const QString, words);
    const test_support::TemporaryFolder folder;
    writeMemory(folder, text.toStdString());
    const SkipSetMemory memory = memoryIn(folder);
    const auto found = memory.find("code");
    QVERIFY(!found);
    QVERIFY2(mentions(found.error(), words.toStdString()), found.error().message.c_str());
    QVERIFY(mentions(found.error(), kModel + ".json"));
    QVERIFY(!memory.last());
    QVERIFY(!memory.all());
    QCOMPARE(contentOf(memory.path()), text.toStdString());
}

void SkipSetMemoryTest::aBrokenFileIsSetAsideNotOverwritten() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    for (int number = 1; number <= 2; ++number) {
        const std::string broken = fmt::format("broken {}", number);
        writeMemory(folder, broken);
        const auto note = memory.store("code", storedSet(number));
        QVERIFY(note);
        const std::string aside = fmt::format("{}.json.broken-{}", kModel, number);
        QVERIFY2(note.value().find(aside) != std::string::npos, note.value().c_str());
        QCOMPARE(contentOf(folder.path() / "skip-sets" / aside), broken);
        QVERIFY(memory.find("code").value() == storedSet(number));
    }
    QCOMPARE(filesIn(folder.path() / "skip-sets").size(), 4); // with the lock
}

void SkipSetMemoryTest::aFolderInTheWayIsNotSetAside() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    std::filesystem::create_directories(memory.path());
    QVERIFY(!memory.find("code"));
    QVERIFY(!memory.store("code", storedSet(1)));
    QVERIFY(std::filesystem::is_directory(memory.path()));
}

void SkipSetMemoryTest::aFullMemoryKeepsWhatItHas() {
    const test_support::TemporaryFolder folder;
    std::string text = R"({"format":1,"layers":12,"tasks":{)";
    for (int task = 0; task < 10'000; ++task)
        text +=
            fmt::format(R"({}"{}":{{"mlp":[1],"score":1,"skip_ratio":0,"decoder":"","saved_at":1,)"
                        R"("trials":1}})",
                        task == 0 ? "" : ",",
                        task);
    writeMemory(folder, text + "}}");
    SkipSetMemory memory = memoryIn(folder);
    QCOMPARE(memory.all().value().sets.size(), std::size_t(10'000));
    const auto result = memory.store("one more", storedSet(1));
    QVERIFY(!result);
    QVERIFY(mentions(result.error(), "full"));
    QVERIFY(memory.store("77", storedSet(1)).value().empty());
    QCOMPARE(memory.all().value().sets.size(), std::size_t(10'000));
}

void SkipSetMemoryTest::damagedFilesNeverCrash() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.store("code", storedSet(1)));
    const std::string good = contentOf(memory.path());
    int refused = 0;
    const auto read = [&](const std::string& bytes, std::size_t) {
        writeMemory(folder, bytes);
        refused += memory.find("code") ? 0 : 1;
    };
    test_support::forEachCut(good.substr(0, good.size() - 1), read);
    QCOMPARE(refused, static_cast<int>(good.size()) - 1);
    test_support::forEachFlip(good, 1000, 5, read);
    QVERIFY(refused > static_cast<int>(good.size()) + 300);
}

void SkipSetMemoryTest::hugeFilesAreRefusedUnread() {
    const test_support::TemporaryFolder folder;
    writeMemory(folder, "{");
    SkipSetMemory memory = memoryIn(folder);
    std::filesystem::resize_file(memory.path(), 1'000'000'000'000);
    const auto found = memory.find("code");
    QVERIFY(!found);
    QVERIFY(mentions(found.error(), "1000000000000 bytes"));
    QVERIFY(!memory.store("code", storedSet(1)).value().empty());
    QVERIFY(memory.find("code").value() == storedSet(1));
}

void SkipSetMemoryTest::aFolderThatCannotBeMadeIsAnError() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.write("file", "x") / "below", kModel, kLayers);
    const auto result = memory.store("code", storedSet(1));
    QVERIFY(!result);
    QVERIFY(result.error().code == ErrorCode::Io);
    QVERIFY(mentions(result.error(), "SWIFT_STUDIO_DATA"));
}

void SkipSetMemoryTest::writersAtOnceLeaveWholeSets() {
    constexpr int kRounds = 20;
    const test_support::TemporaryFolder folder;
    int failures[2] = {0, 0};
    const auto storeMany = [&](std::size_t who) {
        SkipSetMemory memory = memoryIn(folder);
        const std::string task = who == 0 ? "code" : "story";
        for (int round = 1; round <= kRounds; ++round) {
            const auto note = memory.store(task, storedSet(round));
            failures[who] += note && note.value().empty() && memory.all() ? 0 : 1;
        }
    };
    {
        const std::jthread one(storeMany, 0);
        const std::jthread two(storeMany, 1);
    }
    QCOMPARE(failures[0] + failures[1], 0);
    QVERIFY(memoryIn(folder).last().value() == storedSet(kRounds));
    QCOMPARE(filesIn(folder.path() / "skip-sets").size(), 2);
}

/// Each adds tasks of its own, as two programs that share a data folder.
void SkipSetMemoryTest::writersOfOneTaskEachLoseNothing() {
    constexpr int kRounds = 20;
    const test_support::TemporaryFolder folder;
    const auto storeMany = [&](char who) {
        SkipSetMemory memory = memoryIn(folder);
        for (int round = 0; round < kRounds; ++round)
            (void)memory.store(fmt::format("{}{}", who, round), storedSet(round));
    };
    {
        const std::jthread one(storeMany, 'a');
        const std::jthread two(storeMany, 'b');
    }
    QCOMPARE(memoryIn(folder).all().value().sets.size(), std::size_t(2 * kRounds));
}

void SkipSetMemoryTest::theDataFolderFollowsTheEnvironment() {
    const EnvironmentValue home("HOME", "/home/someone");
    const EnvironmentValue shared("XDG_DATA_HOME", "/data");
    const EnvironmentValue own("SWIFT_STUDIO_DATA", "/own");
    QCOMPARE(defaultDataFolder().string(), std::string("/own"));
    qputenv("SWIFT_STUDIO_DATA", "");
    QCOMPARE(defaultDataFolder().string(), std::string("/data/swift-studio"));
    qputenv("XDG_DATA_HOME", "relative");
    QCOMPARE(defaultDataFolder().string(), std::string("/home/someone/.local/share/swift-studio"));
}

QTEST_APPLESS_MAIN(SkipSetMemoryTest)
#include "skip_set_memory_test.moc"
