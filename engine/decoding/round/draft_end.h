// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace engine {

/// Why a draft has no more tokens; set by whoever ended it.
enum class DraftEndReason : std::uint8_t {
    NotReported, ///< no draft was wanted, or the reason is no longer known
    Unsure,      ///< the last token's probability `value` was below the threshold `limit`
    Length,      ///< the draft has reached `limit` tokens in a row, the most allowed
    Nodes,       ///< the tree has reached `limit` nodes, the most allowed
    Room,        ///< the answer has no room for more tokens
    EndToken,    ///< the last drafted token ends the answer
    Budget,      ///< nothing is drafted once an answer has `limit` tokens
    Nothing,     ///< there was nothing, or nothing more, to draft
    Unlikely,    ///< the next token's probability `value` was below `limit`, so not worth its row
    Price, ///< going on promised `value` tokens, but its time gives `limit` when spent otherwise
    Measuring, ///< a step of the full model was timed instead
};

/// Why a draft ended. The reason says what the two numbers mean. A plain value.
struct DraftEnd {
    DraftEndReason reason = DraftEndReason::NotReported;
    double value = 0.0;
    double limit = 0.0;

    bool operator==(const DraftEnd&) const = default;
};

} // namespace engine
