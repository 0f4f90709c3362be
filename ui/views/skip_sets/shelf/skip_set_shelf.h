// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/bridge/run_store.h"

#include <QObject>

#include <functional>
#include <map>
#include <vector>

class QUndoCommand;
class QUndoStack;

namespace ui {

/// The stored skip sets, as the engine tells them, and what can be done with them. The engine does
/// it; what removes or replaces a set can be undone. There may be several: what the engine tells
/// one of them is known to all. Thread: UI.
class SkipSetShelf : public QObject {
    Q_OBJECT

public:
    /// What a sentence offers besides.
    enum class Offer {
        None,
        Undo,   ///< of the newest change on the undo stack
        Replace ///< importFrom(replaceablePath(), true)
    };

    /// All outlive it.
    SkipSetShelf(EngineBridge& bridge,
                 const RunStore& store,
                 QUndoStack& undoStack,
                 QObject* parent = nullptr);

    const engine::SkipSetsListed& listed() const { return m_listed; }

    /// Null if the model with this fingerprint, empty: the loaded one, has no set of this task.
    const engine::NamedSkipSet* find(const std::string& task,
                                     const std::string& fingerprint = {}) const;

    /// Whether the engine has told what is stored.
    bool isKnown() const { return m_isKnown; }

    /// While it is watched, it asks for the sets again whenever they may have changed.
    void setWatched(bool isWatched);

    /// Asks what is stored. False if the engine was not asked.
    bool list();

    void remove(const std::string& task);
    void rename(const std::string& task, const std::string& name);

    /// The sets of a file; `run` is the title of the experiment that has found them, if one has,
    /// and `owner` its model.
    void importFrom(const QString& path,
                    bool replaces = false,
                    const QString& run = {},
                    const engine::SkipSetOwner& owner = {});

    /// Without tasks all sets of the model are written.
    void
    exportTo(const QString& path, const std::vector<std::string>& tasks, engine::SkipSetForm form);

    /// The file whose sets were not all taken, because their tasks have others.
    const QString& replaceablePath() const { return m_replaceablePath; }

    /// The model for which it was taken in.
    const engine::SkipSetOwner& replaceableOwner() const { return m_replaceableOwner; }

    /// Whether the undo stack gets a change of this shelf at this moment.
    bool isNoting() const { return m_isNoting; }

    /// Whether a reply of the engine is missing: listed() may be another state then.
    bool isAsked() const { return !m_waiting.empty(); }

    /// Whether the undo stack goes over a change at this moment, back to where it was: the engine
    /// has refused to take the change back, or to make it again.
    bool isGoingBack() const { return m_isGoingBack; }

    /// For the undo stack: removes sets and adds others, of `owner` if it is named, or else of the
    /// model with this fingerprint. False if another one is loaded then, or the command was not
    /// taken. If the engine refuses it, `change` stays as it was on the stack.
    bool exchange(const std::string& fingerprint,
                  const engine::SkipSetOwner& owner,
                  const std::vector<std::string>& removed,
                  const std::vector<engine::NamedSkipSet>& added,
                  const QUndoCommand& change);

signals:
    void changed();

    /// listed() is what the engine has said just now.
    void listedAnew();

    /// A sentence for the user.
    void told(const QString& sentence, ui::SkipSetShelf::Offer offer);

private:
    using Done = std::function<void(const engine::SkipSetsListed&)>;

    /// What follows the engine's reply; each may be empty.
    struct Reply {
        Done done = {};
        std::function<void()> refused = {};
    };

    template <typename Command>
    bool ask(Command command, Done done, std::function<void()> refused = {});
    void goBackOver(const QUndoCommand* change);
    void follow(const engine::EngineEvent& event);
    void take(const engine::SkipSetsListed& listed);
    bool isUnchanged(const std::string& task) const;
    void noteChange(const QString& what,
                    const QString& sentence,
                    const engine::SkipSetOwner& owner = {});

    EngineBridge& m_bridge;
    const RunStore& m_store;
    QUndoStack& m_undoStack;
    engine::SkipSetsListed m_listed;
    std::vector<engine::NamedSkipSet> m_before; ///< own sets before the engine told the newest
    std::map<std::uint64_t, Reply> m_waiting;   ///< for the engine's replies
    std::uint64_t m_request = 0;                ///< the newest
    std::uint64_t m_listRequest = 0;            ///< that waits for its reply; 0 = none
    bool m_isStale = false;                     ///< the sets may have changed behind that request
    bool m_isKnown = false;
    bool m_isWatched = false;
    bool m_isNoting = false;
    bool m_isGoingBack = false;
    QString m_replaceablePath;
    engine::SkipSetOwner m_replaceableOwner;
};

/// A task's name in one line; it may hold line breaks.
QString shownTask(const std::string& task);

} // namespace ui
