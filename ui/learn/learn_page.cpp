// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/learn_page.h"

#include "ui/learn/empty_learn.h"

#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

LearnPage::LearnPage(const ViewContext& context,
                     ViewMenu& menu,
                     const std::vector<LearnStage>& stages,
                     QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_stack(new QStackedWidget(this))
    , m_empty(new EmptyLearn(context.theme)) {
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(m_stack);
    m_stack->addWidget(m_empty);
    for (const LearnStage& stage : stages) {
        m_views.push_back(stage.make(context));
        m_needsRound.push_back(stage.needsRound);
        m_stack->addWidget(menu.titled(m_views.back()));
    }
    context.bridge.add(*this, Topic::Answers | Topic::Model);
    refresh({});
}

LearnPage::~LearnPage() { m_context.bridge.remove(*this); }

bool LearnPage::isEmpty() const { return m_context.store.answers().latestShown() == nullptr; }

void LearnPage::showStage(int index) {
    if (index < 0 || index >= static_cast<int>(m_views.size()))
        return;
    m_stage = index;
    refresh({});
    emit stageShown(index);
}

void LearnPage::showStage(const QString& id) {
    const auto found =
        std::ranges::find_if(m_views, [&](const View* view) { return view->info().id == id; });
    if (found != m_views.end())
        showStage(static_cast<int>(found - m_views.begin()));
}

void LearnPage::refresh(Topics) {
    const bool isWaiting = m_needsRound.at(static_cast<std::size_t>(m_stage)) && isEmpty();
    m_stack->setCurrentIndex(isWaiting ? 0 : m_stage + 1);
}

} // namespace ui
