// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/formula_browser.h"

#include "ui/markdown/formula_finder.h"
#include "ui/math/formula.h"

#include <QAbstractTextDocumentLayout>
#include <QMimeData>
#include <QPainter>
#include <QTextBlock>
#include <QTextDocument>

#include <algorithm>

namespace ui {

namespace {

constexpr char16_t kMark = 0xE000; ///< stands for a formula while Markdown is read

std::optional<MathPicture> pictureOf(const QTextFormat& format, const QTextDocument& document) {
    return formulaPicture(formulaSource(format.property(FormulaObject::kSource).toString()),
                          document.defaultFont());
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
    QString text = markdown;
    QStringList formulas;
    const std::vector<FormulaSpan> spans = findFormulas(markdown);
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
        const QString written = markdown.mid(span->begin, span->end - span->begin);
        if (!formulaPicture(formulaSource(written), m_theme.font(TextRole::Conversation)))
            continue;
        formulas.prepend(written);
        // One on a line of its own stays a paragraph of its own.
        const QString mark = span->isDisplay ? QStringLiteral("\n\n%1\n\n").arg(QChar(kMark))
                                             : QString(QChar(kMark));
        text.replace(span->begin, span->end - span->begin, mark);
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
            text += character == QChar::ParagraphSeparator || character == QChar::LineSeparator
                        ? QChar(u'\n')
                        : character;
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
