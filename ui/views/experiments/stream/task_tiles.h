// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/layer_map/skip_set_facts.h"

#include <QRect>
#include <QString>

#include <optional>
#include <vector>

class QPainter;

namespace ui {

struct RunPicture;

/// A task of a run and its newest skip set, ready to be drawn. A plain value.
struct TaskTile {
    enum class State { Waiting, Running, Partly, Done, NoGain, Unsteady };

    QString task; ///< as in the data
    QString title;
    State state = State::Waiting;
    QString stateText; ///< "prompt 13 of 20"
    int layers = 0;
    std::optional<engine::SkipSet> set; ///< none: the outline of a map
    QString speed;                      ///< "1.57×"; empty until measured
    QString interval;                   ///< "± .09"
    QString caption;                    ///< the figures of the set, or why nothing is gained
    double speedup = 0.0;               ///< 0 until measured
    double matchness = 0.0;
    double ratio = 0.0;
    int trials = 0;

    /// For screen readers.
    QString words() const;
};

/// One for each task, in the order of the run.
std::vector<TaskTile> taskTiles(const RunPicture& picture, bool isAtWork);

/// The places of tiles in a width: three, two or one beside each other, in rows of equal length as
/// far as that goes.
struct TileGrid {
    static TileGrid make(const Theme& theme, int width, int count);

    int columns = 1;
    int tileWidth = 0;
    int tileHeight = 0;
    int count = 0;

    int height() const { return (count + columns - 1) / columns * tileHeight; }

    QRect tile(int index) const {
        return {index % columns * tileWidth, index / columns * tileHeight, tileWidth, tileHeight};
    }
};

void paintTile(
    QPainter& painter, const QRect& room, const TaskTile& tile, bool isCurrent, const Theme& theme);

} // namespace ui
