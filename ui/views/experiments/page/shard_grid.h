// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/run/run_folder.h"
#include "ui/shell/docks/view.h"

#include <vector>

class QLabel;

namespace ui {

/// The parts of a run, one small cell each, with the counts spelled out below. Thread: UI.
class ShardGrid : public View {
    Q_OBJECT

public:
    explicit ShardGrid(const ViewContext& context, QWidget* parent = nullptr);

    void setShards(const std::vector<engine::ShardState>& shards);

    QString words() const;

    FigureTable table() const override;

protected:
    void refreshView(Topics /*changed*/) override {}

private:
    void showNewest();
    void restyle();

    QWidget* m_cells;
    QLabel* m_words;
    std::vector<engine::ShardState> m_newest;
    std::vector<engine::ShardState> m_shards; // those that are shown
};

} // namespace ui
