// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"
#include "engine/session/loading/model_loader.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace engine {

class DecoderRegistry;

/// The parts of a session.
struct SessionOptions {
    std::filesystem::path moduleFolder = {}; ///< of backends and decoders; need not exist
    std::filesystem::path dataFolder = {};   ///< of saved skip sets; empty = none are saved
    std::size_t eventCapacity = 4096;        ///< the engine waits if this many events are in the
                                             ///< queue
    std::size_t commandCapacity = 1024;      ///< send() refuses if this many commands are in the
                                             ///< queue
    ModelLoader loader = {};                 ///< empty = makeModelLoader(moduleFolder)
    std::uint64_t cacheLimitBytes = 0; ///< of all conversations' keys and values together; 0 = what
                                       ///< the system has. One conversation is never refused.
    bool measuresBaseline = true;      ///< two steps of every 64 are plain ones, which show what
                                       ///< drafting gains
    bool usesPauses = true; ///< decoders may go on searching behind an answer, see Decoder::idle
    /// Adds decoders to those of the modules. Called on the engine's thread.
    std::function<void(DecoderRegistry&)> addDecoders = {};
};

/// One model, one engine thread, a decoder for each conversation: commands in, events out. Commands
/// of a conversation are processed in order, stops at once, changed settings between two steps.
/// Loading and unloading wait for the prompts before them. Every error becomes EngineFailed, and
/// the next command works. A load keeps the earlier model until the new one is ready; the earlier
/// one is freed first only if both do not fit into memory.
///
/// Thread: any one thread sends and takes, StopGeneration and StopLoading come from any; the engine
/// never calls back.
class EngineSession {
public:
    explicit EngineSession(SessionOptions options);

    /// Closes.
    ~EngineSession();
    EngineSession(const EngineSession&) = delete;
    EngineSession& operator=(const EngineSession&) = delete;

    /// Sends a command; never waits. Returns false if the session is closed or too many commands
    /// are waiting; stops take effect even then.
    bool send(EngineCommand command);

    /// Takes all waiting events, in order, without waiting. Take them soon: the engine waits while
    /// the queue is full.
    std::vector<EngineEvent> takeEvents();

    /// Waits until there are events to take, at most for `timeout`. Returns whether there are any.
    bool waitForEvents(std::chrono::milliseconds timeout);

    /// Asks for one of the processors that the engine computes on, for the milliseconds until
    /// returnProcessor(): the engine goes on with the others (engine::ProcessorLoan). Waits for it
    /// at most two milliseconds, and not at all while nothing is computed.
    void borrowProcessor();
    void returnProcessor();

    /// Stops running work within one forward pass, drops waiting commands and ends the thread.
    /// Events not taken yet can still be taken.
    void close();

private:
    struct Running;
    std::unique_ptr<Running> m_running;
};

} // namespace engine
