// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/empty_learn.h"
#include "ui/learn/learn_page.h"
#include "ui/learn/stage_list.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/learn/sides/sides_view.h"

// The workspace Learn: its stages and the way to them.

namespace ui {

namespace {

constexpr int kLearnDigit = 4; ///< of its keys, also in a replay, where Experiments is missing

constexpr QLatin1String kLossless("lossless"); // ids of stages
constexpr QLatin1String kSplit("split_chat");

} // namespace

SidesView* Studio::sides(const QString& stage) const {
    for (View* view : m_learnPage->findChildren<View*>())
        if (view->info().id == stage)
            return static_cast<SidesView*>(view);
    return nullptr;
}

SidesView* Studio::runningSides() const {
    for (const QLatin1String stage : {kLossless, kSplit})
        if (SidesView* view = sides(stage); view != nullptr && view->run().isRunning())
            return view;
    return nullptr;
}

/// Shows a stage of two sides with the question of this message (0 = the newest of the chat), and
/// asks it at once on request.
void Studio::showSides(const QString& stage, MessageId message, bool isAsked) {
    m_window->showWorkspace(QStringLiteral("learn_workspace"));
    m_learnPage->showStage(stage);
    if (const auto question = m_session->asideOf(message))
        sides(stage)->setQuestion(*question, isAsked);
    else
        sides(stage)->questionField().setFocus();
}

void Studio::addSideActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& run = *m_window->menu(MainWindow::tr("&Run"));
    run.addSeparator();
    run.addAction(catalog.add(QStringLiteral("run.lossless"),
                              tr("Learn"),
                              tr("&Lossless check"),
                              {QKeySequence(QStringLiteral("Ctrl+Shift+D"))},
                              [this] { showSides(kLossless, 0, true); }));
    run.addAction(catalog.add(QStringLiteral("run.split"),
                              tr("Learn"),
                              tr("Split c&hat"),
                              {QKeySequence(QStringLiteral("Ctrl+Shift+B"))},
                              [this] { showSides(kSplit, 0, false); }));
    connect(&m_chatView->conversation(),
            &ConversationView::losslessAsked,
            this,
            [this](MessageId answer) { showSides(kLossless, answer, true); });
    for (const QLatin1String stage : {kLossless, kSplit}) {
        SidesView* view = sides(stage);
        view->setQuestionMaker([this](const QString& words) { return m_session->asideOf(words); });
        view->setPresets(
            PresetShelf(m_options.presetsFolder, m_options.ownPresetsFolder).presets());
        connect(view, &SidesView::stateChanged, this, &Studio::updateActions);
        connect(view, &SidesView::chatQuestionAsked, this, [this, stage] {
            showSides(stage, 0, false);
        });
        connect(view, &SidesView::leaveAsked, this, [this] { m_window->showWorkspace(0); });
        connect(view,
                &SidesView::answersKept,
                this,
                [this](const ChatSession::Aside& question, const QList<StoredMessage>& answers) {
                    if (!m_session->keepAnswers(question, answers)) {
                        m_window->messages().show(
                            {Notice::Kind::Warning,
                             QStringLiteral("not_kept"),
                             tr("The answer was not kept."),
                             tr("Open the chat that the question belongs to, and wait for the end "
                                "of an answer that is being written there. Then keep it again.")});
                        return;
                    }
                    m_window->showWorkspace(0);
                });
    }
}

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
    connect(list, &StageList::chosen, m_learnPage, qOverload<int>(&LearnPage::showStage));
    connect(m_learnPage, &LearnPage::stageShown, list, &StageList::setCurrent);
    connect(&m_learnPage->emptyPage(), &EmptyLearn::chatAsked, this, [this] {
        m_window->showWorkspace(QStringLiteral("chat_workspace"));
    });
    connect(&m_learnPage->emptyPage(), &EmptyLearn::recordingAsked, this, &Studio::askForRecording);
    m_window->addWorkspace(workspace, tr("Learn"), IconName::Learn, kLearnDigit);
}

} // namespace ui
