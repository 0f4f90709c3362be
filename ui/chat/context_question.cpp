// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/context_question.h"

#include <array>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr std::array kPolicies = {std::pair(ContextPolicy::Ask, "ask"),
                                  std::pair(ContextPolicy::DropOldest, "drop_oldest"),
                                  std::pair(ContextPolicy::CutMiddle, "cut_middle")};

} // namespace

QString policyName(ContextPolicy policy) {
    for (const auto& [known, name] : kPolicies)
        if (known == policy)
            return QLatin1String(name);
    return {};
}

ContextPolicy policyNamed(const QString& name) {
    for (const auto& [policy, known] : kPolicies)
        if (name == QLatin1String(known))
            return policy;
    return ContextPolicy::Ask;
}

} // namespace ui
