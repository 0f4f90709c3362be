// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/learn/slow_motion/walk_scene.h"

#include <QWidget>

namespace ui {

/// One picture of a walk under a title of its own, which says what it shows now. It has room for
/// the whole round from the first stop on, so that nothing moves from stop to stop. Thread: UI.
class ScenePicture : public QWidget {
    Q_OBJECT

public:
    ScenePicture(const Theme& theme, const QString& title, QWidget* parent = nullptr);

    /// The scene must live until the next call; null = nothing to show.
    void show(const WalkScene* scene);

    /// Whether it takes part in the stop that is shown.
    bool isNow() const { return m_scene != nullptr && takesPart(m_scene->current()); }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    /// The stops that change it: a badge says so.
    virtual bool takesPart(engine::RoundStop stop) const = 0;

    /// What stands beside the title.
    virtual QString subtitle() const = 0;

    /// Of what is below the title; it may depend on the width.
    virtual int bodyHeight() const = 0;

    virtual void paintBody(QPainter& painter, const QRect& body) = 0;

    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

    const WalkScene& scene() const { return *m_scene; }

    bool hasScene() const { return m_scene != nullptr; }

    const Theme& theme() const { return m_theme; }

    int titleHeight() const { return m_theme.scaled(28); }

    QRect bodyRect() const { return rect().adjusted(0, titleHeight(), 0, 0); }

    /// A box with a token, whose right end says something more about it.
    struct Box {
        QRect place;
        QString text;
        QString note = {};
        QColor ground;
        QColor line;
        QColor ink;
        bool isStruck = false;
        bool isDashed = false;
    };

    void paintBox(QPainter& painter, const Box& box) const;

private:
    void askForHeight();

    const Theme& m_theme;
    const WalkScene* m_scene = nullptr;
};

} // namespace ui
