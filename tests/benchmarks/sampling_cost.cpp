// SPDX-License-Identifier: Apache-2.0
// What drawing a token costs besides the pass, on rows of the default model: CPU time of the
// calling thread, so that other work on the machine matters little. Run from the checkout's root:
// build/release/benchmarks/sampling_cost --help
#include "engine/decoding/round/logit_processor.h"
#include "tests/support/models/default_model.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <utility>

using namespace engine;

namespace {

/// Of the calling thread.
double cpuMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Costs {
    double passMs = 0.0;      // the last row's logits asked for
    double shortPassMs = 0.0; // only its summary
    double lawMs = 0.0;       // penalties and grammar on the row, its summary anew
    double mostLawMs = 0.0;   // the dearest row of all
    double chooseMs = 0.0;    // a token of the row
    double distributionMs = 0.0;
    double kept = 0.0; // tokens of the distribution
    int tokens = 0;
};

/// How a token is chosen; the law keeps what it knows of a grammar from answer to answer.
struct Choice {
    Sampler sampler;
    LogitProcessor law;
    std::vector<TokenId> endIds;
    std::shared_ptr<const TokenTrie> vocabulary;
};

/// One answer, its costs added up.
void answer(const support::DefaultModel& model,
            const std::vector<TokenId>& prompt,
            Choice& choice,
            int maxTokens,
            Costs& costs) {
    Transformer& transformer = *model.transformer;
    const auto begun = choice.law.begin(
        {.tokens = prompt, .endIds = choice.endIds, .vocabulary = choice.vocabulary});
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    std::vector<TokenId> sequence = prompt;
    const DraftTree noDraft;
    const auto length = static_cast<Position>(prompt.size());
    KvCache cache = transformer.makeCache(length + maxTokens).value();
    const LayerPlan plan = LayerPlan::full(model.config.layerCount);
    const int onlyRow = 0;
    const std::span<const int> rows(&onlyRow, 1);
    ForwardResult result;
    std::vector<TokenId> input(prompt.begin(), prompt.end() - 1);
    const auto run = [&](std::span<const TokenId> tokens, std::span<const int> logitRows) {
        const AttentionLayout layout =
            AttentionLayout::chain(cache.length(), static_cast<int>(tokens.size()));
        const double start = cpuMs();
        const auto ran = transformer.forwardInto({.plan = plan,
                                                  .layout = layout,
                                                  .tokens = tokens,
                                                  .logitRows = logitRows,
                                                  .summaryRows = rows},
                                                 cache,
                                                 result);
        ENGINE_CHECK(ran.hasValue(), "{}", ran.error().message);
        return cpuMs() - start;
    };
    run(input, {});
    cache.commit(static_cast<Position>(input.size()));
    TokenId pending = prompt.back();
    for (int place = 0; place < maxTokens; ++place, ++costs.tokens) {
        costs.shortPassMs += run(std::span(&pending, 1), {});
        costs.passMs += run(std::span(&pending, 1), rows);
        cache.commit(1);
        const double before = cpuMs();
        if (!choice.law.isOff()) {
            const auto applied = choice.law.apply({sequence, noDraft}, result);
            ENGINE_CHECK(applied.hasValue(), "{}", applied.error().message);
        }
        const double start = cpuMs();
        costs.lawMs += start - before;
        costs.mostLawMs = std::max(costs.mostLawMs, start - before);
        const std::span<const double> logits = result.logits.row(0).value();
        pending = choice.sampler.choose(logits, place);
        const double chosen = cpuMs();
        sequence.push_back(pending);
        choice.law.keep({&pending, 1});
        costs.kept += static_cast<double>(choice.sampler.distribution(logits).ids.size());
        costs.distributionMs += cpuMs() - chosen;
        costs.chooseMs += chosen - start;
        if (std::find(choice.endIds.begin(), choice.endIds.end(), pending) != choice.endIds.end())
            return;
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("CPU time of drawing tokens, default model, cpu backend.");
    int prompts = 4;
    int maxTokens = 64;
    app.add_option("--prompts", prompts, "of the story file")->capture_default_str();
    app.add_option("--max-tokens", maxTokens, "for each")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    const support::DefaultModel model = support::DefaultModel::load(false, "cpu");
    const std::vector<std::string> texts = support::dataPrompts("story", prompts);
    const auto vocabulary =
        std::make_shared<const TokenTrie>(TokenTrie::of(*model.tokenizer, model.config.vocabSize));
    fmt::print("{:<30}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n",
               "CPU ms a row",
               "law",
               "most",
               "choose",
               "p",
               "kept",
               "pass",
               "+logits");
    const auto withGrammar = [](Grammar grammar) {
        SamplingOptions options;
        options.grammar = std::move(grammar);
        return options;
    };
    const std::vector<std::pair<const char*, SamplingOptions>> settings = {
        {"greedy", {}},
        {"T .7, top-p .9", {.temperature = 0.7, .topP = 0.9, .seed = 1}},
        {"T 1, top-p .95", {.temperature = 1.0, .topP = 0.95, .seed = 1}},
        {"T .8, top-k 40, top-p .95", {.temperature = 0.8, .topK = 40, .topP = 0.95, .seed = 1}},
        {"T 1", {.temperature = 1.0, .seed = 1}},
        {"T 1.5, top-p .9", {.temperature = 1.5, .topP = 0.9, .seed = 1}},
        {"T 1, min-p .05", {.temperature = 1.0, .minP = 0.05, .seed = 1}},
        {"T 1, typical-p .95", {.temperature = 1.0, .typicalP = 0.95, .seed = 1}},
        {"repetition 1.1", {.repetitionPenalty = 1.1}},
        {"presence and frequency .2", {.presencePenalty = 0.2, .frequencyPenalty = 0.2}},
        {"one bias", {.logitBias = {{42, -5.0}}}},
        {"JSON object", withGrammar({GrammarKind::Json})},
        {"JSON schema",
         withGrammar({GrammarKind::Schema,
                      R"({"properties": {"title": {"type": "string"}, "year": {"type": "integer"},
                          "names": {"type": "array", "items": {"type": "string"}}},
                          "required": ["title", "year", "names"]})"})},
        {"expression [a-z ,.]*", withGrammar({GrammarKind::Regex, "[A-Za-z ,.\\n]*"})},
    };
    for (const auto& [name, options] : settings) {
        Costs costs;
        Choice choice{Sampler(options),
                      LogitProcessor(options, model.config.vocabSize),
                      model.endIds(),
                      vocabulary};
        for (const std::string& text : texts)
            answer(model, model.prompt(text), choice, maxTokens, costs);
        const double count = costs.tokens;
        fmt::print("{:<30}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.1f}{:>9.3f}{:>9.4f}\n",
                   name,
                   costs.lawMs / count,
                   costs.mostLawMs,
                   costs.chooseMs / count,
                   costs.distributionMs / count,
                   costs.kept / count,
                   costs.shortPassMs / count,
                   (costs.passMs - costs.shortPassMs) / count);
    }
    return 0;
}
