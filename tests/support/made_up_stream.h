// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/run_folder.h"
#include "tests/support/temporary_folder.h"

#include <optional>
#include <string>
#include <vector>

namespace test_support {

/// The folder of a stream whose prompts a test answers one by one, as a process at work would: the
/// variant "swift" beside vanilla, 40 tokens an answer, 10 ms a vanilla step.
class MadeUpStream {
public:
    static constexpr long kTokens = 40;
    static constexpr double kPlainMs = 10.0;
    static constexpr int kLayers = 6;
    static constexpr long kPlainAtEnd = 12; ///< tokens behind the last draft of an answer

    MadeUpStream(const std::filesystem::path& path,
                 const std::vector<std::string>& tasks,
                 int promptsPerTask)
        : folder(make(path, tasks, promptsPerTask)) {}

    static engine::Recipe recipe() {
        engine::Recipe recipe;
        recipe.name = "stream";
        recipe.title = "Stream";
        recipe.summary = "A stream.";
        recipe.source = "own data";
        recipe.isStream = true;
        engine::RecipeStage stage{.name = "run",
                                  .variants = {{.name = "swift", .decoder = "swift"}}};
        stage.isTwice = false;
        stage.isSplitByTask = false;
        recipe.stages = {stage};
        recipe.sizes["own"] = {.promptsPerTask = {{"", 0}}, .maxTokens = 64};
        recipe.verdict.variant = "swift";
        recipe.run = engine::RunOptions{.size = "own"};
        return recipe;
    }

    /// `accepted` of 20 drafted tokens were kept.
    void answer(int prompt, double speedup = 1.5, int accepted = 16) {
        begin();
        engine::ShardAnswer vanilla;
        vanilla.variant = "vanilla";
        vanilla.prompt = prompt;
        vanilla.task = folder.prompts()[static_cast<std::size_t>(prompt)].task;
        vanilla.tokens = kTokens;
        vanilla.decodeMs = kTokens * kPlainMs;
        vanilla.startedAt = m_seconds;
        add(vanilla);
        engine::ShardAnswer swift = vanilla;
        swift.variant = "swift";
        swift.decodeMs = vanilla.decodeMs / speedup;
        swift.decoding.rounds = 20;
        swift.decoding.tokens = kTokens;
        swift.decoding.draftSteps = 20;
        swift.decoding.accepted = accepted;
        swift.decoding.verifyMs = swift.decodeMs;
        swift.startedAt = m_seconds += 1.0;
        swift.drafters = {{"skip", kTokens - kPlainAtEnd - 4}, {"none", kPlainAtEnd}, {"free", 4}};
        swift.draftedUntil = kTokens - kPlainAtEnd;
        swift.text = "Yes, **no**.";
        swift.isEqual = true;
        engine::ShardRound round;
        round.variant = swift.variant;
        round.prompt = prompt;
        round.tokens = {"Yes", ",", " **no**", "."};
        round.ranks = {1, 2, 1, 0};
        round.draftSteps = 3;
        add(round);
        add(swift);
    }

    void leaveOut(int prompt, const std::string& reason) {
        begin();
        add(engine::ShardLeftOut{.prompt = prompt, .reason = reason});
    }

    /// The stream was stopped before this prompt.
    void resumeAt(int prompt) {
        begin();
        add(engine::ShardResumed{.prompt = prompt, .at = m_seconds});
    }

    /// Vanilla answers the first prompt of a block again, slower by `moved`.
    void endBlock(int prompt, double moved) {
        engine::ShardAnswer vanilla;
        vanilla.variant = "vanilla";
        vanilla.prompt = prompt;
        vanilla.task = folder.prompts()[static_cast<std::size_t>(prompt)].task;
        vanilla.pass = 1;
        vanilla.tokens = kTokens;
        vanilla.decodeMs = kTokens * kPlainMs * (1.0 + moved);
        vanilla.startedAt = m_seconds;
        add(vanilla);
    }

    void findSet(int prompt, std::vector<int> attention, std::vector<int> mlp, double score) {
        begin();
        engine::ShardPlan plan;
        plan.variant = "swift";
        plan.task = folder.prompts()[static_cast<std::size_t>(prompt)].task;
        plan.prompt = prompt;
        plan.attention = std::move(attention);
        plan.mlp = std::move(mlp);
        plan.ratio = 0.25;
        plan.score = score;
        add(plan);
    }

    /// The shard's file takes the place of its part file.
    void finish() {
        m_result.runHash = folder.plan().runHash;
        m_result.seconds = m_seconds;
        m_result.machine.processor = "A made-up processor";
        if (!folder.finish(m_result))
            std::abort();
        m_journal.reset();
        m_lock.reset();
    }

    engine::RunFolder folder;

private:
    static engine::RunFolder make(const std::filesystem::path& path,
                                  const std::vector<std::string>& tasks,
                                  int promptsPerTask) {
        std::vector<engine::DataRecord> prompts;
        std::vector<std::string> names;
        for (const std::string& task : tasks)
            for (int i = 0; i < promptsPerTask; ++i) {
                engine::DataRecord record;
                record.task = task;
                record.id = std::to_string(prompts.size());
                record.turns = {"Prompt " + std::to_string(prompts.size()) + "\nof " + task};
                prompts.push_back(record);
                names.push_back(task);
            }
        engine::RunModel model;
        model.name = "tiny";
        model.identity = "1";
        model.layers = kLayers;
        engine::RunPlan plan = engine::planRun(recipe(), names, {model}).value();
        plan.runHash = engine::runHashOf(recipe(), prompts, plan.models);
        auto made = engine::RunFolder::create(path, recipe(), plan, prompts, false);
        if (!made)
            std::abort();
        return std::move(made).value();
    }

    void begin() {
        if (m_journal)
            return;
        auto lock = folder.claim(0);
        auto journal = folder.begin(0);
        if (!lock || !lock.value() || !journal)
            std::abort();
        m_lock.emplace(*std::move(lock).value());
        m_journal.emplace(std::move(journal).value());
    }

    void add(const engine::ShardRecord& record) {
        if (!m_journal->add(record))
            std::abort();
        engine::addRecord(m_result, record);
    }

    std::optional<engine::FileLock> m_lock;
    std::optional<engine::PartJournal> m_journal;
    engine::ShardResult m_result;
    double m_seconds = 0.0;
};

} // namespace test_support
