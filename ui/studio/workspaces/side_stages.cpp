// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/learn_page.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/learn/sides/sides_view.h"

#include <QLineEdit>
#include <QMenu>

// The ways to the stages Lossless check and Split chat, and back to the chat.

namespace ui {

namespace {

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
    const auto question = m_session->asideOf(message);
    if (question)
        sides(stage)->setQuestion(*question, isAsked);
    if (!question || !isAsked)
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
        view->setQuestionMaker(
            [this](const QString& words, MessageId question) -> std::optional<ChatSession::Aside> {
                if (question != 0)
                    return m_session->asideOf(question);
                return m_session->asideOf(words);
            });
        const auto takePresets = [this, view] {
            view->setPresets(
                PresetShelf(m_options.presetsFolder, m_options.ownPresetsFolder).presets());
        };
        connect(m_parameters, &ParametersView::presetsChanged, view, takePresets);
        takePresets();
        view->setShowsOrigin(m_chatView->showsOrigin());
        connect(m_chatView, &ChatView::originToggled, view, &SidesView::setShowsOrigin);
        connect(view, &SidesView::stateChanged, this, &Studio::updateActions);
        connect(view, &SidesView::chatQuestionAsked, this, [this, stage] {
            showSides(stage, 0, false);
        });
        connect(m_learnPage, &LearnPage::stageShown, view, [this, view] {
            const auto question = m_session->asideOf(MessageId(0));
            if (question && view->isShowing() && view->questionField().text().isEmpty())
                view->setQuestion(*question, false);
        });
        connect(view, &SidesView::leaveAsked, this, [this] { m_window->showWorkspace(0); });
        connect(
            view,
            &SidesView::answersKept,
            this,
            [this, view](const ChatSession::Aside& question, const QList<StoredMessage>& answers) {
                const auto kept = m_session->keepAnswers(question, answers);
                if (!kept) {
                    m_window->messages().show(
                        {Notice::Kind::Warning,
                         QStringLiteral("not_kept"),
                         tr("The answer was not kept."),
                         tr("Open the chat that the question belongs to, and wait for the end "
                            "of an answer that is being written there. Then keep it again.")});
                    return;
                }
                view->setAsked(*kept);
                m_window->showWorkspace(0);
            });
    }
}

} // namespace ui
