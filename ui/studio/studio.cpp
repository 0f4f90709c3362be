// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/studio.h"

#include "ui/learn/lessons/lesson_panel.h"
#include "ui/shell/figure_text.h"
#include "ui/studio/workspaces/lesson_hand.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/models/model_panel.h"
#include "ui/views/replay/replay_transport.h"
#include "ui/views/search_offer/skip_set_finder.h"
#include "ui/views/speed/gain_finding.h"
#include "ui/views/speed/no_gain_notice.h"
#include "ui/views/tune/tune_desk.h"

#include <QApplication>
#include <QFileInfo>

namespace ui {

using namespace engine;

namespace {

/// Set while the window is open. If it is found at a start, the program did not end normally.
constexpr const char* kOpenKey = "session/open";

} // namespace

Studio::Studio(std::unique_ptr<EngineLink> link, StudioOptions options)
    : m_options(std::move(options))
    , m_settings(m_options.settingsPath, QSettings::IniFormat)
    , m_answerDefaults(m_settings)
    , m_prompts(QFileInfo(m_options.settingsPath).absolutePath() + QStringLiteral("/prompts.json"))
    , m_keptSettings(m_settings, m_run)
    , m_bridge(std::make_unique<EngineBridge>(std::move(link), m_run))
    , m_chats(std::make_unique<ChatStore>(StoreOptions{.path = m_options.chatsPath}))
    , m_session(std::make_unique<ChatSession>(*m_bridge, m_run, *m_chats, m_answerDefaults))
    , m_recentModels(m_settings) {
    // Before any widget is created, because an existing one keeps its first font.
    m_theme.applyTo(*qApp);
    m_endedBadly = m_settings.value(kOpenKey, false).toBool();
    m_generalSampling = keptSampling();
    if (const ModelDefaults last = m_answerDefaults.ofLastRun(); !last.decoderSettings.empty())
        m_keptSettings.takeOver(last.decoder, last.decoderSettings);
    m_session->setReplay(!m_options.replayName.isEmpty());
    m_window = std::make_unique<MainWindow>(m_theme, m_run, *m_bridge, m_settings);
    static_cast<void>(m_settings.allKeys()); // only what is asked for is parsed
    if (m_options.replayName.isEmpty() && m_settings.status() == QSettings::FormatError)
        setDamagedSettingsAside();
    m_viewMenu = new ViewMenu(m_theme, m_window->messages(), m_window.get());
    makeChatWorkspace();
    makeInspectWorkspace();
    if (m_options.replayName.isEmpty())
        makeExperimentsWorkspace();
    makeLearnWorkspace();
    if (m_options.replayName.isEmpty())
        makeTuneWorkspace();
    connectFinder();
    makeMenuCorner();
    addChatActions();
    addLibraryActions();
    addRunActions();
    addModelActions();
    if (m_desk != nullptr)
        addExperimentActions();
    if (m_tune != nullptr)
        addTuneActions();
    addLearnActions();
    addPresentActions();
    makeLessons();
    m_window->finish();
    addHelpActions();
    keepActionsTrue();
    connectNotices();
    m_window->setCloseGuard([this] { return mayClose(); });
    connect(&m_selection, &Selection::changed, this, [this] {
        m_bridge->markChanged(Topic::Selection);
    });
    connect(m_window.get(), &MainWindow::closing, this, [this] {
        keepWaiting();
        markOpen(false);
    });
    if (m_bridge->isReplay()) {
        m_transport = new ReplayTransport(m_theme, *m_bridge);
        m_window->setTransport(
            m_transport, [this](const QKeyEvent& event) { return m_transport->takesKey(event); });
    }
}

/// The session before the store, the window before what it shows.
Studio::~Studio() {
    markOpen(false);
    m_window.reset();
    delete std::exchange(m_tune, nullptr); // it follows the chats
    m_session.reset();
    m_chats.reset();
    m_bridge.reset();
}

void Studio::start() {
    markOpen(true);
    m_window->currentWorkspace()->focusHome();
    if (m_transport != nullptr)
        m_transport->setFocus();
    m_chats->open();
    openKeptChat();
    m_bridge->start();
    if (m_desk != nullptr)
        m_desk->begin();
    const QString path = m_options.replayName.isEmpty() ? firstModel() : QString();
    const bool hasModel = !path.isEmpty();
    m_lessonWaits = hasModel && !endedBadly() && !m_options.lessonPath.isEmpty();
    if (m_lessonWaits)
        showLessons();
    else if (!m_options.lessonPath.isEmpty())
        openLessonFile(m_options.lessonPath);
    openFiles(m_options.files);
    if (!hasModel)
        return;
    if (!endedBadly()) {
        loadModel(path, m_options.isPlanted);
        return;
    }
    m_window->messages().show(
        {Notice::Kind::Info,
         QStringLiteral("ended_badly"),
         tr("SWIFT Studio was not closed properly last time."),
         tr("Everything that was saved is still there. The model has not been loaded."),
         {},
         {{tr("Load model"), [this, path] { loadModel(path, m_options.isPlanted); }, true}}});
}

/// A replay has nothing to lose, and another window may be open beside it.
void Studio::markOpen(bool isOpen) {
    if (!m_options.replayName.isEmpty())
        return;
    m_settings.setValue(kOpenKey, isOpen);
    m_settings.sync();
    if (isOpen && m_settings.status() == QSettings::AccessError)
        tellUnsavedSettings();
}

bool Studio::endedBadly() const { return m_endedBadly && !m_options.isModelAskedFor; }

void Studio::loadModel(const QString& path, bool isPlanted) {
    m_window->messages().withdraw(QStringLiteral("load_model"));
    m_askedBackend.clear();
    LoadModel load = m_recentModels.loadOf(path);
    const std::string asked = m_options.backend.toStdString();
    if (!asked.empty() && asked != load.backend) {
        load.backend = asked;
        load.settings.clear(); // of another backend
    }
    const auto isThere = [&load](const BackendInfo& backend) {
        return backend.name == load.backend && (!backend.devices || backend.devices().hasValue());
    };
    const bool wasKept = asked.empty() && !load.backend.empty() && !m_options.backends.empty();
    if (wasKept && std::ranges::none_of(m_options.backends, isThere)) { // a GPU that is gone
        load.backend.clear();
        load.settings.clear();
    }
    load.isPlanted = isPlanted;
    m_bridge->send(std::move(load));
}

void Studio::onLoaded(const ModelLoaded& loaded) {
    if (m_options.replayName.isEmpty() && !m_lessonHand->hasLoaded()) // that is not the user's
        keepModel(QString::fromStdString(loaded.path));
    if (const LoadModel* load = m_bridge->loadInUse())
        if (load->backend != m_options.backend.toStdString())
            m_options.backend.clear(); // in the dock Models another one was chosen
    m_noGain->update({});
    for (const char* told :
         {"ended_badly", "load_model", "choose_decoder", "backend", "first_message"})
        m_window->messages().withdraw(QLatin1String(told));
    const QString name = QString::fromStdString(loaded.model.name);
    m_window->setWindowTitle(QStringLiteral("%1 \u2013 SWIFT Studio")
                                 .arg(m_bridge->isReplay() ? m_options.replayName : name));
    if (!m_options.replayName.isEmpty())
        return;
    tellRefusedModules(loaded);
    offerBackend(std::exchange(m_askedBackend, {}), loaded);
    leaveFormerModel(loaded.path);
    if (!std::exchange(m_hasChosenDecoder, true))
        chooseFirstDecoder(loaded);
    else
        useSetOfModel();
    useModelDefaults(loaded);
    useCopysDecoder(loaded);
    explainLesson(loaded);
    offerFormerModel();
    m_desk->useModel(loaded);
    m_tune->useModel(loaded);
    sendFirstMessage();
}

/// Without them Vanilla may be the only decoder, and nobody would know why.
void Studio::tellRefusedModules(const ModelLoaded& loaded) {
    const QString id = QStringLiteral("refused_modules");
    if (loaded.refusedModules.empty()) {
        m_window->messages().withdraw(id);
        return;
    }
    QStringList reasons;
    for (const Error& refused : loaded.refusedModules)
        reasons << QString::fromStdString(refused.message + ' ' + refused.hint);
    const qsizetype others = reasons.size() - 1;
    m_window->messages().show(
        {Notice::Kind::Warning,
         id,
         countText(reasons.size(),
                   tr("Some decoders are missing, because a module could not be used."),
                   tr("Some decoders are missing, because %1 modules could not be used.")),
         others == 0 ? reasons.first()
                     : reasons.first() + QLatin1Char(' ') +
                           countText(others,
                                     tr("The details name the other one."),
                                     tr("The details name the other %1.")),
         others == 0 ? QString() : reasons.join(QLatin1Char('\n'))});
}

void Studio::chooseFirstDecoder(const ModelLoaded& loaded) {
    const std::string wanted = firstDecoder(loaded);
    m_bridge->send(ChooseDecoder{wanted, m_keptSettings.startOf(wanted)});
    if (!m_options.decoder.isEmpty() && m_options.decoder.toStdString() != wanted)
        m_window->messages().show({Notice::Kind::Warning,
                                   QStringLiteral("decoder"),
                                   tr("There is no decoder \"%1\".").arg(m_options.decoder),
                                   tr("Answers use %1 instead; Parameters lists the other "
                                      "decoders.")
                                       .arg(QString::fromStdString(wanted))});
}

void Studio::closeNow() {
    m_quitsAnyway = true;
    m_window->close();
    QCoreApplication::quit();
}

/// The user's last choice; at first Auto, or SWIFT if there is no Auto.
std::string Studio::firstDecoder(const ModelLoaded& loaded) const {
    const std::string kept = m_answerDefaults.ofLastRun().decoder;
    const std::string asked = m_options.decoder.toStdString();
    for (const std::string& wanted : {asked, kept, std::string("auto"), std::string("swift")})
        for (const DecoderInfo& decoder : loaded.decoders)
            if (decoder.name == wanted)
                return wanted;
    return "vanilla";
}

void Studio::connectFinder() {
    m_finder = new SkipSetFinder(*m_bridge, m_run, m_undoStack, this);
    m_parameters->setFinder(*m_finder);
    m_parameters->setKept(m_keptSettings);
    m_parameters->setUsersSampling([this] { return m_session->usersSampling(); });
    for (DecoderSwitch* decoder : m_window->findChildren<DecoderSwitch*>()) {
        decoder->setKept(m_keptSettings);
        decoder->setFinder(*m_finder);
    }
    for (LayerMapView* map : m_window->findChildren<LayerMapView*>()) {
        connect(map, &LayerMapView::findAsked, m_finder, [this] {
            m_finder->start(m_session->newestQuestion());
        });
        connect(m_finder, &SkipSetFinder::changed, map, [this, map] {
            map->showFinding(m_finder->isRunning(), m_finder->sentence());
        });
    }
    connect(m_finder, &SkipSetFinder::changed, this, &Studio::updateActions);
}

QList<View*> Studio::views() const { return m_window->findChildren<View*>(); }

void Studio::connectNotices() {
    connect(m_bridge.get(), &EngineBridge::eventCame, this, &Studio::onEvent);
    connect(m_bridge.get(), &EngineBridge::tickFinished, this, [this] {
        if (m_noGain->isVisible())
            m_noGain->update(gainFinding(m_run));
    });
    connect(m_bridge.get(), &EngineBridge::rewound, this, [this] { m_noGain->update({}); });
    connect(m_chats.get(), &ChatStore::faulted, this, &Studio::onFault);
    connect(m_chats.get(), &ChatStore::faultCleared, this, [this] {
        m_window->messages().withdraw(QStringLiteral("store"));
    });
    connect(m_chats.get(), &ChatStore::unsavedCountChanged, this, [this](qint64 count) {
        const QString id = QStringLiteral("unsaved");
        if (count != 0 || !m_window->messages().isShown(id))
            return;
        m_window->messages().withdraw(id);
        m_window->close(); // as the notice promises
    });
    connect(m_chats.get(), &ChatStore::recovered, this, &Studio::onRecovered);
    connect(m_session.get(), &ChatSession::stateChanged, this, &Studio::sendFirstMessage);
    connect(m_session.get(), &ChatSession::shown, this, [this] {
        m_window->statusStrip().forgetNote();
    });
    connect(
        m_session.get(),
        &ChatSession::hinted,
        this,
        [this](const QString& sentence, const QString& hint) {
            m_window->messages().show({Notice::Kind::Info, QStringLiteral("hint"), sentence, hint});
        });
    connect(m_chatView, &ChatView::keepAsPromptAsked, this, &Studio::keepAsPrompt);
    connect(m_chatView, &ChatView::refused, this, [this](const QString& sentence) {
        m_window->messages().show({Notice::Kind::Warning, QStringLiteral("attachment"), sentence});
    });
    connect(m_session.get(),
            &ChatSession::failed,
            this,
            [this](const QString& sentence, const QString& hint) {
                m_window->messages().show(
                    {Notice::Kind::Error, QStringLiteral("chat"), sentence, hint});
            });
}

void Studio::onEvent(const EngineEvent& event) {
    if (m_options.replayName.isEmpty())
        keepChoices(event);
    if (event.as<DecoderChosen>() != nullptr) {
        m_window->messages().withdraw(QStringLiteral("choose_decoder"));
        if (m_run.model() != nullptr && m_window->messages().isShown(QStringLiteral("lesson")))
            explainLesson(*m_run.model()); // what it offers follows the decoder
        if (m_run.model() != nullptr && std::exchange(m_lessonWaits, false))
            openLessonFile(m_options.lessonPath);
    }
    if (const auto* loaded = event.as<ModelLoaded>())
        onLoaded(*loaded);
    else if (event.as<ModelUnloaded>() != nullptr && m_tune != nullptr)
        onUnloaded();
    else if (const auto* failure = event.as<EngineFailed>())
        onFailed(*failure);
    else if (const auto* finished = event.as<PromptFinished>())
        onFinished(*finished);
    else if (const auto* stopped = event.as<RecordingStopped>(); stopped && stopped->error)
        m_window->messages().show({Notice::Kind::Error,
                                   QStringLiteral("recording"),
                                   QString::fromStdString(stopped->error->message),
                                   QString::fromStdString(stopped->error->hint),
                                   QString::fromStdString(stopped->path)});
}

/// What is told of a model goes with it.
void Studio::onUnloaded() {
    m_selection.setPinnedSet(std::nullopt);
    m_tune->forgetModel();
    m_noGain->update({});
    for (const char* told : {"lesson", "former_model", "refused_modules", "backend"})
        m_window->messages().withdraw(QLatin1String(told));
    m_window->setWindowTitle(QStringLiteral("SWIFT Studio"));
}

void Studio::onFinished(const PromptFinished& finished) {
    m_noGain->update(gainFinding(m_run));
    if (finished.promptId >= kFirstHiddenPrompt) // of a search, whose text nobody sees
        return;
    const QString id = QStringLiteral("answer_form");
    if (finished.isInsideGrammar && finished.reason != FinishReason::Cancelled)
        m_window->messages().show({Notice::Kind::Info,
                                   id,
                                   tr("The answer ended before it had the requested form."),
                                   tr("Allow a longer answer, or ask for less.")});
    else
        m_window->messages().withdraw(id);
}

/// Errors that no other part shows: the chat shows those of its prompts, the models dock those of
/// its loads, the lens what it could not read.
void Studio::onFailed(const EngineFailed& failure) {
    if (failure.task == "load_model")
        giveFirstMessageBack();
    const bool isReportedByPanel = failure.task == "inspect_model" || failure.task == "read_lens" ||
                                   failure.task == "read_attention" ||
                                   (failure.task == "load_model" && m_modelPanel->isShowing()) ||
                                   (failure.task == "change_sampling" && m_parameters->isShowing());
    if (failure.task == "submit_prompt" || failure.task == "count_tokens" || isReportedByPanel ||
        failure.error.code == ErrorCode::Cancelled)
        return;
    const QString what = QString::fromStdString(failure.error.message);
    Notice notice{Notice::Kind::Error,
                  QString::fromStdString(failure.task),
                  what,
                  QString::fromStdString(failure.error.hint),
                  tr("Task: %1\n%2").arg(QString::fromStdString(failure.task), what)};
    if (failure.task == "load_model")
        notice.choices.push_back(
            {tr("Choose another model..."), [this] { showModelPanel(); }, true});
    m_window->messages().show(std::move(notice));
}

/// The user is told first what quitting would lose, by a notice: a dialog would block an answer.
bool Studio::mayClose() {
    const qint64 unsaved = m_chats->unsavedCount();
    if (unsaved == 0 || m_quitsAnyway)
        return true;
    m_window->messages().show(
        {Notice::Kind::Warning,
         QStringLiteral("unsaved"),
         countText(unsaved, tr("1 change is not saved."), tr("%1 changes are not saved.")),
         tr("The file %1 cannot be written now, so quitting would lose them. The window closes "
            "once they are saved; you can also quit without them.")
             .arg(m_options.chatsPath),
         {},
         {{tr("Quit anyway"),
           [this] {
               m_quitsAnyway = true;
               m_window->close();
           },
           true}}});
    return false;
}

void Studio::onFault(const StoreFault& fault) {
    m_window->messages().show({fault.isLasting() ? Notice::Kind::Error : Notice::Kind::Warning,
                               fault.isLasting() ? QStringLiteral("store") : QString(),
                               tr("Chats:"),
                               fault.sentence,
                               fault.details + QLatin1Char('\n') + fault.path,
                               {}});
}

void Studio::onRecovered(const QList<RecoveredAnswer>& answers) {
    if (answers.isEmpty())
        return;
    const RecoveredAnswer& newest = answers.front();
    m_window->messages().show(
        {Notice::Kind::Info,
         QStringLiteral("recovered"),
         countText(answers.size(),
                   tr("An answer was interrupted when the program ended."),
                   tr("%1 answers were interrupted when the program ended.")),
         answers.size() == 1
             ? tr("The part that was written is saved in the chat \"%1\".").arg(newest.chatTitle)
             : tr("The parts that were written are saved, the newest in the chat \"%1\".")
                   .arg(newest.chatTitle),
         {},
         {{tr("Show the chat"),
           [this, id = newest.chatId] {
               m_window->showWorkspace(0);
               m_session->openChat(id);
           },
           true}}});
}

} // namespace ui
