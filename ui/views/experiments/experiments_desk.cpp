// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/experiments_desk.h"

#include "ui/bridge/settings_text.h"
#include "ui/experiments/setup/chosen_layout.h"
#include "ui/views/experiments/data/data_page.h"
#include "ui/views/experiments/data/stream_estimate.h"
#include "ui/views/experiments/lists/job_list_model.h"
#include "ui/views/experiments/lists/queue_panel.h"
#include "ui/views/experiments/lists/recipe_panel.h"
#include "ui/views/experiments/options/hardware_panel.h"
#include "ui/views/experiments/options/options_panel.h"
#include "ui/views/experiments/page/answer_page.h"
#include "ui/views/experiments/page/empty_experiments.h"
#include "ui/views/experiments/page/recipe_page.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/stream_page.h"

#include <QFileInfo>
#include <QListView>
#include <QSettings>
#include <QTimer>

#include <ranges>
#include <utility>

namespace ui {

namespace {

constexpr int kLongestSlice = 80; ///< letters of it in a title
constexpr const char* kDataKey = "experiments/data";
constexpr const char* kLayoutKey = "experiments/layout"; ///< of the data, where the user chose it

} // namespace

ExperimentsDesk::ExperimentsDesk(const ViewContext& context,
                                 ViewMenu& menu,
                                 MessageBar& messages,
                                 QSettings& settings,
                                 const ExperimentPlaces& places,
                                 QObject* parent)
    : QObject(parent)
    , m_context(context)
    , m_messages(messages)
    , m_settings(settings)
    , m_queue(places)
    , m_catalog(places.recipes,
                places.folder.isEmpty() ? QString() : places.folder + QStringLiteral("/recipes"))
    , m_setup(places.folder)
    , m_examples(QFileInfo(places.examples).isDir() ? places.examples : QString())
    , m_page(new ExperimentsPage(context, menu))
    , m_recipes(new RecipePanel(context.theme, m_catalog, m_queue))
    , m_queuePanel(new QueuePanel(context.theme, m_queue, m_watcher))
    , m_options(new OptionsPanel(context.theme, places.program, m_examples))
    , m_hardware(new HardwarePanel(context.theme))
    , m_estimate(new StreamEstimate(m_page->dataPage(), m_setup, places.program, this)) {
    connectPanels();
    connectPage();
    connect(&m_queue, &ExperimentQueue::changed, this, &ExperimentsDesk::refresh);
    connect(&m_queue, &ExperimentQueue::faulted, this, [this](const QString& sentence) {
        tell(tr("The queue is not kept."), sentence);
    });
    connect(&m_watcher, &RunWatcher::pictureCame, this, &ExperimentsDesk::take);
    m_options->setData(settings.value(kDataKey).toStringList(),
                       layoutFrom(settings.value(kLayoutKey).toString()));
}

ExperimentsDesk::~ExperimentsDesk() { m_thread.waitForDone(); }

void ExperimentsDesk::connectPanels() {
    connect(m_recipes, &RecipePanel::chosen, this, &ExperimentsDesk::showRecipe);
    connect(m_recipes, &RecipePanel::ownAsked, this, &ExperimentsDesk::askForRecipe);
    connect(m_queuePanel, &QueuePanel::chosen, this, &ExperimentsDesk::showJob);
    const auto offerData = [this] { offerFiles(tr("Open data"), &ExperimentsDesk::openPaths); };
    connect(m_queuePanel, &QueuePanel::openDataAsked, this, offerData);
    connect(&m_page->emptyPage(), &EmptyExperiments::openDataAsked, this, offerData);
    connect(&m_page->dataPage(), &DataPage::otherFilesAsked, this, offerData);
    const auto openExamples = [this] { openPaths({m_examples}); };
    connect(&m_page->emptyPage(), &EmptyExperiments::examplesAsked, this, openExamples);
    connect(&m_page->dataPage(), &DataPage::examplesAsked, this, openExamples);
    m_page->emptyPage().offerExamples(!m_examples.isEmpty());
    m_page->dataPage().setExamples(m_examples);
    connect(m_queuePanel, &QueuePanel::folderAsked, this, &ExperimentsDesk::openWithOther);
    connect(
        m_options, &OptionsPanel::overlayToggled, &m_page->reportPage(), &ReportPage::setOverlay);
    connect(m_options, &OptionsPanel::outlookChanged, this, [this] {
        m_page->recipePage().setOutlook(m_options->outlook());
    });
    connect(m_options, &OptionsPanel::dataAsked, this, [this] {
        offerFiles(tr("Prompts for the recipes"), &ExperimentsDesk::setRecipeData);
    });
    connect(m_options, &OptionsPanel::examplesAsked, this, [this] { setRecipeData({}); });
    connect(m_options, &OptionsPanel::runAsked, this, [this](const RecipeChoice& choice) {
        make(choice, true);
    });
    connect(m_options, &OptionsPanel::addAsked, this, [this](const RecipeChoice& choice) {
        make(choice, false);
    });
}

void ExperimentsDesk::connectPage() {
    connect(m_page, &ExperimentsPage::actionAsked, this, &ExperimentsDesk::act);
    connect(m_page, &ExperimentsPage::appeared, this, [this] { m_status.setSeen(m_jobId); });
    connect(m_page, &ExperimentsPage::filesDropped, this, &ExperimentsDesk::openPaths);
    connect(&m_page->emptyPage(), &EmptyExperiments::recipesAsked, this, [this] {
        m_recipes->list().setFocus(Qt::ShortcutFocusReason);
    });
    DataPage& data = m_page->dataPage();
    connect(&data,
            &DataPage::recipeDataWanted,
            this,
            [this](const QStringList& paths, const engine::DataLayout& layout) {
                useForRecipes(paths, layout);
                tell(tr("Recipes run on these prompts now."),
                     tr("Choose a recipe at the left."),
                     false);
            });
    connect(&data, &DataPage::runAsked, this, [this](const StreamChoice& choice) {
        make(choice, true);
    });
    connect(&data, &DataPage::addAsked, this, [this](const StreamChoice& choice) {
        make(choice, false);
    });
    connect(&m_page->reportPage(), &ReportPage::saveAsked, this, &ExperimentsDesk::saveReport);
    connect(&m_page->reportPage(), &ReportPage::runAsked, this, [this](const SetComparison& sets) {
        runSets(sets);
    });
    PromptsView& prompts = m_page->streamPage().prompts();
    connect(&prompts, &PromptsView::exportAsked, this, &ExperimentsDesk::exportPrompts);
    connect(&prompts, &PromptsView::answerAsked, this, &ExperimentsDesk::openAnswer);
    AnswerPage& answer = m_page->answerPage();
    connect(&answer, &AnswerPage::stepAsked, this, [this, &prompts, &answer](int direction) {
        if (const int next = prompts.neighbourOf(answer.prompt(), direction); next > 0)
            openAnswer(next);
    });
    connect(&m_watcher,
            &RunWatcher::answersCame,
            this,
            [this, &answer](const AnswersPicturePtr& picture) {
                const ExperimentJob* job = shownJob();
                if (job != nullptr && job->folder == picture->folder &&
                    answer.prompt() == picture->prompt)
                    answer.setAnswers(*picture, speedOn(picture->folder, picture->prompt));
            });
    connect(&prompts, &PromptsView::searchAsked, this, &ExperimentsDesk::searchSet);
}

void ExperimentsDesk::begin() {
    if (!m_queue.problem().isEmpty())
        tell(tr("The queue was damaged."), m_queue.problem());
    if (const ExperimentJob* interrupted = m_queue.interrupted()) {
        m_awaited = interrupted->folder;
        m_watcher.look(m_awaited);
        showJob(QString(interrupted->id));
    } else {
        m_queue.begin();
        if (m_queue.current() != nullptr)
            showJob(QString(m_queue.current()->id));
    }
    refresh();
}

/// The process of the program that ended may still be at its last pass; it leads the run until
/// then.
void ExperimentsDesk::goOn(const RunPicture& picture) {
    if (picture.folder != m_awaited)
        return;
    if (picture.progress.isLed) {
        QTimer::singleShot(RunWatcher::kPeriodMs, this, [this] { m_watcher.look(m_awaited); });
        return;
    }
    m_awaited.clear();
    m_queue.begin();
}

void ExperimentsDesk::useModel(const engine::ModelLoaded& loaded) {
    m_model = {QString::fromStdString(loaded.path),
               !loaded.model.silentCopies.empty(),
               loadOptions(m_context.bridge.loadInUse())};
    m_options->setModel(m_model, loaded.decoders);
    m_page->dataPage().setDecoders(loaded.decoders);
    m_estimate->setModel(m_model);
}

/// Its newest run, if there is one; the options always.
void ExperimentsDesk::showRecipe(const QString& path) {
    const RecipeEntry* entry = m_catalog.entry(path);
    if (entry == nullptr)
        return;
    m_options->setRecipe(path, &entry->recipe);
    m_recipes->setCurrent(path);
    for (const ExperimentJob& job : m_queue.jobs() | std::views::reverse)
        if (job.source == path) {
            showJob(QString(job.id));
            return;
        }
    showNoRun();
    m_queuePanel->setCurrent({});
    m_page->showRecipe(entry->recipe);
}

void ExperimentsDesk::openRecipe(const engine::Recipe& recipe) {
    emit shown();
    QString name;
    for (const QChar letter : QString::fromStdString(recipe.title).left(kLongestSlice))
        name += letter.isLetterOrNumber() ? letter : u'_';
    QString problem;
    const QString own = m_catalog.keep(recipe, name, problem);
    if (own.isEmpty())
        tell(tr("The recipe cannot be run."), problem);
    else
        showRecipe(own);
}

void ExperimentsDesk::showJob(const QString& id) {
    const ExperimentJob* job = m_queue.job(id);
    if (job == nullptr)
        return;
    m_jobId = id;
    m_queuePanel->setCurrent(id);
    m_recipes->setCurrent(job->source);
    if (const RecipeEntry* entry = m_catalog.entry(job->source))
        m_options->setRecipe(entry->path, &entry->recipe);
    else
        m_options->setRecipe({}, nullptr);
    m_watcher.look(job->folder);
    refresh();
}

void ExperimentsDesk::refresh() {
    QStringList atWork;
    if (const ExperimentJob* current = m_queue.current())
        atWork << current->folder;
    m_watcher.setAtWork(atWork);
    takeTurns(m_queue.current() != nullptr && m_queue.current()->state == JobState::Running);
    if (m_jobId.isEmpty())
        return;
    const ExperimentJob* job = shownJob();
    if (job == nullptr) {
        showNoRun();
        m_page->showEmpty();
        return;
    }
    if (m_page->isVisible())
        m_status.setSeen(m_jobId);
    const RunPicturePtr picture = m_watcher.picture(job->folder);
    m_page->showJob(*job, picture);
    m_hardware->setPicture(picture, job->notes);
    m_setKeeper.setRun(job->title, job->state == JobState::Finished ? picture : nullptr);
}

void ExperimentsDesk::showNoRun() {
    m_jobId.clear();
    m_hardware->setPicture(nullptr);
    m_setKeeper.setRun({}, nullptr);
}

/// Each step of an answer in the chat waits for one of the experiment, and the other way round.
void ExperimentsDesk::takeTurns(bool isRunning) {
    if (std::exchange(m_takesTurns, isRunning) != isRunning)
        m_context.bridge.send(
            engine::TakeTurns{isRunning ? m_queue.turnsFile().toStdString() : std::string()});
}

void ExperimentsDesk::take(const RunPicturePtr& picture) {
    goOn(*picture);
    noteOutcome(*picture);
    const ExperimentJob* job = shownJob();
    if (job != nullptr && job->folder == picture->folder)
        refresh();
}

/// For the rows of the lists.
void ExperimentsDesk::noteOutcome(const RunPicture& picture) {
    if (picture.result == nullptr || !picture.result->isComplete)
        return;
    using Kind = engine::VerdictKind;
    const Kind kind = picture.result->verdict.kind;
    const bool isGain = kind == Kind::Gain || kind == Kind::Finding;
    for (const ExperimentJob& job : m_queue.jobs())
        if (job.folder == picture.folder && job.state == JobState::Finished) {
            m_queue.setOutcome(QString(job.id), outcomeText(picture), isGain);
            return;
        }
}

void ExperimentsDesk::act(ExperimentsPage::Action action) {
    const ExperimentJob* job = shownJob();
    if (job == nullptr)
        return;
    const QString id = job->id;
    switch (action) {
    case ExperimentsPage::Action::RunOrPause:
        if (job->state == JobState::Running)
            m_queue.pause(id);
        else
            m_queue.run(id);
        return;
    case ExperimentsPage::Action::Stop:
        m_queue.stop(id);
        return;
    case ExperimentsPage::Action::RunAgain:
        showJob(m_queue.runAgain(id));
        return;
    case ExperimentsPage::Action::Turn:
        m_page->turn();
        refresh();
        return;
    case ExperimentsPage::Action::OpenReport:
        openWithOther(job->folder + QStringLiteral("/report/report.html"));
        return;
    case ExperimentsPage::Action::FindModel:
        askForModel(id);
        return;
    }
}

void ExperimentsDesk::runOrPause() {
    if (m_queue.current() != nullptr)
        showJob(QString(m_queue.current()->id));
    act(ExperimentsPage::Action::RunOrPause);
}

/// As the table has it: none where vanilla was not steady.
std::optional<double> ExperimentsDesk::speedOn(const QString& folder, int prompt) const {
    const RunPicturePtr run = m_watcher.picture(folder);
    if (run == nullptr)
        return std::nullopt;
    const auto row = std::ranges::find(run->rows, prompt, &PromptRow::prompt);
    return row == run->rows.end() ? std::nullopt : row->speed;
}

/// Two sets of the run that is shown, on the model that is loaded.
void ExperimentsDesk::runSets(const SetComparison& sets) {
    const ExperimentJob* job = shownJob();
    const RunPicturePtr picture = job != nullptr ? m_watcher.picture(job->folder) : nullptr;
    if (picture == nullptr || picture->facts == nullptr || picture->facts->plan.models.empty())
        return;
    const engine::RunModel& model = picture->facts->plan.models.front();
    if (QString::fromStdString(model.path) == m_model.path && model.isPlanted == m_model.isPlanted)
        openRecipe(setsRecipe(sets.a.title, sets.a.set, sets.b.title, sets.b.set));
    else
        tell(tr("These sets are for another model."),
             tr("Load %1 first.").arg(QString::fromStdString(model.name)));
}

/// What it finds is called like the slice; no other search of the list is called so.
void ExperimentsDesk::searchSet(const QString& slice, const std::vector<int>& numbers) {
    const ExperimentJob* job = shownJob();
    if (job == nullptr)
        return;
    const QString words = (slice.isEmpty() ? job->title : slice).simplified().left(kLongestSlice);
    QString name = words;
    const auto isTaken = [&] {
        return m_searches.contains(name) ||
               std::ranges::find(m_queue.jobs(), searchTitle(name), &ExperimentJob::title) !=
                   m_queue.jobs().end();
    };
    for (int number = 2; isTaken(); ++number)
        name = QStringLiteral("%1 (%2)").arg(words).arg(number);
    m_searches.insert(name);
    std::vector<int> lines;
    for (const int number : numbers)
        lines.push_back(number - 1);
    m_setup.makeSearch(job->folder,
                       lines,
                       name,
                       m_model,
                       [this](const ExperimentJob& search, const QString& problem) {
                           start(search, problem, true);
                       });
}

void ExperimentsDesk::openAnswer(int prompt) {
    const ExperimentJob* job = shownJob();
    if (job == nullptr)
        return;
    m_page->showAnswer(prompt);
    m_watcher.readAnswers(job->folder, prompt);
}

void ExperimentsDesk::showStatus() {
    emit shown();
    const QString id = m_status.id();
    if (id.isEmpty())
        m_queuePanel->list().setFocus(Qt::ShortcutFocusReason);
    else
        showJob(id);
}

template <typename Choice> void ExperimentsDesk::make(const Choice& choice, bool isAtOnce) {
    m_setup.make(
        choice, m_model, [this, isAtOnce](const ExperimentJob& job, const QString& problem) {
            start(job, problem, isAtOnce);
        });
}

void ExperimentsDesk::start(const ExperimentJob& job, const QString& problem, bool isAtOnce) {
    if (!problem.isEmpty()) {
        tell(tr("The experiment cannot begin."), problem);
        return;
    }
    const QString id = m_queue.add(job);
    if (isAtOnce)
        m_queue.run(id);
    showJob(id);
    m_queuePanel->list().setFocus(Qt::OtherFocusReason); // the button that began it is gone
}

void ExperimentsDesk::setRecipeData(const QStringList& paths) {
    useForRecipes(paths, std::nullopt);
}

void ExperimentsDesk::useForRecipes(const QStringList& paths,
                                    const std::optional<engine::DataLayout>& layout) {
    // The examples are no files of the user's: the next program may have them elsewhere.
    const QStringList own = paths == QStringList(m_examples) ? QStringList() : paths;
    m_settings.setValue(kDataKey, own);
    m_settings.setValue(kLayoutKey, layout && !own.isEmpty() ? layoutText(*layout) : QString());
    m_options->setData(own, layout);
}

void ExperimentsDesk::tell(const QString& headline, const QString& sentence, bool isError) {
    m_messages.show({isError ? Notice::Kind::Error : Notice::Kind::Info,
                     QStringLiteral("experiments"),
                     headline,
                     sentence});
}

} // namespace ui
