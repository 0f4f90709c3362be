// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/setup/preview.h"

#include "app/commands/experiment/shards/shard_model.h"
#include "app/commands/options/text_options.h"
#include "app/data/answering.h"

namespace app {

using namespace engine;

namespace {

constexpr int kMeasuredTokens = 32;
/// A trial of matchness is one pass over a window, which costs about as much as two tokens.
constexpr long kTokensOfTrial = 2;

/// What one search asks of the model, in tokens.
long tokensOfSearch(const RecipeSearch& search, std::size_t prompts) {
    const long windows = static_cast<long>(prompts);
    if (search.method == "self_sd")
        return search.trials * windows * search.maxTokens;
    return windows * (search.maxTokens + search.trials * kTokensOfTrial);
}

struct Rates {
    double msPerToken = 0.0;
    double msPerPromptToken = 0.0;
};

/// The first answer wakes threads and memory and does not count.
Result<Rates> measure(const DataModel& model,
                      const std::vector<DataRecord>& prompts,
                      const std::stop_token& stop) {
    ENGINE_TRY(auto vanilla,
               makeVanillaDecoder(*model.loaded.transformer, {}, model.contextLength));
    const AnswerRequest request{.model = model, .maxTokens = kMeasuredTokens, .stop = stop};
    Answers measured;
    for (int answer = 0; answer < 2; ++answer) {
        DataRecord record = prompts.front();
        record.turns.resize(1);
        ENGINE_TRY(measured, answerRecord(*vanilla, record, request));
    }
    if (measured.isCancelled)
        return cancelledError();
    return Rates{measured.decodeMs / static_cast<double>(std::max(1L, measured.tally.tokens())),
                 measured.promptMs / static_cast<double>(std::max(1L, measured.promptTokens))};
}

} // namespace

Result<RunCost> previewRun(const PreparedRun& run, const std::stop_token& stop) {
    ENGINE_TRY(const ModelOptions options,
               modelOptionsOf(*run.recipe.run, run.plan.models.front()));
    ENGINE_TRY(const DataModel model, loadDataModel(options, run.recipe.run->isRaw, stop));
    ENGINE_TRY(const Rates rates, measure(model, run.prompts, stop));
    std::vector<long> lengths; // [prompts] tokens of all turns
    for (const DataRecord& prompt : run.prompts) {
        long tokens = 0;
        for (const std::string& turn : prompt.turns) {
            ENGINE_TRY(const auto ids, model.encoder->encode({{{"user", turn}, {}}}));
            tokens += static_cast<long>(ids.size());
        }
        lengths.push_back(tokens);
    }
    RunCost cost;
    const int usual = run.recipe.sizes.begin()->second.maxTokens;
    for (const PlannedShard& shard : run.plan.shards) {
        ++cost.shards;
        const int longest = run.recipe.stage(shard.stage)->maxTokens.value_or(usual);
        for (std::size_t place = 0; place < shard.prompts.size(); ++place) {
            const auto at = static_cast<std::size_t>(shard.prompts[place]);
            const long times = answersTo(run.recipe, run.plan, shard, place);
            cost.answers += times;
            cost.tokens += times * longest * static_cast<long>(run.prompts[at].turns.size());
            cost.promptTokens += times * lengths[at];
        }
        for (const std::string& name : shard.variants)
            if (const RunVariant* variant = run.plan.variant(name);
                variant != nullptr && variant->search)
                cost.tokens += tokensOfSearch(*variant->search, shard.prompts.size());
    }
    const double ms = static_cast<double>(cost.tokens) * rates.msPerToken +
                      static_cast<double>(cost.promptTokens) * rates.msPerPromptToken;
    cost.minutes = ms / 60e3;
    cost.tokensPerSecond = 1e3 / std::max(1e-6, rates.msPerToken);
    return cost;
}

} // namespace app
