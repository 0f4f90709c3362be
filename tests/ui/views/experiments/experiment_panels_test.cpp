// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/made_up_stream.h"
#include "tests/ui/experiments/scripted_experiment.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/experiments/lists/queue_panel.h"
#include "ui/views/experiments/lists/queue_status.h"
#include "ui/views/experiments/lists/recipe_panel.h"
#include "ui/views/experiments/options/hardware_panel.h"
#include "ui/views/models/figure_list.h"

#include <QFileInfo>
#include <QFontMetrics>
#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace support;
using namespace ui;
using test_support::MadeUpStream;

/// The lists at the left of the workspace Experiments.
class ExperimentPanelsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ScriptedExperiment> m_script;
    std::unique_ptr<ExperimentQueue> m_queue;
    std::unique_ptr<RecipeCatalog> m_catalog;
    Theme m_theme;

    static engine::Recipe recipeFrom(const char* source) {
        engine::Recipe recipe;
        recipe.source = source;
        return recipe;
    }

    QString add(const char* recipe, const char* title) {
        ExperimentJob job;
        job.title = QString::fromLatin1(title);
        job.recipe = QString::fromLatin1(recipe);
        return m_queue->add(std::move(job));
    }

private slots:

    void init() {
        m_script = std::make_unique<ScriptedExperiment>();
        m_queue = std::make_unique<ExperimentQueue>(
            ExperimentPlaces{m_script->program(), {}, m_script->folder()});
        m_catalog = std::make_unique<RecipeCatalog>(QStringLiteral("resources/recipes"), QString());
        m_theme.setTextPercent(100);
    }

    void cleanup() {
        m_catalog.reset();
        m_queue.reset();
        m_script.reset();
    }

    void samplesAndSetsThatAreTriedAreCountedBesideTheAnswers() {
        auto picture = std::make_shared<RunPicture>();
        picture->facts = std::make_shared<RunFacts>();
        picture->progress.plannedDraws = 8;
        picture->progress.draws = 3;
        HardwarePanel panel(m_theme);
        panel.setPicture(picture);
        const auto counts = [&] {
            QStringList words;
            for (const FigureList::Row& row : panel.findChild<FigureList*>()->rows())
                words << row.name + u' ' + row.value;
            return words;
        };
        QVERIFY(counts().contains(QStringLiteral("Samples drawn 3 of 8")));
        QCOMPARE(counts().filter(QStringLiteral("Sets tried")).size(), qsizetype{0});
        auto searching = std::make_shared<RunPicture>(*picture);
        searching->progress.trials = 2;
        searching->progress.plannedTrials = 30;
        panel.setPicture(searching);
        QVERIFY(counts().contains(QStringLiteral("Sets tried beforehand 2 of 30")));
    }

    void sourcesAreShortButNameTheirPlace_data() {
        QTest::addColumn<QByteArray>("source");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* source, const char* text) {
            QTest::newRow(source) << QByteArray(source) << QString::fromLatin1(text);
        };
        row("Tables 2 and 4 of arXiv 2410.06916", "Tab 2, 4");
        row("Figure 6, right, of arXiv 2410.06916", "Fig 6 right");
        row("Figure 11 and Table 12 of arXiv 2410.06916", "Fig 11, Tab 12");
        row("Section 4 of arXiv 2410.06916", "Sec 4");
        row("Table 1 of arXiv 2504.05598", "arXiv 2504.05598, Tab 1");
        row("the comparison with SWIFT in arXiv 2504.05598", "arXiv 2504.05598");
        row("arXiv 2402.02057", "arXiv 2402.02057");
        row("your own data", "your own data");
        row("", "");
    }

    void sourcesAreShortButNameTheirPlace() {
        QFETCH(QByteArray, source);
        QFETCH(QString, text);
        QCOMPARE(shortSource(recipeFrom(source.constData())), text);
    }

    void noSourceIsCutInANarrowPanel_data() {
        QTest::addColumn<int>("percent");
        QTest::newRow("100 %") << 100;
        QTest::newRow("150 %") << 150;
    }

    /// Where title and source have no room on a line, the row has two.
    void noSourceIsCutInANarrowPanel() {
        QFETCH(int, percent);
        m_theme.setTextPercent(percent);
        RecipePanel panel(m_theme, *m_catalog, *m_queue);
        const auto heightsAt = [&](int width) {
            panel.resize(width, m_theme.scaled(900));
            panel.show();
            std::vector<int> heights;
            for (int row = 0; row < panel.list().model()->rowCount(); ++row)
                heights.push_back(
                    panel.list().sizeHintForIndex(panel.list().model()->index(row, 0)).height());
            return heights;
        };
        const std::vector<int> wide = heightsAt(m_theme.scaled(700));
        const std::vector<int> narrow = heightsAt(panel.minimumSizeHint().width());
        const QFontMetrics title(m_theme.font(TextRole::Interface));
        const QFontMetrics source(m_theme.font(TextRole::Tiny));
        const int room = panel.list().viewport()->width() - m_theme.scaled(2 * 12 + 16 + 4);
        int second = 0;
        for (std::size_t row = 0; row < narrow.size(); ++row) {
            const QModelIndex index = panel.list().model()->index(static_cast<int>(row), 0);
            const int words =
                source.horizontalAdvance(index.data(RecipeListModel::SourceRole).toString());
            QVERIFY2(words <= room, qPrintable(index.data().toString()));
            if (narrow[row] > wide[row])
                ++second;
            else
                QVERIFY2(title.horizontalAdvance(index.data().toString()) + words < room,
                         qPrintable(index.data().toString()));
        }
        QVERIFY(second > 0);
    }

    void theStatusTellsWhatRunsHowFarItIsAndWhatWaits() {
        RunWatcher watcher;
        QueueStatus status(*m_queue, watcher);
        QVERIFY(status.note().state.isEmpty());
        const QString id = add("work", "Questions");
        add("work", "Later");
        QCOMPARE(status.note().state, QStringLiteral("2 experiments wait"));
        MadeUpStream stream(m_queue->job(id)->folder.toStdString(), {"story", "code"}, 2);
        stream.answer(0);
        m_queue->run(id);
        QCOMPARE(status.id(), id);
        QCOMPARE(status.note().title, QStringLiteral("Questions"));
        QSignalSpy changed(&status, &QueueStatus::changed);
        watcher.look(m_queue->job(id)->folder);
        QTRY_VERIFY(!changed.isEmpty());
        QVERIFY2(status.note().state.startsWith(QStringLiteral("prompt 1 of 4 \u00B7 ")),
                 qPrintable(status.note().state));
        QVERIFY(status.note().state.endsWith(QStringLiteral("1 experiment waits")));
        m_queue->pause(id);
        QVERIFY(status.note().state.startsWith(QStringLiteral("paused at prompt 1 of 4")));
    }

    void whatIsTakenOffTheListCanBePutBackWhereItWas() {
        RunWatcher watcher;
        QueuePanel panel(m_theme, *m_queue, watcher);
        panel.resize(300, 500);
        panel.show();
        const QString first = add("work", "First");
        const QString second = add("work", "Second");
        m_queue->run(first);
        const QString folder = m_queue->job(first)->folder;
        QTRY_VERIFY(QFileInfo::exists(folder + QStringLiteral("/told")));
        panel.setCurrent(first);
        QTest::keyClick(&panel.list(), Qt::Key_Delete);
        QVERIFY(m_queue->job(first) == nullptr);
        QVERIFY(QFileInfo::exists(folder + QStringLiteral("/told")));
        QSignalSpy chosen(&panel, &QueuePanel::chosen);
        QTest::keySequence(&panel.list(), QKeySequence::Undo);
        QVERIFY(m_queue->job(first) != nullptr);
        QCOMPARE(m_queue->jobs().front().id, first); // and not behind the other one
        QCOMPARE(m_queue->job(first)->state, JobState::Stopped);
        QCOMPARE(chosen.last().first().toString(), first);
        QTRY_COMPARE(m_queue->job(second)->state, JobState::Running);
        m_queue->run(first); // it can be resumed: it is the next one
        QCOMPARE(m_queue->job(first)->state, JobState::Waiting);
    }

    void whatHasFailedIsToldUntilItIsSeen() {
        RunWatcher watcher;
        QueueStatus status(*m_queue, watcher);
        const QString id = add("fail", "Broken");
        m_queue->run(id);
        QTRY_VERIFY(status.note().isError);
        QCOMPARE(status.note().title, QStringLiteral("Broken"));
        QCOMPARE(status.note().state, QStringLiteral("failed"));
        status.setSeen(QStringLiteral("another"));
        QVERIFY(status.note().isError);
        status.setSeen(id);
        QCOMPARE(status.note(), WorkNote());
    }

    void rowsGetTheirHeightsAnewWhenOnlyTheWidthChanges() {
        RecipePanel panel(m_theme, *m_catalog, *m_queue);
        const QListView& list = panel.list();
        const auto height = [&list] {
            const int last = list.model()->rowCount() - 1;
            return list.visualRect(list.model()->index(last, 0)).bottom() -
                   list.visualRect(list.model()->index(0, 0)).top();
        };
        const int high = m_theme.scaled(900);
        panel.resize(m_theme.scaled(700), high);
        panel.show();
        const int wide = height();
        panel.resize(panel.minimumSizeHint().width(), high);
        QTRY_VERIFY(height() > wide);
        panel.resize(m_theme.scaled(700), high);
        QTRY_COMPARE(height(), wide);
    }

    void theTipOfARowHasAllThatMayBeCut() {
        RecipePanel panel(m_theme, *m_catalog, *m_queue);
        const QString tip = panel.list().model()->index(0, 0).data(Qt::ToolTipRole).toString();
        QVERIFY(tip.contains(QStringLiteral("Ablation")));
        QVERIFY(tip.contains(QStringLiteral("Table 8 of arXiv 2410.06916")));
    }

    void typingIntoTheFilterChoosesNothing() {
        RecipePanel panel(m_theme, *m_catalog, *m_queue);
        panel.resize(300, 700);
        panel.show();
        QSignalSpy chosen(&panel, &RecipePanel::chosen);
        const QString path = QStringLiteral("resources/recipes/main_comparison.json");
        panel.setCurrent(path);
        auto* filter = panel.findChild<QLineEdit*>();
        QTest::keyClicks(filter, QStringLiteral("ablation"));
        QVERIFY(panel.list().model()->rowCount() > 0);
        QVERIFY(!panel.list().currentIndex().isValid());
        filter->clear();
        QCOMPARE(panel.list().currentIndex().data(RecipeListModel::PathRole).toString(), path);
        QVERIFY(chosen.isEmpty());
    }

    void aRowIsChosenByMouseAndByEnterButNotWhenItIsMarked() {
        RecipePanel panel(m_theme, *m_catalog, *m_queue);
        panel.resize(300, 700);
        panel.show();
        QSignalSpy chosen(&panel, &RecipePanel::chosen);
        const QString second = m_catalog->entries()[1].path;
        panel.setCurrent(second);
        QVERIFY(chosen.isEmpty());
        QTest::mouseClick(panel.list().viewport(),
                          Qt::LeftButton,
                          {},
                          panel.list().visualRect(panel.list().currentIndex()).center());
        QCOMPARE(chosen.last().first().toString(), second);
        const auto before = chosen.size();
        QTest::keyClick(&panel.list(), Qt::Key_Return);
        QCOMPARE(chosen.size(), before + 1);
        QTest::keyClick(&panel.list(), Qt::Key_Down);
        QVERIFY(chosen.last().first().toString() != second);
    }
};

QTEST_MAIN(ExperimentPanelsTest)
#include "experiment_panels_test.moc"
