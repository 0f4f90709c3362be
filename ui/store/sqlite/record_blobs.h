// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QByteArray>
#include <QJsonArray>

namespace ui {

// How parts of a message are stored in columns. The content read from a file may be anything: parts
// that do not fit together are left out, never guessed. Thread: any.

/// Little-endian 32-bit ids, one after another.
QByteArray packTokenIds(const QList<TokenTrace>& tokens);

/// Version byte, then 29 bytes a token: begin, end, origin, rank, probabilities, step, ms.
QByteArray packTrace(const QList<TokenTrace>& tokens);

/// Ids, without trace.
QList<TokenTrace> unpackTokenIds(const QByteArray& blob);

/// Fills in what packTrace() wrote. False, and `tokens` as they were, if the blob does not belong
/// to them or points outside of `textLength` UTF-16 units.
bool unpackTrace(const QByteArray& blob, qsizetype textLength, QList<TokenTrace>& tokens);

/// For each token the number of its choices, and their ids, probabilities and texts; empty when no
/// token has any.
QByteArray packChoices(const QList<TokenTrace>& tokens);

/// Fills in what packChoices() wrote; a blob that does not belong to the tokens changes nothing.
void unpackChoices(const QByteArray& blob, QList<TokenTrace>& tokens);

QJsonArray attachmentsToJson(const QList<Attachment>& attachments);
QList<Attachment> attachmentsFromJson(const QJsonArray& json);

/// What was not measured has no member.
QJsonObject figuresToJson(const MessageFigures& figures);
MessageFigures figuresFromJson(const QJsonObject& json);

} // namespace ui
