// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QTableView;

namespace ui {

class ResultTableModel;

/// A table of a report with its title; Ctrl+C and the button copy it. As high as its rows. Thread:
/// UI.
class ResultSection : public QWidget {
    Q_OBJECT

public:
    ResultSection(const Theme& theme, engine::ResultTable table, QWidget* parent = nullptr);

    void setTable(engine::ResultTable table);

    /// Of the table shown.
    const std::string& id() const;

    QTableView& tableView() { return *m_view; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void restyle();
    void copy();

    const Theme& m_theme;
    ResultTableModel* m_model;
    QTableView* m_view;
    QLabel* m_note;
};

} // namespace ui
