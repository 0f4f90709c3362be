// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/analyse.h"

#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/metrics/sample_statistics.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace engine {

namespace {

std::string percent(double share) { return fmt::format("{:+.1f} %", share * 100.0); }

/// Adds a fact of the machines: each value that occurs, once.
class Facts {
public:
    explicit Facts(ExperimentResult& result)
        : m_result(result) {}

    void add(const std::string& name, const std::string& value) {
        if (!value.empty())
            m_result.measured.emplace_back(name, value);
    }

    void add(const std::string& name, const std::set<std::string>& values) {
        add(name, joined({values.begin(), values.end()}));
    }

private:
    ExperimentResult& m_result;
};

void addBaseline(const RunData& data, Facts& facts) {
    if (const auto moved = vanillaMoved(data.select({}, {})))
        facts.add("Vanilla within its blocks",
                  fmt::format("{} (limit {:.0f} %)", percent(*moved), kBaselineLimit * 100.0));
    std::optional<std::pair<double, std::string>> most;
    for (const std::string& task : data.groups({}, "task")) {
        const auto moved = vanillaMoved(data.select({}, std::vector<Filter>{{"task", task}}));
        if (moved && (!most || std::abs(*moved) > std::abs(most->first)))
            most = {*moved, data.label("task", task)};
    }
    if (most)
        facts.add("- most for a task", fmt::format("{} ({})", percent(most->first), most->second));
    std::vector<double> rates;
    for (const AnsweredPrompt* run : data.select({}, {}).runs) {
        const double ms = msPerToken(run->own);
        if (run->place.variant->isVanilla && ms > 0.0)
            rates.push_back(1e3 / ms);
    }
    if (rates.empty())
        return;
    const Spread spread = spreadOf(rates);
    facts.add(
        "Vanilla, quartiles",
        fmt::format("{:.1f}, {:.1f} and {:.1f} tok/s", spread.lower, spread.median, spread.upper));
}

void addMachines(const RunData& data, Facts& facts) {
    std::set<std::string> processors;
    std::set<std::string> weights;
    std::set<std::string> builds;
    std::set<double> roofs;
    for (const ShardResult& shard : data.shards()) {
        const MachineFacts& machine = shard.machine;
        if (machine.processor.empty()) // of a stream at work
            continue;
        processors.insert(fmt::format("{}, {}, {} threads, {:.1f} GiB",
                                      machine.processor,
                                      machine.instructionSet,
                                      machine.threads,
                                      machine.memoryGiB));
        weights.insert(fmt::format("{}, {}", machine.backend, machine.weights));
        builds.insert(machine.buildId);
        if (machine.roofGBs > 0.0)
            roofs.insert(machine.roofGBs);
    }
    facts.add("Computer", processors);
    if (!roofs.empty())
        facts.add("Memory bandwidth",
                  roofs.size() == 1 ? fmt::format("{:.1f} GB/s", *roofs.begin())
                                    : fmt::format("{:.1f} to {:.1f} GB/s, measured by each part",
                                                  *roofs.begin(),
                                                  *roofs.rbegin()));
    std::set<std::string> models;
    for (const RunModel& model : data.plan().models)
        models.insert(model.name + (model.isPlanted ? " (with planted copies)" : ""));
    facts.add("Model", models);
    facts.add("Backend and weights", weights);
    facts.add("Program", builds);
}

std::string samplingWords(const RecipeSampling& sampling) {
    if (sampling.temperature <= 0.0)
        return "greedy";
    return fmt::format("temperature {}, top-p {}", sampling.temperature, sampling.topP) +
           (sampling.topK > 0 ? fmt::format(", top-k {}", sampling.topK) : std::string());
}

/// Once if all stages agree, else that of each.
std::string samplingOf(const Recipe& recipe) {
    std::set<std::string> all;
    std::vector<std::string> each;
    for (const RecipeStage& stage : recipe.stages) {
        const std::string words = samplingWords(stage.sampling);
        all.insert(words);
        each.push_back(fmt::format("{}: {}", readableName(stage.name), words));
    }
    return all.size() == 1 ? *all.begin() : fmt::format("{}", fmt::join(each, "; "));
}

void addCounts(const Recipe& recipe, const RunData& data, Facts& facts) {
    std::set<int> prompts;
    std::set<std::uint64_t> seeds;
    for (const AnsweredPrompt* run : data.select({}, {}).runs) {
        prompts.insert(run->place.prompt);
        seeds.insert(run->place.seed);
    }
    if (!prompts.empty())
        facts.add("Prompts", fmt::to_string(prompts.size()));
    if (!seeds.empty())
        facts.add(seeds.size() == 1 ? "Seed" : "Seeds", fmt::format("{}", fmt::join(seeds, ", ")));
    const RecipeStage* stage = recipe.stages.empty() ? nullptr : &recipe.stages.back();
    if (stage && stage->hasBaseline)
        facts.add("Order",
                  stage->isTwice && !recipe.isStream
                      ? std::string("each prompt: vanilla and the variants, then in reverse order")
                      : fmt::format("each prompt: vanilla before or after the variants, in turn; "
                                    "vanilla answers the first of every {} once more after them",
                                    kPromptsOfBlock));
    facts.add("Sampling", samplingOf(recipe));
}

/// How much of a stream there is, and where it was stopped.
void addStream(const Recipe& recipe,
               const PlannedShard& planned,
               const ShardResult& shard,
               ExperimentResult& result) {
    const auto placeOf = [&](int prompt) {
        return std::find(planned.prompts.begin(), planned.prompts.end(), prompt) -
               planned.prompts.begin() + 1;
    };
    std::set<int> done;
    for (const ShardAnswer& answer : shard.answers)
        done.insert(answer.prompt);
    for (const ShardLeftOut& prompt : shard.leftOut)
        done.insert(prompt.prompt);
    if (recipe.isStream && done.size() < planned.prompts.size()) {
        result.isComplete = false;
        result.notes.push_back(fmt::format("The stream is not finished: everything here is "
                                           "measured on {} of its {} prompts.",
                                           done.size(),
                                           planned.prompts.size()));
    }
    for (const ShardResumed& resumed : shard.resumed)
        result.notes.push_back(fmt::format("The stream was stopped and went on at prompt {} of "
                                           "{}: searches began anew there, from the newest set "
                                           "of their decoder.",
                                           placeOf(resumed.prompt),
                                           planned.prompts.size()));
}

/// The answers that are not vanilla's, the first ones by name: where, and how near the call was.
void addDifferences(const RunData& data, ExperimentResult& result) {
    constexpr int kMost = 12;
    int count = 0;
    for (const ShardResult& shard : data.shards())
        for (const ShardAnswer& answer : shard.answers) {
            if (answer.isEqual.value_or(true) || ++count > kMost)
                continue;
            const std::string gap =
                answer.gap
                    ? fmt::format(", where vanilla's two best logits are {:.2g} apart", *answer.gap)
                    : std::string();
            result.notes.push_back(fmt::format("{} differs from vanilla at token {} of its "
                                               "answer to prompt {} ({}){}.",
                                               data.label("variant", answer.variant),
                                               answer.differsAt.value_or(0) + 1,
                                               answer.prompt + 1,
                                               data.label("task", answer.task),
                                               gap));
        }
    if (count > kMost)
        result.notes.push_back(
            fmt::format("{} more answers differ from vanilla's.", count - kMost));
}

void addNotes(const Recipe& recipe,
              const RunPlan& plan,
              const RunData& data,
              ExperimentResult& result) {
    if (!recipe.caveat.empty())
        result.notes.push_back(recipe.caveat);
    const std::size_t missing =
        plan.shards.size() - std::min(plan.shards.size(), data.shards().size());
    result.isComplete = missing == 0;
    if (missing > 0)
        result.notes.push_back(fmt::format("{} of {} parts are not finished: everything here is "
                                           "measured on the others.",
                                           missing,
                                           plan.shards.size()));
    for (const ShardResult& shard : data.shards())
        addStream(recipe, plan.shards[static_cast<std::size_t>(shard.shard)], shard, result);
    std::set<std::string> failures;
    std::map<std::string, std::set<int>> leftOut;
    for (const ShardResult& shard : data.shards()) {
        for (const auto& [variant, sentence] : shard.failures)
            failures.insert(
                fmt::format("{} was dropped: {}", data.label("variant", variant), sentence));
        for (const ShardLeftOut& prompt : shard.leftOut)
            leftOut[prompt.reason].insert(prompt.prompt);
    }
    result.notes.insert(result.notes.end(), failures.begin(), failures.end());
    addDifferences(data, result);
    for (const auto& [reason, prompts] : leftOut)
        result.notes.push_back(fmt::format("{} {} left out: {}",
                                           prompts.size(),
                                           prompts.size() == 1 ? "prompt was" : "prompts were",
                                           reason));
    for (const std::string& task : data.groups({}, "task")) {
        const auto moved = vanillaMoved(data.select({}, std::vector<Filter>{{"task", task}}));
        if (!isSteady(moved))
            result.notes.push_back(fmt::format("On {} vanilla moved by {} within its blocks: no "
                                               "speedup of this task alone is printed. Repeat on "
                                               "a quiet machine.",
                                               data.label("task", task),
                                               percent(*moved)));
    }
}

} // namespace

ExperimentResult
analyse(const Recipe& recipe, const RunPlan& plan, std::vector<ShardResult> shards) {
    const RunData data(recipe, plan, std::move(shards));
    ExperimentResult result;
    result.recipe = recipe.name;
    result.title = recipe.title;
    result.source = recipe.source;
    result.size = recipe.run ? recipe.run->size : "own";
    result.verdict = makeVerdict(data, recipe);
    for (const TableWish& wish : recipe.tables) {
        ResultTable table = makeTable(data, wish);
        if (!table.rows.empty())
            result.tables.push_back(std::move(table));
    }
    for (const FigureWish& wish : recipe.figures) {
        ResultFigure figure = makeFigure(data, recipe, wish);
        if (figure.panels.empty() && figure.refusedPoints > 0)
            result.notes.push_back(
                fmt::format("\"{}\" is not drawn. {}", figure.title, figure.note));
        if (!figure.panels.empty())
            result.figures.push_back(std::move(figure));
    }
    if (!recipe.isStream) // of so many prompts one reads the answers one by one
        result.origins = makeOrigins(data);
    Facts facts(result);
    addCounts(recipe, data, facts);
    addBaseline(data, facts);
    addMachines(data, facts);
    addNotes(recipe, plan, data, result);
    return result;
}

} // namespace engine
