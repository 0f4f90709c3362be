// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <vector>

namespace ui {

class Playback;

/// The far side of the bridge: the engine's session, a recording, or a test's script.
/// Thread: UI; never waits, but for borrowProcessor().
class EngineLink {
public:
    virtual ~EngineLink() = default;

    /// False when the command is not taken.
    virtual bool send(engine::EngineCommand command) = 0;

    /// The events since the last call, in order.
    virtual std::vector<engine::EngineEvent> takeEvents() = 0;

    /// Around the making of a picture: the engine lends one of its processors meanwhile. Waits for
    /// it at most two milliseconds.
    virtual void borrowProcessor() {}

    virtual void returnProcessor() {}

    /// No more events will come.
    virtual bool isOver() const { return false; }

    /// Whether the events start again from the first one; true once for each restart.
    virtual bool takeRewind() { return false; }

    /// The recording being played; null for a real engine.
    virtual Playback* playback() { return nullptr; }
};

} // namespace ui
