// SPDX-License-Identifier: Apache-2.0
#include "app/data/text_session.h"

#include "app/data/decode_tally.h"
#include "app/data/kept_drafts.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/decoding/statistics/skip_set_memory.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

std::string_view endingInWords(FinishReason reason) {
    switch (reason) {
    case FinishReason::EndToken:
        return "the model ended its answer";
    case FinishReason::StopString:
        return "a stop string appeared";
    case FinishReason::MaxTokens:
        return "--max-tokens was reached";
    case FinishReason::ContextFull:
        return "the context is full";
    case FinishReason::Cancelled:
        return "stopped";
    }
    return "";
}

/// ", M 2.41, accepted/drafted 20/24 (.83); draft 120 ms, verify 310 ms, search 12 ms", or nothing
/// without drafts and search.
std::string draftSummary(const DecodeTally& tally) {
    if (tally.metrics.draftSteps == 0 && tally.metrics.searchMs == 0.0)
        return "";
    return fmt::format(", M {:.2f}, accepted/drafted {}; draft {:.0f} ms, verify {:.0f} ms, "
                       "search {:.0f} ms",
                       tally.tokensPerRound(),
                       keptDrafts(tally.metrics),
                       tally.metrics.draftMs,
                       tally.verifyMs(),
                       tally.metrics.searchMs);
}

/// "cpu avx512, 4-bit, keys and values float16".
std::string computedBy(const ModelFacts& model) {
    return fmt::format("{}{}{}, {}, keys and values {}",
                       model.backend,
                       model.instructionSet.empty() ? "" : " ",
                       model.instructionSet,
                       model.precision,
                       model.kvType);
}

void printSummary(const PromptFinished& end, const DecodeTally& tally, const ModelFacts& model) {
    const GenerationMetrics& metrics = end.generation;
    Console::note(fmt::format("[{}, {:.1f} tokens/s{}; prompt {}, first token after {:.2f} s; {}; "
                              "{}]",
                              counted(metrics.outputTokens, "token"),
                              metrics.tokensPerSecond(),
                              draftSummary(tally),
                              counted(metrics.promptTokens, "token"),
                              metrics.firstTokenMs / 1e3,
                              computedBy(model),
                              endingInWords(end.reason)));
}

Json doneLine(const PromptFinished& end,
              const DecodeTally& tally,
              const TextOptions& options,
              const ModelFacts& model) {
    const GenerationMetrics& metrics = end.generation;
    const std::string& isa = model.instructionSet;
    Json numbers = {{"prompt_tokens", metrics.promptTokens},
                    {"output_tokens", metrics.outputTokens},
                    {"steps", metrics.steps},
                    {"tokens_per_step", metrics.tokensPerStep()},
                    {"tokens_per_second", metrics.tokensPerSecond()},
                    {"prompt_ms", metrics.promptMs},
                    {"first_token_ms", metrics.firstTokenMs},
                    {"decode_ms", metrics.decodeMs}};
    numbers.update(tally.json());
    numbers.update({{"decoder", options.decoder.name},
                    {"backend", model.backend},
                    {"precision", model.precision},
                    {"kv", model.kvType},
                    {"isa", isa.empty() ? Json() : Json(isa)},
                    {"context", model.contextLength},
                    {"seed", options.sampling.options.seed}});
    return {{"event", "done"},
            {"tokens", end.tokens},
            {"text", model.tokenizer.empty() ? Json(nullptr) : Json(end.text)},
            {"finish_reason", finishReasonName(end.reason)},
            {"inside_grammar", end.isInsideGrammar},
            {"metrics", std::move(numbers)}};
}

/// One step; draft fields appear only if something was drafted.
Json stepLine(const StepFinished& step, bool hasText) {
    Json line = {{"event", "step"}, {"tokens", Json::array()}};
    line["text"] = hasText ? Json(step.text) : Json(nullptr);
    line["origins"] = Json::array();
    for (const EmittedToken& token : step.tokens) {
        line["tokens"].push_back(token.id);
        line["origins"].push_back(tokenOriginName(token.fact.origin));
    }
    if (step.isPlain())
        return line;
    line["draft"] = Json::array();
    for (const DraftNode& node : step.draft)
        line["draft"].push_back(
            {{"token", node.token}, {"parent", node.parent}, {"probability", node.probability}});
    line["path"] = step.path;
    return line;
}

/// Streams an answer to the console.
class AnswerPrinter {
public:
    AnswerPrinter(const Console& console, bool hasText)
        : m_console(console)
        , m_hasText(hasText) {}

    void take(const EngineEvent& event) {
        if (const auto* progress = event.as<PromptProgress>(); progress && m_bar)
            m_bar->show(progress->part);
        else if (const auto* step = event.as<StepFinished>())
            print(*step);
        else if (const auto* released = event.as<TextReleased>())
            print(*released);
        else if (const auto* note = event.as<Note>())
            m_notes.push_back(note->text);
    }

    /// Completes the answer's line, whatever ended it.
    void finish(bool isAnswered) {
        m_bar.reset();
        if (!m_console.isJson() && (m_hasStreamed || isAnswered))
            m_console.text("\n");
        for (const std::string& note : m_notes)
            Console::note(fmt::format("[{}]", note));
    }

    /// Passes of plain steps, milliseconds.
    double plainMs() const { return m_plainMs; }

private:
    void print(const StepFinished& step) {
        begin();
        m_plainMs += step.isPlain() ? step.verifyMs : 0.0;
        if (m_console.isJson())
            m_console.jsonLine(stepLine(step, m_hasText));
        else if (m_hasText)
            m_console.text(step.text);
        else
            for (const EmittedToken& token : step.tokens)
                m_console.text(fmt::format("{} ", token.id));
    }

    void print(const TextReleased& released) {
        begin();
        if (m_console.isJson())
            m_console.jsonLine({{"event", "text"}, {"text", released.text}});
        else
            m_console.text(released.text);
    }

    void begin() {
        m_hasStreamed = true;
        m_bar.reset();
    }

    const Console& m_console;
    bool m_hasText;
    bool m_hasStreamed = false;
    std::optional<ProgressBar> m_bar{std::in_place, "Reading the prompt"};
    std::vector<std::string> m_notes;
    double m_plainMs = 0.0;
};

/// The model's tokenizer if the sampling options need it before the model is loaded.
Result<std::unique_ptr<Tokenizer>> samplingTokenizer(const TypedSampling& typed,
                                                     const ModelFiles& files) {
    const bool hasGrammar = !typed.schemaFile.empty() || !typed.regex.empty() || typed.isJsonObject;
    if (!hasGrammar && typed.biases.empty())
        return std::unique_ptr<Tokenizer>();
    return openTokenizer(files);
}

SessionOptions sessionOptions(const TextOptions& options, bool measuresBaseline) {
    return {.moduleFolder = moduleFolder(),
            .dataFolder = defaultDataFolder(),
            .loader = makeModelLoader(moduleFolder(),
                                      options.model.usesPackedCache ? packedCacheOptions()
                                                                    : PackedCacheOptions(),
                                      adapterFolder()),
            .measuresBaseline = measuresBaseline,
            .usesPauses = false};
}

} // namespace

TextSession::TextSession(const TextOptions& options, const Console& console, bool measuresBaseline)
    : m_options(options)
    , m_console(console)
    , m_session(sessionOptions(options, measuresBaseline)) {}

/// Hands on events until one of them has ended the wait.
void TextSession::waitUntil(const bool& isDone, const EventHandler& handle) {
    while (!isDone) {
        m_session.waitForEvents(std::chrono::hours(1));
        for (const EngineEvent& event : m_session.takeEvents())
            handle(event);
    }
}

/// Waits for the event of the command's success, or for its failure.
template <typename Event>
Result<Event> TextSession::perform(EngineCommand command, const EventHandler& handle) {
    m_session.send(std::move(command));
    std::optional<Event> done;
    std::optional<Error> failure;
    bool isOver = false;
    waitUntil(isOver, [&](const EngineEvent& event) {
        if (const auto* failed = event.as<EngineFailed>())
            failure = failed->error;
        // A recording that cannot be written may end before it has begun.
        if (const auto* stopped = event.as<RecordingStopped>(); stopped && stopped->error)
            failure = stopped->error;
        if (const auto* succeeded = event.as<Event>())
            done = *succeeded;
        if (handle)
            handle(event);
        isOver = done || failure;
    });
    if (failure)
        return *failure;
    return *done;
}

Result<void> TextSession::open() {
    DecoderRegistry registry(moduleFolder());
    const DecoderOptions& decoder = m_options.decoder;
    m_decoder.name = decoder.name;
    ENGINE_TRY(m_decoder.settings, parseSettings(registry, decoder.name, decoder.settings));
    ENGINE_TRY(const ModelFiles files, openModel(m_options.model));
    ENGINE_TRY(const auto tokenizer, samplingTokenizer(m_options.sampling, files));
    ENGINE_TRY(m_sampling.sampling, resolveSampling(m_options.sampling, tokenizer.get()));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const int context, contextLength(m_options.model, config));
    m_path = files.path();
    m_load = {.path = m_path.string(),
              .backend = m_options.model.backend,
              .settings = m_options.model.settings,
              .contextLength = context,
              .isPlanted = m_options.model.isPlanted,
              .draftAdapter = m_options.model.draftAdapter};
    return {};
}

Result<void> TextSession::load(const std::stop_token& stop) {
    const std::stop_callback stopping(stop, [this] { m_session.send(StopLoading{}); });
    ModelLoaded loaded;
    {
        ProgressBar bar("Loading " + m_path.filename().string());
        ENGINE_TRY(loaded, perform<ModelLoaded>(m_load, [&bar](const EngineEvent& event) {
                       const auto* progress = event.as<ModelLoadProgress>();
                       if (progress && progress->stage == "weights")
                           bar.show(progress->part);
                   }));
    }
    m_model = std::move(loaded.model);
    m_notes = std::move(loaded.notes);
    for (const Error& refused : loaded.refusedModules)
        m_notes.push_back(refused.message);
    ENGINE_TRY_DO(perform<SamplingChanged>(m_sampling));
    ENGINE_TRY_DO(perform<DecoderChosen>(m_decoder));
    return {};
}

void TextSession::tellNotes() {
    for (const std::string& note : std::exchange(m_notes, {}))
        Console::note(fmt::format("[{}]", note));
}

Result<void> TextSession::startRecording(const OutputOptions& out) {
    ENGINE_TRY_DO(perform<RecordingStarted>(StartRecording{out.path, out.mayOverwrite}));
    return {};
}

Result<void> TextSession::stopRecording() {
    ENGINE_TRY_DO(perform<RecordingStopped>(StopRecording{}));
    return {};
}

Result<PromptFinished>
TextSession::ask(SubmitPrompt prompt, const std::stop_token& stop, const EventHandler& handle) {
    const std::uint64_t id = prompt.promptId = ++m_promptId;
    m_session.send(std::move(prompt));
    // Only now: a stop acts on what was sent before it.
    const std::stop_callback stopping(stop, [this] { m_session.send(StopGeneration{}); });
    std::optional<PromptFinished> finished;
    std::optional<Error> failure;
    bool isOver = false;
    waitUntil(isOver, [&](const EngineEvent& event) {
        if (const auto* failed = event.as<EngineFailed>(); failed && failed->promptId == id)
            failure = failed->error;
        if (const auto* end = event.as<PromptFinished>(); end && end->promptId == id)
            finished = *end;
        isOver = finished || failure;
        handle(event);
    });
    if (failure)
        return *failure;
    return *std::move(finished);
}

Result<PromptFinished> TextSession::answer(SubmitPrompt prompt, const std::stop_token& stop) {
    prompt.task = m_options.decoder.task;
    prompt.taskUse = m_options.decoder.isTaskNamed ? TaskUse::Learned : TaskUse::Given;
    prompt.maxTokens = m_options.maxTokens;
    prompt.stopStrings = m_options.stopStrings;
    AnswerPrinter printer(m_console, hasTokenizer());
    const auto answered =
        ask(std::move(prompt), stop, [&printer](const EngineEvent& event) { printer.take(event); });
    printer.finish(answered.hasValue());
    ENGINE_TRY(PromptFinished finished, answered);
    const DecodeTally tally{.metrics = finished.decoding,
                            .steps = finished.generation.steps,
                            .plainMs = printer.plainMs()};
    printSummary(finished, tally, m_model);
    tellNotes();
    if (finished.isInsideGrammar)
        Console::note("The answer ended before it had the requested form.");
    m_console.jsonLine(doneLine(finished, tally, m_options, m_model));
    return finished;
}

void TextSession::close() {
    const auto closed = perform<ModelUnloaded>(UnloadModel{}, [](const EngineEvent& event) {
        if (const auto* note = event.as<Note>())
            Console::note(fmt::format("[{}]", note->text));
    });
    if (!closed)
        Console::note(closed.error().message);
}

} // namespace app
