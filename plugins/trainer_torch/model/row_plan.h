// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <span>
#include <vector>

namespace trainer_torch {

/// The rows of one pass over a model: a text, and rows beside it that see a beginning of the text
/// and the rows of their own group. A plain value.
class RowPlan {
public:
    /// The rows of a text, each of which sees itself and those before it.
    explicit RowPlan(std::span<const engine::TokenId> text);

    /// Appends a group of rows that read `token`: they stand behind row `behind` of the text, one
    /// position after the other, and see the text up to that row and their own group up to
    /// themselves. Returns the first one's row.
    int addGroup(int behind, engine::TokenId token, int count);

    int count() const { return static_cast<int>(m_tokens.size()); }

    const std::vector<engine::TokenId>& tokens() const { return m_tokens; }

    const std::vector<int>& positions() const { return m_positions; }

    /// Whether row `row` sees row `other`, in a layer where a row sees so many positions, its own
    /// included; 0 = all.
    bool sees(int row, int other, int window) const;

private:
    std::vector<engine::TokenId> m_tokens; // [rows]
    std::vector<int> m_positions;          // [rows]
    std::vector<int> m_textEnd;            // [rows] the last row of the text that is seen
    std::vector<int> m_ownFirst;           // [rows] the first one of the own group
};

} // namespace trainer_torch
