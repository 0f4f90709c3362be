// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QStringList>

namespace ui {

/// Where a search looks: the words of a message, and behind them the names and texts of its files,
/// of these at most kSearchedOfFiles characters. Thread: any.
QString searchedText(const StoredMessage& message);

/// The same as an expression of SQLite over the columns of `messages`.
QString searchedTextExpression();

inline constexpr int kSearchedOfFiles = 1 << 20;

/// Whether all of `words` are in it, whatever their case.
bool containsAll(const QString& text, const QStringList& words);

/// Plain text around what is found; behind the file's name when it is in none of the words.
QString excerptOf(const StoredMessage& message, const QStringList& words);

} // namespace ui
