// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace ui {

/// The panel of an empty chat: what to do, three prompts that a click sends, and the way to the
/// first lesson.
class StartPanel : public QWidget {
    Q_OBJECT

public:
    explicit StartPanel(const Theme& theme, QWidget* parent = nullptr);

    /// The sentence below the title; `canSend` enables the examples.
    void setState(const QString& sentence, bool canSend);

    /// Whether there are lessons; at first there are none.
    void setHasLessons(bool hasLessons);

    QPushButton& lessonButton() { return *m_lesson; }

signals:
    void promptChosen(const QString& prompt);
    void firstLessonAsked();

private:
    QPushButton* makeRow(const QString& title, const QString& kind);
    void restyle();

    const Theme& m_theme;
    QLabel* m_title;
    QLabel* m_sentence;
    QPushButton* m_lesson = nullptr;
    QList<QPushButton*> m_examples;
};

} // namespace ui
