// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/rows/row_store.h"

#include <vector>

namespace engine {

/// The tokens that a draft network shall be able to draft: the most frequent ones of the answers of
/// the training split; then the most frequent ones of their prompts; then the lowest ids. Of
/// equally frequent ones the lower id comes first.
struct HeadList {
    std::vector<TokenId> ids; ///< ascending, min(size, vocabulary)
    double coverage = 0.0;    ///< share of the answers' tokens that are among them
};

/// Errors: those of reading rows.
Result<HeadList> makeHeadList(const RowStore& rows, int size, int vocabSize);

} // namespace engine
