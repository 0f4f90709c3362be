// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/views/learn/lens_stage.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/learn/lens/head_list.h"
#include "ui/views/learn/lens/lens_cell_panel.h"
#include "ui/views/learn/lens/lens_map.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTextDocument>
#include <QTextLayout>

using namespace engine;
using namespace support;
using namespace ui;

class LensViewTest : public QObject, LensStage {
    Q_OBJECT

    /// Of the search, which measures two sublayers.
    void sayTrials() {
        sayTrial(0, .5);
        sayTrial(1, .9);
    }

private slots:

    void cleanup() {
        m_view.reset();
        m_stage.reset();
    }

    void itSaysWhatToDoUntilThereIsSomethingToRead() {
        open();
        QVERIFY(m_view->note().contains("Load a model"));
        m_stage->tell(loadedModel(kLayers));
        m_stage->settle();
        QVERIFY(m_view->note().contains("Ask something"));
        m_stage->tell(promptStarted(kPrompt));
        m_stage->settle();
        QVERIFY(m_view->note().contains("being written"));
        QVERIFY(asked() == nullptr);
    }

    void aCompleteAnswerIsReadOnce() {
        open();
        answer(100);
        QVERIFY(asked() != nullptr);
        QCOMPARE(asked()->promptId, kPrompt);
        QCOMPARE(asked()->first, 0);
        QCOMPARE(asked()->count, LensView::kFirstTokens);
        const std::size_t sent = m_stage->engine->sent.size();
        m_stage->tell(statistics({}));
        m_stage->settle();
        QCOMPARE(m_stage->engine->sent.size(), sent);
    }

    void anAnswerOfAnEarlierModelIsNotAskedFor() {
        open();
        m_view->hide();
        answer();
        m_stage->tell(loadedModel(kLayers));
        m_view->show();
        m_stage->settle();
        QVERIFY(asked() == nullptr); // the engine would refuse it with an error for all to see
        QVERIFY2(m_view->note().contains("before this model was loaded"),
                 qPrintable(m_view->note()));
        m_stage->tell(promptStarted(kPrompt + 1));
        m_stage->tell(plainStep(kPrompt + 1, 0, " word", 10.0));
        PromptFinished finished = promptFinished(kPrompt + 1);
        finished.tokens = {5};
        m_stage->tell(finished);
        m_stage->settle();
        QVERIFY(asked() != nullptr);
        QCOMPARE(asked()->promptId, kPrompt + 1);
    }

    void nothingIsReadWhileTheViewIsHidden() {
        open();
        m_view->hide();
        answer();
        QVERIFY(asked() == nullptr);
        m_view->show();
        m_stage->settle();
        QVERIFY(asked() != nullptr);
    }

    void whatALessonAsksForIsReadWhileTheViewIsHidden() {
        open();
        m_view->hide();
        answer();
        QVERIFY(asked() == nullptr);
        m_view->readOn();
        QVERIFY(asked() != nullptr && !m_view->isAtRest());
        read();
        QVERIFY(m_view->isAtRest());
        QCOMPARE(m_view->model().tokenCount(), 2);
    }

    void theMapHasTwoLinesForEachToken() {
        openAndRead();
        QVERIFY(m_view->note().isEmpty());
        const QAbstractItemModelTester tester(m_view->map().model());
        QCOMPARE(m_view->model().rowCount(), 4);
        QCOMPARE(m_view->model().columnCount(), LensModel::FirstLayerColumn + kLayers);
        for (int depth = 0; depth <= 2 * kLayers; ++depth) {
            const LensPlace place{1, depth};
            QCOMPARE(m_view->model().placeOf(m_view->model().indexOf(place)), place);
        }
        QVERIFY(m_view->model()
                    .data(m_view->model().indexOf({0, 6}), Qt::AccessibleTextRole)
                    .toString()
                    .contains("after the MLP of layer 2: probability .60, rank 1"));
    }

    void aTokenIsFinalWhereItLeadsForGood() {
        openAndRead();
        const LensModel& model = m_view->model();
        QCOMPARE(model.finalText(0), QString("2"));
        QCOMPARE(model.finalText(1), QString("never"));
        for (int depth = 0; depth <= 2 * kLayers; ++depth) {
            QCOMPARE(model.isFinalAt({0, depth}), depth >= 5);
            QVERIFY(!model.isFinalAt({1, depth}));
        }
        QCOMPARE(model.finalBy(), (std::vector{0, 0, 1, 1}));
        QVERIFY(!m_view->finding().isEmpty());
    }

    void coloursFollowTheChoice() {
        openAndRead();
        const LensModel& model = m_view->model();
        QCOMPARE(model.heatOf({0, 6}), .6);
        m_view->colouring().segment(1)->click();
        QCOMPARE(model.heatOf({0, 6}), 1.0);
        QVERIFY(model.heatOf({0, 1}) < .4);
        m_view->colouring().segment(2)->click();
        QVERIFY(model.heatOf({0, 6}) > .5);
        QCOMPARE(model.heatOf({0, 4}), .0); // it had lost the lead there
        const std::unique_ptr<QWidget> legend(m_view->makeLegend(nullptr));
        QVERIFY(!legend->accessibleName().contains("arker")); // in a dark theme it is lighter
    }

    void theLegendTellsWhatTheColoursAreOf() {
        openAndRead();
        const std::unique_ptr<QWidget> made(m_view->makeLegend(nullptr));
        const auto& legend = dynamic_cast<const LensLegend&>(*made);
        QCOMPARE(legend.lowEnd(), QStringLiteral("0"));
        QVERIFY(legend.highEnd().startsWith(QStringLiteral("1 ")));
        QVERIFY(legend.accessibleName().contains(QStringLiteral("probable")));
        m_view->colouring().segment(1)->click();
        QCOMPARE(legend.lowEnd(), QStringLiteral("rank 1,000"));
        QVERIFY(legend.highEnd().startsWith(QStringLiteral("1 ")));
        QVERIFY(legend.accessibleName().contains(QStringLiteral("rank")));
        QVERIFY(!legend.accessibleName().contains(QStringLiteral("probable")));
        m_view->colouring().segment(2)->click();
        QCOMPARE(legend.lowEnd(), QString());
        QVERIFY(!legend.highEnd().contains(QChar('1')));
        QVERIFY(!legend.accessibleName().contains(QStringLiteral("rank")));
        const std::unique_ptr<QWidget> later(m_view->makeLegend(nullptr));
        QCOMPARE(later->accessibleName(), legend.accessibleName());
    }

    void theEmbeddingBelongsToNoLayer() {
        openAndRead();
        const auto facts = [this](int depth) {
            m_view->map().setCurrent({0, depth});
            LessonFacts told;
            m_view->tellFacts(told);
            return told;
        };
        QCOMPARE(std::get<double>(facts(0).at("lens.rank")), 901.0);
        QVERIFY(!facts(0).contains("lens.layer"));
        QCOMPARE(std::get<double>(facts(5).at("lens.layer")), 2.0);
        QCOMPARE(std::get<double>(facts(5).at("lens.final_layer")), 2.0);
    }

    void theSkipSetIsHatched() {
        openAndRead();
        PlanChanged change;
        change.planId = 1;
        change.plan = {kLayers, {{1}, {2}}, -1};
        m_stage->tell(change);
        m_stage->settle();
        const LensModel& model = m_view->model();
        for (int depth = 0; depth <= 2 * kLayers; ++depth)
            QCOMPARE(model.isHatched({0, depth}), depth == 3 || depth == 6);
        QVERIFY(model.sentenceOf({0, 3}).endsWith("skipped in drafts"));
        change.planId = 0;
        change.isBeside = true; // found by a search beside the drafts
        m_stage->tell(change);
        m_stage->settle();
        QVERIFY(model.sentenceOf({0, 3}).endsWith("which no draft uses"));
        m_view->overlay().segment(2)->click();
        QVERIFY(!model.isHatched({0, 3}));
    }

    void exitsAreThoseOfTheDrafts() {
        open();
        m_stage->tell(loadedModel(kLayers));
        m_stage->tell(promptStarted(kPrompt));
        PlanChanged change;
        change.planId = 1;
        change.plan = {kLayers, {}, 1};
        m_stage->tell(change);
        m_stage->tell(draftStep(kPrompt, 0, {" word"}, 1, " drawn"));
        PromptFinished finished = promptFinished(kPrompt);
        finished.tokens = {5, 6};
        m_stage->tell(finished);
        m_stage->settle();
        read();
        m_view->overlay().segment(1)->click();
        const LensModel& model = m_view->model();
        QVERIFY(model.isExit({0, 4})); // behind layer 1
        QVERIFY(!model.isExit({0, 2}));
        QVERIFY(!model.isExit({1, 4})); // the full model's own token
        m_stage->tell(DecoderChosen());
        change.plan.exitAfterLayer = 0;
        m_stage->tell(change);
        m_stage->settle();
        QVERIFY(model.isExit({0, 4}) && !model.isExit({0, 2})); // the answer stays as it is
    }

    void arrowsMoveAlsoBetweenTheTwoLines() {
        openAndRead();
        LensMap& map = m_view->map();
        map.setCurrent({0, 3});
        QTest::keyClick(&map, Qt::Key_Down);
        QCOMPARE(map.current(), (LensPlace{0, 4}));
        QTest::keyClick(&map, Qt::Key_Down);
        QCOMPARE(map.current(), (LensPlace{1, 3}));
        QTest::keyClick(&map, Qt::Key_Right);
        QCOMPARE(map.current(), (LensPlace{1, 5}));
        QTest::keyClick(&map, Qt::Key_Home);
        QCOMPARE(map.current(), (LensPlace{1, 0}));
        QTest::keyClick(&map, Qt::Key_Left); // there is no cell
        QCOMPARE(map.current(), (LensPlace{1, 0}));
    }

    void noFigureOfACellIsBrokenAtTheEndOfALine() {
        openAndRead();
        m_view->map().setCurrent({0, 6});
        const QLabel* facts = nullptr;
        for (const auto* label : m_view->cellPanel().findChildren<QLabel*>())
            if (label->text().startsWith("Rank of the written"))
                facts = label;
        QVERIFY(facts != nullptr);
        QString text = facts->text();
        text.replace('\n', QChar::LineSeparator);
        for (int width = 40; width < 500; width += 3) {
            QTextLayout layout(text, facts->font());
            layout.beginLayout();
            for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
                line.setLineWidth(width);
                const QString before = text.left(line.textStart());
                QVERIFY2(!before.endsWith('.') || !text[line.textStart()].isDigit(),
                         qPrintable(QString::number(width)));
            }
            layout.endLayout();
        }
    }

    void aCellIsToldInWordsAndCanBeBranchedFrom() {
        openAndRead();
        m_view->map().setCurrent({0, 6});
        QTableWidget& best = m_view->cellPanel().best();
        QCOMPARE(best.rowCount(), 3);
        QVERIFY(best.item(0, 1)->text().contains("word"));
        QCOMPARE(best.item(0, 2)->text(), QString(".60"));
        QCOMPARE(best.item(0, 3)->text(), QString(".95"));
        QVERIFY(m_view->cellPanel().factsText().contains("added .20"));
        QSignalSpy asks(m_view.get(), &LensView::branchAsked);
        best.setCurrentCell(0, 1);
        QVERIFY(!m_view->cellPanel().branchButton().isEnabled()); // it was written
        best.setCurrentCell(1, 1);
        QVERIFY(m_view->cellPanel().branchButton().isEnabled());
        m_view->cellPanel().branchButton().click();
        QCOMPARE(asks.count(), 1);
        QCOMPARE(asks[0][0].toULongLong(), quint64{kPrompt});
        QCOMPARE(asks[0][1].toInt(), 0);
        QCOMPARE(asks[0][2].value<TokenChoice>().id, 1);
        QCOMPARE(asks[0][2].value<TokenChoice>().probability, .1);
    }

    void attentionOfTheChosenCellIsAskedFor() {
        openAndRead();
        m_view->map().setCurrent({1, 6});
        QTRY_VERIFY(m_stage->engine->lastSent<ReadAttention>() != nullptr);
        const ReadAttention question = *m_stage->engine->lastSent<ReadAttention>();
        QCOMPARE(question.token, 1);
        QCOMPARE(question.layer, 2);
        AttentionRead told{question.requestId, kPrompt, 1, 2, {}, {" a", " b", " c"}, 2};
        told.heads = {{{.1, .7, .2}, 1.2}, {{1.0, .0, .0}, .0}};
        m_stage->tell(told);
        QCOMPARE(m_view->heads().rowCount(), 2);
        QVERIFY(m_view->heads().item(0, 2)->text().contains('b'));
        QCOMPARE(m_view->heads().item(0, 3)->text(), QString(".70"));
        QCOMPARE(m_view->heads().item(1, 4)->text(), QString("0.0"));
        EngineFailed failed = failedTask(
            "read_attention", {ErrorCode::Unsupported, "This backend does not tell.", "Use cpu."});
        m_view->map().setCurrent({1, 2});
        QTRY_VERIFY(m_stage->engine->lastSent<ReadAttention>()->requestId != question.requestId);
        failed.requestId = m_stage->engine->lastSent<ReadAttention>()->requestId;
        m_stage->tell(failed);
        QCOMPARE(m_view->heads().rowCount(), 0);
        QVERIFY(shownTexts().contains("This backend does not tell."));
    }

    void tokensThatLookLikePlacesOrMarkupAreShownAsTheyAre() {
        open();
        answer();
        LensTokensRead told{asked()->requestId, kPrompt, 0, {earlyToken(), drawnToken()}, {}};
        told.texts = {{5, "%3"}, {6, "<b>x"}};
        m_stage->tell(told);
        QTRY_VERIFY(m_stage->engine->lastSent<ReadAttention>() != nullptr);
        const auto request = m_stage->engine->lastSent<ReadAttention>()->requestId;
        AttentionRead read{request, kPrompt, 0, 2, {}, {"%3", "<b>y"}, 2};
        read.heads.push_back({{.7, .3}, .9});
        m_stage->tell(read);
        QVERIFY(shownTexts().contains(QStringLiteral("before \u201C%3\u201D:")));
        QTextDocument tip;
        tip.setHtml(m_view->heads().item(0, 0)->toolTip());
        QVERIFY(tip.toPlainText().contains(QStringLiteral("%3 at 0: .70, <b>y at 1: .30")));
        const LensModel& model = m_view->model();
        tip.setHtml(model.data(model.indexOf({1, 8}), Qt::ToolTipRole).toString());
        QVERIFY(tip.toPlainText().startsWith(QStringLiteral("<b>x, ")));
    }

    void influenceAndMatchnessCostAreBars() {
        openAndRead();
        QCOMPARE(m_view->bars().rows().size(), 2u);
        QCOMPARE(m_view->bars().rows()[1].attention, (std::vector{.4, .3, .2, .1}));
        QCOMPARE(m_view->bars().rows()[1].mlp, (std::vector{.5, .6, .7, .8}));
        sayTrials();
        QCOMPARE(m_view->bars().rows().size(), 3u);
        QVERIFY(std::abs(m_view->bars().rows()[2].attention[0] - .4) < 1e-12);
        QVERIFY(std::abs(m_view->bars().rows()[2].attention[1] + .4) < 1e-12);
        QCOMPARE(m_view->bars().rows()[2].mlp[3], .0); // never skipped
        QVERIFY(m_view->bars().rows()[2].summary.contains(QStringLiteral("mean of 2 trials")));
        for (const LensBars::Row& row : m_view->bars().rows()) { // beside bars is little room
            const QFontMetrics metrics(m_stage->theme.font(TextRole::Tiny));
            QVERIFY2(metrics.horizontalAdvance(row.note) < 140, qPrintable(row.note));
        }
    }

    void theTableHasTheSameNumbers() {
        openAndRead();
        const FigureTable table = m_view->table();
        QCOMPARE(table.header.size(), 3 + 2 * kLayers);
        QCOMPARE(table.rows.size(), 4u);
        QCOMPARE(table.rows[0][1], QString("2"));
        QCOMPARE(table.rows[0][2 + 6].toDouble(), .6);
        QCOMPARE(table.rows[3][0], QString("influence"));
        for (const QStringList& row : table.rows)
            QCOMPARE(row.size(), table.header.size());
    }

    void whatTheBarsShowIsInTheTable() {
        openAndRead();
        sayTrials();
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), 5u);
        QCOMPARE(table.rows[2].join('|'), QString("final by here||||0||0||1||1"));
        const QStringList& cost = table.rows[4];
        QCOMPARE(cost.size(), table.header.size());
        QCOMPARE(cost[0], QString("matchness cost"));
        QVERIFY(std::abs(cost[3].toDouble() - .4) < 1e-12);
        QVERIFY(cost.back().isEmpty()); // never skipped
    }

    void readingIsStoppedAndGoesOn() {
        open();
        answer(100);
        const ReadLens first = *asked();
        LensTokensRead told{first.requestId, kPrompt, 0, {earlyToken()}, {}};
        m_stage->tell(told);
        QVERIFY(m_view->readButton().isVisible());
        m_view->readButton().click();
        QVERIFY(m_stage->engine->lastSent<StopLens>() != nullptr);
        m_stage->tell(LensFinished{first.requestId, true, {}, .5});
        m_view->readButton().click();
        QVERIFY(asked()->requestId != first.requestId);
        QCOMPARE(asked()->first, 1);
        QCOMPARE(asked()->count, 99);
    }

    void oneTokenIsToldInTheSingular() {
        open();
        answer(1);
        m_stage->tell(LensFinished{asked()->requestId, true, {}, .5});
        QCOMPARE(m_view->readButton().text(), QString("&Read the token"));
        m_view->readButton().click();
        m_stage->tell(LensTokensRead{asked()->requestId, kPrompt, 0, {earlyToken()}, {}});
        QVERIFY(shownTexts().contains("1 of 1 token"));
        QVERIFY(!shownTexts().contains("1 tokens"));
        QCOMPARE(m_view->bars().rows()[0].note, QString("of 1 token"));
        QCOMPARE(m_view->bars().rows()[0].summary,
                 QString("Final at the last layer: 1 of 1 token."));
        QVERIFY(m_view->finding().contains("in 1 of 1 place, after layer 2 in 1."));
        QVERIFY(m_view->model().finding(1).contains("1 layer is a near-silent copy"));
    }

    /// Even while the first is being read.
    void theAnswerOfTheSelectedTokenIsRead() {
        open();
        answer();
        m_stage->tell(promptStarted(kPrompt + 1));
        m_stage->tell(plainStep(kPrompt + 1, 0, " more", 10.0));
        PromptFinished second = promptFinished(kPrompt + 1);
        second.tokens = {5};
        m_stage->tell(second);
        m_stage->settle();
        QCOMPARE(asked()->promptId, kPrompt + 1);
        m_stage->selection.setToken(Selection::Token{kPrompt, 0});
        m_stage->bridge.markChanged(Topic::Selection);
        m_stage->settle();
        QCOMPARE(asked()->promptId, kPrompt);
        read();
        QCOMPARE(m_view->model().tokenCount(), 2);
    }

    void aFailureIsSaidInItsPlace() {
        open();
        answer();
        EngineFailed failed =
            failedTask("read_lens", {ErrorCode::NoMemory, "There is no memory.", "Close some."});
        failed.requestId = asked()->requestId;
        m_stage->tell(failed);
        QVERIFY(m_view->note().contains("There is no memory."));
        QVERIFY(m_view->readButton().isVisible());
    }

    void anotherModelForgetsTheAnswer() {
        openAndRead();
        m_stage->tell(loadedModel(kLayers));
        m_stage->settle();
        QCOMPARE(m_view->model().rowCount(), 0);
        QVERIFY(!m_view->note().isEmpty());
    }

    void repliesToOthersAreLeftAlone() {
        openAndRead();
        m_stage->tell(LensTokensRead{1, kPrompt, 0, {drawnToken()}, {}});
        m_stage->tell(LensFinished{1, true, {}, .5});
        m_stage->settle();
        QCOMPARE(m_view->model().tokenCount(), 2);
    }

    void itFitsANarrowWindowAndLargeText() {
        openAndRead();
        m_stage->theme.setTextPercent(150);
        m_view->resize(760, 560);
        m_stage->settle();
        QVERIFY(m_view->width() <= 760);
        QVERIFY(m_view->map().height() > 100);
        QVERIFY(m_view->cellPanel().isVisible());
        sayTrials();
        for (const QSize size : {QSize(760, 560), QSize(690, 640), QSize(1240, 560)}) {
            m_view->resize(size);
            m_stage->settle();
            QCOMPARE(m_view->bars().rows().size(), 3u);
            QCOMPARE(m_view->bars().height(), m_view->bars().sizeHint().height());
            for (const QLabel* label : m_view->findChildren<QLabel*>())
                if (label->isVisible() && label->text().startsWith(QLatin1String("After layer")))
                    QVERIFY(label->height() >= label->heightForWidth(label->width()));
        }
    }

    void everyControlHasAName() {
        openAndRead();
        QCOMPARE(namelessWidgets(*m_view), QStringList());
    }

private:
    QString shownTexts() const {
        QStringList texts;
        for (const auto* label : m_view->findChildren<QLabel*>())
            texts << label->text();
        return texts.join('\n');
    }
};

QTEST_MAIN(LensViewTest)
#include "lens_view_test.moc"
