// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/round/round_table.h"

#include <QAbstractItemDelegate>
#include <QFontMetrics>
#include <QWidget>

class QLabel;

namespace ui {

class LeanTable;

/// The width of a cell's text in pixels. Most texts have letters of equal width and are not
/// measured.
class CellWidths {
public:
    explicit CellWidths(const QFont& font);

    int of(const QString& words) const;

private:
    QFontMetrics m_metrics;
    int m_letter;
    bool m_isEven; ///< all letters have the same width
};

/// Paints a cell of a round's table, in line with its heading; the row that was used has a mark
/// before it and a background of its own.
class RoundDelegate : public QAbstractItemDelegate {
    Q_OBJECT

public:
    RoundDelegate(const Theme& theme, const RoundTableModel& model, QObject* parent = nullptr);

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    /// The text's rectangle within the cell's.
    QRect wordsRect(const QRect& cell, int column) const;

private:
    const Theme& m_theme;
    const RoundTableModel& m_model;
};

/// One table of a round, with its title above it if several are side by side. Columns are as wide
/// as their widest cell so far, so that changing tokens move nothing. Thread: UI.
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
