// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/chat_prompts.h"

#include "ui/store/chat_store.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// What was asked first; empty for a chat in which nothing was.
QString questionOf(const Chat& chat) {
    const QList<StoredMessage> messages = chat.currentBranch();
    const auto first = std::ranges::find(messages, MessageRole::User, &StoredMessage::role);
    return first == messages.end() ? QString() : textWithAttachments(*first).trimmed();
}

QByteArray lineOf(ChatId chat, const QString& question) {
    const QJsonObject line{{QStringLiteral("id"), QStringLiteral("chat-%1").arg(chat)},
                           {QStringLiteral("task"), QStringLiteral("own_chats")},
                           {QStringLiteral("prompt"), question}};
    return QJsonDocument(line).toJson(QJsonDocument::Compact) + '\n';
}

/// Chat after chat; each answer of the store asks for the next one.
class ChatReader : public std::enable_shared_from_this<ChatReader> {
public:
    ChatReader(ChatStore& store, QObject* context, std::function<void(QByteArray)> done)
        : m_store(store)
        , m_context(context)
        , m_done(std::move(done)) {}

    void begin() {
        m_store.listChats(m_context, [self = shared_from_this()](const QList<ChatRecord>& chats) {
            for (const ChatRecord& chat : chats)
                self->m_left << chat.id;
            self->readNext();
        });
    }

private:
    void readNext() {
        if (m_left.isEmpty()) {
            m_done(m_lines);
            return;
        }
        m_store.loadChat(m_left.takeFirst(),
                         m_context,
                         [self = shared_from_this()](const std::optional<Chat>& chat) {
                             if (chat)
                                 self->add(*chat);
                             self->readNext();
                         });
    }

    /// A question that was asked twice would be trained on and held out.
    void add(const Chat& chat) {
        const QString question = questionOf(chat);
        if (question.isEmpty() || m_known.contains(question))
            return;
        m_known.insert(question);
        m_lines += lineOf(chat.record.id, question);
    }

    ChatStore& m_store;
    QObject* m_context;
    std::function<void(QByteArray)> m_done;
    QList<ChatId> m_left;
    QSet<QString> m_known;
    QByteArray m_lines;
};

} // namespace

void readChatPrompts(ChatStore& store, QObject* context, std::function<void(QByteArray)> done) {
    std::make_shared<ChatReader>(store, context, std::move(done))->begin();
}

} // namespace ui
