// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <QStringView>

#include <optional>
#include <vector>

namespace ui {

/// A line that opens a fenced code block.
struct FenceLine {
    QChar mark; ///< ` or ~
    int length = 0;
    int indent = 0; ///< spaces before it, which its lines may have too
    QString info;   ///< the text after the marks
};

/// The fence that this line opens, if it does.
std::optional<FenceLine> openedFence(QStringView line);

/// Whether this line closes the fence.
bool closesFence(QStringView line, const FenceLine& fence);

/// A part of the source that means the same when it is parsed alone.
struct Segment {
    int begin = 0;
    int end = 0;
    bool isFence = false;
};

/// Cuts a growing Markdown text into segments, in one pass over its lines. The cuts depend on the
/// text alone, never on the pieces in which it arrived. A paragraph or table longer than
/// kLongestSegment characters is cut as well, so the open rest is always short. Limit: a link
/// definition is valid only within its segment.
class BlockSplitter {
public:
    static constexpr int kLongestSegment = 8192;
    static constexpr int kLongestList = 4096; ///< cut at the next item

    /// Continues reading. With `isFinished` the last line counts although no line end follows.
    /// Returns the newly closed segments.
    std::vector<Segment> read(const QString& source, bool isFinished);

    /// Where the open rest begins.
    int openBegin() const { return m_begin; }

    /// The fence that the open rest begins with, if it does.
    const std::optional<FenceLine>& openFence() const { return m_fence; }

private:
    enum class Kind { Empty, Paragraph, List, IndentedCode };

    struct Line {
        QStringView text;
        int begin = 0;
        int end = 0;  ///< without the line end
        int next = 0; ///< after the line end
    };

    bool cutTooLong(const QString& source, int end);
    void readLine(const Line& line);
    void readFenceLine(const Line& line);
    bool startsSegment(const Line& line, int indent, int markerWidth) const;
    void classify(int indent, int markerWidth);
    void close(int end, bool isFence);

    std::vector<Segment> m_closed;
    int m_begin = 0;
    int m_next = 0;    ///< start of the first line not read
    int m_scanned = 0; ///< no line end before this
    Kind m_kind = Kind::Empty;
    int m_contentIndent = 0; ///< of the newest item of the list
    bool m_isAfterBlank = false;
    std::optional<FenceLine> m_fence;
};

} // namespace ui
