// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"
#include "ui/bridge/engine_bridge.h"
#include "ui/bridge/pending_changes.h"
#include "ui/bridge/run_store.h"

#include <QObject>
#include <QString>

#include <deque>
#include <optional>
#include <string>

namespace ui {

/// Searches for a skip set at once: the searching decoder answers the chat's newest question again,
/// hidden from the chat, and tries a set with every step. The set stays with the decoder; its other
/// settings are restored, except those that the user has changed meanwhile. That the decoder was
/// chosen can be undone. Thread: UI.
class SkipSetFinder : public QObject {
    Q_OBJECT

public:
    static constexpr int kTrials = 48; ///< after those that find how much can be skipped

    /// All outlive it.
    SkipSetFinder(EngineBridge& bridge,
                  const RunStore& run,
                  QUndoStack& undoStack,
                  QObject* parent = nullptr);

    bool isRunning() const { return m_stage != Stage::Idle; }

    /// The decoder's settings, with the user's in place of those of a search that runs or that the
    /// engine has not ended yet.
    engine::SettingValues usersSettings() const;

    /// Its progress while it runs, then its result, as a sentence for the user.
    const QString& sentence() const { return m_sentence; }

    /// Answers `question` repeatedly until the search is over; its promptId is not used. Without a
    /// question, or while the engine is busy, only the sentence changes and says so.
    void start(std::optional<engine::SubmitPrompt> question);

    /// Stops within a pass; the set found so far stays.
    void stop();

signals:
    /// The search began, advanced or ended.
    void changed();

private:
    enum class Stage { Idle, Choosing, Searching };

    void onEvent(const engine::EngineEvent& event);
    bool change(const engine::SettingValues& values);
    void onAsked(const engine::ChangeSettings& asked);
    void onAnswered(const engine::EngineEvent& event);
    bool isRestored(const engine::EngineEvent& event) const;
    void forgetWith(const engine::EngineEvent& event);
    void onChosen(const engine::DecoderChosen& chosen);
    void onFinished(const engine::PromptFinished& finished);
    void onFailed(const engine::EngineFailed& failure);
    void beginSearch(const engine::DecoderInfo& decoder, const engine::SettingValues& settings);
    void submit();
    void onTrial(const engine::TrialFinished& trial);
    void giveUp(const QString& sentence);
    void end(const QString& sentence);
    QString outcome() const;

    EngineBridge& m_bridge;
    const RunStore& m_run;
    PendingChanges m_choices; ///< of the decoder
    Stage m_stage = Stage::Idle;
    QString m_sentence;
    engine::SubmitPrompt m_question;
    std::string m_decoder; ///< that searches, or did: another one may be chosen meanwhile
    /// Of those that are changed for the search, until the engine has them again.
    engine::SettingValues m_settingsBefore;
    /// What each change that the engine has not answered yet has taken out of them.
    std::deque<engine::SettingValues> m_taken;
    std::uint64_t m_promptId = 0;
    // What the run's log counts may be of another task until the first trial.
    int m_tried = 0;         ///< since the search began
    int m_triedInAnswer = 0; ///< since the present answer began
    bool m_isOver = false;   ///< the search itself; its answer is being stopped
    bool m_isStopped = false;
    bool m_isChanging = false; ///< the settings themselves, at this moment
};

} // namespace ui
