// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <vector>

namespace ui {

/// The far side of the bridge: the engine's session, a recording, or a test's script.
/// Thread: UI; never waits.
class EngineLink {
public:
    virtual ~EngineLink() = default;

    /// False when the command is not taken.
    virtual bool send(engine::EngineCommand command) = 0;

    /// What has happened since, in order.
    virtual std::vector<engine::EngineEvent> takeEvents() = 0;

    /// Nothing will come any more.
    virtual bool isOver() const { return false; }
};

} // namespace ui
