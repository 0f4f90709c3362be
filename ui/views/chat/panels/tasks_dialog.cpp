// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/panels/tasks_dialog.h"

#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

enum TaskColumn { TaskName, TaskPrompts, TaskMet, TaskColumnCount };

/// A name may hold line breaks.
QString shownName(const std::string& name) { return QString::fromStdString(name).simplified(); }

QString dayText(std::int64_t seconds) {
    const QDate day = QDateTime::fromSecsSinceEpoch(seconds).date();
    return day.isValid() ? QLocale().toString(day, QLocale::ShortFormat) : QString();
}

bool isOfTasks(const std::string& command) {
    return command == "list_tasks" || command == "rename_task" || command == "forget_task";
}

QTableWidgetItem* fixedItem(const QString& text, Qt::Alignment alignment) {
    auto* item = new QTableWidgetItem(text);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    item->setTextAlignment(alignment | Qt::AlignVCenter);
    return item;
}

} // namespace

TasksDialog::TasksDialog(const Theme& theme,
                         EngineBridge& bridge,
                         const QString& selected,
                         QWidget* parent)
    : QDialog(parent)
    , m_bridge(bridge)
    , m_empty(plainLabel(this, true))
    , m_table(new QTableWidget(0, TaskColumnCount, this))
    , m_note(plainLabel(this, true))
    , m_act(new QPushButton(this))
    , m_keep(new QPushButton(tr("Keep it"), this))
    , m_rename(new QPushButton(tr("Rename the task"), this))
    , m_forget(new QPushButton(tr("Forget the task..."), this))
    , m_selected(selected.toStdString()) {
    setWindowTitle(tr("Tasks recognised"));
    makeParts(theme);
    connect(&bridge, &EngineBridge::eventCame, this, &TasksDialog::takeEvent);
    connect(m_table, &QTableWidget::cellChanged, this, &TasksDialog::renameShown);
    connect(m_table, &QTableWidget::currentCellChanged, this, [this] {
        const TaskSummary* task = current();
        m_selected = task == nullptr ? std::string() : task->name;
    });
    connect(m_rename, &QPushButton::clicked, this, [this] {
        if (current() != nullptr)
            m_table->editItem(m_table->item(m_table->currentRow(), TaskName));
    });
    connect(m_forget, &QPushButton::clicked, this, &TasksDialog::askToForget);
    auto* remove =
        new QShortcut(QKeySequence::Delete, m_table, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, &TasksDialog::askToForget);
    connect(m_act, &QPushButton::clicked, this, [this] {
        if (const auto act = std::exchange(m_action, {}))
            act();
    });
    connect(m_keep, &QPushButton::clicked, this, [this] {
        tell({});
        m_table->setFocus();
    });
    showTasks();
    list();
}

/// The list goes after the other members, and a name that is being typed is told then.
TasksDialog::~TasksDialog() { m_table->disconnect(this); }

void TasksDialog::makeParts(const Theme& theme) {
    auto* intro = plainLabel(this, true);
    intro->setText(tr("Each answer names the task that its prompt is most like. Here you can give "
                      "a task a name of yours: new prompts get it, and answers keep the name that "
                      "they have."));
    m_table->setAccessibleName(tr("Tasks known for this model"));
    m_table->setHorizontalHeaderLabels({tr("Task"), tr("Prompts learnt"), tr("Last met")});
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(TaskName, QHeaderView::Stretch);
    m_table->verticalHeader()->hide();
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    m_table->setTabKeyNavigation(false);
    m_rename->setToolTip(tr("Also by F2 or a double click"));
    m_forget->setToolTip(tr("Also by Del"));
    auto* close = new QPushButton(tr("Close"), this);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    auto* noteRow = new QHBoxLayout;
    noteRow->addWidget(m_note, 1);
    noteRow->addWidget(m_act);
    noteRow->addWidget(m_keep);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_rename);
    buttons->addWidget(m_forget);
    buttons->addStretch();
    buttons->addWidget(close);
    auto* rows = new QVBoxLayout(this);
    rows->addWidget(intro);
    rows->addWidget(m_empty);
    rows->addWidget(m_table, 1);
    rows->addLayout(noteRow);
    rows->addLayout(buttons);
    for (QPushButton* button : findChildren<QPushButton*>()) {
        button->setProperty("form", "small");
        button->setAutoDefault(false);
    }
    resize(theme.scaledWindow(*this, 560, 420));
    m_empty->setText(tr("No task is known for this model yet. One begins with the first message of "
                        "a chat, unless the settings switch this off."));
    tell({});
}

const TaskSummary* TasksDialog::current() const {
    const int row = m_table->currentRow();
    return row < 0 || row >= static_cast<int>(m_tasks.size())
               ? nullptr
               : &m_tasks[static_cast<std::size_t>(row)];
}

void TasksDialog::takeEvent(const EngineEvent& event) {
    if (const auto* listed = event.as<TasksListed>(); listed && listed->requestId == m_request) {
        m_tasks = listed->tasks;
        showTasks();
        if (!listed->note.empty())
            tell({QString::fromStdString(listed->note)});
        else if (m_noteOnDone)
            tell(*std::exchange(m_noteOnDone, std::nullopt));
    } else if (const auto* failed = event.as<EngineFailed>(); failed && isOfTasks(failed->task)) {
        m_noteOnDone.reset();
        showTasks(); // with the names that are still there
        tell({QString::fromStdString(failed->error.message)});
    } else if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr) {
        m_tasks.clear();
        list();
    } else if (event.as<PromptFinished>() != nullptr && !isEdited()) {
        list(); // its prompt was learnt
    }
}

void TasksDialog::showTasks() {
    const QSignalBlocker quiet(m_table);
    m_table->setRowCount(static_cast<int>(m_tasks.size()));
    int chosen = m_tasks.empty() ? -1 : 0;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const TaskSummary& task = m_tasks[static_cast<std::size_t>(row)];
        auto* name = new QTableWidgetItem(shownName(task.name));
        name->setToolTip(tipOf(shownName(task.name)));
        m_table->setItem(row, TaskName, name);
        m_table->setItem(row, TaskPrompts, fixedItem(numberText(task.prompts), Qt::AlignRight));
        m_table->setItem(row, TaskMet, fixedItem(dayText(task.metAt), Qt::AlignLeft));
        if (task.name == m_selected)
            chosen = row;
    }
    m_table->setCurrentCell(chosen, TaskName);
    if (const TaskSummary* task = current())
        m_selected = task->name;
    m_empty->setVisible(m_tasks.empty());
    const bool isFirst = m_table->isHidden() && !m_tasks.empty();
    m_table->setVisible(!m_tasks.empty());
    if (isFirst)
        m_table->setFocus();
    m_rename->setEnabled(!m_tasks.empty());
    m_forget->setEnabled(!m_tasks.empty());
}

/// A name is being typed.
bool TasksDialog::isEdited() const {
    return qobject_cast<const QLineEdit*>(focusWidget()) != nullptr;
}

void TasksDialog::tell(Note note) {
    m_note->setText(note.sentence);
    m_note->setVisible(!note.sentence.isEmpty());
    m_action = std::move(note.act);
    m_act->setText(note.button);
    m_act->setAccessibleName(note.button.isEmpty() ? tr("Action of the note") : note.button);
    m_act->setVisible(!note.button.isEmpty());
    m_keep->setVisible(note.isQuestion);
    if (note.isQuestion)
        m_keep->setFocus();
}

/// The command carries the number of the newest request.
bool TasksDialog::send(EngineCommand command) {
    if (m_bridge.send(std::move(command)))
        return true;
    showTasks();
    tell({m_bridge.isReplay() ? tr("Nothing was changed: a recording is shown, and no engine runs.")
                              : busyText()});
    return false;
}

void TasksDialog::list() { send(ListTasks{++m_request}); }

/// What was typed into the list is asked for where it makes one task of two.
void TasksDialog::renameShown(int row) {
    const std::string task = m_tasks.at(static_cast<std::size_t>(row)).name;
    const QString typed = m_table->item(row, TaskName)->text().trimmed();
    const std::string name = typed.toStdString();
    if (typed.isEmpty() || typed == shownName(task)) {
        showTasks();
        return;
    }
    if (std::ranges::count(m_tasks, name, &TaskSummary::name) == 0) {
        rename(task, name);
        return;
    }
    showTasks();
    tell({tr("There is a task \u201C%1\u201D already. If \u201C%2\u201D gets this name, the two "
             "become one for good.")
              .arg(typed, shownName(task)),
          tr("Make them one"),
          [this, task, name] { rename(task, name); },
          true});
}

void TasksDialog::rename(const std::string& task, const std::string& name) {
    const bool isJoined = std::ranges::count(m_tasks, name, &TaskSummary::name) > 0;
    m_noteOnDone = Note{
        tr("\u201C%1\u201D is called \u201C%2\u201D now.").arg(shownName(task), shownName(name))};
    if (!isJoined) {
        m_noteOnDone->button = tr("Undo");
        m_noteOnDone->act = [this, task, name] { rename(name, task); };
    }
    if (send(RenameTask{++m_request, task, name}))
        m_selected = name;
}

void TasksDialog::askToForget() {
    const TaskSummary* task = current();
    if (task == nullptr)
        return;
    const QString prompts = countText(task->prompts, tr("the only prompt"), tr("the %1 prompts"));
    tell({tr("Forget %1 of \u201C%2\u201D? Prompts like this begin a new task then. The skip set "
             "and all chats stay.")
              .arg(prompts, shownName(task->name)),
          tr("Forget"),
          [this, name = task->name] { forget(name); },
          true});
}

void TasksDialog::forget(const std::string& task) {
    m_noteOnDone = Note{tr("\u201C%1\u201D is forgotten.").arg(shownName(task))};
    send(ForgetTask{++m_request, task});
}

} // namespace ui
