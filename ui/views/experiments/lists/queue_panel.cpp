// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/queue_panel.h"

#include "ui/icons/icons.h"
#include "ui/views/experiments/lists/row_delegates.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

QueuePanel::QueuePanel(const Theme& theme,
                       ExperimentQueue& queue,
                       const RunWatcher& watcher,
                       QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_queue(queue)
    , m_model(new JobListModel(queue, watcher, this))
    , m_open(new QPushButton(tr("Open data...")))
    , m_start(new QPushButton(tr("Start")))
    , m_list(new QListView)
    , m_empty(plainLabel(this, true)) {
    for (QPushButton* button : {m_open, m_start})
        button->setProperty("form", QStringLiteral("small"));
    m_open->setToolTip(tr("Run prompts of your own: JSONL, CSV, TSV, text, or a folder of them"));
    m_start->setToolTip(tr("Run what waits, one after the other"));
    m_list->setModel(m_model);
    m_list->setItemDelegate(new JobRowDelegate(theme, m_list));
    m_list->setAccessibleName(tr("Queue of experiments"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->installEventFilter(this);
    auto* head = new QHBoxLayout;
    head->addWidget(m_open);
    head->addWidget(m_start);
    head->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(m_empty);
    column->addWidget(m_list, 1);
    connect(m_open, &QPushButton::clicked, this, &QueuePanel::openDataAsked);
    connect(m_start, &QPushButton::clicked, this, [this] {
        const auto& jobs = m_queue.jobs();
        const auto next = std::ranges::find(jobs, JobState::Waiting, &ExperimentJob::state);
        if (next != jobs.end())
            m_queue.run(QString(next->id));
    });
    const auto choose = [this](const QModelIndex& index) {
        if (m_isMarking || !index.isValid())
            return;
        m_marked = m_model->idAt(index);
        emit chosen(m_marked);
    };
    connect(m_list->selectionModel(),
            &QItemSelectionModel::currentChanged,
            this,
            [choose](const QModelIndex& index, const QModelIndex& previous) {
                if (previous.isValid()) // else only the focus came
                    choose(index);
            });
    connect(m_list, &QListView::clicked, this, choose);
    connect(m_list, &QListView::doubleClicked, this, [this](const QModelIndex& index) {
        runOrPause(m_model->idAt(index));
    });
    connect(m_list, &QListView::customContextMenuRequested, this, [this](const QPoint& at) {
        const QModelIndex index = m_list->indexAt(at);
        if (!index.isValid())
            return;
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        fillMenu(*menu, m_model->idAt(index));
        menu->popup(m_list->viewport()->mapToGlobal(at));
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] { setCurrent(m_marked); });
    connect(&queue, &ExperimentQueue::changed, this, &QueuePanel::showState);
    connect(&theme, &Theme::changed, this, &QueuePanel::restyle);
    restyle();
    showState();
}

QString QueuePanel::currentId() const { return m_model->idAt(m_list->currentIndex()); }

void QueuePanel::setCurrent(const QString& id) {
    m_isMarking = true;
    m_marked = id;
    const QModelIndex index = m_model->indexOf(id);
    if (index.isValid()) {
        m_list->setCurrentIndex(index);
    } else {
        m_list->clearSelection();
        m_list->setCurrentIndex({});
    }
    m_isMarking = false;
}

void QueuePanel::showState() {
    const auto& jobs = m_queue.jobs();
    m_empty->setVisible(jobs.empty());
    m_empty->setText(tr("Nothing in the queue. Choose a recipe, or open data of your own."));
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

void QueuePanel::fillMenu(QMenu& menu, const QString& id) {
    const ExperimentJob* job = m_queue.job(id);
    if (job == nullptr)
        return;
    if (job->state == JobState::Running)
        menu.addAction(tr("Pause"), this, [this, id] { m_queue.pause(id); });
    else if (job->state == JobState::Waiting)
        menu.addAction(tr("Run next"), this, [this, id] { m_queue.run(id); });
    else if (job->state != JobState::Finished)
        menu.addAction(tr("Resume"), this, [this, id] { m_queue.run(id); });
    if (job->isAtWork())
        menu.addAction(tr("Stop"), this, [this, id] { m_queue.stop(id); });
    if (job->isOver() || job->state == JobState::Stopped)
        menu.addAction(tr("Run again"), this, [this, id] { emit chosen(m_queue.runAgain(id)); });
    menu.addAction(
        tr("Show the folder"), this, [this, folder = job->folder] { emit folderAsked(folder); });
    menu.addSeparator();
    menu.addAction(job->isAtWork() ? tr("Cancel") : tr("Remove from the list"), this, [this, id] {
        m_queue.remove(id);
    });
}

bool QueuePanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_list || event->type() != QEvent::KeyPress)
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
        m_queue.remove(id);
        return true;
    default:
        return QWidget::eventFilter(watched, event);
    }
}

void QueuePanel::restyle() {
    const int gap = m_theme.scaled(8);
    auto* column = static_cast<QVBoxLayout*>(layout());
    column->itemAt(0)->layout()->setContentsMargins(gap, gap, gap, m_theme.scaled(4));
    column->itemAt(0)->layout()->setSpacing(gap);
    m_empty->setContentsMargins(m_theme.scaled(12), gap, m_theme.scaled(12), gap);
    setTextColour(*m_empty, m_theme.colours().muted);
    m_open->setIcon(makeIcon(IconName::Folder, m_theme.colours().text, m_theme.colours().disabled));
    m_start->setIcon(makeIcon(IconName::Play, m_theme.colours().text, m_theme.colours().disabled));
    m_list->doItemsLayout();
    update();
}

QSize QueuePanel::minimumSizeHint() const {
    return {m_theme.scaled(220), QWidget::minimumSizeHint().height()};
}

void QueuePanel::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), m_theme.colours().panel);
}

} // namespace ui
