// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/run/run_folder.h"
#include "engine/experiments/run/shard_json.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// What an executor tells while it works. Called on the thread that called Executor::run.
struct ExecutorReports {
    std::function<void(const engine::ShardState&)> onState; ///< a shard's phase has changed
    std::function<void(const std::string&)> onNote;         ///< a sentence for the user
    /// A shard could not be finished; the others go on.
    std::function<void(int shard, const engine::Error&)> onFailure;
};

/// Whether a run is paused, as the user says. Thread: any.
class RunPause {
public:
    bool isPaused() const;
    void set(bool isPaused);

    /// Waits while it is paused; a stop ends the wait.
    void wait(const std::stop_token& stop);

private:
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_isPaused = false;
};

/// Runs the shards of a folder somewhere.
class Executor {
public:
    virtual ~Executor() = default;

    /// Runs these shards of one stage until each is finished or cannot be finished. A shard that
    /// fails is told by onFailure and the others go on. `stop`: ends after the current pass and
    /// loses nothing that is finished. Errors: those that concern the run as a whole; Cancelled.
    virtual engine::Result<void> run(const std::vector<int>& shards,
                                     const ExecutorReports& reports,
                                     RunPause& pause,
                                     const std::stop_token& stop) = 0;
};

/// What is of interest while a shard runs in this process. All may be empty.
struct ShardHooks {
    std::function<void(const engine::ShardRecord&)> onRecord = {}; ///< each that was taken down
    std::function<std::shared_ptr<void>()> takeTurn = {};          ///< see AnswerRequest
};

/// Runs shards one after another in this process; a model is loaded once. `folder` must outlive it.
std::unique_ptr<Executor> makeLocalExecutor(const engine::RunFolder& folder, ShardHooks hooks = {});

} // namespace app
