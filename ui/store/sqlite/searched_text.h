// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QStringList>

namespace ui {

/// The text that a search covers: a message's text, then the names and texts of its files, of these
/// at most kSearchedOfFiles characters. Thread: any.
QString searchedText(const StoredMessage& message);

/// The same as an expression of SQLite over the columns of `messages`.
QString searchedTextExpression();

inline constexpr int kSearchedOfFiles = 1 << 20;

/// Whether all of `words` are in it, whatever their case.
bool containsAll(const QString& text, const QStringList& words);

/// Plain text around the match; after the file's name if the match is in a file.
QString excerptOf(const StoredMessage& message, const QStringList& words);

} // namespace ui
