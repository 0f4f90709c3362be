// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/view.h"
#include "ui/views/round/round_table.h"

#include <optional>
#include <string>

class QLabel;
class QTableView;

namespace ui {

class SegmentedControl;

/// What the decoder shows of its last round beyond draft and plan: its window, its pool, its table
/// of exits. Knows no decoder: tables come with their titles and headings. With a token chosen, the
/// round that made it. Thread: UI.
class RoundView : public View {
    Q_OBJECT

public:
    explicit RoundView(const ViewContext& context, QWidget* parent = nullptr);

    /// The table that is shown.
    FigureTable table() const override;

    const RoundTableModel& model() const { return *m_model; }

    SegmentedControl& tabs() const { return *m_tabs; }

    /// Why there is no table; empty while there is one.
    QString note() const;

protected:
    void refreshView(Topics changed) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void build();
    void restyle();
    const engine::StepFinished* shownRound() const;
    void showTables(const std::vector<engine::ShownTable>& tables);
    void choose(int index);

    SegmentedControl* m_tabs = nullptr;
    QTableView* m_table = nullptr;
    QLabel* m_note = nullptr;
    RoundTableModel* m_model = nullptr;
    std::vector<engine::ShownTable> m_tables; // of the round that is shown
    std::optional<std::string> m_chosenName;  // kept from round to round
};

} // namespace ui
