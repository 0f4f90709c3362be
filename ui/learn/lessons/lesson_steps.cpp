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
    // A new step takes the place of all that were undone.
    connect(&history, &QUndoStack::indexChanged, this, [this] {
        int kept = 0;
        while (kept < std::min<int>(static_cast<int>(m_before.size()), m_history.count()) &&
               m_history.command(kept) == m_before[kept])
            ++kept;
        m_before.resize(kept);
    });
}

void LessonSteps::begin() {
    m_isRunning = true;
    m_before.clear();
    for (int i = 0; i < m_history.count(); ++i)
        m_before.append(m_history.command(i));
}

/// A history gives up a step only when it is undone; one that is obsolete does nothing then.
void LessonSteps::drop() {
    const auto first = static_cast<int>(m_before.size());
    const bool hasChanges = m_history.count() > first;
    if (!std::exchange(m_isRunning, false) || !hasChanges)
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
