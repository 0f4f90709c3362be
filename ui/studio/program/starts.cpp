// SPDX-License-Identifier: GPL-3.0-only
#include "ui/files/clean_path.h"
#include "ui/studio/program/single_instance.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"

#include <utility>

// What a start of the program asks of a window, its own or one that is open.

namespace ui {

using namespace engine;

/// A message from a further start never interrupts an answer: it waits for its end, each one in its
/// turn.
void Studio::sendFirstMessage() {
    if (m_options.firstMessage.isEmpty() || !m_hasChosenDecoder ||
        m_session->obstacle(m_options.firstMessage) != SendObstacle::None)
        return;
    const QString message = std::exchange(m_options.firstMessage, {});
    m_session->newChat();
    m_session->send(message);
    if (!m_nextMessages.isEmpty())
        m_options.firstMessage = m_nextMessages.takeFirst();
}

/// No model comes for the message of a start: it waits where the user sees it.
void Studio::giveFirstMessageBack() {
    if (m_options.firstMessage.isEmpty() || m_bridge->pendingLoad() != nullptr)
        return;
    // First of all, as a new chat would send it to the model that is still there.
    m_nextMessages.prepend(std::exchange(m_options.firstMessage, {}));
    const QStringList messages = std::exchange(m_nextMessages, {});
    if (!m_run.answers().isRunning())
        m_session->newChat();
    for (const QString& message : messages)
        m_chatView->insertText(message);
    m_window->messages().show(
        {Notice::Kind::Warning,
         QStringLiteral("first_message"),
         tr("Your message was not sent, because the model was not loaded."),
         tr("It stands in the input of the chat: send it once a model is there.")});
}

/// Whether the model that it asks for comes anyway.
bool Studio::isBeingLoaded(const StartRequest& request) const {
    const LoadModel* load = m_bridge->pendingLoad();
    if (load == nullptr || load->isPlanted != request.isPlanted ||
        (!request.backend.isEmpty() && request.backend.toStdString() != load->backend))
        return false;
    return request.modelPath.isEmpty()
               ? request.isPlanted
               : request.modelPath == cleanPath(QString::fromStdString(load->path));
}

void Studio::takeStart(const StartRequest& request) {
    m_window->setWindowState(m_window->windowState() & ~Qt::WindowMinimized);
    m_window->show();
    m_window->raise();
    m_window->activateWindow();
    openFiles(request.files);
    if (!request.message.trimmed().isEmpty()) {
        if (m_options.firstMessage.trimmed().isEmpty())
            m_options.firstMessage = request.message;
        else
            m_nextMessages.append(request.message);
    }
    if (!request.decoder.isEmpty()) {
        m_options.decoder = request.decoder;
        m_hasChosenDecoder = false; // chosen with the model, or now
    }
    if (isBeingLoaded(request))
        return; // all else is done once it is there
    const LoadModel* pending = m_bridge->pendingLoad();
    const bool makesLesson =
        request.isPlanted && !(pending != nullptr ? pending->isPlanted : hasLessonModel());
    const bool isLoading = m_run.loading() != nullptr || pending != nullptr;
    const bool hasNoModel = m_run.model() == nullptr && !isLoading;
    if (!request.modelPath.isEmpty() || (!request.backend.isEmpty() && (makesLesson || hasNoModel)))
        m_options.backend = request.backend;
    if (!request.modelPath.isEmpty()) {
        loadModel(request.modelPath, request.isPlanted);
    } else if (makesLesson && pending != nullptr) {
        loadModel(QString::fromStdString(pending->path), true); // of the model that would come
    } else if (makesLesson) {
        toggleLessonModel();
    } else if (hasNoModel) {
        if (const QString path = firstModel(); !path.isEmpty())
            loadModel(path);
    } else {
        if (!isLoading)
            offerBackend(request.backend, *m_run.model());
        else if (!request.backend.isEmpty())
            m_askedBackend = request.backend; // offered when that model is there
        if (m_run.model() == nullptr)
            return;
        if (!std::exchange(m_hasChosenDecoder, true))
            chooseFirstDecoder(*m_run.model());
        sendFirstMessage();
    }
}

/// A model that is in use keeps its backend until it is loaded again.
void Studio::offerBackend(const QString& asked, const ModelLoaded& loaded) {
    const QString used = QString::fromStdString(loaded.model.backend);
    if (asked.isEmpty() || asked == used)
        return;
    m_window->messages().show(
        {Notice::Kind::Info,
         QStringLiteral("backend"),
         tr("%1 goes on with the backend %2.").arg(QString::fromStdString(loaded.model.name), used),
         tr("A backend is chosen when a model is loaded. You asked for %1.").arg(asked),
         {},
         {{tr("Load the model again"),
           [this, asked, path = QString::fromStdString(loaded.path), isLesson = hasLessonModel()] {
               m_options.backend = asked;
               loadModel(path, isLesson);
           },
           true}}});
}

} // namespace ui
