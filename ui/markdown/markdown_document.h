// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/block_splitter.h"
#include "ui/markdown/code/fence_reader.h"
#include "ui/markdown/markdown_block.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ui {

/// The first part that the last append changed; everything before it is unchanged.
struct DocumentChange {
    std::size_t block = 0;
    std::size_t part = 0; ///< of this block; 0 = the block is new
};

/// A Markdown text that grows at its end. A closed block is parsed once. Only the open rest is
/// parsed again, except for the lines of an open code block. The blocks depend on the text alone,
/// not on the pieces in which it arrived. Thread: any, one at a time.
class MarkdownDocument {
public:
    /// Appends a piece of text. Returns what changed.
    DocumentChange append(const QString& text);

    /// No more text will come: closes the open block. Returns what changed.
    DocumentChange finish();

    void clear();

    const QString& source() const { return m_source; }

    const std::vector<Block>& blocks() const { return m_blocks; }

    /// Characters given to the parser so far; the open rest counts each time.
    std::int64_t parsedCharacters() const { return m_parsedCharacters; }

    /// Closed segments that were parsed.
    std::int64_t closedParses() const { return m_closedParses; }

private:
    DocumentChange update(bool isFinished);
    std::vector<Block> takeOpenBlocks();
    void openFence(int begin, const FenceLine& fence);
    void addParsed(int begin, int end);

    QString m_source;
    BlockSplitter m_splitter;
    std::optional<FenceReader> m_fence; ///< of the block after the closed ones
    std::vector<Block> m_blocks;
    std::size_t m_closedBlocks = 0; ///< that no further text can change
    std::int64_t m_parsedCharacters = 0;
    std::int64_t m_closedParses = 0;
};

} // namespace ui
