// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/support/made_up_stream.h"
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/views/experiments/staged_desk.h"
#include "ui/text/message_body.h"
#include "ui/views/experiments/data/data_page.h"
#include "ui/views/experiments/page/answer_page.h"
#include "ui/views/experiments/page/empty_experiments.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/stream_page.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <memory>

using namespace support;
using namespace ui;
using test_support::MadeUpStream;

/// The workspace Experiments as a whole, with a script in place of swift-run.
class ExperimentsDeskTest : public QObject {
    Q_OBJECT

    using Action = ExperimentsPage::Action;

    std::unique_ptr<StagedDesk> m_desk;

    ExperimentsDesk& desk() { return *m_desk->desk; }

    ExperimentsPage& page() { return desk().page(); }

    QString file(const QString& name, const QByteArray& content) {
        return support::writeFile(QFileInfo(m_desk->script.program()).path() + u'/' + name,
                                  content);
    }

    static QPushButton* button(QWidget& within, const QString& text) {
        return shownButton(within, text);
    }

    static bool says(QWidget& within, const QString& words) { return labelSays(within, words); }

    const ExperimentJob& newest() { return desk().queue().jobs().back(); }

    QString addJob(const char* recipe) {
        ExperimentJob job;
        job.title = QStringLiteral("Own prompts");
        job.recipe = QLatin1String(recipe);
        return desk().queue().add(std::move(job));
    }

private slots:

    void init() { m_desk = std::make_unique<StagedDesk>(); }

    void cleanup() { m_desk.reset(); }

    void atFirstThereIsOneMainAction() {
        QVERIFY(page().emptyPage().isVisible());
        QVERIFY(page().emptyPage().mainButton().isVisible());
        QVERIFY(says(desk().queuePanel(), QStringLiteral("Nothing in the queue")));
        QVERIFY(desk().recipes().list().model()->rowCount() >= 14);
    }

    void aRecipeRunsOnTheChosenPromptsWithTheChosenOptions() {
        const QString path = QStringLiteral("resources/recipes/main_comparison.json");
        desk().showRecipe(path);
        QVERIFY(says(page(), QStringLiteral("Main comparison")));
        QPushButton* run = button(desk().options(), QStringLiteral("Run"));
        QVERIFY(!run->isEnabled());
        QVERIFY(says(desk().options(), QStringLiteral("Choose the prompts first.")));
        QVERIFY(says(page(), QStringLiteral("Choose the prompts first.")));
        const QString data =
            file(QStringLiteral("own.jsonl"),
                 "{\"task\":\"a\",\"prompt\":\"p\"}\n{\"task\":\"b\",\"prompt\":\"q\"}\n");
        desk().options().setData({data});
        QTRY_VERIFY(says(desk().options(), QStringLiteral("2 prompts, 2 tasks")));
        QTRY_VERIFY(says(page(), QStringLiteral("2 prompts, 2 tasks")));
        QTRY_VERIFY(says(page(), QStringLiteral("Not estimated")));
        QVERIFY(run->isEnabled());
        QTest::mouseClick(run, Qt::LeftButton);
        QCOMPARE(desk().queue().jobs().size(), std::size_t{1});
        QCOMPARE(newest().recipe, path);
        QVERIFY(!says(page(), QStringLiteral("What is compared"))); // the run is shown instead
        QCOMPARE(newest().title, QStringLiteral("Main comparison, Quick"));
        QCOMPARE(newest().arguments, QStringList({"--size", "quick", "--data", data}));
        QTRY_COMPARE(newest().state, JobState::Finished);
        QVERIFY(page().button(Action::RunAgain).isVisible());
    }

    /// The tests' platform has no other programs.
    void aReportThatNoProgramOpensIsNamed() {
        const QString id = addJob("done");
        desk().showJob(id);
        page().button(Action::RunOrPause).setFocus();
        desk().queue().run(id);
        QTRY_COMPARE(desk().queue().job(id)->state, JobState::Finished);
        QVERIFY(!page().button(Action::RunOrPause).isVisible());
        QVERIFY(page().button(Action::OpenReport).hasFocus() ||
                page().button(Action::RunAgain).hasFocus()); // a button that goes passes it on
        page().button(Action::OpenReport).click();
        QVERIFY(m_desk->messages.isShown(QStringLiteral("experiments")));
        QVERIFY(
            m_desk->messages.notices()[0]->sentence.contains(QStringLiteral("report/report.html")));
    }

    void fewerDecodersMakeARecipeOfTheirOwn() {
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        desk().options().setData({file(QStringLiteral("own.jsonl"), "{\"prompt\":\"p\"}\n")});
        for (QCheckBox* check : desk().options().findChildren<QCheckBox*>())
            if (check->property("name").toString() == QStringLiteral("lookahead"))
                check->setChecked(false);
        QPushButton* add = button(desk().options(), QStringLiteral("Add to queue"));
        QTRY_VERIFY(add->isEnabled());
        QTest::mouseClick(add, Qt::LeftButton);
        QTRY_COMPARE(desk().queue().jobs().size(), std::size_t{1});
        QCOMPARE(newest().state, JobState::Waiting);
        const auto recipe = engine::readRecipeFile(newest().recipe.toStdString());
        QVERIFY2(recipe, recipe ? "" : recipe.error().message.c_str());
        QCOMPARE(recipe.value().sizes.at("quick").variants,
                 (std::vector<std::string>{"parallel", "swift", "auto"}));
        QVERIFY(button(desk().queuePanel(), QStringLiteral("Start")) != nullptr);
    }

    void ownPromptsBecomeAStream() {
        const QString data = file(QStringLiteral("own.csv"), "task,prompt\nb,q1\na,p1\nb,q2\n");
        desk().openPaths({data});
        QVERIFY(page().dataPage().isVisible());
        QTRY_VERIFY(page().dataPage().canRun());
        QTest::mouseClick(button(page(), QStringLiteral("Run")), Qt::LeftButton);
        QTRY_COMPARE(desk().queue().jobs().size(), std::size_t{1});
        const auto recipe = engine::readRecipeFile(newest().recipe.toStdString());
        QVERIFY2(recipe, recipe ? "" : recipe.error().message.c_str());
        QVERIFY(recipe.value().isStream);
        const QString written = newest().arguments.at(newest().arguments.indexOf("--data") + 1);
        const QByteArray content = support::fileBytes(written);
        QCOMPARE(content.count('\n'), 3);
        QVERIFY(content.indexOf("q2") < content.indexOf("p1")); // by task
        QTRY_COMPARE(newest().state, JobState::Finished);
    }

    void aStreamAtWorkIsPausedStoppedAndResumedFromThePage() {
        const QString id = addJob("work");
        MadeUpStream stream(desk().queue().job(id)->folder.toStdString(), {"story", "code"}, 2);
        stream.answer(0);
        desk().queue().run(id);
        desk().showJob(id);
        QTRY_VERIFY(page().streamPage().isVisible());
        QTRY_COMPARE(page().streamPage().prompts().sliceModel().rowCount(), 1);
        stream.answer(1); // seen without being asked for
        QTRY_COMPARE(page().streamPage().prompts().sliceModel().rowCount(), 2);
        QTest::mouseClick(&page().button(Action::RunOrPause), Qt::LeftButton);
        QCOMPARE(desk().queue().job(id)->state, JobState::Paused);
        QCOMPARE(page().button(Action::RunOrPause).text(), QStringLiteral("Resume"));
        QTest::mouseClick(&page().button(Action::Stop), Qt::LeftButton);
        QVERIFY(says(page(), QStringLiteral("stops after its current pass")));
        QCOMPARE(page().button(Action::Stop).text(), QStringLiteral("End at once"));
        QVERIFY(!page().button(Action::RunOrPause).isVisible());
        QMenu menu;
        desk().queuePanel().fillMenu(menu, id);
        QCOMPARE(menu.actions().front()->text(), QStringLiteral("End at once"));
        QTRY_COMPARE(desk().queue().job(id)->state, JobState::Stopped);
        QVERIFY(!page().button(Action::Stop).isVisible());
        QTest::mouseClick(&page().button(Action::RunOrPause), Qt::LeftButton);
        QCOMPARE(desk().queue().job(id)->state, JobState::Running);
        QCOMPARE(page().button(Action::Stop).text(), QStringLiteral("Stop"));
    }

    void theChatTakesTurnsWithWhatRuns() {
        const auto turns = [this] {
            const auto* told = m_desk->stage.engine->lastSent<engine::TakeTurns>();
            return told == nullptr ? std::string("none") : told->path;
        };
        const QString id = addJob("work");
        desk().queue().run(id);
        QCOMPARE(turns(), desk().queue().turnsFile().toStdString());
        desk().queue().pause(id);
        QCOMPARE(turns(), std::string());
        desk().queue().run(id);
        QVERIFY(!turns().empty());
        desk().queue().stop(id);
        QTRY_COMPARE(turns(), std::string());
    }

    void whatRanWhenTheProgramEndedGoesOnOnceNobodyLeadsIt() {
        const QString id = addJob("work");
        const QString folder = desk().queue().job(id)->folder;
        MadeUpStream stream(folder.toStdString(), {"story"}, 2);
        desk().queue().run(id);
        QTRY_COMPARE(ScriptedExperiment::told(folder).size(), 1);
        m_desk->close();
        QTRY_VERIFY(ScriptedExperiment::told(folder).contains(QStringLiteral("end of input")));
        auto lead = stream.folder.lead(); // as the process of before, at its last pass
        QVERIFY(lead);
        ExperimentsDesk next(m_desk->stage.context(),
                             m_desk->menu,
                             m_desk->messages,
                             m_desk->settings,
                             m_desk->places);
        next.begin();
        QVERIFY(next.queue().current() == nullptr);
        QVERIFY(!next.page().button(Action::Stop).isHidden()); // it is what the page shows
        { const auto ended = std::move(lead).value(); }
        QTRY_VERIFY(next.queue().current() != nullptr);
        QTRY_COMPARE(ScriptedExperiment::told(folder).size(), 3);
        for (QWidget* part : std::initializer_list<QWidget*>{&next.recipes(),
                                                             &next.queuePanel(),
                                                             &next.page(),
                                                             &next.options(),
                                                             &next.hardware()})
            delete part;
    }

    void theStatusStripLeadsToTheExperimentAtWork() {
        const QString id = addJob("work");
        desk().queue().run(id);
        desk().showRecipe(QStringLiteral("resources/recipes/ablation.json"));
        QVERIFY(!says(page(), QStringLiteral("Own prompts")));
        QSignalSpy shown(&desk(), &ExperimentsDesk::shown);
        desk().showStatus();
        QCOMPARE(shown.size(), 1);
        QVERIFY(says(page(), QStringLiteral("Own prompts")));
        QVERIFY(page().button(Action::Stop).isVisible());
    }

    void whatEndsBeforeTheUserIsNotToldAgain() {
        const QString seen = addJob("fail");
        desk().showJob(seen);
        desk().queue().run(seen);
        QTRY_COMPARE(desk().queue().job(seen)->state, JobState::Failed);
        QVERIFY(desk().status().note().state.isEmpty());
        page().hide(); // as in another workspace
        const QString unseen = addJob("fail");
        desk().queue().run(unseen);
        QTRY_VERIFY(desk().status().note().isError);
        desk().showJob(unseen);
        QVERIFY(desk().status().note().isError);
        page().show();
        QVERIFY(desk().status().note().state.isEmpty());
    }

    void aFailureIsOneSentenceInTheRowAndInThePage() {
        const QString id = addJob("fail");
        desk().queue().run(id);
        desk().showJob(id);
        QTRY_VERIFY(says(page(), QStringLiteral("There is no model. Give --model.")));
        QVERIFY(button(page(), QStringLiteral("Resume")) != nullptr);
    }

    void whatARunAsksAndLeavesOutIsListedBesideItsMachine() {
        const QString id = addJob("work");
        MadeUpStream stream(desk().queue().job(id)->folder.toStdString(), {"story", "code"}, 3);
        stream.answer(0);
        stream.leaveOut(1, "It is longer than the context of 8192 tokens.");
        stream.answer(2);
        stream.endBlock(0, 0.02);
        desk().showJob(id);
        QTRY_VERIFY(says(desk().hardware(), QStringLiteral("Prompt 2: It is longer than")));
        QVERIFY(says(desk().hardware(), QStringLiteral("1 left out")));
        QVERIFY(says(desk().hardware(), QStringLiteral("5 of 14")));
        QVERIFY(says(desk().hardware(), QStringLiteral("64 tokens")));
        QVERIFY(says(desk().hardware(), QStringLiteral("SWIFT")));
        QVERIFY(says(desk().hardware(), QStringLiteral("2.0 %")));
        QVERIFY(!says(desk().hardware(), QStringLiteral("A made-up processor")));
        stream.finish();
        desk().showJob(id);
        QTRY_VERIFY(says(desk().hardware(), QStringLiteral("A made-up processor")));
    }

    void whatARunNotesIsShownWhileItGoesOn() {
        const QString id = addJob("remark");
        desk().queue().run(id);
        desk().showJob(id);
        QTRY_VERIFY(says(desk().hardware(), QStringLiteral("Part 2 is run again: its file is")));
        QVERIFY(says(desk().hardware(), QStringLiteral("Newest of 2 notes")));
        QCOMPARE(desk().queue().job(id)->state, JobState::Running);
    }

    void aSetIsSearchedForTheSliceThatIsShown() {
        const QString id = addJob("done");
        MadeUpStream stream(desk().queue().job(id)->folder.toStdString(), {"story", "code"}, 2);
        for (int prompt = 0; prompt < 4; ++prompt)
            stream.answer(prompt);
        stream.finish();
        desk().showJob(id);
        PromptsView& prompts = page().streamPage().prompts();
        QTRY_COMPARE(prompts.sliceModel().rowCount(), 4);
        prompts.setSlice(QStringLiteral("task = code"));
        QTest::mouseClick(button(prompts, QStringLiteral("Search a set for this slice")),
                          Qt::LeftButton);
        QTRY_COMPARE(desk().queue().jobs().size(), std::size_t{2});
        QCOMPARE(newest().title, QStringLiteral("Set for: task = code"));
        const auto recipe = engine::readRecipeFile(newest().recipe.toStdString());
        QVERIFY2(recipe, recipe ? "" : recipe.error().message.c_str());
        QVERIFY(recipe.value().stages[0].variants[0].search.has_value());
        QVERIFY(QString::fromStdString(recipe.value().caveat)
                    .contains(QStringLiteral("measured on the prompts that it was found on")));
        const engine::RecipeSettings& measured = recipe.value().stages[1].variants[0].settings;
        for (const char* off : {"optimise", "weigh"}) // the set that was found, and no other
            QCOMPARE(measured.at(off), std::vector<std::string>{"off"});
        for (const char* never : {"lower_below", "restart_drop"})
            QCOMPARE(measured.at(never), std::vector<std::string>{"0"});
        const auto lines = [this] {
            return support::fileBytes(
                newest().arguments.at(newest().arguments.indexOf("--data") + 1));
        };
        QCOMPARE(lines().count('\n'), 2);
        QCOMPARE(lines().count("\"task\":\"task = code\""), 2); // the set is called like it
        QTRY_VERIFY(newest().isOver());
        desk().showJob(id);
        prompts.setSlice(QString());
        QTRY_COMPARE(prompts.sliceModel().rowCount(), 4);
        prompts.setSlice(QStringLiteral("task = code"));
        button(prompts, QStringLiteral("Search a set for this slice"))->click();
        QTRY_COMPARE(desk().queue().jobs().size(), std::size_t{3});
        QCOMPARE(newest().title, QStringLiteral("Set for: task = code (2)"));
        QCOMPARE(lines().count("\"task\":\"task = code (2)\""), 2);
    }

    void aRunWhoseModelIsGoneOffersToFindIt() {
        const QString id = addJob("fail");
        const QString folder = desk().queue().job(id)->folder;
        MadeUpStream stream(folder.toStdString(), {"story"}, 1);
        auto run = engine::RunFolder::open(folder.toStdString());
        QVERIFY(run && run.value().moveModels({"/nowhere/model.gguf"}));
        support::writeFile(folder + QStringLiteral("/does"), "fail\n");
        desk().queue().run(id);
        desk().showJob(id);
        QTRY_COMPARE(desk().queue().job(id)->state, JobState::Failed);
        QTRY_VERIFY(button(page(), QStringLiteral("Find its model...")) != nullptr);
        QVERIFY(button(page(), QStringLiteral("Resume")) != nullptr);
    }

    void enterOpensTheAnswersToAPromptAndEscLeadsBack() {
        const QString id = addJob("done");
        MadeUpStream stream(desk().queue().job(id)->folder.toStdString(), {"story", "code"}, 2);
        for (int prompt = 0; prompt < 3; ++prompt)
            stream.answer(prompt);
        desk().showJob(id);
        PromptsView& prompts = page().streamPage().prompts();
        QTRY_COMPARE(prompts.sliceModel().rowCount(), 3);
        prompts.showPrompt(2);
        QTest::keyClick(&prompts.promptTable(), Qt::Key_Return);
        AnswerPage& answer = page().answerPage();
        QVERIFY(answer.isVisible());
        QTRY_COMPARE(answer.findChildren<MessageBody*>().size(), 1); // vanilla's text is not kept
        QTRY_VERIFY(says(answer, QStringLiteral("Prompt 1\nof story")));
        QVERIFY(says(answer, QStringLiteral("1.50\u00D7 vanilla")));
        QVERIFY(says(answer, QStringLiteral("SWIFT")));
        QVERIFY(says(answer, QStringLiteral("the same tokens as vanilla")));
        QCOMPARE(answer.findChild<MessageBody*>()->source(), QStringLiteral("Yes, **no**."));
        stream.answer(3); // what comes meanwhile does not take the page away
        desk().showJob(id);
        QVERIFY(answer.isVisible());
        QTest::keyClick(&answer, Qt::Key_PageDown);
        QTRY_VERIFY(says(answer, QStringLiteral("Prompt 2\nof code")));
        QTest::keyClick(&answer, Qt::Key_Escape);
        QVERIFY(prompts.isVisible());
        QCOMPARE(prompts.promptTable().currentIndex().row(), 2);
    }

    void theButtonThatLeadsToTheNextPromptKeepsTheKeyboard() {
        const QString id = addJob("done");
        MadeUpStream stream(desk().queue().job(id)->folder.toStdString(), {"story", "code"}, 2);
        for (int prompt = 0; prompt < 3; ++prompt)
            stream.answer(prompt);
        desk().showJob(id);
        PromptsView& prompts = page().streamPage().prompts();
        QTRY_COMPARE(prompts.sliceModel().rowCount(), 3);
        prompts.showPrompt(1);
        QTest::keyClick(&prompts.promptTable(), Qt::Key_Return);
        AnswerPage& answer = page().answerPage();
        QTRY_VERIFY(says(answer, QStringLiteral("Prompt 0\nof story")));
        QVERIFY(QTest::qWaitForWindowActive(m_desk->window.get(), kPatienceMs));
        button(answer, QStringLiteral("Next"))->setFocus();
        for (const char* text : {"Prompt 1\nof story", "Prompt 2\nof code"}) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
            QVERIFY(answer.isVisible());
            QTRY_VERIFY(says(answer, QString::fromLatin1(text)));
        }
    }

    void tokensOfAnAnswerAreMarkedByTheirRounds() {
        engine::ShardRound draft;
        draft.tokens = {"Yes", "no", "."};
        draft.ranks = {1, 2, 0};
        draft.draftSteps = 2;
        engine::ShardRound plain;
        plain.tokens = {"\xE2\x82\xAC!"};
        plain.ranks = {0};
        const MarkedText marked = markedText({&draft, &plain});
        QCOMPARE(marked.text, QStringLiteral("Yesno.\u20AC!"));
        using Origin = engine::TokenOrigin;
        std::vector<Origin> origins;
        for (const TokenMark& token : marked.tokens)
            origins.push_back(token.origin);
        QVERIFY((origins == std::vector<Origin>{
                                Origin::Draft, Origin::Sibling, Origin::Bonus, Origin::Vanilla}));
        QCOMPARE(marked.tokens[1].rank, 1);
        QCOMPARE(marked.tokens[3].begin, 6);
        QCOMPARE(marked.tokens[3].end, 8);
        QCOMPARE(marked.tokens[3].step, 1);
    }

    void aRecipeOfTheUsersIsListed() {
        const auto recipe = MadeUpStream::recipe();
        engine::Recipe own = recipe;
        own.run.reset();
        own.title = "My stream";
        const QString path = file(QStringLiteral("mine.swiftexp"),
                                  QByteArray::fromStdString(engine::recipeJson(own)));
        desk().openPaths({path});
        QVERIFY(says(page(), QStringLiteral("My stream")));
        // A later version takes its place; another recipe of the same file name does not.
        const auto ownTitles = [&] {
            QStringList titles;
            for (const RecipeEntry& entry : desk().catalog().entries())
                if (entry.isOwn)
                    titles << QString::fromStdString(entry.recipe.title);
            return titles;
        };
        own.title = "My later stream";
        file(QStringLiteral("mine.swiftexp"), QByteArray::fromStdString(engine::recipeJson(own)));
        desk().openPaths({path});
        QCOMPARE(ownTitles(), QStringList{QStringLiteral("My later stream")});
        own.name = "another";
        own.title = "Another";
        file(QStringLiteral("mine.swiftexp"), QByteArray::fromStdString(engine::recipeJson(own)));
        desk().openPaths({path});
        QCOMPARE(ownTitles().size(), qsizetype{2});
        QVERIFY(ownTitles().contains(QStringLiteral("My later stream")));
        desk().openPaths({file(QStringLiteral("bad.swiftexp"), "{}")});
        QVERIFY(m_desk->messages.isShown(QStringLiteral("experiments")));
    }

    void everyControlHasAName() {
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        QCOMPARE(namelessWidgets(*m_desk->window).join(u'\n'), QString());
    }

    void twoSkipSetsBecomeARecipeThatIsKept() {
        QSignalSpy shown(&desk(), &ExperimentsDesk::shown);
        const engine::SkipSet first{{1, 2}, {3}};
        const engine::SkipSet second{{4}, {}};
        desk().openRecipe(
            setsRecipe(QStringLiteral("a task/\u00E9"), first, QStringLiteral("story"), second));
        QCOMPARE(shown.size(), 1);
        const RecipeChoice choice = desk().options().choice();
        const auto kept = engine::readRecipeFile(choice.path.toStdString());
        QVERIFY2(kept.hasValue(), kept ? "" : kept.error().message.c_str());
        QCOMPARE(kept.value().title, std::string("a task/\u00E9 against story"));
        const auto& variants = kept.value().stages.at(0).variants;
        QCOMPARE(variants.size(), std::size_t{2});
        QCOMPARE(variants[0].name, std::string("A-a_task__"));
        QCOMPARE(variants[1].name, std::string("B-story"));
        QCOMPARE(variants[0].settings.at("skip_set"),
                 std::vector<std::string>{engine::skipSetJson(first)});
        QCOMPARE(variants[1].settings.at("skip_set"),
                 std::vector<std::string>{engine::skipSetJson(second)});
        QVERIFY(desk().catalog().entry(choice.path) != nullptr);
        desk().openRecipe(
            setsRecipe(QStringLiteral("a task/\u00E9"), second, QStringLiteral("story"), first));
        const RecipeChoice later = desk().options().choice();
        QCOMPARE(later.path, choice.path);
        QCOMPARE(later.recipe.stages.at(0).variants.at(0).settings.at("skip_set"),
                 std::vector<std::string>{engine::skipSetJson(second)});
    }
};

QTEST_MAIN(ExperimentsDeskTest)
#include "experiments_desk_test.moc"
