// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/learn/sides/side_answer.h"

#include <optional>
#include <vector>

namespace engine {

/// The first place where two answers differ. A plain value.
struct SideDifference {
    int position = 0;                      ///< in both answers, from 0
    std::optional<EmittedToken> left = {}; ///< none: this answer has ended before
    std::optional<EmittedToken> right = {};
    std::optional<double> gap = {}; ///< between the full model's two best logits there, as
                                    ///< the left side computed them; none if it had ended
    bool isNearTie = false;         ///< isNearTie() of the gap
};

/// Two answers to one prompt, token by token. A plain value.
struct SideComparison {
    int equal = 0; ///< tokens from the beginning that are the same in both
    std::optional<SideDifference> difference = {};
    bool isOver = false;  ///< neither side goes on
    bool isWhole = false; ///< both sides have come to their own ends
    /// Of the tokens that are equal: the largest difference between the probabilities that the
    /// sides' passes of the full model gave to one of them. 0 means bit for bit.
    double probabilityDrift = 0.0;

    bool areEqual() const { return isWhole && !difference; }
};

/// What only one side has so far differs once the other has come to its own end.
SideComparison compareSides(const SideAnswer& left, const SideAnswer& right);

/// A token that nearly was another one. A plain value.
struct CloseCall {
    int position = 0;       ///< in the answer, from 0
    TokenChoice first;      ///< the full model's best token there
    TokenChoice second;     ///< its second best
    double gap = 0.0;       ///< between their logits
    bool isNearTie = false; ///< isNearTie() of the gap
};

/// Between the logits of the full model's two best tokens; none if they are not known.
std::optional<double> gapOf(const EmittedToken& token);

/// The closest of the answer's tokens, closest first; of equally close ones the earlier.
std::vector<CloseCall> closestCalls(const SideAnswer& answer, std::size_t count);

} // namespace engine
