// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/markdown_document.h"
#include "ui/text/blocks/block_view.h"
#include "ui/text/message_context.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ui {

/// A message laid out in a column: the document, its blocks with their places, and the tokens that
/// they show. Appending lays out only the open rest. Positions are in the column. Thread: UI.
class MessageLayout {
public:
    explicit MessageLayout(const Theme& theme);

    void clear();

    /// Adds text and tokens (ascending; offsets into the whole text; what does not fit is cut).
    /// Returns the height above which nothing changed.
    double append(const QString& text, const std::vector<TokenMark>& tokens);

    /// Closes the document. Returns the height above which nothing changed.
    double finish();

    void setWidth(int width);
    void setShowsOrigin(bool showsOrigin);

    /// Lays out everything again, for other fonts or colours.
    void rebuild();

    int width() const { return m_context.width; }

    double height() const;

    const MessageContext& context() const { return m_context; }

    const MarkdownDocument& document() const { return m_document; }

    const std::vector<BlockView>& blocks() const { return m_blocks; }

    double top(std::size_t block) const { return m_tops[block]; }

    void paint(QPainter& painter, const PiecePaint& paint) const;

    int tokenAt(QPointF point) const;
    int sourceAt(QPointF point) const;
    SourceRange wordAt(QPointF point) const;
    QString linkAt(QPointF point) const;

    /// Around the token where it begins; null when Markdown does not show it.
    QRectF tokenRect(int token) const;

    /// The next visible token from this one in this direction (+1, -1); -1 = none.
    int nextShownToken(int token, int direction) const;

    QRectF caretRect() const;

    /// Tokens that no block shows.
    int unseenTokens() const { return static_cast<int>(m_context.tokens.size()) - m_shownTokens; }

    /// Pieces of text laid out since the start, for tests that count.
    std::int64_t laidOutPieces() const { return m_laidOutPieces; }

private:
    void addTokens(const std::vector<TokenMark>& tokens);
    double apply(DocumentChange change);
    std::optional<BlockView> dropFrom(DocumentChange change);
    void place(std::size_t fromBlock);
    void count(const BlockView& block, std::size_t fromPart, int direction);
    std::size_t blockAt(double y) const;
    std::size_t firstBlockFrom(int source) const;

    MessageContext m_context;
    MarkdownDocument m_document;
    std::vector<BlockView> m_blocks;
    std::vector<double> m_tops;
    std::vector<std::uint16_t> m_showings; ///< [tokens] how often each is shown
    int m_shownTokens = 0;
    std::int64_t m_laidOutPieces = 0;
};

/// The text of a message as a copy should hold it: no marks, no signs; bullets and numbers, code
/// lines and table rows as lines.
QString
copiedText(const MessageLayout& layout, SourceRange range, FormulaForm form = FormulaForm::Source);

/// The lines of a block of code, without the mark of the list item that it may begin.
QString copiedCode(const BlockView& block);

/// The first shown source character of a block and the end of its last one.
SourceRange sourceOf(const BlockView& block);

} // namespace ui
