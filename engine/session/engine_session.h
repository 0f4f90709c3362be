// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"
#include "engine/session/model_loader.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace engine {

class DecoderRegistry;

/// What a session is made from.
struct SessionOptions {
    std::filesystem::path moduleFolder = {}; ///< of backends and decoders; need not exist
    std::filesystem::path dataFolder = {};   ///< of remembered skip sets; empty = none are kept
    std::size_t eventCapacity = 4096;        ///< the engine waits when so many events wait
    std::size_t commandCapacity = 1024;      ///< send() refuses when so many commands wait
    ModelLoader loader = {};                 ///< empty = makeModelLoader(moduleFolder)
    /// Adds decoders to those of the modules. Called on the engine's thread.
    std::function<void(DecoderRegistry&)> addDecoders = {};
};

/// One model, one decoder, one engine thread: commands in, events out. Commands are worked on in
/// their order, stops at once, changed settings between two steps. Whatever goes wrong becomes
/// EngineFailed, and the next command works. A load keeps the earlier model until the new one is
/// ready; only when both do not fit is the earlier one freed first.
///
/// Thread: any one thread sends and takes; the engine never calls back.
class EngineSession {
public:
    explicit EngineSession(SessionOptions options);

    /// Closes.
    ~EngineSession();
    EngineSession(const EngineSession&) = delete;
    EngineSession& operator=(const EngineSession&) = delete;

    /// Hands a command over; never waits. False when the session is closed or too many commands
    /// wait; stops work even then.
    bool send(EngineCommand command);

    /// All events that wait, in order; does not wait itself. Take them soon: the engine waits
    /// while the queue is full.
    std::vector<EngineEvent> takeEvents();

    /// Waits until there are events to take, at most for `timeout`; whether there are.
    bool waitForEvents(std::chrono::milliseconds timeout);

    /// Stops what runs within one forward pass, drops what waits and ends the thread. Events not
    /// taken yet can still be taken.
    void close();

private:
    struct Running;
    std::unique_ptr<Running> m_running;
};

} // namespace engine
