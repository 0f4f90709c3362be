// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/logs/answer_log.h"

#include <QString>

namespace ui {

/// "Reading the prompt: 1,024 of 12,630 tokens, about 8 s left". Empty when there is no answer,
/// when its prompt has been read, and when there is too little to read for anyone to wait.
QString promptProgressText(const Answer* answer);

} // namespace ui
