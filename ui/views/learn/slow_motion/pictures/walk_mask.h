// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/learn/slow_motion/pictures/scene_picture.h"

namespace ui {

/// The rows of the verifying pass, and which others each of them may see; at the stop Search the
/// tokens that the candidate had to predict. Click a row, or choose it with Up and Down, to see
/// its line. Thread: UI.
class WalkMask : public ScenePicture {
    Q_OBJECT

public:
    explicit WalkMask(const Theme& theme, QWidget* parent = nullptr);

    /// -1 = none.
    int chosenRow() const { return m_chosen; }

    void chooseRow(int row);

protected:
    bool takesPart(engine::RoundStop stop) const override;
    QString subtitle() const override;
    int bodyHeight() const override;
    void paintBody(QPainter& painter, const QRect& body) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    int cellSide() const;

    int labelWidth() const { return theme().scaled(110); }

    int shownRows() const;
    void paintMask(QPainter& painter, const QRect& body);
    void paintRow(QPainter& painter, const QRect& body, int row);
    void paintTrial(QPainter& painter, const QRect& body);
    QSize tickSize() const;

    int m_chosen = -1;
};

} // namespace ui
