// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"
#include "engine/decoding/statistics/task_recogniser.h"
#include "engine/decoding/target.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <random>

using namespace engine;
using support::Ids;

namespace {

constexpr int kLayers = 5;
constexpr std::size_t kPromptLength = 40;

Transformer& tinyModel() {
    static const auto made = support::layeredModel(kLayers, 7);
    return *made;
}

/// Prompts of a task are random mixtures of the same three tokens. All end as a chat template does.
Ids promptOf(int task, unsigned seed) {
    std::mt19937 random(seed);
    Ids prompt;
    while (prompt.size() < kPromptLength)
        prompt.push_back(static_cast<TokenId>(4 * task + static_cast<int>(random() % 3)));
    prompt.insert(prompt.end(), {30, 31});
    return prompt;
}

PromptVector vectorOf(const Ids& prompt) {
    PromptRow row{.layer = recognitionLayer(kLayers)};
    auto target = Target::make(tinyModel(), {}, 64, 1).value();
    ENGINE_CHECK(target.begin({prompt}, {.lastRow = &row}).hasValue(), "a prompt was refused");
    return promptVector(row.values);
}

KnownTasks learnt(std::initializer_list<int> tasks) {
    KnownTasks known;
    for (const int task : tasks)
        for (unsigned seed = 0; seed < 5; ++seed)
            known[std::to_string(task)].learn(vectorOf(promptOf(task, seed)), seed);
    return known;
}

std::string taskOf(const Recognition& found) { return found.task ? found.task->task : "none"; }

} // namespace

class TaskRecogniserTest : public QObject {
    Q_OBJECT

private slots:
    void theRowIsTheOneThatAPassHandsOut();
    void aRowThatIsCachedOrReadLaterIsNotThere();
    void lookingAtAPromptChangesNoToken();
    void tasksThatDifferAreToldApartAndAThirdIsNone();
    void oneKnownTaskTellsNothingOfAnotherPrompt();
    void aPromptThatComesAgainIsItsTaskEvenIfNothingElseIsKnown();
    void nothingIsKnownAtFirst();
    void onlyTheNewestPromptsOfATaskAreKept();
    void aVectorIsTheSameEverywhere();
    void aNewTaskIsNamedByTheFirstWords_data();
    void aNewTaskIsNamedByTheFirstWords();
    void twoTasksNeverShareAName();
};

void TaskRecogniserTest::theRowIsTheOneThatAPassHandsOut() {
    const Ids prompt = promptOf(0, 1);
    PromptRow row{.layer = 2};
    auto target = Target::make(tinyModel(), {}, 64, 1).value();
    QVERIFY(target.begin({prompt}, {.lastRow = &row}).hasValue());
    auto cache = tinyModel().makeCache(64).value();
    const LayerPlan plan = LayerPlan::full(kLayers);
    const int rows = static_cast<int>(prompt.size()) - 1;
    HiddenRows states;
    const HandOut handOut{2, &states};
    QVERIFY(tinyModel()
                .forward({.plan = plan,
                          .layout = AttentionLayout::chain(0, rows),
                          .tokens = std::span(prompt).first(prompt.size() - 1),
                          .handOuts = std::span(&handOut, 1)},
                         cache)
                .hasValue());
    std::vector<double> expected(row.values.size());
    QVERIFY(states.read(rows - 1, expected).hasValue());
    QCOMPARE(row.values, expected);
}

void TaskRecogniserTest::aRowThatIsCachedOrReadLaterIsNotThere() {
    const Ids prompt = promptOf(0, 1);
    PromptRow row{.layer = 2};
    auto target = Target::make(tinyModel(), {}, 64, 1).value();
    QVERIFY(target.begin({prompt}, {.lastRow = &row}, 4).hasValue());
    QVERIFY(row.values.empty());
    QVERIFY(target.begin({prompt}, {.lastRow = &row}).hasValue());
    QVERIFY(!row.values.empty());
    row.values.clear();
    QVERIFY(target.begin({prompt}, {.lastRow = &row}).hasValue());
    QVERIFY(row.values.empty());
}

void TaskRecogniserTest::lookingAtAPromptChangesNoToken() {
    const Ids prompt = promptOf(1, 3);
    PromptRow row{.layer = 2};
    const auto decoder = makeVanillaDecoder(tinyModel(), {}, 128).value();
    const auto answer =
        generate(*decoder, {.prompt = prompt, .limits = {.maxTokens = 30}, .promptRow = &row});
    QVERIFY(!row.values.empty());
    QCOMPARE(answer.value().tokens, support::vanillaAnswer(tinyModel(), prompt, 30));
}

void TaskRecogniserTest::tasksThatDifferAreToldApartAndAThirdIsNone() {
    const KnownTasks known = learnt({0, 1});
    for (unsigned seed = 100; seed < 110; ++seed) {
        const Recognition first = recogniseTask(known, vectorOf(promptOf(0, seed)));
        QCOMPARE(taskOf(first), std::string("0"));
        QVERIFY(first.task->likeness > first.other->likeness);
        QCOMPARE(first.other->task, std::string("1"));
        QCOMPARE(taskOf(recogniseTask(known, vectorOf(promptOf(1, seed)))), std::string("1"));
        QCOMPARE(taskOf(recogniseTask(known, vectorOf(promptOf(2, seed)))), std::string("none"));
    }
}

void TaskRecogniserTest::oneKnownTaskTellsNothingOfAnotherPrompt() {
    KnownTasks known;
    known["only"].learn(vectorOf(promptOf(0, 1)), 1);
    const Recognition found = recogniseTask(known, vectorOf(promptOf(0, 2)));
    QCOMPARE(taskOf(found), std::string("none"));
    QCOMPARE(found.other->task, std::string("only"));
}

void TaskRecogniserTest::aPromptThatComesAgainIsItsTaskEvenIfNothingElseIsKnown() {
    const PromptVector vector = vectorOf(promptOf(0, 1));
    KnownTasks known;
    for (std::int64_t time = 1; time < 4; ++time) {
        known["only"].learn(vector, time);
        QCOMPARE(taskOf(recogniseTask(known, vector)), std::string("only"));
    }
    known["other"].learn(vectorOf(promptOf(1, 1)), 4);
    QCOMPARE(taskOf(recogniseTask(known, vector)), std::string("only"));
}

void TaskRecogniserTest::nothingIsKnownAtFirst() {
    const Recognition found = recogniseTask({}, vectorOf(promptOf(0, 1)));
    QVERIFY(!found.task && !found.other);
}

void TaskRecogniserTest::onlyTheNewestPromptsOfATaskAreKept() {
    KnownTask task;
    for (unsigned seed = 0; seed < 13; ++seed)
        task.learn(vectorOf(promptOf(0, seed)), 100 + seed);
    QCOMPARE(task.prompts, 13);
    QCOMPARE(task.metAt, 112);
    QCOMPARE(task.vectors.size(), KnownTask::kVectorsKept);
    QVERIFY(task.vectors.front() == vectorOf(promptOf(0, 3)));
    QVERIFY(task.vectors.back() == vectorOf(promptOf(0, 12)));
}

/// What was stored must mean the same tomorrow: the signs of some places, and that they add up.
void TaskRecogniserTest::aVectorIsTheSameEverywhere() {
    const std::vector<double> first{3.0, 0.0};
    const std::vector<double> second{0.0, 3.0};
    const std::vector<double> both{1.0, 1.0};
    const PromptVector a = promptVector(first);
    const PromptVector b = promptVector(second);
    const PromptVector sum = promptVector(both);
    const double step = 1.0 / std::sqrt(128.0);
    std::string signs;
    for (std::size_t i = 0; i < a.size(); ++i) {
        QVERIFY(std::abs(std::abs(a[i]) - step) < 1e-12);
        QCOMPARE(sum[i] == 0.0, a[i] * b[i] < 0.0);
        if (i < 16)
            signs += a[i] > 0.0 ? '+' : '-';
    }
    QCOMPARE(signs, std::string("--+-+-+----+++++"));
}

void TaskRecogniserTest::aNewTaskIsNamedByTheFirstWords_data() {
    QTest::addColumn<QByteArray>("question");
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("short") << QByteArray("Hello") << QByteArray("Hello");
    QTest::newRow("five words") << QByteArray("  Translate this text\n into good German, please.")
                                << QByteArray("Translate this text into good");
    QTest::newRow("long words") << QByteArray("Donaudampfschifffahrtsgesellschaft Kapitän")
                                << QByteArray("Donaudampfschifffahrtsgesellschaft");
    QTest::newRow("nothing") << QByteArray(" \n ") << QByteArray("chat");
    QTest::newRow("control characters") << QByteArray("a\x1b[2J b") << QByteArray("a?[2J b");
    QTest::newRow("no UTF-8") << QByteArray("a\xff b") << QByteArray("a? b");
}

void TaskRecogniserTest::aNewTaskIsNamedByTheFirstWords() {
    QFETCH(QByteArray, question);
    QFETCH(QByteArray, name);
    QCOMPARE(QByteArray::fromStdString(nameOfNewTask(question.toStdString(), {})), name);
}

void TaskRecogniserTest::twoTasksNeverShareAName() {
    KnownTasks known;
    known["Hello"] = {};
    QCOMPARE(nameOfNewTask("Hello", known), std::string("Hello 2"));
    known["Hello 2"] = {};
    QCOMPARE(nameOfNewTask("Hello", known), std::string("Hello 3"));
}

QTEST_APPLESS_MAIN(TaskRecogniserTest)
#include "task_recogniser_test.moc"
