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

/// What the page for browsers marks by borders, which a text document does not draw. Never by
/// colour alone.
constexpr const char* kStyle = ".draft { text-decoration: underline; }"
                               ".sibling { text-decoration: underline; font-style: italic; }"
                               ".bonus { font-weight: 600; }";

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
    document.setHtml(QString::fromUtf8(chatToHtml(chat, hasOrigin)));
    document.print(&writer);
    buffer.close();
    return content;
}

} // namespace ui
