// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chats/chat_catalog.h"

#include <QCollator>

#include <algorithm>
#include <utility>

namespace ui {

ChatCatalog::ChatCatalog(ChatStore& store, QObject* parent)
    : QObject(parent)
    , m_store(store) {
    connect(&store, &ChatStore::listReset, this, &ChatCatalog::reload);
    connect(&store, &ChatStore::chatChanged, this, [this](const ChatRecord& chat) {
        if (chat.deletedMs == 0)
            m_chats.insert(chat.id, chat);
        else
            m_chats.remove(chat.id);
        recount();
    });
    reload();
}

void ChatCatalog::reload() {
    m_store.listChats(this, [this](const QList<ChatRecord>& chats) {
        m_chats.clear();
        for (const ChatRecord& chat : chats)
            m_chats.insert(chat.id, chat);
        recount();
    });
}

void ChatCatalog::recount() {
    QStringList folders;
    bool hasArchived = false;
    for (const ChatRecord& chat : std::as_const(m_chats)) {
        hasArchived |= chat.isArchived;
        if (!chat.folder.isEmpty() && !chat.isArchived)
            folders.append(chat.folder);
    }
    folders.removeDuplicates();
    QCollator order;
    order.setNumericMode(true);
    std::sort(folders.begin(), folders.end(), order);
    if (folders == m_folders && hasArchived == m_hasArchived)
        return;
    m_folders = folders;
    m_hasArchived = hasArchived;
    emit changed();
}

void ChatCatalog::renameFolder(const QString& folder, const QString& name) {
    for (const ChatRecord& chat : std::as_const(m_chats))
        if (chat.folder == folder)
            m_store.setFolder(chat.id, name);
}

} // namespace ui
