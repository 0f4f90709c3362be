// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text_options.h"

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

void printSummary(const GenerationResult& result, const TextModel& model) {
    const GenerationMetrics& metrics = result.metrics;
    Console::note(fmt::format("[{} tokens, {:.1f} tokens/s; prompt {} tokens, first token after "
                              "{:.2f} s; {} {}; {}]",
                              metrics.outputTokens,
                              metrics.tokensPerSecond(),
                              metrics.promptTokens,
                              metrics.firstTokenMs / 1e3,
                              model.loaded.backend,
                              precisionName(model.loaded.transformer->precision()),
                              endingInWords(result.reason)));
}

Json doneLine(const GenerationResult& result,
              const TextOptions& options,
              const TextModel& model,
              bool hasText) {
    const GenerationMetrics& metrics = result.metrics;
    return {{"event", "done"},
            {"tokens", result.tokens},
            {"text", hasText ? Json(result.text) : Json(nullptr)},
            {"finish_reason", finishReasonName(result.reason)},
            {"metrics",
             {{"prompt_tokens", metrics.promptTokens},
              {"output_tokens", metrics.outputTokens},
              {"steps", metrics.steps},
              {"tokens_per_step", metrics.tokensPerStep()},
              {"tokens_per_second", metrics.tokensPerSecond()},
              {"prompt_ms", metrics.promptMs},
              {"first_token_ms", metrics.firstTokenMs},
              {"decode_ms", metrics.decodeMs},
              {"decoder", options.decoder},
              {"backend", model.loaded.backend},
              {"precision", precisionName(model.loaded.transformer->precision())},
              {"context", model.contextLength},
              {"seed", options.sampling.seed}}}};
}

} // namespace

void addTextOptions(CLI::App& command, TextOptions& options, int defaultMaxTokens) {
    options.maxTokens = defaultMaxTokens;
    addModelOptions(command, options.model);
    command.add_option("--decoder", options.decoder, "How tokens are made: vanilla, one a pass")
        ->capture_default_str();
    command.add_option("--max-tokens", options.maxTokens, "Tokens of an answer at most")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option(
            "--context",
            options.model.context,
            "Tokens, prompt and answer together; default: the smaller of the model's and 8192")
        ->check(CLI::PositiveNumber);
    command
        .add_option("--temperature",
                    options.sampling.temperature,
                    "0 takes the most probable token; higher draws more freely")
        ->capture_default_str();
    command.add_option("--top-k", options.sampling.topK, "Draw among the K most probable; 0 = off")
        ->capture_default_str();
    command
        .add_option("--top-p",
                    options.sampling.topP,
                    "Draw among the most probable that together reach P; 1 = off")
        ->capture_default_str();
    command.add_option("--seed", options.sampling.seed, "Key of the draws: same seed, same text")
        ->capture_default_str();
    command.add_option("--stop",
                       options.stopStrings,
                       "End the answer before this text; may be given several times");
    command.add_option("--system", options.system, "Text of a system message that opens the chat");
    command.add_flag("--json", options.json, "One JSON object a line on standard output");
}

Result<TextModel> loadTextModel(const TextOptions& options,
                                const ModelFiles& files,
                                const Tokenizer* tokenizer,
                                std::stop_token stop) {
    if (options.decoder != "vanilla")
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no decoder \"{}\".", options.decoder),
                     "Available: vanilla."};
    ENGINE_TRY_DO(options.sampling.validate());
    ENGINE_TRY(const ModelConfig config, files.config());
    if (tokenizer != nullptr)
        ENGINE_TRY_DO(checkTokenizerFits(*tokenizer, config));
    TextModel model;
    ENGINE_TRY(model.contextLength, contextLength(options.model, config));
    ENGINE_TRY(model.loaded, loadModel(options.model, files, std::move(stop)));
    ENGINE_TRY(
        model.decoder,
        makeVanillaDecoder(*model.loaded.transformer, options.sampling, model.contextLength));
    return model;
}

Result<GenerationResult> streamAnswer(CommandContext& context,
                                      const TextOptions& options,
                                      TextModel& model,
                                      const GenerationRequest& request) {
    const Console& console = context.console;
    const bool hasText = request.tokenizer != nullptr;
    GenerationRequest streamed = request;
    bool hasStreamed = false;
    std::optional<ProgressBar> bar(std::in_place, "Reading the prompt");
    streamed.onPrompt = [&bar](double part) { bar->show(part); };
    streamed.onStep = [&](const DecodeStep& step, std::string_view text) {
        hasStreamed = true;
        bar.reset();
        if (console.isJson())
            console.jsonLine({{"event", "step"},
                              {"tokens", step.tokens},
                              {"text", hasText ? Json(text) : Json(nullptr)}});
        else if (hasText)
            console.text(text);
        else
            for (const TokenId id : step.tokens)
                console.text(fmt::format("{} ", id));
    };
    auto result = generate(*model.decoder, streamed);
    bar.reset();
    if (!console.isJson() && (hasStreamed || result))
        console.text("\n"); // the answer's line is complete, whatever ended it
    if (!result)
        return result;
    printSummary(result.value(), model);
    console.jsonLine(doneLine(result.value(), options, model, hasText));
    return result;
}

Error cancelledError() { return {ErrorCode::Cancelled, "Stopped by Ctrl+C.", ""}; }

} // namespace app
