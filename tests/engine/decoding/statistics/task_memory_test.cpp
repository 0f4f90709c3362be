// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/task_memory.h"
#include "engine/loading/files/byte_reader.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

const std::string kFingerprint = "0123456789abcdef";

TaskMemory tasksIn(const test_support::TemporaryFolder& folder,
                   const std::string& fingerprint = kFingerprint) {
    return TaskMemory(SkipSetMemory(folder.path(), fingerprint, 12));
}

/// A prompt that is unlike those of other numbers.
PromptVector prompt(int number) {
    std::vector<double> row(32, 1.0);
    row[static_cast<std::size_t>(number)] = 5.0;
    return promptVector(row);
}

bool isNear(const PromptVector& a, const PromptVector& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::abs(a[i] - b[i]) > 1e-5)
            return false;
    return true;
}

std::string fileOf(const TaskMemory& memory) {
    return readTextFile(memory.path(), 10'000'000).value();
}

/// Writes the model's file with the first `what` replaced.
void spoil(const test_support::TemporaryFolder& folder,
           const std::string& what,
           const std::string& by) {
    std::string text = fileOf(tasksIn(folder));
    const std::size_t at = text.find(what);
    QVERIFY2(at != std::string::npos, what.c_str());
    folder.write("tasks/" + kFingerprint + ".json", text.replace(at, what.size(), by));
}

} // namespace

class TaskMemoryTest : public QObject {
    Q_OBJECT

private slots:
    void nothingLearntIsNoError();
    void whatWasLearntComesBack();
    void aDamagedPromptIsNamedAndTheRestIsUsed();
    void aTaskThatCannotBeUsedCostsOnlyItself();
    void ofATaskThatIsThereTwiceTheFirstCounts();
    void aFileOfAnotherModelIsNeverMixed();
    void aLaterVersionIsLeftAlone();
    void learningSetsABrokenFileAside();
    void damagedFilesNeverCrash();
    void theTaskNotMetForLongestGoes();
    void namesThatCannotBeWrittenAreRefused();
    void aTaskCanBeRenamedAndTwoBecomeOne();
    void aTaskCanBeForgotten();
    void aFolderThatCannotBeMadeIsAnError();
};

void TaskMemoryTest::nothingLearntIsNoError() {
    const test_support::TemporaryFolder folder;
    QVERIFY(tasksIn(folder).all().value().tasks.empty());
    QVERIFY(!std::filesystem::exists(tasksIn(folder).path()));
}

void TaskMemoryTest::whatWasLearntComesBack() {
    const test_support::TemporaryFolder folder;
    const std::string odd = "../a\"b\\c\n\xC3\xA9";
    QCOMPARE(tasksIn(folder).learn("code", prompt(1), 100).value(), std::string());
    QCOMPARE(tasksIn(folder).learn("code", prompt(2), 200).value(), std::string());
    QCOMPARE(tasksIn(folder).learn(odd, prompt(3), 300).value(), std::string());
    const auto library = tasksIn(folder).all();
    QVERIFY(library.value().unusable.empty());
    const KnownTasks& tasks = library.value().tasks;
    QCOMPARE(tasks.size(), 2U);
    QCOMPARE(tasks.at("code").prompts, 2);
    QCOMPARE(tasks.at("code").metAt, 200);
    QVERIFY(isNear(tasks.at("code").vectors[0], prompt(1)));
    QVERIFY(isNear(tasks.at("code").vectors[1], prompt(2)));
    QVERIFY(isNear(tasks.at(odd).vectors[0], prompt(3)));
}

void TaskMemoryTest::aDamagedPromptIsNamedAndTheRestIsUsed() {
    for (const std::string by : {"[999999,", "[\"x\",", "[1,1,", "[1e3,"}) {
        const test_support::TemporaryFolder folder;
        TaskMemory memory = tasksIn(folder);
        QVERIFY(memory.learn("code", prompt(1), 100).hasValue());
        QVERIFY(memory.learn("code", prompt(2), 100).hasValue());
        QVERIFY(memory.learn("story", prompt(3), 100).hasValue());
        const std::string text = fileOf(memory);
        const std::size_t first = text.find('[', text.find("vectors\":[") + 10);
        spoil(folder, text.substr(first, text.find(',', first) + 1 - first), by);
        const auto library = memory.all();
        QCOMPARE(library.value().unusable.size(), 1U);
        const std::string& sentence = library.value().unusable.front().message;
        QVERIFY2(sentence.find("prompt 1 of the task \"code\" is damaged") != std::string::npos,
                 sentence.c_str());
        QCOMPARE(library.value().tasks.at("code").vectors.size(), 1U);
        QVERIFY(isNear(library.value().tasks.at("code").vectors[0], prompt(2)));
        QCOMPARE(library.value().tasks.at("story").vectors.size(), 1U);
    }
}

void TaskMemoryTest::aTaskThatCannotBeUsedCostsOnlyItself() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    QVERIFY(memory.learn("code", prompt(1), 100).hasValue());
    QVERIFY(memory.learn("story", prompt(3), 100).hasValue());
    spoil(folder, "\"prompts\":1", "\"prompts\":-1");
    const auto library = memory.all();
    QCOMPARE(library.value().unusable.size(), 1U);
    QVERIFY(library.value().unusable.front().message.find("code") != std::string::npos);
    QVERIFY(!library.value().tasks.contains("code"));
    QVERIFY(library.value().tasks.contains("story"));
}

void TaskMemoryTest::ofATaskThatIsThereTwiceTheFirstCounts() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    QVERIFY(memory.learn("code", prompt(1), 100).hasValue());
    QVERIFY(memory.learn("story", prompt(3), 100).hasValue());
    spoil(folder, "\"story\"", "\"code\"");
    const auto library = memory.all();
    QVERIFY2(library.hasValue(), library ? "" : library.error().message.c_str());
    QCOMPARE(library.value().unusable.size(), 1U);
    const std::string& sentence = library.value().unusable.front().message;
    QVERIFY2(sentence.find("\"code\" is there twice") != std::string::npos, sentence.c_str());
    QCOMPARE(library.value().tasks.size(), 1U);
    QVERIFY(isNear(library.value().tasks.at("code").vectors[0], prompt(1)));
}

void TaskMemoryTest::aFileOfAnotherModelIsNeverMixed() {
    const test_support::TemporaryFolder folder;
    TaskMemory other = tasksIn(folder, "00ff");
    QVERIFY(other.learn("code", prompt(1), 100).hasValue());
    QVERIFY(tasksIn(folder).all().value().tasks.empty());
    std::filesystem::copy_file(other.path(), tasksIn(folder).path());
    const auto read = tasksIn(folder).all();
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::CorruptFile);
    QVERIFY(read.error().message.find("another model") != std::string::npos);
}

void TaskMemoryTest::aLaterVersionIsLeftAlone() {
    const test_support::TemporaryFolder folder;
    QVERIFY(tasksIn(folder).learn("code", prompt(1), 100).hasValue());
    spoil(folder, "\"format\": 1", "\"format\": 2");
    const auto read = tasksIn(folder).all();
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::Unsupported);
}

void TaskMemoryTest::learningSetsABrokenFileAside() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    QVERIFY(memory.learn("code", prompt(1), 100).hasValue());
    QVERIFY(memory.learn("story", prompt(3), 100).hasValue());
    spoil(folder, "\"prompts\":1", "\"prompts\":0");
    const std::string broken = fileOf(memory);
    const auto note = memory.learn("chat", prompt(4), 100);
    QVERIFY(note.value().find("begins with the tasks") != std::string::npos);
    QVERIFY(memory.all().value().unusable.empty());
    QVERIFY(memory.all().value().tasks.contains("story"));
    QVERIFY(memory.all().value().tasks.contains("chat"));
    folder.write("tasks/" + kFingerprint + ".json", "{");
    QVERIFY(!memory.learn("chat", prompt(4), 100).value().empty());
    QCOMPARE(memory.all().value().tasks.size(), 1U);
    bool isKept = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "tasks"))
        isKept = isKept || readTextFile(entry.path(), 10'000'000).value() == broken;
    QVERIFY(isKept);
}

void TaskMemoryTest::damagedFilesNeverCrash() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    for (int i = 0; i < 3; ++i)
        QVERIFY(memory.learn(std::to_string(i), prompt(i), 100).hasValue());
    const std::string whole = fileOf(memory);
    int harmed = 0;
    const auto read = [&](const std::string& bytes, std::size_t) {
        folder.write("tasks/" + kFingerprint + ".json", bytes);
        const auto library = memory.all();
        harmed += library && library.value().unusable.empty() ? 0 : 1;
        if (library)
            (void)recogniseTask(library.value().tasks, prompt(1));
    };
    test_support::forEachCut(whole.substr(0, whole.size() - 1), read);
    QCOMPARE(harmed, static_cast<int>(whole.size()) - 1);
    test_support::forEachFlip(whole, 1000, 5, read);
    QVERIFY(harmed > static_cast<int>(whole.size()) + 300);
}

void TaskMemoryTest::theTaskNotMetForLongestGoes() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    for (int i = 0; i < static_cast<int>(TaskMemory::kTasksKept); ++i)
        QVERIFY(memory.learn(std::to_string(i), prompt(1), i == 5 ? 1 : 100).hasValue());
    QVERIFY(memory.learn("0", prompt(1), 200).hasValue());
    QVERIFY(memory.all().value().tasks.contains("5"));
    QVERIFY(memory.learn("new", prompt(1), 200).hasValue());
    const KnownTasks tasks = memory.all().value().tasks;
    QCOMPARE(tasks.size(), TaskMemory::kTasksKept);
    QVERIFY(!tasks.contains("5"));
    QVERIFY(tasks.contains("new"));
}

void TaskMemoryTest::namesThatCannotBeWrittenAreRefused() {
    const test_support::TemporaryFolder folder;
    for (const std::string& name : {std::string(), std::string("\xff"), std::string(300, 'x')}) {
        const auto done = tasksIn(folder).learn(name, prompt(1), 1);
        QVERIFY(!done);
        QCOMPARE(done.error().code, ErrorCode::InvalidInput);
    }
    QVERIFY(tasksIn(folder).all().value().tasks.empty());
}

void TaskMemoryTest::aTaskCanBeRenamedAndTwoBecomeOne() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    QVERIFY(memory.learn("Translate this", prompt(1), 100).hasValue());
    QVERIFY(memory.rename("Translate this", "translation").hasValue());
    QVERIFY(memory.learn("Say it in German", prompt(2), 200).hasValue());
    QVERIFY(memory.rename("Say it in German", "translation").hasValue());
    const KnownTasks tasks = memory.all().value().tasks;
    QCOMPARE(tasks.size(), 1U);
    QCOMPARE(tasks.at("translation").prompts, 2);
    QCOMPARE(tasks.at("translation").vectors.size(), 2U);
    QCOMPARE(tasks.at("translation").metAt, 200);
    QVERIFY(memory.rename("translation", "translation").hasValue());
    QCOMPARE(memory.all().value().tasks.at("translation").prompts, 2);
    QCOMPARE(memory.rename("story", "x").error().code, ErrorCode::NotFound);
    QCOMPARE(memory.rename("translation", "").error().code, ErrorCode::InvalidInput);
    QVERIFY(memory.all().value().tasks.contains("translation"));
}

void TaskMemoryTest::aTaskCanBeForgotten() {
    const test_support::TemporaryFolder folder;
    TaskMemory memory = tasksIn(folder);
    QVERIFY(memory.learn("code", prompt(1), 100).hasValue());
    QVERIFY(memory.learn("story", prompt(2), 100).hasValue());
    QVERIFY(memory.forget("code").hasValue());
    QCOMPARE(memory.all().value().tasks.size(), 1U);
    QCOMPARE(memory.forget("code").error().code, ErrorCode::NotFound);
}

void TaskMemoryTest::aFolderThatCannotBeMadeIsAnError() {
    const test_support::TemporaryFolder folder;
    folder.write("tasks", "a file");
    const auto done = tasksIn(folder).learn("code", prompt(1), 1);
    QVERIFY(!done);
    QVERIFY(!done.error().message.empty());
}

QTEST_APPLESS_MAIN(TaskMemoryTest)
#include "task_memory_test.moc"
