// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/import/foreign_chat.h"

#include <QJsonObject>

namespace ui {

// The chat formats of other programs and of this one. The input is untrusted: a member that is
// missing or has another type counts as empty. Thread: any.

/// A chat of a JSON file: LM Studio (*.conversation.json), Open WebUI (an item of its export),
/// ShareGPT ("conversations" of "from" and "value"), a plain list of "messages" with "role" and
/// "content", or this program's own export. Nothing if it is none of them.
std::optional<ForeignChat> foreignChat(const QJsonObject& json);

/// A thread of Jan: its thread.json and the lines of its messages.jsonl.
ForeignChat janChat(const QJsonObject& thread, const QList<QJsonObject>& lines);

} // namespace ui
