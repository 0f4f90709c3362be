// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/empty_learn.h"
#include "ui/learn/learn_page.h"
#include "ui/learn/stage_list.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/studio/studio.h"
#include "ui/views/learn/lens/lens_view.h"

// The workspace Learn: its stages and the way to them.

namespace ui {

namespace {

constexpr int kLearnDigit = 4; ///< of its keys, also in a replay, where Experiments is missing

} // namespace

void Studio::makeLearnWorkspace() {
    auto* workspace = new Workspace(QStringLiteral("learn_workspace"), m_theme);
    const std::vector<LearnStage> stages = learnStages();
    m_learnPage = new LearnPage(context(), *m_viewMenu, stages);
    auto* list = new StageList(m_theme, stages);
    workspace->setCentralWidget(m_learnPage);
    workspace->setHome(m_learnPage);
    auto* scroll = new ColumnScroll; // on a low screen, or with large text
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(list);
    workspace->addDock({QStringLiteral("learn.stages"),
                        tr("Stages"),
                        scroll,
                        nullptr,
                        Qt::LeftDockWidgetArea,
                        {248, 0},
                        true});
    workspace->setArrangement([](Workspace&) {});
    if (auto* lens = m_learnPage->findChild<LensView*>())
        connect(lens,
                &LensView::branchAsked,
                this,
                [this](quint64 promptId, int token, const engine::TokenChoice& choice) {
                    if (m_session->branchAtPlace({promptId, token}, choice))
                        m_window->showWorkspace(QStringLiteral("chat_workspace"));
                });
    connect(list, &StageList::chosen, m_learnPage, qOverload<int>(&LearnPage::showStage));
    connect(m_learnPage, &LearnPage::stageShown, list, &StageList::setCurrent);
    connect(&m_learnPage->emptyPage(), &EmptyLearn::chatAsked, this, [this] {
        m_window->showWorkspace(QStringLiteral("chat_workspace"));
    });
    connect(&m_learnPage->emptyPage(), &EmptyLearn::recordingAsked, this, &Studio::askForRecording);
    m_window->addWorkspace(workspace, tr("Learn"), IconName::Learn, kLearnDigit);
}

} // namespace ui
