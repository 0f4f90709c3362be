// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/run/run_folder.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QLabel;

namespace ui {

/// The parts of a run, one small cell each, with the counts spelled out below. Thread: UI.
class ShardGrid : public QWidget {
    Q_OBJECT

public:
    explicit ShardGrid(const Theme& theme, QWidget* parent = nullptr);

    void setShards(const std::vector<engine::ShardState>& shards);

    QString words() const;

private:
    void restyle();

    const Theme& m_theme;
    QWidget* m_cells;
    QLabel* m_words;
    std::vector<engine::ShardState> m_shards;
};

} // namespace ui
