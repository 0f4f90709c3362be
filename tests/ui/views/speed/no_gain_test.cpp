// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/speed/shown_speed.h"
#include "ui/shell/bars/banner.h"
#include "ui/views/speed/gain_finding.h"
#include "ui/views/speed/no_gain_notice.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace support;
using namespace ui;

namespace {

bool isNear(double value, double wanted, double tolerance) {
    return qAbs(value - wanted) <= tolerance;
}

QPushButton* buttonOf(QWidget& widget, const QString& text) {
    for (QPushButton* button : widget.findChildren<QPushButton*>())
        if (button->text() == text)
            return button;
    return nullptr;
}

} // namespace

/// Where drafting does not pay, and that it is said.
class NoGainTest : public QObject {
    Q_OBJECT

private slots:

    void theNoGainArithmeticIsThatOfTheMockUp() {
        ViewStage stage;
        engine::DecoderChosen chosen;
        chosen.info.lockedLayers = {0, -1};
        stage.say(chosen);
        stage.say(paperPlan());
        sayBaseline(stage);
        QVERIFY(!gainFinding(stage.store));
        stage.say(losingTotals());
        const auto finding = gainFinding(stage.store);
        QVERIFY(finding.has_value());
        QVERIFY(isNear(finding->expected, 0.83, 0.005));
        QVERIFY(isNear(*finding->measured, 0.83, 0.005));
        QVERIFY(isNear(*finding->neededAcceptance(), 0.91, 0.001));
        QVERIFY(isWithoutGain(*finding, false));
        const auto rows = arithmeticRows(*finding);
        QVERIFY(arithmeticSentence(*finding).contains("Skipping 25 of 56 sublayers"));
        QCOMPARE(rows[0].second, QString(".91"));
        QCOMPARE(rows[1].second, QString("148 / 251 = .59"));
        QCOMPARE(rows[2].second, QString("1.60"));
        QCOMPARE(rows[5].second, QString("0.83×"));
        QVERIFY(arithmeticSentence(*finding).contains(
            "saves 9 % of a pass's time, but 4 of 10 drafted tokens are rejected"));
    }

    void noGainIsNeitherSaidTooEarlyNorFlapping() {
        ViewStage stage;
        sayBaseline(stage);
        engine::Statistics early = losingTotals();
        early.total.rounds = kRoundsToJudge - 1;
        stage.say(early);
        QVERIFY(!gainFinding(stage.store));
        const GainFinding close{.factors = {}, .expected = 1.0, .expectedFull = 0.98};
        QVERIFY(!isWithoutGain(close, false));
        QVERIFY(isWithoutGain(close, true));
    }

    /// Its sentence says that the text comes more slowly.
    void whatIsAsFastAsVanillaIsNoLongerCalledSlower() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayBaseline(stage);
        stage.say(losingTotals());
        stage.settle();
        const auto* notice = view.findChild<NoGainNotice*>();
        QVERIFY(notice->isVisible());
        engine::Statistics better = losingTotals();
        better.total.draftMs = 0.0;
        better.total.verifyMs = 0.98 * static_cast<double>(better.total.tokens) * kPlainStepMs;
        stage.say(better);
        sayBaseline(stage, 1);
        stage.settle();
        QVERIFY(isNear(*stage.store.speed().chat().speedup(), 1.02, 0.005));
        QVERIFY(!notice->isVisible());
    }

    void theNoticeShowsWhyAndGoesWhenDismissed() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.resize(452, 400);
        view.show();
        auto* notice = view.findChild<NoGainNotice*>();
        sayBaseline(stage);
        stage.settle();
        QVERIFY(!notice->isVisible());
        stage.say(paperPlan());
        stage.say(losingTotals());
        sayBaseline(stage, 1);
        stage.settle();
        QVERIFY(notice->isVisible());
        QVERIFY(notice->findChild<Banner*>()->notice().sentence.contains("0.83×"));
        // That auto keeps this promise is tested in tests/plugins/auto/auto_choice_test.cpp.
        QVERIFY(notice->findChild<Banner*>()->notice().sentence.contains(
            "Auto drafts in another way instead"));
        // The numbers stand in the head below it already: it takes a line and leaves the plot room.
        const QPushButton* why = buttonOf(*notice, "Why?");
        QVERIFY(notice->height() < 3 * why->height());
        buttonOf(*notice, "Why?")->click();
        QVERIFY(notice->isArithmeticShown());
        QVERIFY(notice->arithmetic().join('\n').contains("148 / 251 = .59"));
        QSignalSpy dismissed(notice, &NoGainNotice::dismissed);
        emit notice->findChild<Banner*>()->closed();
        QCOMPARE(dismissed.count(), 1);
        sayBaseline(stage, 1);
        stage.settle();
        QVERIFY(!notice->isVisible());
    }

    /// Studio asks only behind an answer, which is long enough to be judged at once.
    void whatWasClosedIsToldOfOtherSettings() {
        ViewStage stage;
        NoGainNotice notice(stage.theme);
        sayBaseline(stage);
        stage.say(losingTotals());
        notice.update(gainFinding(stage.store));
        QVERIFY(!notice.isHidden());
        emit notice.findChild<Banner*>()->closed();
        notice.update(gainFinding(stage.store));
        QVERIFY(notice.isHidden());
        stage.say(engine::SpanStarted{2, engine::SpanCause::Settings});
        stage.say(losingTotals());
        notice.update(gainFinding(stage.store));
        QVERIFY(!notice.isHidden());
    }

    void theNumbersGrowWithTheText() {
        ViewStage stage;
        NoGainNotice notice(stage.theme);
        sayBaseline(stage);
        stage.say(losingTotals());
        notice.update(gainFinding(stage.store));
        buttonOf(notice, "Why?")->click();
        const auto sizeOfNumber = [&notice] {
            for (const QLabel* label : notice.findChildren<QLabel*>())
                if (label->text() == QStringLiteral("148 / 251 = .59"))
                    return label->font().pixelSize();
            return 0;
        };
        const int before = sizeOfNumber();
        QVERIFY(before > 0);
        stage.theme.setTextPercent(150);
        QVERIFY(sizeOfNumber() > before);
    }

    /// The notice advises auto, but not to one who has chosen it.
    void whatAutoLosesIsSaidWithoutAdvisingIt() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        engine::DecoderChosen chosen;
        chosen.info.name = "auto";
        stage.say(chosen);
        stage.say(paperPlan());
        stage.say(losingTotals());
        sayBaseline(stage);
        stage.settle();
        QVERIFY(view.findChild<NoGainNotice*>()->isVisible());
        const Notice told = view.findChild<Banner*>()->notice();
        QCOMPARE(told.headline, QString("Drafting does not pay in this chat."));
        QVERIFY2(told.sentence.contains("0.83×"), qPrintable(told.sentence));
        QVERIFY(told.sentence.endsWith("Vanilla does not draft."));
        QVERIFY(!told.sentence.contains("in another way"));
        chosen.info.name = "swift";
        stage.say(chosen);
        stage.say(paperPlan());
        stage.say(losingTotals());
        sayBaseline(stage, 1);
        stage.settle();
        QCOMPARE(view.findChild<Banner*>()->notice().headline,
                 QString("Layer skipping does not pay on this model."));
    }

    void aCopyOfTheWeightsIsNotCalledASkipSet() {
        ViewStage stage;
        engine::DecoderChosen chosen;
        chosen.info.name = "low_precision";
        chosen.info.hasDraftRatio = false;
        stage.say(chosen);
        engine::PlanChanged copy = paperPlan();
        copy.plan.skipped = {};
        copy.reason = "copy";
        stage.say(copy);
        sayBaseline(stage);
        stage.say(losingTotals());
        const auto finding = gainFinding(stage.store);
        QVERIFY(finding.has_value());
        QVERIFY(gainHeadline(*finding).contains("a copy of the weights does not pay"));
        QCOMPARE(arithmeticSentence(*finding),
                 QString("The copy saves 9 % of a pass's time, but 4 of 10 drafted tokens are "
                         "rejected. Drafting would be faster with α above .91 at this c."));
    }

    /// Such as those from the text, which cost no pass.
    void draftsWithoutAPlanAreJudgedToo() {
        ViewStage stage;
        engine::DecoderChosen chosen;
        chosen.info.name = "lookup";
        stage.say(chosen);
        sayBaseline(stage);
        engine::Statistics statistics = losingTotals();
        statistics.total.draftMs = 0.0;
        statistics.total.verifyMs = 247 * 2.0 * kPlainStepMs;
        stage.say(statistics);
        const auto finding = gainFinding(stage.store);
        QVERIFY(finding.has_value());
        QVERIFY(isNear(*finding->measured, 0.80, 0.005));
        QVERIFY(isWithoutGain(*finding, false));
        QCOMPARE(gainHeadline(*finding), QString("Drafting does not pay in this chat."));
        QVERIFY2(arithmeticSentence(*finding).startsWith(
                     "An average step takes as long as 2.00 plain steps and gives 1.60 tokens;"),
                 qPrintable(arithmeticSentence(*finding)));
    }

    void whereSkippingPaysNothingIsSaid() {
        ViewStage stage;
        SpeedView view(stage.context());
        view.show();
        sayPlannedAnswer(stage);
        stage.settle();
        QVERIFY(!view.findChild<NoGainNotice*>()->isVisible());
    }
};

QTEST_MAIN(NoGainTest)
#include "no_gain_test.moc"
