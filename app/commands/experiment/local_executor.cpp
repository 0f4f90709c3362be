// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executor.h"
#include "app/commands/experiment/shards/shard_runner.h"
#include "app/commands/options/text_options.h"
#include "app/program_paths.h"

#include <optional>

namespace app {

using namespace engine;

namespace {

/// Whether the next shard would meet the same error.
bool endsTheRun(ErrorCode code) {
    return code == ErrorCode::Io || code == ErrorCode::NoMemory || code == ErrorCode::Cancelled ||
           code == ErrorCode::Device;
}

class LocalExecutor : public Executor {
public:
    LocalExecutor(const RunFolder& folder, ShardHooks hooks)
        : m_folder(folder)
        , m_hooks(std::move(hooks))
        , m_registry(moduleFolder()) {}

    Result<void> run(const std::vector<int>& shards,
                     const ExecutorReports& reports,
                     RunPause& pause,
                     const std::stop_token& stop) override {
        for (const int shard : shards) {
            pause.wait(stop);
            if (stop.stop_requested())
                return cancelledError();
            ENGINE_TRY(const auto claim, m_folder.claim(shard));
            if (!claim) {
                reports.onNote(
                    fmt::format("Part {} is left to the process that works on it.", shard + 1));
                continue;
            }
            if (m_folder.state(shard).phase == ShardPhase::Finished) { // elsewhere, meanwhile
                reports.onState({shard, ShardPhase::Finished, {}});
                continue;
            }
            ENGINE_TRY_DO(
                load(m_folder.plan().shards[static_cast<std::size_t>(shard)].model, stop));
            reports.onState({shard, ShardPhase::Running, {}});
            const auto done = runOne(shard, reports, pause, stop);
            if (done) {
                reports.onState({shard, ShardPhase::Finished, {}});
                continue;
            }
            if (endsTheRun(done.error().code))
                return done;
            reports.onFailure(shard, done.error());
            ENGINE_TRY_DO(m_folder.fail(shard, done.error().message));
            reports.onState({shard, ShardPhase::Failed, done.error().message});
        }
        return {};
    }

private:
    /// The errors of loading would meet every shard.
    Result<void> load(int model, const std::stop_token& stop) {
        if (m_loaded == model)
            return {};
        m_model.reset();
        m_loaded = -1;
        ENGINE_TRY(ShardModel loaded, loadShardModel(m_folder, model, stop));
        m_model.emplace(std::move(loaded));
        m_loaded = model;
        return {};
    }

    Result<void> runOne(int shard,
                        const ExecutorReports& reports,
                        RunPause& pause,
                        const std::stop_token& stop) {
        return runShard(m_folder,
                        shard,
                        {.model = *m_model,
                         .registry = m_registry,
                         .pause = pause,
                         .stop = stop,
                         .onRecord = m_hooks.onRecord,
                         .onNote = reports.onNote,
                         .takeTurn = m_hooks.takeTurn});
    }

    const RunFolder& m_folder;
    ShardHooks m_hooks;
    DecoderRegistry m_registry;
    std::optional<ShardModel> m_model;
    int m_loaded = -1; // index of the model
};

} // namespace

std::unique_ptr<Executor> makeLocalExecutor(const RunFolder& folder, ShardHooks hooks) {
    return std::make_unique<LocalExecutor>(folder, std::move(hooks));
}

} // namespace app
