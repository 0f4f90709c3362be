// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/studio.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/models/model_panel.h"
#include "ui/views/tune/page/empty_tune.h"
#include "ui/views/tune/recipe/tune_recipe_panel.h"
#include "ui/views/tune/tune_desk.h"

#include <QDockWidget>
#include <QMenu>
#include <QPushButton>

#include <algorithm>
#include <utility>

// The workspace Tune, its actions, and what the status strip tells of work beside the chat.

namespace ui {

using namespace engine;

namespace {

const QString kTuneWorkspace = QStringLiteral("tune_workspace");
const QString kRecipeDock = QStringLiteral("tune.recipe");
constexpr int kTuneDigit = 5; ///< of its keys

} // namespace

void Studio::makeTuneWorkspace() {
    auto* workspace = new Workspace(kTuneWorkspace, m_theme);
    m_tune = new TuneDesk(
        context(), *m_viewMenu, m_window->messages(), m_settings, m_options.tuning, this);
    m_tune->useChats(*m_chats);
    workspace->setCentralWidget(&m_tune->page());
    workspace->addDock({kRecipeDock,
                        tr("Training recipe"),
                        &m_tune->recipe(),
                        nullptr,
                        Qt::LeftDockWidgetArea,
                        {348, 0},
                        true});
    workspace->setArrangement([](Workspace&) {});
    connect(m_tune, &TuneDesk::modelAsked, this, &Studio::showModelPanel);
    connect(
        m_tune, &TuneDesk::promptsAdded, this, [workspace] { // a small window has no room for it
            QDockWidget* recipe = workspace->dock(kRecipeDock);
            recipe->show();
            recipe->raise();
        });
    connect(m_tune, &TuneDesk::reloadAsked, this, &Studio::loadModel);
    connect(
        m_tune, &TuneDesk::loadAsked, this, [this](const QString& path, const QString& decoder) {
            m_copy = {path, decoder.toStdString()};
            showModelPanel();
            loadModel(path);
        });
    const auto placeHome = [this, workspace] { // what is chosen is fixed while it runs
        workspace->setHome(
            m_tune->session().isAtWork()
                ? static_cast<QWidget*>(&m_tune->page().button(TunePage::Action::Stop))
                : &m_tune->recipe().sources().list());
    };
    connect(&m_tune->session(), &TuningSession::changed, workspace, placeHome);
    placeHome();
    connect(&m_tune->session(), &TuningSession::changed, this, &Studio::tellWork);
    connect(m_session.get(), &ChatSession::stateChanged, m_tune, [this] {
        m_tune->setAnswering(m_session->isAnswering());
    });
    m_window->addWorkspace(workspace, tr("Tune"), IconName::Tune, kTuneDigit);
}

/// A copy of a model that was trained here drafts with the decoder that it was trained for.
void Studio::useCopysDecoder(const ModelLoaded& loaded) {
    const auto [path, decoder] = std::exchange(m_copy, {});
    const bool isThere =
        std::ranges::find(loaded.decoders, decoder, &DecoderInfo::name) != loaded.decoders.end();
    if (!path.isEmpty() && path == QString::fromStdString(loaded.path) && isThere)
        m_bridge->send(ChooseDecoder{decoder, startingSettings(m_run, decoder)});
}

void Studio::showTune() { m_window->showWorkspace(kTuneWorkspace); }

void Studio::addTuneActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& run = *m_window->menu(MainWindow::tr("&Run"));
    run.addSeparator();
    const auto add = [&](const char* id, const QString& text, auto act) {
        run.addAction(catalog.add(QLatin1String(id), tr("Tune"), text, {}, act));
    };
    add("tune.prompts", tr("Add prompts to train &on..."), [this] {
        showTune();
        m_tune->askForFiles();
    });
    add("tune.pause", tr("Pause or continue the trainin&g"), [this] {
        showTune();
        m_tune->pauseOrGoOn();
    });
    add("tune.stop", tr("Stop the training and &keep it"), [this] {
        showTune();
        m_tune->session().stop();
    });
    add("tune.compare", tr("Compare &with and without the trained layer"), [this] {
        showTune();
        m_tune->compareOrStop();
    });
    connect(&m_tune->session(), &TuningSession::changed, this, &Studio::updateTuneActions);
    updateTuneActions();
}

void Studio::updateTuneActions() {
    const TuningSession& session = m_tune->session();
    const auto enable = [this](const char* id, bool isEnabled) {
        m_window->actionCatalog().find(QLatin1String(id))->setEnabled(isEnabled);
    };
    enable("tune.prompts", !session.isAtWork());
    enable("tune.pause",
           session.state() == TuningState::Running || session.state() == TuningState::Paused ||
               session.canGoOn());
    enable("tune.compare", session.comparison().isRunning() || session.canCompare());
    enable("tune.stop", session.isAtWork() && session.state() != TuningState::Stopping);
}

/// The experiments before the training, which takes longer and asks for nothing.
void Studio::tellWork() {
    WorkNote note = m_desk->status().note();
    if (note == WorkNote() && m_tune != nullptr)
        note = m_tune->note();
    m_window->statusStrip().setWork(note);
}

void Studio::showWork() {
    if (m_desk->status().note() == WorkNote())
        showTune();
    else
        m_desk->showStatus();
}

} // namespace ui
