// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace ui {

/// What Learn shows before there is a round to walk through: the outline of a draft, what to do,
/// and the buttons for it. Thread: UI.
class EmptyLearn : public QWidget {
    Q_OBJECT

public:
    explicit EmptyLearn(const Theme& theme, QWidget* parent = nullptr);

    QPushButton& mainButton() { return *m_chat; }

signals:
    void chatAsked();
    void recordingAsked();
    void lessonsAsked();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
    QWidget* m_outline;
    QLabel* m_title;
    QLabel* m_sentence;
    QPushButton* m_chat;
    QPushButton* m_recording;
    QPushButton* m_lessons;
};

} // namespace ui
