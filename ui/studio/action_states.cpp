// SPDX-License-Identifier: GPL-3.0-only
#include "ui/present/presenter.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/search_offer/skip_set_finder.h"

// Which actions of menus and keys are possible.
namespace ui {
using namespace engine;

namespace {

/// Whether an action may become possible or impossible with the event. A step and its text, which
/// come a hundred times a second, change none.
bool changesActions(const EngineEvent& event) {
    const auto is = [&]<typename... Kind>() { return (... || (event.as<Kind>() != nullptr)); };
    return is.operator()<ModelLoadProgress,
                         ModelLoaded,
                         ModelUnloaded,
                         EngineFailed,
                         DecoderChosen,
                         PromptStarted,
                         PromptFinished,
                         RecordingStarted,
                         RecordingStopped>();
}

} // namespace

void Studio::keepActionsTrue() {
    for (const auto& changed : {&ChatSession::shown, &ChatSession::stateChanged})
        connect(m_session.get(), changed, this, &Studio::updateActions);
    connect(m_session.get(), &ChatSession::messageAdded, this, &Studio::updateActions);
    connect(m_chats.get(), &ChatStore::chatChanged, this, &Studio::updateActions);
    connect(
        &m_chatView->conversation(), &ConversationView::tokenChosen, this, &Studio::updateActions);
    connect(m_bridge.get(), &EngineBridge::eventCame, this, [this](const EngineEvent& event) {
        if (changesActions(event))
            updateActions();
    });
    connect(m_bridge.get(), &EngineBridge::tickFinished, this, &Studio::updatePresentActions);
    updatePresentActions();
    updateActions();
}

/// An action that would do nothing is disabled; its key then reaches the focused widget.
void Studio::updateActions() {
    const bool isReplay = !m_options.replayName.isEmpty();
    const SendObstacle obstacle = m_session->obstacle(QStringLiteral("x"));
    const ChatRecord& chat = m_session->chat().record;
    const bool hasChat = chat.id != 0;
    const auto enable = [this](const char* id, bool isEnabled) {
        m_window->actionCatalog().find(QLatin1String(id))->setEnabled(isEnabled);
    };
    enable("run.stop",
           m_presenter->isPresenting() || m_chatView->conversation().hasPinnedToken() ||
               m_finder->isRunning() || runningSides() != nullptr ||
               obstacle == SendObstacle::Answering || m_run.loading() != nullptr ||
               m_session->contextQuestion() != nullptr);
    enable("run.regenerate",
           obstacle == SendObstacle::None && m_session->message(chat.leafId) != nullptr);
    for (const char* id : {"run.lossless", "run.split"})
        enable(id, !isReplay && m_run.model() != nullptr);
    enable("run.continue", obstacle == SendObstacle::None && m_chatView->canContinueLast());
    for (const char* id : {"chat.new", "chat.settings"})
        enable(id, !isReplay);
    enable("run.record", !isReplay);
    enable("chat.copy_last", m_chatView->hasAnswer());
    enable("chat.rename", hasChat);
    enable("chat.export", hasChat);
    for (const char* id : {"chat.pin", "chat.folder", "chat.archive", "chat.delete"})
        enable(id, hasChat);
    m_window->actionCatalog()
        .find(QStringLiteral("chat.pin"))
        ->setText(chat.isPinned ? tr("&Unpin chat") : tr("Pin c&hat"));
    m_window->actionCatalog()
        .find(QStringLiteral("chat.archive"))
        ->setText(chat.isArchived ? tr("Restore ar&chived chat") : tr("Ar&chive chat"));
    for (const char* id : {"chat.import", "chat.import_folder"})
        enable(id, !isReplay);
    for (const char* id :
         {"model.choose", "model.open_file", "model.open_folder", "model.open_default"})
        enable(id, !isReplay);
    QAction* lesson = m_window->actionCatalog().find(QStringLiteral("model.lesson"));
    lesson->setEnabled(!isReplay);
    lesson->setChecked(hasLessonModel());
    const bool hasModel = !isReplay && m_run.model() != nullptr;
    enable("model.tasks", hasModel);
    enable("model.save_defaults", hasModel);
    enable("model.forget_defaults",
           hasModel &&
               !m_answerDefaults.ofModel(QString::fromStdString(m_run.model()->path)).isEmpty());
    enable("model.unload", !isReplay && m_run.model() != nullptr);
    const bool isRecording = !isReplay && !m_run.recordingPath().empty();
    m_recordAction->setText(isRecording ? tr("S&top recording") : tr("&Record to a file..."));
}

} // namespace ui
