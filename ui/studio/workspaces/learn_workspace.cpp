// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/empty_learn.h"
#include "ui/learn/learn_page.h"
#include "ui/learn/stage_list.h"
#include "ui/shell/docks/dock_title.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/studio/studio.h"
#include "ui/views/learn/lens/lens_view.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

// The workspace Learn: its stages and the way to them.

namespace ui {

namespace {

const QString kLearnName = QStringLiteral("learn_workspace");
constexpr int kLearnDigit = 4; ///< of its keys, also in a replay, where Experiments is missing

} // namespace

void Studio::makeLearnWorkspace() {
    auto* workspace = new Workspace(kLearnName, m_theme);
    const std::vector<LearnStage> stages = learnStages();
    m_learnPage = new LearnPage(context(), *m_viewMenu, stages);
    auto* list = new StageList(m_theme, stages);
    workspace->setCentralWidget(m_learnPage);
    workspace->setHome(m_learnPage->stageView(m_learnPage->stage()));
    connect(m_learnPage, &LearnPage::stageShown, workspace, [this, workspace](int index) {
        workspace->setHome(m_learnPage->stageView(index));
    });
    auto* column = new QWidget;
    auto* rows = new QVBoxLayout(column);
    rows->setContentsMargins(0, 0, 0, 0);
    auto* lessons = new QPushButton(tr("Lessons"), column);
    connect(lessons, &QPushButton::clicked, this, &Studio::showLessons);
    connect(&m_learnPage->emptyPage(), &EmptyLearn::lessonsAsked, this, &Studio::showLessons);
    rows->addWidget(list, 1);
    auto* foot = new QHBoxLayout;
    const auto restyle = [this, foot, column] {
        const int gap = m_theme.scaled(12);
        foot->setContentsMargins(gap, gap, gap, gap);
        setGround(*column, m_theme.colours().panel);
    };
    connect(&m_theme, &Theme::changed, column, restyle);
    restyle();
    foot->addWidget(lessons, 1);
    rows->addLayout(foot);
    auto* scroll = new ColumnScroll; // on a low screen, or with large text
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(column);
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

/// The round of the chosen token, or the newest answer's; from the views of a round, too.
void Studio::addLearnActions() {
    QAction* action =
        m_window->actionCatalog().add(QStringLiteral("learn.slow_motion"),
                                      tr("Learn"),
                                      tr("Slow &motion of the round"),
                                      {},
                                      [this] {
                                          m_learnPage->showStage(QStringLiteral("slow_motion"));
                                          m_window->showWorkspace(kLearnName);
                                      });
    m_window->menu(MainWindow::tr("&View"))->addAction(action);
    m_window->menu(MainWindow::tr("&View"))
        ->addAction(m_window->actionCatalog().add(
            QStringLiteral("learn.lens"), tr("Learn"), tr("&Lens of the answer"), {}, [this] {
                m_learnPage->showStage(QStringLiteral("lens"));
                m_window->showWorkspace(kLearnName);
            }));
    for (View* view : views())
        if (view->info().topics.testFlag(Topic::Selection) && view->info().id != "slow_motion" &&
            view->info().topics.testFlag(Topic::Answers))
            view->addAction(action);
    for (Workspace* workspace : m_window->workspaces()) {
        QDockWidget* tree = workspace->dock(QStringLiteral("inspect.draft_tree"));
        auto* title = tree == nullptr ? nullptr : qobject_cast<DockTitle*>(tree->titleBarWidget());
        if (title == nullptr)
            continue;
        auto* button = new QToolButton(title);
        button->setText(tr("Slow motion"));
        button->setToolTip(tr("Walk through this round in Learn, stop by stop"));
        button->setAccessibleName(tr("Slow motion of this round"));
        title->addButton(button);
        connect(button, &QToolButton::clicked, action, &QAction::trigger);
    }
}

} // namespace ui
