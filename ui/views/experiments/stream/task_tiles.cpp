// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/task_tiles.h"

#include "ui/experiments/runs/run_picture.h"
#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/layer_map/grid/cell_painter.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kTileHeight = 88;
constexpr int kLeastTileWidth = 320;
constexpr int kMostColumns = 3;

/// What a round of the drafting decoder costs, in plain steps of the same prompts.
std::optional<double> roundPrice(const engine::TaskFigures& task) {
    const auto rounds = task.decoding.ownRounds();
    if (rounds == 0 || task.vanillaMsPerToken <= 0.0)
        return std::nullopt;
    return task.decoding.ownMs() / static_cast<double>(rounds) / task.vanillaMsPerToken;
}

QString captionOf(const engine::TaskFigures& task, const TaskTile& tile) {
    const auto tokens = task.decoding.tokensPerRound();
    if (tile.state == TaskTile::State::NoGain && tokens) {
        if (const auto price = roundPrice(task))
            return tr("M %1, and a round costs %2 plain steps")
                .arg(decimalText(*tokens), decimalText(*price));
    }
    QStringList parts;
    if (task.isUnsteady)
        parts << tr("no speed: vanilla's own changed by more than 5 %");
    else if (tile.state == TaskTile::State::Done && !task.speedup)
        parts << tr("no speed: vanilla was not measured beside it");
    if (task.plan) {
        if (task.plan->score > 0.0)
            parts << tr("matchness %1").arg(shareText(task.plan->score));
        const int skipped = static_cast<int>(task.plan->attention.size() + task.plan->mlp.size());
        parts << tr("r %1, %2 of %3")
                     .arg(shareText(task.plan->ratio))
                     .arg(skipped)
                     .arg(2 * tile.layers);
    }
    if (tokens)
        parts << QStringLiteral("M %1").arg(decimalText(*tokens));
    if (const auto acceptance = task.decoding.acceptance())
        parts << QStringLiteral("\u03B1 %1").arg(shareText(*acceptance));
    if (task.trials > 0)
        parts << countText(task.trials, tr("1 trial"), tr("%1 trials"));
    if (parts.isEmpty())
        return tr("its first answer starts the map");
    return parts.join(QStringLiteral("   "));
}

/// Half the interval's width, as it stands beside the value.
QString halfWidth(const engine::RatioEstimate& estimate) {
    return QStringLiteral("\u00B1 %1").arg(shareText((estimate.high - estimate.low) / 2.0));
}

QColor stateColour(TaskTile::State state, const Colours& colours) {
    switch (state) {
    case TaskTile::State::Done:
        return colours.success;
    case TaskTile::State::NoGain:
    case TaskTile::State::Unsteady:
        return colours.warning;
    case TaskTile::State::Running:
        return colours.accent;
    case TaskTile::State::Waiting:
    case TaskTile::State::Partly:
        break;
    }
    return colours.muted;
}

void paintMap(QPainter& painter, const QRect& room, const TaskTile& tile, const Theme& theme) {
    if (tile.layers <= 0)
        return;
    const Colours& colours = theme.colours();
    const int rowHeight = room.height() / 2;
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
        for (int layer = 0; layer < tile.layers; ++layer) {
            const int left = room.left() + room.width() * layer / tile.layers;
            const int right = room.left() + room.width() * (layer + 1) / tile.layers;
            const QRect cell(left,
                             room.top() + (kind == Sublayer::Mlp ? rowHeight : 0),
                             right - left,
                             rowHeight);
            if (tile.set) {
                CellLook look;
                look.kind = kind;
                look.isSkipped = isSkipped(*tile.set, {kind, layer});
                paintCell(painter, cell, look, colours);
            } else {
                const bool isOnColour = tile.state == TaskTile::State::Running;
                painter.setPen(isOnColour ? colours.muted : colours.border);
                painter.setBrush(Qt::NoBrush);
                painter.drawRect(cell.adjusted(0, 1, -2, -3));
            }
        }
}

} // namespace

QString TaskTile::words() const {
    QStringList words{title, stateText};
    if (speedup > 0.0)
        words << tr("%1 times vanilla %2").arg(decimalText(speedup), interval).trimmed();
    words << caption;
    return words.join(QStringLiteral(", "));
}

std::vector<TaskTile> taskTiles(const RunPicture& picture, bool isAtWork) {
    std::vector<TaskTile> tiles;
    const engine::RunProgress& progress = picture.progress;
    const QString now = isAtWork && progress.current
                            ? picture.facts->tasks[static_cast<std::size_t>(*progress.current)]
                            : QString();
    for (const engine::TaskFigures& task : progress.tasks) {
        TaskTile tile;
        tile.task = QString::fromStdString(task.task);
        tile.title = readableTaskTitle(tile.task);
        tile.layers = picture.facts->layers;
        tile.trials = task.trials;
        if (task.plan) {
            tile.set = engine::SkipSet{task.plan->attention, task.plan->mlp};
            tile.matchness = task.plan->score;
            tile.ratio = task.plan->ratio;
        }
        const bool isDone = task.done >= task.prompts;
        const bool isNow = !isDone && isAtWork && !now.isNull() && now == tile.task;
        if (task.speedup) {
            tile.speedup = task.speedup->ratio;
            tile.speed = factorText(task.speedup->ratio);
            if (task.done > 1) // one prompt has no spread
                tile.interval = halfWidth(*task.speedup);
        }
        using State = TaskTile::State;
        const bool isSlow = task.speedup && tile.speedup < 1.0;
        tile.state = isNow             ? State::Running
                     : task.done == 0  ? State::Waiting
                     : !isDone         ? State::Partly
                     : task.isUnsteady ? State::Unsteady
                     : isSlow          ? State::NoGain
                                       : State::Done;
        tile.stateText = tile.state == State::Waiting    ? tr("waiting")
                         : tile.state == State::Done     ? tr("done")
                         : tile.state == State::NoGain   ? tr("no gain")
                         : tile.state == State::Unsteady ? tr("not steady")
                         : isNow ? tr("prompt %1 of %2").arg(task.done).arg(task.prompts)
                                 : tr("%1 of %2 prompts").arg(task.done).arg(task.prompts);
        tile.caption = captionOf(task, tile);
        tiles.push_back(std::move(tile));
    }
    return tiles;
}

TileGrid TileGrid::make(const Theme& theme, int width, int count) {
    TileGrid grid;
    grid.count = count;
    const int most = std::clamp(width / theme.scaled(kLeastTileWidth), 1, kMostColumns);
    const int rows = std::max(1, (count + most - 1) / most);
    grid.columns = std::max(1, (count + rows - 1) / rows);
    grid.tileWidth = width / grid.columns;
    grid.tileHeight = theme.scaled(kTileHeight);
    return grid;
}

void paintTile(QPainter& painter,
               const QRect& room,
               const TaskTile& tile,
               bool isCurrent,
               const Theme& theme) {
    const Colours& colours = theme.colours();
    const bool isRunning = tile.state == TaskTile::State::Running;
    const bool isWaiting = tile.state == TaskTile::State::Waiting;
    painter.fillRect(room, isRunning ? colours.selection : colours.panel);
    painter.fillRect(QRect(room.left(), room.bottom(), room.width(), 1), colours.border);
    painter.fillRect(QRect(room.right(), room.top(), 1, room.height()), colours.border);
    if (isRunning || tile.state == TaskTile::State::NoGain)
        painter.fillRect(QRect(room.topLeft(), QSize(theme.scaled(3), room.height() - 1)),
                         isRunning ? colours.accent : colours.warning);
    const int side = theme.scaled(12);
    const QRect inner = room.adjusted(side, theme.scaled(6), -side, -theme.scaled(4));
    const auto text = [&](const QRect& line,
                          const QString& words,
                          TextRole role,
                          const QColor& colour,
                          Qt::Alignment align,
                          bool isBold = false) {
        QFont font = theme.font(role);
        if (isBold)
            font.setWeight(QFont::DemiBold);
        painter.setFont(font);
        painter.setPen(colour);
        const QFontMetrics metrics(font);
        const QString shown = metrics.elidedText(words, Qt::ElideRight, line.width());
        painter.drawText(line, align | Qt::AlignVCenter | Qt::TextSingleLine, shown);
        return metrics.horizontalAdvance(shown);
    };
    QRect line(inner.left(), inner.top(), inner.width(), theme.scaled(18));
    const QColor stateTone = stateColour(tile.state, colours);
    const int taken =
        text(line, tile.stateText, TextRole::Tiny, stateTone, Qt::AlignRight, isRunning);
    text(line.adjusted(0, 0, -taken - theme.scaled(8), 0),
         tile.title,
         TextRole::Small,
         isWaiting ? colours.muted : colours.text,
         Qt::AlignLeft,
         true);
    const int names = theme.scaled(32);
    const int figures = theme.scaled(62);
    const int mapTop = line.bottom() + theme.scaled(3);
    const QRect map(inner.left() + names,
                    mapTop,
                    std::max(0, inner.width() - names - figures),
                    2 * theme.scaled(16));
    for (const int row : {0, 1})
        text(QRect(inner.left(), map.top() + row * map.height() / 2, names, map.height() / 2),
             row == 0 ? tr("Attn") : tr("MLP"),
             TextRole::Tiny,
             isWaiting ? colours.disabled : colours.muted,
             Qt::AlignLeft);
    paintMap(painter, map, tile, theme);
    const QRect beside(map.right() + 1, map.top(), figures, map.height() / 2);
    text(beside,
         tile.speed,
         TextRole::Code,
         isRunning                               ? colours.accent
         : tile.state == TaskTile::State::NoGain ? colours.warning
                                                 : colours.text,
         Qt::AlignRight,
         true);
    text(beside.translated(0, map.height() / 2),
         tile.interval,
         TextRole::AxisFigure,
         colours.muted,
         Qt::AlignRight);
    text(QRect(inner.left(), map.bottom() + theme.scaled(2), inner.width(), theme.scaled(18)),
         tile.caption,
         TextRole::Tiny,
         colours.muted,
         Qt::AlignLeft);
    if (!isCurrent)
        return;
    painter.setPen(QPen(colours.focus, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(room.adjusted(2, 2, -3, -3));
}

} // namespace ui
