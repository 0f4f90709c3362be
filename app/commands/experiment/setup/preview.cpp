// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/setup/preview.h"

#include "app/commands/experiment/shards/shard_model.h"
#include "app/commands/experiment/shards/shard_variants.h"
#include "app/commands/options/text_options.h"
#include "app/commands/search/skip_set_search.h"
#include "app/data/answering.h"
#include "app/program_paths.h"
#include "engine/base/forward_clock.h"
#include "engine/experiments/offline_search.h"

#include <algorithm>
#include <map>

namespace app {

using namespace engine;

namespace {

constexpr int kMeasuredTokens = 32;
/// No other decoder is measured after so long.
constexpr std::chrono::seconds kMostMeasuring{30};
/// A trial of matchness is one pass over a window, which costs about as much as two tokens.
constexpr long kTokensOfTrial = 2;

/// What is asked of a model, in tokens.
struct TokenCost {
    long made = 0;
    long read = 0; ///< of prompts
};

/// `promptTokens`: of the first turns of its prompts; it takes no others.
TokenCost
tokensOfSearch(const RecipeSearch& search, int layers, std::size_t prompts, long promptTokens) {
    const long windows = static_cast<long>(prompts);
    if (search.method == "self_sd") { // every set reads and answers all prompts anew
        const long sets = search.trials + static_cast<long>(probePlans(layers).size());
        return {sets * windows * search.maxTokens, sets * promptTokens};
    }
    // The windows are read twice: by vanilla, which answers, and into the cache of the trials.
    const long used = std::min(windows, static_cast<long>(kMostWindows));
    const long read = windows == 0 ? 0 : 2 * promptTokens * used / windows;
    return {used * (search.maxTokens + search.trials * kTokensOfTrial), read};
}

/// Milliseconds.
struct Rates {
    double vanilla = 0.0; ///< for a token
    double prompt = 0.0;  ///< for a token of a prompt
    double usual = 0.0;   ///< for a token by a variant that was not measured
    std::map<std::string, double> variants = {};

    double of(const std::string& variant, bool isVanilla) const {
        const auto found = variants.find(variant);
        return isVanilla ? vanilla : found == variants.end() ? usual : found->second;
    }
};

double msPerToken(const Answers& answers) {
    return answers.decodeMs / static_cast<double>(std::max(1L, answers.tally.tokens()));
}

/// The first answer wakes threads and memory and does not count.
Result<Rates> measureVanilla(const DataRecord& record, const AnswerRequest& request) {
    const DataModel& model = request.model;
    Answers measured;
    for (int answer = 0; answer < 2; ++answer) {
        // A decoder of its own, because one that knows the prompt would read nothing.
        ENGINE_TRY(auto vanilla,
                   makeVanillaDecoder(*model.loaded.transformer, {}, model.contextLength));
        ENGINE_TRY(measured, answerRecord(*vanilla, record, request));
    }
    if (measured.isCancelled)
        return cancelledError();
    Rates rates;
    rates.vanilla = rates.usual = msPerToken(measured);
    rates.prompt = measured.promptMs / static_cast<double>(std::max(1L, measured.promptTokens));
    return rates;
}

/// Decoders that draft well take less for a token than vanilla, others several times as much. One
/// that cannot answer is dropped in the run, too.
Result<void> measureVariants(const RunPlan& plan,
                             int index,
                             const DataRecord& record,
                             const AnswerRequest& request,
                             Rates& rates) {
    DecoderRegistry registry(moduleFolder());
    const auto begun = ForwardClock::now();
    double sum = 0.0;
    for (const RunVariant& variant : plan.variants) {
        // What drafts with a set that a search is to find cannot be made yet.
        if (variant.model != index || variant.search || !variant.setFrom.empty())
            continue;
        if (ForwardClock::now() - begun > kMostMeasuring)
            break;
        auto decoder = makeUnbegun(registry,
                                   variant,
                                   {.transformer = *request.model.loaded.transformer,
                                    .contextLength = request.model.contextLength});
        if (!decoder)
            continue;
        const auto answers = answerRecord(*decoder.value(), record, request);
        if (request.stop.stop_requested())
            return cancelledError();
        if (!answers || answers.value().tally.tokens() == 0)
            continue;
        sum += rates.variants[variant.name] = msPerToken(answers.value());
    }
    if (!rates.variants.empty())
        rates.usual = sum / static_cast<double>(rates.variants.size());
    return {};
}

Result<Rates> measure(const RunPlan& plan,
                      int index,
                      const DataModel& model,
                      const DataRecord& prompt,
                      const std::stop_token& stop) {
    const AnswerRequest request{.model = model, .maxTokens = kMeasuredTokens, .stop = stop};
    DataRecord record = prompt;
    record.turns.resize(1);
    ENGINE_TRY(Rates rates, measureVanilla(record, request));
    ENGINE_TRY_DO(measureVariants(plan, index, record, request, rates));
    return rates;
}

/// What a shard's variants take for one token of each, and how many of them answer.
struct PassCost {
    double ms = 0.0;
    long answering = 0;
};

PassCost passCostOf(const RunPlan& plan, const PlannedShard& shard, const Rates& rates) {
    PassCost cost;
    for (const std::string& name : shard.variants) {
        const RunVariant* variant = plan.variant(name);
        if (variant != nullptr && variant->search)
            continue;
        cost.ms += rates.of(name, variant == nullptr);
        ++cost.answering;
    }
    return cost;
}

struct PromptLength {
    long first = 0; ///< tokens of its first turn
    long all = 0;
    bool fits = false; ///< if not, the run leaves the prompt out
};

Result<std::vector<PromptLength>> lengthsOf(const DataModel& model,
                                            const std::vector<DataRecord>& prompts) {
    std::vector<PromptLength> lengths;
    for (const DataRecord& prompt : prompts) {
        PromptLength length;
        for (const std::string& turn : prompt.turns) {
            const auto ids = model.encoder->encode({{{"user", turn}, {}}});
            if (!ids && ids.error().code != ErrorCode::InvalidInput)
                return ids.error();
            const bool isFirst = &turn == &prompt.turns.front();
            if (isFirst)
                length.fits = ids && static_cast<long>(ids.value().size()) < model.contextLength;
            if (!ids)
                break;
            length.all += static_cast<long>(ids.value().size());
            if (isFirst)
                length.first = length.all;
        }
        lengths.push_back(length.fits ? length : PromptLength());
    }
    return lengths;
}

/// What the shards of one model cost.
Result<void>
addModel(const PreparedRun& run, int index, const std::stop_token& stop, RunCost& cost) {
    const RunModel& planned = run.plan.models[static_cast<std::size_t>(index)];
    ENGINE_TRY(const ModelOptions options, modelOptionsOf(*run.recipe.run, planned));
    ENGINE_TRY(const DataModel model, loadDataModel(options, run.recipe.run->isRaw, stop));
    ENGINE_TRY(const std::vector<PromptLength> lengths, lengthsOf(model, run.prompts));
    const auto first = std::find_if(
        lengths.begin(), lengths.end(), [](const auto& length) { return length.fits; });
    const std::size_t measured = // where none fits, its answer says why
        first == lengths.end() ? 0 : static_cast<std::size_t>(first - lengths.begin());
    ENGINE_TRY(const Rates rates, measure(run.plan, index, model, run.prompts.at(measured), stop));
    const int usual = run.recipe.sizes.begin()->second.maxTokens;
    TokenCost sum;
    double ms = 0.0; // of all tokens that are made
    for (const PlannedShard& shard : run.plan.shards) {
        if (shard.model != index)
            continue;
        ++cost.shards;
        const int longest = run.recipe.stage(shard.stage)->maxTokens.value_or(usual);
        const PassCost pass = passCostOf(run.plan, shard, rates);
        const RecipeSize& size = run.recipe.sizes.begin()->second;
        const long drawn =
            static_cast<long>(size.drawsIn(*run.recipe.stage(shard.stage))) * size.drawTokens;
        long firstTurns = 0;
        for (std::size_t place = 0; place < shard.prompts.size(); ++place) {
            const auto at = static_cast<std::size_t>(shard.prompts[place]);
            if (!lengths[at].fits)
                continue;
            const long times = answersTo(run.recipe, run.plan, shard, place);
            const long tokens = longest * static_cast<long>(run.prompts[at].turns.size());
            const long passes = pass.answering > 0 ? times / pass.answering : 0;
            const long again = times - passes * pass.answering; // by vanilla, at a block's end
            cost.answers += times;
            sum.made += times * tokens + drawn * pass.answering;
            ms += static_cast<double>(drawn) * pass.ms; // the prompt is read by then
            ms += static_cast<double>(tokens) * (static_cast<double>(passes) * pass.ms +
                                                 static_cast<double>(again) * rates.vanilla);
            sum.read += times * lengths[at].all;
            firstTurns += lengths[at].first;
        }
        for (const std::string& name : shard.variants) {
            const RunVariant* variant = run.plan.variant(name);
            if (variant == nullptr || !variant->search)
                continue;
            const TokenCost own =
                tokensOfSearch(*variant->search, planned.layers, shard.prompts.size(), firstTurns);
            sum.made += own.made;
            sum.read += own.read;
            ms += static_cast<double>(own.made) * rates.vanilla;
        }
    }
    cost.tokens += sum.made;
    cost.promptTokens += sum.read;
    cost.minutes += (ms + static_cast<double>(sum.read) * rates.prompt) / 60e3;
    if (index == 0)
        cost.tokensPerSecond = 1e3 / std::max(1e-6, rates.vanilla);
    return {};
}

} // namespace

Result<RunCost> previewRun(const PreparedRun& run, const std::stop_token& stop) {
    RunCost cost;
    for (int model = 0; model < static_cast<int>(run.plan.models.size()); ++model) {
        const bool isUsed = std::any_of(run.plan.shards.begin(),
                                        run.plan.shards.end(),
                                        [&](const auto& shard) { return shard.model == model; });
        if (isUsed)
            ENGINE_TRY_DO(addModel(run, model, stop, cost));
    }
    return cost;
}

} // namespace app
