// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QStringList>
#include <QWidget>

class QLabel;
class QListWidget;
class QPushButton;

namespace ui {

/// The files and folders with prompts that a training takes: a list that is added to by buttons and
/// by dropping, and taken from by a button or the Delete key. Thread: UI.
class PromptSources : public QWidget {
    Q_OBJECT

public:
    explicit PromptSources(const Theme& theme, QWidget* parent = nullptr);

    const QStringList& paths() const { return m_paths; }

    /// Without changed().
    void setPaths(const QStringList& paths);

    /// Those that are not in the list yet.
    void add(const QStringList& paths);

    QListWidget& list() { return *m_list; }

signals:
    void changed();
    void filesAsked();
    void folderAsked();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void removeChosen();
    void showPaths();
    void restyle();

    const Theme& m_theme;
    QStringList m_paths;
    QListWidget* m_list;
    QLabel* m_nothing; ///< in the list while it is empty
    QPushButton* m_remove;
};

} // namespace ui
