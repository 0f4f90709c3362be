// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/stored_messages.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "tests/ui/views/skip_sets/stored_sets.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/skip_sets/compare/comparison_pane.h"
#include "ui/views/skip_sets/skip_set_tree.h"
#include "ui/views/skip_sets/skip_sets_view.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

StoredSkipSet storedSet(std::vector<int> attention, std::vector<int> mlp, int trials = 40) {
    return {.set = {std::move(attention), std::move(mlp)},
            .score = 0.75,
            .skipRatio = 0.4,
            .decoder = trials > 0 ? "swift" : "import",
            .savedAt = 1'790'000'000,
            .trials = trials};
}

} // namespace

/// The library of skip sets, with the files of one that answers as the engine does.
class SkipSetsViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;
    std::unique_ptr<StoredSets> m_sets;
    std::unique_ptr<SkipSetsView> m_view;

    SkipSetTree& tree() { return m_view->tree(); }

    QModelIndex line(int row, int column = 0) {
        return tree().model()->index(row, column, tree().model()->index(0, 0));
    }

    QStringList names() {
        QStringList found;
        for (int row = 0; row < tree().model()->rowCount(tree().model()->index(0, 0)); ++row)
            found << line(row).data().toString();
        return found;
    }

    void act(const char* name) {
        auto* action = m_view->findChild<QAction*>(QLatin1String(name));
        QVERIFY(action != nullptr && action->isEnabled());
        action->trigger();
        m_sets->answer();
    }

    bool can(const char* name) {
        return m_view->findChild<QAction*>(QLatin1String(name))->isEnabled();
    }

    QAbstractButton& button(const char* text) {
        return *buttonNamed(*m_view, QString::fromLatin1(text));
    }

    bool isSaid(const QString& words) const { return shownWords(*m_view).contains(words); }

    QStringList storedTasks() {
        QStringList tasks;
        const SkipSetLibrary library = m_sets->memory().all().value();
        for (const auto& [task, stored] : library.sets)
            tasks << QString::fromStdString(task);
        return tasks;
    }

    void compare(const char* task, const QString& other) {
        tree().choose(task);
        auto* menu = m_view->findChild<QMenu*>();
        QVERIFY(menu != nullptr);
        emit menu->aboutToShow();
        for (QAction* action : menu->actions())
            if (action->text() == other)
                action->trigger();
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>();
        m_sets =
            std::make_unique<StoredSets>(*m_run->engine, *m_run->bridge, m_run->layers, "Tiny");
        QVERIFY(m_sets->memory().store({{"code", storedSet({1, 3}, {2})},
                                        {"story", storedSet({1, 4}, {2, 3})},
                                        {"wiki", storedSet({2}, {}, 0)}}));
        QVERIFY(SkipSetMemory(m_sets->folder().path(), "bb", 9, "Other")
                    .store("code", storedSet({7}, {8})));
        m_run->begin();
        m_view = std::make_unique<SkipSetsView>(m_run->context());
        m_view->resize(900, 400);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowActive(m_view.get(), kPatienceMs));
        m_sets->answer();
    }

    void cleanup() {
        m_view.reset();
        m_sets.reset();
        m_run.reset();
    }

    void setsAreListedBelowTheirModels() {
        QCOMPARE(names(), (QStringList{"code", "story", "wiki"}));
        const QStringList code = tree().table().rows.at(0);
        QCOMPARE(code.mid(0, 6), (QStringList{"Tiny", "code", "", ".75", ".40", "3 of 8"}));
        QCOMPARE(code.at(8), QStringLiteral("search, swift"));
        QCOMPARE(tree().table().header.at(4), QStringLiteral("r"));
        QVERIFY(line(0).data(Qt::ToolTipRole).toString().contains("r: .40"));
        const QStringList wiki = tree().table().rows.at(2);
        QCOMPARE(wiki.at(3), QString()); // nobody has measured it
        QCOMPARE(wiki.at(8), QStringLiteral("import"));
        QVERIFY(tree().model()->index(1, 0).data().toString().contains("another model, 9 layers"));
        QCOMPARE(tree().table().rows.size(), std::size_t{4});
        QCOMPARE(namelessWidgets(*m_view).join(QLatin1Char('\n')), QString());
    }

    void aModelOfOneLayerIsToldInTheSingular() {
        QVERIFY(SkipSetMemory(m_sets->folder().path(), "cc", 1, "Small")
                    .store("code", storedSet({0}, {})));
        m_run->engine->say(promptFinished(1));
        m_run->bridge->tick();
        m_sets->answer();
        QStringList models;
        for (int row = 0; row < tree().model()->rowCount(); ++row)
            models << tree().model()->index(row, 0).data().toString();
        QVERIFY2(models.contains("Small (another model, 1 layer)"), qPrintable(models.join('|')));
    }

    void aSetOfAnotherModelCannotBeUsed() {
        tree().setCurrentIndex(tree().model()->index(0, 0, tree().model()->index(1, 0)));
        QVERIFY(tree().current() && !tree().current()->isOwn);
        QCOMPARE(tree().current()->set.stored.set.attention, std::vector<int>{7});
        for (const char* name : {"use_set",
                                 "compare_sets",
                                 "pin_stored_set",
                                 "rename_set",
                                 "delete_set",
                                 "export_set"})
            QVERIFY2(!can(name), name);
        QVERIFY(can("import_sets"));
        QTest::keyClick(&tree(), Qt::Key_Return);
        QTest::keyClick(&tree(), Qt::Key_Delete);
        QVERIFY(m_run->engine->lastSent<ChangeSettings>() == nullptr);
        QVERIFY(m_run->engine->lastSent<ChangeSkipSets>() == nullptr);
    }

    void enterUsesTheSetAndItIsMarkedThen() {
        tree().choose("story");
        tree().setFocus();
        QTest::keyClick(&tree(), Qt::Key_Return);
        const auto* sent = m_run->engine->lastSent<ChangeSettings>();
        QVERIFY(sent != nullptr);
        QCOMPARE(std::get<std::string>(sent->values.at("start")), std::string("manual"));
        QCOMPARE(std::get<std::string>(sent->values.at("skip_set")),
                 skipSetJson(storedSet({1, 4}, {2, 3}).set));
        m_run->install(m_run->plan({1, 4}, {2, 3}), "manual");
        m_sets->answer();
        QCOMPARE(tree().table().rows.at(1).at(2), QStringLiteral("in use"));
        QCOMPARE(tree().table().rows.at(0).at(2), QString());
        QVERIFY(m_run->undo.canUndo());
    }

    void withoutADecoderThatTakesASetASentenceSaysSo() {
        DecoderInfo vanilla;
        vanilla.name = "vanilla";
        vanilla.title = "Vanilla";
        m_run->engine->say(DecoderChosen{vanilla, {}});
        m_sets->answer();
        act("use_set");
        QVERIFY(isSaid(QStringLiteral("Vanilla does not use a skip set of yours")));
    }

    void twoSetsAreComparedWithTheEnginesOwnNumbers() {
        compare("code", QStringLiteral("story"));
        const auto& shown = m_view->comparisonPane().comparison();
        QVERIFY(shown.has_value());
        QCOMPARE(shown->a.title, QStringLiteral("code"));
        QCOMPARE(shown->b.title, QStringLiteral("story"));
        const SkipSetComparison numbers =
            compareSkipSets(m_sets->memory().find("code").value()->set,
                            m_sets->memory().find("story").value()->set);
        QCOMPARE(numbers.hamming(), 3); // attention 3 and 4, MLP 3
        QVERIFY(isSaid(QStringLiteral("Jaccard .40, Hamming %1.").arg(numbers.hamming())));
        QVERIFY(isSaid(QStringLiteral("by both %1, only by A %2, only by B %3, by neither 7")
                           .arg(numbers.both)
                           .arg(numbers.onlyFirst)
                           .arg(numbers.onlySecond)));
        const LayerMapModel& cells = m_view->comparisonPane().model();
        QVERIFY(cells.words({Sublayer::Attention, 1}).endsWith("skipped by both"));
        QVERIFY(cells.words({Sublayer::Attention, 3}).endsWith("skipped by only A"));
        QVERIFY(cells.words({Sublayer::Mlp, 3}).endsWith("skipped by only B"));
        QVERIFY(cells.words({Sublayer::Mlp, 5}).endsWith("skipped by neither"));
        const FigureTable table = m_view->table();
        QCOMPARE(table.rows.size(), std::size_t{6 + 4});
        QCOMPARE(table.rows.at(3), (QStringList{"3", "only A", "only B"}));
        QCOMPARE(table.rows.back().at(1), QStringLiteral("3"));
        button("Close the comparison").click();
        QVERIFY(!m_view->comparisonPane().isVisible());
        QCOMPARE(m_view->table().rows.size(), std::size_t{4});
    }

    void theFourStatesLookDifferentWithoutColour() {
        compare("code", QStringLiteral("story"));
        QTableView& cells = m_view->comparisonPane().grid().table();
        QCoreApplication::processEvents();
        const QImage picture = cells.grab().toImage().convertToFormat(QImage::Format_Grayscale8);
        const auto look = [&](int row, int layer) {
            const QModelIndex index = cells.model()->index(row, layer);
            return picture.copy(cells.visualRect(index).adjusted(0, 0, -1, 0));
        };
        const std::vector<QImage> states = {look(0, 1), look(0, 3), look(0, 4), look(0, 5)};
        for (std::size_t i = 0; i < states.size(); ++i)
            for (std::size_t j = i + 1; j < states.size(); ++j)
                QVERIFY2(states[i].copy(QRect(QPoint(), states[j].size())) != states[j],
                         qPrintable(QStringLiteral("%1 and %2").arg(i).arg(j)));
    }

    void thePairIsHandedOnForAnExperiment() {
        QSignalSpy asked(m_view.get(), &SkipSetsView::runAsked);
        compare("story", QStringLiteral("wiki"));
        button("Run A against B...").click();
        QCOMPARE(asked.size(), 1);
        const auto sets = asked.front().front().value<SetComparison>();
        QCOMPARE(sets.a.set, storedSet({1, 4}, {2, 3}).set);
        QCOMPARE(sets.b.set, storedSet({2}, {}).set);
    }

    void aPinnedSetIsThatOfTheLayerMap() {
        tree().choose("wiki");
        act("pin_stored_set");
        QCOMPARE(m_run->selection.pinnedSet()->skipped, storedSet({2}, {}).set);
        QCOMPARE(tree().table().rows.at(2).at(2), QStringLiteral("pinned"));
        QCOMPARE(tree().table().rows.at(2).at(6), QStringLiteral("1.00")); // Jaccard with itself
        act("pin_stored_set");
        QVERIFY(!m_run->selection.pinnedSet());
    }

    void aTypedNameRenamesAndCanBeTakenBack() {
        tree().choose("code");
        tree().setFocus();
        QTest::keyClick(&tree(), Qt::Key_F2);
        auto* field = tree().findChild<QLineEdit*>();
        QVERIFY(field != nullptr);
        field->setText(QStringLiteral("Python"));
        QTest::keyClick(field, Qt::Key_Return);
        QCoreApplication::processEvents(); // a list takes what was typed behind its key
        QVERIFY(m_run->engine->lastSent<ChangeSettings>() == nullptr); // the key used no set
        m_sets->answer();
        QCOMPARE(storedTasks(), (QStringList{"Python", "story", "wiki"}));
        QCOMPARE(names(), (QStringList{"Python", "story", "wiki"}));
        m_run->undo.undo();
        m_sets->answer();
        QCOMPARE(names(), (QStringList{"code", "story", "wiki"}));
        QVERIFY(m_sets->memory().find("code").value() == storedSet({1, 3}, {2}));
    }

    void aListThatComesWhileANameIsTypedIsShownBehindIt() {
        tree().choose("code");
        tree().setFocus();
        QTest::keyClick(&tree(), Qt::Key_F2);
        auto* field = tree().findChild<QLineEdit*>();
        QVERIFY(field != nullptr);
        QVERIFY(m_sets->memory().store("new", storedSet({3}, {})));
        m_run->engine->say(promptFinished(1));
        m_run->bridge->tick();
        m_sets->answer();
        QVERIFY(!names().contains("new")); // the field stays on its row
        QTest::keyClick(field, Qt::Key_Escape);
        QTRY_VERIFY(names().contains("new"));
    }

    void aRecordingSaysWhyNothingCanBeChanged() {
        m_view.reset();
        m_run->engine->recording =
            std::make_unique<Playback>(0.0, 1.0, std::chrono::steady_clock::now);
        m_view = std::make_unique<SkipSetsView>(m_run->context());
        for (const char* text : {"Use this set", "Import...", "Export all..."}) {
            QVERIFY2(!button(text).isEnabled(), text);
            QCOMPARE(button(text).toolTip(),
                     QStringLiteral("A recording is shown, so nothing can be changed."));
        }
    }

    void aNameThatIsTakenIsRefused() {
        tree().choose("code");
        m_view->shelf().rename("code", "story");
        m_sets->answer();
        QVERIFY(isSaid(QStringLiteral("has a skip set already")));
        QCOMPARE(names(), (QStringList{"code", "story", "wiki"}));
        QVERIFY(!m_run->undo.canUndo());
    }

    void aDeletedSetComesBackByTheStripAndByUndo() {
        const SkipSetsByTask before = m_sets->memory().all().value().sets;
        tree().choose("story");
        tree().setFocus();
        QTest::keyClick(&tree(), Qt::Key_Delete);
        m_sets->answer();
        QCOMPARE(storedTasks(), (QStringList{"code", "wiki"}));
        QVERIFY(isSaid(QStringLiteral("Deleted \u201Cstory\u201D.")));
        QTest::mouseClick(&button("Undo"), Qt::LeftButton);
        m_sets->answer();
        QVERIFY(m_sets->memory().all().value().sets == before);
        QVERIFY(!isSaid(QStringLiteral("Deleted")));
        m_run->undo.redo();
        m_sets->answer();
        QCOMPARE(storedTasks(), (QStringList{"code", "wiki"}));
        m_run->undo.undo(); // as Ctrl+Z does
        m_sets->answer();
        QVERIFY(m_sets->memory().all().value().sets == before);
    }

    void aSetThatASearchHasFoundMeanwhileIsNotLostByUndo() {
        const StoredSkipSet deleted = *m_sets->memory().find("story").value();
        const StoredSkipSet newer = storedSet({2}, {4});
        tree().choose("story");
        act("delete_set");
        QVERIFY(m_sets->memory().store("story", newer)); // and the list does not know it yet
        m_run->undo.undo();
        m_sets->answer();
        QVERIFY(isSaid(QStringLiteral("has a skip set already")));
        QVERIFY(m_sets->memory().find("story").value() == newer);
        QVERIFY(m_run->undo.canUndo()); // the deleted set can still be had back
        m_sets->answer();
        m_run->undo.undo();
        m_sets->answer();
        QVERIFY(m_sets->memory().find("story").value() == deleted);
        m_run->undo.redo();
        m_sets->answer();
        QVERIFY(m_sets->memory().find("story").value() == newer);
    }

    void importedSetsReplaceOthersOnlyWhenAskedTo() {
        const SkipSetsByTask before = m_sets->memory().all().value().sets;
        const auto file =
            m_sets->folder().write("sets.json", R"({"code":{"mlp":[4]},"math":{"attention":[2]}})");
        m_view->shelf().importFrom(QString::fromStdString(file.string()));
        m_sets->answer();
        QCOMPARE(storedTasks(), (QStringList{"code", "math", "story", "wiki"}));
        QVERIFY(m_sets->memory().find("code").value() == before.at("code"));
        QVERIFY(isSaid(QStringLiteral("\u201Ccode\u201D has a set already and keeps it.")));
        button("Replace them").click();
        m_sets->answer();
        QCOMPARE(m_sets->memory().find("code").value()->set.mlp, std::vector<int>{4});
        m_run->undo.undo();
        m_sets->answer();
        m_run->undo.undo();
        m_sets->answer();
        QVERIFY(m_sets->memory().all().value().sets == before);
    }

    /// Taking them back would delete what was there before.
    void setsThatAreThereAlreadyAreNoChange() {
        const SkipSetsByTask before = m_sets->memory().all().value().sets;
        const QString same = QString::fromStdString(m_sets->memory().path().string());
        m_view->shelf().importFrom(same, true, QStringLiteral("Own prompts"));
        m_sets->answer();
        QVERIFY(isSaid(QStringLiteral("The library has these sets already.")));
        QVERIFY(!m_run->undo.canUndo());
        QVERIFY(m_sets->memory().all().value().sets == before);
    }

    void whatOneShelfHasDoneIsKnownToTheOther() {
        SkipSetShelf other(*m_run->bridge, m_run->store, m_run->undo);
        other.remove("code");
        m_sets->answer();
        QCOMPARE(names(), (QStringList{"story", "wiki"}));
        QVERIFY(!isSaid(QStringLiteral("Deleted"))); // it was asked of the other
        m_run->undo.undo();
        m_sets->answer();
        QCOMPARE(names(), (QStringList{"code", "story", "wiki"}));
    }

    void whatIsExportedIsAskedForInItsForm() {
        tree().choose("wiki");
        m_view->shelf().exportTo(QStringLiteral("/x.json"), {"wiki"}, SkipSetForm::Memory);
        const auto* sent = m_run->engine->lastSent<ExportSkipSets>();
        QVERIFY(sent != nullptr && sent->form == SkipSetForm::Memory);
        QCOMPARE(sent->tasks, std::vector<std::string>{"wiki"});
        SkipSetsListed done;
        done.requestId = sent->requestId;
        done.taken = {"wiki"};
        m_run->engine->say(done);
        m_run->bridge->tick();
        QVERIFY(isSaid(QStringLiteral("1 set exported to /x.json.")));
    }

    void damagedFilesAreNamedInOneSentence() {
        m_sets->problems = {"a.json: it is no memory of skip sets (byte 0).", "b.json is damaged."};
        m_run->engine->say(promptFinished(1)); // after which sets may have changed
        m_run->bridge->tick();
        m_sets->answer();
        QVERIFY(isSaid(QStringLiteral("(byte 0). (1 more cannot be read.)")));
        QCOMPARE(names(), (QStringList{"code", "story", "wiki"}));
    }

    void aSetThatASearchHasStoredIsListedBehindTheAnswer() {
        QVERIFY(m_sets->memory().store("new", storedSet({3}, {})));
        m_run->engine->say(promptFinished(1));
        m_run->bridge->tick();
        m_sets->answer();
        QVERIFY(names().contains("new"));
        m_view->hide();
        const std::size_t asked = m_run->engine->sent.size();
        m_run->engine->say(promptFinished(2));
        m_run->bridge->tick();
        QCOMPARE(m_run->engine->sent.size(), asked); // nobody would see it
    }

    void everythingIsReachedByKeys() {
        m_view->activateWindow();
        tree().choose("code");
        compare("code", QStringLiteral("story"));
        QVERIFY(m_view->comparisonPane().grid().table().hasFocus());
        QSet<QWidget*> reached;
        for (int i = 0; i < 40; ++i) {
            reached.insert(QApplication::focusWidget());
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        }
        QVERIFY(reached.contains(&tree()));
        for (QPushButton* each : m_view->findChildren<QPushButton*>())
            if (each->isVisible() && each->isEnabled())
                QVERIFY2(reached.contains(each), qPrintable(each->text()));
    }

    void aNarrowViewKeepsNameScoreRatioAndSize() {
        m_view->resize(320, 400);
        QCoreApplication::processEvents();
        QVERIFY(tree().isColumnHidden(6) && tree().isColumnHidden(8));
        QVERIFY(!tree().isColumnHidden(2) && !tree().isColumnHidden(3) &&
                !tree().isColumnHidden(4));
        QVERIFY(tree().header()->length() <= tree().viewport()->width());
        QVERIFY(line(0).data(Qt::ToolTipRole).toString().contains("Trials: 40"));
    }

    void tipsShowNamesAndProblemsAsTheyAre() {
        QVERIFY(m_sets->memory().store("\"q\" & <a>", storedSet({1}, {2})));
        m_sets->problems = {"\"a & b.json\" is damaged."};
        m_run->engine->say(promptFinished(1));
        m_run->bridge->tick();
        m_sets->answer();
        QVERIFY(names().contains("\"q\" & <a>"));
        for (int row = 0; row < names().size(); ++row)
            QVERIFY(shownTip(line(row).data(Qt::ToolTipRole).toString())
                        .startsWith(names().at(row) + u'\n'));
        const auto labels = m_view->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
            return shownTip(label->toolTip()) == QLatin1String("\"a & b.json\" is damaged.");
        }));
    }
};

QTEST_MAIN(SkipSetsViewTest)
#include "skip_sets_view_test.moc"
