// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/formula_browser.h"

#include "ui/markdown/formula_finder.h"
#include "ui/math/formula.h"

#include <QAbstractTextDocumentLayout>
#include <QMimeData>
#include <QPainter>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextDocument>

#include <algorithm>

namespace ui {

namespace {

constexpr char16_t kMark = 0xE000; ///< stands for a formula while Markdown is read

/// Where a line ends; the last two part the cells of a table, which have a line each.
bool isLineEnd(QChar character) {
    return character == QChar::ParagraphSeparator || character == QChar::LineSeparator ||
           character == QChar(0xFDD0) || character == QChar(0xFDD1);
}

std::optional<MathPicture> pictureOf(const QTextFormat& format, const QTextDocument& document) {
    return formulaPicture(formulaSource(format.property(FormulaObject::kSource).toString()),
                          document.defaultFont());
}

/// What a line begins with: its indentation, and the marks of quotes and list items.
QString lineHead(QStringView line) {
    static const QRegularExpression kHead(
        QStringLiteral("^(?:[ \\t]*(?:>|(?:[-*+]|\\d{1,9}[.)])(?=[ \\t])))*[ \\t]*"));
    return kHead.match(line.toString()).captured();
}

bool hasItemMark(QStringView head) {
    return std::ranges::any_of(
        head, [](QChar character) { return !character.isSpace() && character != u'>'; });
}

/// What a further line of the item or quote begins with whose lines this one is the first of.
QString continued(QString head) {
    for (QChar& character : head)
        if (!character.isSpace() && character != u'>')
            character = u' ';
    return head;
}

/// What a further paragraph begins with that goes on with the list item or quote of a line. A mere
/// indentation counts as far as it is that of an item above.
QString continuation(QStringView text, qsizetype lineBegin, const QString& head) {
    if (!QStringView(head).trimmed().isEmpty())
        return continued(head);
    for (qsizetype begin = lineBegin; begin > 0 && !head.isEmpty();) {
        const qsizetype end = begin - 1;
        begin = end > 0 ? text.lastIndexOf(u'\n', end - 1) + 1 : 0;
        const QStringView line = text.mid(begin, end - begin);
        if (line.trimmed().isEmpty())
            continue;
        const QString above = lineHead(line);
        if (above.isEmpty())
            break;
        if (!QStringView(above).trimmed().isEmpty() && above.size() <= head.size())
            return continued(above);
    }
    return {};
}

/// A mark in a paragraph of its own, within the list item or quote that holds its place.
QString ownParagraph(QStringView text, qsizetype place, const QString& mark) {
    const qsizetype lineBegin = place > 0 ? text.lastIndexOf(u'\n', place - 1) + 1 : 0;
    const QString head = lineHead(text.mid(lineBegin, place - lineBegin));
    const QString start = u'\n' + continuation(text, lineBegin, head);
    const QString gap = start + start;
    const bool isItemsFirst = head.size() == place - lineBegin && hasItemMark(head);
    return (isItemsFirst ? QString() : gap) + mark + gap;
}

} // namespace

/// The baseline lies in the middle: that is where the layout puts an object's middle.
QSizeF FormulaObject::intrinsicSize(QTextDocument* document, int, const QTextFormat& format) {
    const auto picture = pictureOf(format, *document);
    if (!picture)
        return {};
    const double room = document->textWidth() - 2.0 * document->documentMargin();
    const double scale = room > 0.0 ? std::min(1.0, room / picture->width) : 1.0;
    return {picture->width * scale,
            2.0 * std::max(picture->ascent, picture->descent) * scale + 2.0};
}

void FormulaObject::drawObject(QPainter* painter,
                               const QRectF& rect,
                               QTextDocument* document,
                               int,
                               const QTextFormat& format) {
    const auto picture = pictureOf(format, *document);
    if (picture)
        picture->paint(*painter,
                       {rect.left(), rect.center().y()},
                       m_theme.colours().text,
                       std::min(1.0, rect.width() / picture->width));
}

FormulaBrowser::FormulaBrowser(const Theme& theme, QWidget* parent)
    : QTextBrowser(parent)
    , m_theme(theme) {
    setOpenLinks(false);
    document()->setDefaultFont(theme.font(TextRole::Conversation));
    document()->documentLayout()->registerHandler(FormulaObject::kType,
                                                  new FormulaObject(theme, this));
}

void FormulaBrowser::showMarkdown(const QString& markdown) {
    QString source = markdown;
    source.replace(QChar(kMark), QChar(QChar::ReplacementCharacter));
    QString text = source;
    QStringList formulas;
    const std::vector<FormulaSpan> spans = findFormulas(source);
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
        const QString written = source.mid(span->begin, span->end - span->begin);
        if (!formulaPicture(formulaSource(written), m_theme.font(TextRole::Conversation)))
            continue;
        formulas.prepend(written);
        QString mark(QChar{kMark});
        qsizetype end = span->end;
        if (span->isDisplay) {
            mark = ownParagraph(source, span->begin, mark);
            while (end < source.size() && (source[end] == u' ' || source[end] == u'\t'))
                ++end; // would indent what follows
        }
        text.replace(span->begin, end - span->begin, mark);
    }
    setMarkdown(text);
    QTextCursor cursor(document());
    for (const QString& written : formulas) {
        cursor = document()->find(QString(QChar(kMark)), cursor);
        if (cursor.isNull())
            break;
        QTextCharFormat format = cursor.charFormat();
        format.setObjectType(FormulaObject::kType);
        format.setProperty(FormulaObject::kSource, written);
        format.setVerticalAlignment(QTextCharFormat::AlignMiddle);
        cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
        if (formulaSource(written).isDisplay) {
            QTextBlockFormat block;
            block.setAlignment(Qt::AlignHCenter);
            cursor.mergeBlockFormat(block);
        }
    }
    setAccessibleDescription(formulas.isEmpty() ? QString() : spokenText());
}

QString FormulaBrowser::textOf(int from, int to, bool isSpoken) const {
    QString text;
    QTextCursor cursor(document());
    for (int place = from; place < to; ++place) {
        const QChar character = document()->characterAt(place);
        if (character != QChar::ObjectReplacementCharacter) {
            text += isLineEnd(character) ? QChar(u'\n') : character;
            continue;
        }
        cursor.setPosition(place + 1);
        const QString written = cursor.charFormat().property(FormulaObject::kSource).toString();
        text += isSpoken ? spokenFormula(formulaSource(written)) : written;
    }
    return text;
}

QString FormulaBrowser::writtenText() const {
    return textOf(0, document()->characterCount() - 1, false);
}

QString FormulaBrowser::spokenText() const {
    return textOf(0, document()->characterCount() - 1, true);
}

QMimeData* FormulaBrowser::createMimeDataFromSelection() const {
    const QTextCursor cursor = textCursor();
    auto* copied = new QMimeData;
    copied->setText(textOf(cursor.selectionStart(), cursor.selectionEnd(), false));
    return copied;
}

} // namespace ui
