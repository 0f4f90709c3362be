// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_executor.h"

#include "app/commands/experiment/executors/slurm_stage.h"

#include <algorithm>
#include <random>
#include <set>

namespace app {

using namespace engine;

namespace {

/// Hex digits that no other run folder has.
std::string newId() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}", random(), random());
}

bool isId(const std::string& text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

class SlurmExecutor final : public Executor {
public:
    SlurmExecutor(const RunFolder& folder, SlurmOptions options)
        : m_folder(folder)
        , m_options(std::move(options)) {}

    Result<void> run(const std::vector<int>& shards,
                     const ExecutorReports& reports,
                     RunPause& pause,
                     const std::stop_token& stop) override {
        ENGINE_TRY(const auto kept, loadExecutorState(m_folder.path()));
        ExecutorState state = kept.value_or(ExecutorState());
        if (state.executor != "slurm" || !isId(state.id))
            state = {.executor = "slurm", .id = newId(), .shards = {}};
        std::ranges::sort(state.shards, {}, &ExecutorShard::shard);
        ENGINE_TRY(SlurmCommands commands, SlurmCommands::find("swift-" + state.id));
        ENGINE_TRY(SlurmFiles files, SlurmFiles::make(m_folder.path()));
        // While nobody led the run, its jobs went on. Of the shards asked for, one may end at this
        // moment: the stage tells that, so it must be news to it.
        const std::set<int> asked(shards.begin(), shards.end());
        for (ExecutorShard& shard : state.shards)
            if (!asked.contains(shard.shard) && shard.shard >= 0 &&
                shard.shard < static_cast<int>(m_folder.plan().shards.size()) &&
                m_folder.state(shard.shard).phase == ShardPhase::Finished)
                shard.phase = ExecutorPhase::Finished;
        // Before the first job: whatever happens, its name leads to it.
        ENGINE_TRY_DO(saveExecutorState(m_folder.path(), state));
        SlurmStage stage(m_folder,
                         m_options,
                         std::move(commands),
                         std::move(files),
                         std::move(state),
                         SlurmBoard(shards, m_options.attempts),
                         reports);
        return stage.run(pause, stop);
    }

private:
    const RunFolder& m_folder;
    SlurmOptions m_options;
};

} // namespace

Result<void> checkSlurm(const SlurmOptions& options) {
    ENGINE_TRY_DO(checkSlurmOptions(options));
    const auto found = SlurmCommands::find({});
    return found ? Result<void>() : found.error();
}

Result<std::unique_ptr<Executor>> makeSlurmExecutor(const RunFolder& folder,
                                                    const SlurmOptions& options) {
    ENGINE_TRY_DO(checkSlurmOptions(options));
    return std::unique_ptr<Executor>(std::make_unique<SlurmExecutor>(folder, options));
}

} // namespace app
