// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QVBoxLayout;

namespace ui {

/// "notes.txt, 1,234 tokens"; without the tokens while they are not counted.
QString attachmentText(const Attachment& attachment);

/// The files attached to the message being written, each with a button to remove it. Hidden while
/// there are none.
class AttachmentRow : public QWidget {
    Q_OBJECT

public:
    explicit AttachmentRow(const Theme& theme, QWidget* parent = nullptr);

    const QList<Attachment>& attachments() const { return m_attachments; }

    void setAttachments(const QList<Attachment>& attachments);

    /// Sets the token count of the file with this name and text, if it is still attached.
    void setTokens(const Attachment& of, int tokens);

signals:
    void changed();

private:
    void showFiles();

    const Theme& m_theme;
    QVBoxLayout* m_rows;
    QList<Attachment> m_attachments;
};

} // namespace ui
