// SPDX-License-Identifier: Apache-2.0
// The prompts that come with the program: resources/examples.
#include "engine/experiments/data/prompt_set.h"

#include <QTest>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

using namespace engine;

namespace {

constexpr const char* kChat = "multi_turn_chat";

/// All prompts of a folder; no line of it is bad.
PromptSet promptsIn(const std::string& folder) {
    DataChoice choice;
    choice.paths = {folder};
    auto set = collectPrompts(
        choice, [](const DataProblem& problem) { qFatal("%s", problem.message.c_str()); });
    if (!set)
        qFatal("%s", set.error().message.c_str());
    return std::move(set).value();
}

bool isBlank(const std::string& text) { return text.find_first_not_of(" \n") == std::string::npos; }

} // namespace

class ExamplePromptsTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() { m_examples = promptsIn("resources/examples"); }

    void eachOfNineTasksHasTenPrompts();
    void noPromptAndNoIdComesTwice();
    void eachHasAReferenceAndAChatOneForEachTurn();
    void theNumberOfACalculationStandsBehindItsSign();
    void theTextsOfLongQuestionsAreLong();
    void noneIsAPromptOfTheSharedData();

private:
    PromptSet m_examples;
};

void ExamplePromptsTest::eachOfNineTasksHasTenPrompts() {
    std::map<std::string, int> counts;
    for (const DataPrompt& prompt : m_examples.prompts) {
        QCOMPARE(std::filesystem::path(prompt.file).stem().string(), prompt.record.task);
        ++counts[prompt.record.task];
    }
    const std::map<std::string, int> expected = {{"code", 10},
                                                 {"instruction_following", 10},
                                                 {"long_context_qa", 10},
                                                 {"math_reasoning", 10},
                                                 {kChat, 10},
                                                 {"question_answering", 10},
                                                 {"story", 10},
                                                 {"summarization", 10},
                                                 {"translation", 10}};
    QVERIFY(counts == expected);
}

void ExamplePromptsTest::noPromptAndNoIdComesTwice() {
    std::set<std::string> ids;
    std::set<std::string> texts;
    for (const DataPrompt& prompt : m_examples.prompts) {
        QVERIFY2(ids.insert(prompt.record.id).second, prompt.record.id.c_str());
        QVERIFY2(texts.insert(prompt.record.turns.front()).second, prompt.record.id.c_str());
    }
}

void ExamplePromptsTest::eachHasAReferenceAndAChatOneForEachTurn() {
    for (const DataPrompt& prompt : m_examples.prompts) {
        const DataRecord& record = prompt.record;
        QVERIFY2(!record.references.empty(), record.id.c_str());
        QVERIFY2(std::none_of(record.references.begin(), record.references.end(), isBlank),
                 record.id.c_str());
        QCOMPARE(record.turns.size() > 1, record.task == kChat);
        if (record.task == kChat)
            QCOMPARE(record.references.size(), record.turns.size());
    }
}

void ExamplePromptsTest::theNumberOfACalculationStandsBehindItsSign() {
    for (const DataPrompt& prompt : m_examples.prompts)
        if (prompt.record.task == "math_reasoning")
            QVERIFY2(prompt.record.references.front().find("\n#### ") != std::string::npos,
                     prompt.record.id.c_str());
}

void ExamplePromptsTest::theTextsOfLongQuestionsAreLong() {
    for (const DataPrompt& prompt : m_examples.prompts)
        if (prompt.record.task == "long_context_qa")
            QVERIFY2(prompt.record.turns.front().size() > 1500, prompt.record.id.c_str());
}

void ExamplePromptsTest::noneIsAPromptOfTheSharedData() {
    const std::string shared = SWIFT_STUDIO_SHARED_DIR "/data";
    if (!std::filesystem::exists(shared))
        QSKIP("the shared data does not lie beside the checkout");
    std::set<std::string> known;
    for (const DataPrompt& prompt : promptsIn(shared).prompts)
        known.insert(prompt.record.turns.begin(), prompt.record.turns.end());
    QVERIFY(known.size() > 1000);
    for (const DataPrompt& prompt : m_examples.prompts)
        for (const std::string& turn : prompt.record.turns)
            QVERIFY2(!known.contains(turn), turn.c_str());
}

QTEST_APPLESS_MAIN(ExamplePromptsTest)
#include "example_prompts_test.moc"
