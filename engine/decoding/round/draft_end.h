// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace engine {

/// Why a draft has as many tokens as it has, told by whoever ended it.
enum class DraftEndReason : std::uint8_t {
    NotTold,   ///< nothing was to be drafted, or it is not known any more
    Unsure,    ///< the newest token's probability `value` was below the threshold `limit`
    Length,    ///< it has the `limit` tokens in a row that a draft may have
    Nodes,     ///< the tree has the `limit` candidates that it may have
    Room,      ///< the answer takes no more tokens
    EndToken,  ///< it ends with a token that ends the answer
    Budget,    ///< behind `limit` tokens of an answer nothing is drafted
    Nothing,   ///< nothing (more) was known to draft
    Unlikely,  ///< a further token's probability `value` was not worth its row: below `limit`
    Price,     ///< going on promised `value` tokens; its time gives `limit` otherwise
    Measuring, ///< what a step of the full model takes was measured instead
};

/// A plain value; what the two numbers are says the reason.
struct DraftEnd {
    DraftEndReason reason = DraftEndReason::NotTold;
    double value = 0.0;
    double limit = 0.0;

    bool operator==(const DraftEnd&) const = default;
};

} // namespace engine
