// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/progress/run_progress.h"

#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/experiments/run/executor_state.h"

#include <algorithm>
#include <set>
#include <utility>

namespace engine {

namespace {

std::string subjectOf(const Recipe& recipe, const RunPlan& plan) {
    std::string last;
    for (const RunVariant& variant : plan.variants) {
        const bool isWanted =
            variant.base == recipe.verdict.variant || variant.name == recipe.verdict.variant;
        if (!variant.decoder.empty())
            last = variant.name;
        if (isWanted && !variant.decoder.empty())
            return variant.name;
    }
    return last;
}

long drawsOf(const Recipe& recipe, const RunPlan& plan, const PlannedShard& shard) {
    const RecipeStage* stage = recipe.stage(shard.stage);
    if (stage == nullptr || recipe.sizes.empty())
        return 0;
    const auto drawing = std::ranges::count_if(shard.variants, [&](const std::string& name) {
        const RunVariant* variant = plan.variant(name);
        return variant == nullptr || !variant->search;
    });
    return static_cast<long>(drawing) * static_cast<long>(shard.prompts.size()) *
           recipe.sizes.begin()->second.drawsIn(*stage);
}

long trialsOf(const RunPlan& plan, const PlannedShard& shard) {
    long trials = 0;
    for (const std::string& name : shard.variants)
        if (const RunVariant* variant = plan.variant(name); variant != nullptr && variant->search)
            trials += variant->search->trials;
    return trials;
}

/// On a cluster, whoever looks at the folder cannot see the locks of other machines; its executor
/// tells what runs there, and what went wrong.
void addExecutor(const std::filesystem::path& folder, std::vector<ShardState>& states) {
    const auto kept = loadExecutorState(folder);
    if (!kept || !kept.value())
        return;
    const auto count = static_cast<int>(states.size());
    for (const ExecutorShard& shard : kept.value()->shards) {
        if (shard.shard < 0 || shard.shard >= count)
            continue;
        ShardState& state = states[static_cast<std::size_t>(shard.shard)];
        if (state.phase == ShardPhase::Finished || state.phase == ShardPhase::Damaged)
            continue;
        const ShardPhase told = shownPhase(shard);
        if (told == ShardPhase::Running)
            state = {.shard = shard.shard, .phase = told};
        else if (told == ShardPhase::Failed && state.phase == ShardPhase::Waiting)
            state.phase = told;
        if (shard.phase == ExecutorPhase::GivenUp)
            state.problem = fmt::format("given up, last because of: {}", shard.ended);
        else if (!shard.ended.empty())
            state.problem = fmt::format("run again after: {}", shard.ended);
    }
}

} // namespace

std::optional<double> PromptFigures::tokensPerSecond() const {
    return ms > 0.0 ? std::optional(1e3 * static_cast<double>(tokens) / ms) : std::nullopt;
}

std::optional<double> PromptFigures::speedup() const {
    if (tokens == 0 || vanillaTokens == 0 || ms <= 0.0 || vanillaMs <= 0.0 || isUnsteady())
        return std::nullopt;
    return vanillaMs / static_cast<double>(vanillaTokens) / (ms / static_cast<double>(tokens));
}

bool PromptFigures::isUnsteady() const { return tokens > 0 && !isSteady(vanillaMoved); }

Result<RunProgressReader> RunProgressReader::open(const std::filesystem::path& path) {
    ENGINE_TRY(RunFolder folder, RunFolder::open(path));
    return RunProgressReader(std::move(folder));
}

RunProgressReader::RunProgressReader(RunFolder folder)
    : m_folder(std::move(folder))
    , m_subject(subjectOf(m_folder.recipe(), m_folder.plan()))
    , m_shards(m_folder.plan().shards.size()) {
    std::set<int> asked;
    for (const PlannedShard& shard : m_folder.plan().shards) {
        Shard& own = m_shards[static_cast<std::size_t>(shard.index)];
        own.answers = answersOf(m_folder.recipe(), m_folder.plan(), shard);
        own.draws = drawsOf(m_folder.recipe(), m_folder.plan(), shard);
        own.trials = trialsOf(m_folder.plan(), shard);
        asked.insert(shard.prompts.begin(), shard.prompts.end());
    }
    for (const int prompt : asked) {
        const std::string& task = m_folder.prompts()[static_cast<std::size_t>(prompt)].task;
        if (m_prompts[task]++ == 0)
            m_tasks.push_back(task);
    }
}

int RunProgressReader::layers() const {
    return m_folder.plan().models.empty() ? 0 : m_folder.plan().models.front().layers;
}

namespace {

/// What no figure needs: of a long stream it would be most of the memory.
void dropTexts(ShardResult& known) {
    known.rounds = {};
    for (ShardAnswer& answer : known.answers)
        answer.text = {};
}

} // namespace

/// None if there is no file.
std::optional<RunProgressReader::FileStamp>
RunProgressReader::stampOf(const std::filesystem::path& path) {
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(path, code);
    if (code)
        return std::nullopt;
    const auto changed = std::filesystem::last_write_time(path, code);
    return code ? std::nullopt : std::optional(FileStamp(size, changed));
}

/// The file of a finished shard is read when it appears, and again only if it has become another.
void RunProgressReader::readFile(int index) {
    Shard& shard = m_shards[static_cast<std::size_t>(index)];
    const auto stamp = stampOf(m_folder.shardFile(index));
    if (stamp && stamp == shard.stamp)
        return;
    const bool wasFinished = std::exchange(shard.isFinished, false);
    shard.stamp.reset();
    shard.damage.clear();
    if (stamp) {
        auto result = m_folder.result(index);
        const bool isDamaged = !result && result.error().code == ErrorCode::CorruptFile;
        if (result || isDamaged) // other errors may pass
            shard.stamp = stamp;
        if (!result) {
            shard.damage = result.error().message;
        } else {
            shard.known = std::move(result).value();
            dropTexts(shard.known);
            shard.isFinished = true;
        }
    }
    if (wasFinished && !shard.isFinished) { // it is run again
        shard.known = {};
        shard.next = 0;
    }
}

Result<ShardState> RunProgressReader::readShard(int index) {
    readFile(index);
    Shard& shard = m_shards[static_cast<std::size_t>(index)];
    if (shard.isFinished)
        return ShardState{.shard = index, .phase = ShardPhase::Finished};
    ShardState state = m_folder.unfinishedState(index, shard.damage);
    auto part = m_folder.progress(index, shard.next);
    if (!part && part.error().code == ErrorCode::CorruptFile)
        return state;
    if (!part)
        return part.error();
    if (part.value().isAnother)
        shard.known = {};
    for (ShardRecord& record : part.value().records)
        addRecord(shard.known, std::move(record));
    dropTexts(shard.known);
    shard.next = part.value().next;
    return state;
}

Result<RunProgress> RunProgressReader::read() {
    RunProgress progress;
    progress.isLed = m_folder.isLed();
    for (const PlannedShard& planned : m_folder.plan().shards) {
        ENGINE_TRY(ShardState state, readShard(planned.index));
        progress.shards.push_back(std::move(state));
    }
    addExecutor(m_folder.path(), progress.shards);
    sumUp(progress);
    sumTasks(progress);
    tellTime(progress);
    return progress;
}

void RunProgressReader::sumUp(RunProgress& progress) const {
    std::map<int, PromptFigures> prompts;
    for (const ShardState& state : progress.shards) {
        const Shard& shard = m_shards[static_cast<std::size_t>(state.shard)];
        const auto given = static_cast<long>(shard.known.answers.size());
        progress.planned += shard.isFinished ? given : shard.answers; // some may be left out
        progress.answers += given;
        const auto drawn = static_cast<long>(shard.known.draws.size());
        progress.draws += drawn;
        progress.plannedDraws += shard.isFinished ? drawn : std::max(drawn, shard.draws);
        if (shard.trials > 0) {
            const auto tried = static_cast<long>(
                std::ranges::count_if(shard.known.trials, [&](const ShardTrial& trial) {
                    const RunVariant* variant = m_folder.plan().variant(trial.variant);
                    return variant != nullptr && variant->search;
                }));
            progress.trials += tried;
            progress.plannedTrials += shard.isFinished ? tried : std::max(tried, shard.trials);
        }
        const PlannedShard& planned = m_folder.plan().shards[static_cast<std::size_t>(state.shard)];
        // Vanilla of another part was measured beside other variants, perhaps on another model.
        const bool isSubjects =
            std::ranges::find(planned.variants, m_subject) != planned.variants.end();
        for (const ShardAnswer& answer : shard.known.answers) {
            const bool isVanilla = isSubjects && isVanillaName(answer.variant);
            PromptFigures& prompt = prompts[answer.prompt];
            prompt.prompt = answer.prompt;
            prompt.answers += isVanilla || answer.variant == m_subject;
            if (isVanilla) {
                prompt.vanillaTokens += answer.tokens;
                prompt.vanillaMs += answer.decodeMs;
                progress.vanillaTokens += answer.tokens;
                progress.vanillaMs += answer.decodeMs;
            } else if (answer.variant == m_subject) {
                if (prompt.tokens == 0) {
                    prompt.drafters = answer.drafters;
                    prompt.draftedUntil = answer.draftedUntil;
                    prompt.firstTokens = answer.tokens;
                }
                prompt.tokens += answer.tokens;
                prompt.ms += answer.decodeMs;
                prompt.decoding.add(answer.decoding);
            }
        }
        if (isSubjects)
            for (const auto& [prompt, moved] : vanillaMoves(planned, shard.known.answers))
                if (const auto known = prompts.find(prompt); known != prompts.end())
                    known->second.vanillaMoves.push_back(moved);
        progress.plans.insert(
            progress.plans.end(), shard.known.plans.begin(), shard.known.plans.end());
        progress.leftOut.insert(
            progress.leftOut.end(), shard.known.leftOut.begin(), shard.known.leftOut.end());
        progress.resumed.insert(
            progress.resumed.end(), shard.known.resumed.begin(), shard.known.resumed.end());
        if (shard.isFinished && !progress.machine)
            progress.machine = shard.known.machine;
        if (state.phase == ShardPhase::Running && !shard.known.answers.empty())
            progress.current = shard.known.answers.back().prompt;
    }
    std::vector<double> moves;
    progress.prompts.reserve(prompts.size());
    for (auto& [line, prompt] : prompts) {
        if (!prompt.vanillaMoves.empty())
            prompt.vanillaMoved = medianOf(prompt.vanillaMoves);
        moves.insert(moves.end(), prompt.vanillaMoves.begin(), prompt.vanillaMoves.end());
        progress.prompts.push_back(std::move(prompt));
    }
    if (!moves.empty())
        progress.vanillaMoved = medianOf(moves);
}

void RunProgressReader::sumTasks(RunProgress& progress) {
    std::map<std::string, std::size_t> places;
    std::vector<SampleGroup> samples(m_tasks.size());
    std::vector<std::pair<double, long>> vanilla(m_tasks.size());
    std::vector<std::vector<double>> moves(m_tasks.size());
    std::vector<int> answers(m_tasks.size());
    for (const std::string& task : m_tasks) {
        places[task] = progress.tasks.size();
        progress.tasks.push_back({.task = task, .prompts = m_prompts[task]});
    }
    for (const PromptFigures& prompt : progress.prompts) {
        const std::size_t place =
            places[m_folder.prompts()[static_cast<std::size_t>(prompt.prompt)].task];
        TaskFigures& task = progress.tasks[place];
        vanilla[place].first += prompt.vanillaMs;
        vanilla[place].second += prompt.vanillaTokens;
        if (prompt.tokens == 0)
            continue;
        ++task.done;
        task.decoding.add(prompt.decoding);
        if (prompt.vanillaTokens == 0 || prompt.vanillaMs <= 0.0 || prompt.ms <= 0.0)
            continue;
        samples[place].numerators.push_back(prompt.vanillaMs /
                                            static_cast<double>(prompt.vanillaTokens));
        samples[place].denominators.push_back(prompt.ms / static_cast<double>(prompt.tokens));
        answers[place] += prompt.answers;
        moves[place].insert(
            moves[place].end(), prompt.vanillaMoves.begin(), prompt.vanillaMoves.end());
    }
    const RunVariant* own = m_folder.plan().variant(m_subject);
    const auto isIts = [&](const ShardTrial& trial) {
        return trial.variant == m_subject || (own != nullptr && trial.variant == own->setFrom);
    };
    for (const Shard& shard : m_shards)
        for (const ShardTrial& trial : shard.known.trials)
            if (const auto place = places.find(trial.task);
                trial.pass == 0 && place != places.end() && isIts(trial))
                ++progress.tasks[place->second].trials;
    for (const ShardPlan& plan : progress.plans)
        if (const auto place = places.find(plan.task);
            place != places.end() && plan.variant == m_subject)
            progress.tasks[place->second].plan = plan;
    for (std::size_t place = 0; place < progress.tasks.size(); ++place) {
        TaskFigures& task = progress.tasks[place];
        if (vanilla[place].second > 0)
            task.vanillaMsPerToken =
                vanilla[place].first / static_cast<double>(vanilla[place].second);
        task.isUnsteady = !moves[place].empty() && !isSteady(medianOf(moves[place]));
        if (samples[place].numerators.empty() || task.isUnsteady)
            continue;
        auto& [known, estimate] = m_estimates[task.task];
        if (std::exchange(known, answers[place]) != answers[place])
            estimate = medianRatio(samples[place].numerators, samples[place].denominators);
        task.speedup = estimate;
    }
}

/// The answers to come take as long as those that were given, a token of a draw as long as one of
/// theirs, and as many parts are at work at once as now. Offline searches and pauses are part of no
/// answer.
void RunProgressReader::tellTime(RunProgress& progress) const {
    double ms = 0.0;
    double decodeMs = 0.0;
    long tokens = 0;
    for (const Shard& shard : m_shards) {
        const double begun =
            shard.known.answers.empty() ? 0.0 : shard.known.answers.back().startedAt;
        progress.seconds += shard.isFinished ? shard.known.seconds : begun;
        for (const ShardAnswer& answer : shard.known.answers) {
            ms += answer.promptMs + answer.decodeMs;
            decodeMs += answer.decodeMs;
            tokens += answer.tokens;
        }
    }
    if (progress.answers == 0)
        return;
    double left = ms / static_cast<double>(progress.answers) *
                  static_cast<double>(std::max(0L, progress.planned - progress.answers));
    if (tokens > 0 && !m_folder.recipe().sizes.empty()) // a draw's prompt is read by then
        left += decodeMs / static_cast<double>(tokens) *
                m_folder.recipe().sizes.begin()->second.drawTokens *
                static_cast<double>(std::max(0L, progress.plannedDraws - progress.draws));
    const auto atWork =
        std::ranges::count(progress.shards, ShardPhase::Running, &ShardState::phase);
    progress.secondsLeft = left / 1e3 / static_cast<double>(std::max<std::ptrdiff_t>(1, atWork));
}

} // namespace engine
