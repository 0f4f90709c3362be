// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/drafter.h"

#include <charconv>

namespace engine {

Result<SiblingSchedule> SiblingSchedule::parse(std::string_view text) {
    SiblingSchedule schedule;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (std::size_t i = 0; i < schedule.counts.size(); ++i) {
        int& count = schedule.counts[i];
        const auto [next, failure] = std::from_chars(at, end, count);
        const bool isLast = i + 1 == schedule.counts.size();
        const bool goesOn = isLast ? next == end : next < end && *next == ',';
        if (failure != std::errc() || !goesOn || count < 1 || count > 64)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("The sibling schedule \"{}\" is not four whole numbers from 1 "
                                     "to 64.",
                                     text),
                         "Write the choices for a confidence above .95, .8, .5 and the rest: "
                         "1,3,5,10."};
        at = isLast ? next : next + 1;
    }
    return schedule;
}

Result<Draft> Drafter::draft(Target& target, const DraftTerms& terms) {
    const double startMs = target.nowMs();
    ENGINE_TRY(Draft made, makeDraft(target, terms));
    made.ms = target.nowMs() - startMs - made.promptMs;
    return made;
}

Drafter::ChainLimit Drafter::chainLimit(const Target& target, const DraftTerms& terms) {
    ChainLimit limit{target.remainingTokens() - 1, {DraftEndReason::Room}}; // one is the bonus
    const auto atMost = [&limit](int tokens, DraftEndReason reason) {
        if (tokens < limit.tokens)
            limit = {tokens, {reason, 0.0, static_cast<double>(tokens)}};
    };
    atMost(terms.maxDepth, DraftEndReason::Length);
    atMost(terms.maxNodes, DraftEndReason::Nodes);
    return limit;
}

} // namespace engine
