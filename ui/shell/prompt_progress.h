// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/answer_log.h"

#include <QString>

namespace ui {

/// "Reading the prompt: 1,024 of 12,630 tokens, about 8 s left". Empty when there is no answer,
/// when its prompt is read, and when so little is to be read that nobody waits for it.
QString promptProgressText(const Answer* answer);

} // namespace ui
