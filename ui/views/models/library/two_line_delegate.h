// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QStyledItemDelegate>

namespace ui {

/// Draws a row of two lines; names and paths that are too long are cut in the middle. Texts are
/// plain.
class TwoLineDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    enum Role {
        PathRole = Qt::UserRole, ///< for the list; not drawn
        SecondLineRole,          ///< QString
        IsDimRole,               ///< bool: the first line names something that cannot be opened
        IsSentenceRole,          ///< bool: the second line is no path, and cut at its end
        IsAlarmRole,             ///< bool: the second line says what is wrong
        IsHeadRole,              ///< bool: the head of the rows below it
    };

    TwoLineDelegate(const Theme& theme, QObject* parent);

    int rowHeight() const { return m_theme.scaled(40); }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    void paintLine(QPainter& painter,
                   const QRect& area,
                   const QString& text,
                   Qt::TextElideMode cut) const;

    const Theme& m_theme;
};

} // namespace ui
