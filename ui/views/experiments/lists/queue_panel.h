// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/experiments/lists/job_list_model.h"

#include <QWidget>

class QLabel;
class QListView;
class QMenu;
class QPushButton;

namespace ui {

/// The queue as a list. Enter or a double click runs or pauses the chosen experiment, as Space
/// does; Del takes it off the list; the menu has everything. Thread: UI.
class QueuePanel : public QWidget {
    Q_OBJECT

public:
    QueuePanel(const Theme& theme,
               ExperimentQueue& queue,
               const RunWatcher& watcher,
               QWidget* parent = nullptr);

    /// Marks a job without emitting chosen(); an empty id marks none.
    void setCurrent(const QString& id);

    QListView& list() { return *m_list; }

    /// What can be done with a job, for menus.
    void fillMenu(QMenu& menu, const QString& id);

    /// Titles stay readable.
    QSize minimumSizeHint() const override;

signals:
    /// The user pointed at a job.
    void chosen(const QString& id);
    void openDataAsked();
    void folderAsked(const QString& folder);

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void restyle();
    void showState();
    void runOrPause(const QString& id);
    QString currentId() const;

    const Theme& m_theme;
    ExperimentQueue& m_queue;
    JobListModel* m_model;
    QPushButton* m_open;
    QPushButton* m_start;
    QListView* m_list;
    QLabel* m_empty;
    bool m_isMarking = false;
    QString m_marked;
};

} // namespace ui
