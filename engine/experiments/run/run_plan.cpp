// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/run_plan.h"

#include "engine/experiments/json/json_file.h"
#include "engine/experiments/recipe/search_members.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace engine {

// The members of every type by their names in JSON.

template <typename V> void visitMembers(V& visit, RunModel& r) {
    visit("name", r.name);
    visit("path", r.path);
    visit("planted", r.isPlanted);
    visit("identity", r.identity);
    visit("adapter", r.adapter);
    visit("parameters", r.parameters);
    visit("layers", r.layers);
}

template <typename V> void visitMembers(V& visit, RunVariant& r) {
    visit("name", r.name);
    visit("base", r.base);
    visit("stage", r.stage);
    visit("decoder", r.decoder);
    visit("settings", r.settings);
    visit("search", r.search);
    visit("set_from", r.setFrom);
    visit("set_task", r.setTask);
    visit("set_task_is_named_own", r.isNamedOwn);
    visit("model", r.model);
}

template <typename V> void visitMembers(V& visit, PlannedShard& r) {
    visit("index", r.index);
    visit("stage", r.stage);
    visit("variants", r.variants);
    visit("task", r.task);
    visit("prompts", r.prompts);
    visit("seed", r.seed);
    visit("model", r.model);
}

template <typename V> void visitMembers(V& visit, RunPlan& r) {
    visit("run_hash", r.runHash);
    visit("models", r.models);
    visit("build_id", r.buildId);
    visit("created_utc", r.createdUtc);
    visit("variants", r.variants);
    visit("shards", r.shards);
}

namespace {

constexpr std::size_t kMostShards = 100'000;
constexpr std::size_t kMostVariants = 10'000;
constexpr std::size_t kMostPlanBytes = 200'000'000; // of all shards, so that it can be read back
constexpr JsonFileKind kPlanKind = {
    .format = "swift-experiment-plan",
    .version = 1,
    .what = "plan of a run",
    .hint = "Go on with the program that began the run, or begin it anew in another folder.",
    .limits = {.maxBytes = 256'000'000, .maxDepth = 8}};

using SettingChoice = std::map<std::string, std::string>;

/// How many combinations of the values there are; more than kMostVariants are not counted further.
std::size_t combinationCount(const RecipeSettings& settings) {
    std::size_t count = 1;
    for (const auto& [name, values] : settings)
        if (count <= kMostVariants)
            count *= std::min(values.size(), kMostVariants + 1);
    return count;
}

/// Every combination of the values, the last setting changing first.
std::vector<SettingChoice> combinationsOf(const RecipeSettings& settings) {
    std::vector<SettingChoice> all = {{}};
    for (const auto& [name, values] : settings) {
        std::vector<SettingChoice> longer;
        for (const SettingChoice& choice : all)
            for (const std::string& value : values) {
                longer.push_back(choice);
                longer.back()[name] = value;
            }
        all = std::move(longer);
    }
    return all;
}

/// "swift gamma=16": only settings that have several values are named.
std::string nameOf(const RecipeVariant& variant, const SettingChoice& choice) {
    std::string name = variant.name;
    for (const auto& [setting, values] : variant.settings)
        if (values.size() > 1)
            name += fmt::format(" {}={}", setting, choice.at(setting));
    return name;
}

/// Makes one plan.
class PlanMaker {
public:
    PlanMaker(const Recipe& recipe,
              std::span<const std::string> tasks,
              std::vector<RunModel> models)
        : m_recipe(recipe)
        , m_size(recipe.sizes.begin()->second) {
        m_plan.models = std::move(models);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            if (m_places.try_emplace(tasks[i], m_known.size()).second)
                m_known.push_back(tasks[i]);
            m_free[tasks[i]].push_back(static_cast<int>(i));
        }
    }

    Result<RunPlan> make() {
        ENGINE_TRY_DO(checkModels());
        ENGINE_TRY_DO(chooseTasks());
        for (std::size_t i = 0; i < m_recipe.stages.size(); ++i)
            ENGINE_TRY_DO(addStage(i));
        return std::move(m_plan);
    }

private:
    Result<void> checkModels() const {
        if (static_cast<int>(m_plan.models.size()) >= m_recipe.leastModels)
            return {};
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The recipe {} compares {} models, but {} was given.",
                                 m_recipe.name,
                                 m_recipe.leastModels,
                                 m_plan.models.size()),
                     "Name the others with --and-model; \"planted\" is the lesson model."};
    }

    Result<void> chooseTasks() {
        for (const std::string& task : m_recipe.tasks)
            if (!m_free.contains(task))
                return Error{ErrorCode::InvalidInput,
                             fmt::format("The recipe {} needs prompts of the task \"{}\", and the "
                                         "data has none.",
                                         m_recipe.name,
                                         task),
                             knownTasks()};
        std::vector<std::string> wanted = m_recipe.tasks;
        if (wanted.empty()) {
            wanted = m_recipe.preferred;
            wanted.insert(wanted.end(), m_known.begin(), m_known.end());
        }
        std::set<std::string> taken;
        for (const std::string& task : wanted) {
            const bool hasRoom = m_size.mostTasks == 0 ||
                                 m_tasks.size() < static_cast<std::size_t>(m_size.mostTasks);
            if (hasRoom && m_free.contains(task) && taken.insert(task).second)
                m_tasks.push_back(task);
        }
        if (m_tasks.empty())
            return Error{ErrorCode::InvalidInput, "There are no prompts to run.", ""};
        const bool needsFirst =
            std::any_of(m_recipe.stages.begin(),
                        m_recipe.stages.end(),
                        [](const RecipeStage& stage) { return stage.isForFirstTask; });
        if (needsFirst) // the first task is that of the stream, not the preferred one
            std::sort(m_tasks.begin(), m_tasks.end(), [this](const auto& a, const auto& b) {
                return m_places.at(a) < m_places.at(b);
            });
        return {};
    }

    std::string knownTasks() const {
        constexpr std::size_t kMostNamed = 20;
        const std::size_t named = std::min(m_known.size(), kMostNamed);
        return fmt::format(
            "The data has {}{}.",
            fmt::join(m_known.begin(), m_known.begin() + static_cast<std::ptrdiff_t>(named), ", "),
            named < m_known.size() ? " and more" : "");
    }

    /// The prompts of each task that a stage asks. The stages behind it need at least one each.
    Result<void> takePrompts(const RecipeStage& stage, std::size_t index) {
        if (stage.reusesPrompts)
            return {};
        std::size_t kept = 0;
        for (std::size_t later = index + 1; later < m_recipe.stages.size(); ++later)
            kept += m_recipe.stages[later].reusesPrompts ? 0U : 1U;
        const auto wanted = static_cast<std::size_t>(m_size.promptsFor(stage.name));
        for (const std::string& task : m_tasks) {
            if (stage.isForFirstTask && task != m_tasks.front())
                continue;
            std::vector<int>& left = m_free[task];
            if (left.size() <= kept)
                return Error{ErrorCode::InvalidInput,
                             fmt::format("The data has too few prompts of the task \"{}\": each of "
                                         "the recipe's {} stages needs others.",
                                         task,
                                         m_recipe.stages.size()),
                             "Give more prompts of this task, or leave it out."};
            const std::size_t most = left.size() - kept;
            const std::size_t count = wanted == 0 ? most : std::min(wanted, most);
            const auto end = left.begin() + static_cast<std::ptrdiff_t>(count);
            m_asked[task].assign(left.begin(), end);
            left.erase(left.begin(), end);
        }
        return {};
    }

    Result<void> addStage(std::size_t index) {
        const RecipeStage& stage = m_recipe.stages[index];
        ENGINE_TRY_DO(takePrompts(stage, index));
        for (int model = 0; model < static_cast<int>(m_plan.models.size()); ++model)
            for (const RecipeVariant& variant : stage.variants)
                ENGINE_TRY_DO(addVariants(stage, variant, model));
        for (int seed = 0; seed < m_size.seeds; ++seed)
            for (int model = 0; model < static_cast<int>(m_plan.models.size()); ++model)
                ENGINE_TRY_DO(
                    addShards(stage, m_recipe.run->seed + static_cast<std::uint64_t>(seed), model));
        return {};
    }

    static Error tooMany(std::size_t most, std::string_view things) {
        return {ErrorCode::InvalidInput,
                fmt::format("The run would have more than {} {}.", most, things),
                "Choose fewer seeds, tasks, variants or values of settings."};
    }

    Result<void> addVariants(const RecipeStage& stage, const RecipeVariant& variant, int model) {
        std::vector<std::string> setTasks = {variant.setTask};
        if (!variant.setFrom.empty() && variant.setTask == "each")
            setTasks = m_tasks;
        if (variant.setTask == "first")
            setTasks = {m_tasks.front()};
        const std::size_t left = kMostVariants - m_plan.variants.size();
        if (combinationCount(variant.settings) > left / std::max(setTasks.size(), std::size_t{1}))
            return tooMany(kMostVariants, "variants");
        ENGINE_TRY(const std::string source, sourceOf(stage, variant, model));
        for (const SettingChoice& choice : combinationsOf(variant.settings))
            for (const std::string& task : setTasks) {
                RunVariant made;
                made.name = nameOf(variant, choice);
                if (!source.empty() && variant.setTask == "each")
                    made.name += " of " + task;
                if (m_plan.models.size() > 1)
                    made.name += "@" + m_plan.models[static_cast<std::size_t>(model)].name;
                made.base = variant.name;
                made.stage = stage.name;
                made.decoder = variant.decoder;
                made.settings = choice;
                made.search = variant.search;
                made.setFrom = source;
                made.setTask = source.empty() ? "" : task;
                made.isNamedOwn = made.setTask == "own" && variant.setTask != "own";
                made.model = model;
                m_plan.variants.push_back(std::move(made));
            }
        return {};
    }

    /// The one variant whose set another drafts with; empty for one that needs none.
    Result<std::string>
    sourceOf(const RecipeStage& stage, const RecipeVariant& variant, int model) const {
        if (variant.setFrom.empty())
            return std::string();
        const RunVariant* found = nullptr;
        int count = 0;
        for (const RunVariant& other : m_plan.variants)
            if (other.base == variant.setFrom && other.model == model) {
                found = &other;
                ++count;
            }
        const bool hasTask =
            variant.setTask == "own" || variant.setTask == "each" || variant.setTask == "first" ||
            std::find(m_tasks.begin(), m_tasks.end(), variant.setTask) != m_tasks.end();
        if (count != 1 || !hasTask || (variant.setTask == "own" && !stage.isSplitByTask))
            return Error{ErrorCode::InvalidInput,
                         fmt::format("The variant {} of the recipe {} cannot tell which set of {} "
                                     "it drafts with.",
                                     variant.name,
                                     m_recipe.name,
                                     variant.setFrom),
                         "Let \"set_from\" name a variant without lists of settings, and "
                         "\"set_task\" one of own (only in a stage that is split by task), each, "
                         "first, or a task."};
        return found->name;
    }

    /// About what a shard takes in the plan's file, at most.
    static std::size_t bytesOf(const PlannedShard& shard) {
        constexpr std::size_t kOfLetter = 3; // a letter that is not ASCII has six for two bytes
        std::size_t bytes = 100 + 10 * shard.prompts.size();
        bytes += kOfLetter * (shard.stage.size() + (shard.task ? shard.task->size() : 0));
        for (const std::string& name : shard.variants)
            bytes += 3 + kOfLetter * name.size();
        return bytes;
    }

    Result<void> addShards(const RecipeStage& stage, std::uint64_t seed, int model) {
        std::vector<std::vector<std::string>> columns; // of variants
        for (const RunVariant& variant : m_plan.variants) {
            if (variant.stage != stage.name || variant.model != model)
                continue;
            if (columns.empty() || stage.isSplitByVariant) {
                columns.emplace_back();
                if (stage.hasBaseline)
                    columns.back().emplace_back("vanilla");
            }
            columns.back().push_back(variant.name);
        }
        for (const auto& [task, prompts] : groupsOf(stage))
            for (const std::vector<std::string>& variants : columns) {
                if (m_plan.shards.size() == kMostShards)
                    return tooMany(kMostShards, "parts");
                PlannedShard shard;
                shard.index = static_cast<int>(m_plan.shards.size());
                shard.stage = stage.name;
                shard.variants = variants;
                shard.task = task;
                shard.prompts = prompts;
                shard.seed = seed;
                shard.model = model;
                m_bytes += bytesOf(shard);
                if (m_bytes > kMostPlanBytes)
                    return tooMany(kMostPlanBytes, "bytes in its plan");
                m_plan.shards.push_back(std::move(shard));
            }
        return {};
    }

    std::vector<std::pair<std::optional<std::string>, std::vector<int>>>
    groupsOf(const RecipeStage& stage) const {
        std::vector<std::pair<std::optional<std::string>, std::vector<int>>> groups;
        if (!stage.isSplitByTask)
            groups.emplace_back();
        for (const std::string& task : m_tasks) {
            if (stage.isForFirstTask && task != m_tasks.front())
                break;
            const auto asked = m_asked.find(task);
            if (asked == m_asked.end()) // the stage whose prompts these are has asked none of it
                continue;
            if (stage.isSplitByTask)
                groups.emplace_back(task, std::vector<int>());
            groups.back().second.insert(
                groups.back().second.end(), asked->second.begin(), asked->second.end());
        }
        if (!stage.isSplitByTask) // in the order of the data
            std::sort(groups.back().second.begin(), groups.back().second.end());
        return groups;
    }

    const Recipe& m_recipe;
    const RecipeSize& m_size;
    RunPlan m_plan;
    std::vector<std::string> m_known;                // tasks in the order of the data
    std::map<std::string, std::size_t> m_places;     // in m_known
    std::vector<std::string> m_tasks;                // those that are run
    std::map<std::string, std::vector<int>> m_free;  // by task: prompts of no stage so far
    std::map<std::string, std::vector<int>> m_asked; // by task: prompts of the present stage
    std::size_t m_bytes = 0;                         // of the shards in the plan's file
};

} // namespace

const RunVariant* RunPlan::variant(const std::string& name) const {
    const auto found = std::find_if(variants.begin(), variants.end(), [&](const auto& variant) {
        return variant.name == name;
    });
    return found == variants.end() ? nullptr : &*found;
}

std::vector<int> RunPlan::needs(const PlannedShard& shard) const {
    std::set<int> needed;
    for (const std::string& name : shard.variants) {
        const RunVariant* user = variant(name);
        if (user == nullptr || user->setFrom.empty())
            continue;
        for (const PlannedShard& other : shards) {
            const bool hasIt =
                std::find(other.variants.begin(), other.variants.end(), user->setFrom) !=
                other.variants.end();
            const auto task = user->usesOwnSet() ? shard.task : std::optional(user->setTask);
            if (hasIt && other.seed == shard.seed && (!other.task || other.task == task))
                needed.insert(other.index);
        }
    }
    return {needed.begin(), needed.end()};
}

long answersTo(const Recipe& recipe,
               const RunPlan& plan,
               const PlannedShard& shard,
               std::size_t place) {
    const RecipeStage* stage = recipe.stage(shard.stage);
    const auto answering =
        std::count_if(shard.variants.begin(), shard.variants.end(), [&](const std::string& name) {
            const RunVariant* variant = plan.variant(name);
            return variant == nullptr || !variant->search;
        });
    const bool isTwice = stage != nullptr && stage->isTwice && !recipe.isStream;
    if (isTwice)
        return 2L * answering;
    const bool hasVanilla =
        std::any_of(shard.variants.begin(), shard.variants.end(), isVanillaName);
    return answering + (hasVanilla && place % kPromptsOfBlock == 0 ? 1 : 0);
}

long answersOf(const Recipe& recipe, const RunPlan& plan, const PlannedShard& shard) {
    long answers = 0;
    for (std::size_t place = 0; place < shard.prompts.size(); ++place)
        answers += answersTo(recipe, plan, shard, place);
    return answers;
}

Result<RunPlan>
planRun(const Recipe& recipe, std::span<const std::string> tasks, std::vector<RunModel> models) {
    ENGINE_CHECK(recipe.sizes.size() == 1 && recipe.run, "a plan for a recipe without a size");
    return PlanMaker(recipe, tasks, std::move(models)).make();
}

std::vector<int> keepUsedPrompts(RunPlan& plan) {
    std::set<int> used;
    for (const PlannedShard& shard : plan.shards)
        used.insert(shard.prompts.begin(), shard.prompts.end());
    const std::vector<int> kept(used.begin(), used.end());
    for (PlannedShard& shard : plan.shards)
        for (int& prompt : shard.prompts)
            prompt =
                static_cast<int>(std::lower_bound(kept.begin(), kept.end(), prompt) - kept.begin());
    return kept;
}

std::string planBeginning() { return fmt::format("{{\"format\":\"{}\",", kPlanKind.format); }

std::string planJson(const RunPlan& plan) { return jsonFile(kPlanKind, plan); }

Result<RunPlan> readPlan(std::string_view text, const std::string& where) {
    ENGINE_TRY(RunPlan plan, parseJsonFile<RunPlan>(kPlanKind, text, where));
    for (std::size_t i = 0; i < plan.shards.size(); ++i) {
        const PlannedShard& shard = plan.shards[i];
        const bool hasModel =
            shard.model >= 0 && shard.model < static_cast<int>(plan.models.size());
        if (shard.index != static_cast<int>(i) || !hasModel)
            return Error{ErrorCode::CorruptFile,
                         fmt::format("{}: part {} of the plan is out of order.", where, i + 1),
                         ""};
    }
    return plan;
}

} // namespace engine
