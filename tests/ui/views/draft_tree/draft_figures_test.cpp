// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/draft_tree/draft_tree_view.h"
#include "ui/views/draft_tree/mask_view.h"

#include <QScrollArea>
#include <QTest>

#include <memory>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// Two choices behind the root, and at depth 2 choices behind both of them.
StepFinished branchedStep() {
    StepFinished step = draftStep(1, 0, {"a", "c"}, 2, "x");
    step.draftTexts = {"a", "c", "b", "d", "e", "f"};
    step.draft.push_back({11, -1, 1, 0.3}); // b
    step.draft.push_back({12, 0, 1, 0.2});  // d, behind a
    step.draft.push_back({13, 2, 0, 0.2});  // e, behind b
    step.draft.push_back({14, 2, 1, 0.1});  // f, behind b
    step.verifiedRows = 7;
    return step;
}

} // namespace

/// What the draft tree and its mask say in tables and tips, and of which step.
class DraftFiguresTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;

    void choose(const Selection::Token& token) {
        m_stage->selection.setToken(token);
        m_stage->bridge.markChanged(Topic::Selection);
        m_stage->bridge.tick();
    }

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    /// As the answer marks it and slow motion tells it.
    void aChoiceIsCountedAmongThoseBehindTheSameToken() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(branchedStep());
        m_stage->bridge.tick();
        QStringList choices;
        for (const QStringList& row : view.table().rows)
            choices << row.at(1) + row.at(2);
        QCOMPARE(choices, QStringList({"a1", "b2", "c1", "d2", "e1", "f2"}));
    }

    void theStepOfAChosenTokenIsShownAndCountedAsInItsMessage() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(branchedStep());
        m_stage->engine->say(draftStep(1, 1, {"later"}, 1, "!"));
        m_stage->bridge.tick();
        QCOMPARE(view.picture().comb().rows.size(), std::size_t(1));
        QCOMPARE(view.subtitle(), QStringLiteral("step 2"));
        choose({1, 0});
        QCOMPARE(view.picture().comb().rows.size(), std::size_t(2));
        QCOMPARE(view.subtitle(), QStringLiteral("step 1"));
        choose({1, 0, 50}); // the answer was continued behind its 50th step
        QCOMPARE(view.subtitle(), QStringLiteral("step 51"));
    }

    /// As its message counts: a click on a token of the step changes nothing.
    void aContinuedAnswerCountsItsStepsOn() {
        DraftTreeView tree(m_stage->context());
        MaskView mask(m_stage->context());
        tree.show();
        mask.show();
        m_stage->tell(promptStarted(1));
        m_stage->tell(branchedStep());
        m_stage->tell(draftStep(1, 1, {"later"}, 1, "!"));
        m_stage->tell(promptFinished(1));
        PromptStarted goesOn = promptStarted(2);
        goesOn.continuesLast = true;
        goesOn.firstStep = 2;
        m_stage->tell(goesOn);
        m_stage->tell(draftStep(2, 0, {"on"}, 1, "."));
        for (const View* view : {static_cast<View*>(&tree), static_cast<View*>(&mask)})
            QCOMPARE(view->subtitle(), QStringLiteral("step 3"));
        choose({2, 0, 2});
        for (const View* view : {static_cast<View*>(&tree), static_cast<View*>(&mask)})
            QCOMPARE(view->subtitle(), QStringLiteral("step 3"));
    }

    void aSearchOutOfSightLeavesTheTreeOfTheAnswer() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->tell(promptStarted(1));
        m_stage->tell(branchedStep());
        m_stage->tell(promptFinished(1));
        m_stage->tell(promptStarted(kFirstHiddenPrompt + 1));
        m_stage->tell(draftStep(kFirstHiddenPrompt + 1, 3, {"hidden"}, 1, "!"));
        QCOMPARE(view.picture().comb().rows.size(), std::size_t(2));
        QCOMPARE(view.subtitle(), QStringLiteral("step 1"));
    }

    /// Such as with Vanilla: no tree of an older answer stands beside it.
    void anAnswerWithoutADraftSaysSo() {
        DraftTreeView tree(m_stage->context());
        MaskView mask(m_stage->context());
        tree.show();
        mask.show();
        m_stage->tell(promptStarted(1));
        m_stage->tell(branchedStep());
        m_stage->tell(promptFinished(1));
        m_stage->tell(promptStarted(2)); // its prompt is read
        QVERIFY(!tree.table().rows.empty());
        m_stage->tell(plainStep(2, 0, "p", 1.0));
        QVERIFY(tree.table().rows.empty() && mask.table().rows.empty());
        for (const QWidget* view : {static_cast<QWidget*>(&tree), static_cast<QWidget*>(&mask)})
            QVERIFY(view->findChild<LiveLabel*>()->text().startsWith(
                QStringLiteral("A plain step: one token by the full model, nothing was drafted.")));
    }

    void noOtherAnswersTreeIsShownForAChosenToken() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->tell(promptStarted(1));
        m_stage->tell(branchedStep());
        const auto isGone = [&view] {
            return view.picture().comb().rows.empty() && view.subtitle().isEmpty() &&
                   view.findChild<LiveLabel*>()->text() ==
                       QStringLiteral("The round of this token cannot be shown.");
        };
        choose({}); // of an answer from before this start
        QVERIFY(isGone());
        choose({7, 0}); // of one that was dropped
        QVERIFY(isGone());
        choose({1, 0});
        QVERIFY(!isGone());
        m_stage->tell(promptFinished(1));
        m_stage->tell(loadedModel()); // steps of another model are dropped
        m_stage->tell(promptStarted(2));
        m_stage->tell(draftStep(2, 0, {"a", "b"}, 1, "x"));
        QVERIFY(isGone());
        m_stage->selection.setToken(std::nullopt);
        m_stage->bridge.markChanged(Topic::Selection);
        m_stage->bridge.tick();
        QVERIFY(!isGone());
        QCOMPARE(view.subtitle(), QStringLiteral("step 1"));
    }

    /// Where the keyboard stops; a low tree has no room for its sentence.
    void aLowTreeSaysItsSentenceToAScreenReader() {
        DraftTreeView view(m_stage->context(), DraftTreeForm::Compact);
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(branchedStep());
        m_stage->bridge.tick();
        const QString told = view.findChild<QScrollArea*>()->accessibleDescription();
        QVERIFY2(told.startsWith(QStringLiteral("6 candidates checked in one pass: ")),
                 qPrintable(told));
    }

    void theTipOfARowOfTheMaskIsItsTokenAsItIs() {
        MaskView view(m_stage->context());
        view.show();
        StepFinished step = branchedStep();
        step.draftTexts[0] = "<b>\"&";
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(step);
        m_stage->bridge.tick();
        const MaskModel& model = view.model();
        QCOMPARE(model.headerData(1, Qt::Vertical, Qt::DisplayRole).toString(),
                 QStringLiteral("<b>\"&"));
        QCOMPARE(shownTip(model.headerData(1, Qt::Vertical, Qt::ToolTipRole).toString()),
                 QStringLiteral("<b>\"&"));
    }
};

QTEST_MAIN(DraftFiguresTest)
#include "draft_figures_test.moc"
