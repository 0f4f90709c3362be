// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/formula.h"
#include "ui/store/export/chat_export.h"
#include "ui/store/export/chat_page.h"
#include "ui/store/export/printed_formula.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QPageLayout>
#include <QPdfWriter>
#include <QTextCursor>

namespace ui {

namespace {

constexpr int kMarginMm = 20;
constexpr int kPointSize = 10;

/// Stands for a formula while the page is read. No text holds it: it is no character of HTML.
constexpr QChar kFormulaMark(0xFDD2);

/// In points, because a printer's pixels are tiny, and without styles that a text document cannot
/// draw. Tokens never differ by colour alone.
constexpr const char* kStyle =
    "h1 { font-size: 14pt; } h2 { font-size: 10pt; }"
    ".text { white-space: pre-wrap; }"
    ".display { margin-top: 6px; margin-bottom: 6px; }"
    ".figures, .legend { color: #57606a; font-size: 8pt; }"
    ".draft { background-color: #cdebdd; text-decoration: underline; }"
    ".sibling { background-color: #cdebdd; text-decoration: underline; font-style: italic; }"
    ".bonus { font-weight: 600; }";

/// The page for browsers without their style; texts are escaped, so the first one is its own.
QString withoutStyle(QString html) {
    const QString end = QStringLiteral("</style>");
    const qsizetype begin = html.indexOf(QStringLiteral("<style>"));
    return html.remove(begin, html.indexOf(end) + end.size() - begin);
}

/// Whether a formula can be drawn does not depend on its size.
bool isDrawable(const FormulaSource& source) {
    QFont font(QStringLiteral("Inter"));
    font.setPixelSize(kPointSize);
    return drawnFormula(source, font).has_value();
}

/// Puts the formulas, given with their marks, where they belong.
void placeFormulas(QTextDocument& document, const QStringList& formulas) {
    QTextCursor cursor(&document);
    for (const QString& written : formulas) {
        cursor = document.find(QString(kFormulaMark), cursor);
        if (cursor.isNull())
            return;
        QTextCharFormat format = cursor.charFormat();
        format.setObjectType(PrintedFormula::kType);
        format.setProperty(PrintedFormula::kSource, written);
        format.setVerticalAlignment(QTextCharFormat::AlignMiddle);
        cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
    }
}

} // namespace

std::unique_ptr<QTextDocument> printedChat(const Chat& chat, bool hasOrigin) {
    QStringList formulas;
    const auto markFormula = [&formulas](const QString& written) {
        const FormulaSource source = formulaSource(written);
        if (!isDrawable(source))
            return QString();
        formulas.append(written);
        const QString mark(kFormulaMark);
        return source.isDisplay ? QStringLiteral("</div><div class=\"display\" align=\"center\">") +
                                      mark + QStringLiteral("</div><div class=\"text\">")
                                : mark;
    };
    const QString page = withoutStyle(chatPage(chat, hasOrigin, markFormula));
    auto document = std::make_unique<QTextDocument>();
    document->setDefaultFont(QFont(QStringLiteral("Inter"), kPointSize));
    document->setDefaultStyleSheet(QLatin1String(kStyle));
    document->documentLayout()->registerHandler(PrintedFormula::kType,
                                                new PrintedFormula(document.get()));
    // Every text in it is escaped: there is no picture or style sheet to load.
    document->setHtml(page);
    placeFormulas(*document, formulas);
    return document;
}

QByteArray chatToPdf(const Chat& chat, bool hasOrigin) {
    QByteArray content;
    QBuffer buffer(&content);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setTitle(chat.record.title.simplified());
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm),
                          QPageLayout::Millimeter);
    printedChat(chat, hasOrigin)->print(&writer);
    buffer.close();
    return content;
}

} // namespace ui
