// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/session_records.h"

#include <QString>

namespace ui {

/// A token of a message and where it came from. A plain value.
struct TokenMark {
    int begin = 0; ///< QString offsets into the message's source
    int end = 0;   ///< equal to begin for a token that completed no text
    engine::TokenOrigin origin = engine::TokenOrigin::Vanilla;
    int rank = -1;                  ///< among the draft's choices, 0 = first; -1 = not drafted
    double draftProbability = 0.0;  ///< 0 to 1
    double targetProbability = 0.0; ///< 0 to 1
    int step = 0;                   ///< step of its answer, from 0; negative: chosen by the user
    double stepMs = 0.0;            ///< the whole step took
    engine::TokenId id = engine::kNoToken;
};

/// "k2" for the draft's second choice; empty for other tokens than siblings.
QString rankLabel(const TokenMark& token);

/// What the origin means, for people: "Accepted: the draft's first choice".
QString originInWords(const TokenMark& token);

/// The token's text for people: a blank or a line end is written as a sign.
QString visibleTokenText(const QString& text);

} // namespace ui
