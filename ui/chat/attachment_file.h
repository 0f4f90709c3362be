// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QObject>

#include <functional>

namespace ui {

/// A text file that was read, or the sentence that says why it was not.
struct AttachmentFile {
    Attachment attachment;
    QString error; ///< empty = it was read
};

/// Longer files would not fit into a context, and are not read.
inline constexpr qint64 kMostAttachmentBytes = 1 << 20;

/// Reads a file of UTF-8 text, never more than kMostAttachmentBytes of it. Blocks; thread: any.
AttachmentFile readAttachment(const QString& path);

/// The same on another thread; `done` is called from the event loop of `context`, unless that is
/// gone by then.
void readAttachment(const QString& path,
                    QObject* context,
                    std::function<void(AttachmentFile)> done);

} // namespace ui
