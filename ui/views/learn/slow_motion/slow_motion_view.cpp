// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include "ui/shell/widgets/live_label.h"
#include "ui/views/draft_tree/draft_tree_view.h"

#include <QPainter>
#include <QVBoxLayout>

namespace ui {

namespace {

ViewInfo slowMotionInfo() {
    return {QStringLiteral("slow_motion"),
            SlowMotionView::tr("Slow motion"),
            SlowMotionView::tr("One round of an answer, taken apart: what was drafted, how the "
                               "full model checked it in one pass, and what was kept."),
            Topic::Answers | Topic::Selection,
            200};
}

} // namespace

SlowMotionView::SlowMotionView(const ViewContext& context, QWidget* parent)
    : View(context, slowMotionInfo(), parent)
    , m_sentence(new LiveLabel(
          theme(), TextRole::Conversation, &Colours::text, LiveLabel::Fit::Wrapped, this))
    , m_tree(new CombPicture(theme(), DraftTreeForm::Full, this)) {
    auto* rows = new QVBoxLayout(this);
    rows->addWidget(m_sentence);
    rows->addWidget(m_tree);
    rows->addStretch(1);
    refreshView({});
}

void SlowMotionView::refreshView(Topics) {
    const ShownStep shown = shownStep(store(), selection());
    if (shown.step == nullptr) {
        m_sentence->setText(tr("No round has drafted anything yet."));
        m_tree->show({});
        return;
    }
    m_sentence->setText(tr("Round %1 drafted %2 candidates and kept %3 of them.")
                            .arg(shown.step->step + 1)
                            .arg(shown.step->draft.size())
                            .arg(shown.step->path.size()));
    m_tree->show(makeDraftComb(*shown.step, textBefore(*shown.answer, *shown.step)));
    setSubtitle(tr("round %1 of the answer").arg(shown.step->step + 1));
}

void SlowMotionView::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), theme().colours().panel);
}

} // namespace ui
