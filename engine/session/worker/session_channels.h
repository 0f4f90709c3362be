// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/bounded_queue.h"
#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"
#include "engine/session/worker/work_control.h"

#include <cstddef>
#include <cstdint>

namespace engine {

/// A command and its number in the order of sending, from 1.
struct NumberedCommand {
    std::uint64_t number = 0;
    EngineCommand command;
};

/// Everything that the two threads of a session share.
struct SessionChannels {
    SessionChannels(std::size_t commandCapacity, std::size_t eventCapacity)
        : commands(commandCapacity)
        , events(eventCapacity) {}

    BoundedQueue<NumberedCommand> commands;
    BoundedQueue<EngineEvent> events;
    WorkControl control;
};

} // namespace engine
