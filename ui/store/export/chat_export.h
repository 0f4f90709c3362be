// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

namespace ui {

enum class ExportFormat : std::uint8_t { Markdown, Html, Json, Pdf };

struct ExportRequest {
    ExportFormat format = ExportFormat::Markdown;
    QString path;
    bool hasOrigin = false; ///< HTML and PDF: mark each token by its origin
};

// Markdown, HTML and PDF hold the branch that is shown, JSON holds everything. Thread: any.

QByteArray chatToMarkdown(const Chat& chat);

/// One page without scripts or anything from elsewhere; every text is escaped. Formulas are drawn,
/// except where tokens are marked. Markdown keeps their source.
QByteArray chatToHtml(const Chat& chat, bool hasOrigin);

/// A4 pages with the content of chatToHtml(), and page numbers.
QByteArray chatToPdf(const Chat& chat, bool hasOrigin);

/// {"format": "swift-studio-chat", "version": 1, ...}: every field of the records.
QByteArray chatToJson(const Chat& chat);

/// Writes the whole file to the disk, or leaves an old one as it was. Returns an empty text, or a
/// sentence that says what failed and what to do. Blocks: not for the UI thread.
QString writeExport(const Chat& chat, const ExportRequest& request);

/// "1.33x as fast as vanilla, 62.2 tokens/s, ...": for one line below an answer, with what the
/// window shows there; empty if nothing was measured.
QString figuresLine(const StoredMessage& message);

} // namespace ui
