// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>

#include <functional>

class QObject;

namespace ui {

class ChatStore;

/// Reads the first question of each of the user's chats, newest chat first, with the files that
/// were attached to it, and calls `done` with them as JSON Lines (id, task, prompt), unless
/// `context` is gone by then; empty if there is no question. The store must outlive that. Thread:
/// UI; nothing waits.
void readChatPrompts(ChatStore& store, QObject* context, std::function<void(QByteArray)> done);

} // namespace ui
