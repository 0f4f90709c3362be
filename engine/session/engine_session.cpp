// SPDX-License-Identifier: Apache-2.0
#include "engine/session/engine_session.h"

#include "engine/base/locks/processor_loan.h"
#include "engine/session/worker/session_worker.h"

#include <atomic>
#include <thread>

namespace engine {

struct EngineSession::Running {
    explicit Running(SessionOptions given)
        : options(std::move(given))
        , channels(options.commandCapacity, options.eventCapacity)
        , thread([this] { SessionWorker(options, channels).run(); }) {}

    /// The effects of a command on work that began before it, whatever is in the queue.
    void stopWork(const EngineCommand& command, std::uint64_t number) {
        const bool isUnload = std::holds_alternative<UnloadModel>(command);
        if (const auto* stop = std::get_if<StopGeneration>(&command))
            channels.control.stopPrompts(number, stop->conversation);
        if (const auto* end = std::get_if<CloseConversation>(&command))
            channels.control.stopPrompts(number, end->conversation);
        if (isUnload)
            channels.control.stopPrompts(number);
        if (isUnload || std::holds_alternative<StopLoading>(command) ||
            std::holds_alternative<LoadModel>(command))
            channels.control.stopLoads(number);
    }

    const SessionOptions options;
    SessionChannels channels;
    std::atomic<std::uint64_t> commandCount = 0;
    ProcessorLoan loan;
    std::jthread thread; // last: it uses all the others
};

EngineSession::EngineSession(SessionOptions options)
    : m_running(std::make_unique<Running>(std::move(options))) {}

EngineSession::~EngineSession() { close(); }

bool EngineSession::send(EngineCommand command) {
    if (m_running->channels.commands.isClosed())
        return false;
    const std::uint64_t number = ++m_running->commandCount;
    m_running->stopWork(command, number);
    if (std::holds_alternative<StopGeneration>(command) ||
        std::holds_alternative<StopLoading>(command))
        return true; // done: there is nothing left for the engine's thread
    return m_running->channels.commands.tryPush({number, std::move(command)});
}

std::vector<EngineEvent> EngineSession::takeEvents() {
    return m_running->channels.events.takeAll();
}

bool EngineSession::waitForEvents(std::chrono::milliseconds timeout) {
    return m_running->channels.events.waitForContent(timeout);
}

void EngineSession::borrowProcessor() { m_running->loan.take(); }

void EngineSession::returnProcessor() { m_running->loan.giveBack(); }

void EngineSession::close() {
    returnProcessor(); // the engine's thread ends when all who compute have ended
    m_running->channels.control.close();
    m_running->channels.commands.close();
    m_running->channels.events.close();
    if (m_running->thread.joinable())
        m_running->thread.join();
}

} // namespace engine
