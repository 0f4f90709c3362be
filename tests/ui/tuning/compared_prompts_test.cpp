// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/tuning/scripted_tuning.h"
#include "ui/tuning/compare/compared_prompts.h"

#include <QTest>

#include <cmath>

using namespace support;
using namespace ui;

/// What is read of the lines of `swift-run compare --json`, and what they say together.
class ComparedPromptsTest : public QObject {
    Q_OBJECT

    using Script = ScriptedTuning;

    static void take(ComparedPrompts& prompts, const QByteArrayList& lines) {
        for (const QByteArray& line : lines)
            prompts.take(line);
    }

    /// Prompts of which each takes so long with the adapter and without it, 200 ms plainly.
    static ComparedPrompts promptsOf(const std::vector<std::pair<double, double>>& times) {
        ComparedPrompts prompts;
        int line = 0;
        for (const auto& [with, without] : times)
            take(prompts, Script::compared(++line, 200.0, with, without, 10));
        return prompts;
    }

private slots:

    void speedsAreThoseOfTheSums() {
        ComparedPrompts prompts;
        QCOMPARE(prompts.part(), 0.0);
        take(prompts, Script::compared(1, 200, 100, 160, 4));
        take(prompts, Script::compared(2, 400, 300, 240, 4, false));
        QCOMPARE(prompts.prompts().size(), std::size_t(2));
        QCOMPARE(prompts.planned(), 4);
        QCOMPARE(prompts.part(), 0.5);
        const ComparedSum all = prompts.all();
        QCOMPARE(all.prompts, 2);
        QCOMPARE(all.with, 600.0 / 400.0);
        QCOMPARE(all.without, 600.0 / 400.0);
        QCOMPARE(all.acceptance.value(), 0.5);
        QCOMPARE(all.tokensPerRound, 2.0);
        QCOMPARE(all.differing, 1);
        const auto tasks = prompts.byTask();
        QCOMPARE(tasks.size(), std::size_t(2));
        QCOMPARE(tasks.at(QStringLiteral("long_story")).with, 2.0);
        QCOMPARE(tasks.at(QStringLiteral("code")).without, 400.0 / 240.0);
        QCOMPARE(tasks.at(QStringLiteral("code")).differing, 1);
    }

    void aPromptCountsOnceAllThreeHaveAnsweredIt() {
        ComparedPrompts prompts;
        QByteArrayList lines = Script::compared(1, 200, 100, 160, 4);
        const QByteArray last = lines.takeLast();
        take(prompts, lines);
        QVERIFY(prompts.prompts().empty());
        QCOMPARE(prompts.part(), 0.0);
        prompts.take(last);
        QCOMPARE(prompts.prompts().size(), std::size_t(1));
        take(prompts, lines); // the next prompt, of which one has failed
        take(prompts, Script::compared(3, 200, 100, 160, 4));
        QCOMPARE(prompts.prompts().size(), std::size_t(2));
    }

    void otherLinesTellOfNoAnswer_data() {
        QTest::addColumn<QByteArray>("line");
        const QByteArray good = Script::compared(1, 200, 100, 160, 4).front();
        QTest::newRow("words") << QByteArray("error: no JSON");
        QTest::newRow("the end") << QByteArray(R"({"event":"done","prompts":4})");
        QTest::newRow("cut") << good.chopped(5);
        QTest::newRow("no tokens") << QByteArray(good).replace(R"("output_tokens":100,)", "");
        QTest::newRow("fewer than none")
            << QByteArray(good).replace(R"("steps":100)", R"("steps":-1)");
        QTest::newRow("no time") << QByteArray(good).replace("[100,100]", "[0,0]");
    }

    void otherLinesTellOfNoAnswer() {
        QFETCH(const QByteArray, line);
        ComparedPrompts prompts;
        QVERIFY(!prompts.take(line));
        QVERIFY(prompts.prompts().empty());
    }

    void withoutDraftsThereIsNoAcceptance() {
        ComparedPrompts prompts;
        for (QByteArray& line : Script::compared(1, 200, 100, 160, 4))
            prompts.take(line.replace(R"("draft_steps":80,"accepted":40)",
                                      R"("draft_steps":0,"accepted":0)"));
        QVERIFY(!prompts.all().acceptance);
    }

    void scoresAreThoseOfPromptsThatAllHaveOne() {
        ComparedPrompts prompts;
        take(prompts, Script::comparedCopy(1, 200, 100, 160));
        take(prompts, Script::comparedCopy(2, 200, 100, 160));
        const auto tasks = prompts.byTask();
        QCOMPARE(tasks.at(QStringLiteral("long_story")).score.value(), 0.25);
        QCOMPARE(tasks.at(QStringLiteral("long_story")).scoreBefore.value(), 0.5);
        QVERIFY(!tasks.at(QStringLiteral("code")).score);
        QVERIFY(!prompts.all().score); // a part of them is not all
    }

    void aCopyHasAGainOverItsOwnPlainDecoding() {
        ComparedPrompts prompts;
        for (int line = 1; line <= 6; ++line)
            take(prompts, Script::comparedCopy(line, 200, 100, 160));
        QCOMPARE(prompts.prompts().size(), std::size_t(6));
        QCOMPARE(prompts.gainOverPlain().value().gain, 2.0);
        QCOMPARE(prompts.gain().value().gain, 1.6); // over the model's
    }

    void aGainThatIsTheSameEverywhereIsSure() {
        const auto gain =
            promptsOf({{100, 120}, {50, 60}, {200, 240}, {10, 12}, {20, 24}, {30, 36}}).gain();
        QVERIFY(gain);
        QCOMPARE(gain->gain, 1.2);
        QVERIFY(std::abs(gain->low - 1.2) < 1e-9 && std::abs(gain->high - 1.2) < 1e-9);
    }

    /// Ratios 1.5 and 0.9 of equal times: 1.2, within what single prompts say.
    void aGainThatVariesHasARange() {
        const auto gain =
            promptsOf({{100, 150}, {100, 90}, {100, 150}, {100, 90}, {100, 150}, {100, 90}}).gain();
        QVERIFY(gain);
        QCOMPARE(gain->gain, 1.2);
        QVERIFY(gain->low >= 0.9 && gain->low < 1.1);
        QVERIFY(gain->high <= 1.5 && gain->high > 1.3);
    }

    void fewPromptsHaveNoGain() {
        QVERIFY(!promptsOf({{100, 120}, {100, 120}, {100, 120}, {100, 120}, {100, 120}}).gain());
        QVERIFY(!ComparedPrompts().gain());
    }
};

QTEST_GUILESS_MAIN(ComparedPromptsTest)
#include "compared_prompts_test.moc"
