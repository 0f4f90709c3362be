// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/theme/theme.h"

#include <QDialog>

#include <functional>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QTableWidget;

namespace ui {

/// The tasks that are known for the model: one can be renamed, which can be undone, or forgotten,
/// after a question. The engine does both and tells what is known then.
class TasksDialog : public QDialog {
    Q_OBJECT

public:
    /// `selected` is the task that is chosen at first. The bridge outlives the dialog.
    TasksDialog(const Theme& theme,
                EngineBridge& bridge,
                const QString& selected = {},
                QWidget* parent = nullptr);
    ~TasksDialog() override;

private:
    /// A sentence below the list, and what its button does.
    struct Note {
        QString sentence;
        QString button = {}; ///< empty = none
        std::function<void()> act = {};
        bool isQuestion = false; ///< which can also be answered by no
    };

    /// A task of the list; the name is the engine's, whatever is shown of it.
    const engine::TaskSummary* current() const;

    void makeParts(const Theme& theme);
    void takeEvent(const engine::EngineEvent& event);
    void showTasks();
    bool isEdited() const;
    void tell(Note note);
    bool send(engine::EngineCommand command);
    void list();
    void renameShown(int row);
    void rename(const std::string& task, const std::string& name);
    void askToForget();
    void forget(const std::string& task);

    EngineBridge& m_bridge;
    QLabel* m_empty;
    QTableWidget* m_table;
    QLabel* m_note;
    QPushButton* m_act;
    QPushButton* m_keep;
    QPushButton* m_rename;
    QPushButton* m_forget;
    std::vector<engine::TaskSummary> m_tasks;
    std::string m_selected;
    std::function<void()> m_action;   ///< of the note's button
    std::optional<Note> m_noteOnDone; ///< told when the engine has done what was asked
    std::uint64_t m_request = 0;      ///< the newest; older replies are passed over
};

} // namespace ui
