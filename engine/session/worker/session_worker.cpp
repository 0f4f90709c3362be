// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/session_worker.h"

#include "engine/session/loading/model_inspection.h"
#include "engine/session/loading/model_parts.h"
#include "engine/session/worker/events/search_events.h"
#include "engine/session/worker/prompt_run.h"
#include "engine/session/worker/prompt_text.h"

#include <new>
#include <stdexcept>
#include <utility>

namespace engine {

namespace {

struct CommandNames {
    std::string_view operator()(const LoadModel&) const { return "load_model"; }

    std::string_view operator()(const StopLoading&) const { return "stop_loading"; }

    std::string_view operator()(const UnloadModel&) const { return "unload_model"; }

    std::string_view operator()(const InspectModel&) const { return "inspect_model"; }

    std::string_view operator()(const CountTokens&) const { return "count_tokens"; }

    std::string_view operator()(const ChooseDecoder&) const { return "choose_decoder"; }

    std::string_view operator()(const ChangeSettings&) const { return "change_settings"; }

    std::string_view operator()(const ChangeSampling&) const { return "change_sampling"; }

    std::string_view operator()(const SubmitPrompt&) const { return "submit_prompt"; }

    std::string_view operator()(const StopGeneration&) const { return "stop_generation"; }

    std::string_view operator()(const StartRecording&) const { return "start_recording"; }

    std::string_view operator()(const StopRecording&) const { return "stop_recording"; }
};

ModelFacts factsOf(const SessionModel& model) {
    ModelFacts facts = modelFactsOf(model.transformer->config(), model.file);
    facts.contextLength = model.contextLength;
    facts.backend = model.backend;
    facts.arithmetic = model.transformer->arithmeticName();
    facts.precision = shortArithmetic(facts.arithmetic);
    facts.instructionSet = model.transformer->instructionSet();
    facts.kvType = model.transformer->kvTypeName();
    facts.weightBytes = model.transformer->weightBytes();
    if (model.tokenizer)
        facts.tokenizer = model.tokenizer->description();
    if (model.chatTemplate)
        facts.chatTemplate = model.chatTemplate->origin();
    return facts;
}

/// The sender's number of a question, 0 for other commands.
std::uint64_t requestIdOf(const EngineCommand& command) {
    if (const auto* inspect = std::get_if<InspectModel>(&command))
        return inspect->requestId;
    const auto* count = std::get_if<CountTokens>(&command);
    return count != nullptr ? count->requestId : 0;
}

/// Whether it changes something that later commands in the queue refer to.
bool isBarrier(const EngineCommand& command) {
    return std::holds_alternative<LoadModel>(command) ||
           std::holds_alternative<UnloadModel>(command) ||
           std::holds_alternative<ChooseDecoder>(command);
}

/// Whether it takes effect while a prompt runs.
bool actsWhileRunning(const EngineCommand& command) {
    return std::holds_alternative<ChangeSettings>(command) ||
           std::holds_alternative<InspectModel>(command) ||
           std::holds_alternative<CountTokens>(command) ||
           std::holds_alternative<StartRecording>(command) ||
           std::holds_alternative<StopRecording>(command);
}

} // namespace

SessionWorker::SessionWorker(const SessionOptions& options, SessionChannels& channels)
    : m_options(options)
    , m_channels(channels)
    , m_outlet(channels.events)
    , m_registry(options.moduleFolder)
    , m_loader(options.loader ? options.loader : makeModelLoader(options.moduleFolder))
    , m_slot(m_registry) {}

void SessionWorker::run() {
    workOn({0, ChooseDecoder{"vanilla"}});
    if (m_options.addDecoders)
        m_options.addDecoders(m_registry);
    NumberedCommand command;
    while (nextCommand(command)) {
        workOn(command);
        tellRemarks();
    }
}

void SessionWorker::tellRemarks() {
    for (const std::string& remark : m_slot.takeRemarks())
        m_outlet.emit(Remark{remark});
}

bool SessionWorker::nextCommand(NumberedCommand& command) {
    if (m_waiting.empty())
        takeWaiting();
    while (m_waiting.empty() && workInPause())
        takeWaiting();
    if (m_waiting.empty() && m_channels.commands.waitForContent())
        takeWaiting();
    if (m_waiting.empty() || m_channels.commands.isClosed())
        return false;
    command = std::move(m_waiting.front());
    m_waiting.pop_front();
    return true;
}

/// Lets the decoder use the pause behind an answer for one piece of its work. Returns whether there
/// may be more. A stop or a closed session ends the pause.
bool SessionWorker::workInPause() {
    if (!m_pause)
        return false;
    m_task = {.name = "pause"};
    bool hasWorked = false;
    guard([&] { hasWorked = !m_pause->stop_requested() && useDecoderInPause(); });
    if (hasWorked)
        return true;
    // Work that was stopped waits for the next answer.
    const std::string task = m_slot.task();
    if (m_pause->stop_requested() && m_slot.isInPhase(DecoderPhase::Optimise) &&
        m_slot.entersPhase(DecoderPhase::Accumulate, task))
        m_outlet.emit(PhaseChanged{DecoderPhase::Accumulate, task});
    m_pause.reset();
    return false;
}

bool SessionWorker::useDecoderInPause() {
    Decoder* const decoder = m_slot.decoder();
    if (decoder == nullptr)
        return false;
    const auto report = decoder->idle(*m_pause);
    if (!report && report.error().code != ErrorCode::Cancelled)
        fail(report.error());
    if (!report || !report.value())
        return false;
    const SearchReport& done = *report.value();
    const std::string task = m_slot.task();
    const bool hasNewPhase = m_slot.entersPhase(done.phase, task);
    tellSearch(done, task, m_model->tokenizer.get(), hasNewPhase, m_outlet);
    return true;
}

/// Bounded like the queue: further commands stay there, and the sender is refused.
void SessionWorker::takeWaiting() {
    if (m_waiting.size() >= m_options.commandCapacity)
        return;
    for (NumberedCommand& command : m_channels.commands.takeAll())
        m_waiting.push_back(std::move(command));
}

/// An exception of a command is an error inside the program, or a lack of memory. The decoder's
/// state may be inconsistent then, so it is created again.
void SessionWorker::workOn(const NumberedCommand& command) {
    guard([&] { attempt(command); });
}

void SessionWorker::guard(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        m_slot.drop();
        fail({ErrorCode::NoMemory,
              "There is not enough memory for this.",
              "Choose a smaller model or context, or close other programs."});
    } catch (const std::exception& exception) {
        m_slot.drop();
        fail({ErrorCode::Internal,
              fmt::format("An error inside the program: {}.", exception.what()),
              "Please report it; the decoder was created again and the session goes on."});
    } catch (...) {
        m_slot.drop();
        fail({ErrorCode::Internal,
              "A decoder or a backend threw something that is not an exception.",
              "Please report it; the decoder was created again and the session goes on."});
    }
}

void SessionWorker::attempt(const NumberedCommand& command) {
    const auto* prompt = std::get_if<SubmitPrompt>(&command.command);
    m_task = {command.number,
              std::visit(CommandNames(), command.command),
              prompt != nullptr ? prompt->promptId : 0,
              requestIdOf(command.command)};
    auto done =
        std::visit([this](const auto& content) { return handle(content); }, command.command);
    if (!done)
        fail(std::move(done).error());
    tellSpan();
}

void SessionWorker::tellSpan() {
    if (const auto started = m_slot.takeSpanStart())
        m_outlet.emit(*started);
}

void SessionWorker::fail(Error error) {
    EngineFailed failed{.error = std::move(error),
                        .task = std::string(m_task.name),
                        .promptId = m_task.promptId,
                        .requestId = m_task.requestId};
    if (m_task.tooLong) {
        failed.promptTokens = m_task.tooLong->total;
        failed.contextLength = m_model->contextLength;
        failed.perMessage = m_task.tooLong->perMessage;
    }
    m_outlet.emit(std::move(failed));
}

/// The new model is loaded beside the old one, which stays usable if that fails. Only if both do
/// not fit into memory is the old one freed first.
Result<void> SessionWorker::handle(const LoadModel& command) {
    m_pause.reset(); // its stop token is of no use beside that of the load
    const ModelLoadWork work{
        m_channels.control.begin(WorkKind::Load, m_task.number),
        [this, &command](std::string_view stage, double part) {
            m_outlet.emit(ModelLoadProgress{command.path, std::string(stage), part});
        }};
    if (work.stop.stop_requested())
        return Error{ErrorCode::Cancelled, "Loading the model was cancelled.", ""};
    auto loaded = m_loader(command, work);
    if (!loaded && loaded.error().code == ErrorCode::NoMemory && m_model) {
        m_outlet.emit(Remark{"The earlier model was freed to make room for the new one."});
        unload();
        loaded = m_loader(command, work);
    }
    ENGINE_TRY(SessionModel model, std::move(loaded));
    useModel(std::move(model), command.path);
    return {};
}

void SessionWorker::useModel(SessionModel model, const std::string& path) {
    m_slot.leaveModel();
    m_memory.reset();
    m_model = std::move(model);
    if (!m_options.dataFolder.empty() && !m_model->fingerprint.empty())
        m_memory = std::make_unique<SkipSetMemory>(
            m_options.dataFolder, m_model->fingerprint, m_model->transformer->config().layerCount);
    std::vector<Error> refused;
    ModelLoaded loaded{path, factsOf(*m_model), m_model->remarks, m_registry.list(&refused)};
    for (const Error& error : refused)
        loaded.remarks.push_back(error.message);
    m_outlet.emit(std::move(loaded));
}

Result<void> SessionWorker::handle(const UnloadModel&) {
    unload();
    return {};
}

void SessionWorker::unload() {
    m_slot.leaveModel();
    tellRemarks();
    m_memory.reset();
    if (std::exchange(m_model, std::nullopt))
        m_outlet.emit(ModelUnloaded{});
}

DecoderGround SessionWorker::ground() { return {m_model ? &*m_model : nullptr, m_memory.get()}; }

Result<void> SessionWorker::handle(const InspectModel& command) {
    ENGINE_TRY(ModelInspected inspected, inspectModel(m_options.moduleFolder, command));
    m_outlet.emit(std::move(inspected));
    return {};
}

Result<void> SessionWorker::handle(const CountTokens& command) {
    if (!m_model)
        return Error{
            ErrorCode::NotFound, "There is no model to count tokens with.", "Load a model first."};
    ENGINE_TRY(PromptCount count, countTokens(command, *m_model));
    m_outlet.emit(TokensCounted{
        command.requestId, count.total, std::move(count.perMessage), m_model->contextLength});
    return {};
}

Result<void> SessionWorker::handle(const ChooseDecoder& command) {
    ENGINE_TRY_DO(m_slot.choose(command.name, command.settings, ground()));
    m_outlet.emit(DecoderChosen{m_slot.info(), m_slot.settings()});
    return {};
}

Result<void> SessionWorker::handle(const ChangeSettings& command) {
    ENGINE_TRY(const SearchReport report, m_slot.changeSettings(command.values, ground()));
    m_outlet.emit(SettingsChanged{m_slot.settings()});
    tellSearch(
        report, m_slot.task(), m_model ? m_model->tokenizer.get() : nullptr, false, m_outlet);
    m_searchMsBetween += report.searchMs;
    return {};
}

Result<void> SessionWorker::handle(const ChangeSampling& command) {
    ENGINE_TRY_DO(m_slot.changeSampling(command.sampling));
    m_outlet.emit(SamplingChanged{m_slot.sampling()});
    return {};
}

Result<void> SessionWorker::handle(const SubmitPrompt& command) {
    if (!m_model)
        return Error{
            ErrorCode::NotFound, "There is no model to answer the prompt.", "Load a model first."};
    if (command.decoder && !m_slot.isChosen(command.decoder->name, command.decoder->settings))
        ENGINE_TRY_DO(handle(*command.decoder));
    if (command.sampling && *command.sampling != m_slot.sampling())
        ENGINE_TRY_DO(handle(ChangeSampling{*command.sampling}));
    m_slot.enterChat(command.chat);
    tellSpan();
    const auto stop = m_channels.control.begin(WorkKind::Prompt, m_task.number);
    PromptRun prompt({.command = command,
                      .model = *m_model,
                      .ground = ground(),
                      .slot = m_slot,
                      .outlet = m_outlet,
                      .stop = stop,
                      .promptsFinished = m_promptsFinished,
                      .betweenSteps = [this] { return applyWhileRunning(); }});
    m_pause.reset();
    auto done = prompt.run();
    if (!done)
        m_task.tooLong = prompt.tooLong();
    else if (++m_promptsFinished; !stop.stop_requested())
        m_pause = stop;
    return done;
}

/// Runs the commands that need not wait for the running prompt's end, up to the first one that
/// later commands depend on. Each succeeds or fails on its own. Returns the milliseconds of search
/// that they caused.
double SessionWorker::applyWhileRunning() {
    takeWaiting();
    const TaskKeeper keeper(m_task);
    m_searchMsBetween = 0.0;
    for (auto at = m_waiting.begin(); at != m_waiting.end() && !isBarrier(at->command);) {
        if (!actsWhileRunning(at->command)) {
            ++at;
            continue;
        }
        const NumberedCommand command = std::move(*at);
        at = m_waiting.erase(at);
        attempt(command);
    }
    return m_searchMsBetween;
}

Result<void> SessionWorker::handle(const StartRecording& command) {
    return m_outlet.startRecording(command.path, command.mayOverwrite);
}

Result<void> SessionWorker::handle(const StopRecording&) {
    m_outlet.stopRecording();
    return {};
}

/// The two stops took effect when they were sent and never arrive here.
Result<void> SessionWorker::handle(const StopLoading&) { return {}; }

Result<void> SessionWorker::handle(const StopGeneration&) { return {}; }

} // namespace engine
