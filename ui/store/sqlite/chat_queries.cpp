// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/sqlite/chat_queries.h"

#include "ui/store/sqlite/record_blobs.h"
#include "ui/store/sqlite/searched_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSqlError>
#include <QSqlQuery>
#include <QVariant>

#include <algorithm>

namespace ui {

namespace {

const QString kMessageColumns = QStringLiteral(
    "m.id, m.chat, m.parent, m.role, m.state, m.created_ms, m.text, m.token_ids, m.trace,"
    " m.figures, m.choices, m.attachments");

// Trigrams cannot find less.
constexpr qsizetype kShortestIndexedWord = 3;

// A bound null QString would become NULL, which the columns refuse. A lone surrogate cannot be
// written as UTF-8 and would swallow its neighbour, moving all offsets after it.
QString textOf(const QString& text) {
    if (text.isEmpty())
        return QStringLiteral("");
    return text.isValidUtf16() ? text : QString::fromUtf8(text.toUtf8());
}

QString compactJson(const QJsonObject& json) {
    return QString::fromUtf8(QJsonDocument(json).toJson(QJsonDocument::Compact));
}

QJsonObject jsonOf(const QVariant& text) {
    return QJsonDocument::fromJson(text.toString().toUtf8()).object();
}

QString compactJson(const QJsonArray& json) {
    return QString::fromUtf8(QJsonDocument(json).toJson(QJsonDocument::Compact));
}

QJsonArray listOf(const QVariant& text) {
    return QJsonDocument::fromJson(text.toString().toUtf8()).array();
}

MessageState stateNamed(const QString& name) {
    for (const MessageState state : {MessageState::Streaming,
                                     MessageState::Finished,
                                     MessageState::Stopped,
                                     MessageState::Failed})
        if (stateName(state) == name)
            return state;
    return MessageState::Recovered;
}

StoredMessage messageAt(const QSqlQuery& row) {
    StoredMessage message;
    message.id = row.value(0).toLongLong();
    message.chatId = row.value(1).toLongLong();
    message.parentId = row.value(2).toLongLong();
    message.role = row.value(3).toString() == roleName(MessageRole::User) ? MessageRole::User
                                                                          : MessageRole::Assistant;
    message.state = stateNamed(row.value(4).toString());
    message.createdMs = row.value(5).toLongLong();
    message.text = row.value(6).toString();
    message.tokens = unpackTokenIds(row.value(7).toByteArray());
    message.isTraced = message.tokens.isEmpty() ||
                       unpackTrace(row.value(8).toByteArray(), message.text.size(), message.tokens);
    message.figures = figuresFromJson(jsonOf(row.value(9)));
    unpackChoices(row.value(10).toByteArray(), message.tokens);
    message.attachments = attachmentsFromJson(listOf(row.value(11)));
    return message;
}

std::optional<QList<StoredMessage>> messagesOf(QSqlQuery& query) {
    if (!query.exec())
        return std::nullopt;
    QList<StoredMessage> messages;
    while (query.next())
        messages.append(messageAt(query));
    // next() is false at the end and on an error alike.
    if (query.lastError().isValid())
        return std::nullopt;
    return messages;
}

QSqlQuery prepared(const QSqlDatabase& database, const QString& statement) {
    QSqlQuery query(database);
    query.setForwardOnly(true);
    query.prepare(statement);
    return query;
}

bool indexMessage(const QSqlDatabase& database, const StoredMessage& message) {
    QSqlQuery query = prepared(
        database,
        QStringLiteral("INSERT OR REPLACE INTO message_search (rowid, text) VALUES (?, ?)"));
    query.addBindValue(message.id);
    query.addBindValue(textOf(searchedText(message)));
    return query.exec();
}

// In double quotes a word of FTS5 is plain text; a quote inside is doubled.
QString fullTextTerm(const QStringList& words) {
    QStringList terms;
    for (QString word : words)
        terms.append(u'"' + word.replace(u'"', QLatin1String("\"\"")) + u'"');
    return terms.join(QLatin1String(" AND "));
}

// The texts are read last, and only those of the requested messages.
QString matchStatement(const QString& condition) {
    return QStringLiteral("SELECT m.chat, m.id, m.text, m.attachments FROM messages m JOIN"
                          " (SELECT id, row_number() OVER (PARTITION BY chat ORDER BY id DESC) AS"
                          " place FROM messages WHERE %1) found ON found.id = m.id"
                          " WHERE found.place <= ?")
        .arg(condition);
}

QSqlQuery fullTextQuery(const QSqlDatabase& database, const QStringList& words) {
    QSqlQuery query =
        prepared(database,
                 matchStatement(QStringLiteral("id IN (SELECT rowid FROM message_search WHERE"
                                               " message_search MATCH ?)")));
    query.addBindValue(fullTextTerm(words));
    return query;
}

QSqlQuery scanQuery(const QSqlDatabase& database, const QStringList& words) {
    QSqlQuery query = prepared(
        database, matchStatement(QStringLiteral("holds_all(%1, ?)").arg(searchedTextExpression())));
    query.addBindValue(words.join(u' '));
    return query;
}

} // namespace

bool writeChat(const QSqlDatabase& database, const ChatRecord& chat) {
    QSqlQuery query = prepared(
        database,
        QStringLiteral("INSERT OR REPLACE INTO chats (id, title, created_ms, updated_ms,"
                       " deleted_ms, model, decoder, speedup, system_prompt, leaf, settings,"
                       " folder, pinned, archived)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    query.addBindValue(chat.id);
    query.addBindValue(textOf(chat.title));
    query.addBindValue(chat.createdMs);
    query.addBindValue(chat.updatedMs);
    query.addBindValue(chat.deletedMs);
    query.addBindValue(textOf(chat.modelName));
    query.addBindValue(textOf(chat.decoderName));
    query.addBindValue(chat.speedup ? QVariant(*chat.speedup) : QVariant());
    query.addBindValue(textOf(chat.systemPrompt));
    query.addBindValue(chat.leafId);
    query.addBindValue(compactJson(chat.settings));
    query.addBindValue(textOf(chat.folder));
    query.addBindValue(chat.isPinned);
    query.addBindValue(chat.isArchived);
    return query.exec();
}

bool writeMessage(const QSqlDatabase& database, const StoredMessage& message, bool hasFullText) {
    QSqlQuery query =
        prepared(database,
                 QStringLiteral("INSERT OR REPLACE INTO messages (id, chat, parent, role, state,"
                                " created_ms, text, token_ids, trace, figures, choices,"
                                " attachments) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    query.addBindValue(message.id);
    query.addBindValue(message.chatId);
    query.addBindValue(message.parentId);
    query.addBindValue(roleName(message.role));
    query.addBindValue(stateName(message.state));
    query.addBindValue(message.createdMs);
    query.addBindValue(textOf(message.text));
    // A null QByteArray would become NULL.
    query.addBindValue(message.tokens.isEmpty() ? QByteArray("") : packTokenIds(message.tokens));
    query.addBindValue(message.isTraced && !message.tokens.isEmpty()
                           ? QVariant(packTrace(message.tokens))
                           : QVariant());
    query.addBindValue(compactJson(figuresToJson(message.figures)));
    const QByteArray choices = packChoices(message.tokens);
    query.addBindValue(choices.isEmpty() ? QVariant() : QVariant(choices));
    query.addBindValue(compactJson(attachmentsToJson(message.attachments)));
    if (!query.exec())
        return false;
    return !hasFullText || message.state == MessageState::Streaming ||
           indexMessage(database, message);
}

std::optional<QList<ChatRecord>> readChats(const QSqlDatabase& database) {
    QSqlQuery query = prepared(
        database,
        QStringLiteral(
            "SELECT id, title, created_ms, updated_ms, deleted_ms, model, decoder,"
            " speedup, system_prompt, leaf, settings, folder, pinned, archived FROM chats"));
    if (!query.exec())
        return std::nullopt;
    QList<ChatRecord> chats;
    while (query.next()) {
        ChatRecord chat;
        chat.id = query.value(0).toLongLong();
        chat.title = query.value(1).toString();
        chat.createdMs = query.value(2).toLongLong();
        chat.updatedMs = query.value(3).toLongLong();
        chat.deletedMs = query.value(4).toLongLong();
        chat.modelName = query.value(5).toString();
        chat.decoderName = query.value(6).toString();
        if (!query.value(7).isNull())
            chat.speedup = query.value(7).toDouble();
        chat.systemPrompt = query.value(8).toString();
        chat.leafId = query.value(9).toLongLong();
        chat.settings = jsonOf(query.value(10));
        chat.folder = query.value(11).toString();
        chat.isPinned = query.value(12).toBool();
        chat.isArchived = query.value(13).toBool();
        chats.append(chat);
    }
    return query.lastError().isValid() ? std::nullopt : std::optional(chats);
}

std::optional<QList<StoredMessage>> readMessages(const QSqlDatabase& database, ChatId chat) {
    QSqlQuery query =
        prepared(database,
                 QLatin1String("SELECT ") + kMessageColumns +
                     QLatin1String(" FROM messages m WHERE m.chat = ? ORDER BY m.id"));
    query.addBindValue(chat);
    return messagesOf(query);
}

std::optional<QList<StoredMessage>> readStreaming(const QSqlDatabase& database) {
    QSqlQuery query = prepared(database,
                               QLatin1String("SELECT ") + kMessageColumns +
                                   QLatin1String(" FROM messages m WHERE m.state = 'streaming'"
                                                 " ORDER BY m.id"));
    return messagesOf(query);
}

bool writeDraft(const QSqlDatabase& database, ChatId chat, const Draft& draft) {
    QSqlQuery query = prepared(
        database,
        draft.isEmpty() ? QStringLiteral("DELETE FROM drafts WHERE chat = ?")
                        : QStringLiteral("INSERT OR REPLACE INTO drafts (chat, text, attachments)"
                                         " VALUES (?, ?, ?)"));
    query.addBindValue(chat);
    if (!draft.isEmpty()) {
        query.addBindValue(textOf(draft.text));
        query.addBindValue(compactJson(attachmentsToJson(draft.attachments)));
    }
    return query.exec();
}

std::optional<Draft> readDraft(const QSqlDatabase& database, ChatId chat) {
    QSqlQuery query =
        prepared(database, QStringLiteral("SELECT text, attachments FROM drafts WHERE chat = ?"));
    query.addBindValue(chat);
    if (!query.exec())
        return std::nullopt;
    if (!query.next())
        return query.lastError().isValid() ? std::nullopt : std::optional(Draft());
    return Draft{query.value(0).toString(), attachmentsFromJson(listOf(query.value(1)))};
}

MessageId highestMessageId(const QSqlDatabase& database) {
    QSqlQuery query = prepared(database, QStringLiteral("SELECT max(id) FROM messages"));
    return query.exec() && query.next() ? query.value(0).toLongLong() : 0;
}

bool purgeDeleted(const QSqlDatabase& database, bool hasFullText) {
    QStringList statements;
    if (hasFullText)
        statements.append(QStringLiteral("DELETE FROM message_search WHERE rowid IN (SELECT id FROM"
                                         " messages WHERE chat IN (SELECT id FROM chats WHERE"
                                         " deleted_ms <> 0))"));
    statements.append(QStringLiteral("DELETE FROM messages WHERE chat IN"
                                     " (SELECT id FROM chats WHERE deleted_ms <> 0)"));
    statements.append(QStringLiteral("DELETE FROM drafts WHERE chat IN"
                                     " (SELECT id FROM chats WHERE deleted_ms <> 0)"));
    statements.append(QStringLiteral("DELETE FROM chats WHERE deleted_ms <> 0"));
    QSqlQuery query(database);
    return std::all_of(statements.cbegin(), statements.cend(), [&](const QString& statement) {
        return query.exec(statement);
    });
}

std::optional<QList<MessageMatch>> findMessages(const QSqlDatabase& database,
                                                const QStringList& words,
                                                int mostOfChat,
                                                bool hasFullText) {
    const bool isIndexed =
        hasFullText && std::all_of(words.cbegin(), words.cend(), [](const QString& word) {
            return word.toUcs4().size() >= kShortestIndexedWord;
        });
    QSqlQuery query = isIndexed ? fullTextQuery(database, words) : scanQuery(database, words);
    query.addBindValue(mostOfChat);
    bool isDone = query.exec();
    if (!isDone && isIndexed) {
        query = scanQuery(database, words);
        query.addBindValue(mostOfChat);
        isDone = query.exec();
    }
    if (!isDone)
        return std::nullopt;
    QList<MessageMatch> matches;
    while (query.next()) {
        StoredMessage message;
        message.text = query.value(2).toString();
        message.attachments = attachmentsFromJson(listOf(query.value(3)));
        matches.append(
            {query.value(0).toLongLong(), query.value(1).toLongLong(), excerptOf(message, words)});
    }
    return query.lastError().isValid() ? std::nullopt : std::optional(matches);
}

} // namespace ui
