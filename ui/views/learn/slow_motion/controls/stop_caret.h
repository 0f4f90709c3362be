// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QStringList>
#include <QWidget>

namespace ui {

/// All stops of a walk as numbered circles on a line: done, now, ahead. A click, or Left and Right,
/// goes to one. Thread: UI.
class StopCaret : public QWidget {
    Q_OBJECT

public:
    explicit StopCaret(const Theme& theme, QWidget* parent = nullptr);

    void show(const QStringList& titles, int current);

    int current() const { return m_current; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void asked(int stop);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRect place(int stop) const;

    const Theme& m_theme;
    QStringList m_titles;
    int m_current = 0;
};

} // namespace ui
