// SPDX-License-Identifier: GPL-3.0-only
#include "engine/experiments/report/write_report.h"
#include "tests/engine/experiments/report/searched_run.h"
#include "tests/support/file_content.h"
#include "tests/ui/views/experiments/staged_desk.h"
#include "tests/ui/views/skip_sets/stored_sets.h"

#include <QTest>
#include <QUndoCommand>

#include <memory>

using namespace support;
using namespace ui;

/// The skip sets of an experiment on their way into the library, whose files are real.
class SetKeeperTest : public QObject {
    Q_OBJECT

    static constexpr int kLayers = 5;

    std::unique_ptr<StagedDesk> m_desk;
    std::unique_ptr<StoredSets> m_sets;

    SetKeeper& keeper() { return m_desk->desk->setKeeper(); }

    MessageBar& messages() { return m_desk->messages; }

    /// A finished experiment on a model, and on another one if it is named, which is shown.
    void showRun(const std::string& fingerprint, bool hasSets, const std::string& second = {}) {
        ExperimentJob job;
        job.title = QStringLiteral("Own prompts");
        job.recipe = QStringLiteral("done");
        ExperimentQueue& queue = m_desk->desk->queue();
        const QString id = queue.add(std::move(job));
        const std::filesystem::path folder = queue.job(id)->folder.toStdString();
        std::vector<engine::RunModel> models = {
            test_support::runModel("tiny", fingerprint, kLayers)};
        if (!second.empty())
            models.push_back(test_support::runModel("other", second, kLayers));
        const engine::RunFolder run = test_support::searchedRun(folder, models);
        const auto sets =
            hasSets ? engine::foundSets(run).value() : std::vector<engine::FoundSkipSet>();
        QVERIFY(engine::writeReport(folder / "report", {}, "{}", sets).hasValue());
        writeFile(queue.job(id)->folder + QStringLiteral("/does"), "done\n"); // what goes on ends
        queue.run(id);
        QTRY_COMPARE(queue.job(id)->state, JobState::Finished);
        m_desk->desk->showJob(id);
        QTRY_VERIFY(!keeper().tip().startsWith(QStringLiteral("Choose"))); // its folder is read
    }

    QString said() const {
        const auto notices = m_desk->messages.notices();
        return notices.empty() ? QString() : notices[0]->headline;
    }

    QStringList storedTasks() {
        QStringList tasks;
        const engine::SkipSetLibrary library = m_sets->memory().all().value();
        for (const auto& [task, stored] : library.sets)
            tasks << QString::fromStdString(task);
        return tasks;
    }

    void keep() {
        QVERIFY2(keeper().canKeep(), qPrintable(keeper().tip()));
        keeper().keep();
        m_sets->answer();
    }

private slots:

    void init() {
        m_desk = std::make_unique<StagedDesk>();
        m_sets = std::make_unique<StoredSets>(
            *m_desk->stage.engine, m_desk->stage.bridge, kLayers, "tiny");
        m_desk->stage.tell(loadedModel(kLayers));
    }

    void cleanup() {
        m_sets.reset();
        m_desk.reset();
    }

    void theSetsOfTheRunThatIsShownAreKeptAndTakenBack() {
        showRun(StoredSets::kOwn, true);
        QVERIFY(keeper().tip().startsWith(QStringLiteral("Takes the skip sets")));
        keep();
        QCOMPARE(storedTasks(), (QStringList{"code", "story"}));
        QCOMPARE(m_sets->memory().find("code").value()->score, 0.75);
        QCOMPARE(said(), QString::fromUtf8("2 sets of “Own prompts” are kept in the library now."));
        QCOMPARE(messages().notices()[0]->choices.front().label, QStringLiteral("Undo"));
        messages().notices()[0]->choices.front().act();
        m_sets->answer();
        QCOMPARE(storedTasks(), QStringList());
        QCOMPARE(said(), QString()); // there is nothing to be taken back any more
        m_desk->stage.undoStack.redo();
        m_sets->answer();
        QCOMPARE(storedTasks(), (QStringList{"code", "story"}));
    }

    void keptTwiceTheyAreThereOnce() {
        showRun(StoredSets::kOwn, true);
        keep();
        const engine::SkipSetsByTask once = m_sets->memory().all().value().sets;
        const int changes = m_desk->stage.undoStack.count();
        keep();
        QVERIFY(m_sets->memory().all().value().sets == once);
        QCOMPARE(m_desk->stage.undoStack.count(), changes);
        QVERIFY2(!said().contains(QStringLiteral("kept in the library now")), qPrintable(said()));
    }

    void anotherSetOfATaskIsReplacedOnlyWhenAskedTo() {
        QVERIFY(m_sets->memory().store("code", {.set = {{2}, {2}}, .decoder = "swift"}));
        showRun(StoredSets::kOwn, true);
        keep();
        QVERIFY2(said().contains(QString::fromUtf8("“code” has a set already and keeps it.")),
                 qPrintable(said()));
        QCOMPARE(m_sets->memory().find("code").value()->set.attention, std::vector<int>{2});
        messages().notices()[0]->choices.front().act();
        m_sets->answer();
        QCOMPARE(m_sets->memory().find("code").value()->set.attention, std::vector<int>{1});
        QCOMPARE(said(), QString::fromUtf8("1 set of “Own prompts” is kept in the library now."));
    }

    void withoutSetsNothingIsAskedOfTheEngine() {
        QVERIFY(!keeper().canKeep());
        QCOMPARE(keeper().tip(), QStringLiteral("Choose a finished experiment first."));
        showRun(StoredSets::kOwn, false);
        QTRY_COMPARE(keeper().tip(),
                     QStringLiteral("The report of this experiment holds no skip sets."));
        keeper().keep();
        QVERIFY(m_desk->stage.engine->lastSent<engine::ListSkipSets>() == nullptr);
        QVERIFY(m_desk->stage.engine->lastSent<engine::ImportSkipSets>() == nullptr);
    }

    void theSetsOfAnotherModelAreKeptForIt() {
        showRun("bb", true);
        keep();
        QCOMPARE(storedTasks(), QStringList()); // those of the loaded model
        const engine::SkipSetMemory owners =
            m_sets->memoryOf({.fingerprint = "bb", .model = "tiny", .layerCount = kLayers});
        QCOMPARE(owners.all().value().sets.size(), std::size_t{2});
        QCOMPARE(owners.all().value().model, std::string("tiny"));
        QCOMPARE(owners.find("code").value()->score, 0.75);
        QCOMPARE(said(),
                 QString::fromUtf8("2 sets of “Own prompts” are kept in the library of tiny now."));
        m_desk->stage.tell(engine::ModelUnloaded());
        QVERIFY2(keeper().canKeep(), qPrintable(keeper().tip()));
        messages().notices()[0]->choices.front().act();
        m_sets->answer();
        QVERIFY(owners.all().value().sets.empty());
        m_desk->stage.undoStack.redo();
        m_sets->answer();
        QCOMPARE(owners.all().value().sets.size(), std::size_t{2});
    }

    void theSetsOfSeveralModelsAreTakenBackTogether() {
        showRun(StoredSets::kOwn, true, "bb");
        keep();
        const engine::SkipSetMemory others =
            m_sets->memoryOf({.fingerprint = "bb", .model = "other", .layerCount = kLayers});
        QCOMPARE(storedTasks(), (QStringList{"code", "story"}));
        QCOMPARE(others.all().value().sets.size(), std::size_t{2});
        QCOMPARE(messages().notices().size(), std::size_t{2});
        for (const Notice* notice : messages().notices())
            QCOMPARE(notice->choices.front().label, QStringLiteral("Undo all"));
        messages().notices()[1]->choices.front().act();
        m_sets->answer();
        QCOMPARE(storedTasks(), QStringList());
        QVERIFY(others.all().value().sets.empty());
        QCOMPARE(said(), QString());
        m_desk->stage.undoStack.redo(); // each model's can come back by itself
        m_sets->answer();
        QCOMPARE(storedTasks(), (QStringList{"code", "story"}));
        QVERIFY(others.all().value().sets.empty());
    }

    void behindAnotherChangeTheSetsOfSeveralModelsAreNoLongerTakenBack() {
        showRun(StoredSets::kOwn, true, "bb");
        keep();
        m_desk->stage.undoStack.push(new QUndoCommand(QStringLiteral("another change")));
        QVERIFY(messages().notices().empty());
    }
};

QTEST_MAIN(SetKeeperTest)
#include "set_keeper_test.moc"
