// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/known_backends.h"
#include "ui/bridge/engine_bridge.h"
#include "ui/chat/prompt_list.h"
#include "ui/chat/session/chat_session.h"
#include "ui/experiments/queue/experiment_queue.h"
#include "ui/shell/docks/view.h"
#include "ui/shell/docks/view_menu.h"
#include "ui/shell/main_window.h"
#include "ui/shell/selection.h"
#include "ui/store/chat_store.h"
#include "ui/theme/theme.h"
#include "ui/tuning/tuning_session.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/models/library/recent_models.h"

#include <QPointer>
#include <QSettings>
#include <QUndoStack>

#include <memory>

namespace ui {

class ChatView;
class ChatsPanel;
class ExperimentsDesk;
class InspectPage;
class LearnPage;
class CommandSearch;
class ModelLibrary;
class ModelPanel;
class ParametersView;
class Presenter;
struct Command;
class FirstSight;
class LessonPanel;
class LessonPlayer;
class NoGainNotice;
class StudioHand;
struct LessonCatalog;
class ReplayTransport;
class SidesView;
class SkipSetFinder;
struct StartRequest;
class TuneDesk;

/// What the window is constructed from.
struct StudioOptions {
    QString chatsPath;                         ///< of the SQLite file
    QString settingsPath;                      ///< of the INI file
    QString presetsFolder;                     ///< shipped
    QString ownPresetsFolder;                  ///< the user's
    QString translationsFolder;                ///< shipped; empty = English alone
    QString lessonsFolder;                     ///< shipped; empty = none
    QString lessonPath;                        ///< begun at the start; empty = none
    QString modelPath;                         ///< opened at the first start; empty = none
    QString defaultModelPath;                  ///< the model that the set-up fetches, whether it
                                               ///< exists or not
    QString backend;                           ///< that runs it; empty = the engine's choice
    std::vector<engine::BackendInfo> backends; ///< that can be chosen
    QString decoder;                           ///< of the first answers; empty = the one used last
    QString firstMessage; ///< sent in a new chat once a model is ready; empty = none
    ExperimentPlaces experiments;
    TuningPlaces tuning;
    QStringList files;  ///< opened at the start, see Studio::openFiles()
    QString replayName; ///< shown while a recording is played; empty = a real engine
    /// Set when the user named the model: it is opened in place of the one used last, and even
    /// after a crash.
    bool isModelAskedFor = false;
    bool isPlanted = false; ///< the first model is the lesson model made from it
};

/// The whole window: run store, chats, workspaces, actions. Thread: UI.
class Studio : public QObject {
    Q_OBJECT

public:
    Studio(std::unique_ptr<EngineLink> link, StudioOptions options);
    ~Studio() override;

    /// Opens the chats, loads the model, starts the ticks.
    void start();

    MainWindow& window() { return *m_window; }

    ChatSession& session() { return *m_session; }

    ChatView& chatView() { return *m_chatView; }

    EngineBridge& bridge() { return *m_bridge; }

    const RunStore& run() const { return m_run; }

    ChatStore& chats() { return *m_chats; }

    Theme& theme() { return m_theme; }

    Selection& selection() { return m_selection; }

    Presenter& presenter() { return *m_presenter; }

    LearnPage& learnPage() { return *m_learnPage; }

    /// Null in a replay.
    ExperimentsDesk* experiments() { return m_desk; }

    /// Null in a replay.
    TuneDesk* tune() { return m_tune; }

    QUndoStack& undoStack() { return m_undoStack; }

    LessonPanel& lessonPanel() { return *m_lessonPanel; }

    LessonPlayer& lessonPlayer() { return *m_lessonPlayer; }

    /// Begins a lesson of a file.
    void openLessonFile(const QString& path);

    /// With the options that it was loaded with from the dock Models, and the backend that the
    /// start asks for. `isPlanted`: the lesson model made from it, see withSilentCopies.
    void loadModel(const QString& path, bool isPlanted = false);

    /// Handles another start of the program: the window comes to the front and does what was
    /// requested.
    void takeStart(const StartRequest& request);

    /// A recipe or prompts, in Experiments. A replay opens nothing.
    void openFiles(const QStringList& paths);

    /// Saves and closes in any state, because the system ends the session.
    void closeNow();

    /// All views, for tests and for pictures of them.
    QList<View*> views() const;

signals:
    /// The user chose a recording, which opens in a window of its own.
    void replayAsked(const QString& path);

private:
    ViewContext context() { return {m_theme, m_run, *m_bridge, m_selection, m_undoStack}; }

    void makeChatWorkspace();
    void makeInspectWorkspace();
    void makeExperimentsWorkspace();
    void makeLearnWorkspace();
    void makeTuneWorkspace();
    void addTuneActions();
    void updateTuneActions();
    void showTune();
    void showWork();
    void tellWork();
    void addLearnActions();
    void addPresentActions();
    void updatePresentActions();
    void copyPicture();
    void exportRound();
    void exportSearch();
    void makeLessons();
    void showLessons();
    void askForLesson();
    void showLessonView(const QString& view);
    void addSideActions();
    void showSides(const QString& stage, MessageId message, bool isAsked);
    SidesView* sides(const QString& stage) const;
    SidesView* runningSides() const;
    void addExperimentActions();
    std::vector<Command> recipeCommands();
    void showExperiments();
    void makeMenuCorner();
    void connectFinder();
    void addChatActions();
    void addRunActions();
    void addModelActions();
    void addHelpActions();
    void connectNotices();
    void onEvent(const engine::EngineEvent& event);
    void onLoaded(const engine::ModelLoaded& loaded);
    void onUnloaded();
    void onFinished(const engine::PromptFinished& finished);
    void onFailed(const engine::EngineFailed& failure);
    void onFault(const StoreFault& fault);
    void onRecovered(const QList<RecoveredAnswer>& answers);
    bool mayClose();
    void keepActionsTrue();
    void updateActions();
    void stopOrClose();
    void showCommandSearch();
    void showShortcuts();
    void showSettings();
    void showTasks(const QString& task);
    void askForRecording();
    void openRecording(const QString& path);
    void toggleRecording();
    void exportChat();
    void exportChatTo(ChatId id, const QString& path, const QString& otherwise);
    void renameChat();
    void addLibraryActions();
    void askForImport(bool isFolder);
    void importChats(const QStringList& paths);
    void takeDropped(const QStringList& dropped);
    void openDefaultModel();
    void addLessonAction(QMenu& menu);
    void toggleLessonModel();
    void explainLesson(const engine::ModelLoaded& loaded);
    void offerFormerModel();
    bool hasLessonModel() const;
    std::vector<Command> parameterCommands();
    std::vector<Command> dockCommands();
    void showDock(const QString& id);
    void keepOpenChat();
    void openKeptChat();
    void showPrompts();
    void keepAsPrompt(const QString& text);
    void saveModelDefaults();
    void forgetModelDefaults();
    void leaveFormerModel(const std::string& path);
    void useSetOfModel();
    void useModelDefaults(const engine::ModelLoaded& loaded);
    void useCopysDecoder(const engine::ModelLoaded& loaded);
    void showModelPanel();
    bool endedBadly() const;
    QString firstModel();
    void keepModel(const QString& path);
    void setDamagedSettingsAside();
    void markOpen(bool isOpen);
    void tellUnsavedSettings();
    void keepSmallChoices(QAction& origin);
    void tellRefusedModules(const engine::ModelLoaded& loaded);
    void chooseFirstDecoder(const engine::ModelLoaded& loaded);
    void offerBackend(const QString& asked, const engine::ModelLoaded& loaded);
    bool isBeingLoaded(const StartRequest& request) const;
    void sendFirstMessage();
    void giveFirstMessageBack();
    std::string firstDecoder(const engine::ModelLoaded& loaded) const;
    engine::SamplingOptions keptSampling() const;
    void keepGeneralSampling(const engine::SamplingOptions& sampling);
    bool hasOwnSampling() const;
    void keepChoices(const engine::EngineEvent& event);
    void keepDecoder(const engine::SettingValues& settings);
    void keepWaiting();

    StudioOptions m_options;
    QSettings m_settings;
    Theme m_theme;
    RunStore m_run;
    Selection m_selection;
    QUndoStack m_undoStack;
    AnswerDefaults m_answerDefaults;
    PromptList m_prompts;
    KeptSettings m_keptSettings;
    std::unique_ptr<EngineBridge> m_bridge;
    std::unique_ptr<ChatStore> m_chats;
    std::unique_ptr<ChatSession> m_session;
    std::unique_ptr<MainWindow> m_window;
    RecentModels m_recentModels;
    ViewMenu* m_viewMenu = nullptr;
    ChatView* m_chatView = nullptr;
    ChatsPanel* m_chatsPanel = nullptr;
    ModelLibrary* m_library = nullptr;
    ParametersView* m_parameters = nullptr;
    ModelPanel* m_modelPanel = nullptr;
    InspectPage* m_inspectPage = nullptr;
    LearnPage* m_learnPage = nullptr;
    Presenter* m_presenter = nullptr;
    std::unique_ptr<LessonCatalog> m_lessons;
    std::unique_ptr<StudioHand> m_lessonHand;
    LessonPlayer* m_lessonPlayer = nullptr;
    bool m_lessonWaits = false; ///< the one of the start, for the model that is being loaded
    LessonPanel* m_lessonPanel = nullptr;
    ExperimentsDesk* m_desk = nullptr;      ///< null in a replay, which runs nothing
    TuneDesk* m_tune = nullptr;             ///< likewise
    std::pair<QString, std::string> m_copy; ///< made by it, that is being loaded, and its decoder
    ReplayTransport* m_transport = nullptr; ///< of a replay only
    NoGainNotice* m_noGain = nullptr;
    FirstSight* m_firstSight = nullptr;
    SkipSetFinder* m_finder = nullptr;
    QAction* m_recordAction = nullptr;
    QPointer<CommandSearch> m_search;
    QStringList m_nextMessages; ///< of further starts, behind the one of the options
    bool m_quitsAnyway = false; ///< the user has been warned about unsaved changes
    bool m_endedBadly = false;
    bool m_hasChosenDecoder = false;
    std::string m_modelPath; ///< of the model loaded last; empty before the first
    QString m_missingModel;  ///< the one used last, while another one stands in for it
    QString m_askedBackend;  ///< by a further start, for the model that was being loaded
    /// The sampling for models without their own, and its value when this model was loaded.
    engine::SamplingOptions m_generalSampling;
    engine::SamplingOptions m_generalSamplingAtLoad;
};

} // namespace ui
