// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/sides/side_answer.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <array>
#include <vector>

namespace ui {

/// When each token of two answers was written, in the time of each side alone: a lane each with a
/// stroke for every token, and a bar for every round that drafted. Thread: UI.
class TimeLanes : public QWidget {
    Q_OBJECT

public:
    explicit TimeLanes(const Theme& theme, QWidget* parent = nullptr);

    void show(std::array<QString, 2> names,
              const engine::SideAnswer& left,
              const engine::SideAnswer& right);

    QSize sizeHint() const override;

    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Stroke {
        double ms = 0.0;
        bool isAccepted = false;
    };

    struct Lane {
        QString name;
        std::vector<Stroke> strokes = {};
        std::vector<engine::SideRound> rounds = {}; ///< that drafted
        double endMs = 0.0;
    };

    QString endText(const Lane& lane) const;
    static Lane laneOf(const QString& name, const engine::SideAnswer& answer);
    void paintLane(QPainter& painter, const Lane& lane, const QRectF& room, double msWide) const;
    void paintCaption(QPainter& painter) const;
    void paintAxis(QPainter& painter, const QRectF& room, double msWide) const;

    const Theme& m_theme;
    std::array<Lane, 2> m_lanes;
    bool m_areWhole = false; ///< both ended by themselves, so that their times can be compared
};

} // namespace ui
