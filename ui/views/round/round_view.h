// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/round/round_pane.h"

#include <optional>
#include <string>
#include <vector>

class QHBoxLayout;
class QLabel;

namespace ui {

class SegmentedControl;
struct ShownStep;

/// What the decoder reports about its last round besides draft and plan: its window, its pool, its
/// table of exits. It knows no decoder: tables come with titles and headings. If there is room,
/// they are side by side with the figures of the round; otherwise one at a time, chosen by tabs. If
/// a token is selected, the round that produced it. Thread: UI.
class RoundView : public View {
    Q_OBJECT

public:
    explicit RoundView(const ViewContext& context, QWidget* parent = nullptr);

    /// The table shown; of several side by side, the one chosen last.
    FigureTable table() const override;

    /// Of the first table that is shown.
    const RoundTableModel& model() const { return m_panes.front()->model(); }

    /// All tables; those not shown are hidden.
    const std::vector<RoundPane*>& panes() const { return m_panes; }

    SegmentedControl& tabs() const { return *m_tabs; }

    /// Why there is no table; empty while there is one.
    QString note() const;

protected:
    void refreshView(Topics changed) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    void restyle();
    ShownStep shownRound() const;
    bool hasRoomFor(std::size_t tables) const;
    void showTables(const std::vector<engine::ShownTable>& tables);
    void showTabs();
    std::size_t chosenTable() const;
    RoundPane* pane(std::size_t index);
    void choose(int index);

    SegmentedControl* m_tabs = nullptr;
    QHBoxLayout* m_row = nullptr; // of the panes
    std::vector<RoundPane*> m_panes;
    QLabel* m_note = nullptr;
    std::vector<engine::ShownTable> m_tables; // of the round that is shown
    bool m_isWide = false;                    // all of them side by side
    std::optional<std::string> m_chosenName;  // kept from round to round
};

} // namespace ui
