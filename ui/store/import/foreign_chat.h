// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <optional>

namespace ui {

/// A message as another program wrote it, not checked yet. A plain value.
struct ForeignTurn {
    QString id;            ///< unique in its chat
    QString parentId;      ///< empty = the chat begins with it
    QString role;          ///< "user", "human", "gpt", "system", ...
    StoredMessage message; ///< text, time, figures; ids and role are set by chatOf()
    int otherParts = 0;    ///< pictures and the like, which are not taken
};

/// A chat as another program wrote it. A plain value.
struct ForeignChat {
    ChatRecord record; ///< without ids
    QList<ForeignTurn> turns;
    QString currentId; ///< end of the branch that was shown; empty = the last turn
};

/// The result for one chat of a file.
struct ImportedChat {
    std::optional<Chat> chat; ///< nothing: it was left out
    QString reason;           ///< a sentence: why it was left out and what to do, or what it lacks
};

/// A turn after `before`, or the first one.
ForeignTurn& addTurn(ForeignChat& chat, const QString& before);

/// Checks the chat and numbers its messages from 1, parents before children. System messages at its
/// beginning become its system prompt; a question without an answer gets an empty one. Left out are
/// chats with unknown roles, without any message, with answers to no question, with messages that
/// follow none of the chat.
ImportedChat chatOf(const ForeignChat& foreign);

} // namespace ui
