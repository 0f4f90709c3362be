// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/answering.h"

#include <optional>

namespace app {

/// The first difference between a decoder's tokens and vanilla's.
struct Difference {
    bool isInReverseHalf = false;
    int turn = 0;
    int position = 0; ///< in the answer, from 0
    /// The gap between vanilla's two best logits there; none if vanilla's answer ended before.
    std::optional<double> margin;

    /// Whether the two logits are so close that they may swap because of the order of summation.
    bool isNearTie() const;
};

/// The first place where a decoder's answers differ from vanilla's, and the margin there; none if
/// they do not differ. It costs a pass over the tokens before that place, in turns of the request
/// that they answer. Errors: those of a pass; Cancelled.
engine::Result<std::optional<Difference>>
findDifference(const Answers& vanilla, const Answers& answers, const AnswerRequest& request);

} // namespace app
