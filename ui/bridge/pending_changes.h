// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"
#include "ui/bridge/engine_bridge.h"

#include <QObject>
#include <QString>

#include <deque>
#include <string>

class QUndoStack;

namespace ui {

/// QUndoCommand::id() of a change of the sampling; changes of the decoder have another one.
inline constexpr int kSamplingStepId = 0x53414D;

/// A change of the run and its undo: ChangeSettings, ChangeSampling or ChooseDecoder on both sides.
/// A plain value.
struct RunChange {
    QString text; ///< for the undo menu: "skip ratio r to 0.50"
    engine::EngineCommand before;
    engine::EngineCommand after;
    std::string setting; ///< the one that was edited; empty = several
    int visit = 0;       ///< changes of one setting during one visit are undone together
};

/// Sends changes and waits for the engine's reply: accepted changes can be undone from then on,
/// refused ones never happened, and neither did those that were taken back. Settings are undone
/// only while their decoder is chosen. Thread: UI.
class PendingChanges : public QObject {
    Q_OBJECT

public:
    PendingChanges(EngineBridge& bridge, QUndoStack& undoStack, QObject* parent = nullptr);

    /// Returns false and does nothing when the engine takes no commands: a recording is shown, or
    /// too many commands wait.
    bool request(RunChange change);

    bool isEmpty() const { return m_waiting.empty(); }

    bool isReplay() const { return m_bridge.isReplay(); }

signals:
    void refused(const ui::RunChange& change, const engine::Error& error);

private:
    struct Waiting {
        RunChange change;
        bool isUnsent; ///< it waits in the bridge, or did
    };

    void apply(const engine::EngineEvent& event);
    void take(std::size_t index);
    void refuse(const engine::EngineFailed& failed);

    EngineBridge& m_bridge;
    QUndoStack& m_undoStack;
    std::deque<Waiting> m_waiting;
    std::string m_decoder; ///< that is chosen
};

} // namespace ui
