// SPDX-License-Identifier: Apache-2.0
// Prompts between labels and behind worked examples.
#include "app/commands/compare/paper_prompts.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace app;

class PaperPromptsTest : public QObject {
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void thePromptStandsBehindItsExamples();
    void labelsThatAreThereAreNotRepeated();
    void otherTasksAndConversationsStayAsTheyAre();
    void examplesAreNotAskedAndHaveAReference();
    void tooFewPromptsAreRefusedInASentence();
    void anAnswerEndsWhereTheNextExampleBegins();

private:
    /// The prompts that are asked, in their order.
    QStringList asked(const QByteArray& lines, int shots = -1);

    std::vector<DataPrompt> data(const QByteArray& lines);

    std::unique_ptr<QTemporaryDir> m_folder;
};

std::vector<DataPrompt> PaperPromptsTest::data(const QByteArray& lines) {
    QFile file(m_folder->filePath("data.jsonl"));
    if (!file.open(QIODevice::WriteOnly) || file.write(lines) != lines.size())
        qFatal("the data file cannot be written");
    file.close();
    auto set = readPrompts({.paths = {file.fileName().toStdString()}});
    if (!set)
        qFatal("%s", set.error().message.c_str());
    return std::move(set).value().prompts;
}

QStringList PaperPromptsTest::asked(const QByteArray& lines, int shots) {
    const std::vector<DataPrompt> all = data(lines);
    const auto prompts = PaperPrompts::read(all, shots);
    QStringList texts;
    if (!prompts)
        return {QString::fromStdString(prompts.error().message)};
    const auto visited = forEachPrompt(all, [&](const DataPrompt& prompt) -> engine::Result<bool> {
        if (!prompts.value().isExample(prompt))
            texts << QString::fromStdString(prompts.value().shaped(prompt).turns.front());
        return true;
    });
    return visited ? texts : QStringList();
}

void PaperPromptsTest::thePromptStandsBehindItsExamples() {
    QCOMPARE(asked(R"({"task":"summarization","prompt":"Long.","reference":["Short.","S."]})"
                   "\n"
                   R"({"task":"summarization","prompt":" More. ","reference":"x"})"),
             QStringList{"Article: Long.\nSummary: Short.\n\nArticle: More.\nSummary:"});
}

void PaperPromptsTest::labelsThatAreThereAreNotRepeated() {
    QCOMPARE(
        asked(
            R"({"task":"translation","prompt":"Translate German to English: Ja","reference":"Yes"})"
            "\n"
            R"({"task":"translation","prompt":"Nein","reference":"No"})"
            "\n"
            R"({"task":"summarization","prompt":"Sum up.\n\nLong.\n\nSummary:","reference":"x"})",
            0),
        (QStringList{"Translate German to English: Ja\nAnswer:",
                     "Translate German to English: Nein\nAnswer:",
                     "Sum up.\n\nLong.\n\nSummary:"}));
}

void PaperPromptsTest::otherTasksAndConversationsStayAsTheyAre() {
    QCOMPARE(asked(R"({"task":"colours","prompt":"Name three."})"
                   "\n"
                   R"({"task":"question_answering","prompt":["Who?","And?"]})"
                   "\n"
                   R"({"task":"code","prompt":"def f():\n    '''One.'''\n"})",
                   0),
             (QStringList{"Name three.", "Who?", "def f():\n    '''One.'''\n"}));
}

/// The second has no reference, so the third is the second example.
void PaperPromptsTest::examplesAreNotAskedAndHaveAReference() {
    const QByteArray lines = R"({"task":"math_reasoning","prompt":"1+1?","reference":"2"})"
                             "\n"
                             R"({"task":"math_reasoning","prompt":"1+2?"})"
                             "\n"
                             R"({"task":"math_reasoning","prompt":"2+2?","reference":"4"})";
    QCOMPARE(asked(lines, 2),
             QStringList{"Question: 1+1?\nAnswer: 2\n\nQuestion: 2+2?\nAnswer: 4\n\n"
                         "Question: 1+2?\nAnswer:"});
}

void PaperPromptsTest::tooFewPromptsAreRefusedInASentence() {
    const QStringList said = asked(R"({"task":"math_reasoning","prompt":"1+1?","reference":"2"})");
    QVERIFY2(said.first().contains("too few prompts of the task math_reasoning") &&
                 said.first().contains("it needs 5 examples"),
             qPrintable(said.first()));
    QVERIFY(
        asked(R"({"task":"story","prompt":"Once","reference":"upon"})").first().contains("story"));
}

void PaperPromptsTest::anAnswerEndsWhereTheNextExampleBegins() {
    QCOMPARE(PaperPrompts::answerIn("math_reasoning", " It is 4.\n\nQuestion: 3+3?\nAnswer: 6"),
             std::string(" It is 4.\n"));
    QCOMPARE(PaperPrompts::answerIn("code", "    return 1\nQuestion: no"),
             std::string("    return 1\nQuestion: no"));
}

QTEST_GUILESS_MAIN(PaperPromptsTest)
#include "paper_prompts_test.moc"
