// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/engine_words.h"
#include "ui/shell/commands/command_search.h"
#include "ui/studio/studio.h"
#include "ui/theme/tip_text.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/experiments/lists/queue_panel.h"
#include "ui/views/experiments/lists/recipe_panel.h"
#include "ui/views/experiments/options/hardware_panel.h"
#include "ui/views/experiments/options/options_panel.h"
#include "ui/views/experiments/page/empty_experiments.h"
#include "ui/views/experiments/set_keeper.h"

#include <QDockWidget>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QScreen>

// The workspace Experiments: its docks, its actions, and its recipes in the command search.

namespace ui {

namespace {

/// On a narrower screen (pixels at 100 %) all docks are at the left.
constexpr int kRoomForBothSides = 1200;
const QString kExperimentsWorkspace = QStringLiteral("experiments_workspace");

} // namespace

void Studio::makeExperimentsWorkspace() {
    auto* workspace = new Workspace(kExperimentsWorkspace, m_theme);
    m_desk = new ExperimentsDesk(
        context(), *m_viewMenu, m_window->messages(), m_settings, m_options.experiments, this);
    workspace->setCentralWidget(&m_desk->page());
    workspace->setHome(&m_desk->page().emptyPage().mainButton());
    const auto add = [&](const char* id,
                         const QString& title,
                         QWidget* content,
                         Qt::DockWidgetArea area,
                         QSize extent) {
        workspace->addDock({QStringLiteral("experiments.") + QLatin1String(id),
                            title,
                            content,
                            nullptr,
                            area,
                            extent,
                            true});
    };
    add("recipes", tr("Recipes"), &m_desk->recipes(), Qt::LeftDockWidgetArea, {272, 540});
    add("queue", tr("Queue"), &m_desk->queuePanel(), Qt::LeftDockWidgetArea, {272, 220});
    add("options", tr("Recipe options"), &m_desk->options(), Qt::RightDockWidgetArea, {296, 520});
    add("hardware",
        tr("Run and hardware"),
        &m_desk->hardware(),
        Qt::RightDockWidgetArea,
        {296, 220});
    workspace->setArrangement([this](Workspace& docks) {
        if (m_window->room().width() >= m_theme.scaled(kRoomForBothSides))
            return;
        const auto join = [&docks](const char* front, const char* behind) {
            QDockWidget* shown = docks.dock(QLatin1String(front));
            docks.tabifyDockWidget(shown, docks.dock(QLatin1String(behind)));
            shown->raise();
        };
        join("experiments.recipes", "experiments.options");
        join("experiments.queue", "experiments.hardware");
    });
    connect(m_desk, &ExperimentsDesk::shown, this, &Studio::showExperiments);
    m_window->addWorkspace(workspace, tr("Experiments"), IconName::Experiments);
    connect(&m_desk->status(), &QueueStatus::changed, this, &Studio::tellWork);
    connect(
        &m_window->statusStrip().workLink(), &QAbstractButton::clicked, this, &Studio::showWork);
    tellWork();
}

void Studio::showExperiments() { m_window->showWorkspace(kExperimentsWorkspace); }

void Studio::openFiles(const QStringList& paths) {
    if (m_desk != nullptr)
        m_desk->openPaths(paths); // shows the workspace
}

void Studio::addExperimentActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& run = *m_window->menu(MainWindow::tr("&Run"));
    run.addSeparator();
    const auto add = [&](const char* id, const QString& text, const char* keys, auto act) {
        QList<QKeySequence> sequence;
        if (keys != nullptr)
            sequence << QKeySequence(QString::fromLatin1(keys));
        run.addAction(catalog.add(QLatin1String(id), tr("Experiments"), text, sequence, act));
    };
    add("experiments.open_data", tr("E&xperiment on own data..."), "Ctrl+Shift+E", [this] {
        showExperiments();
        m_desk->askForData();
    });
    add("experiments.open_folder", tr("Experiment on a &folder of data..."), "Ctrl+Alt+E", [this] {
        showExperiments();
        m_desk->askForDataFolder();
    });
    add("experiments.recipes", tr("Exper&iment recipes"), nullptr, [this] {
        showExperiments();
        Workspace& docks = *m_window->currentWorkspace();
        docks.focusDock(*docks.dock(QStringLiteral("experiments.recipes")));
        m_desk->recipes().list().setFocus(Qt::ShortcutFocusReason);
    });
    add("experiments.own_recipe", tr("Op&en a recipe..."), nullptr, [this] {
        showExperiments();
        m_desk->askForRecipe();
    });
    add("experiments.pause", tr("&Pause or resume the experiment"), "Ctrl+Shift+Space", [this] {
        showExperiments();
        m_desk->runOrPause();
    });
    const auto follow = [this, &catalog] {
        catalog.find(QStringLiteral("experiments.pause"))
            ->setEnabled(!m_desk->queue().jobs().empty());
    };
    connect(&m_desk->queue(), &ExperimentQueue::changed, this, follow);
    follow();
    add("experiments.keep_sets", tr("Keep the sets in the li&brary"), "Ctrl+Shift+K", [this] {
        showExperiments();
        m_desk->setKeeper().keep();
    });
    run.setToolTipsVisible(true);
    const auto followSets = [this, &catalog] {
        QAction& keep = *catalog.find(QStringLiteral("experiments.keep_sets"));
        keep.setEnabled(m_desk->setKeeper().canKeep());
        keep.setToolTip(tipOf(m_desk->setKeeper().tip()));
    };
    connect(&m_desk->setKeeper(), &SetKeeper::changed, this, followSets);
    followSets();
}

std::vector<Command> Studio::recipeCommands() {
    std::vector<Command> commands;
    if (m_desk == nullptr)
        return commands;
    for (const RecipeEntry& entry : m_desk->catalog().entries())
        commands.push_back({tr("Recipe: %1").arg(engineText(entry.recipe.title)),
                            shortSource(entry.recipe),
                            [this, path = entry.path] {
                                showExperiments();
                                m_desk->showRecipe(path);
                            },
                            QString::fromStdString(entry.recipe.name)});
    return commands;
}

} // namespace ui
