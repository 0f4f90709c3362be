// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/tune/tune_stage.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/tune/page/empty_tune.h"

#include <QCheckBox>
#include <QDir>
#include <QListWidget>
#include <QMimeData>
#include <QProgressBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>

using namespace support;
using namespace ui;

/// The workspace Tune as a whole, with a script in place of swift-run.
class TuneDeskTest : public QObject, protected TuneStage {
    Q_OBJECT

private slots:

    void init() {
        m_desk = std::make_unique<Desk>();
        m_desk->open(script().places());
    }

    void cleanup() { m_desk.reset(); }

    void atFirstThereIsOneMainActionAndAReasonToWait() {
        QVERIFY(page().emptyPage().isVisible());
        QVERIFY(page().emptyPage().mainButton().isVisible());
        QVERIFY(says(page(), QStringLiteral("No model is loaded")));
        QVERIFY(!recipe().startButton().isEnabled());
        loadModel();
        QVERIFY(!says(page(), QStringLiteral("No model is loaded")));
        QVERIFY(says(recipe(), QStringLiteral("Add the prompts first")));
        QVERIFY(!recipe().startButton().isEnabled());
        addPrompts();
        QVERIFY(recipe().startButton().isEnabled());
        QCOMPARE(recipe().startButton().text(), QStringLiteral("Start"));
    }

    void withoutAModelOneIsOffered() {
        QSignalSpy asked(&desk(), &TuneDesk::modelAsked);
        for (QPushButton* button : page().findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == QStringLiteral("Choose a model..."))
                QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(asked.count(), 1);
    }

    void whatIsMissingIsSaidInASentence_data() {
        QTest::addColumn<bool>("hasProgram");
        QTest::addColumn<QString>("words");
        QTest::newRow("no program") << false << QStringLiteral("The program swift-run");
        QTest::newRow("no LibTorch") << true << QStringLiteral("without LibTorch");
    }

    void whatIsMissingIsSaidInASentence() {
        QFETCH(const bool, hasProgram);
        QFETCH(const QString, words);
        TuningPlaces places = script().places();
        places.hasTrainer = false;
        if (!hasProgram)
            places.program += QStringLiteral("-missing");
        m_desk->open(places);
        loadModel();
        addPrompts();
        QVERIFY(says(page(), words));
        QVERIFY(says(recipe(), words));
        QVERIFY(!recipe().startButton().isEnabled());
    }

    void promptsAreAddedOnceAndRemovedByKey() {
        PromptSources& sources = recipe().sources();
        QVERIFY(says(sources, QStringLiteral("None yet"))); // an empty list tells what it is for
        desk().addPrompts({QStringLiteral("/a.jsonl"), QStringLiteral("/b.csv")});
        QVERIFY(!says(sources, QStringLiteral("None yet")));
        desk().addPrompts({QStringLiteral("/a.jsonl")});
        QCOMPARE(sources.list().count(), 2);
        QCOMPARE(sources.list().item(0)->text(), QStringLiteral("a.jsonl"));
        sources.list().setCurrentRow(0);
        QTest::keyClick(&sources.list(), Qt::Key_Delete);
        QCOMPARE(sources.paths(), QStringList(QStringLiteral("/b.csv")));
        m_desk->open(script().places());
        QCOMPARE(recipe().sources().paths(), QStringList(QStringLiteral("/b.csv")));
    }

    void theTipOfAPromptFileIsItsPathAsItIs() {
        const QString path = QStringLiteral("/R&D \"<b>\"/a.jsonl");
        desk().addPrompts({path});
        QCOMPARE(shownTip(recipe().sources().list().item(0)->toolTip()),
                 QDir::toNativeSeparators(path));
    }

    void promptsAreTakenFromADropOnPageAndPanel() {
        for (QWidget* target : {static_cast<QWidget*>(&page()), static_cast<QWidget*>(&recipe())}) {
            recipe().sources().setPaths({});
            QMimeData dragged;
            dragged.setUrls({QUrl::fromLocalFile(script().path(QStringLiteral("prompts.jsonl"))),
                             QUrl::fromLocalFile(QStringLiteral("/x.gguf"))});
            QDragEnterEvent enter({5, 5}, Qt::CopyAction, &dragged, Qt::LeftButton, {});
            QCoreApplication::sendEvent(target, &enter);
            QVERIFY(enter.isAccepted());
            QDropEvent drop({5.0, 5.0}, Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(target, &drop);
            QCOMPARE(recipe().sources().paths(),
                     QStringList(script().path(QStringLiteral("prompts.jsonl"))));
        }
    }

    void theCostsFollowTheLength() {
        loadModel();
        QVERIFY(says(recipe(), QStringLiteral("1,200,000 tokens")));
        QVERIFY(says(recipe(), QStringLiteral("2.8 GiB"))); // 2.4 million rows of 1,244 bytes
        QVERIFY(!recipe().minutes().isVisible());
        QTest::mouseClick(recipe().length().segment(0), Qt::LeftButton);
        QVERIFY(says(recipe(), QStringLiteral("300,000 tokens")));
        QTest::mouseClick(recipe().length().segment(3), Qt::LeftButton);
        QVERIFY(recipe().minutes().isVisible());
        QVERIFY(says(recipe(), QStringLiteral("at most 4,000,000 tokens")));
        QVERIFY(!says(recipe(), QStringLiteral("Size of the result")));
        QVERIFY(recipe().choice().length == TuningLength::Minutes);
    }

    void curvesAndTablesFollowTheLines() {
        script().say(someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        QVERIFY(!page().emptyPage().isVisible());
        QVERIFY(says(page(), QStringLiteral("Draft layer for Tiny")));
        QVERIFY(says(page(), QStringLiteral("step 200 of 1,000")));
        QVERIFY(says(page(), QStringLiteral("20 % \u00B7 1 min left")));
        QVERIFY(says(page(), QStringLiteral("40 prompts, 1,200,000 tokens")));
        QCOMPARE(plot("tune_loss").pointCount(0), std::size_t(2));
        QCOMPARE(plot("tune_acceptance").seriesCount(), 4);
        QVERIFY(!view("tune_acceptance").subtitle().contains(QStringLiteral("held-out")));
        QCOMPARE(plot("tune_acceptance").pointCount(3), std::size_t(2));
        QCOMPARE(plot("tune_round").pointCount(0), std::size_t(2));
        QVERIFY(plot("tune_round").shownX().contains(1000.0));
        const FigureTable losses = view("tune_loss").table();
        QCOMPARE(losses.header, QStringList({"step", "loss", "loss, smoothed"}));
        QCOMPARE(losses.rows[0], QStringList({"100", "5", "5"}));
        QCOMPARE(losses.rows.size(), std::size_t(2));
        QCOMPARE(view("tune_acceptance").table().rows[1],
                 QStringList({"200", "0.62", "0.5", "0.4", "0.3"}));
        QCOMPARE(view("tune_round").table().rows[1], QStringList({"200", "2.1"}));
        const FigureTable tasks = view("tune_tasks").table();
        QCOMPARE(tasks.header, QStringList({"task", "tokens a round", "a1", "a2", "a3", "a4"}));
        QCOMPARE(tasks.rows[0][0], QStringLiteral("Code"));
        QCOMPARE(tasks.rows[1][1], QStringLiteral("1.5"));
        QCOMPARE(view("tune_tasks").findChild<QTableView*>()->model()->index(0, 2).data(),
                 QVariant(QStringLiteral(".62")));
        QVERIFY(page().finding().startsWith(
            QStringLiteral("The best state so far, step 200, writes 2.10 tokens a round.")));
        QVERIFY(page().finding().contains(QStringLiteral("62 of 100")));
        QVERIFY(says(recipe(), QStringLiteral("4.2 MiB"))); // 4.2 million weights, 1.06 bytes each
    }

    void whatIsFrozenStaysUntilAnotherTraining() {
        script().say(someSteps());
        start();
        QTRY_COMPARE(plot("tune_loss").pointCount(0), std::size_t(2));
        view("tune_loss").setFrozen(true);
        click(Action::Stop);
        QTRY_VERIFY(state() == TuningState::Stopped);
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QVERIFY(!view("tune_loss").isFrozen());
    }

    void whileItRunsNothingCanBeChosen() {
        script().say(someSteps());
        start();
        QVERIFY(!recipe().startButton().isEnabled());
        QVERIFY(!recipe().sources().isEnabled());
        QVERIFY(says(recipe(), QStringLiteral("fixed while it runs")));
        desk().addPrompts({QStringLiteral("/late.jsonl")});
        QCOMPARE(recipe().sources().paths().size(), 1);
        QVERIFY(m_desk->messages.isShown(QStringLiteral("tune"))); // not without a word
    }

    void itPausesContinuesAndStops() {
        script().say(someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        QCOMPARE(page().button(Action::PauseOrGoOn).text(), QStringLiteral("Pause"));
        click(Action::PauseOrGoOn);
        QVERIFY(state() == TuningState::Paused);
        QCOMPARE(page().button(Action::PauseOrGoOn).text(), QStringLiteral("Continue"));
        QVERIFY(says(page(), QStringLiteral("paused")));
        click(Action::PauseOrGoOn);
        QVERIFY(state() == TuningState::Running);
        click(Action::Stop);
        QVERIFY(!isShown(Action::PauseOrGoOn));
        QCOMPARE(page().button(Action::Stop).text(), QStringLiteral("End at once"));
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(!isShown(Action::Stop));
        QVERIFY(says(page(), QStringLiteral("stopped, can go on")));
        QVERIFY(says(page(), QStringLiteral("20 %")));
        QVERIFY(!says(page(), QStringLiteral("1 min left")));
        QCOMPARE(recipe().startButton().text(), QStringLiteral("Start anew"));
        click(Action::PauseOrGoOn);
        QVERIFY(state() == TuningState::Running);
    }

    void itSaysThatItWaitsForAnAnswer() {
        script().say(someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        QCOMPARE(desk().note().title, QStringLiteral("Draft layer for Tiny"));
        QCOMPARE(desk().note().state, QStringLiteral("trains \u00B7 20 % \u00B7 1 min left"));
        desk().setAnswering(true);
        QVERIFY(says(page(), QStringLiteral("waits while an answer streams")));
        QVERIFY(desk().note().state.startsWith(QStringLiteral("waits")));
        desk().setAnswering(false);
        QVERIFY(!says(page(), QStringLiteral("waits while an answer streams")));
    }

    void aFailureIsToldWithItsSentence() {
        script().say({Script::started(), Script::error()});
        script().endBy("fail");
        start();
        QTRY_VERIFY(says(page(), QStringLiteral("It cannot be. Wait.")));
        QVERIFY(says(page(), QStringLiteral("The training ended early.")));
        QVERIFY(isShown(Action::PauseOrGoOn)); // something was stored
        script().say(someSteps());
        script().endBy("wait");
        click(Action::PauseOrGoOn);
        QVERIFY(!says(page(), QStringLiteral("It cannot be. Wait.")));
    }

    void theEndSaysWhatCameOutAndLoadsTheModelAgain() {
        QByteArrayList lines = someSteps();
        lines << Script::done(QStringLiteral("/result"));
        script().say(lines);
        script().endBy("done");
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
        QVERIFY(page().finding().contains(QStringLiteral("a round writes 2.10 tokens")));
        QTRY_VERIFY(isShown(Action::Use)); // the script has put nothing there
        QVERIFY(!isShown(Action::Reload));
        click(Action::Use);
        QTRY_VERIFY(isShown(Action::Reload));
        QVERIFY(!isShown(Action::Use));
        QVERIFY(page().finding().contains(QStringLiteral("once the model is loaded again")));
        QVERIFY(!m_desk->messages.isShown(QStringLiteral("tune"))); // nothing was in its place
        QSignalSpy asked(&desk(), &TuneDesk::reloadAsked);
        click(Action::Reload);
        QCOMPARE(asked.front().front().toString(), QStringLiteral("/models/Tiny"));
        click(Action::Remove);
        QTRY_VERIFY(!isShown(Action::Remove));
        QVERIFY(!QFile::exists(desk().session().usedAdapter()));
        QVERIFY(page().finding().contains(QStringLiteral("It is not used; it lies in /result.")));
        QVERIFY(m_desk->messages.isShown(QStringLiteral("tune")));
        for (QProgressBar* bar : page().findChildren<QProgressBar*>())
            if (bar->isVisible() && !bar->accessibleName().endsWith(QStringLiteral("Compare")))
                QCOMPARE(bar->value(), bar->maximum());
    }

    void anotherAdapterIsNamedAndKept() {
        script().say({Script::started(),
                      Script::done(QStringLiteral("/result")),
                      R"({"event":"remark","text":"The one in use is better."})"});
        script().endBy("done");
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
        const QString used = writeFile(desk().session().usedAdapter(), "another one");
        loadModel();
        QTRY_VERIFY(page().finding().contains(QStringLiteral("the model has another adapter")));
        QVERIFY(says(page(), QStringLiteral("The one in use is better."))); // why
        QVERIFY(!isShown(Action::Remove));
        QVERIFY(!isShown(Action::Reload));
        click(Action::Use);
        QTRY_VERIFY(isShown(Action::Remove));
        QVERIFY(m_desk->messages.isShown(QStringLiteral("tune")));
        QCOMPARE(fileBytes(used + QStringLiteral(".before")), QByteArray("another one"));
    }

    void whyItWasPutToUseIsNotToldOfOneThatWasTakenAway() {
        const QString note =
            QStringLiteral("It is better than the one in use, so it was put to use.");
        script().say({Script::started(),
                      Script::done(QStringLiteral("/result")),
                      R"({"event":"remark","text":")" + note.toUtf8() + R"("})"});
        script().endBy("done");
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
        QTRY_VERIFY(isShown(Action::Use));
        click(Action::Use);
        QTRY_VERIFY(isShown(Action::Remove));
        click(Action::Remove);
        QTRY_VERIFY(page().finding().contains(QStringLiteral("It is not used")));
        QVERIFY(!says(page(), note));
    }

    void theAdapterInUseCanBeRemovedWhileAnotherOneIsTrained() {
        finish();
        QTRY_VERIFY(isShown(Action::Use));
        click(Action::Use);
        QTRY_VERIFY(isShown(Action::Remove));
        script().say({Script::started()});
        script().endBy("wait");
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(desk().session().run().facts.has_value());
        QTRY_VERIFY(isShown(Action::Remove));
        QVERIFY(!isShown(Action::Reload)); // there is nothing new yet
        const QString used = desk().session().usedAdapter();
        click(Action::Remove);
        QTRY_VERIFY(!isShown(Action::Remove));
        QVERIFY(!QFile::exists(used));
    }

    void aStartThatIsRefusedIsToldAndLeavesWhatWas() {
        finish();
        script().say({Script::error()});
        script().endBy("fail");
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
        QTRY_VERIFY(m_desk->messages.isShown(QStringLiteral("tune")));
        QVERIFY(state() == TuningState::Finished);
        QVERIFY(page().finding().contains(QStringLiteral("a round writes 2.10 tokens")));
    }

    void figuresOfATrainingAreNotThoseOfTheModelThatIsLoadedNow() {
        script().say(QByteArrayList{Script::prices()} + someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        const QString weights = QStringLiteral("4,200,000");
        const QString price = QStringLiteral("0.050 of a plain step");
        loadModel("Other");
        QVERIFY(says(recipe(), weights)); // of what is at work
        QVERIFY(says(recipe(), price));
        click(Action::Stop);
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(says(page(), QStringLiteral("Draft layer for Tiny"))); // how it ended
        QVERIFY(!says(recipe(), weights));
        QVERIFY(!says(recipe(), price));
        page().hide(); // the user has seen it
        QCOMPARE(desk().session().choice().model.name, QStringLiteral("Other"));
        page().show();
        QVERIFY(page().emptyPage().isVisible());
    }

    void theTimeOfAnswersThatWereThereIsNotToldAsNone() {
        script().say({Script::started(),
                      Script::done(QStringLiteral("/result"))
                          .replace(R"("collect":3600)", R"("collect":null)")});
        script().endBy("done");
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
        QVERIFY(says(page(), QStringLiteral("finished, trained for 2 h")));
    }

    void figuresOfTrainedAnswersAreNoPromise() {
        script().say({Script::started(), Script::done(QStringLiteral("/result"), false)});
        script().endBy("done");
        loadModel();
        recipe().use().setChecked(false);
        start();
        QTRY_VERIFY(state() == TuningState::Finished);
        QVERIFY(page().finding().contains(QStringLiteral("answers that were trained on")));
        QVERIFY(view("tune_acceptance")
                    .subtitle()
                    .startsWith(QStringLiteral("of answers that were trained on")));
        QTRY_VERIFY(page().finding().contains(QStringLiteral("it lies in /result")));
    }

    void theNextStartOfTheWindowShowsWhatWas() {
        script().say(someSteps());
        start();
        QTRY_COMPARE(desk().session().run().evaluations.size(), std::size_t(2));
        m_desk->open(script().places());
        QVERIFY(page().emptyPage().isVisible());
        loadModel();
        QCOMPARE(plot("tune_round").pointCount(0), std::size_t(2));
        QVERIFY(isShown(Action::PauseOrGoOn));
        QCOMPARE(page().button(Action::PauseOrGoOn).text(), QStringLiteral("Continue"));
        QCOMPARE(recipe().sources().paths().size(), 1);
    }

    void everythingHasAName() {
        script().sayCompared(gains(4));
        script().endComparisonBy("done");
        finish();
        QCOMPARE(namelessWidgets(*m_desk->window).join(QLatin1Char('\n')), QString());
        click(Action::Compare);
        QTRY_VERIFY(desk().session().comparison().state() == ComparisonState::Done);
        QCOMPARE(namelessWidgets(*m_desk->window).join(QLatin1Char('\n')), QString());
    }

    void aNarrowPageHasOneColumn() {
        script().say(someSteps());
        start();
        QTRY_VERIFY(view("tune_loss").isVisible());
        const auto top = [&](const char* id) { return view(id).mapTo(&page(), QPoint()).y(); };
        QCoreApplication::processEvents();
        QCOMPARE(top("tune_loss"), top("tune_acceptance"));
        m_desk->window->resize(760, 860);
        QTRY_VERIFY(top("tune_loss") < top("tune_acceptance"));
    }

    void theBestStateCanBeUsedWhileItIsTrained() {
        const QString path = script().path(QStringLiteral("best.safetensors"));
        script().write(QStringLiteral("best.safetensors"), "weights");
        script().say(someSteps() + QByteArrayList{Script::best(path, 200)});
        start();
        QTRY_VERIFY(isShown(Action::Use));
        QVERIFY(state() == TuningState::Running);
        QVERIFY(page().finding().startsWith(QStringLiteral("The best state so far, step 200")));
        QVERIFY2(page().finding().contains(QStringLiteral(
                     "62 of 100 first drafted tokens of held-out answers are right. It can be used "
                     "now")),
                 qPrintable(page().finding()));
        QVERIFY(
            page().button(Action::Use).toolTip().contains(QStringLiteral("the state of step 200")));
        click(Action::Use);
        QTRY_VERIFY(isShown(Action::Remove));
        QVERIFY(isShown(Action::Reload));
        QVERIFY(!isShown(Action::Use));
        QVERIFY(page().finding().contains(QStringLiteral("It is used once the model is loaded")));
        click(Action::Stop);
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(isShown(Action::Remove));
        click(Action::Remove);
        QTRY_VERIFY(isShown(Action::Use));
    }
};

QTEST_MAIN(TuneDeskTest)
#include "tune_desk_test.moc"
