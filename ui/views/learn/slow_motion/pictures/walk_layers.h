// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/learn/slow_motion/pictures/scene_picture.h"

namespace ui {

/// The sublayers of the model, one column a layer: which run now, have run, or are left out.
/// Thread: UI.
class WalkLayers : public ScenePicture {
    Q_OBJECT

public:
    explicit WalkLayers(const Theme& theme, QWidget* parent = nullptr);

protected:
    bool takesPart(engine::RoundStop stop) const override;
    QString subtitle() const override;
    int bodyHeight() const override;
    void paintBody(QPainter& painter, const QRect& body) override;

private:
    /// What is left out of the pass that is shown; null = nothing.
    const engine::PlanOutline* shownPlan() const;
    int firstLayer() const;
};

} // namespace ui
