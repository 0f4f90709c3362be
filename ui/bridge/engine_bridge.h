// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/links/engine_link.h"
#include "ui/bridge/next_decoder.h"
#include "ui/bridge/picture_pace.h"
#include "ui/bridge/run_store.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace ui {

/// Something that is drawn from the RunStore, at most once per tick.
class Picture {
public:
    virtual ~Picture() = default;

    /// Whether painting it now would be seen: visible, not frozen.
    virtual bool isShowing() const = 0;

    /// Milliseconds between two refreshes while an answer is generated, for content that nobody can
    /// read faster. Pictures of one interval are refreshed in the same ticks, so that figures which
    /// several of them show agree.
    virtual int leastIntervalMs() const { return 0; }

    /// Brings it up to date with what changed since the last time.
    virtual void refresh(Topics changed) = 0;
};

/// What became of a command that was given by EngineBridge::choose().
enum class ChoiceState {
    Refused,   ///< the engine does not take it
    Sent,      ///< the engine has it
    Waiting,   ///< it is sent when the answer has ended
    TakenBack, ///< nothing is sent, and what waited is forgotten
};

/// The border between engine and window. Commands go out; every 33 ms all waiting events go into
/// the RunStore, and each visible picture that they concern is refreshed once, or as often as it
/// asks for. When refreshing and painting take too long for a second, pictures are refreshed less
/// often, never the text: see pictureInterval(). Thread: UI.
class EngineBridge : public QObject {
    Q_OBJECT

public:
    static constexpr int kTickMs = 33;

    /// The interval of figures of the answer that is being written.
    static constexpr int kFiguresMs = 200;

    EngineBridge(std::unique_ptr<EngineLink> link, RunStore& store, QObject* parent = nullptr);
    ~EngineBridge() override;

    /// False when the engine does not take the command (a replay takes none).
    bool send(engine::EngineCommand command);

    /// As send(), for what the user may take back: a decoder that is chosen while an answer is
    /// generated waits here for its end, with the changes of its settings. When the decoder in use
    /// is chosen again, as it is, all that waits is dropped, so that the answer goes on and the
    /// conversation keeps its cache as if nothing had been chosen.
    ChoiceState choose(engine::EngineCommand command);

    /// The load that was asked for last, until it has ended; null when there is none. The store's
    /// loading() begins later, with the first progress.
    const engine::LoadModel* pendingLoad() const { return m_load ? &*m_load : nullptr; }

    /// The load that brought the model that is there; null without a model, and in a replay.
    const engine::LoadModel* loadInUse() const { return m_loadInUse ? &*m_loadInUse : nullptr; }

    /// The decoder that was asked for last, or the one in use.
    const NextDecoder& nextDecoder() const { return m_nextDecoder; }

    /// Starts the ticks. Before that, or without a running event loop, call tick() yourself.
    void start();

    /// Refreshes the picture from now on, when one of its `topics` changes. It must be removed
    /// before it is destroyed.
    void add(Picture& picture, Topics topics);
    void remove(Picture& picture);

    /// Acts as if these topics had changed, for example when the user's selection has.
    void markChanged(Topics topics);

    /// Milliseconds between two refreshes of pictures: 33, or 100 or 250 when they cost too much.
    int pictureInterval() const { return m_pace.intervalMs(); }

    /// Takes all waiting events from the link and refreshes the visible pictures.
    void tick();

    /// For tests and screenshots: refreshes everything stale now, regardless of the interval.
    void refreshPictures();

    /// The replay is over, or the engine gone.
    bool isOver() const { return m_link->isOver() && !m_isDelivering; }

    /// The playback of a recording; null for a real engine.
    Playback* playback() { return m_link->playback(); }

    bool isReplay() const { return m_link->playback() != nullptr; }

signals:
    /// The engine was given this change, and will answer it.
    void settingsAsked(const engine::ChangeSettings& change);
    /// Another one is next, or the same one with other settings: see nextDecoder().
    void nextDecoderChanged();
    /// All that waited for the answer's end is dropped: see choose().
    void choicesTakenBack();
    /// Emitted for every event, in order, after the store has applied it. For receivers that must
    /// not miss any, such as the chat.
    void eventCame(const engine::EngineEvent& event);
    /// An event of an answer beside the chat's (engine::isAside), which the store knows nothing of.
    void asideCame(const engine::EngineEvent& event);
    /// The run store was emptied because a replay goes back: all events come again.
    void rewound();
    void tickFinished();
    void pictureIntervalChanged(int milliseconds);

protected:
    bool event(QEvent* event) override;

private:
    struct Entry {
        Picture* picture;
        Topics topics;
        Topics stale;
        std::optional<qint64> refreshedAtMs = {};
    };

    bool pass(const engine::EngineCommand& command);
    void noteAsked(const engine::EngineCommand& command);
    bool waitsHere(const engine::EngineCommand& command) const;
    bool comesBehindWaiting(const engine::EngineCommand& command) const;
    bool sendWaiting();
    void sendWaitingAfterAnswer();
    void tellNextDecoder();
    void noteLoadEnd(const engine::EngineEvent& event);
    bool isDue(const Entry& entry) const;
    void refresh(Entry& entry);

    std::unique_ptr<EngineLink> m_link;
    RunStore& m_store;
    NextDecoder m_nextDecoder;
    std::deque<engine::EngineCommand> m_waiting; ///< for the end of the answer: see choose()
    std::optional<engine::LoadModel> m_load;
    std::deque<engine::LoadModel> m_loads; ///< that have not ended, the cancelled ones included
    std::optional<engine::LoadModel> m_loadInUse;
    std::vector<Entry> m_entries;
    QTimer m_timer;
    QElapsedTimer m_tickClock;
    QElapsedTimer m_pictureClock;
    PicturePace m_pace;
    QElapsedTimer m_clock;
    qint64 m_tickMs = 0; ///< when the newest tick began
    bool m_isDelivering = false;
};

} // namespace ui
