// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/answer_defaults.h"
#include "ui/shell/main_window.h"

#include <QDialog>

namespace ui {

class ColumnScroll;

/// Settings of the window, not of a run: language, theme, text size, keys, whether tasks are
/// recognised, and where files are stored. A language is for the next start, every other choice
/// takes effect at once.
class SettingsDialog : public QDialog {
    Q_OBJECT

public:
    struct Places {
        QString chats;
        QString settings;
        QString presets;
        QString translations;
    };

    SettingsDialog(const Theme& theme,
                   MainWindow& window,
                   AnswerDefaults& answers,
                   QSettings& settings,
                   const Places& places);

signals:
    void shortcutsAsked();

protected:
    bool event(QEvent* event) override;

private:
    const Theme& m_theme;
    QWidget* m_form = nullptr;
    ColumnScroll* m_scroll = nullptr;
};

} // namespace ui
