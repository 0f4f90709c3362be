// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/context_fit.h"
#include "engine/session/engine_command.h"

#include <QString>

#include <optional>

namespace ui {

QString policyName(engine::ContextPolicy policy); ///< "ask", "drop_oldest", ...: in files only
engine::ContextPolicy policyNamed(const QString& name); ///< Ask for what is unknown

/// Least number of tokens that an answer should have room for.
inline constexpr int kAnswerRoom = 128;

/// The choice that waits for the user.
struct ContextQuestion {
    int usedTokens = 0;
    int contextLength = 0;
    engine::ContextFit dropOldest;
    engine::ContextFit cutMiddle;
    qint64 leaf = 0;                                      ///< waits to be answered, or to go on
    std::optional<engine::SamplingOptions> sampling = {}; ///< of that answer alone
};

} // namespace ui
