// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/links/playback.h"
#include "ui/theme/theme.h"

#include <QWidget>

namespace ui {

/// The answers of a recording as bars of their true length, and the playing position. A click or a
/// drag goes to that time. Thread: UI.
class AnswerBars : public QWidget {
    Q_OBJECT

public:
    /// Both must live longer.
    AnswerBars(const Theme& theme, Playback& playback, QWidget* parent = nullptr);

    /// Repaints what has moved.
    void refresh();

    /// The position of a time of the recording, in pixels from the left edge.
    double xOf(double seconds) const;

    /// The text above an answer's bar.
    static QString titleOf(const RecordedAnswer& answer, int place);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void sought();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    double inset() const { return m_theme.scaled(8); }

    void paintTitles(QPainter& painter, double position) const;
    void seek(double x);

    const Theme& m_theme;
    Playback& m_playback;
    int m_paintedX = -1;
    double m_paintedLength = -1.0;
};

} // namespace ui
