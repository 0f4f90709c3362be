// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/import/foreign_chat.h"

#include <QJsonObject>

namespace ui {

/// Whether chatToJson() wrote it, of whatever version.
bool isOwnFormat(const QJsonObject& json);

/// Reads what chatToJson() writes, except the tokens: a model would read their ids instead of the
/// text, and a file may contain any ids. An answer that was being written counts as recovered.
/// Thread: any.
ForeignChat ownChat(const QJsonObject& json);

} // namespace ui
