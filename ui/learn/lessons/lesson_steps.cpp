// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_steps.h"

#include "ui/bridge/pending_changes.h"

#include <QUndoStack>

#include <algorithm>
#include <utility>

namespace ui {

LessonSteps::LessonSteps(QUndoStack& history, QObject* parent)
    : QObject(parent)
    , m_history(history) {
    connect(&history, &QUndoStack::indexChanged, this, [this](int index) {
        m_hasChanges = m_hasChanges || index > m_first;
        m_first = std::min(m_first, index); // a step of before was undone
    });
}

void LessonSteps::begin() {
    m_first = m_history.index();
    m_hasChanges = false;
}

/// A history gives up a step only when it is undone; one that is obsolete does nothing then.
void LessonSteps::drop() {
    const int first = std::exchange(m_first, -1);
    if (first < 0 || !std::exchange(m_hasChanges, false))
        return;
    auto* end = new QUndoCommand; // in the place of what was undone
    m_history.push(end);
    end->setObsolete(true);
    for (int i = first; i < m_history.count(); ++i) {
        const int id = m_history.command(i)->id();
        if (id != -1 && id != kSamplingStepId)
            const_cast<QUndoCommand*>(m_history.command(i))->setObsolete(true);
    }
    while (m_history.canUndo() && m_history.command(m_history.index() - 1)->isObsolete())
        m_history.undo();
}

} // namespace ui
