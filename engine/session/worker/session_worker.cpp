// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/session_worker.h"

#include "engine/session/asides.h"
#include "engine/session/command_names.h"
#include "engine/session/loading/model_parts.h"
#include "engine/session/worker/events/search_events.h"
#include "engine/session/worker/prompt_text.h"

#include <new>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace engine {

namespace {

ModelFacts factsOf(const SessionModel& model) {
    ModelFacts facts = modelFactsOf(model.transformer->config(), model.file);
    facts.contextLength = model.contextLength;
    facts.backend = model.backend;
    facts.arithmetic = model.transformer->arithmeticName();
    facts.precision = shortArithmetic(facts.arithmetic);
    facts.instructionSet = model.transformer->instructionSet();
    facts.device = model.transformer->deviceName();
    facts.kvType = model.transformer->kvTypeName();
    facts.weightBytes = model.transformer->weightBytes();
    if (model.tokenizer)
        facts.tokenizer = model.tokenizer->description();
    if (model.chatTemplate)
        facts.chatTemplate = model.chatTemplate->origin();
    return facts;
}

/// Whether it concerns all conversations, so that it waits for the prompts before it.
bool isOfModel(const EngineCommand& command) {
    return std::holds_alternative<LoadModel>(command) ||
           std::holds_alternative<UnloadModel>(command);
}

/// Whether it changes a decoder that later changes of settings refer to.
bool replacesDecoder(const EngineCommand& command) {
    return std::holds_alternative<ChooseDecoder>(command) ||
           std::holds_alternative<CloseConversation>(command);
}

/// Whether it waits while its conversation answers a prompt.
bool waitsForPrompt(const EngineCommand& command) {
    return replacesDecoder(command) || std::holds_alternative<ChangeSampling>(command) ||
           std::holds_alternative<SubmitPrompt>(command);
}

/// The task of a command; what the command does not have stays 0.
SessionTask taskOf(const NumberedCommand& command) {
    SessionTask task{command.number, commandName(command.command)};
    std::visit(
        [&task](const auto& content) {
            if constexpr (requires { content.promptId; })
                task.promptId = content.promptId;
            if constexpr (requires { content.requestId; })
                task.requestId = content.requestId;
            if constexpr (requires { std::uint64_t{content.conversation}; })
                task.conversation = content.conversation;
        },
        command.command);
    return task;
}

} // namespace

SessionWorker::SessionWorker(const SessionOptions& options, SessionChannels& channels)
    : m_options(options)
    , m_channels(channels)
    , m_outlet(channels.events)
    , m_registry(options.moduleFolder)
    , m_loader(options.loader ? options.loader : makeModelLoader(options.moduleFolder))
    , m_conversations(m_registry)
    , m_lens(m_outlet) {}

void SessionWorker::run() {
    workOn({0, ChooseDecoder{"vanilla"}});
    if (m_options.addDecoders)
        m_options.addDecoders(m_registry);
    while (takeCommands()) {
        workOnWaiting();
        if (Conversation* conversation = m_conversations.next())
            serve(*conversation);
        else if (m_waiting.empty() && m_lens.hasWork())
            workOnLens();
        else if (m_waiting.empty() && (conversation = m_conversations.inPause()) != nullptr)
            workInPause(*conversation);
    }
    // A closed session has stopped the running prompts; a recording still gets their ends.
    while (Conversation* conversation = m_conversations.next())
        serve(*conversation);
}

/// Waits for commands if there is nothing else to do. False if the session is closed.
bool SessionWorker::takeCommands() {
    if (m_waiting.empty() && !m_conversations.isAnyRunning() && !m_lens.hasWork() &&
        !m_conversations.inPause())
        m_channels.commands.waitForContent();
    takeWaiting();
    return !m_channels.commands.isClosed();
}

/// Bounded like the queue: further commands stay there, and the sender is refused.
void SessionWorker::takeWaiting() {
    if (m_waiting.size() >= m_options.commandCapacity)
        return;
    for (NumberedCommand& command : m_channels.commands.takeAll())
        m_waiting.push_back(std::move(command));
}

/// Works on the commands that need not wait for a running prompt's end, in order, up to the first
/// one that all later commands depend on.
void SessionWorker::workOnWaiting() {
    std::set<std::uint64_t> blocked;   // conversations with a command that waits
    std::set<std::uint64_t> replacing; // those whose decoder such a command replaces
    for (auto at = m_waiting.begin(); at != m_waiting.end() && !m_channels.commands.isClosed();) {
        const EngineCommand& waiting = at->command;
        if (isOfModel(waiting) && (at != m_waiting.begin() || m_conversations.isAnyRunning()))
            return;
        const std::uint64_t conversation = taskOf(*at).conversation.value_or(0);
        const bool changesReplaced =
            std::holds_alternative<ChangeSettings>(waiting) && replacing.contains(conversation);
        const bool mustWait = waitsForPrompt(waiting) && (m_conversations.isRunning(conversation) ||
                                                          blocked.contains(conversation));
        if (changesReplaced || mustWait) {
            blocked.insert(conversation);
            if (replacesDecoder(waiting))
                replacing.insert(conversation);
            ++at;
            continue;
        }
        const NumberedCommand command = std::move(*at);
        at = m_waiting.erase(at);
        workOn(command);
    }
}

void SessionWorker::workOn(const NumberedCommand& command) {
    m_task = taskOf(command);
    attempt(m_task, [&] {
        return std::visit([this](const auto& content) { return handle(content); }, command.command);
    });
    m_conversations.forEach([this](Conversation& each) { tellSpan(each); });
    tellNotes();
}

/// Makes the next part of its answer.
void SessionWorker::serve(Conversation& conversation) {
    const SessionTask task = conversation.prompt->task;
    const std::optional<std::string> searched = conversation.slot.searchedTask();
    bool goesOn = false;
    const bool isDone = attempt(task, [&]() -> Result<void> {
        ENGINE_TRY(const auto turn, takeTurn(conversation.work->token()));
        if (turn)
            conversation.prompt->run.leaveOut(turn->waitedMs());
        ENGINE_TRY(goesOn, conversation.prompt->run.advance());
        return {};
    });
    if (isDone && goesOn)
        return;
    conversation.prompt.reset();
    if (!isDone || conversation.work->token().stop_requested())
        endPause(conversation, searched);
    else if (!m_options.usesPauses || isAside(conversation.id))
        conversation.work.reset(); // no pause
    tellNotes();
}

/// Lets the decoder use the pause behind an answer for one piece of its work. A stop or a closed
/// session ends the pause.
void SessionWorker::workInPause(Conversation& conversation) {
    const SessionTask task{.name = "pause", .conversation = conversation.id};
    const std::stop_token stop = conversation.work->token();
    const std::optional<std::string> searched = conversation.slot.searchedTask();
    bool hasWorked = false;
    const bool isDone = attempt(task, [&]() -> Result<void> {
        ENGINE_TRY(const auto turn, takeTurn(stop));
        if (stop.stop_requested())
            return {};
        ENGINE_TRY(hasWorked, useDecoderInPause(conversation));
        return {};
    });
    if (isDone && hasWorked)
        return;
    endPause(conversation, stop.stop_requested() || !isDone ? searched : std::nullopt);
}

/// An interrupted search, of this task, waits for the next answer.
void SessionWorker::endPause(Conversation& conversation,
                             const std::optional<std::string>& interrupted) {
    if (interrupted && conversation.slot.entersPhase(DecoderPhase::Accumulate, *interrupted))
        m_outlet.emit(PhaseChanged{DecoderPhase::Accumulate, *interrupted}, conversation.id);
    conversation.work.reset();
}

/// Makes one pass for the lens.
void SessionWorker::workOnLens() {
    const SessionTask task{
        .name = m_lens.current(), .promptId = 0, .requestId = m_lens.currentRequest()};
    const bool isDone = attempt(task, [&]() -> Result<void> {
        ENGINE_TRY(const auto turn, takeTurn(m_lens.stopToken()));
        return m_lens.step();
    });
    if (!isDone)
        m_lens.dropCurrent();
}

/// None if no turns are taken, or if it was stopped while it waited.
Result<std::optional<TurnLock::Turn>> SessionWorker::takeTurn(const std::stop_token& stop) {
    if (!m_turns)
        return std::optional<TurnLock::Turn>();
    return m_turns->take(stop);
}

/// Whether there may be more to do.
Result<bool> SessionWorker::useDecoderInPause(Conversation& conversation) {
    Decoder* const decoder = conversation.slot.decoder();
    if (decoder == nullptr)
        return false;
    auto report = decoder->idle(conversation.work->token());
    if (!report && report.error().code != ErrorCode::Cancelled)
        return std::move(report).error();
    if (!report || !report.value())
        return false;
    const std::string task = conversation.slot.task();
    const bool hasNewPhase = conversation.slot.entersPhase(report.value()->phase, task);
    tellSearch(
        *report.value(), task, m_model->tokenizer.get(), hasNewPhase, m_outlet, conversation.id);
    return true;
}

/// An exception of a task is an error inside the program, or a lack of memory. Returns whether the
/// task succeeded; if not, it was reported.
bool SessionWorker::attempt(const SessionTask& task, const std::function<Result<void>()>& work) {
    try {
        auto done = work();
        if (!done)
            fail(task, std::move(done).error());
        return done.hasValue();
    } catch (const std::bad_alloc&) {
        giveUp(task,
               {ErrorCode::NoMemory,
                "There is not enough memory for this.",
                "Choose a smaller model or context, or close other programs."});
    } catch (const std::system_error& error) { // a thread that could not be started
        giveUp(task,
               {ErrorCode::NoMemory,
                fmt::format("The system cannot start more threads for the program: {}.",
                            error.code().message()),
                "Close other programs, or ask for fewer --threads."});
    } catch (const std::exception& exception) {
        giveUp(task,
               {ErrorCode::Internal,
                fmt::format("An error inside the program: {}.", exception.what()),
                "Please report it; the decoder was created again and the session goes on."});
    } catch (...) {
        giveUp(task,
               {ErrorCode::Internal,
                "A decoder or a backend threw something that is not an exception.",
                "Please report it; the decoder was created again and the session goes on."});
    }
    return false;
}

/// The state of the decoder of the task's conversation may be inconsistent, so it is created again,
/// and a prompt that uses it fails as well.
void SessionWorker::giveUp(const SessionTask& task, Error error) {
    if (!task.conversation)
        return fail(task, std::move(error));
    Conversation& conversation = m_conversations.at(*task.conversation);
    const std::optional<std::string> searched = conversation.slot.searchedTask();
    if (conversation.prompt && conversation.prompt->task.number != task.number)
        fail(conversation.prompt->task, error);
    conversation.prompt.reset();
    conversation.slot.drop();
    fail(task, std::move(error));
    endPause(conversation, searched);
}

void SessionWorker::fail(const SessionTask& task, Error error) {
    EngineFailed failed{.error = std::move(error),
                        .task = std::string(task.name),
                        .promptId = task.promptId,
                        .requestId = task.requestId};
    if (task.tooLong) {
        failed.promptTokens = task.tooLong->total;
        failed.contextLength = m_model->contextLength;
        failed.perMessage = task.tooLong->perMessage;
    }
    m_outlet.emit(std::move(failed), task.conversation.value_or(0));
}

void SessionWorker::tellNotes() {
    m_conversations.forEach([this](Conversation& each) {
        for (const std::string& note : each.slot.takeNotes())
            m_outlet.emit(Note{note}, each.id);
    });
}

void SessionWorker::tellSpan(Conversation& conversation) {
    if (const auto started = conversation.slot.takeSpanStart())
        m_outlet.emit(*started, conversation.id);
}

/// The new model is loaded beside the old one, which stays usable if that fails. Only if both do
/// not fit into memory is the old one freed first.
Result<void> SessionWorker::handle(const LoadModel& command) {
    m_conversations.forEach([this](Conversation& each) {
        if (each.work)
            endPause(each, each.slot.searchedTask());
    });
    const auto load = m_channels.control.beginLoad(m_task.number);
    const ModelLoadWork work{
        load->token(), [this, &command](std::string_view stage, double part) {
            m_outlet.emit(ModelLoadProgress{command.path, std::string(stage), part});
        }};
    if (work.stop.stop_requested())
        return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
    auto loaded = m_loader(command, work);
    if (!loaded && loaded.error().code == ErrorCode::NoMemory && m_model) {
        m_outlet.emit(Note{"The earlier model was freed to make room for the new one."});
        unload();
        loaded = m_loader(command, work);
    }
    ENGINE_TRY(SessionModel model, std::move(loaded));
    useModel(std::move(model), command.path);
    return {};
}

void SessionWorker::useModel(SessionModel model, const std::string& path) {
    leaveModel();
    forgetMemory();
    m_model = std::move(model);
    if (!m_options.dataFolder.empty() && !m_model->fingerprint.empty()) {
        m_memory = std::make_unique<SkipSetMemory>(m_options.dataFolder,
                                                   m_model->fingerprint,
                                                   m_model->transformer->config().layerCount,
                                                   m_model->file.name);
        m_asideMemory = std::make_unique<SkipSetMemory>(m_memory->readOnly());
    }
    ModelLoaded loaded{path, factsOf(*m_model), m_model->notes, {}};
    loaded.decoders = m_registry.list(&loaded.refusedModules);
    loaded.fingerprint = m_model->fingerprint;
    m_outlet.emit(std::move(loaded));
}

Result<void> SessionWorker::handle(const UnloadModel&) {
    unload();
    return {};
}

void SessionWorker::unload() {
    leaveModel();
    tellNotes();
    forgetMemory();
    if (std::exchange(m_model, std::nullopt))
        m_outlet.emit(ModelUnloaded{});
}

void SessionWorker::forgetMemory() {
    m_memory.reset();
    m_asideMemory.reset();
}

void SessionWorker::leaveModel() {
    m_lens.forget();
    m_conversations.forEach([](Conversation& each) { each.slot.leaveModel(); });
}

DecoderGround SessionWorker::ground(std::uint64_t conversation) {
    return {m_model ? &*m_model : nullptr,
            isAside(conversation) ? m_asideMemory.get() : m_memory.get()};
}

Result<void> SessionWorker::handle(const ChooseDecoder& command) {
    Conversation& conversation = m_conversations.at(command.conversation);
    ENGINE_TRY_DO(makeRoom(conversation));
    DecoderSlot& slot = conversation.slot;
    ENGINE_TRY_DO(slot.choose(command.name, command.settings, ground(conversation.id)));
    m_outlet.emit(DecoderChosen{slot.info(), slot.settings()}, conversation.id);
    return {};
}

Result<void> SessionWorker::handle(const ChangeSettings& command) {
    ENGINE_TRY(Conversation* const conversation, begun(command.conversation));
    ENGINE_TRY_DO(makeRoom(*conversation));
    DecoderSlot& slot = conversation->slot;
    ENGINE_TRY(const SearchReport report,
               slot.changeSettings(command.values, ground(conversation->id), command.decoder));
    m_outlet.emit(SettingsChanged{slot.settings()}, conversation->id);
    const Tokenizer* const tokenizer = m_model ? m_model->tokenizer.get() : nullptr;
    tellSearch(report, slot.task(), tokenizer, false, m_outlet, conversation->id);
    if (conversation->prompt)
        conversation->prompt->run.addSearch(report.searchMs);
    return {};
}

Result<void> SessionWorker::handle(const ChangeSampling& command) {
    ENGINE_TRY(Conversation* const conversation, begun(command.conversation));
    ENGINE_TRY_DO(conversation->slot.changeSampling(command.sampling));
    m_outlet.emit(SamplingChanged{conversation->slot.sampling()}, conversation->id);
    return {};
}

/// The conversation; a new one has chosen "vanilla".
Result<Conversation*> SessionWorker::begun(std::uint64_t id) {
    Conversation& conversation = m_conversations.at(id);
    if (conversation.slot.info().name.empty())
        ENGINE_TRY_DO(handle(ChooseDecoder{"vanilla", {}, id}));
    return &conversation;
}

/// Frees caches of idle conversations if the conversation has no decoder yet and memory is short.
Result<void> SessionWorker::makeRoom(Conversation& conversation) {
    m_conversations.touch(conversation);
    if (!m_model)
        return {};
    return m_conversations.makeRoom(
        conversation, *m_model, m_options.cacheLimitBytes, [this](Conversation& freed) {
            endPause(freed, freed.slot.searchedTask());
            m_outlet.emit(Note{"The cache of this conversation was freed to make room for "
                               "another one; its next prompt is read from its beginning."},
                          freed.id);
        });
}

Result<void> SessionWorker::handle(const SubmitPrompt& command) {
    if (!m_model)
        return Error{
            ErrorCode::NotFound, "There is no model to answer the prompt.", "Load a model first."};
    const std::uint64_t id = command.conversation;
    const DecoderSlot& slot = m_conversations.at(id).slot;
    const auto& wanted = command.decoder;
    if (wanted && !slot.isChosen(wanted->name, wanted->settings))
        ENGINE_TRY_DO(handle(ChooseDecoder{wanted->name, wanted->settings, id}));
    ENGINE_TRY(Conversation* const conversation, begun(id));
    if (command.sampling && *command.sampling != slot.sampling())
        ENGINE_TRY_DO(handle(ChangeSampling{*command.sampling, id}));
    conversation->slot.enterChat(command.chat);
    tellSpan(*conversation);
    ENGINE_TRY_DO(makeRoom(*conversation));
    return beginPrompt(*conversation, command);
}

Result<void> SessionWorker::beginPrompt(Conversation& conversation, const SubmitPrompt& command) {
    conversation.work = m_channels.control.beginPrompt(m_task.number, conversation.id);
    conversation.prompt = std::make_unique<RunningPrompt>(
        m_task,
        PromptSetup{.command = command,
                    .model = *m_model,
                    .ground = ground(conversation.id),
                    .slot = conversation.slot,
                    .outlet = m_outlet,
                    .lens = m_lens,
                    .stop = conversation.work->token(),
                    .promptsFinished = m_promptsFinished,
                    .measuresBaseline = m_options.measuresBaseline && !isAside(conversation.id)});
    auto begun = conversation.prompt->run.begin();
    if (!begun) {
        m_task.tooLong = conversation.prompt->run.tooLong();
        conversation.prompt.reset();
        endPause(conversation, conversation.slot.searchedTask());
    }
    return begun;
}

/// Its prompts were stopped when this was sent, and have ended.
Result<void> SessionWorker::handle(const CloseConversation& command) {
    m_conversations.at(command.conversation).slot.drop();
    tellNotes();
    m_conversations.erase(command.conversation);
    m_outlet.forget(command.conversation);
    return {};
}

Result<void> SessionWorker::handle(const TakeTurns& command) {
    m_turns.reset();
    if (!command.path.empty()) {
        ENGINE_TRY(TurnLock turns, TurnLock::open(command.path));
        m_turns.emplace(std::move(turns));
    }
    return {};
}

/// The two stops took effect when they were sent and never arrive here.
Result<void> SessionWorker::handle(const StopLoading&) { return {}; }

Result<void> SessionWorker::handle(const StopGeneration&) { return {}; }

} // namespace engine
