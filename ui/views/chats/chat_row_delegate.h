// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"
#include "ui/theme/theme.h"

#include <QStyledItemDelegate>

namespace ui {

/// Draws a row of ChatListModel: the section's name if one begins, the title, a muted line. Titles
/// are cut with an ellipsis, never interpreted.
class ChatRowDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    explicit ChatRowDelegate(const Theme& theme, QObject* parent = nullptr);

    /// The chat beside the list; the caller repaints.
    void setShownChat(ChatId id) { m_shownId = id; }

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    QWidget* createEditor(QWidget* parent,
                          const QStyleOptionViewItem& option,
                          const QModelIndex& index) const override;

    void setEditorData(QWidget* editor, const QModelIndex& index) const override;

    void updateEditorGeometry(QWidget* editor,
                              const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;

private:
    int sectionHeight(const QModelIndex& index) const;
    void paintSection(QPainter& painter, const QRect& area, const QString& name) const;
    void paintSubtitle(QPainter& painter, const QRect& line, const QModelIndex& index) const;
    void paintGround(QPainter& painter, const QStyleOptionViewItem& option, bool isShown) const;

    const Theme& m_theme;
    ChatId m_shownId = 0;
};

} // namespace ui
