// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/sides/side_run.h"
#include "ui/store/chat_records.h"

namespace ui {

/// The answer of a side as a message for a chat, with its figures. `modelName` is that of the
/// model that answered.
StoredMessage keptAnswer(const SideRun& run, SideRun::Place side, const QString& modelName);

} // namespace ui
