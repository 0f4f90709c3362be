// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"
#include "app/number_check.h"
#include "app/streams/counted.h"
#include "engine/decoding/answer/generation.h"
#include "engine/lens/answer_lens.h"

#include <nlohmann/json.hpp>

#include <chrono>

namespace app {

using namespace engine;

namespace {

struct LensOptions {
    ModelOptions model;
    std::string prompt;
    std::string ids;
    int maxTokens = 32;
};

/// The prompt's tokens. Errors: InvalidInput unless exactly one of both was given; NotFound for a
/// text without a tokenizer.
Result<std::vector<TokenId>> promptIds(const LensOptions& options, const Tokenizer* tokenizer) {
    if (options.prompt.empty() == options.ids.empty())
        return Error{ErrorCode::InvalidInput,
                     options.ids.empty() ? "No prompt was given."
                                         : "More than one prompt was given.",
                     "Give --prompt TEXT or --prompt-ids 1,2,3."};
    if (!options.ids.empty())
        return parseIds(options.ids, "--prompt-ids");
    if (tokenizer == nullptr)
        return Error{ErrorCode::NotFound,
                     "The model has no tokenizer, so a text prompt cannot be read.",
                     "Add tokenizer.json or tokenizer.model, or give --prompt-ids."};
    return tokenizer->encode(options.prompt, true);
}

std::string depthName(int depth) {
    return depth == 0 ? "embedding"
                      : fmt::format("layer {}'s {}",
                                    layerOfDepth(depth),
                                    isBehindMlp(depth) ? "MLP" : "attention");
}

/// Prints tokens as they are read.
class LensPrinter {
public:
    LensPrinter(const Console& console, const Tokenizer* tokenizer)
        : m_console(console)
        , m_tokenizer(tokenizer) {}

    void print(int position, const LensToken& token) const {
        if (!m_console.isJson())
            return printLine(position, token);
        nlohmann::ordered_json cells = nlohmann::ordered_json::array();
        for (const LensCell& cell : token.cells) {
            nlohmann::ordered_json top = nlohmann::ordered_json::array();
            for (std::size_t i = 0; i < cell.ids.size(); ++i)
                top.push_back({{"id", cell.ids[i]}, {"probability", cell.probabilities[i]}});
            cells.push_back(
                {{"probability", cell.probability}, {"rank", cell.rank + 1}, {"top", top}});
        }
        m_console.jsonLine({{"event", "token"},
                            {"position", position},
                            {"token", token.token},
                            {"final_depth", token.finalDepth()},
                            {"cells", cells}});
    }

private:
    void printLine(int position, const LensToken& token) const {
        const int depth = token.finalDepth();
        const std::string text =
            m_tokenizer != nullptr ? readableToken(*m_tokenizer, token.token) : std::string();
        m_console.line(fmt::format("{:>5} {:>7} {:.3f}  {}  \"{}\"",
                                   position,
                                   token.token,
                                   token.cells.back().probability,
                                   depth < 0 ? std::string("not the likeliest in the end")
                                             : "final behind " + depthName(depth),
                                   text));
    }

    const Console& m_console;
    const Tokenizer* m_tokenizer;
};

Result<void> runLens(const LensOptions& options, CommandContext& context) {
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto tokenizer, openTokenizer(files));
    ENGINE_TRY(std::vector<TokenId> text, promptIds(options, tokenizer.get()));
    ENGINE_TRY(const int contextLength, contextLength(options.model, config));
    ENGINE_TRY_DO(checkPrompt(text, config.vocabSize, contextLength));
    ENGINE_TRY(const LoadedModel model, loadModel(options.model, files, contextLength, stop));
    ENGINE_TRY(const auto decoder, makeVanillaDecoder(*model.transformer, {}, contextLength));
    GenerationRequest request{.prompt = text, .stop = stop};
    request.limits = {.maxTokens = options.maxTokens, .endIds = config.eosIds};
    ENGINE_TRY(const GenerationResult answer, generate(*decoder, request));
    if (answer.reason == FinishReason::Cancelled)
        return cancelledError();
    const int first = static_cast<int>(text.size());
    const int count = static_cast<int>(answer.tokens.size());
    text.insert(text.end(), answer.tokens.begin(), answer.tokens.end());
    const auto begin = std::chrono::steady_clock::now();
    ENGINE_TRY(AnswerLens lens,
               AnswerLens::begin(*model.transformer, text, first, count, contextLength));
    const LensPrinter printer(context.console, tokenizer.get());
    int position = first;
    while (!lens.isDone()) {
        if (stop.stop_requested())
            return cancelledError();
        ENGINE_TRY_DO(lens.step());
        for (const LensToken& token : lens.takeTokens())
            printer.print(position++, token);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (!context.console.isJson())
        context.console.line(fmt::format("{} at {} depths in {:.2f} s; the answer took {:.2f} s",
                                         counted(count, "token"),
                                         lensDepths(config.layerCount),
                                         seconds.count(),
                                         answer.metrics.decodeMs / 1e3));
    else
        context.console.jsonLine({{"event", "done"},
                                  {"tokens", count},
                                  {"depths", lensDepths(config.layerCount)},
                                  {"seconds", seconds.count()},
                                  {"answer_seconds", answer.metrics.decodeMs / 1e3},
                                  {"influence", lens.influence()}});
    return {};
}

} // namespace

void addLensCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command = app.add_subcommand(
        "lens", "Continue a prompt, then print what the model predicts at each depth");
    const auto options = std::make_shared<LensOptions>();
    addModelOptions(*command, options->model);
    command->add_option("--prompt", options->prompt, "The prompt");
    command->add_option(
        "--prompt-ids", options->ids, "The prompt as token ids: 1,2,3 (needs no tokenizer)");
    command->add_option("--max-tokens", options->maxTokens, "Longest answer, in tokens")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    command->footer("Example: swift-run lens --prompt \"Plants eat\" --max-tokens 8");
    addRun(*command, chosen, options, runLens);
}

} // namespace app
