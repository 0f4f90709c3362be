// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/session_records.h"
#include "ui/plots/figure_table.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace ui {

/// A cell as people read it: a token with its blanks as signs, a number to three places.
QString cellText(const engine::ShownCell& cell);

/// A table that a decoder reports for its round, whatever it means. The row that was used is
/// marked, also as text. Thread: UI.
class RoundTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit RoundTableModel(QObject* parent = nullptr);

    /// Signals only the rows that have changed; other columns reset the table.
    void show(engine::ShownTable table);

    const engine::ShownTable& shown() const { return m_table; }

    /// The same with all digits; with one more column if a row is marked.
    FigureTable figure() const;

    bool isChosen(int row) const { return row == m_table.chosenRow; }

    /// Empty where a row is shorter than the heading.
    const QString& text(int row, int column) const;

    /// Numbers are right-aligned, below their heading.
    bool isNumeric(int column) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const engine::ShownCell* cell(int row, int column) const;
    QStringList textsOf(std::size_t row) const;
    void resizeTo(int count);

    engine::ShownTable m_table;
    std::vector<QStringList> m_texts; ///< [rows][columns]
    int m_rowCount = 0;               ///< number reported to views; less than its rows while the
                                      ///< table shrinks
};

} // namespace ui
