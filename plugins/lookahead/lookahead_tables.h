// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/lookahead/guess_window.h"

namespace lookahead {

/// The window as a pass ran it: a row of cells for each of its rows, the pending token first, and
/// what the model had follow the newest one.
engine::StepTable windowTable(const GuessWindow& window,
                              engine::TokenId pending,
                              std::span<const engine::TokenId> next);

/// The n-grams that a draft was made of, newest first; chosen is the one that most tokens of the
/// step were accepted from.
engine::StepTable poolTable(engine::TokenId pending,
                            std::span<const engine::Ngram> candidates,
                            const engine::DecodeStep& step);

} // namespace lookahead
