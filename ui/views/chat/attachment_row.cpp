// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/attachment_row.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

QString attachmentText(const Attachment& attachment) {
    if (attachment.tokens == 0)
        return attachment.name;
    return countText(attachment.tokens,
                     AttachmentRow::tr("%2 \u00B7 1 token"),
                     AttachmentRow::tr("%2 \u00B7 %1 tokens"))
        .arg(attachment.name);
}

AttachmentRow::AttachmentRow(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_rows(new QVBoxLayout(this)) {
    setAccessibleName(tr("Attached files"));
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(theme.scaled(2));
    connect(&theme, &Theme::changed, this, &AttachmentRow::showFiles);
    showFiles();
}

void AttachmentRow::setAttachments(const QList<Attachment>& attachments) {
    if (attachments == m_attachments)
        return;
    m_attachments = attachments;
    showFiles();
    emit changed();
}

void AttachmentRow::setTokens(const Attachment& of, int tokens) {
    QList<Attachment> counted = m_attachments;
    for (Attachment& attachment : counted)
        if (attachment.name == of.name && attachment.text == of.text)
            attachment.tokens = tokens;
    setAttachments(counted);
}

void AttachmentRow::showFiles() {
    while (QLayoutItem* item = m_rows->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (qsizetype i = 0; i < m_attachments.size(); ++i) {
        auto* line = new QWidget(this);
        auto* row = new QHBoxLayout(line);
        row->setContentsMargins(0, 0, 0, 0);
        auto* name = new QLabel(attachmentText(m_attachments[i]), line);
        name->setTextFormat(Qt::PlainText);
        name->setProperty("tone", "small");
        auto* remove = new QToolButton(line);
        remove->setIcon(
            makeIcon(IconName::Close, m_theme.colours().muted, m_theme.colours().disabled));
        remove->setAccessibleName(tr("Remove %1").arg(m_attachments[i].name));
        setTip(*remove, remove->accessibleName());
        remove->setFocusPolicy(Qt::TabFocus);
        connect(remove, &QToolButton::clicked, this, [this, i] {
            QList<Attachment> rest = m_attachments;
            rest.removeAt(i);
            setAttachments(rest);
        });
        row->addWidget(name);
        row->addWidget(remove);
        row->addStretch();
        m_rows->addWidget(line);
    }
    setVisible(!m_attachments.isEmpty());
}

} // namespace ui
