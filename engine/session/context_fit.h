// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// What is done with a conversation that is too long for the context.
enum class ContextPolicy : std::uint8_t {
    Ask,        ///< it is refused, and its counts are told
    DropOldest, ///< the oldest exchanges are left out
    CutMiddle,  ///< those behind the first exchange are left out, the oldest first
};

/// Which messages are sent, and what that leaves out. A plain value.
struct ContextFit {
    std::vector<bool> isSent; ///< [messages]
    int droppedMessages = 0;
    int droppedTokens = 0;
    int sentTokens = 0;
    bool isEnough = false; ///< what is sent fits
};

/// Tokens that a prompt may have: the answer keeps `answerRoom` tokens of the context, a quarter of
/// a small context, and one token at least.
int promptRoom(int contextLength, int answerRoom);

/// Leaves out whole exchanges (a user's message and its answer) until the rest has `room` tokens at
/// most. `perMessage` are the tokens of each message, the user's and the model's in turn; the last
/// one always stays. `overhead` tokens come besides.
ContextFit
fitContext(ContextPolicy policy, std::span<const int> perMessage, int overhead, int room);

} // namespace engine
