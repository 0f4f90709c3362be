// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/learn/slow_motion/pictures/scene_picture.h"

namespace ui {

/// The arithmetic of all stops, one below the other. What is not known yet reads "?". Thread: UI.
class WalkNumbers : public ScenePicture {
    Q_OBJECT

public:
    explicit WalkNumbers(const Theme& theme, QWidget* parent = nullptr);

    QSize minimumSizeHint() const override;

protected:
    bool takesPart(engine::RoundStop) const override { return false; }

    QString subtitle() const override;
    int bodyHeight() const override;
    void paintBody(QPainter& painter, const QRect& body) override;
};

} // namespace ui
