// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/inspect_page.h"
#include "ui/studio/menu_corner.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/chat/panels/first_sight.h"
#include "ui/views/chats/chats_panel.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/draft_tree/draft_tree_view.h"
#include "ui/views/draft_tree/mask_view.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/matchness/matchness_view.h"
#include "ui/views/models/model_chooser.h"
#include "ui/views/models/model_panel.h"
#include "ui/views/skip_sets/skip_sets_view.h"
#include "ui/views/speed/latency_view.h"
#include "ui/views/speed/no_gain_notice.h"
#include "ui/views/speed/speed_view.h"

#include <QDockWidget>
#include <QMenuBar>
#include <QScreen>

#include <algorithm>
#include <cstdlib>

// The places of the views.

namespace ui {

namespace {

constexpr int kNarrowMatchness = 300; ///< pixels at 100 %, while it has nothing to show

/// The docks below share the width equally; while there is no search to show, speed gets most of
/// it. Sizes set by the user stay.
void shareWidth(Workspace& docks, const Theme& theme, InspectPage::Face face) {
    QDockWidget* matchness = docks.dock(QStringLiteral("inspect.matchness"));
    QDockWidget* speed = docks.dock(QStringLiteral("inspect.speed"));
    const bool areNeighbours = matchness->isVisible() && speed->isVisible() &&
                               !matchness->isFloating() && !speed->isFloating() &&
                               matchness->y() == speed->y() && matchness->x() != speed->x() &&
                               docks.dockWidgetArea(matchness) == docks.dockWidgetArea(speed);
    if (!areNeighbours)
        return;
    constexpr int kTolerance = 6;
    const int both = matchness->width() + speed->width();
    const int narrow = std::min(theme.scaled(kNarrowMatchness), both / 2);
    const bool hasSearch = face == InspectPage::Face::Search;
    const int before = hasSearch ? narrow : both / 2;
    const int wanted = hasSearch ? both / 2 : narrow;
    if (std::abs(matchness->width() - before) > kTolerance)
        return;
    docks.resizeDocks({matchness, speed}, {wanted, both - wanted}, Qt::Horizontal);
}

/// On a lower screen (pixels at 100 %) the chat's newest set and draft share a place; on a still
/// lower one Inspect alone has the draft and the curve of matchness.
constexpr int kRoomForAllDocks = 960;
constexpr int kRoomForSharedDocks = 860;

/// Both in one place, the first one in front.
void shareTabs(Workspace& docks, const char* front, const char* behind) {
    QDockWidget* dock = docks.dock(QLatin1String(front));
    docks.tabifyDockWidget(dock, docks.dock(QLatin1String(behind)));
    dock->raise();
}

} // namespace

void Studio::makeChatWorkspace() {
    auto* workspace = new Workspace(QStringLiteral("chat_workspace"), m_theme);
    workspace->onMenuAsked([this](View* view, const QPoint& at) { m_viewMenu->popup(view, at); });
    m_chatView = new ChatView(context(), *m_session);
    workspace->setCentralWidget(m_chatView);
    workspace->setHome(m_chatView->input().textField());
    m_noGain = new NoGainNotice(m_theme);
    m_chatView->addNotice(m_noGain);
    m_firstSight = new FirstSight(m_theme, m_run, m_settings);
    m_chatView->addNotice(m_firstSight);
    if (!m_bridge->isReplay())
        connect(m_bridge.get(), &EngineBridge::eventCame, m_firstSight, &FirstSight::apply);
    connect(m_firstSight, &FirstSight::roundAsked, this, [this] {
        m_window->actionCatalog().find(QStringLiteral("learn.slow_motion"))->trigger();
    });
    connect(
        m_firstSight, &FirstSight::originAsked, this, [this] { m_chatView->setShowsOrigin(true); });
    auto* decoder = new DecoderSwitch(context());
    m_chatView->input().addControl(decoder);
    connect(decoder, &DecoderSwitch::failed, this, [this](const QString& sentence) {
        m_window->messages().show({Notice::Kind::Error, QStringLiteral("decoder"), sentence});
    });
    m_chatsPanel = new ChatsPanel(m_theme, *m_chats);
    if (m_bridge->isReplay())
        m_chatsPanel->refuseChats(tr("A replay has no chats beside the recorded one."));
    connect(m_chatsPanel, &ChatsPanel::chatChosen, m_session.get(), &ChatSession::openChat);
    connect(m_chatsPanel, &ChatsPanel::messageChosen, m_session.get(), &ChatSession::openMessage);
    connect(m_chatsPanel, &ChatsPanel::newChatAsked, this, [this](const QString& folder) {
        m_session->newChat();
        m_session->setNewFolder(folder);
        m_chatView->input().focusText();
    });
    connect(m_chatsPanel, &ChatsPanel::folderRenamed, m_session.get(), &ChatSession::followFolder);
    connect(m_chatsPanel, &ChatsPanel::importAsked, this, &Studio::importChats);
    workspace->addDock({QStringLiteral("chats"),
                        tr("Chats"),
                        m_chatsPanel,
                        nullptr,
                        Qt::LeftDockWidgetArea,
                        {216, 0},
                        true});
    const auto add = [&](View* view, int height, bool yieldsHeight = false) {
        workspace->addDock({QStringLiteral("chat.") + view->info().id,
                            view->info().title,
                            view,
                            view,
                            Qt::RightDockWidgetArea,
                            {296, height},
                            true,
                            yieldsHeight});
    };
    add(new SpeedView(context(), SpeedForm::Compact), 200);
    add(new MatchnessView(context()), 170, true);
    add(new LayerMapView(context()), 120);
    add(new DraftTreeView(context(), DraftTreeForm::Compact), 165, true);
    m_parameters =
        new ParametersView(context(), {m_options.presetsFolder, m_options.ownPresetsFolder});
    add(m_parameters, 200);
    m_library = new ModelLibrary(*m_bridge, m_run, m_settings, m_window.get());
    m_modelPanel = new ModelPanel(context(), m_recentModels, *m_library, m_options.backends);
    connect(m_modelPanel, &ModelPanel::focusFreed, workspace, &Workspace::focusHome);
    workspace->addDock({QStringLiteral("chat.models"),
                        tr("Models"),
                        m_modelPanel,
                        m_modelPanel,
                        Qt::RightDockWidgetArea,
                        {296, 0},
                        false});
    workspace->setArrangement([this](Workspace& docks) {
        const int room = m_window->room().height();
        if (room < m_theme.scaled(kRoomForSharedDocks))
            for (const char* name : {"chat.matchness", "chat.draft_tree"})
                docks.dock(QLatin1String(name))->hide();
        else if (room < m_theme.scaled(kRoomForAllDocks))
            shareTabs(docks, "chat.layer_map", "chat.draft_tree");
        QDockWidget* models = docks.dock(QStringLiteral("chat.models"));
        docks.tabifyDockWidget(docks.dock(QStringLiteral("chat.parameters")), models);
        models->hide();
    });
    connect(&m_chatView->conversation(),
            &ConversationView::tokenChosen,
            this,
            [this](MessageId answer, int index) {
                const auto place = m_session->placeOf(answer, index);
                std::optional<Selection::Token> token;
                if (place)
                    token = Selection::Token{place->promptId, place->index, place->firstStep};
                else if (index >= 0)
                    token = Selection::Token();
                m_selection.setToken(token);
            });
    connect(m_chatsPanel, &ChatsPanel::chatDeleted, this, [this](ChatId id) {
        if (id == m_session->chat().record.id)
            m_session->newChat();
    });
    const auto showCurrent = [this] {
        m_chatsPanel->setCurrentChat(m_session->chat().record.id);
        keepOpenChat();
    };
    connect(m_session.get(), &ChatSession::shown, this, showCurrent);
    connect(m_session.get(), &ChatSession::messageAdded, this, showCurrent);
    m_window->addWorkspace(workspace, tr("Chat"), IconName::Chat);
}

void Studio::makeInspectWorkspace() {
    auto* workspace = new Workspace(QStringLiteral("inspect_workspace"), m_theme);
    workspace->onMenuAsked([this](View* view, const QPoint& at) { m_viewMenu->popup(view, at); });
    m_inspectPage = new InspectPage(context(), *m_viewMenu);
    workspace->setHome(&m_inspectPage->layerMap().grid());
    workspace->setCentralWidget(m_inspectPage);
    connect(m_inspectPage,
            &InspectPage::faceShown,
            this,
            [this, workspace](InspectPage::Face face) { shareWidth(*workspace, m_theme, face); });
    const auto add = [&](View* view, Qt::DockWidgetArea area, QSize extent) {
        workspace->addDock({QStringLiteral("inspect.") + view->info().id,
                            view->info().title,
                            view,
                            view,
                            area,
                            extent,
                            true});
    };
    add(new DraftTreeView(context()), Qt::RightDockWidgetArea, {346, 330});
    add(new MaskView(context()), Qt::RightDockWidgetArea, {346, 250});
    add(new LatencyView(context()), Qt::RightDockWidgetArea, {346, 170});
    add(new MatchnessView(context()), Qt::BottomDockWidgetArea, {480, 290});
    add(new SpeedView(context()), Qt::BottomDockWidgetArea, {480, 290});
    auto* skipSets = new SkipSetsView(context());
    workspace->addDock({QStringLiteral("inspect.skip_sets"),
                        skipSets->info().title,
                        skipSets,
                        skipSets,
                        Qt::BottomDockWidgetArea,
                        {480, 290},
                        false});
    connect(skipSets, &SkipSetsView::runAsked, this, [this](const SetComparison& sets) {
        if (m_desk != nullptr) // a replay has none
            m_desk->openRecipe(setsRecipe(sets.a.title, sets.a.set, sets.b.title, sets.b.set));
    });
    workspace->setArrangement([this](Workspace& docks) {
        QDockWidget* speed = docks.dock(QStringLiteral("inspect.speed"));
        QDockWidget* stored = docks.dock(QStringLiteral("inspect.skip_sets"));
        docks.splitDockWidget(
            docks.dock(QStringLiteral("inspect.matchness")), speed, Qt::Horizontal);
        docks.tabifyDockWidget(speed, stored);
        stored->hide();
        m_inspectPage->tellFace(); // what shares the width begins anew
    });
    m_window->addWorkspace(workspace, tr("Inspect"), IconName::Inspect);
}

void Studio::makeMenuCorner() {
    auto* chooser = new ModelChooser(context(), m_recentModels);
    connect(chooser, &ModelChooser::modelWanted, this, [this](const QString& path) {
        showModelPanel();
        m_modelPanel->propose(path);
    });
    connect(chooser, &ModelChooser::fileWanted, m_modelPanel, &ModelPanel::askForFile);
    connect(chooser, &ModelChooser::defaultWanted, this, &Studio::openDefaultModel);
    connect(chooser, &ModelChooser::folderWanted, m_modelPanel, &ModelPanel::askForFolder);
    auto* corner = new MenuCorner(m_theme, chooser, *m_window->menuBar());
    connect(corner, &MenuCorner::searchAsked, this, &Studio::showCommandSearch);
    m_window->menuBar()->setCornerWidget(corner, Qt::TopRightCorner);
}

/// Of the Chat workspace.
void Studio::showDock(const QString& id) {
    m_window->showWorkspace(0);
    Workspace& docks = *m_window->currentWorkspace();
    docks.focusDock(*docks.dock(id));
}

void Studio::showModelPanel() {
    showDock(QStringLiteral("chat.models"));
    m_modelPanel->setFocus(Qt::ShortcutFocusReason);
}

} // namespace ui
