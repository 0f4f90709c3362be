// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/context_fit.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ui {

namespace {

struct NamedPolicy {
    ContextPolicy policy;
    const char* name;
};

constexpr std::array kPolicies = {
    NamedPolicy{ContextPolicy::Ask, "ask"},
    NamedPolicy{ContextPolicy::NewChatWithSummary, "new_chat_with_summary"},
    NamedPolicy{ContextPolicy::DropOldest, "drop_oldest"},
    NamedPolicy{ContextPolicy::CutMiddle, "cut_middle"}};

} // namespace

QString policyName(ContextPolicy policy) {
    const auto found = std::ranges::find(kPolicies, policy, &NamedPolicy::policy);
    return QLatin1String(found->name);
}

ContextPolicy policyNamed(const QString& name) {
    for (const NamedPolicy& known : kPolicies)
        if (name == QLatin1String(known.name))
            return known.policy;
    return ContextPolicy::Ask;
}

ContextFit
fitContext(ContextPolicy policy, std::span<const int> perMessage, int overhead, int contextLength) {
    ContextFit fit;
    fit.isSent.assign(perMessage.size(), true);
    fit.sentTokens = overhead + std::accumulate(perMessage.begin(), perMessage.end(), 0);
    const int room = contextLength - std::min(kAnswerRoom, contextLength / 4);
    std::size_t next = policy == ContextPolicy::CutMiddle ? 2 : 0;
    const bool mayDrop = policy == ContextPolicy::DropOldest || policy == ContextPolicy::CutMiddle;
    while (mayDrop && fit.sentTokens > room && next + 2 < perMessage.size()) {
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

} // namespace ui
