// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_store.h"

#include <QMap>
#include <QObject>

namespace ui {

/// All chats of a store by their ids, and their folders. A folder exists while a chat names it.
/// Follows the store by itself. Thread: UI.
class ChatCatalog : public QObject {
    Q_OBJECT

public:
    explicit ChatCatalog(ChatStore& store, QObject* parent = nullptr);

    /// Empty (id 0) for a chat that is not there.
    ChatRecord record(ChatId id) const { return m_chats.value(id); }

    /// In the order in which people sort names.
    const QStringList& folders() const { return m_folders; }

    bool hasArchived() const { return m_hasArchived; }

    /// Renames the folder in all its chats; an existing name joins the two folders.
    void renameFolder(const QString& folder, const QString& name);

signals:
    /// Of folders(), or of hasArchived().
    void changed();

private:
    void reload();
    void recount();

    ChatStore& m_store;
    QMap<ChatId, ChatRecord> m_chats;
    QStringList m_folders;
    bool m_hasArchived = false;
};

} // namespace ui
