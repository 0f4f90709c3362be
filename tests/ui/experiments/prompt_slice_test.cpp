// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/prompt_slice.h"

#include <QTest>

using namespace ui;

/// What can be typed above the table of prompts, and what is said about what cannot.
class PromptSliceTest : public QObject {
    Q_OBJECT

    static PromptRow row() {
        PromptRow row;
        row.prompt = 54;
        row.task = QStringLiteral("Question answering");
        row.text = QStringLiteral("What should I pack for Norway?");
        row.tokens = 93;
        row.tokensPerRound = 1.15;
        row.accepted = 13;
        row.drafted = 40;
        return row;
    }

private slots:

    void aConditionHoldsOrNot_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("holds");
        const auto add = [](const char* text, bool holds) {
            QTest::newRow(text) << QString::fromUtf8(text) << holds;
        };
        add("", true);
        add("  ", true);
        add("tokens = 93", true);
        add("tokens != 93", false);
        add("tokens == 93", true);
        add("tokens==92", false);
        add("task == code", false);
        add("task == question answering", true);
        add("tokens<94 and tokens>=93", true);
        add("tokens <= 92", false);
        add("M > 1.1", true);
        add("acceptance < .4", true);
        add("acceptance < 0.325", false);
        add("task = question answering", true);
        add("TASK = \"question answering\" and acceptance<.4", true);
        add("task != code", true);
        add("task = code or prompt = 54", true);
        add("task = code or prompt = 54 and tokens = 1", false);
        add("(task = code or prompt = 54) and tokens = 93", true);
        add("not task = code", true);
        add("not (prompt = 54 and tokens = 93)", false);
        add("text contains norway", true);
        add("text contains \"pack and go\"", false);
        add("speed < 1", false); // not measured
        add("not speed < 1", true);
        add("accepted = 13 and drafted = 40", true);
    }

    void aConditionHoldsOrNot() {
        QFETCH(QString, text);
        QFETCH(bool, holds);
        const PromptSlice::Parsed parsed = PromptSlice::parse(text);
        QCOMPARE(parsed.problem, QString());
        QCOMPARE(parsed.slice.contains(row()), holds);
    }

    void whatIsNotUnderstoodIsNamedInOneSentence_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("part");
        const auto add = [](const char* text, const char* part) {
            QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(part);
        };
        add("tsk = math", "There is no \"tsk\"");
        add("tokens", "After \"tokens\"");
        add("tokens !", "After \"tokens\"");
        add("tokens <", "a number is needed");
        add("tokens < many", "a number is needed");
        add("task", "After \"task\"");
        add("task < math", "After \"task\"");
        add("task =", "a word is needed");
        add("task = and", "a word is needed");
        add("tokens < 3 tokens > 1", "\"tokens\" does not belong there");
        add("tokens < 3 and", "A condition is missing");
        add("not", "A condition is missing");
        add("(tokens < 3", "not closed");
        add("tokens < 3)", "\")\" does not belong there");
        add("= 3", "A condition is missing");
    }

    void whatIsNotUnderstoodIsNamedInOneSentence() {
        QFETCH(QString, text);
        QFETCH(QString, part);
        const PromptSlice::Parsed parsed = PromptSlice::parse(text);
        QVERIFY2(parsed.problem.contains(part), qPrintable(parsed.problem));
        QVERIFY(parsed.problem.endsWith(u'.'));
        QVERIFY(parsed.slice.isEmpty());
    }

    void aConditionWithoutEndIsRefused() {
        const auto problem = [](const char* part, int count) {
            return PromptSlice::parse(QString::fromUtf8(part).repeated(count) +
                                      QStringLiteral("tokens = 1"))
                .problem;
        };
        QVERIFY(problem("(", 1000).contains(QStringLiteral("too many brackets")));
        QVERIFY(problem("not ", 1000).contains(QStringLiteral("too many brackets")));
        QVERIFY(problem("(", 1'000'000).contains(QStringLiteral("too long")));
    }

    void aTasksNameComesBackFromItsCondition_data() {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"math", "question answering", "and", "a(b)", "x=1", "two  blanks", "say \"a b\""})
            QTest::newRow(name) << QString::fromUtf8(name);
    }

    void aTasksNameComesBackFromItsCondition() {
        QFETCH(QString, name);
        PromptRow named = row();
        named.task = name;
        const auto parsed = PromptSlice::parse(QStringLiteral("task = ") + sliceValue(name));
        QCOMPARE(parsed.problem, QString());
        QVERIFY(parsed.slice.contains(named));
        QVERIFY(!parsed.slice.contains(row()) || name == row().task.toLower());
    }
};

QTEST_GUILESS_MAIN(PromptSliceTest)
#include "prompt_slice_test.moc"
