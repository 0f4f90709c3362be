// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"
#include "ui/theme/theme.h"

#include <QAbstractItemDelegate>
#include <QAbstractTableModel>

#include <vector>

namespace ui {

/// The verification mask of a step: which row of the pass sees which other rows. Thread: UI.
class MaskModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit MaskModel(const Theme& theme, QObject* parent = nullptr);

    /// Signals only what has changed, and nothing if the mask is the same. Null: empty.
    void show(const engine::StepFinished* step, const QString& rootText);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    bool sees(int row, int column) const;
    bool isAccepted(int row) const;
    bool isBeside(int row) const; ///< it is outside the draft and cannot be accepted

private:
    /// A row of the pass.
    struct Row {
        QString text;
        std::vector<bool> sees; ///< [rows]
        bool isAccepted = false;
        bool isBeside = false;

        bool operator==(const Row&) const = default;
    };

    static std::vector<Row> rowsOf(const engine::StepFinished& step, const QString& rootText);
    void resizeTo(int count);
    void tellChanges(const std::vector<Row>& before);

    const Theme& m_theme;
    std::vector<Row> m_rows;
    int m_rowCount = 0; ///< number reported to views; less than m_rows while the table grows or
                        ///< shrinks
    int m_columnCount = 0;
};

/// Paints a cell of the mask: a dot where the row sees the column, on green where it was accepted.
class MaskDelegate : public QAbstractItemDelegate {
    Q_OBJECT

public:
    MaskDelegate(const Theme& theme, const MaskModel& model, QObject* parent = nullptr);

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    const Theme& m_theme;
    const MaskModel& m_model;
};

} // namespace ui
