// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <functional>
#include <optional>
#include <vector>

class QHBoxLayout;
class QProgressBar;
class QPushButton;

namespace ui {

class LiveLabel;

/// The bar above a page: title, one muted sentence, progress, actions at the right. Thread: UI.
class PageHeader : public QWidget {
    Q_OBJECT

public:
    explicit PageHeader(const Theme& theme, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setSentence(const QString& sentence);

    /// From 0 to 1; none hides the bar.
    void setProgress(const std::optional<double>& share);

    /// Adds a button at the right end; `isMain` fills it.
    QPushButton* addButton(const QString& text, bool isMain = false);

    /// Calls `change`, which shows and hides buttons. One that goes leaves the keyboard to another,
    /// the main one first, or to `otherwise`.
    void changeButtons(const std::function<void()>& change, QWidget* otherwise = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
    QHBoxLayout* m_row;
    LiveLabel* m_title;
    LiveLabel* m_sentence;
    QProgressBar* m_progress;
    std::vector<QPushButton*> m_buttons; // main ones first
};

} // namespace ui
