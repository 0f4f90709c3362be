// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/run_view.h"

#include <utility>

namespace ui {

RunView::RunView(const ViewContext& context, ViewInfo info, QWidget* parent)
    : View(context, std::move(info), parent) {
    connect(this, &View::frozenChanged, this, &RunView::showIfSeen);
}

void RunView::setPicture(const RunPicturePtr& picture) {
    const bool isAnother =
        m_picture == nullptr || picture == nullptr || m_picture->folder != picture->folder;
    if (isAnother)
        setFrozen(false);
    m_picture = picture;
    m_isStale = true;
    showIfSeen();
}

void RunView::showIfSeen() {
    if (isShowing() && std::exchange(m_isStale, false))
        refresh({});
}

void RunView::refreshView(Topics) { showPicture(); }

/// Before it has its place in a page that appears, it does not count as seen.
void RunView::showEvent(QShowEvent* event) {
    View::showEvent(event);
    if (!isFrozen() && std::exchange(m_isStale, false))
        refresh({});
}

} // namespace ui
