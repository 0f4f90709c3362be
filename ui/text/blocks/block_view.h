// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/code/code_highlighter.h"
#include "ui/markdown/markdown_block.h"
#include "ui/text/blocks/text_piece.h"

#include <QRectF>
#include <QString>

#include <cstddef>
#include <vector>

namespace ui {

/// A piece and its place in the block.
struct PlacedPiece {
    TextPiece piece;
    QPointF at;
};

/// A laid-out block of a message: its pieces, frame, bars and lines. Positions are relative to the
/// block's corner. Thread: UI.
class BlockView {
public:
    /// Lays the block out.
    BlockView(const MessageContext& context, const Block& block);

    /// Lays out the parts of a growing code block from this one on.
    void extend(const MessageContext& context, const Block& block, std::size_t fromPart);

    /// Makes new lines for another width.
    void layOut(const MessageContext& context);

    BlockKind kind() const { return m_kind; }

    double height() const { return m_height; }

    /// The height above which it looks as this block did; 0 unless both are text in lines.
    double unchangedHeight(const BlockView& before) const;

    /// The space above, unless it is the first block.
    double spaceBefore() const { return m_spaceBefore; }

    /// Sets the distance from the block above; the bars of shared quotes bridge it.
    void setGap(double pixels) { m_gap = pixels; }

    void paint(QPainter& painter, const MessageContext& context, const PiecePaint& paint) const;

    const std::vector<PlacedPiece>& parts() const { return m_parts; }

    const std::vector<PlacedPiece>& markers() const { return m_markers; }

    /// Number of lists that contain it.
    int listDepth() const { return m_listDepth; }

    bool isTight() const { return m_isTight; }

    int columnCount() const { return static_cast<int>(m_columns.size()); }

    /// The bar above the lines of code; null for other blocks.
    QRectF titleBar() const { return m_titleBar; }

    /// Of code: "Python".
    QString title() const { return m_title; }

    /// The piece at this point, or the nearest one; null when there is none.
    const PlacedPiece* nearestPiece(QPointF point) const;

    /// Target of the link at this point.
    QString linkAt(QPointF point) const;

    /// Top of the first part from this one on.
    double topOfPart(std::size_t part) const;

private:
    void makePieces(const MessageContext& context, const Block& block);
    void addCodeLines(const MessageContext& context, const Block& block, std::size_t fromPart);
    double placeCode(const MessageContext& context, std::size_t fromPart);
    double placeText(const MessageContext& context);
    double placeTable(const MessageContext& context);
    double indent(const MessageContext& context) const;
    void paintFrame(QPainter& painter, const MessageContext& context, QPointF at) const;
    void paintBars(QPainter& painter, const MessageContext& context, QPointF at) const;
    void paintTable(QPainter& painter, const MessageContext& context, QPointF at) const;

    BlockKind m_kind;
    int m_headingLevel = 0;
    bool m_isTight = false;
    int m_listDepth = 0;
    std::vector<Container> m_containers;
    std::vector<CellAlignment> m_columns;
    QStringList m_links;
    std::vector<PlacedPiece> m_parts;
    std::vector<PlacedPiece> m_markers;
    std::vector<int> m_markerLevels;
    std::vector<int> m_codeStates; ///< [parts] of the highlighter, after each line
    QString m_title;
    QRectF m_titleBar;
    QRectF m_frame;                  ///< of code or a table
    std::vector<double> m_gridLines; ///< x of a table's lines between columns
    std::vector<double> m_rowLines;  ///< y of those between rows
    double m_height = 0.0;
    double m_spaceBefore = 0.0;
    double m_gap = 0.0;
    std::size_t m_sharedContainers = 0;
};

/// Pixels between two lines of the conversation, and of code.
int textLineHeight(const MessageContext& context);
int codeLineHeight(const MessageContext& context);

} // namespace ui
