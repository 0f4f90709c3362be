// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/bars/message_bar.h"
#include "ui/shell/bars/work_link.h"
#include "ui/shell/docks/view_menu.h"
#include "ui/tuning/tuning_session.h"
#include "ui/views/tune/page/tune_page.h"

class QSettings;

namespace ui {

class ChatStore;
class TuneRecipePanel;

/// Everything of the workspace Tune: the training and what it shows, in the page and in the dock,
/// whose owner is the workspace. Thread: UI.
class TuneDesk : public QObject {
    Q_OBJECT

public:
    /// All outlive it.
    TuneDesk(const ViewContext& context,
             ViewMenu& menu,
             MessageBar& messages,
             QSettings& settings,
             const TuningPlaces& places,
             QObject* parent = nullptr);

    TunePage& page() { return *m_page; }

    TuneRecipePanel& recipe() { return *m_recipe; }

    TuningSession& session() { return *m_session; }

    /// What the status strip tells; empty if nothing is at work.
    WorkNote note() const;

    /// The user may choose these chats as prompts. They outlive it.
    void useChats(ChatStore& chats);

    void useModel(const engine::ModelLoaded& loaded);
    void forgetModel();

    /// While an answer streams, the training waits.
    void setAnswering(bool isAnswering);

    /// Into the list of prompts, unless a training is at work.
    void addPrompts(const QStringList& paths);

    void askForFiles();

    /// Pauses or goes on.
    void pauseOrGoOn();

    /// Compares the result, or stops that.
    void compareOrStop();

signals:
    void modelAsked();
    void promptsAdded();

    /// The user wants this model to be loaded again.
    void reloadAsked(const QString& path, bool isPlanted);

    /// The user wants this new model to be loaded and to draft with this decoder.
    void loadAsked(const QString& path, const QString& decoder);

private:
    void connectParts();
    void connectUse();
    void act(TunePage::Action action);
    void start(const TuningChoice& choice);
    void startWith(const TuningChoice& choice, const QByteArray& chatPrompts);
    void askForFolder();
    void keepPrompts();
    void tell(const QString& headline, const QString& sentence, bool isError = true);

    MessageBar& m_messages;
    QSettings& m_settings;
    TuningSession* m_session;
    TunePage* m_page;
    TuneRecipePanel* m_recipe;
    ChatStore* m_chats = nullptr;
    bool m_isReadingChats = false;
};

} // namespace ui
