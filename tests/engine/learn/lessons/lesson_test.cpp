// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/lessons/lesson.h"
#include "tests/support/file_content.h"

#include <QTest>

#include <algorithm>
#include <filesystem>
#include <set>

using namespace engine;

namespace {

const std::string kFolder = "resources/lessons";

const std::string kText = R"(# A lesson

## First

See {{answer.tokens}} tokens.

## Second

```
## no heading
```
)";

const std::string kSteps =
    R"({"format": "swift-lesson", "version": 1, "name": "small", "title": "A lesson",
 "summary": "You will be able to read.", "steps": [
 {"title": "First", "view": "chat", "check": {"question": "How many?", "answers": [
   {"text": "{{answer.tokens}}", "right": true, "reply": "Yes, {{answer.M}} a pass."},
   {"text": "None", "reply": "Look again."}]}},
 {"title": "Second", "view": "layer_map", "button": "Skip", "actions": [{"flip": "mlp 3"}],
  "check": {"question": "Skip one.", "conditions": [{"fact": "set.skipped", "at_least": 1},
   {"fact": "set.matchness", "at_least": 0.8}], "right": "{{set.skipped}} skipped.", "wrong": "Try {{round.stop}}."},
  "solution": [{"flip": "mlp 3"}]}]})";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    return at == text.npos ? std::string() : text.replace(at, from.size(), to);
}

} // namespace

class LessonTest : public QObject {
    Q_OBJECT

private slots:

    void aLessonIsReadFromItsTwoTexts() {
        const auto lesson = readLesson(kSteps, kText, "small.json");
        QVERIFY2(lesson, lesson ? "" : lesson.error().message.c_str());
        QCOMPARE(lesson.value().steps.size(), std::size_t(2));
        QCOMPARE(lesson.value().steps[0].text, std::string("See {{answer.tokens}} tokens."));
        QCOMPARE(lesson.value().steps[1].text, std::string("```\n## no heading\n```"));
        QCOMPARE(lesson.value().steps[1].actions.at(0).flip, std::string("mlp 3"));
        QVERIFY(!readLesson(kSteps, with(kText, "\n## no", "\n```\n## no"), "small.json"));
    }

    void anAnswerIsJudgedAndReplied() {
        const LessonCheck check = *readLesson(kSteps, kText, "small.json").value().steps[0].check;
        const LessonFacts facts = {{"answer.M", 2.126}};
        QVERIFY(judge(check, {}, facts).sentence.empty());
        QVERIFY(judge(check, 0, facts).isRight);
        QCOMPARE(judge(check, 0, facts).sentence, std::string("Yes, 2.13 a pass."));
        QVERIFY(!judge(check, 1, facts).isRight);
        QCOMPARE(judge(check, 1, facts).sentence, std::string("Look again."));
        QVERIFY(!judge(check, 2, facts).isRight);
    }

    void conditionsHoldOnlyTogetherAndOnlyOnceTheirFactsAreKnown() {
        const LessonCheck check = *readLesson(kSteps, kText, "small.json").value().steps[1].check;
        QVERIFY(!judge(check, {}, {}).isRight);
        QVERIFY(!judge(check, {}, {{"set.skipped", 2.0}}).isRight);
        QVERIFY(!judge(check, {}, {{"set.skipped", 2.0}, {"set.matchness", 0.79}}).isRight);
        QVERIFY(
            !judge(check, {}, {{"set.skipped", std::string("2")}, {"set.matchness", 1.0}}).isRight);
        const LessonVerdict verdict =
            judge(check, {}, {{"set.skipped", 2.0}, {"set.matchness", 0.8}});
        QVERIFY(verdict.isRight);
        QCOMPARE(verdict.sentence, std::string("2 skipped."));
        QCOMPARE(judge(check, {}, {}).sentence, std::string("Try ...."));
    }

    void factsAreWrittenByTheirUnits() {
        const LessonFacts facts = {{"answer.tokens", 7.0},
                                   {"answer.speedup", 1.2345},
                                   {"set.matchness", 0.8},
                                   {"round.stop", std::string("verify")}};
        QCOMPARE(filledIn("{{answer.tokens}}, {{answer.speedup}}; {{set.matchness}} {{round.stop}}",
                          facts),
                 std::string("7, 1.23\u00D7; 0.80 verify"));
        QCOMPARE(filledIn("{{round.rows}} {{no such}} {{", facts), std::string("... ... {{"));
    }

    void aHintDoesNotNameWhatIsNotKnownYet() {
        const std::string hint = "Choose a cell. Now: layer {{lens.layer}}, {{lens.probability}}.";
        QCOMPARE(filledInAsKnown(hint, {}), std::string("Choose a cell."));
        QCOMPARE(filledInAsKnown(hint, {{"lens.layer", 3.0}, {"lens.probability", 0.5}}),
                 std::string("Choose a cell. Now: layer 3, 0.50."));
        QCOMPARE(filledInAsKnown("{{lens.layer}} is wrong.", {}), std::string("... is wrong."));
    }

    void aWrongLessonIsRefusedByName_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const char* from, const char* to, const char* named) {
            QTest::newRow(name) << QString(from) << QString(to) << QString(named);
        };
        row("no JSON", "{\"format\"", "{format", "small.json");
        row("another file", "swift-lesson", "swift-experiment", "format");
        row("another version", "\"version\": 1", "\"version\": 2", "version 1");
        row("unknown member", "\"summary\"", "\"sumary\"", "sumary");
        row("unknown view", "\"layer_map\"", "\"layer map\"", "did you mean layer_map");
        row("unknown fact",
            "set.skipped\", \"at_least\"",
            "set.skiped\", \"at_least\"",
            "set.skipped");
        row("unknown fact in a text",
            "\"{{answer.tokens}}\"",
            "\"{{answer.token}}\"",
            "answer.token");
        row("no right answer", "\"right\": true, ", "", "right answer");
        row("no reply", "\"Look again.\"", "\"\"", "reply");
        row("a word compared with a number",
            "set.skipped\", \"at_least\": 1",
            "round.stop\", \"at_least\": 1",
            "word");
        row("a share above 1",
            "set.matchness\", \"at_least\": 0.8",
            "set.matchness\", \"at_least\": 1.2",
            "can never hold");
        row("a number below 0", "\"at_least\": 1}", "\"at_most\": -1}", "never below 0");
        row("a condition that excludes itself",
            "\"at_least\": 0.8}",
            "\"at_least\": 0.8, \"at_most\": 0.5}",
            "set.matchness exclude each other");
        row("conditions that exclude each other",
            "{\"fact\": \"set.matchness\", \"at_least\": 0.8}",
            "{\"fact\": \"set.skipped\", \"at_most\": 0}",
            "set.skipped exclude each other");
        row("a stop that there is not",
            "{\"fact\": \"set.matchness\", \"at_least\": 0.8}",
            "{\"fact\": \"round.stop\", \"is\": \"verfy\"}",
            "did you mean verify");
        row("two things at once",
            "{\"flip\": \"mlp 3\"}]",
            "{\"flip\": \"mlp 3\", \"search\": true}]",
            "exactly one");
        row("nothing to do", "{\"flip\": \"mlp 3\"}]", "{}]", "exactly one");
        row("no sublayer", "\"mlp 3\"", "\"mlp\"", "attention 12");
        row("a question of blanks",
            "{\"flip\": \"mlp 3\"}],\n",
            "{\"ask\": \" \\n\"}],\n",
            "blanks only");
        row("a comparison of blanks",
            "{\"flip\": \"mlp 3\"}],\n",
            "{\"compare\": \" \"}],\n",
            "blanks only");
        row("copies of a model that has none",
            "{\"flip\": \"mlp 3\"}],\n",
            "{\"skip_copies\": true}],\n",
            "needs.model");
        row("a round that there is not",
            "{\"flip\": \"mlp 3\"}],\n",
            "{\"stop\": \"verify\", \"round\": \"bets\"}],\n",
            "did you mean best");
        row("a round without a stop",
            "{\"flip\": \"mlp 3\"}],\n",
            "{\"flip\": \"mlp 3\", \"round\": \"best\"}],\n",
            "belongs to a stop");
        row("actions without a button", "\"button\": \"Skip\", ", "", "button");
        row("no solution", "\"solution\": [{\"flip\": \"mlp 3\"}]", "\"solution\": []", "solution");
        row("no hint", "\"Try {{round.stop}}.\"", "\"\"", "hint");
        row("another model",
            "\"steps\": [",
            "\"needs\": {\"model\": \"big\"}, \"steps\": [",
            "planted");
    }

    void aWrongLessonIsRefusedByName() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, named);
        const std::string changed = with(kSteps, from.toStdString(), to.toStdString());
        QVERIFY(!changed.empty());
        const auto lesson = readLesson(changed, kText, "small.json");
        QVERIFY(!lesson);
        const Error& error = lesson.error();
        const QString told = QString::fromStdString(error.message + " " + error.hint);
        QVERIFY2(told.contains(named), qPrintable(told));
        QVERIFY2(told.startsWith("small.json"), qPrintable(told));
    }

    void aPartThatIsTooLongIsRefusedBeforeItIsLookedAt() {
        const auto told = [](const std::string& from, const std::string& to) {
            const auto lesson = readLesson(with(kSteps, from, to), kText, "small.json");
            return lesson ? QString() : QString::fromStdString(lesson.error().message);
        };
        const auto repeated = [](const std::string& part, int count) {
            std::string list = part;
            for (int i = 1; i < count; ++i)
                list += ", " + part;
            return list;
        };
        const std::string condition = R"({"fact": "set.matchness", "at_least": 0.8})";
        QVERIFY(told(condition, repeated(condition, 500)).contains("more than 12 entries"));
        const std::string answer = R"({"text": "None", "reply": "Look again."})";
        QVERIFY(told(answer, repeated(answer, 12)).contains("more than 12 entries"));
        const std::string action = R"({"flip": "mlp 3"})";
        QVERIFY(told(action, repeated(action, 41)).contains("more than 40 entries"));
        QVERIFY(told("A lesson", std::string(201, 'x')).contains("more than 200 characters"));
        QVERIFY(told("\"Skip\"", '"' + std::string(41, 'x') + '"').contains("40 characters"));
        QVERIFY(told("Look again.", std::string(2001, 'x')).contains("2000 characters"));
        std::string umlauts;
        for (int i = 0; i < 40; ++i)
            umlauts += "\u00E4";
        QCOMPARE(told("\"Skip\"", '"' + umlauts + '"'), QString()); // characters, not bytes
        const QString view = told("layer_map", std::string(150, 'x'));
        QVERIFY(view.contains("xxx...") && !view.contains(QString(61, 'x')));
        const auto tooLong =
            readLesson(kSteps, with(kText, "See", std::string(20'001, 'x')), "small.json");
        QVERIFY(!tooLong && tooLong.error().message.find("20000 bytes") != std::string::npos);
    }

    void aMissingOrAdditionalStepOfTheTextIsNamed() {
        const auto told = [](const std::string& text) {
            const auto lesson = readLesson(kSteps, text, "small.json");
            return lesson ? QString() : QString::fromStdString(lesson.error().message);
        };
        QVERIFY(told("# A lesson\n\n## First\n\nText.\n").contains("step 2, \"Second\""));
        QVERIFY(told(kText + "\n## Third\n\nText.\n").contains("\"Third\""));
        QVERIFY(told(with(kText, "## First", "## Fist")).contains("\"Fist\""));
        QVERIFY(told(with(kText, "See {{answer.tokens}} tokens.\n", "")).contains("no text"));
        QVERIFY(
            told(with(kText, "{{answer.tokens}}", "{{answer.token}}")).contains("answer.token"));
    }

    void theLessonsOfTheProgramAreRightAndInOrder() {
        std::map<int, std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
            if (entry.path().extension() != ".json")
                continue;
            const auto lesson = readLessonFile(entry.path());
            QVERIFY2(lesson, lesson ? "" : lesson.error().message.c_str());
            const Lesson& read = lesson.value();
            QCOMPARE(entry.path().stem().string(), fmt::format("{:02}_{}", read.order, read.name));
            QVERIFY2(names.emplace(read.order, read.name).second, read.name.c_str());
            QVERIFY2(std::ranges::all_of(
                         read.steps, [](const LessonStep& step) { return step.check.has_value(); }),
                     read.name.c_str());
        }
        QVERIFY(names.size() >= 8);
        QCOMPARE(names.begin()->first, 1);
        QCOMPARE(names.rbegin()->first, static_cast<int>(names.size()));
    }

    void theReadmeNamesEveryFactAndEveryView() {
        const std::string readme = support::fileText(kFolder + "/README.md");
        std::set<std::string_view> seen;
        for (const LessonFactInfo& info : kLessonFacts) {
            QVERIFY2(seen.insert(info.name).second, info.name.data());
            QVERIFY2(readme.find(fmt::format("| `{}` |", info.name)) != readme.npos,
                     info.name.data());
            QVERIFY2(readme.find(info.meaning) != readme.npos, info.meaning.data());
        }
        for (const std::string_view view : kLessonViews)
            QVERIFY2(readme.find(fmt::format("`{}`", view)) != readme.npos, view.data());
    }
};

QTEST_GUILESS_MAIN(LessonTest)
#include "lesson_test.moc"
