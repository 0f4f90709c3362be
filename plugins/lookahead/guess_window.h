// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/guesses/ngram_pool.h"
#include "engine/decoding/guesses/prompt_filler.h"
#include "engine/decoding/round/decode_step.h"

#include <span>
#include <vector>

namespace lookahead {

/// W and N of the paper.
struct WindowShape {
    int columns = 5; ///< at least 1; steady state, the pending token's included
    int size = 3;    ///< of the n-grams, at least 2
};

/// An n-gram that a pass of the window has completed.
struct WindowNgram {
    engine::TokenId key = engine::kNoToken;
    engine::Ngram behind;
};

/// Guesses for the places ahead, each row those of an earlier pass: row 0 the oldest, behind the
/// pending token; row r, column j is what the model had follow row r - 1, column j. As a tree, row
/// 0 is a chain on the pending token and each further row hangs on the one above, so a cell sees
/// row 0 up to its own column and the cells above it, nothing else. While the window warms up it is
/// one row taller and one column narrower after each pass.
/// Thread: one. Source: arXiv 2402.02057, 3.1.
class GuessWindow {
public:
    /// Row 0 is filled with `columns + size - 3` tokens, so that `columns` are left when it is
    /// warm.
    void begin(const WindowShape& shape, engine::PromptFiller& filler);

    /// Of the next pass, the pending token's included; 0 = there is no window.
    int columns() const { return m_rows.empty() ? 0 : static_cast<int>(m_rows.front().size()) + 1; }

    /// All size - 1 rows are filled: the next pass completes n-grams.
    bool isWarm() const { return static_cast<int>(m_rows.size()) == m_shape.size - 1; }

    /// Row 0 holds columns() - 1 tokens, as the pending one stands before it; others columns().
    std::span<const engine::Ngram> rows() const { return m_rows; }

    /// The deepest cell below the pending token; 0 when there is none.
    int depth() const {
        return columns() == 0 ? 0 : columns() + static_cast<int>(m_rows.size()) - 2;
    }

    /// Leaves so many columns for good; 0 or less: none.
    void cutTo(int columns);

    /// The window beside a draft of so many nodes, row by row.
    std::vector<engine::SideRow> sides(int draftNodes) const;

    /// Where in the verify pass's summaries a cell of the newest row stands.
    int newestRow(int column, int draftNodes) const;

    /// What a pass completes in a warm window whose newest row is followed by `next`.
    std::vector<WindowNgram> ngrams(engine::TokenId pending,
                                    std::span<const engine::TokenId> next) const;

    /// One column further: `next` [columns()] becomes the newest row.
    void advance(engine::Ngram next);

private:
    int sideIndex(int row, int column) const;

    WindowShape m_shape;
    std::vector<engine::Ngram> m_rows; // up to size - 1
};

} // namespace lookahead
