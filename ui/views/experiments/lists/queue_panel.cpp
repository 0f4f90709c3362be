// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/queue_panel.h"

#include "ui/icons/icons.h"
#include "ui/shell/bars/removal_bar.h"
#include "ui/views/experiments/lists/row_delegates.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QListView>
#include <QMenu>
#include <QPushButton>

#include <algorithm>

namespace ui {

QueuePanel::QueuePanel(const Theme& theme,
                       ExperimentQueue& queue,
                       const RunWatcher& watcher,
                       QWidget* parent)
    : ListPanel(theme,
                tr("Queue of experiments"),
                new JobListModel(queue, watcher),
                new JobRowDelegate(theme),
                parent)
    , m_queue(queue)
    , m_model(static_cast<JobListModel*>(list().model()))
    , m_open(new QPushButton(tr("Open data...")))
    , m_start(new QPushButton(tr("Start")))
    , m_removals(new RemovalBar(theme)) {
    for (QPushButton* button : {m_open, m_start}) {
        button->setProperty("form", QStringLiteral("small"));
        head().addWidget(button);
    }
    head().addStretch(1);
    column().addWidget(m_removals);
    connect(m_removals, &RemovalBar::undone, this, [this] { list().setFocus(); });
    m_open->setToolTip(tr("Run prompts of your own: JSONL, CSV, TSV, text, or a folder of them"));
    m_start->setToolTip(tr("Run what waits, one after the other"));
    list().setContextMenuPolicy(Qt::CustomContextMenu);
    list().installEventFilter(this);
    connect(m_open, &QPushButton::clicked, this, &QueuePanel::openDataAsked);
    connect(m_start, &QPushButton::clicked, this, [this] {
        const auto& jobs = m_queue.jobs();
        const auto next = std::ranges::find(jobs, JobState::Waiting, &ExperimentJob::state);
        if (next != jobs.end())
            m_queue.run(QString(next->id));
    });
    connect(&list(), &QListView::doubleClicked, this, [this](const QModelIndex& index) {
        runOrPause(m_model->idAt(index));
    });
    connect(&list(), &QListView::customContextMenuRequested, this, [this](const QPoint& at) {
        const QModelIndex index = list().indexAt(at);
        if (!index.isValid())
            return;
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        fillMenu(*menu, m_model->idAt(index));
        menu->popup(list().viewport()->mapToGlobal(at));
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] { setCurrent(m_marked); });
    connect(&queue, &ExperimentQueue::changed, this, &QueuePanel::showState);
    restyle();
    showState();
}

QString QueuePanel::currentId() const { return m_model->idAt(list().currentIndex()); }

void QueuePanel::setCurrent(const QString& id) {
    m_marked = id;
    mark(m_model->indexOf(id));
}

void QueuePanel::choose(const QModelIndex& index) {
    m_marked = m_model->idAt(index);
    emit chosen(m_marked);
}

void QueuePanel::showState() {
    const auto& jobs = m_queue.jobs();
    setNote(jobs.empty() ? tr("Nothing in the queue. Choose a recipe, or open data of your own.")
                         : QString());
    const bool hasWaiting =
        std::ranges::find(jobs, JobState::Waiting, &ExperimentJob::state) != jobs.end();
    m_start->setVisible(hasWaiting && m_queue.current() == nullptr);
}

void QueuePanel::runOrPause(const QString& id) {
    const ExperimentJob* job = m_queue.job(id);
    if (job == nullptr)
        return;
    if (job->state == JobState::Running)
        m_queue.pause(id);
    else
        m_queue.run(id);
}

/// The files of the run stay, so that everything is there when it comes back.
void QueuePanel::remove(const QString& id) {
    const auto removed = m_queue.remove(id);
    if (!removed)
        return;
    m_removals->add({tr("Taken off the list"),
                     tr("Took \u201C%1\u201D off the list. Its files stay in %2")
                         .arg(removed->job.title, removed->job.folder),
                     tr("Put the experiment back on the list"),
                     [this, removed = *removed] {
                         m_queue.restore(removed);
                         emit chosen(removed.job.id);
                     }});
}

void QueuePanel::fillMenu(QMenu& menu, const QString& id) {
    const ExperimentJob* job = m_queue.job(id);
    if (job == nullptr)
        return;
    if (job->isStopping)
        menu.addAction(tr("End at once"), this, [this, id] { m_queue.stop(id); });
    else if (job->state == JobState::Running)
        menu.addAction(tr("Pause"), this, [this, id] { m_queue.pause(id); });
    else if (job->state == JobState::Waiting)
        menu.addAction(tr("Run next"), this, [this, id] { m_queue.run(id); });
    else if (job->state != JobState::Finished)
        menu.addAction(tr("Resume"), this, [this, id] { m_queue.run(id); });
    if (job->isAtWork() && !job->isStopping)
        menu.addAction(tr("Stop"), this, [this, id] { m_queue.stop(id); });
    if (job->isOver() || job->state == JobState::Stopped)
        menu.addAction(tr("Run again"), this, [this, id] { emit chosen(m_queue.runAgain(id)); });
    menu.addAction(
        tr("Show the folder"), this, [this, folder = job->folder] { emit folderAsked(folder); });
    menu.addSeparator();
    menu.addAction(job->isAtWork() ? tr("Cancel") : tr("Remove from the list"), this, [this, id] {
        remove(id);
    });
}

bool QueuePanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == &list() && m_removals->takesUndoKey(*event))
        return true;
    if (watched != &list() || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const QString id = currentId();
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
        emit chosen(id);
        runOrPause(id);
        return true;
    case Qt::Key_Delete:
        remove(id);
        return true;
    default:
        return QWidget::eventFilter(watched, event);
    }
}

void QueuePanel::restyle() {
    ListPanel::restyle();
    const Colours& colours = theme().colours();
    m_open->setIcon(makeIcon(IconName::Folder, colours.text, colours.disabled));
    m_start->setIcon(makeIcon(IconName::Play, colours.text, colours.disabled));
}

} // namespace ui
