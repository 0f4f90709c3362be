// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/markdown/code/code_highlighter.h"
#include "ui/markdown/markdown_block.h"
#include "ui/math/math_picture.h"
#include "ui/text/message_context.h"

#include <QFont>
#include <QPointF>
#include <QRectF>
#include <QTextLayout>

#include <memory>
#include <span>
#include <vector>

class QPainter;

namespace ui {

struct PieceStyle {
    QFont font;
    int lineHeight = 0; ///< pixels
    bool isCode = false;
    bool isMuted = false;
    std::span<const CodeSpan> colours; ///< of code; needed while the piece is made
};

/// Where and how a piece is painted.
struct PiecePaint {
    QPointF at;
    QRectF clip;
    int selectionBegin = 0; ///< source offsets
    int selectionEnd = 0;
    int ringToken = -1; ///< drawn with the focus ring
};

/// How a formula is written in a text that holds no pictures: as its source, or in words.
enum class FormulaForm { Source, Spoken };

struct SourceRange {
    int begin = 0;
    int end = 0;

    bool isEmpty() const { return begin >= end; }
};

/// A piece of text, laid out once, that knows the source character and the token of each shown
/// character. While origin is shown it holds "k2" and return signs too, which no copy contains.
/// A formula is a picture, one shown character; while origin is shown, and where it cannot be read,
/// it is its source. Positions are relative to its corner. Thread: UI.
class TextPiece {
public:
    TextPiece(const MessageContext& context, const StyledText& text, const PieceStyle& style);

    /// Breaks the text into lines of this width; needed before anything else is asked.
    void
    layOut(const MessageContext& context, double width, Qt::Alignment alignment = Qt::AlignLeft);

    /// Lays the whole text out on one line, for its natural width.
    void layOutOnOneLine(const MessageContext& context);

    double height() const { return m_tops.empty() ? 0.0 : m_tops.back(); }

    /// The height above which it looks as this piece did, laid out at the same width.
    double unchangedHeight(const TextPiece& before) const;

    /// Width of the text on one line.
    double naturalWidth() const { return m_layout->maximumWidth(); }

    void paint(QPainter& painter, const MessageContext& context, const PiecePaint& paint) const;

    /// The source offsets of its first character and after its last one; equal if it has none.
    SourceRange source() const { return m_range; }

    int sourceAt(QPointF point) const; ///< the nearest place between two characters
    SourceRange wordAt(QPointF point) const;
    int tokenAt(QPointF point) const; ///< -1 = none
    int linkAt(QPointF point) const;  ///< index into Block::links, -1 = none

    /// Around the token on the line where it begins; null when it is not here.
    QRectF tokenRect(int token) const;

    /// The position of a caret after the last character.
    QRectF caretRect(const Theme& theme) const;

    /// The shown text without "k2" and return signs.
    QString textBetween(SourceRange range, FormulaForm form = FormulaForm::Source) const;

    bool endsLine() const { return m_newline >= 0; }

    /// Tokens shown here, ascending; a token appears twice if its characters are apart.
    std::vector<int> tokens() const;

private:
    struct TokenSpan {
        int token = 0;
        int start = 0; ///< in the laid out text
        int length = 0;

        bool operator==(const TokenSpan&) const = default;
    };

    struct Sign {
        int start = 0;
        int length = 0;
        int token = -1; ///< token whose rank it shows; -1 = a return sign

        bool operator==(const Sign&) const = default;
    };

    struct StyleSpan {
        int start = 0;
        int length = 0;
        unsigned style = kPlainText;
        int link = -1;

        bool operator==(const StyleSpan&) const = default;
    };

    struct ShownFormula {
        int start = 0;   ///< in the laid out text
        QString written; ///< with its marks
        MathPicture picture;
        double scale = 1.0; ///< smaller where it is wider than its line
        int sourceEnd = 0;
    };

    class Builder;

    void paintLine(QPainter& painter,
                   const MessageContext& context,
                   const PiecePaint& paint,
                   int lineIndex) const;
    void paintGrounds(QPainter& painter,
                      const MessageContext& context,
                      const PiecePaint& paint,
                      const QTextLine& line) const;
    void paintSelection(QPainter& painter,
                        const MessageContext& context,
                        const PiecePaint& paint,
                        const QTextLine& line) const;
    void paintOrigin(QPainter& painter,
                     const MessageContext& context,
                     const PiecePaint& paint,
                     const QTextLine& line) const;
    void paintFormulas(QPainter& painter,
                       const MessageContext& context,
                       const PiecePaint& paint,
                       const QTextLine& line) const;
    void fitFormulas(double width);
    int firstOther(const TextPiece& before) const;
    const ShownFormula* formulaAt(int place) const;
    QRectF boxOf(const QTextLine& line, int start, int length) const;
    double lineTop(const QTextLine& line) const;
    double lineHeight(const QTextLine& line) const;
    double baseline(const QTextLine& line) const;
    QTextLine lineAt(double y) const;
    int placeOf(int source) const;

    std::unique_ptr<QTextLayout> m_layout;
    std::vector<int> m_source; ///< [laid out characters] source offset, ascending
    std::vector<TokenSpan> m_spans;
    std::vector<Sign> m_signs;
    std::vector<StyleSpan> m_styles;
    std::vector<ShownFormula> m_formulas;
    std::vector<double> m_tops;  ///< [lines + 1]
    std::vector<double> m_rises; ///< [lines] by how much a tall formula lowers the text below top
    SourceRange m_range;
    int m_newline = -1;
    bool m_isCode = false;
    bool m_isMuted = false;
    double m_lineHeight = 0.0;
    double m_boxTop = 0.0; ///< of the text's box, in its line
    double m_boxHeight = 0.0;
    double m_baseline = 0.0;
};

} // namespace ui
