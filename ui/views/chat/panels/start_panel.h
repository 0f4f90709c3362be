// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace ui {

/// The panel of an empty chat: what to do, and three prompts that a click sends.
class StartPanel : public QWidget {
    Q_OBJECT

public:
    explicit StartPanel(const Theme& theme, QWidget* parent = nullptr);

    /// The sentence below the title; `canSend` enables the examples.
    void setState(const QString& sentence, bool canSend);

signals:
    void promptChosen(const QString& prompt);

private:
    void restyle();

    const Theme& m_theme;
    QLabel* m_title;
    QLabel* m_sentence;
    QList<QPushButton*> m_examples;
};

} // namespace ui
