// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/block_splitter.h"
#include "ui/markdown/markdown_block.h"

#include <QString>

#include <cstddef>

namespace ui {

/// Reads a fenced code block line by line while it grows: each finished line once.
class FenceReader {
public:
    /// Longer lines are shown in pieces of this length, so that none is laid out again and again.
    static constexpr int kLongestPiece = 2048;

    /// A fence that opens with the line at `begin`.
    FenceReader(const QString& source, int begin, const FenceLine& fence);

    int begin() const { return m_begin; }

    /// Adds the text before `end` to the block. `isClosed`: the source ends with this fence's last
    /// line, or a line end is not awaited any more. Returns the first part that changed.
    std::size_t read(const QString& source, int end, bool isClosed, Block& block);

private:
    bool isHidden(QStringView line, bool isFinished) const;
    void addLine(const QString& source, int end, bool isWhole, Block& block);
    static int addPiece(const QString& source, int begin, int end, Block& block);

    int m_begin = 0;
    int m_next = 0; ///< start of the first line not read
    int m_scanned = 0;
    std::size_t m_finishedParts = 0;
    bool m_isInsideLine = false; ///< pieces of the line at m_next are finished
    FenceLine m_fence;
};

} // namespace ui
