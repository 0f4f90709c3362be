// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/pictures/walk_layers.h"

#include "ui/views/layer_map/grid/cell_painter.h"

#include <QPainter>

#include <algorithm>

namespace ui {

using namespace engine;

WalkLayers::WalkLayers(const Theme& theme, QWidget* parent)
    : ScenePicture(theme, tr("Layers"), parent) {}

bool WalkLayers::takesPart(RoundStop stop) const {
    if (stop == RoundStop::Draft)
        return scene().walk.drafting.passes() > 0;
    return stop == RoundStop::Verify || stop == RoundStop::Search;
}

const PlanOutline* WalkLayers::shownPlan() const {
    if (scene().current() == RoundStop::Search)
        return &scene().walk.trials.back().plan;
    const bool isOfDraft = scene().current() <= RoundStop::Linearise && !scene().walk.isByAdapter();
    return isOfDraft ? scene().walk.plan.get() : nullptr;
}

/// Of the pass of the full model, which may resume behind the draft's exit.
int WalkLayers::firstLayer() const {
    const RoundWalk& walk = scene().walk;
    const int ran = static_cast<int>(walk.verifying.layers + 0.5);
    return ran > 0 && ran < walk.layerCount ? walk.layerCount - ran : 0;
}

QString WalkLayers::subtitle() const {
    const RoundWalk& walk = scene().walk;
    const int running = scene().runningLayer();
    switch (scene().current()) {
    case RoundStop::Draft:
        if (walk.drafting.passes() == 0)
            return tr("none of them runs for these guesses");
        if (walk.isByAdapter())
            return tr("none of them runs for these guesses: the draft adapter is a small layer "
                      "beside the model");
        if (walk.isByCopy() && running < 0)
            return tr("all of them run for the draft, with weights rounded to 4 bits");
        if (walk.plan == nullptr && !walk.isByCopy())
            return tr("the recording does not say which of them a draft leaves out");
        return running >= 0 ? tr("a pass of the draft has reached layer %1").arg(running)
                            : tr("those with a hatch are left out of the draft");
    case RoundStop::Verify:
        if (running >= 0)
            return tr("the pass has reached layer %1").arg(std::max(running, firstLayer()));
        return firstLayer() > 0
                   ? tr("layers %1 to %2 have run").arg(firstLayer()).arg(walk.layerCount - 1)
                   : tr("all of them have run");
    case RoundStop::Search:
        return tr("what the candidate leaves out");
    default:
        return tr("nothing is computed at this stop");
    }
}

int WalkLayers::bodyHeight() const {
    return scene().walk.layerCount > 0 ? theme().scaled(76) : theme().scaled(26);
}

void WalkLayers::paintBody(QPainter& painter, const QRect& body) {
    const Colours& colours = theme().colours();
    const int layers = scene().walk.layerCount;
    painter.setFont(theme().font(TextRole::Small));
    painter.setPen(colours.muted);
    if (layers <= 0) {
        painter.drawText(body.adjusted(theme().scaled(12), 0, 0, 0),
                         Qt::AlignVCenter,
                         tr("The recording does not tell the model's layers."));
        return;
    }
    const int left = body.left() + theme().scaled(78);
    const int room = body.right() - theme().scaled(12) - left;
    const int top = body.top() + theme().scaled(20);
    const int high = theme().scaled(24);
    const PlanOutline* plan = shownPlan();
    const SkipSet leftOut = plan != nullptr ? leftOutBy(*plan) : SkipSet();
    const int running = scene().runningLayer();
    const bool isVerifying = scene().current() == RoundStop::Verify;
    const bool isDrafting = scene().current() == RoundStop::Draft &&
                            scene().walk.drafting.passes() > 0 && !scene().walk.isByAdapter();
    const bool isSearching = scene().current() == RoundStop::Search;
    const QString names[] = {tr("Attention"), tr("MLP")};
    for (int kind = 0; kind < 2; ++kind) {
        const int y = top + kind * (high + theme().scaled(3));
        painter.setFont(theme().font(TextRole::Small));
        painter.setPen(colours.text);
        painter.drawText(
            QRect(body.left() + theme().scaled(12), y, left, high), Qt::AlignVCenter, names[kind]);
        const auto& skipped = kind == 0 ? leftOut.attention : leftOut.mlp;
        for (int layer = 0; layer < layers; ++layer) {
            const int from = left + room * layer / layers;
            const QRect cell(from, y, left + room * (layer + 1) / layers - from, high);
            const bool isSkipped = std::ranges::find(skipped, layer) != skipped.end();
            if (isSkipped) {
                paintCell(
                    painter,
                    cell,
                    {.kind = kind == 0 ? Sublayer::Attention : Sublayer::Mlp, .isSkipped = true},
                    colours);
                continue;
            }
            const bool isRunning = layer == running && (!isVerifying || layer >= firstLayer());
            const bool hasRun = isSearching ||
                                (isVerifying && layer >= firstLayer() &&
                                 (running < 0 ? scene().part >= 0.6 : layer < running)) ||
                                (isDrafting && (running < 0 || layer < running));
            const int gap = cell.width() > theme().scaled(6) ? theme().scaled(2) : 0;
            const QRect inside = cell.adjusted(0, 0, -gap, 0);
            painter.fillRect(inside,
                             isRunning ? colours.flash
                             : hasRun  ? colours.kept
                                       : colours.panel);
            painter.setPen(isRunning ? colours.flashLine
                           : hasRun  ? colours.keptOutline
                                     : colours.border);
            if (gap > 0 || isRunning)
                painter.drawRect(inside.adjusted(0, 0, -1, -1));
        }
    }
    painter.setFont(theme().font(TextRole::AxisFigure));
    painter.setPen(colours.muted);
    const int step = layers > 40 ? 10 : 5;
    const auto number = [&](int layer) {
        const int centre = left + room * (2 * layer + 1) / (2 * layers);
        const int half = theme().scaled(16);
        painter.drawText(
            QRect(centre - half, body.top() + theme().scaled(3), 2 * half, theme().scaled(16)),
            Qt::AlignCenter,
            QString::number(layer));
    };
    for (int layer = 0; layer < layers - 2; layer += step)
        number(layer);
    number(layers - 1);
}

} // namespace ui
