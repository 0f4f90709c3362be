// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/support/patience.h"
#include "ui/store/chat_store.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>

#include <optional>
#include <utility>

namespace ui {

/// Waits for the answer to a question that `ask` puts with the given receiver.
template <typename Value, typename Ask> Value answerTo(Ask ask) {
    std::optional<Value> answer;
    QEventLoop loop;
    ask(&loop, [&](const Value& value) {
        answer = value;
        loop.quit();
    });
    QTimer::singleShot(support::kPatienceMs, &loop, &QEventLoop::quit);
    loop.exec();
    if (!answer)
        QTest::qFail("The store did not answer.", __FILE__, __LINE__);
    return answer.value_or(Value());
}

/// A store that is opened at once.
struct OpenStore : ChatStore {
    explicit OpenStore(StoreOptions options)
        : ChatStore(std::move(options)) {
        open();
    }
};

inline QList<ChatRecord> chatsOf(ChatStore& store) {
    return answerTo<QList<ChatRecord>>(
        [&](QObject* context, auto done) { store.listChats(context, done); });
}

inline Chat chatOf(ChatStore& store, ChatId id) {
    return answerTo<std::optional<Chat>>(
               [&](QObject* context, auto done) { store.loadChat(id, context, done); })
        .value_or(Chat());
}

/// Of the chats in which something was found, each once.
inline QStringList titlesFound(ChatStore& store, const QString& text) {
    QStringList titles;
    for (const ChatMatch& match : answerTo<QList<ChatMatch>>(
             [&](QObject*context, auto done) { store.searchChats(text, context, done); }))
        titles.append(match.record.title);
    titles.removeDuplicates();
    titles.sort();
    return titles;
}

inline ChatRecord titled(const QString& title) {
    ChatRecord chat;
    chat.title = title;
    return chat;
}

inline StoredMessage userMessage(ChatId chat, MessageId parent, const QString& text) {
    StoredMessage message;
    message.chatId = chat;
    message.parentId = parent;
    message.text = text;
    return message;
}

/// An answer of `count` tokens "w0 w1 w2 ", each a function of its place alone.
inline StoredMessage answerOfTokens(ChatId chat, MessageId parent, int count) {
    StoredMessage message = userMessage(chat, parent, QString());
    message.role = MessageRole::Assistant;
    message.state = MessageState::Streaming;
    for (int i = 0; i < count; ++i) {
        TokenTrace token;
        token.id = 1000 + i * 7 % 50000;
        token.begin = static_cast<int>(message.text.size());
        message.text += QStringLiteral("w%1 ").arg(i);
        token.end = static_cast<int>(message.text.size());
        token.fact.origin = static_cast<engine::TokenOrigin>(i % 4);
        token.fact.rank = i % 3;
        token.fact.draftProbability = 0.5;
        token.fact.targetProbability = 0.25;
        token.step = i / 4;
        token.stepMs = 12.5;
        message.tokens.append(token);
    }
    return message;
}

} // namespace ui
