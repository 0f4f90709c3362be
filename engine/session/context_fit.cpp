// SPDX-License-Identifier: Apache-2.0
#include "engine/session/context_fit.h"

#include <algorithm>
#include <numeric>

namespace engine {

int promptRoom(int contextLength, int answerRoom) {
    return contextLength - std::max(1, std::min(answerRoom, contextLength / 4));
}

ContextFit
fitContext(ContextPolicy policy, std::span<const int> perMessage, int overhead, int room) {
    ContextFit fit;
    fit.isSent.assign(perMessage.size(), true);
    fit.sentTokens = overhead + std::accumulate(perMessage.begin(), perMessage.end(), 0);
    std::size_t next = policy == ContextPolicy::CutMiddle ? 2 : 0;
    while (policy != ContextPolicy::Ask && fit.sentTokens > room && next + 2 < perMessage.size()) {
        for (std::size_t i = next; i < next + 2; ++i) {
            fit.isSent[i] = false;
            fit.droppedTokens += perMessage[i];
            fit.sentTokens -= perMessage[i];
            ++fit.droppedMessages;
        }
        next += 2;
    }
    fit.isEnough = fit.sentTokens <= room;
    return fit;
}

} // namespace engine
