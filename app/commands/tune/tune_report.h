// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/tune/limits/tune_limits.h"
#include "app/streams/console.h"
#include "engine/tuning/model/model_quality.h"
#include "engine/tuning/result/draft_prices.h"
#include "engine/tuning/rows/row_collector.h"
#include "engine/tuning/training/draft_training.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace app {

/// What a run is, for its first event.
struct TuneStart {
    std::string model;
    std::string fingerprint;
    engine::TuningPlan plan;
    std::int64_t trainedWeights = 0;
    TuningEstimate estimate = {};
};

/// What a run has made, for its last event.
struct TuneDone {
    std::string path;
    std::uint64_t bytes = 0;
    std::int64_t answerTokens = 0;
    std::optional<double> collectSeconds = {};        ///< none: not known
    double coverage = 0.0;                            ///< of an adapter's head
    engine::TokenId maskToken = engine::kNoToken;     ///< of a model
    std::optional<engine::ModelQuality> quality = {}; ///< likewise; none of an adapter
};

/// Tells of a run of `tune`: one line a second for people, events with --json. Thread: one.
class TuneReport {
public:
    TuneReport(const Console& console, std::function<double()> nowMs)
        : m_console(console)
        , m_nowMs(std::move(nowMs)) {}

    void start(const TuneStart& start);

    /// `when`: "start" or "end" of the run.
    void prices(const char* when, const engine::DraftPrices& prices);

    /// So many of the planned prompts were written by the model itself.
    void selfPrompts(int written, int planned);
    void collected(const engine::CollectProgress& progress);
    void stepped(const engine::TrainingProgress& progress);
    void evaluated(const engine::Evaluation& evaluation, bool isBest);
    void checkpointed(const std::filesystem::path& path);

    /// The best state so far lies there as an adapter that can be used.
    void
    keptBest(const std::filesystem::path& path, const engine::Evaluation& best, bool isHeldOut);
    void note(const std::string& sentence);

    /// Collecting is over and nothing is trained.
    void collectingDone(const std::filesystem::path& folder, std::int64_t answerTokens);

    void done(const TuneDone& done, const engine::TrainingResult& result);

private:
    bool isTimeFor(double& lastMs);

    const Console& m_console;
    std::function<double()> m_nowMs;
    bool m_changesModel = false; // the recipe
    StatusLine m_status;
    double m_selfPromptsMs = -1e9;
    double m_collectMs = -1e9;
    double m_stepMs = -1e9;
    std::string m_scores; // of the newest evaluation, for people
};

} // namespace app
