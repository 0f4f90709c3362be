// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/tune/tune_stage.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/experiments/report/verdict_band.h"
#include "ui/views/tune/compared/before_after_chart.h"
#include "ui/views/tune/page/empty_tune.h"
#include "ui/views/tune/recipe/output_field.h"
#include "ui/views/tune/recipe/tuning_recipe_choice.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QRadioButton>
#include <QSpinBox>

using namespace support;
using namespace ui;

/// The workspace Tune with the recipes that make a copy of the model, and a script in place of
/// swift-run.
class TuneCopyTest : public QObject, protected TuneStage {
    Q_OBJECT

    void choose(TuningRecipe recipe) {
        QTest::mouseClick(&recipeChoice().button(recipe), Qt::LeftButton, {}, {5, 5});
        QTRY_VERIFY(!desk().session().isReading());
    }

    TuningRecipeChoice& recipeChoice() { return recipe().recipe(); }

    QString usual(const char* key) {
        return script().path(QStringLiteral("models/Tiny-")) + QLatin1String(key);
    }

    QString told() { return Script::told(desk().session().output()).back(); }

    void finishCopy(bool isKept) {
        const QString copy =
            usual("layerskip") + (isKept ? QString() : QStringLiteral("-rejected"));
        QVERIFY(QDir().mkpath(copy));
        script().say({Script::copyStarted(),
                      Script::collected(1'200'000),
                      Script::copyStepped(1000, 0.25, 2.5),
                      Script::withExits(Script::evaluated(1000, 0.6), "0.05,0.2,0.5"),
                      Script::copyDone(copy, isKept)});
        script().endBy("done");
        loadModel();
        choose(TuningRecipe::LayerSkip);
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
    }

private slots:

    void init() {
        m_desk = std::make_unique<Desk>();
        m_desk->open(script().places());
    }

    void cleanup() { m_desk.reset(); }

    void theRecipeIsChosenByKeyAndHidesWhatIsNotItsOwn() {
        m_desk->window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_desk->window.get(), support::kPatienceMs));
        loadModel();
        addPrompts();
        QVERIFY(recipe().use().isVisible());
        QVERIFY(!recipe().output().isVisible());
        QVERIFY(!recipe().trained().isVisible());
        for (const TuningRecipe each : {TuningRecipe::LayerSkip, TuningRecipe::Space}) {
            QRadioButton* focused = &recipeChoice().button(recipeChoice().recipe());
            focused->setFocus();
            QTest::keyClick(focused, Qt::Key_Down);
            QVERIFY(desk().session().recipe() == each);
            QVERIFY(!recipe().use().isVisible());
            QVERIFY(recipe().output().isVisible());
            QVERIFY(recipe().trained().isVisible());
            QCOMPARE(recipe().output().path(), usual(qPrintable(recipeKey(each))));
            QVERIFY(recipe().startButton().isEnabled());
        }
        m_desk->open(script().places()); // the choice is remembered
        QVERIFY(recipeChoice().recipe() == TuningRecipe::Space);
        QCOMPARE(namelessWidgets(*m_desk->window).join(QLatin1Char('\n')), QString());
    }

    void whatIsChosenIsToldToTheProgram() {
        loadModel();
        addPrompts();
        choose(TuningRecipe::Space);
        QTest::mouseClick(recipe().trained().segment(1), Qt::LeftButton);
        recipe().answers().setValue(30'000);
        QVERIFY(says(recipe(), QStringLiteral("30,000 tokens")));
        const QString place = script().path(QStringLiteral("mine"));
        recipe().output().line().setText(place);
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(!Script::told(place).isEmpty());
        QVERIFY(told().contains(QStringLiteral("--recipe space --out ") + place));
        QVERIFY(told().contains(QStringLiteral("--answer-tokens 30000 --set full=on")));
        QVERIFY(!recipeChoice().isEnabled()); // fixed while it runs
        QVERIFY(!recipe().output().isEnabled());
        QVERIFY(says(page(), QStringLiteral("SPACE copy of Tiny")));
        QCOMPARE(desk().note().title, QStringLiteral("SPACE copy of Tiny"));
    }

    void aPlaceThatCannotBeIsSaidBeforeTheStart() {
        loadModel();
        addPrompts();
        choose(TuningRecipe::LayerSkip);
        recipe().output().line().setText(QStringLiteral("here"));
        QVERIFY(!recipe().startButton().isEnabled());
        QVERIFY(says(recipe(), QStringLiteral("with its whole path")));
        recipe().output().line().setText(QFileInfo(script().program()).path());
        QVERIFY(says(recipe(), QStringLiteral("name another folder")));
        recipe().output().line().setText(usual("other"));
        QVERIFY(recipe().startButton().isEnabled());
        recipe().output().line().setText(usual("a <b> & \"c\""));
        QCOMPARE(shownTip(recipe().output().line().toolTip()), usual("a <b> & \"c\""));
    }

    void fewerAnswersThanCanBeLearntFromAreNotTaken() {
        recipe().answers().setFocus();
        recipe().answers().setValue(7);
        QTest::keyClick(&recipe().answers(), Qt::Key_Return);
        QCOMPARE(recipe().answers().value(), 1000);
    }

    void theCostsAreThoseOfTheRecipe() {
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.path = "/models/Tiny";
        loaded.model.name = "Tiny";
        loaded.model.hiddenSize = 576;
        loaded.model.mlpSize = 1536;
        loaded.model.headCount = 9;
        loaded.model.kvHeadCount = 3;
        loaded.model.headDim = 64;
        loaded.model.parameterCount = 134'515'008;
        desk().useModel(loaded);
        QVERIFY(!says(recipe(), QStringLiteral("Memory")));
        choose(TuningRecipe::LayerSkip);
        QVERIFY(says(recipe(), QStringLiteral("Time on this computer")));
        QVERIFY(says(recipe(), QStringLiteral(", a guess until the first steps")));
        QVERIFY(says(recipe(), QStringLiteral("Memory")));
        QVERIFY(says(recipe(), QStringLiteral("about 9,768,960"))); // what the command trains, too
        QTest::mouseClick(recipe().trained().segment(1), Qt::LeftButton);
        QVERIFY(says(recipe(), QStringLiteral("134,515,008")));
        QTest::mouseClick(recipe().length().segment(3), Qt::LeftButton);
        recipe().minutes().setValue(90);
        QVERIFY(says(recipe(), QStringLiteral("about 1 h 30 min")));
        QVERIFY(!says(recipe(), QStringLiteral("a guess")));
    }

    /// Those of Qwen3 are together wider than the model.
    void theCostsFollowTheHeadsAndTheTypeOfTheModel() {
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.path = "/models/Tiny";
        loaded.model.name = "Tiny";
        loaded.model.hiddenSize = 1024;
        loaded.model.mlpSize = 3072;
        loaded.model.headCount = 16;
        loaded.model.kvHeadCount = 8;
        loaded.model.headDim = 128;
        loaded.model.parameterCount = 600'000'000;
        loaded.model.fileBytes = 1'200'000'000;
        desk().useModel(loaded);
        QVERIFY(!desk().session().choice().model.isFloat32);
        choose(TuningRecipe::LayerSkip);
        QVERIFY(says(recipe(), QStringLiteral("about 21,626,880")));
        loaded.path = "/models/Wide";
        loaded.model.fileBytes = 2'400'000'000;
        desk().useModel(loaded);
        QVERIFY(desk().session().choice().model.isFloat32);
    }

    void curvesFollowTheLines() {
        script().say({Script::copyStarted(),
                      Script::copyStepped(100, 0.25, 5.0),
                      Script::withExits(Script::evaluated(100, 0.4), "0.1,0.2,0.3"),
                      Script::copyStepped(200, 0.2, 4.0),
                      Script::withExits(Script::evaluated(200, 0.5), "0.1,0.3,0.5")});
        loadModel();
        choose(TuningRecipe::LayerSkip);
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        const FigureTable losses = view("tune_loss").table();
        QCOMPARE(losses.header,
                 QStringList({"step", "loss", "loss, smoothed", "distance from the model"}));
        QCOMPARE(losses.rows[1][1], QStringLiteral("4"));
        QCOMPARE(losses.rows[1][3], QStringLiteral("0.2"));
        const FigureTable exits = view("tune_exits").table();
        QCOMPARE(exits.rows[2], QStringList({"2", "0.3", "0.5"}));
        QVERIFY(view("tune_exits").isVisible());
        QVERIFY(view("tune_quality").isVisible());
        QVERIFY(view("tune_compared").isVisible());
        QVERIFY(says(page(), QStringLiteral("to see what the copy gives")));
        QVERIFY(!isShown(Action::Compare));
        QVERIFY(page().finding().startsWith(QStringLiteral("The best state so far, step 200")));
        click(Action::Stop);
        QTRY_VERIFY(state() == TuningState::Stopped);
        QCOMPARE(page().button(Action::PauseOrGoOn).text(), QStringLiteral("Continue"));
        click(Action::PauseOrGoOn);
        QTRY_VERIFY(told().endsWith(QStringLiteral("--resume")));
    }

    void masksHaveTheDepthsThatTheyReach() {
        script().say({Script::copyStarted("space"),
                      Script::copyStepped(100, 0.25, 5.0),
                      Script::masksEvaluated(100)});
        loadModel();
        choose(TuningRecipe::Space);
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(1));
        QCOMPARE(view("tune_acceptance").table().header,
                 QStringList({"step", "depth 1", "depth 2"}));
        QCOMPARE(view("tune_tasks").table().header,
                 QStringList({"task", "tokens a round", "a1", "a2"}));
        QVERIFY(!view("tune_exits").isVisible());
        QVERIFY(view("tune_quality").isVisible());
    }

    void whatMasksDraftIsNotCalledDraftsOfThree() {
        const QString copy = usual("space");
        QVERIFY(QDir().mkpath(copy));
        script().say({Script::copyStarted("space"), Script::copyDone(copy)});
        script().endBy("done");
        loadModel();
        choose(TuningRecipe::Space);
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
        QVERIFY2(page().finding().contains(
                     QStringLiteral("With what its masks draft, a round writes 2.10 tokens")),
                 qPrintable(page().finding()));
    }

    void figuresOfATrainingAreNotThoseOfAnotherChoice() {
        finishCopy(true);
        const QString trained = QStringLiteral("4,200,000");
        QVERIFY(says(recipe(), trained));
        QTest::mouseClick(recipe().trained().segment(1), Qt::LeftButton);
        QVERIFY(!says(recipe(), trained));
        QTest::mouseClick(recipe().trained().segment(0), Qt::LeftButton);
        QVERIFY(says(recipe(), trained));
    }

    void aGoodCopyIsLoadedWithItsDecoder() {
        finishCopy(true);
        QVERIFY2(page().finding().startsWith(QStringLiteral(
                     "The copy is as good as the model: perplexity 12.24 instead of 12.00 "
                     "(+2.0 %), and 96 of 100 most probable tokens are the same.")),
                 qPrintable(page().finding()));
        QVERIFY(page().finding().contains(usual("layerskip")));
        QCOMPARE(view("tune_quality").table().rows[0].mid(1, 2), QStringList({"12", "12.24"}));
        QCOMPARE(view("tune_quality").subtitle(), QStringLiteral("passed"));
        QVERIFY(!isShown(Action::Remove));
        QCOMPARE(page().button(Action::Reload).text(), QStringLiteral("Load it now"));
        QSignalSpy asked(&desk(), &TuneDesk::loadAsked);
        click(Action::Reload);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked[0][0].toString(), usual("layerskip"));
        QCOMPARE(asked[0][1].toString(), QStringLiteral("layerskip"));
        QCOMPARE(namelessWidgets(*m_desk->window).join(QLatin1Char('\n')), QString());
    }

    void aCopyIsMeasuredBesideItsModelOnTheUsersPrompts() {
        finishCopy(true);
        QVERIFY(isShown(Action::Compare));
        QVERIFY(says(page(), QStringLiteral("with the model and with its copy")));
        QByteArrayList lines;
        for (int line = 1; line <= 11; line += 2) // of one task
            lines += Script::comparedCopy(line, 200, 100, 160);
        script().sayCompared(lines);
        script().endComparisonBy("done");
        click(Action::Compare);
        QTRY_VERIFY(desk().session().comparison().state() == ComparisonState::Done);
        const QString finding = page().finding();
        for (const char* part :
             {"On 6 prompts that were not trained on, LayerSkip is 2.00 times as "
              "fast as plain decoding of the copy, and 1.60 times as fast as "
              "plain decoding of the model.",
              "perplexity 12.24 instead of 12.00",
              "Its answers score .25, those of the model .50.",
              "What it drafts pays: 2.00 times as fast",
              "All texts were equal"})
            QVERIFY2(finding.contains(QLatin1String(part)), qPrintable(finding));
        const FigureTable table = view("tune_compared").table();
        QCOMPARE(table.header,
                 QStringList({"task",
                              "over the copy",
                              "over the model",
                              "acceptance",
                              "tokens a round",
                              "score, before",
                              "score, after",
                              "perplexity, before",
                              "perplexity, after",
                              "prompts",
                              "texts"}));
        QCOMPARE(table.rows.size(), std::size_t(1));
        QCOMPARE(table.rows[0].mid(1),
                 QStringList({"2", "1.6", "0.5", "2", "0.5", "0.25", "12", "12.24", "6", "equal"}));
        const auto* chart = view("tune_compared").findChild<BeforeAfterChart*>();
        QVERIFY(chart->accessibleDescription().contains(
            QStringLiteral("the model 1.25\u00D7, the copy with its drafts 2.00\u00D7")));
        QCOMPARE(namelessWidgets(*m_desk->window).join(QLatin1Char('\n')), QString());
        choose(TuningRecipe::Draft); // what was measured is another recipe's
        QVERIFY(view("tune_compared").table().rows.empty());
    }

    void aLongFindingIsReadWholeWhereThereIsLittleRoom() {
        finishCopy(false);
        m_desk->stage.theme.setTextPercent(150);
        page().setFixedSize(420, 460);
        QCoreApplication::processEvents(); // the layouts of all that
        const auto* band = page().findChild<VerdictBand*>();
        QVERIFY(band != nullptr);
        QVERIFY2(band->height() >= band->heightForWidth(band->width()),
                 qPrintable(QStringLiteral("%1 of %2")
                                .arg(band->height())
                                .arg(band->heightForWidth(band->width()))));
    }

    void withoutALoadedModelACopyIsFoundAgain() {
        finishCopy(true);
        desk().forgetModel();
        choose(TuningRecipe::Draft);
        QVERIFY(page().emptyPage().isVisible());
        choose(TuningRecipe::LayerSkip);
        QVERIFY(isShown(Action::Reload));
    }

    void aCopyThatIsWorseIsNamedAsOne() {
        finishCopy(false);
        QVERIFY(page().finding().startsWith(QStringLiteral("The copy is worse than the model")));
        QVERIFY(page().finding().contains(usual("layerskip-rejected")));
        QCOMPARE(view("tune_quality").subtitle(), QStringLiteral("not passed"));
        QCOMPARE(page().button(Action::Reload).text(), QStringLiteral("Load it all the same"));
        choose(TuningRecipe::Draft); // what was made is another recipe's
        QVERIFY(page().emptyPage().isVisible());
        QVERIFY(!isShown(Action::Reload));
        choose(TuningRecipe::LayerSkip);
        QVERIFY(isShown(Action::Reload));
    }
};

QTEST_MAIN(TuneCopyTest)
#include "tune_copy_test.moc"
