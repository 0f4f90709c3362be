// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <optional>

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

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
    QHBoxLayout* m_row;
    LiveLabel* m_title;
    LiveLabel* m_sentence;
    QProgressBar* m_progress;
};

} // namespace ui
