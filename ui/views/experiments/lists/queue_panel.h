// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/experiments/lists/job_list_model.h"
#include "ui/views/experiments/lists/list_panel.h"

class QMenu;
class QPushButton;

namespace ui {

class RemovalBar;

/// The queue as a list. Enter or a double click runs or pauses the chosen experiment, as Space
/// does; Del takes it off the list, which can be undone (Ctrl+Z while the list has the focus); the
/// menu has everything. Thread: UI.
class QueuePanel : public ListPanel {
    Q_OBJECT

public:
    QueuePanel(const Theme& theme,
               ExperimentQueue& queue,
               const RunWatcher& watcher,
               QWidget* parent = nullptr);

    /// Marks a job without emitting chosen(); an empty id marks none.
    void setCurrent(const QString& id);

    /// What can be done with a job, for menus.
    void fillMenu(QMenu& menu, const QString& id);

signals:
    /// The user pointed at a job.
    void chosen(const QString& id);
    void openDataAsked();
    void folderAsked(const QString& folder);

protected:
    void choose(const QModelIndex& index) override;
    void restyle() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showState();
    void runOrPause(const QString& id);
    void remove(const QString& id);
    QString currentId() const;

    ExperimentQueue& m_queue;
    JobListModel* m_model;
    QPushButton* m_open;
    QPushButton* m_start;
    RemovalBar* m_removals;
    QString m_marked;
};

} // namespace ui
