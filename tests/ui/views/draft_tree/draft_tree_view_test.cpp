// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/origin/token_mark.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/draft_tree/choice_sentence.h"
#include "ui/views/draft_tree/draft_end_text.h"
#include "ui/views/draft_tree/draft_tree_view.h"
#include "ui/views/draft_tree/mask_view.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// " delta" then two choices, of which the second is accepted: the mock-up's end of a draft.
StepFinished combStep() {
    StepFinished step = draftStep(1, 0, {" delta", " count"}, 1, " x");
    step.draftTexts = {" delta", " count", " n", " len"};
    step.draft.push_back({7, 0, 1, 0.41});
    step.draft.push_back({8, 0, 2, 0.05});
    step.draft[1].probability = 0.46;
    step.confidences = {0.98, 0.46};
    step.path = {0, 2};
    step.tokens.insert(step.tokens.begin() + 1, token(7, " n", TokenOrigin::Sibling, 0.41));
    step.verifiedRows = 5;
    return step;
}

/// The same with two masks behind the root, one of them on the other, and one behind each of the
/// first two nodes, as SPACE lays them out.
StepFinished maskedStep() {
    StepFinished step = combStep();
    step.sides = {{50, -1}, {50, 4}, {50, 0}, {50, 2}};
    step.sideTexts = {"<mask>", "<mask>", "<mask>", ""};
    step.verifiedRows += 4;
    return step;
}

} // namespace

class DraftTreeViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;

private slots:

    void init() { m_stage = std::make_unique<ViewStage>(); }

    void aCombHasTheFirstChoicesAndTheirAlternatives() {
        const DraftComb comb = makeDraftComb(combStep(), QStringLiteral("="));
        QCOMPARE(comb.rows.size(), std::size_t(2));
        QCOMPARE(comb.rows[0].firstChoice.index, 0);
        QVERIFY(comb.rows[0].firstChoice.isAccepted);
        QCOMPARE(comb.rows[0].choices, 1);
        QCOMPARE(comb.rows[1].choices, 3);
        QVERIFY(!comb.rows[1].firstChoice.isAccepted);
        QCOMPARE(comb.rows[1].alternatives.size(), std::size_t(2));
        QVERIFY(comb.rows[1].alternatives[0].isAccepted);
        QCOMPARE(comb.accepted, 2);
    }

    void aTreeThatIsHigherThanItsDockScrolls() {
        DraftTreeView view(m_stage->context());
        view.resize(346, 200);
        view.show();
        m_stage->tell(promptStarted(1));
        m_stage->tell(draftStep(1, 0, {" a", " b", " c", " d", " e", " f", " g", " h"}, 8, " x"));
        for (int turn = 0; turn < 4; ++turn)
            QCoreApplication::processEvents();
        const auto* scroll = view.findChild<QScrollArea*>();
        QVERIFY(view.picture().height() >= view.picture().sizeHint().height());
        QVERIFY(view.picture().height() > scroll->viewport()->height());
        QVERIFY(scroll->verticalScrollBar()->isVisible());
    }

    /// A dock of the chat is low: the root and some rows are seen there, and no sentence above
    /// them.
    void aCompactTreeHasItsPlaceForTheTree() {
        DraftTreeView view(m_stage->context(), DraftTreeForm::Compact);
        view.resize(296, 137);
        view.show();
        const auto show = [this](View& shown) { // however soon after the last picture
            m_stage->bridge.tick();
            shown.refresh(shown.info().topics);
            m_stage->settle();
        };
        show(view);
        const auto* sentence = view.findChild<LiveLabel*>();
        const auto* scroll = view.findChild<QScrollArea*>();
        QVERIFY(sentence->isVisible() && !scroll->isVisible()); // nothing was drafted yet
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(combStep());
        show(view);
        QVERIFY(!sentence->isVisible());
        QVERIFY(scroll->isVisible() && scroll->height() >= 130);
        DraftTreeView full(m_stage->context());
        full.show();
        show(full);
        QVERIFY(view.picture().sizeHint().height() < full.picture().sizeHint().height());
        QVERIFY(view.picture().toolTip().contains(QStringLiteral("4 candidate")));
        // A plain step has no tree, but a reason.
        m_stage->engine->say(plainStep(1, 1, "p", 1.0));
        m_stage->selection.setToken(Selection::Token{1, 3});
        show(view);
        QVERIFY(sentence->isVisible() && !scroll->isVisible());
        QVERIFY(sentence->text().startsWith(QStringLiteral("A plain step")));
    }

    /// In a low dock the tree comes before the sentence, which the tool tip has.
    void aLowTreeLeavesItsSentenceToTheToolTip() {
        DraftTreeView view(m_stage->context());
        view.resize(346, 330);
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(combStep());
        m_stage->bridge.tick();
        const auto* sentence = view.findChild<LiveLabel*>();
        QVERIFY(sentence->isVisible());
        view.resize(346, 230);
        QVERIFY(!sentence->isVisible());
        QVERIFY(view.picture().toolTip().contains(sentence->text()));
    }

    /// The reason is the step's own: settings of another decoder say nothing of it.
    void whatEndedTheDraftIsWhatTheStepTells() {
        DraftTreeView view(m_stage->context());
        view.resize(346, 400);
        view.show();
        m_stage->tell(promptStarted(1));
        StepFinished step = combStep();
        step.draftEnd = {DraftEndReason::Price, 0.31, 0.36};
        m_stage->tell(step);
        const QString told = view.picture().endText();
        QVERIFY2(told.contains("0.31 tokens") && told.contains("0.36 plain steps"),
                 qPrintable(told));
        DecoderChosen chosen;
        chosen.settings["epsilon"] = 0.8;
        m_stage->tell(chosen);
        QCOMPARE(view.picture().endText(), told);
        step.draftEnd = {DraftEndReason::Unsure, 0.46, 0.8};
        step.step = 1;
        m_stage->tell(step);
        QVERIFY(view.picture().endText().contains("0.46 < threshold 0.80"));
        step.draftEnd = {};
        step.step = 2;
        m_stage->tell(step);
        QVERIFY(view.picture().endText().isEmpty()); // nothing is made up
    }

    void everyReasonHasItsOwnWords() {
        QSet<QString> words;
        for (int reason = 1; reason <= static_cast<int>(DraftEndReason::Measuring); ++reason)
            words << draftEndText({static_cast<DraftEndReason>(reason), 0.1, 1.0});
        QCOMPARE(words.size(), static_cast<int>(DraftEndReason::Measuring));
        QVERIFY(!words.contains(QString()) && words.contains("limit of 1 candidate reached"));
    }

    void anotherModelEmptiesTheTreeUntilItsFirstStep() {
        DraftTreeView tree(m_stage->context());
        MaskView mask(m_stage->context());
        tree.show();
        mask.show();
        m_stage->tell(loadedModel());
        m_stage->tell(promptStarted(1));
        m_stage->tell(combStep());
        QVERIFY(!tree.table().rows.empty());
        QVERIFY(!mask.table().rows.empty());
        m_stage->tell(loadedModel());
        QVERIFY(tree.table().rows.empty());
        QVERIFY(mask.table().rows.empty());
    }

    void aNarrowTreeKeepsItsColumnsApart() {
        m_stage->theme.setTextPercent(150);
        CombPicture picture(m_stage->theme);
        picture.resize(290, 200);
        const QImage image = picture.grab().toImage();
        const Theme& theme = m_stage->theme;
        const int right = picture.width() - theme.scaled(12);
        const int k = QFontMetrics(theme.font(TextRole::Small)).horizontalAdvance(u'k') + 2;
        for (int y = theme.scaled(6); y < theme.scaled(26); ++y)
            for (int x = right - theme.scaled(21); x < right - k; ++x)
                QCOMPARE(image.pixelColor(x, y), theme.colours().panel);
    }

    void aBranchOffTheSpineIsShownAtItsDepth() {
        StepFinished step = combStep();
        step.draft.push_back({9, 2, 0, 0.7}); // behind the accepted alternative
        const DraftComb comb = makeDraftComb(step, {});
        QCOMPARE(comb.rows.size(), std::size_t(3));
        QCOMPARE(comb.rows[2].firstChoice.index, -1);
        QCOMPARE(comb.rows[2].alternatives.size(), std::size_t(1));
    }

    void aParentThatComesLaterInARecordingDoesNoHarm() {
        StepFinished step = combStep();
        step.draft[0].parent = 3;
        step.draft[1].parent = 1;
        QCOMPARE(makeDraftComb(step, {}).rows.empty(), false);
        QCOMPARE(verificationMask(step).size(), step.draft.size() + 1);
    }

    void rowsBesideTheDraftStandWithTheNodeTheyHangOn() {
        const DraftComb comb = makeDraftComb(maskedStep(), QStringLiteral("="));
        QCOMPARE(comb.sideCount, 4);
        QCOMPARE(comb.rootSides.size(), std::size_t(2));
        QCOMPARE(comb.rootSides[1].depth, 2);
        QCOMPARE(comb.rows[0].sides.size(), std::size_t(1));
        QCOMPARE(comb.rows[1].sides.size(), std::size_t(1));
        QCOMPARE(comb.rows[1].sides[0].depth, 3);
        QCOMPARE(comb.rows[1].sides[0].text, QStringLiteral("#50")); // without a tokenizer
        QCOMPARE(comb.rows[1].choices, 3);                           // they are no candidates
        QCOMPARE(comb.accepted, 2);
    }

    void rowsBesideTheDraftAreToldAsWhatCannotBeAccepted() {
        DraftTreeView view(m_stage->context());
        view.resize(346, 400);
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(maskedStep());
        m_stage->bridge.tick();
        QVERIFY(view.picture().accessibleDescription().contains(
            QStringLiteral("4 more rows ran in the pass; they cannot be accepted")));
        QVERIFY(view.picture().accessibleDescription().contains(QStringLiteral("4 candidate")));
        const FigureTable table = view.table();
        QCOMPARE(table.rows.size(), std::size_t(8));
        QCOMPARE(table.rows[0],
                 QStringList({"1", visibleTokenText("<mask>"), "beside", "", "cannot be"}));
        QCOMPARE(table.rows[1][0], QStringLiteral("2"));
        m_stage->settle();
        QCOMPARE(view.picture().shownSides(), 4);
    }

    void manyRowsBesideTheDraftAreCountedWhereTheyHaveNoRoom() {
        StepFinished step = maskedStep();
        for (int i = 0; i < 60; ++i)
            step.sides.push_back({51, -1});
        CombPicture picture(m_stage->theme);
        const int before = picture.sizeHint().height();
        picture.show(makeDraftComb(step, QStringLiteral("=")));
        QVERIFY(picture.sizeHint().height() > before); // each row with some is higher
        picture.resize(346, picture.sizeHint().height());
        picture.grab();
        QVERIFY(picture.shownSides() >= 5 && picture.shownSides() < 20);
    }

    /// A window alone, without a draft, is worth a picture, too.
    void aRoundOfNothingButRowsBesideIsShown() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->engine->say(promptStarted(1));
        StepFinished step = plainStep(1, 0, "p", 1.0);
        step.sides = {{7, -1}, {8, 0}};
        step.isBaseline = false;
        m_stage->engine->say(step);
        m_stage->bridge.tick();
        QCOMPARE(view.picture().comb().rootSides.size(), std::size_t(2));
        QVERIFY(view.picture().accessibleDescription().startsWith(
            QStringLiteral("Nothing was drafted. 2 more rows ran in the pass")));
    }

    void aDamagedParentBesideTheDraftDoesNoHarm() {
        StepFinished step = maskedStep();
        step.sides[0].parent = 99;
        step.sides[1].parent = -7;
        step.sideTexts.resize(1);
        const DraftComb comb = makeDraftComb(step, {});
        QCOMPARE(comb.rootSides.size(), std::size_t(2));
        QCOMPARE(verificationMask(step).size(), std::size_t(9));
    }

    void rowsBesideTheDraftSeeTheirParentsAndNobodySeesThem() {
        const auto sees = verificationMask(maskedStep());
        QCOMPARE(sees.size(), std::size_t(9)); // root, 4 nodes, 4 beside
        const auto row = [](std::vector<int> columns) {
            std::vector<bool> seen(9, false);
            for (const int column : columns)
                seen[static_cast<std::size_t>(column)] = true;
            return seen;
        };
        QCOMPARE(sees[5], row({0, 5}));
        QCOMPARE(sees[6], row({0, 5, 6}));    // on the first of them
        QCOMPARE(sees[7], row({0, 1, 7}));    // on node 0
        QCOMPARE(sees[8], row({0, 1, 3, 8})); // on node 2, whose parent is node 0
        for (std::size_t node = 0; node < 5; ++node)
            for (std::size_t side = 5; side < 9; ++side)
                QVERIFY(!sees[node][side]);
    }

    void theMaskNamesRowsBesideTheDraftAndCutsLongNames() {
        MaskView view(m_stage->context());
        view.resize(346, 250);
        view.show();
        m_stage->engine->say(promptStarted(1));
        StepFinished step = maskedStep();
        step.draftTexts[0] = "averyveryverylongtokenwithoutanyblank";
        m_stage->engine->say(step);
        m_stage->bridge.tick();
        const auto* table = view.findChild<QTableView*>();
        QCOMPARE(table->model()->rowCount(), 9);
        const MaskModel& model = view.model();
        QVERIFY(model.headerData(8, Qt::Vertical, Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("cannot be accepted")));
        QVERIFY(!model.headerData(4, Qt::Vertical, Qt::ToolTipRole)
                     .toString()
                     .contains(QStringLiteral("cannot be accepted")));
        QCOMPARE(table->verticalHeader()->textElideMode(), Qt::ElideRight);
        QVERIFY(table->verticalHeader()->width() <= m_stage->theme.scaled(110));
    }

    void eachRowOfTheMaskSeesItsAncestorsAndItself() {
        const auto sees = verificationMask(combStep());
        QCOMPARE(sees[0], std::vector<bool>({true, false, false, false, false}));
        QCOMPARE(sees[2], std::vector<bool>({true, true, true, false, false}));
        QCOMPARE(sees[3], std::vector<bool>({true, true, false, true, false}));
    }

    void theNewestDraftIsShownAndItsFiguresTieOut() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(combStep());
        m_stage->engine->say(plainStep(1, 1, "p", 1.0));
        m_stage->bridge.tick();
        QCOMPARE(view.picture().comb().accepted, 2);
        QCOMPARE(view.table().rows.size(), std::size_t(4));
        QCOMPARE(view.table().rows[2],
                 QStringList({"2", visibleTokenText(" n"), "2", "0.4100", "yes"}));
        QVERIFY(view.subtitle().contains(QStringLiteral("1")));
        QVERIFY(view.picture().accessibleDescription().contains(QStringLiteral("4 candidate")));
    }

    void aStepSaysWhyItWasDraftedSoAndWhatWasRefused() {
        StepFinished step = combStep();
        QVERIFY(choiceSentence(step).isEmpty()); // nothing was chosen
        step.drafter = "skip";
        step.expectedTokens = 3.456;
        step.expectedCost = 2.0;
        step.plainMs = 8.25;
        step.refusedDrafter = "free";
        step.refusedTokens = 1.25;
        step.refusedCost = 1.5;
        QCOMPARE(choiceSentence(step),
                 QStringLiteral("Drafted by skipping layers, because 3.46 tokens were expected in "
                                "the time of 2.00 plain steps (16.5 ms). Not drafted by recalling "
                                "text seen before: only 1.25 tokens were expected in the time of "
                                "1.50 plain steps (12.4 ms)."));
        step.isProbe = true;
        QVERIFY(
            choiceSentence(step).startsWith(QStringLiteral("Tried skipping layers to measure")));
    }

    void aPlainStepSaysWhatWasRefused() {
        StepFinished step = combStep();
        step.drafter = "none";
        step.expectedTokens = step.expectedCost = 1.0;
        QVERIFY(choiceSentence(step).isEmpty());
        step.refusedDrafter = "exit";
        step.refusedTokens = 1.5;
        step.refusedCost = 1.75;
        QCOMPARE(choiceSentence(step),
                 QStringLiteral("Not drafted by an early exit: only 1.50 tokens were expected in "
                                "the time of 1.75 plain steps."));
        step.refusedDrafter = "copy";
        QVERIFY(choiceSentence(step).startsWith(
            QStringLiteral("Not drafted by a 4-bit copy of the weights:")));
    }

    void theChoiceStandsInThePanel() {
        DraftTreeView view(m_stage->context());
        view.show();
        m_stage->engine->say(promptStarted(1));
        StepFinished step = combStep();
        step.drafter = "free";
        step.refusedDrafter = "none";
        m_stage->engine->say(step);
        m_stage->bridge.tick();
        QVERIFY(view.picture().accessibleDescription().contains(
            QStringLiteral("Drafted by recalling text seen before")));
    }

    void theMaskIsATableForScreenReaders() {
        MaskView view(m_stage->context());
        view.show();
        auto* model = view.findChild<MaskModel*>();
        const QAbstractItemModelTester tester(model);
        const auto* note = view.findChild<LiveLabel*>();
        QVERIFY(note->isVisible() && !note->text().isEmpty());
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(combStep());
        m_stage->bridge.tick();
        QVERIFY(!note->isVisible());
        QCOMPARE(model->rowCount(), 5);
        const QString words = model->data(model->index(3, 2), Qt::AccessibleTextRole).toString();
        QVERIFY(words.contains(QStringLiteral("does not see")));
        QCOMPARE(view.table().rows.size(), std::size_t(5));
    }

    void theMaskTellsOnlyWhatChanged() {
        MaskModel model(m_stage->theme);
        const QAbstractItemModelTester tester(&model);
        const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
        const QSignalSpy inserts(&model, &QAbstractItemModel::rowsInserted);
        const QSignalSpy removals(&model, &QAbstractItemModel::columnsRemoved);
        const StepFinished step = combStep();
        model.show(&step, QStringLiteral("="));
        QCOMPARE(inserts.size(), 1);
        QCOMPARE(model.columnCount(), 5);
        model.show(&step, QStringLiteral("="));
        QCOMPARE(inserts.size() + changes.size(), 1); // the same once more tells nothing
        StepFinished other = step;
        other.draftTexts[2] = " m";
        model.show(&other, QStringLiteral("="));
        QCOMPARE(changes.size(), 1);
        QCOMPARE(changes[0][0].toModelIndex().row(), 3);
        QCOMPARE(changes[0][1].toModelIndex().row(), 3);
        const StepFinished masked = maskedStep();
        model.show(&masked, QStringLiteral("="));
        QCOMPARE(model.rowCount(), 9);
        StepFinished chain = draftStep(1, 1, {"later"}, 1, "!");
        chain.draftTexts = {"later"};
        model.show(&chain, QStringLiteral("="));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.columnCount(), 2);
        QCOMPARE(removals.size(), 1);
        QCOMPARE(model.headerData(1, Qt::Vertical, Qt::DisplayRole).toString(),
                 QStringLiteral("later"));
        QVERIFY(model.sees(1, 0) && model.sees(1, 1) && !model.sees(0, 1));
        model.show(nullptr, {});
        QCOMPARE(model.rowCount(), 0);
        QCOMPARE(resets.size(), 0);
    }

    void aDotOfTheMaskStandsWhereARowSeesAColumn() {
        MaskView view(m_stage->context());
        view.resize(346, 250);
        view.show();
        m_stage->engine->say(promptStarted(1));
        m_stage->engine->say(combStep());
        m_stage->bridge.tick();
        m_stage->settle();
        auto* table = view.findChild<QTableView*>();
        const QImage image = table->viewport()->grab().toImage();
        const auto middle = [&](int row, int column) {
            const QPoint at = table->visualRect(table->model()->index(row, column)).center();
            return image.pixelColor(at * image.devicePixelRatio());
        };
        QVERIFY(middle(2, 1) != middle(2, 3)); // node 1 sees its parent, not its sibling
        QCOMPARE(middle(2, 3), m_stage->theme.colours().panel);
    }

    void acceptedAndRejectedDifferWithoutColour() {
        CombPicture picture(m_stage->theme);
        picture.show(makeDraftComb(combStep(), QStringLiteral("=")));
        picture.resize(346, 300);
        const QImage grey = picture.grab().toImage().convertToFormat(QImage::Format_Grayscale8);
        // The rejected first choice is struck through: a dark line across the box's middle.
        const int y = m_stage->theme.scaled(30 + 2 * 32) + m_stage->theme.scaled(23) / 2;
        int dark = 0;
        for (int row = y - 2; row <= y + 2; ++row) {
            int count = 0;
            for (int x = m_stage->theme.scaled(60); x < m_stage->theme.scaled(90); ++x)
                count += qGray(grey.pixel(x, row)) < 150 ? 1 : 0;
            dark = std::max(dark, count);
        }
        QVERIFY2(dark > m_stage->theme.scaled(20), qPrintable(QString::number(dark)));
    }
};

QTEST_MAIN(DraftTreeViewTest)
#include "draft_tree_view_test.moc"
