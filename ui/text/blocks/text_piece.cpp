// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/blocks/text_piece.h"

#include "ui/math/formula.h"
#include "ui/origin/origin_paint.h"

#include <QFontMetricsF>
#include <QTextCharFormat>
#include <QTextOption>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kWidest = 1e6;
constexpr int kTabColumns = 4;

/// A formula that would have to be made smaller than this is shown as its source.
constexpr double kSmallestScale = 0.4;

/// A letter as wide as a formula, which is painted in its place. The layout knows no other room
/// within a line.
QTextCharFormat roomFormat(const QFont& font, double width) {
    QFont room = font;
    room.setPixelSize(1);
    const double own = QFontMetricsF(room).horizontalAdvance(u'x');
    room.setLetterSpacing(QFont::AbsoluteSpacing, width - own);
    QTextCharFormat format;
    format.setFont(room);
    format.setForeground(Qt::transparent);
    return format;
}

bool isInWord(QChar character) {
    return character.isLetterOrNumber() || character == u'_' || character == u'\'' ||
           character.isSurrogate();
}

QColor colourOf(CodeClass codeClass, const Colours& colours) {
    switch (codeClass) {
    case CodeClass::Keyword:
        return colours.codeKeyword;
    case CodeClass::Literal:
        return colours.codeLiteral;
    case CodeClass::Comment:
        return colours.codeComment;
    }
    return colours.text;
}

} // namespace

/// Makes the laid-out text: shown characters, and signs after siblings and lines.
class TextPiece::Builder {
public:
    Builder(TextPiece& piece, const MessageContext& context, const PieceStyle& style)
        : m_piece(piece)
        , m_context(context)
        , m_style(style) {}

    void build(const StyledText& text) {
        if (!text.runs.empty() || text.newline >= 0)
            findFirstToken(text.runs.empty() ? text.newline : text.runs.front().sourceBegin);
        for (const TextRun& run : text.runs)
            addRun(text.text, run);
        if (text.runs.empty() && !text.text.isEmpty())
            m_text = text.text; // a marker that the source does not hold
        const int shownEnd = static_cast<int>(m_text.size());
        if (text.newline >= 0)
            addNewline(text.newline);
        endSibling();
        m_piece.m_source.resize(static_cast<std::size_t>(m_text.size()), m_piece.m_range.end);
        colourCode(shownEnd);
        auto layout = std::make_unique<QTextLayout>(m_text, m_style.font);
        layout->setFormats(m_formats);
        layout->setCacheEnabled(true);
        m_piece.m_layout = std::move(layout);
    }

private:
    int size() const { return static_cast<int>(m_text.size()); }

    void findFirstToken(int source) {
        const auto& tokens = m_context.tokens;
        const auto first =
            std::partition_point(tokens.begin(), tokens.end(), [&](const TokenMark& token) {
                return token.end <= source;
            });
        m_token = static_cast<std::size_t>(first - tokens.begin());
        m_piece.m_range = {source, source};
    }

    /// The token of a source character, -1 = none. Asked in ascending order.
    int tokenOf(int source) {
        const auto& tokens = m_context.tokens;
        while (m_token < tokens.size() && tokens[m_token].end <= source)
            ++m_token;
        const bool isIn = m_token < tokens.size() && tokens[m_token].begin <= source;
        return isIn ? static_cast<int>(m_token) : -1;
    }

    void addRun(const QString& text, const TextRun& run) {
        if ((run.style & kFormula) != 0 && !m_context.showsOrigin && addFormula(text, run))
            return;
        const int start = size();
        for (int i = 0; i < run.length; ++i)
            addCharacter(text[run.start + i],
                         run.isVerbatim ? run.sourceBegin + i : run.sourceBegin);
        m_piece.m_range.end = std::max(m_piece.m_range.end, run.sourceEnd);
        addStyle(start, run);
    }

    /// False where it is shown as its source.
    bool addFormula(const QString& text, const TextRun& run) {
        ShownFormula formula;
        formula.written = text.mid(run.start, run.length);
        auto picture = formulaPicture(formulaSource(formula.written), m_style.font);
        if (!picture || picture->width <= 0.0 || picture->width * kSmallestScale > m_context.width)
            return false;
        formula.start = size();
        formula.picture = std::move(*picture);
        formula.sourceEnd = run.sourceEnd;
        addCharacter(u'x', run.sourceBegin);
        m_formats.push_back({formula.start, 1, roomFormat(m_style.font, formula.picture.width)});
        m_piece.m_formulas.push_back(std::move(formula));
        m_piece.m_range.end = std::max(m_piece.m_range.end, run.sourceEnd);
        return true;
    }

    void addCharacter(QChar character, int source) {
        const int token = tokenOf(source);
        if (token != m_spanToken)
            endSibling();
        if (token >= 0)
            extendSpan(token, 1);
        m_text += character;
        m_piece.m_source.push_back(source);
    }

    void extendSpan(int token, int length) {
        auto& spans = m_piece.m_spans;
        if (token == m_spanToken && !spans.empty() && spans.back().token == token &&
            spans.back().start + spans.back().length == size())
            spans.back().length += length;
        else
            spans.push_back({token, size(), length});
        m_spanToken = token;
    }

    /// Puts "k2" after the sibling that ends here. In code, whose columns it would shift, only the
    /// dashed line marks a sibling.
    void endSibling() {
        const int token = std::exchange(m_spanToken, -1);
        if (token < 0 || !m_context.showsOrigin || m_style.isCode)
            return;
        const QString rank = rankLabel(m_context.tokens[static_cast<std::size_t>(token)]);
        if (rank.isEmpty())
            return;
        QTextCharFormat format;
        format.setFont(rankFont(m_context.theme));
        format.setForeground(Qt::transparent); // painted lower than the layout would
        addSign(rank + QChar(0x2009), format, token);
    }

    void addNewline(int source) {
        m_piece.m_newline = source;
        m_piece.m_range.end = source + 1;
        const int token = tokenOf(source);
        if (token != m_spanToken)
            endSibling();
        if (token >= 0)
            extendSpan(token, m_context.showsOrigin ? 1 : 0);
        if (!m_context.showsOrigin)
            return;
        QTextCharFormat format;
        QFont font = m_style.font;
        font.setPixelSize(m_context.theme.scaled(10));
        format.setFont(font);
        format.setForeground(m_context.theme.colours().muted);
        addSign(QString(QChar(0x21B5)), format, -1);
        m_piece.m_source.push_back(source);
    }

    void addSign(const QString& sign, const QTextCharFormat& format, int token) {
        const int start = size();
        const auto length = static_cast<int>(sign.size());
        m_formats.push_back({start, length, format});
        m_piece.m_signs.push_back({start, length, token});
        m_text += sign;
        if (token >= 0)
            m_piece.m_source.resize(static_cast<std::size_t>(size()),
                                    m_context.tokens[static_cast<std::size_t>(token)].end);
    }

    void addStyle(int start, const TextRun& run) {
        if (run.style == kPlainText)
            return;
        m_piece.m_styles.push_back({start, size() - start, run.style, run.link});
        constexpr unsigned kWritten = kInlineCode | kFormula; // as it stands in the source
        QFont font =
            (run.style & kWritten) != 0 ? m_context.theme.font(TextRole::Code) : m_style.font;
        if ((run.style & kStrong) != 0)
            font.setWeight(QFont::DemiBold);
        font.setItalic((run.style & kEmphasis) != 0);
        font.setStrikeOut((run.style & kStrikethrough) != 0);
        QTextCharFormat format;
        format.setFont(font);
        if ((run.style & kLink) != 0) {
            format.setFontUnderline(true);
            format.setUnderlineColor(m_context.theme.colours().muted);
        }
        // Signs inside the run keep their own font.
        int from = start;
        for (const Sign& sign : m_piece.m_signs) {
            if (sign.start < from)
                continue;
            m_formats.push_back({from, sign.start - from, format});
            from = sign.start + sign.length;
        }
        m_formats.push_back({from, size() - from, format});
    }

    /// The highlighter's places count shown characters only.
    void colourCode(int shownEnd) {
        for (const CodeSpan& span : m_style.colours) {
            QTextCharFormat format;
            format.setForeground(colourOf(span.codeClass, m_context.theme.colours()));
            int from = laidOut(span.start);
            const int end = std::min(laidOut(span.start + span.length - 1) + 1, shownEnd);
            for (const Sign& sign : m_piece.m_signs) {
                if (sign.start < from || sign.start >= end)
                    continue;
                m_formats.push_back({from, sign.start - from, format});
                from = sign.start + sign.length;
            }
            if (end > from)
                m_formats.push_back({from, end - from, format});
        }
    }

    int laidOut(int shown) const {
        for (const Sign& sign : m_piece.m_signs)
            if (sign.start <= shown)
                shown += sign.length;
        return shown;
    }

    TextPiece& m_piece;
    const MessageContext& m_context;
    const PieceStyle& m_style;
    QString m_text;
    QList<QTextLayout::FormatRange> m_formats;
    std::size_t m_token = 0;
    int m_spanToken = -1;
};

TextPiece::TextPiece(const MessageContext& context, const StyledText& text, const PieceStyle& style)
    : m_isCode(style.isCode)
    , m_isMuted(style.isMuted)
    , m_lineHeight(style.lineHeight) {
    const QFontMetricsF metrics(style.font);
    m_boxHeight = std::ceil(metrics.ascent() + metrics.descent()) + originDrop(context.theme);
    m_boxTop = std::max(0.0, std::floor((m_lineHeight - m_boxHeight) / 2.0));
    m_baseline = m_boxTop + std::round(metrics.ascent());
    Builder(*this, context, style).build(text);
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    if (style.isCode) {
        option.setTabStopDistance(kTabColumns * metrics.horizontalAdvance(u' '));
        option.setTextDirection(Qt::LeftToRight);
    }
    m_layout->setTextOption(option);
}

void TextPiece::layOutOnOneLine(const MessageContext& context) { layOut(context, kWidest); }

void TextPiece::layOut(const MessageContext& context, double width, Qt::Alignment alignment) {
    QTextOption option = m_layout->textOption();
    option.setAlignment(alignment);
    m_layout->setTextOption(option);
    const double hang = m_isCode ? context.theme.scaled(20) : 0.0;
    fitFormulas(width);
    m_tops.assign(1, 0.0);
    m_rises.clear();
    m_layout->beginLayout();
    for (int index = 0;; ++index) {
        QTextLine line = m_layout->createLine();
        if (!line.isValid())
            break;
        const double indent = index > 0 ? std::min(hang, width / 2.0) : 0.0;
        line.setLineWidth(std::max(1.0, width - indent));
        double above = 0.0;
        double below = 0.0;
        for (const ShownFormula& formula : m_formulas) {
            if (formula.start < line.textStart() ||
                formula.start >= line.textStart() + line.textLength())
                continue;
            const double air = context.theme.scaled(2);
            above = std::max(above, formula.picture.ascent * formula.scale + air - m_baseline);
            below = std::max(
                below, formula.picture.descent * formula.scale + air - (m_lineHeight - m_baseline));
        }
        m_rises.push_back(std::ceil(above));
        line.setPosition({indent, m_tops.back() + m_rises.back() + m_baseline - line.ascent()});
        m_tops.push_back(m_tops.back() + m_rises.back() + m_lineHeight + std::ceil(below));
    }
    m_layout->endLayout();
}

/// A formula that is wider than the line becomes smaller.
void TextPiece::fitFormulas(double width) {
    bool isOther = false;
    QList<QTextLayout::FormatRange> formats = m_layout->formats();
    for (ShownFormula& formula : m_formulas) {
        const double scale = std::min(1.0, std::max(1.0, width - 1.0) / formula.picture.width);
        if (scale == std::exchange(formula.scale, scale))
            continue;
        isOther = true;
        for (QTextLayout::FormatRange& range : formats)
            if (range.start == formula.start)
                range.format =
                    roomFormat(m_layout->font(), std::floor(formula.picture.width * scale));
    }
    if (isOther)
        m_layout->setFormats(formats);
}

const TextPiece::ShownFormula* TextPiece::formulaAt(int place) const {
    const auto found = std::ranges::find(m_formulas, place, &ShownFormula::start);
    return found == m_formulas.end() ? nullptr : &*found;
}

double TextPiece::lineTop(const QTextLine& line) const {
    return m_tops[static_cast<std::size_t>(line.lineNumber())];
}

double TextPiece::lineHeight(const QTextLine& line) const {
    return m_tops[static_cast<std::size_t>(line.lineNumber()) + 1] - lineTop(line);
}

double TextPiece::baseline(const QTextLine& line) const {
    return lineTop(line) + m_rises[static_cast<std::size_t>(line.lineNumber())] + m_baseline;
}

QTextLine TextPiece::lineAt(double y) const {
    const auto next = std::ranges::upper_bound(m_tops, y);
    const auto index = static_cast<int>(next - m_tops.begin()) - 1;
    return m_layout->lineAt(std::clamp(index, 0, m_layout->lineCount() - 1));
}

QRectF TextPiece::boxOf(const QTextLine& line, int start, int length) const {
    const int lineEnd = line.textStart() + line.textLength();
    const int from = std::max(start, line.textStart());
    const int to = std::min(start + length, lineEnd);
    if (from >= to)
        return {};
    const double first = line.cursorToX(from);
    const double last = line.cursorToX(to);
    const double top = baseline(line) - m_baseline + m_boxTop;
    return {std::min(first, last), top, std::abs(last - first), m_boxHeight};
}

/// The first laid out character from this source offset on.
int TextPiece::placeOf(int source) const {
    return static_cast<int>(std::lower_bound(m_source.begin(), m_source.end(), source) -
                            m_source.begin());
}

int TextPiece::sourceAt(QPointF point) const {
    const auto place = static_cast<std::size_t>(lineAt(point.y()).xToCursor(point.x()));
    return place < m_source.size() ? m_source[place]
                                   : std::max(m_range.begin, m_range.end - (endsLine() ? 1 : 0));
}

SourceRange TextPiece::wordAt(QPointF point) const {
    const QString text = m_layout->text();
    if (text.isEmpty() || m_range.isEmpty())
        return m_range;
    const auto size = static_cast<int>(m_source.size());
    const int place =
        std::min(lineAt(point.y()).xToCursor(point.x(), QTextLine::CursorOnCharacter), size - 1);
    if (const ShownFormula* formula = formulaAt(place))
        return {m_source[static_cast<std::size_t>(place)], formula->sourceEnd};
    const auto isSign = [&](int at) {
        return std::any_of(m_signs.begin(), m_signs.end(), [&](const Sign& sign) {
            return at >= sign.start && at < sign.start + sign.length;
        });
    };
    const auto isPart = [&](int at) {
        return isSign(at) || (isInWord(text[at]) && formulaAt(at) == nullptr);
    };
    int begin = place;
    int end = place + 1;
    if (isPart(place)) {
        while (begin > 0 && isPart(begin - 1))
            --begin;
        while (end < size && isPart(end))
            ++end;
    }
    const int behind = end < size ? m_source[static_cast<std::size_t>(end)] : m_range.end;
    return {m_source[static_cast<std::size_t>(begin)], behind};
}

int TextPiece::tokenAt(QPointF point) const {
    const QTextLine line = lineAt(point.y());
    for (const TokenSpan& span : m_spans)
        if (boxOf(line, span.start, span.length).contains(point))
            return span.token;
    return -1;
}

int TextPiece::linkAt(QPointF point) const {
    const QTextLine line = lineAt(point.y());
    for (const StyleSpan& span : m_styles)
        if (span.link >= 0 && boxOf(line, span.start, span.length).contains(point))
            return span.link;
    return -1;
}

QRectF TextPiece::tokenRect(int token) const {
    for (const TokenSpan& span : m_spans) {
        if (span.token != token)
            continue;
        for (int index = 0; index < m_layout->lineCount(); ++index) {
            const QRectF box = boxOf(m_layout->lineAt(index), span.start, span.length);
            if (!box.isNull())
                return box;
        }
    }
    return {};
}

QRectF TextPiece::caretRect(const Theme& theme) const {
    const QTextLine line = m_layout->lineAt(m_layout->lineCount() - 1);
    const double x = line.cursorToX(static_cast<int>(m_layout->text().size()));
    const double top = baseline(line) - m_baseline + m_boxTop;
    return {std::round(x), top, theme.scaled(2) * 1.0, m_boxHeight};
}

QString TextPiece::textBetween(SourceRange range, FormulaForm form) const {
    const int from = placeOf(range.begin);
    const int to = placeOf(range.end);
    QString text;
    int place = from;
    const auto takeUntil = [&](int end) {
        if (end > place)
            text += QStringView(m_layout->text()).mid(place, end - place);
    };
    auto formula = std::ranges::lower_bound(m_formulas, from, {}, &ShownFormula::start);
    const auto takeFormulas = [&](int end) {
        for (; formula != m_formulas.end() && formula->start < end; ++formula) {
            takeUntil(formula->start);
            text += form == FormulaForm::Source ? formula->written
                                                : spokenFormula(formulaSource(formula->written));
            place = formula->start + 1;
        }
        takeUntil(end);
    };
    for (const Sign& sign : m_signs) {
        if (sign.start < from || sign.start >= to)
            continue;
        takeFormulas(sign.start);
        place = sign.start + sign.length;
    }
    takeFormulas(to);
    return text.replace(QChar::LineSeparator, u'\n');
}

std::vector<int> TextPiece::tokens() const {
    std::vector<int> tokens;
    for (const TokenSpan& span : m_spans)
        tokens.push_back(span.token);
    return tokens;
}

} // namespace ui
