// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/sqlite/chat_schema.h"

#include "ui/store/sqlite/searched_text.h"

namespace ui {

namespace {

// A step is never edited once a program with it is out; what changes later is a further step.
// No triggers and no views: the connection refuses to run any.

QStringList chatsAndMessages() {
    return {QStringLiteral("CREATE TABLE chats ("
                           " id INTEGER PRIMARY KEY,"
                           " title TEXT NOT NULL,"
                           " created_ms INTEGER NOT NULL,"
                           " updated_ms INTEGER NOT NULL,"
                           " deleted_ms INTEGER NOT NULL,"
                           " model TEXT NOT NULL,"
                           " decoder TEXT NOT NULL,"
                           " speedup REAL,"
                           " system_prompt TEXT NOT NULL,"
                           " leaf INTEGER NOT NULL,"
                           " settings TEXT NOT NULL)"),
            QStringLiteral("CREATE TABLE messages ("
                           " id INTEGER PRIMARY KEY,"
                           " chat INTEGER NOT NULL,"
                           " parent INTEGER NOT NULL,"
                           " role TEXT NOT NULL,"
                           " state TEXT NOT NULL,"
                           " created_ms INTEGER NOT NULL,"
                           " text TEXT NOT NULL,"
                           " token_ids BLOB NOT NULL,"
                           " trace BLOB,"
                           " figures TEXT NOT NULL)"),
            QStringLiteral("CREATE INDEX messages_by_chat ON messages (chat, id)"),
            QStringLiteral("CREATE INDEX messages_streaming ON messages (id)"
                           " WHERE state = 'streaming'")};
}

// Groups of three characters find parts of words, and words of scripts that know no spaces.
QStringList fullText() {
    return {QStringLiteral("CREATE VIRTUAL TABLE message_search"
                           " USING fts5(text, tokenize = 'trigram')"),
            QStringLiteral("INSERT INTO message_search (rowid, text)"
                           " SELECT id, text FROM messages WHERE state <> 'streaming'")};
}

QStringList choicesAttachmentsAndDrafts() {
    return {
        QStringLiteral("ALTER TABLE messages ADD COLUMN choices BLOB"),
        QStringLiteral("ALTER TABLE messages ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]'"),
        QStringLiteral("CREATE TABLE drafts ("
                       " chat INTEGER PRIMARY KEY,"
                       " text TEXT NOT NULL,"
                       " attachments TEXT NOT NULL)")};
}

// The folder into which the user put a chat.
QStringList places() {
    return {QStringLiteral("ALTER TABLE chats ADD COLUMN folder TEXT NOT NULL DEFAULT ''"),
            QStringLiteral("ALTER TABLE chats ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0"),
            QStringLiteral("ALTER TABLE chats ADD COLUMN archived INTEGER NOT NULL DEFAULT 0")};
}

// The files of a message are searched as well.
QStringList fullTextWithFiles() {
    return {QStringLiteral("DROP TABLE IF EXISTS message_search"),
            fullText().first(),
            QStringLiteral("INSERT INTO message_search (rowid, text)"
                           " SELECT id, %1 FROM messages WHERE state <> 'streaming'")
                .arg(searchedTextExpression())};
}

} // namespace

int storeVersion() { return 5; }

QStringList schemaStep(int version, bool hasFullText) {
    switch (version) {
    case 0:
        return chatsAndMessages();
    case 1:
        return hasFullText ? fullText() : QStringList();
    case 2:
        return choicesAttachmentsAndDrafts();
    case 3:
        return places();
    case kFullTextStep:
        return hasFullText ? fullTextWithFiles() : QStringList();
    default:
        return {};
    }
}

} // namespace ui
