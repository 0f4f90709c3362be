// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QStyledItemDelegate>

namespace ui {

/// Draws rows in sections: the section's name above its first row, then the row on its ground.
/// Texts are cut with an ellipsis, never interpreted.
class SectionRowDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    /// The roles of the section's name, and of whether it stands above a row.
    SectionRowDelegate(const Theme& theme, int sectionRole, int firstRole, QObject* parent);

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    /// In pixels at 100 %, for a row that has so many (scaled) pixels for its content.
    virtual double rowHeight(const QModelIndex& index, int room) const = 0;

    virtual void paintRow(QPainter& painter,
                          const QRect& room,
                          const QModelIndex& index,
                          bool isChosen) const = 0;

    /// A line of text, vertically centred. Returns its width.
    int paintText(QPainter& painter,
                  const QRect& room,
                  const QString& text,
                  const QFont& font,
                  const QColor& colour,
                  Qt::Alignment side = Qt::AlignLeft) const;

    const Theme& theme() const { return m_theme; }

private:
    int sectionHeight(const QModelIndex& index) const;

    const Theme& m_theme;
    int m_sectionRole;
    int m_firstRole;
};

/// A row of JobListModel: title and outcome, a muted line, the bar of one at work.
class JobRowDelegate : public SectionRowDelegate {
    Q_OBJECT

public:
    explicit JobRowDelegate(const Theme& theme, QObject* parent = nullptr);

protected:
    double rowHeight(const QModelIndex& index, int room) const override;
    void paintRow(QPainter& painter,
                  const QRect& room,
                  const QModelIndex& index,
                  bool isChosen) const override;
};

/// A row of RecipeListModel: what its last run found, its title, its source. The source has a line
/// of its own where there is no room for it beside the title.
class RecipeRowDelegate : public SectionRowDelegate {
    Q_OBJECT

public:
    explicit RecipeRowDelegate(const Theme& theme, QObject* parent = nullptr);

protected:
    double rowHeight(const QModelIndex& index, int room) const override;
    void paintRow(QPainter& painter,
                  const QRect& room,
                  const QModelIndex& index,
                  bool isChosen) const override;
};

/// The sign of a recipe's state, for rows and for the legend below them; `room` is a square.
void paintRecipeState(QPainter& painter, const QRect& room, int state, const Theme& theme);

} // namespace ui
