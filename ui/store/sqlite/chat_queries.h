// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QSqlDatabase>

namespace ui {

// The statements of the chat store. All values are bound, never inserted into the text. False or
// nothing: SQLite refused, and its handle knows why. Thread: the one that opened `database`.

bool writeChat(const QSqlDatabase& database, const ChatRecord& chat);

/// `hasFullText`: the file has a search table, which a message enters once it is complete.
bool writeMessage(const QSqlDatabase& database, const StoredMessage& message, bool hasFullText);

/// Deleted ones too.
std::optional<QList<ChatRecord>> readChats(const QSqlDatabase& database);

/// Of one chat, oldest first.
std::optional<QList<StoredMessage>> readMessages(const QSqlDatabase& database, ChatId chat);

/// Messages that an earlier run of the program left unfinished.
std::optional<QList<StoredMessage>> readStreaming(const QSqlDatabase& database);

/// An empty draft is removed. `chat` 0: of the chat that is not begun yet.
bool writeDraft(const QSqlDatabase& database, ChatId chat, const Draft& draft);

/// An empty one if there is none.
std::optional<Draft> readDraft(const QSqlDatabase& database, ChatId chat);

/// 0 if there is none.
MessageId highestMessageId(const QSqlDatabase& database);

/// Removes chats marked as deleted, with their messages and drafts.
bool purgeDeleted(const QSqlDatabase& database, bool hasFullText);

struct MessageMatch {
    ChatId chatId = 0;
    MessageId messageId = 0;
    QString excerpt; ///< see excerptOf()
};

/// Messages that contain all of `words` (plain text without spaces, no wildcards; see
/// searchedText()), of each chat the newest ones, at most `mostOfChat`. `database` is a
/// ChatDatabase's connection, which knows holds_all().
std::optional<QList<MessageMatch>> findMessages(const QSqlDatabase& database,
                                                const QStringList& words,
                                                int mostOfChat,
                                                bool hasFullText);

} // namespace ui
