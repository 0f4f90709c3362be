// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QModelIndex>
#include <QWidget>

class QAbstractItemModel;
class QHBoxLayout;
class QLabel;
class QListView;
class QVBoxLayout;

namespace ui {

class SectionRowDelegate;

/// A list in sections below a row of controls, with a sentence where it has no rows: the shape of
/// the workspace's lists. Thread: UI.
class ListPanel : public QWidget {
    Q_OBJECT

public:
    QListView& list() const { return *m_list; }

    /// Titles stay readable.
    QSize minimumSizeHint() const override;

protected:
    /// The theme outlives it; it takes model and delegate.
    ListPanel(const Theme& theme,
              const QString& accessibleName,
              QAbstractItemModel* model,
              SectionRowDelegate* delegate,
              QWidget* parent);

    /// Marks a row without calling choose(); an invalid one marks none.
    void mark(const QModelIndex& index);

    /// The user pointed at a row.
    virtual void choose(const QModelIndex& index) = 0;

    /// Sizes and colours of the theme. A derived class calls it once it is made.
    virtual void restyle();

    /// The sentence above the list; an empty one is not shown.
    void setNote(const QString& sentence);

    QHBoxLayout& head() { return *m_head; }

    QVBoxLayout& column() { return *m_column; }

    const Theme& theme() const { return m_theme; }

private:
    void take(const QModelIndex& index);

    const Theme& m_theme;
    QVBoxLayout* m_column;
    QHBoxLayout* m_head;
    QLabel* m_note;
    QListView* m_list;
    bool m_isMarking = false;
};

} // namespace ui
