// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/stream_page.h"

#include "ui/views/experiments/stream/drift_view.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/task_tiles_view.h"

#include <QKeyEvent>
#include <QLineEdit>

#include <algorithm>
#include <utility>

namespace ui {

StreamPage::StreamPage(const ViewContext& context, ViewMenu& menu, QWidget* parent)
    : QSplitter(Qt::Vertical, parent)
    , m_theme(context.theme)
    , m_tasks(new TaskTilesView(context))
    , m_drift(new DriftView(context))
    , m_prompts(new PromptsView(context)) {
    setChildrenCollapsible(false);
    setHandleWidth(1);
    for (RunView* view : {static_cast<RunView*>(m_tasks),
                          static_cast<RunView*>(m_drift),
                          static_cast<RunView*>(m_prompts)})
        addWidget(menu.titled(view));
    setStretchFactor(2, 1);
    connect(m_tasks, &TaskTilesView::taskChosen, this, [this](const QString& task) {
        m_prompts->setSlice(QStringLiteral("task = ") + sliceValue(task));
    });
    connect(m_drift, &DriftView::promptChosen, m_prompts, &PromptsView::showPrompt);
}

void StreamPage::keyPressEvent(QKeyEvent* event) {
    if (event->text() == QLatin1String("/"))
        m_prompts->field().setFocus(Qt::ShortcutFocusReason);
    else
        QSplitter::keyPressEvent(event);
}

/// Once the number of tasks is known: their maps get what they need, the rest is shared as the user
/// leaves it.
void StreamPage::shareHeight() {
    if (!std::exchange(m_isShared, !m_tasks->tiles().empty()) && m_isShared) {
        const int title = m_theme.scaled(28);
        const int maps = m_tasks->sizeHint().height() + title;
        const int drift = m_drift->sizeHint().height() + title;
        setSizes({maps, drift, std::max(drift, height() - maps - drift)});
    }
}

void StreamPage::setPicture(const RunPicturePtr& picture, bool isAtWork) {
    const QString folder = picture != nullptr ? picture->folder : QString();
    if (std::exchange(m_folder, folder) != folder) {
        m_prompts->setSlice({});
        m_isShared = false;
    }
    m_tasks->setAtWork(isAtWork);
    m_tasks->setPicture(picture);
    m_drift->setPicture(picture);
    m_prompts->setPicture(picture);
    shareHeight();
}

} // namespace ui
