// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/made_up_stream.h"
#include "tests/ui/experiments/scripted_experiment.h"
#include "ui/views/experiments/lists/job_list_model.h"
#include "ui/views/experiments/lists/recipe_list_model.h"
#include "ui/views/experiments/stream/prompt_table_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace support;
using namespace ui;
using test_support::MadeUpStream;

/// The models of the workspace's lists and tables.
class ExperimentListsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ScriptedExperiment> m_script;
    std::unique_ptr<ExperimentQueue> m_queue;
    std::unique_ptr<RunWatcher> m_watcher;

    QString add(const char* recipe, const QString& title, const QString& source = {}) {
        ExperimentJob job;
        job.title = title;
        job.recipe = QString::fromLatin1(recipe);
        job.source = source;
        return m_queue->add(std::move(job));
    }

    static PromptRow row(int prompt, const char* task, long tokens, std::optional<double> speed) {
        PromptRow row;
        row.prompt = prompt;
        row.task = QString::fromLatin1(task);
        row.text = QStringLiteral("text %1").arg(prompt);
        row.tokens = tokens;
        row.speed = speed;
        return row;
    }

private slots:

    void init() {
        m_script = std::make_unique<ScriptedExperiment>();
        m_queue = std::make_unique<ExperimentQueue>(
            ExperimentPlaces{m_script->program(), {}, m_script->folder()});
        m_watcher = std::make_unique<RunWatcher>();
    }

    void cleanup() {
        m_watcher.reset();
        m_queue.reset();
        m_script.reset();
    }

    void jobsStandInTheirSections() {
        JobListModel model(*m_queue, *m_watcher);
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QString failed = add("fail", QStringLiteral("Broken"));
        m_queue->run(failed);
        QTRY_COMPARE(m_queue->job(failed)->state, JobState::Failed);
        const QString first = add("work", QStringLiteral("First"));
        const QString second = add("work", QStringLiteral("Second"));
        m_queue->run(first);
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.idAt(model.index(0)), first);
        QCOMPARE(model.index(0).data(JobListModel::SectionRole).toString(),
                 QStringLiteral("Running"));
        QCOMPARE(model.idAt(model.index(1)), second);
        QCOMPARE(model.idAt(model.index(2)), failed);
        QVERIFY(model.index(2).data(JobListModel::IsFirstOfSectionRole).toBool());
        QCOMPARE(model.index(2).data(JobListModel::SubtitleRole).toString(),
                 QStringLiteral("There is no model. Give --model."));
        QVERIFY(model.index(2)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("Broken")));
        m_queue->remove(first);
        QCOMPARE(model.rowCount(), 2);
    }

    void aJobAtWorkTellsHowFarItIs() {
        JobListModel model(*m_queue, *m_watcher);
        const QString id = add("work", QStringLiteral("Nine tasks"));
        const QString folder = m_queue->job(id)->folder;
        MadeUpStream stream(folder.toStdString(), {"story", "code"}, 2);
        stream.answer(0);
        m_queue->run(id);
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        m_watcher->look(folder);
        QTRY_VERIFY(!changed.isEmpty());
        const QModelIndex row = model.indexOf(id);
        constexpr double share = 2.0 / 9.0; // vanilla is asked once more at the end
        QCOMPARE(row.data(JobListModel::ShareRole).toDouble(), share);
        QCOMPARE(row.data(JobListModel::OutcomeRole).toString(), QStringLiteral("22 %"));
        QVERIFY(row.data(JobListModel::SubtitleRole)
                    .toString()
                    .startsWith(QStringLiteral("prompt 1 of 4")));
    }

    void samplesAndSearchesAreStepsOfARun() {
        RunPicture picture;
        picture.facts = std::make_shared<RunFacts>();
        picture.progress.planned = 4;
        QCOMPARE(progressText(picture), QStringLiteral("reading the model"));
        picture.progress.answers = 2;
        QCOMPARE(progressText(picture), QStringLiteral("answer 2 of 4"));
        picture.progress.draws = 3; // no further answer comes while they are drawn
        picture.progress.plannedDraws = 1590;
        QCOMPARE(progressText(picture), QStringLiteral("step 5 of 1,594"));
        QVERIFY(progressShare(picture) == 5.0 / 1594.0);
        picture.progress = engine::RunProgress();
        picture.progress.trials = 1; // before the first answer
        picture.progress.plannedTrials = 10;
        picture.progress.planned = 10;
        QCOMPARE(progressText(picture), QStringLiteral("step 1 of 20"));
        QVERIFY(progressShare(picture) == 1.0 / 20.0);
    }

    void durationsAreWords_data() {
        QTest::addColumn<double>("seconds");
        QTest::addColumn<QString>("text");
        QTest::newRow("short") << 20.0 << "less than a minute";
        QTest::newRow("minute") << 62.0 << "1 min";
        QTest::newRow("hour") << 3600.0 << "1 h";
        QTest::newRow("more") << 4200.0 << "1 h 10 min";
        QTest::newRow("a day") << 26.0 * 3600.0 << "26 h";
        QTest::newRow("days") << 8.1 * 86'400.0 << "8 days 2 h";
        QTest::newRow("whole days") << 5.0 * 86'400.0 << "5 days";
    }

    void durationsAreWords() {
        QFETCH(double, seconds);
        QFETCH(QString, text);
        QCOMPARE(durationText(seconds), text);
    }

    void recipesTellWhatTheirNewestRunFound() {
        const RecipeCatalog catalog(QStringLiteral("resources/recipes"), {});
        QVERIFY2(catalog.problems().isEmpty(), qPrintable(catalog.problems().join(u'\n')));
        QVERIFY(catalog.entries().size() >= 14);
        RecipeListModel model(catalog, *m_queue);
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QString path = QStringLiteral("resources/recipes/main_comparison.json");
        const auto state = [&] {
            return static_cast<RecipeListModel::State>(
                model.indexOf(path).data(RecipeListModel::StateRole).toInt());
        };
        QCOMPARE(model.indexOf(path).data(RecipeListModel::SourceRole).toString(),
                 QStringLiteral("Tab 2, 4"));
        QCOMPARE(state(), RecipeListModel::State::NotRun);
        const QString id = add("done", QStringLiteral("Main"), path);
        m_queue->run(id);
        QCOMPARE(state(), RecipeListModel::State::Running);
        QTRY_COMPARE(m_queue->job(id)->state, JobState::Finished);
        m_queue->setOutcome(id, QStringLiteral("no gain"), false);
        QCOMPARE(state(), RecipeListModel::State::NoGain);
        m_queue->setOutcome(id, {}, true); // a finding is no gain, but none is missed either
        QVERIFY(model.indexOf(path)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .endsWith(QStringLiteral(", finished")));
    }

    void anAuditThatFailsIsNotToldAsAMissedGain() {
        auto facts = std::make_shared<RunFacts>();
        auto result = std::make_shared<engine::ExperimentResult>();
        RunPicture picture;
        picture.facts = facts;
        picture.result = result;
        result->verdict.headline = "SWIFT gains 1.27\u00D7 over vanilla.";
        result->verdict.kind = engine::VerdictKind::Gain;
        QCOMPARE(outcomeText(picture), QStringLiteral("1.27\u00D7"));
        result->verdict.kind = engine::VerdictKind::NoGain;
        QCOMPARE(outcomeText(picture), QStringLiteral("no gain"));
        facts->recipe.verdict.kind = "equal";
        QCOMPARE(outcomeText(picture), QStringLiteral("not equal"));
        result->verdict = {engine::VerdictKind::Gain, "Passed. No token differs.", {}};
        QCOMPARE(outcomeText(picture), QString());
    }

    void promptsAreAddedAtTheEndWhileTheTableIsSorted() {
        PromptTableModel prompts;
        SliceModel slice(prompts);
        QAbstractItemModelTester tester(&prompts,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        QAbstractItemModelTester sliceTester(
            &slice, QAbstractItemModelTester::FailureReportingMode::QtTest);
        slice.sort(PromptTableModel::Speed, Qt::AscendingOrder);
        prompts.setRows({row(1, "story", 40, 1.5), row(2, "story", 30, {})});
        QSignalSpy reset(&prompts, &QAbstractItemModel::modelReset);
        prompts.setRows(
            {row(1, "story", 40, 1.5), row(2, "story", 30, 0.9), row(3, "code", 9, 1.2)});
        QVERIFY(reset.isEmpty());
        QCOMPARE(slice.rowCount(), 3);
        std::vector<int> order;
        for (const PromptRow& shown : slice.shownRows())
            order.push_back(shown.prompt);
        QCOMPARE(order, (std::vector<int>{2, 3, 1}));
        slice.setSlice(PromptSlice::parse(QStringLiteral("task = story")).slice);
        QCOMPARE(slice.rowCount(), 2);
        QCOMPARE(slice.table().rows.size(), std::size_t{2});
        prompts.setRows({row(7, "other", 1, {})}); // another run
        QCOMPARE(reset.size(), 1);
        QCOMPARE(slice.rowCount(), 0);
    }
};

QTEST_GUILESS_MAIN(ExperimentListsTest)
#include "experiment_lists_test.moc"
