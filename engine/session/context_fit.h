// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// What to do with a conversation that is too long for the context.
enum class ContextPolicy : std::uint8_t {
    Ask,        ///< it is refused, and its token counts are reported
    DropOldest, ///< the oldest exchanges are left out
    CutMiddle,  ///< the exchanges after the first one are left out, the oldest first
};

/// Which messages are sent, and how many are left out. A plain value.
struct ContextFit {
    std::vector<bool> isSent; ///< [messages]
    int droppedMessages = 0;
    int droppedTokens = 0;
    int sentTokens = 0;
    bool isEnough = false; ///< the messages sent fit
};

/// Number of tokens that a prompt may have: `answerRoom` tokens of the context are reserved for the
/// answer, a quarter of a small context, and at least one token.
int promptRoom(int contextLength, int answerRoom);

/// Leaves out whole exchanges (a user's message and its answer) until the rest has `room` tokens at
/// most. `perMessage` are the tokens of each message, the user's and the model's in turn; the last
/// one always stays. `overhead` tokens are added.
ContextFit
fitContext(ContextPolicy policy, std::span<const int> perMessage, int overhead, int room);

} // namespace engine
