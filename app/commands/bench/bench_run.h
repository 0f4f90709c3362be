// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/bench_model.h"
#include "app/commands/bench/bench_results.h"
#include "app/commands/bench/measure/pass_clock.h"
#include "app/commands/bench/measure/rival_process.h"
#include "app/streams/console.h"
#include "engine/decoding/decoder.h"
#include "engine/model/skip_sets/layer_plan.h"

#include <functional>

namespace app {

/// A skip set to be timed.
struct NamedPlan {
    std::string name;
    engine::LayerPlan plan;
};

/// The participants. All except the decoders are borrowed.
struct BenchParts {
    BenchModel& model;
    RoofSampler& roof;
    PassClock& clock;
    std::vector<NamedPlan> plans;
    std::unique_ptr<engine::Decoder> vanilla;
    std::unique_ptr<engine::Decoder> drafting; ///< may be null
    ForRivals<RivalProcess*> rivals = {};      ///< each may be null
    std::stop_token stop = {};
};

/// Measures everything in turn, repeatedly, so that a slow minute of the machine affects all
/// quantities alike. Every other repetition goes in reverse order.
class BenchRun {
public:
    BenchRun(const BenchOptions& options,
             const Console& console,
             BenchParts& parts,
             BenchResults& results);

    /// Errors: Cancelled if the user stops it (`results` holds the measurements so far); those of a
    /// pass, a decoder or another program.
    engine::Result<void> run();

private:
    using Task = std::function<engine::Result<void>()>;

    void addPassTasks();
    engine::Result<void> repeat(int repetition);
    engine::Result<void> timeRows(int rows);
    engine::Result<void> timePlan(std::size_t index);
    engine::Result<PassPair> timePair(const engine::LayerPlan& plan, int rows);
    engine::Result<void> timePrefill();
    engine::Result<void> timeDecoding(const BenchPrompt& prompt);
    engine::Result<DecodeSample> decode(engine::Decoder& decoder, const BenchPrompt& prompt);
    engine::Result<DecodeSample> decodeBy(RivalProcess& rival, const BenchPrompt& prompt);
    engine::Result<void> checkStop() const;
    engine::Result<void>
    inTurn(const std::vector<Task>& tasks) const; // reversed in odd repetitions

    const BenchOptions& m_options;
    const Console& m_console;
    BenchParts& m_parts;
    BenchResults& m_results;
    StatusLine m_status;
    engine::LayerPlan m_fullPlan;
    std::vector<Task> m_passTasks;
    int m_repetition = 0;
};

} // namespace app
