// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_store.h"

#include <QMap>
#include <QObject>

namespace ui {

/// All chats of a store by their ids, and the folders that they are in. A folder is there while a
/// chat names it. Follows the store by itself. Thread: UI.
class ChatCatalog : public QObject {
    Q_OBJECT

public:
    explicit ChatCatalog(ChatStore& store, QObject* parent = nullptr);

    /// Empty (id 0) for a chat that is not there.
    ChatRecord record(ChatId id) const { return m_chats.value(id); }

    /// As people sort names.
    const QStringList& folders() const { return m_folders; }

    bool hasArchived() const { return m_hasArchived; }

    /// Gives the folder another name in all its chats; a name that is there already joins the two.
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
