// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

#include <span>
#include <vector>

namespace ui {

/// What to do when a conversation no longer fits the context.
enum class ContextPolicy {
    Ask,
    NewChatWithSummary, ///< nothing is dropped from this chat
    DropOldest,
    CutMiddle, ///< the first exchange stays
};

QString policyName(ContextPolicy policy); ///< "ask", "drop_oldest", ...: in files, never shown
ContextPolicy policyNamed(const QString& name); ///< Ask for what is unknown

/// Which messages are sent, and how many are left out. A plain value.
struct ContextFit {
    std::vector<bool> isSent; ///< [messages]
    int droppedMessages = 0;
    int droppedTokens = 0;
    int sentTokens = 0;
    bool isEnough = false; ///< what is sent fits
};

/// Least number of tokens that an answer should have room for.
inline constexpr int kAnswerRoom = 128;

/// Leaves out whole exchanges (a user's message and its answer) until the rest and an answer fit.
/// `perMessage` are the tokens of each message, the user's and the model's in turn, the last one
/// the user's; it always stays. `overhead` tokens come besides.
ContextFit
fitContext(ContextPolicy policy, std::span<const int> perMessage, int overhead, int contextLength);

/// The choice that waits for the user.
struct ContextQuestion {
    int usedTokens = 0;
    int contextLength = 0;
    ContextFit dropOldest;
    ContextFit cutMiddle;
    qint64 leaf = 0; ///< waits to be answered, or to go on
};

} // namespace ui
