// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"
#include "plugins/del/choice/exit_statistics.h"

#include <functional>
#include <span>
#include <vector>

namespace del {

/// Told behind each pass of the head: its rows and how long it took.
using HeadWatch = std::function<void(int rows, double ms)>;

/// Final norm and head of the full model over rows of the stream behind any layers: what an exit
/// there would say. Rows of several layers share a pass, and only summaries are kept, so memory
/// does not grow with the vocabulary. Thread: engine.
/// Source: arXiv 2504.05598 section 3.1.
class HeadReader {
public:
    static constexpr int kRowsAtOnce = 32;

    /// A summary for each row of the pieces, in their order. The cache needs room for kRowsAtOnce
    /// slots behind the committed ones; nothing is written there. Errors: those of a pass;
    /// Cancelled between passes.
    engine::Result<std::vector<engine::HeadSummary>>
    read(engine::Target& target,
         std::span<const engine::HiddenPiece> pieces,
         const HeadWatch& watch);

private:
    std::vector<engine::HiddenPiece> m_hidden; // of a pass
    engine::ForwardResult m_pass;              // its memory used again
};

/// An exit's summary of a row beside the full model's. `comparesLaws`: agreement is the part that
/// both laws share under the sampler's options, over the ten best tokens of each (a draw rarely
/// leaves them); otherwise, and when greedy, whether both find the same token most probable.
ShadowToken compare(const engine::HeadSummary& exit,
                    const engine::HeadSummary& full,
                    const engine::Sampler& sampler,
                    bool comparesLaws);

} // namespace del
