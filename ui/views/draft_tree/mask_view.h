// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/view.h"

#include <QAbstractTableModel>

class QTableView;

namespace ui {

/// The verification mask of a step: which row of the pass sees which other one.
class MaskModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit MaskModel(const Theme& theme, QObject* parent = nullptr);

    void show(const engine::StepFinished* step, const QString& rootText);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const Theme& m_theme;
    std::vector<std::vector<bool>> m_sees;
    QStringList m_texts;
    std::vector<bool> m_isAccepted;
    int m_firstSide = 0; ///< rows from here on ran beside the draft
};

/// The mask of the last step's verifying pass as a table; the chosen row's ancestors are marked.
class MaskView : public View {
    Q_OBJECT

public:
    explicit MaskView(const ViewContext& context, QWidget* parent = nullptr);

    FigureTable table() const override;

    const MaskModel& model() const { return *m_model; }

protected:
    void refreshView(Topics changed) override;

private:
    void restyle();

    MaskModel* m_model;
    QTableView* m_table;
};

} // namespace ui
