// SPDX-License-Identifier: Apache-2.0
// How a session names the tasks of prompts that look alike, and what it keeps of them.
#include "engine/decoding/statistics/task_memory.h"
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <semaphore>

using namespace engine;
using namespace session_test;

namespace {

SessionOptions keptIn(const test_support::TemporaryFolder& folder) {
    return {.dataFolder = folder.path()};
}

KnownTasks tasksIn(const test_support::TemporaryFolder& folder) {
    return TaskMemory(SkipSetMemory(folder.path(), kFingerprint, 4)).all().value().tasks;
}

/// A question that repeats one letter, behind a first word of its own.
SubmitPrompt question(std::uint64_t id, const std::string& word, char letter) {
    SubmitPrompt prompt;
    prompt.promptId = id;
    prompt.messages = {{"user", word + " " + std::string(60, letter)}};
    prompt.task = "chat";
    prompt.taskUse = TaskUse::Recognised;
    prompt.maxTokens = 8;
    return prompt;
}

/// What was told of a prompt before its end; `isAnswered` says whether it came to one.
std::vector<TaskRecognised> toldOf(Fixture& fixture, const SubmitPrompt& prompt) {
    fixture.session.send(prompt);
    const bool isAnswered = fixture.finish(prompt.promptId) != nullptr;
    ENGINE_CHECK(isAnswered, "prompt {} failed", prompt.promptId);
    std::vector<TaskRecognised> told;
    for (const TaskRecognised& event : fixture.all<TaskRecognised>())
        if (event.promptId == prompt.promptId)
            told.push_back(event);
    return told;
}

std::string taskOf(Fixture& fixture, const SubmitPrompt& prompt) {
    const auto told = toldOf(fixture, prompt);
    ENGINE_CHECK(told.size() == 1, "told {} times", told.size());
    return told.front().task + (told.front().isNew ? " (new)" : "");
}

} // namespace

class SessionTasksTest : public QObject {
    Q_OBJECT

private slots:
    void promptsThatLookAlikeGetTheNameOfTheFirst();
    void whatIsLearntOutlivesTheSession();
    void aNamedTaskIsLearntUnderItsName();
    void aPromptAskedAgainKeepsItsNameAndCountsOnce();
    void nothingIsLookedAtUnlessAsked_data();
    void nothingIsLookedAtUnlessAsked();
    void theTaskOfTheDecoderStaysTheSame();
    void theTextStaysTheSame();
    void aRenamedTaskNamesThePromptsToCome();
    void tasksOfTheSameNameBecomeOne();
    void aForgottenTaskIsNotLearntAgainByThePromptThatIsAnswered();
    void whatCannotBeDoneWithATaskIsRefused();
    void aMemoryThatCannotBeReadIsSetAsideAndTold();
    void aMemoryThatCannotBeWrittenIsToldOnce();
};

void SessionTasksTest::promptsThatLookAlikeGetTheNameOfTheFirst() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    QCOMPARE(taskOf(fixture, question(1, "Translate", 'a')), std::string("Translate (new)"));
    QCOMPARE(taskOf(fixture, question(2, "Summarise", 'b')), std::string("Summarise (new)"));
    QCOMPARE(taskOf(fixture, question(3, "Put", 'a')), std::string("Translate"));
    QCOMPARE(taskOf(fixture, question(4, "Shorten", 'b')), std::string("Summarise"));
    QCOMPARE(taskOf(fixture, question(5, "Count", 'd')), std::string("Count (new)"));
    QCOMPARE(tasksIn(folder).at("Translate").prompts, 2);
    const auto last = fixture.all<TaskRecognised>().at(3);
    QVERIFY(last.likeness > last.otherLikeness && last.likeness > 0.7);
    QCOMPARE(last.otherTask, std::string("Translate"));
}

void SessionTasksTest::whatIsLearntOutlivesTheSession() {
    const test_support::TemporaryFolder folder;
    for (int start = 0; start < 2; ++start) {
        Fixture fixture({}, 4096, keptIn(folder));
        QVERIFY(fixture.loadModel());
        const bool isFirst = start == 0;
        QCOMPARE(taskOf(fixture, question(1, "One", 'a')),
                 std::string(isFirst ? "One (new)" : "One"));
        QCOMPARE(taskOf(fixture, question(2, "Two", 'b')),
                 std::string(isFirst ? "Two (new)" : "Two"));
    }
}

void SessionTasksTest::aNamedTaskIsLearntUnderItsName() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    SubmitPrompt named = question(1, "One", 'a');
    named.taskUse = TaskUse::Learned;
    named.task = "translation";
    QVERIFY(toldOf(fixture, named).empty());
    QCOMPARE(taskOf(fixture, question(2, "Two", 'b')), std::string("Two (new)"));
    QCOMPARE(taskOf(fixture, question(3, "Three", 'a')), std::string("translation"));
}

void SessionTasksTest::aPromptAskedAgainKeepsItsNameAndCountsOnce() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    (void)toldOf(fixture, question(1, "One", 'a'));
    QCOMPARE(taskOf(fixture, question(2, "Two", 'b')), std::string("Two (new)"));
    QCOMPARE(taskOf(fixture, question(3, "Two", 'b')), std::string("Two"));
    QCOMPARE(tasksIn(folder).at("Two").prompts, 1);
}

void SessionTasksTest::nothingIsLookedAtUnlessAsked_data() {
    QTest::addColumn<bool>("isKept");
    QTest::addColumn<bool>("isChat");
    QTest::addColumn<bool>("isAsked");
    QTest::newRow("not asked for") << true << true << false;
    QTest::newRow("raw text") << true << false << true;
    QTest::newRow("no data folder") << false << true << true;
}

void SessionTasksTest::nothingIsLookedAtUnlessAsked() {
    QFETCH(bool, isKept);
    QFETCH(bool, isChat);
    QFETCH(bool, isAsked);
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, isKept ? keptIn(folder) : SessionOptions());
    QVERIFY(fixture.loadModel());
    SubmitPrompt prompt = question(1, "One", 'a');
    if (!isChat)
        prompt.text = std::exchange(prompt.messages, {}).front().content;
    prompt.taskUse = isAsked ? TaskUse::Recognised : TaskUse::Given;
    QVERIFY(toldOf(fixture, prompt).empty());
    QVERIFY(std::filesystem::is_empty(folder.path()));
}

void SessionTasksTest::theTaskOfTheDecoderStaysTheSame() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel("drafting"));
    QCOMPARE(taskOf(fixture, question(1, "One", 'a')), std::string("One (new)"));
    QVERIFY(!fixture.all<TrialFinished>().empty());
    for (const TrialFinished& trial : fixture.all<TrialFinished>())
        QCOMPARE(trial.task, std::string("chat"));
    QCOMPARE(fixture.all<PromptStarted>().front().task, std::string("chat"));
}

void SessionTasksTest::theTextStaysTheSame() {
    const test_support::TemporaryFolder folder;
    std::vector<std::string> texts;
    for (const TaskUse use : {TaskUse::Given, TaskUse::Recognised}) {
        Fixture fixture({}, 4096, keptIn(folder));
        QVERIFY(fixture.loadModel());
        SubmitPrompt prompt = question(1, "One", 'a');
        prompt.maxTokens = 40;
        prompt.taskUse = use;
        (void)toldOf(fixture, prompt);
        texts.push_back(fixture.all<PromptFinished>().front().text);
    }
    QCOMPARE(texts[0].size(), 40U);
    QCOMPARE(texts[1], texts[0]);
}

void SessionTasksTest::aRenamedTaskNamesThePromptsToCome() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    (void)toldOf(fixture, question(1, "Translate", 'a'));
    (void)toldOf(fixture, question(2, "Summarise", 'b'));
    fixture.session.send(ListTasks{5});
    const auto* before = fixture.next<TasksListed>();
    QVERIFY(before != nullptr);
    QCOMPARE(before->requestId, std::uint64_t{5});
    QCOMPARE(before->tasks.size(), std::size_t{2});
    QCOMPARE(before->tasks[1].name, std::string("Translate"));
    QCOMPARE(before->tasks[1].prompts, 1);
    QVERIFY(before->tasks[1].metAt > 0 && before->note.empty());
    fixture.session.send(RenameTask{6, "Translate", "translation"});
    const auto* after = fixture.next<TasksListed>();
    QVERIFY(after != nullptr && after->requestId == 6);
    QCOMPARE(after->tasks[1].name, std::string("translation"));
    QCOMPARE(taskOf(fixture, question(3, "Put", 'a')), std::string("translation"));
    QCOMPARE(tasksIn(folder).at("translation").prompts, 2);
    QVERIFY(!tasksIn(folder).contains("Translate"));
}

void SessionTasksTest::tasksOfTheSameNameBecomeOne() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    (void)toldOf(fixture, question(1, "Translate", 'a'));
    (void)toldOf(fixture, question(2, "Summarise", 'b'));
    fixture.session.send(RenameTask{1, "Translate", "Summarise"});
    const auto* listed = fixture.next<TasksListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->tasks.size(), std::size_t{1});
    QCOMPARE(listed->tasks[0].prompts, 2);
}

void SessionTasksTest::aForgottenTaskIsNotLearntAgainByThePromptThatIsAnswered() {
    const test_support::TemporaryFolder folder;
    std::binary_semaphore forgotten{0};
    DecoderScript script;
    script.onStep = [&forgotten](int step, const std::stop_token&) -> Result<void> {
        if (step == 1)
            forgotten.acquire();
        return {};
    };
    Fixture fixture(std::move(script), 4096, keptIn(folder));
    QVERIFY(fixture.loadModel("drafting"));
    SubmitPrompt prompt = question(1, "Translate", 'a');
    prompt.taskUse = TaskUse::Learned; // known, and without a step that waits
    prompt.task = "Translate";
    prompt.maxTokens = 1;
    (void)toldOf(fixture, prompt);
    prompt = question(2, "Put", 'a');
    prompt.taskUse = TaskUse::Learned;
    prompt.task = "Translate";
    prompt.maxTokens = 40;
    fixture.session.send(prompt);
    QVERIFY(fixture.next<StepFinished>(
                [](const StepFinished& step) { return step.promptId == 2; }) != nullptr);
    fixture.session.send(ForgetTask{1, "Translate"});
    forgotten.release();
    QVERIFY(fixture.next<TasksListed>() != nullptr);
    QVERIFY(fixture.finish(2) != nullptr);
    fixture.session.send(ListTasks{2});
    const auto* listed = fixture.next<TasksListed>();
    QVERIFY(listed != nullptr && listed->tasks.empty());
}

void SessionTasksTest::whatCannotBeDoneWithATaskIsRefused() {
    const test_support::TemporaryFolder folder;
    Fixture fixture({}, 4096, keptIn(folder));
    fixture.session.send(ListTasks{1});
    QVERIFY(fixture.fails("list_tasks")); // no model
    QVERIFY(fixture.loadModel());
    (void)toldOf(fixture, question(1, "One", 'a'));
    fixture.session.send(ForgetTask{2, "Two"});
    QVERIFY(fixture.fails("forget_task"));
    QCOMPARE(fixture.all<EngineFailed>().back().requestId, std::uint64_t{2});
    fixture.session.send(RenameTask{3, "One", ""});
    QVERIFY(fixture.fails("rename_task"));
    QVERIFY(tasksIn(folder).contains("One"));
}

void SessionTasksTest::aMemoryThatCannotBeReadIsSetAsideAndTold() {
    const test_support::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "tasks");
    folder.write("tasks/" + kFingerprint + ".json", "{");
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    QCOMPARE(taskOf(fixture, question(1, "One", 'a')), std::string("One (new)"));
    QCOMPARE(fixture.all<Note>().size(), 1U);
    QVERIFY(fixture.all<Note>().front().text.find("broken-1") != std::string::npos);
    QVERIFY(tasksIn(folder).contains("One"));
}

void SessionTasksTest::aMemoryThatCannotBeWrittenIsToldOnce() {
    const test_support::TemporaryFolder folder;
    folder.write("tasks", "a file in its place");
    Fixture fixture({}, 4096, keptIn(folder));
    QVERIFY(fixture.loadModel());
    QCOMPARE(taskOf(fixture, question(1, "One", 'a')), std::string("One (new)"));
    QCOMPARE(taskOf(fixture, question(2, "Two", 'b')), std::string("Two (new)"));
    QCOMPARE(fixture.all<Note>().size(), 1U);
    QVERIFY(fixture.all<Note>().front().text.find("could not be stored") != std::string::npos);
}

QTEST_GUILESS_MAIN(SessionTasksTest)
#include "session_tasks_test.moc"
