// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"

#include "app/data/decode_tally.h"
#include "app/number_check.h"
#include "app/program_paths.h"

#include <nlohmann/json.hpp>

#include <optional>

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

/// ", M 2.41, acceptance 0.83; draft 120 ms, verify 310 ms, search 12 ms", or nothing without
/// drafts.
std::string draftSummary(const DecodeTally& tally) {
    if (tally.metrics.draftSteps == 0 && tally.metrics.searchMs == 0.0)
        return "";
    return fmt::format(", M {:.2f}, acceptance {:.2f}; draft {:.0f} ms, verify {:.0f} ms, "
                       "search {:.0f} ms",
                       tally.tokensPerRound(),
                       tally.acceptance(),
                       tally.metrics.draftMs,
                       tally.verifyMs(),
                       tally.metrics.searchMs);
}

/// "cpu avx512, 4-bit, keys and values float16".
std::string computedBy(const LoadedModel& model) {
    const std::string_view isa = model.transformer->instructionSet();
    return fmt::format("{}{}{}, {}, keys and values {}",
                       model.backend,
                       isa.empty() ? "" : " ",
                       isa,
                       shortArithmetic(model.transformer->arithmeticName()),
                       model.transformer->kvTypeName());
}

void printSummary(const GenerationResult& result,
                  const DecodeTally& tally,
                  const TextModel& model) {
    const GenerationMetrics& metrics = result.metrics;
    Console::note(fmt::format("[{} tokens, {:.1f} tokens/s{}; prompt {} tokens, first token after "
                              "{:.2f} s; {}; {}]",
                              metrics.outputTokens,
                              metrics.tokensPerSecond(),
                              draftSummary(tally),
                              metrics.promptTokens,
                              metrics.firstTokenMs / 1e3,
                              computedBy(model.loaded),
                              endingInWords(result.reason)));
}

Json doneLine(const GenerationResult& result,
              const DecodeTally& tally,
              const TextOptions& options,
              const TextModel& model) {
    const GenerationMetrics& metrics = result.metrics;
    const Transformer& transformer = *model.loaded.transformer;
    const std::string_view isa = transformer.instructionSet();
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
                    {"backend", model.loaded.backend},
                    {"precision", shortArithmetic(transformer.arithmeticName())},
                    {"kv", transformer.kvTypeName()},
                    {"isa", isa.empty() ? Json() : Json(isa)},
                    {"context", model.contextLength},
                    {"seed", options.sampling.options.seed}});
    return {{"event", "done"},
            {"tokens", result.tokens},
            {"text", model.hasText ? Json(result.text) : Json(nullptr)},
            {"finish_reason", finishReasonName(result.reason)},
            {"inside_grammar", result.isInsideGrammar},
            {"metrics", std::move(numbers)}};
}

/// One step; draft fields appear only if something was drafted.
Json stepLine(const DecodeStep& step, const Json& text) {
    Json line = {{"event", "step"}, {"tokens", step.tokens}, {"text", text}};
    line["origins"] = Json::array();
    for (const TokenFact& fact : step.facts)
        line["origins"].push_back(tokenOriginName(fact.origin));
    if (step.isPlain())
        return line;
    line["draft"] = Json::array();
    for (const DraftNode& node : step.draft.nodes())
        line["draft"].push_back(
            {{"token", node.token}, {"parent", node.parent}, {"probability", node.probability}});
    line["path"] = step.path;
    return line;
}

} // namespace

void addTextOptions(CLI::App& command, TextOptions& options, int defaultMaxTokens) {
    options.maxTokens = defaultMaxTokens;
    addModelOptions(command, options.model);
    addDecoderOptions(command, options.decoder, command.get_name());
    command.add_option("--max-tokens", options.maxTokens, "Longest answer, in tokens")
        ->check(wholeFrom(0))
        ->capture_default_str();
    addContextOption(command, options.model);
    addSamplingOptions(command, options.sampling);
    command.add_option("--stop",
                       options.stopStrings,
                       "End the answer before this text; may be given several times");
    command.add_option("--system",
                       options.system,
                       "Text of the system message at the start of the "
                       "chat");
    command.add_flag("--json", options.json, "Write one JSON object per line to standard output");
}

Result<TextModel> loadTextModel(const TextOptions& options,
                                const ModelFiles& files,
                                const Tokenizer* tokenizer,
                                std::stop_token stop) {
    DecoderRegistry registry(moduleFolder());
    ENGINE_TRY(SettingValues settings,
               parseSettings(registry, options.decoder.name, options.decoder.settings));
    ENGINE_TRY(const SamplingOptions sampling, resolveSampling(options.sampling, tokenizer));
    ENGINE_TRY(const ModelConfig config, files.config());
    if (tokenizer != nullptr)
        ENGINE_TRY_DO(checkTokenizerFits(*tokenizer, config));
    TextModel model;
    ENGINE_TRY(model.contextLength, contextLength(options.model, config));
    ENGINE_TRY(model.loaded, loadModel(options.model, files, model.contextLength, std::move(stop)));
    model.vocabulary = vocabularyFor(sampling, tokenizer, config.vocabSize);
    ENGINE_TRY(model.memory, openSkipSetMemory(options.decoder.name, files));
    ENGINE_TRY(model.decoder,
               registry.make(options.decoder.name,
                             {.transformer = *model.loaded.transformer,
                              .sampling = sampling,
                              .contextLength = model.contextLength,
                              .settings = std::move(settings),
                              .memory = model.memory.get()}));
    return model;
}

Result<GenerationResult> streamAnswer(CommandContext& context,
                                      const TextOptions& options,
                                      TextModel& model,
                                      const GenerationRequest& request) {
    const Console& console = context.console;
    model.hasText = request.tokenizer != nullptr;
    GenerationRequest streamed = request;
    streamed.task = options.decoder.task;
    streamed.vocabulary = model.vocabulary;
    DecodeTally tally;
    bool hasStreamed = false;
    std::optional<ProgressBar> bar(std::in_place, "Reading the prompt");
    streamed.onPrompt = [&bar](double part) { bar->show(part); };
    std::vector<std::string> remarks;
    const auto collect = [&remarks](const SearchReport& report) {
        remarks.insert(remarks.end(), report.remarks.begin(), report.remarks.end());
    };
    const auto tellStep = [&](const DecodeStep& step, const std::string& text) {
        hasStreamed = true;
        bar.reset();
        if (console.isJson())
            console.jsonLine(stepLine(step, model.hasText ? Json(text) : Json(nullptr)));
        else if (model.hasText)
            console.text(text);
        else
            for (const TokenId id : step.tokens)
                console.text(fmt::format("{} ", id));
    };
    const auto tellText = [&](const std::string& text) {
        hasStreamed = true;
        bar.reset();
        if (console.isJson())
            console.jsonLine({{"event", "text"}, {"text", text}});
        else
            console.text(text);
    };
    const auto answerAll = [&]() -> Result<GenerationResult> {
        ENGINE_TRY(Answer answer, Answer::begin(*model.decoder, streamed));
        while (true) {
            ENGINE_TRY(const std::optional<AnswerPart> part, answer.next());
            if (!part)
                return answer.result();
            if (const auto* made = std::get_if<AnswerStep>(&*part)) {
                tally.add(made->step);
                collect(made->step.search);
                tellStep(made->step, made->text());
            } else if (const auto* late = std::get_if<LateText>(&*part)) {
                tellText(late->text);
            } else if (const auto* end = std::get_if<AnswerEnd>(&*part)) {
                tally.add(end->report);
                collect(end->report);
            }
        }
    };
    auto result = answerAll();
    bar.reset();
    if (!console.isJson() && (hasStreamed || result))
        console.text("\n"); // completes the answer's line, whatever ended it
    for (const std::string& remark : remarks)
        Console::note(fmt::format("[{}]", remark));
    if (!result)
        return result;
    printSummary(result.value(), tally, model);
    if (result.value().isInsideGrammar)
        Console::note("The answer ended before it had the requested form.");
    console.jsonLine(doneLine(result.value(), tally, options, model));
    return result;
}

void storeStatistics(TextModel& model) {
    for (const std::string& remark : model.decoder->storeStatistics())
        Console::note(fmt::format("[{}]", remark));
}

Error cancelledError() { return {ErrorCode::Cancelled, "Stopped.", ""}; }

} // namespace app
