// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/export/chat_export.h"

#include <QBuffer>
#include <QPageLayout>
#include <QPdfWriter>
#include <QTextDocument>

namespace ui {

namespace {

constexpr int kMarginMm = 20;
constexpr int kPointSize = 10;

/// In points, because a printer's pixels are tiny, and without styles that a text document cannot
/// draw. Tokens never differ by colour alone.
constexpr const char* kStyle =
    "h1 { font-size: 14pt; } h2 { font-size: 10pt; }"
    ".text { white-space: pre-wrap; }"
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

} // namespace

QByteArray chatToPdf(const Chat& chat, bool hasOrigin) {
    QByteArray content;
    QBuffer buffer(&content);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setTitle(chat.record.title.simplified());
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm),
                          QPageLayout::Millimeter);
    QTextDocument document;
    document.setDefaultFont(QFont(QStringLiteral("Inter"), kPointSize));
    document.setDefaultStyleSheet(QLatin1String(kStyle));
    // Every text in it is escaped: there is no picture or style sheet to load.
    document.setHtml(withoutStyle(QString::fromUtf8(chatToHtml(chat, hasOrigin))));
    document.print(&writer);
    buffer.close();
    return content;
}

} // namespace ui
