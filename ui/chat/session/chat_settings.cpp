// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/session/chat_session.h"

#include <utility>

// What a chat keeps besides its messages: its settings and the unsent draft.

namespace ui {

using namespace engine;

namespace {

void putSettings(const AnswerSettings& own, ChatRecord& chat) {
    const AnswerSettings none{QString(), 0, QStringList()};
    for (const QString& key : answerSettingsToJson(none).keys())
        chat.settings.remove(key);
    AnswerSettings rest = own;
    chat.systemPrompt = own.systemPrompt.value_or(QString());
    if (!chat.systemPrompt.isEmpty())
        rest.systemPrompt.reset();
    const QJsonObject json = answerSettingsToJson(rest);
    for (auto value = json.begin(); value != json.end(); ++value)
        chat.settings.insert(value.key(), value.value());
}

} // namespace

AnswerSettings ChatSession::ownSettings() const {
    AnswerSettings own = answerSettingsFromJson(m_chat.record.settings);
    // The settings distinguish an empty prompt of its own from none.
    if (!m_chat.record.systemPrompt.isEmpty())
        own.systemPrompt = m_chat.record.systemPrompt;
    return own;
}

void ChatSession::setOwnSettings(const AnswerSettings& own) {
    putSettings(own, m_chat.record);
    if (m_chat.record.id != 0) {
        m_store.setSystemPrompt(m_chat.record.id, m_chat.record.systemPrompt);
        m_store.setSettings(m_chat.record.id, m_chat.record.settings);
    } else if (!m_isReplay) {
        m_defaults.setOfNewChat(own);
    }
    emit stateChanged();
}

QString ChatSession::modelPath() const {
    const ModelLoaded* model = m_run.model();
    return model != nullptr ? QString::fromStdString(model->path) : QString();
}

ResolvedAnswerSettings ChatSession::settings() const {
    return m_defaults.resolve(ownSettings(), modelPath());
}

AnswerSettings ChatSession::settingsAt(SettingsPlace place) const {
    switch (place) {
    case SettingsPlace::Chat:
        return ownSettings();
    case SettingsPlace::Model:
        return m_defaults.ofModel(modelPath()).answers;
    case SettingsPlace::Everywhere:
        return m_defaults.everywhere();
    }
    return {};
}

void ChatSession::setSettingsAt(SettingsPlace place, const AnswerSettings& settings) {
    if (place == SettingsPlace::Chat)
        setOwnSettings(settings);
    else if (place == SettingsPlace::Everywhere)
        m_defaults.setEverywhere(settings);
    else {
        ModelDefaults defaults = m_defaults.ofModel(modelPath());
        defaults.answers = settings;
        m_defaults.setOfModel(modelPath(), defaults);
    }
}

void ChatSession::setDraft(const Draft& draft) {
    if (m_isReplay || draft == m_chat.draft)
        return;
    m_chat.draft = draft;
    m_isDraftNew = true;
    m_draftTimer.start();
}

void ChatSession::saveDraft() {
    m_draftTimer.stop();
    if (!std::exchange(m_isDraftNew, false))
        return;
    if (m_chat.record.id == 0)
        m_newChat.draft = m_chat.draft;
    m_store.setDraft(m_chat.record.id, m_chat.draft);
}

void ChatSession::setNewFolder(const QString& folder) {
    if (m_chat.record.id != 0 || m_isReplay)
        return;
    m_chat.record.folder = folder;
    m_defaults.setFolderOfNewChat(folder);
}

void ChatSession::followFolder(const QString& folder, const QString& name) {
    ChatRecord& waiting = m_chat.record.id == 0 ? m_chat.record : m_newChat.record;
    if (folder.isEmpty() || waiting.folder != folder)
        return;
    waiting.folder = name;
    m_defaults.setFolderOfNewChat(name);
}

/// The settings and the folder of the last run's new chat and its unsent draft, unless the user is
/// already writing. They wait while another chat is shown.
void ChatSession::showNewChat() {
    if (const AnswerSettings kept = m_defaults.ofNewChat(); !kept.isEmpty() && !m_isReplay) {
        putSettings(kept, m_newChat.record);
        if (m_chat.record.id == 0) {
            putSettings(kept, m_chat.record);
            emit stateChanged();
        }
    }
    if (const QString folder = m_defaults.folderOfNewChat(); !folder.isEmpty() && !m_isReplay) {
        m_newChat.record.folder = folder;
        if (m_chat.record.id == 0)
            m_chat.record.folder = folder;
    }
    m_store.loadDraft(0, this, [this](const Draft& draft) {
        const bool isShown = m_chat.record.id == 0;
        if (draft.isEmpty() || !(isShown ? m_chat : m_newChat).draft.isEmpty())
            return;
        m_newChat.draft = draft;
        if (!isShown)
            return;
        m_chat.draft = draft;
        emit draftLoaded();
    });
}

} // namespace ui
