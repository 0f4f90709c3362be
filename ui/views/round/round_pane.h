// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/round/round_table.h"

#include <QAbstractItemDelegate>
#include <QFontMetrics>
#include <QWidget>

class QLabel;

namespace ui {

class LeanTable;

/// Pixels that a cell's words take. Most are of letters that all are as wide, and are not measured.
class CellWidths {
public:
    explicit CellWidths(const QFont& font);

    int of(const QString& words) const;

private:
    QFontMetrics m_metrics;
    int m_letter;
    bool m_isEven; ///< all letters are as wide
};

/// Paints a cell of a round's table, in line with its heading; the row that was acted upon has a
/// sign before it and a ground of its own.
class RoundDelegate : public QAbstractItemDelegate {
    Q_OBJECT

public:
    RoundDelegate(const Theme& theme, const RoundTableModel& model, QObject* parent = nullptr);

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    /// Where the words of a cell stand, of the cell's own rectangle.
    QRect wordsRect(const QRect& cell, int column) const;

private:
    const Theme& m_theme;
    const RoundTableModel& m_model;
};

/// One table of a round, with its title above it where several stand side by side. Columns are as
/// wide as their widest cell so far, so that tokens that come and go move nothing. Thread: UI.
class RoundPane : public QWidget {
    Q_OBJECT

public:
    explicit RoundPane(const Theme& theme, QWidget* parent = nullptr);

    void show(const engine::ShownTable& table, bool isTitled);

    const RoundTableModel& model() const { return *m_model; }

    const RoundDelegate& delegate() const { return *m_delegate; }

private:
    void restyle();
    void widenColumns();

    const Theme& m_theme;
    RoundTableModel* m_model;
    RoundDelegate* m_delegate;
    QLabel* m_title;
    LeanTable* m_table;
};

} // namespace ui
