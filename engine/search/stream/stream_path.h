// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace engine {

/// Runs one item of the network on every cell: replaces each cell's residual stream by the one
/// behind the item. Shapes: cells [n, width], n the cells that are filled. Errors: the caller's.
using RunItem = std::function<Result<void>(int item, std::span<double> cells)>;

/// What a path is searched among.
struct StreamPathOptions {
    /// [items] what leaving an item out saves, in any whole unit; 0 = the item always runs.
    std::vector<int> weights;
    int most = 0;  ///< no more than this is ever left out
    int least = 0; ///< answers below this are not wanted, and not computed
    int width = 0; ///< numbers of a cell: a residual stream, or those of several tokens in a row
    int rows = 1;  ///< equal parts of a cell, one for each token
};

/// For every weight that may be left out of a network the items whose absence changes the residual
/// stream least, found by dynamic programming. A cell is the best stream that is known with a
/// weight of j left out of the first i items; the next item is left out of it or not, whichever is
/// nearer to the full model's own stream at that depth. Cell 0 leaves nothing out, so it is that
/// stream. One stream survives in each cell, so the answer need not be the best of all sets: a
/// deviation that a later item would correct may be given up before. Holds two rows of cells.
/// Deterministic. Source: arXiv 2505.24196 (layers) and 2602.20217 (weighted sublayers); differs:
/// choices are kept as bits, and items that always run are part of the path.
class StreamPath {
public:
    /// Searches from the stream that enters the first item. Shapes: start [width]. Options that
    /// contradict each other are a bug (ENGINE_CHECK). Errors: those of `run`.
    static Result<StreamPath>
    find(std::span<const double> start, const StreamPathOptions& options, const RunItem& run);

    /// Whether items of exactly this weight can be left out; weight 0 always is.
    bool isFilled(int weight) const { return m_isFilled[index(weight)] != 0; }

    /// The most that can be left out.
    int most() const { return static_cast<int>(m_isFilled.size()) - 1; }

    /// How far the last stream is from the full model's: 1 - cosine, summed over rows.
    double loss(int weight) const { return m_losses[index(weight)]; }

    /// The items left out, for a weight that isFilled(). Shapes: [items], 1 = left out.
    std::vector<std::uint8_t> skipped(int weight) const;

    /// The stream behind the last item. Shapes: [width].
    std::span<const double> stream(int weight) const {
        return std::span(m_streams).subspan(index(weight) * m_width, m_width);
    }

private:
    explicit StreamPath(const StreamPathOptions& options);

    std::size_t index(int weight) const { return static_cast<std::size_t>(weight); }

    std::span<double> cell(std::vector<double>& streams, int weight) const {
        return std::span(streams).subspan(index(weight) * m_width, m_width);
    }

    Result<void> step(int item, const RunItem& run);
    bool isWanted(int item, int weight) const;

    StreamPathOptions m_options;
    std::size_t m_width = 0;
    std::vector<int> m_after;             // [items] weight that the items behind can still add
    std::vector<double> m_streams;        // [most + 1, width] where filled
    std::vector<double> m_before;         // the row of cells before this one
    std::vector<double> m_ran;            // filled cells of it, run through the item
    std::vector<std::uint8_t> m_isFilled; // [most + 1]
    std::vector<double> m_losses;         // [most + 1]
    std::vector<std::vector<std::uint8_t>> m_skips; // [items, most + 1] 1 = left out
};

/// 1 - cosine of two streams, summed over so many rows of equal width. Exact for streams that are
/// nearly equal, where 1 minus a cosine would lose all its digits.
double streamLoss(std::span<const double> full, std::span<const double> other, int rows);

} // namespace engine
