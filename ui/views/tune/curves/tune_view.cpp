// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/curves/tune_view.h"

#include <utility>

namespace ui {

TuneView::TuneView(const ViewContext& context,
                   const TuningSession& session,
                   ViewInfo info,
                   QWidget* parent)
    : View(context, std::move(info), parent)
    , m_session(session) {
    connect(this, &View::frozenChanged, this, &TuneView::showIfSeen);
    connect(&session, &TuningSession::changed, this, &TuneView::note);
}

void TuneView::note() {
    if (std::exchange(m_number, m_session.number()) != m_session.number())
        setFrozen(false); // it was another training that was to stay
    m_isStale = true;
    showIfSeen();
}

void TuneView::showIfSeen() {
    if (isShowing() && std::exchange(m_isStale, false))
        refresh({});
}

void TuneView::refreshView(Topics) { showRun(); }

/// Before it has its place in a page that appears, it does not count as seen.
void TuneView::showEvent(QShowEvent* event) {
    View::showEvent(event);
    if (!isFrozen() && std::exchange(m_isStale, false))
        refresh({});
}

} // namespace ui
