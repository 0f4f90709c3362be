// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/run_data.h"

#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/metrics/sample_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace engine {

namespace {

/// Numbers by size before names; names as they come.
bool isBefore(const std::string& first, const std::string& second) {
    const auto number = [](const std::string& text) {
        double value = 0.0;
        const auto end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
    };
    const auto a = number(first);
    const auto b = number(second);
    if (a && b)
        return *a < *b;
    return a.has_value() && !b.has_value();
}

template <typename Item>
void keepMatching(const std::vector<Item>& items,
                  const std::string& stage,
                  std::span<const Filter> filters,
                  std::span<const std::string> only,
                  std::vector<const Item*>& kept) {
    for (const Item& item : items) {
        const RunPlace& place = item.place;
        if (!stage.empty() && place.shard->stage != stage)
            continue;
        const RunVariant* planned = place.variant->planned;
        const auto isNamed = [&](const std::string& name) {
            return name == place.variant->name || (planned && name == planned->base);
        };
        if (!only.empty() && std::none_of(only.begin(), only.end(), isNamed))
            continue;
        if (std::all_of(filters.begin(), filters.end(), [&](const Filter& filter) {
                return groupOf(place, filter.first) == filter.second;
            }))
            kept.push_back(&item);
    }
}

std::string spacedWords(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string capitalisedWords(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

/// The name of a task within that of a variant ("set of a_task@MODEL") stays the data's own.
std::string variantLabel(const std::string& name, const RunVariant* planned) {
    const std::string part = planned ? " of " + planned->setTask : std::string();
    const std::size_t at = name.find(part);
    if (part.size() <= 4 || at == std::string::npos)
        return readableName(name);
    const std::string model = name.substr(at + part.size()); // with its "@"
    return readableName(name.substr(0, at)) + spacedWords(part) +
           (model.starts_with('@') ? " on " + spacedWords(model.substr(1)) : model);
}

} // namespace

std::string groupOf(const RunPlace& place, const std::string& grouping) {
    const RunVariant* planned = place.variant->planned;
    if (grouping == "variant")
        return place.variant->name;
    if (grouping == "task")
        return place.task;
    if (grouping == "prompt")
        return fmt::to_string(place.prompt);
    if (grouping == "base")
        return (planned ? planned->base : place.variant->name) +
               (place.model.empty() ? "" : "@" + place.model);
    if (grouping == "seed")
        return fmt::to_string(place.seed);
    if (grouping == "parameters")
        return fmt::to_string(place.parameters);
    if (!planned)
        return {};
    if (grouping == "set")
        return planned->usesOwnSet() ? place.task : planned->setTask;
    if (grouping.starts_with("setting:")) {
        const auto found = planned->settings.find(grouping.substr(8));
        return found == planned->settings.end() ? std::string() : found->second;
    }
    return {};
}

std::string readableName(std::string_view name) {
    // Decoders as their papers write them; longer names stand before those that begin alike.
    static constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
        {"self_sd", "Self-SD"},
        {"layerskip", "LayerSkip"},
        {"knapspec", "KnapSpec"},
        {"swift", "SWIFT"},
        {"clasp", "CLaSp"},
        {"space", "SPACE"},
        {"del", "DEL"},
        {"lookup", "look-up"},
        {"qa", "QA"}};
    const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::string text;
    bool isWordStart = true;
    bool hasSettings = false;
    if (name.starts_with("no_")) {
        text = "without ";
        name.remove_prefix(3);
    }
    while (!name.empty()) {
        const auto known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const auto& one) {
            const std::size_t length = one.first.size();
            return isWordStart && name.starts_with(one.first) &&
                   (name.size() == length || !isLetter(name[length]));
        });
        if (known != std::end(kKnown)) {
            text += known->second;
            name.remove_prefix(known->first.size());
            if (!name.empty() && name.front() >= '0' && name.front() <= '9')
                text += ' ';
            isWordStart = false;
            continue;
        }
        const char letter = name.front();
        name.remove_prefix(1);
        isWordStart = letter == ' ' || letter == '_';
        if (letter == ' ' && !hasSettings &&
            name.substr(0, name.find(' ')).find('=') != name.npos) {
            text += ", "; // the first setting
            hasSettings = true;
        } else if (letter == '@') {
            text += " on ";
        } else {
            text += letter == '_' || letter == '=' ? ' ' : letter;
        }
    }
    return capitalisedWords(std::move(text));
}

std::string readableTask(std::string_view task) { return capitalisedWords(spacedWords(task)); }

std::string settingName(std::string_view grouping) {
    return spacedWords(grouping.substr(grouping.find(':') + 1));
}

std::optional<double> vanillaMoved(const Selection& selection) {
    std::vector<double> moves;
    for (const AnsweredPrompt* run : selection.runs) {
        if (run->vanillaMoved)
            moves.push_back(*run->vanillaMoved);
    }
    return moves.empty() ? std::nullopt : std::optional(medianOf(moves));
}

double msPerToken(std::span<const ShardAnswer* const> answers, bool hasPrompt) {
    double ms = 0.0;
    long tokens = 0;
    for (const ShardAnswer* answer : answers) {
        ms += answer->decodeMs + (hasPrompt ? answer->promptMs : 0.0);
        tokens += answer->tokens;
    }
    const double each = tokens > 0 ? ms / static_cast<double>(tokens) : 0.0;
    return std::isfinite(each) ? each : 0.0;
}

RunData::RunData(const Recipe& recipe, const RunPlan& plan, std::vector<ShardResult> shards)
    : m_plan(plan)
    , m_shards(std::move(shards))
    , m_tasks(recipe.tasks) {
    const auto count = static_cast<int>(plan.shards.size());
    std::erase_if(m_shards, [&](const ShardResult& shard) {
        return shard.shard < 0 || shard.shard >= count || shard.runHash != plan.runHash;
    });
    std::sort(m_shards.begin(), m_shards.end(), [](const ShardResult& a, const ShardResult& b) {
        return a.shard < b.shard;
    });
    for (const ShardResult& shard : m_shards)
        addShard(shard);
    addVanillaDraws(recipe);
    const auto place = [&](const std::unique_ptr<ReportVariant>& variant) {
        return variant->planned ? variant->planned - m_plan.variants.data() : -1;
    };
    std::stable_sort(m_variants.begin(), m_variants.end(), [&](const auto& a, const auto& b) {
        return place(a) < place(b);
    });
    tellVariantsApart();
}

/// Variants of one label keep their names.
void RunData::tellVariantsApart() {
    std::map<std::string, int> labels;
    for (const auto& variant : m_variants)
        ++labels[variant->label];
    for (const auto& variant : m_variants) {
        if (labels[variant->label] > 1)
            variant->label = variant->name;
    }
}

const ReportVariant* RunData::addVariant(const std::string& name) {
    for (const auto& variant : m_variants) {
        if (variant->name == name)
            return variant.get();
    }
    auto made = std::make_unique<ReportVariant>();
    made->name = name;
    made->isVanilla = isVanillaName(name);
    for (const RunVariant& planned : m_plan.variants) {
        if (planned.name == name)
            made->planned = &planned;
    }
    made->label = variantLabel(name, made->planned);
    m_variants.push_back(std::move(made));
    return m_variants.back().get();
}

/// Prompts in the order of the shard's plan, variants in the order of their answers.
void RunData::addShard(const ShardResult& shard) {
    const PlannedShard& planned = m_plan.shards[static_cast<std::size_t>(shard.shard)];
    const auto model = static_cast<std::size_t>(planned.model);
    RunPlace place;
    place.shard = &planned;
    place.parameters = model < m_plan.models.size() ? m_plan.models[model].parameters : 0.0;
    if (m_plan.models.size() > 1 && model < m_plan.models.size())
        place.model = m_plan.models[model].name;
    const auto placeOf = [&](const auto& record) {
        place.variant = addVariant(record.variant);
        place.task = record.task;
        place.prompt = record.prompt;
        if (!record.task.empty() &&
            std::find(m_tasks.begin(), m_tasks.end(), record.task) == m_tasks.end())
            m_tasks.push_back(record.task);
        return place;
    };
    std::map<std::tuple<std::uint64_t, int, const ReportVariant*>, std::size_t> known;
    const std::size_t first = m_runs.size();
    for (const ShardAnswer& answer : shard.answers) {
        place.seed = answer.seed;
        place.at = answer.startedAt + (answer.promptMs + answer.decodeMs) / 1e3;
        const RunPlace at = placeOf(answer);
        const auto [found, isNew] =
            known.try_emplace({answer.seed, answer.prompt, at.variant}, m_runs.size());
        if (isNew)
            m_runs.push_back({.place = at, .own = {}, .vanilla = {}});
        m_runs[found->second].own.push_back(&answer);
    }
    std::map<std::pair<std::uint64_t, int>, std::size_t> vanilla; // by seed and prompt
    for (std::size_t i = first; i < m_runs.size(); ++i) {
        if (m_runs[i].place.variant->isVanilla)
            vanilla[{m_runs[i].place.seed, m_runs[i].place.prompt}] = i;
    }
    for (std::size_t i = first; i < m_runs.size(); ++i) {
        const auto found = vanilla.find({m_runs[i].place.seed, m_runs[i].place.prompt});
        if (found != vanilla.end())
            m_runs[i].vanilla = m_runs[found->second].own;
    }
    addDraws(shard, first);
    const std::map<int, double> moves = vanillaMoves(planned, shard.answers);
    for (std::size_t i = first; i < m_runs.size(); ++i) {
        if (const auto moved = moves.find(m_runs[i].place.prompt); moved != moves.end())
            m_runs[i].vanillaMoved = moved->second;
    }
    place.seed = planned.seed;
    for (const ShardTrial& trial : shard.trials) {
        if (trial.pass != 0) // the same search once more
            continue;
        place.at = trial.at;
        m_trials.push_back({placeOf(trial), &trial});
    }
    for (const ShardPlan& set : shard.plans) {
        place.at = set.at;
        m_plans.push_back({placeOf(set), &set});
    }
    std::map<int, std::string> tasks;
    for (const ShardAnswer& answer : shard.answers)
        tasks.emplace(answer.prompt, answer.task);
    std::map<std::pair<std::string, int>, int> rounds; // by variant and prompt
    for (const ShardRound& round : shard.rounds) {
        if (round.pass != 0)
            continue;
        place.variant = addVariant(round.variant);
        place.task = tasks[round.prompt];
        place.prompt = round.prompt;
        place.at = round.at;
        m_rounds.push_back({place, &round, ++rounds[{round.variant, round.prompt}]});
    }
}

/// Of the runs of this shard, which begin at `firstRun`. More than a recipe can ask for are passed
/// over.
void RunData::addDraws(const ShardResult& shard, std::size_t firstRun) {
    std::map<std::pair<std::string, int>, std::size_t> runs; // by variant and prompt
    for (std::size_t i = firstRun; i < m_runs.size(); ++i)
        runs[{m_runs[i].place.variant->name, m_runs[i].place.prompt}] = i;
    for (const ShardDraw& draw : shard.draws) {
        const auto run = runs.find({draw.variant, draw.prompt});
        if (run != runs.end() && m_runs[run->second].draws.size() < std::size_t{kMostDraws})
            m_runs[run->second].draws.push_back(&draw);
    }
}

/// Under one seed vanilla's draws serve all stages that sample alike.
void RunData::addVanillaDraws(const Recipe& recipe) {
    using Key = std::tuple<int, int, std::uint64_t, double, double, int>;
    const auto keyOf = [&](const RunPlace& place) {
        const RecipeStage* stage = recipe.stage(place.shard->stage);
        const RecipeSampling sampling = stage ? stage->sampling : RecipeSampling();
        return Key{place.shard->model,
                   place.prompt,
                   place.seed,
                   sampling.temperature,
                   sampling.topP,
                   sampling.topK};
    };
    std::map<Key, std::vector<const ShardDraw*>> vanilla;
    for (const AnsweredPrompt& run : m_runs) {
        if (run.place.variant->isVanilla && !run.draws.empty())
            vanilla.try_emplace(keyOf(run.place), run.draws);
    }
    for (AnsweredPrompt& run : m_runs) {
        if (const auto found = vanilla.find(keyOf(run.place)); found != vanilla.end())
            run.vanillaDraws = found->second;
    }
}

const ReportVariant* RunData::variant(std::string_view name) const {
    for (const bool byBase : {false, true}) {
        for (const auto& variant : m_variants) {
            if (byBase ? variant->planned && variant->planned->base == name : variant->name == name)
                return variant.get();
        }
    }
    return nullptr;
}

std::string RunData::stageOf(const std::string& wished) const {
    if (!wished.empty() || m_shards.empty())
        return wished;
    std::string last;
    int index = -1;
    for (const ShardResult& shard : m_shards) {
        if (shard.shard > index) {
            index = shard.shard;
            last = m_plan.shards[static_cast<std::size_t>(index)].stage;
        }
    }
    return last;
}

Selection RunData::select(const std::string& stage,
                          std::span<const Filter> filters,
                          std::span<const std::string> only) const {
    Selection found;
    keepMatching(m_runs, stage, filters, only, found.runs);
    keepMatching(m_trials, stage, filters, only, found.trials);
    keepMatching(m_plans, stage, filters, only, found.plans);
    keepMatching(m_rounds, stage, filters, only, found.rounds);
    addSources(found);
    return found;
}

/// A variant that drafts with a set of an earlier stage has the cost of that search.
void RunData::addSources(Selection& selection) const {
    std::set<std::pair<std::string, std::string>> wanted; // variant and task
    for (const AnsweredPrompt* run : selection.runs) {
        const RunVariant* planned = run->place.variant->planned;
        if (planned && !planned->setFrom.empty())
            wanted.emplace(planned->setFrom, groupOf(run->place, "set"));
    }
    if (wanted.empty())
        return;
    for (const TrialRun& run : m_trials) {
        if (wanted.contains({run.place.variant->name, run.place.task}))
            selection.sources.push_back(&run);
    }
}

std::vector<std::string> RunData::groups(const std::string& stage,
                                         const std::string& grouping,
                                         std::span<const std::string> only) const {
    const Selection all = select(stage, {}, only);
    std::vector<std::string> found;
    const auto add = [&](const RunPlace& place) {
        const std::string group = groupOf(place, grouping);
        if (!group.empty() && std::find(found.begin(), found.end(), group) == found.end())
            found.push_back(group);
    };
    const auto addAll = [&](const auto& items) {
        for (const auto* item : items)
            add(item->place);
    };
    addAll(all.runs);
    addAll(all.trials);
    addAll(all.plans);
    const auto sortBy = [&](const auto& placeIn) {
        std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
            return placeIn(a) < placeIn(b);
        });
    };
    if (grouping == "variant")
        sortBy([&](const std::string& name) {
            return std::find_if(m_variants.begin(),
                                m_variants.end(),
                                [&](const auto& variant) { return variant->name == name; }) -
                   m_variants.begin();
        });
    else if (grouping == "task" || grouping == "set")
        sortBy([&](const std::string& name) {
            return std::find(m_tasks.begin(), m_tasks.end(), name) - m_tasks.begin();
        });
    else
        std::stable_sort(found.begin(), found.end(), isBefore);
    return found;
}

std::string RunData::label(const std::string& grouping, const std::string& group) const {
    if (grouping == "variant") {
        const ReportVariant* found = variant(group);
        return found ? found->label : readableName(group);
    }
    if (grouping == "parameters") {
        double count = 0.0;
        std::from_chars(group.data(), group.data() + group.size(), count);
        return count >= 1e9 ? fmt::format("{:.1f}B", count / 1e9)
                            : fmt::format("{:.0f}M", count / 1e6);
    }
    if (grouping == "prompt") { // people count from 1
        int index = 0;
        std::from_chars(group.data(), group.data() + group.size(), index);
        return fmt::to_string(index + 1);
    }
    if (grouping.starts_with("setting:"))
        return fmt::format("{} {}", settingName(grouping), group);
    if (grouping == "task" || grouping == "set")
        return taskLabel(group);
    return grouping == "base" ? readableName(group) : group;
}

std::string RunData::taskLabel(const std::string& task) const {
    const std::string label = readableTask(task);
    const bool isShared =
        std::any_of(m_tasks.begin(), m_tasks.end(), [&](const std::string& other) {
            return other != task && readableTask(other) == label;
        });
    return isShared ? task : label;
}

} // namespace engine
