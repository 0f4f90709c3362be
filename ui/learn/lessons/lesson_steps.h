// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QList>
#include <QObject>

class QUndoCommand;
class QUndoStack;

namespace ui {

/// What is changed in a lesson, on the window's undo history: once the lesson has given back what
/// the user had chosen, none of it is a step of the user's any more. Thread: UI.
class LessonSteps : public QObject {
    Q_OBJECT

public:
    /// `history` must outlive it.
    explicit LessonSteps(QUndoStack& history, QObject* parent = nullptr);

    /// From now on what is changed belongs to a lesson.
    void begin();

    /// Takes off the history what was changed since begin(), undone or not, and undoes nothing of
    /// it. What no lesson gives back stays: a change of what is stored on the disk, which has no
    /// id, and one of the sampling. So do steps of before that were done again meanwhile.
    void drop();

private:
    QUndoStack& m_history;
    bool m_isRunning = false;
    QList<const QUndoCommand*> m_before; ///< the steps of before that the history still has
};

} // namespace ui
