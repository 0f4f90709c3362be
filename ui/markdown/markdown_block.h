// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ui {

/// Bits of TextRun::style.
enum InlineStyle : unsigned {
    kPlainText = 0,
    kStrong = 1,
    kEmphasis = 2,
    kInlineCode = 4,
    kStrikethrough = 8,
    kLink = 16,
    kFormula = 32, ///< LaTeX with its marks; shown as a picture where that is possible
};

/// Shown characters that come from one part of the source. A plain value.
struct TextRun {
    int start = 0; ///< in StyledText::text
    int length = 0;
    int sourceBegin = 0; ///< QString offset into the message
    int sourceEnd = 0;
    bool isVerbatim = true; ///< character i is source character sourceBegin + i
    unsigned style = kPlainText;
    int link = -1; ///< index into Block::links

    bool operator==(const TextRun&) const = default;
};

/// Shown text that is laid out on its own. Its runs are contiguous and ascend in the source. A
/// plain value.
struct StyledText {
    QString text;
    std::vector<TextRun> runs;
    int newline = -1; ///< source offset of the line end after a line of code; -1 = none

    bool operator==(const StyledText&) const = default;
};

/// A Formula is one that stands on a line of its own: one part, one run.
enum class BlockKind : std::uint8_t { Paragraph, Heading, Code, Table, Rule, Formula };

/// The containers of a block, outermost first.
enum class Container : std::uint8_t { Quote, Item };

enum class CellAlignment : std::uint8_t { Left, Centre, Right };

/// The bullet, number or box in front of a list item.
struct ItemMarker {
    int level = 0; ///< index of its item in Block::containers
    StyledText text;

    bool operator==(const ItemMarker&) const = default;
};

/// A leaf of the document, with its containers. A plain value.
struct Block {
    BlockKind kind = BlockKind::Paragraph;
    int headingLevel = 0; ///< 1 to 6
    bool isTight = false; ///< close to the previous block: an item of a tight list
    std::vector<Container> containers;
    std::size_t sharedContainers =
        0; ///< number of the first ones that also contain the block before
    std::vector<ItemMarker> markers;
    std::vector<StyledText> parts; ///< one; lines of code; cells of a table, row by row
    QString language;              ///< of code, as written after the fence
    std::vector<CellAlignment> columns;
    QStringList links; ///< link targets, which are shown but never opened

    bool operator==(const Block&) const = default;
};

} // namespace ui
