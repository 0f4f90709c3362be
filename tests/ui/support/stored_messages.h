// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QAbstractButton>

// Messages made by hand, and how their buttons are found.

namespace support {

/// An answer of the words "a ", "b ", ... with these origins; every draft token is accepted.
inline ui::StoredMessage answerOf(const QList<engine::TokenOrigin>& origins) {
    ui::StoredMessage answer;
    answer.role = ui::MessageRole::Assistant;
    answer.figures.modelName = QStringLiteral("tiny");
    answer.figures.decoderName = QStringLiteral("swift");
    for (const engine::TokenOrigin origin : origins) {
        ui::TokenTrace token;
        token.begin = static_cast<int>(answer.text.size());
        answer.text += QChar(u'a' + static_cast<int>(answer.tokens.size() % 26));
        answer.text += u' ';
        token.end = static_cast<int>(answer.text.size());
        token.id = 7 + token.begin;
        token.fact.origin = origin;
        token.fact.rank = origin == engine::TokenOrigin::Sibling ? 1 : 0;
        answer.tokens.push_back(token);
    }
    return answer;
}

/// The last message of the chat is written on by some words, as one token.
inline void growLast(ui::Chat& chat, const QString& words) {
    ui::StoredMessage& last = chat.messages.last();
    ui::TokenTrace token;
    token.begin = static_cast<int>(last.text.size());
    last.text += words;
    token.end = static_cast<int>(last.text.size());
    last.tokens.push_back(token);
}

/// A chat of `exchanges` times a question and an answer, in one branch; ids count from 1.
inline ui::Chat chatOf(int exchanges) {
    ui::Chat chat;
    chat.record.id = 1;
    for (int i = 0; i < 2 * exchanges; ++i) {
        ui::StoredMessage message =
            i % 2 == 0 ? ui::StoredMessage()
                       : answerOf({engine::TokenOrigin::Vanilla, engine::TokenOrigin::Draft});
        if (i % 2 == 0)
            message.text = QStringLiteral("question %1").arg(i / 2 + 1);
        message.id = i + 1;
        message.chatId = 1;
        message.parentId = i;
        chat.messages.push_back(message);
    }
    chat.record.leafId = 2 * exchanges;
    return chat;
}

/// The button of this text or accessible name, null when there is none.
inline QAbstractButton* buttonNamed(const QWidget& parent, const QString& name) {
    for (QAbstractButton* button : parent.findChildren<QAbstractButton*>())
        if (button->text() == name || button->accessibleName() == name)
            return button;
    return nullptr;
}

} // namespace support
