// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_queue.h"
#include "ui/experiments/recipe_catalog.h"
#include "ui/experiments/runs/run_watcher.h"
#include "ui/experiments/setup/run_setup.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/shell/docks/view_menu.h"
#include "ui/views/experiments/lists/queue_status.h"
#include "ui/views/experiments/page/experiments_page.h"
#include "ui/views/experiments/report/report_page.h"
#include "ui/views/experiments/set_keeper.h"

#include <QSet>

class QSettings;

namespace ui {

class HardwarePanel;
class OptionsPanel;
class QueuePanel;
class RecipePanel;
class StreamEstimate;

/// Everything of the workspace Experiments: the queue and what it shows, in the page and in the
/// docks, whose owner is the workspace. Thread: UI.
class ExperimentsDesk : public QObject {
    Q_OBJECT

public:
    /// All outlive it.
    ExperimentsDesk(const ViewContext& context,
                    ViewMenu& menu,
                    MessageBar& messages,
                    QSettings& settings,
                    const ExperimentPlaces& places,
                    QObject* parent = nullptr);
    ~ExperimentsDesk() override;

    /// The queue goes on where it was.
    void begin();

    ExperimentsPage& page() { return *m_page; }

    RecipePanel& recipes() { return *m_recipes; }

    QueuePanel& queuePanel() { return *m_queuePanel; }

    OptionsPanel& options() { return *m_options; }

    HardwarePanel& hardware() { return *m_hardware; }

    ExperimentQueue& queue() { return m_queue; }

    QueueStatus& status() { return m_status; }

    /// Of the sets that the experiment shown has found.
    SetKeeper& setKeeper() { return m_setKeeper; }

    const RecipeCatalog& catalog() const { return m_catalog; }

    /// What can be chosen on the model that was loaded.
    void useModel(const engine::ModelLoaded& loaded);

    void showRecipe(const QString& path);

    /// Keeps a recipe that was made elsewhere in the window and shows it with its options.
    void openRecipe(const engine::Recipe& recipe);
    void showJob(const QString& id);

    /// The page that maps the columns of these files; a recipe is opened instead.
    void openPaths(const QStringList& paths);

    void askForData();
    void askForDataFolder();
    void askForRecipe();

    /// Pauses or goes on with what is at work, or else with what is shown.
    void runOrPause();

    /// What the status strip tells of.
    void showStatus();

signals:
    /// Something is shown that the user asked for elsewhere.
    void shown();

private:
    using UsePaths = void (ExperimentsDesk::*)(const QStringList&);

    void connectPanels();
    void connectPage();
    void refresh();
    void showNoRun();
    void take(const RunPicturePtr& picture);
    void goOn(const RunPicture& picture);
    void takeTurns(bool isRunning);
    void noteOutcome(const RunPicture& picture);
    void act(ExperimentsPage::Action action);
    void runSets(const SetComparison& sets);
    void searchSet(const QString& slice, const std::vector<int>& numbers);
    void openAnswer(int prompt);
    std::optional<double> speedOn(const QString& folder, int prompt) const;
    /// A job out of the user's choices.
    template <typename Choice> void make(const Choice& choice, bool isAtOnce);
    void offerFiles(const QString& title, UsePaths use);
    void askForFiles(const QString& title, bool isFolder, UsePaths use);
    void askForModel(const QString& id);
    void takeRecipe(const QString& path);
    void start(const ExperimentJob& job, const QString& problem, bool isAtOnce);
    void setRecipeData(const QStringList& paths);
    void useForRecipes(const QStringList& paths, const std::optional<engine::DataLayout>& layout);
    void saveReport(ReportForm form);
    void copyReport(const QStringList& files, const QString& target, bool isFolder);
    void exportPrompts();
    void openWithOther(const QString& path);
    void tell(const QString& headline, const QString& sentence, bool isError = true);

    const ExperimentJob* shownJob() const { return m_queue.job(m_jobId); }

    ViewContext m_context;
    MessageBar& m_messages;
    QSettings& m_settings;
    ExperimentQueue m_queue;
    RunWatcher m_watcher;
    QueueStatus m_status{m_queue, m_watcher};
    RecipeCatalog m_catalog;
    RunSetup m_setup;
    SetKeeper m_setKeeper{m_context, m_messages};
    QThreadPool m_thread{this}; ///< copies of reports
    ModelChoice m_model;
    QString m_examples; ///< folder of the prompts that come with the program; empty: there is none
    ExperimentsPage* m_page;
    RecipePanel* m_recipes;
    QueuePanel* m_queuePanel;
    OptionsPanel* m_options;
    HardwarePanel* m_hardware;
    StreamEstimate* m_estimate;
    QSet<QString> m_searches; ///< names of sets that were searched for since the start
    QString m_awaited;        ///< folder of the run that goes on once nobody leads it; empty = none
    bool m_takesTurns = false; ///< what the engine was told last
    QString m_jobId;           ///< shown in the page; empty: a recipe, data, or nothing
};

} // namespace ui
