// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/run_folder.h"
#include "engine/metrics/sample_statistics.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// What one prompt has given so far: the answers of the run's subject and those of vanilla beside
/// it.
struct PromptFigures {
    int prompt = 0; ///< line of data.jsonl, from 0
    long tokens = 0;
    double ms = 0.0;             ///< of decoding
    DecodeMetrics decoding = {}; ///< of the subject's answers
    long vanillaTokens = 0;
    double vanillaMs = 0.0;
    int answers = 0; ///< of both
    /// Within the prompt's blocks, once they are complete: one under each seed. And their median.
    std::vector<double> vanillaMoves = {};
    std::optional<double> vanillaMoved = {};
    /// Of the subject's first answer, see ShardAnswer.
    std::map<std::string, long> drafters = {};
    long draftedUntil = 0;
    long firstTokens = 0;

    std::optional<double> tokensPerSecond() const;

    /// Vanilla's time for a token over the subject's; none until both have answered, and none if
    /// vanilla moved too far.
    std::optional<double> speedup() const;

    /// Whether it has no speedup because vanilla moved too far beside it.
    bool isUnsteady() const;
};

struct TaskFigures {
    std::string task;
    int prompts = 0; ///< that are planned
    int done = 0;    ///< answered by the subject
    int trials = 0;  ///< candidates that the subject's searches have scored, those beforehand too
    std::optional<ShardPlan> plan = {}; ///< the newest set of the subject on this task
    DecodeMetrics decoding = {};        ///< of the subject's answers
    /// The median of the prompts' own speedups, with its interval over prompts; the report's
    /// figure. None if vanilla moved too far on this task.
    std::optional<RatioEstimate> speedup = {};
    bool isUnsteady = false;        ///< vanilla moved too far on this task
    double vanillaMsPerToken = 0.0; ///< 0 = not measured
};

/// Where a run stands. A plain value.
struct RunProgress {
    long answers = 0;       ///< given so far, those of vanilla included
    long planned = 0;       ///< answers of the whole run; a finished part plans those it has given
    long draws = 0;         ///< samples drawn so far, see RecipeSize::draws
    long plannedDraws = 0;  ///< of the whole run, as `planned`
    long trials = 0;        ///< sets that searches beforehand have tried so far
    long plannedTrials = 0; ///< of the whole run, as `planned`
    double seconds = 0.0;   ///< of work so far
    std::optional<double> secondsLeft = {}; ///< for the answers and draws to come, without searches
    std::vector<ShardState> shards = {};    ///< on a cluster as its executor tells them
    std::vector<TaskFigures> tasks = {};    ///< in the order in which they are asked
    std::vector<PromptFigures> prompts = {}; ///< those begun, by line
    std::vector<ShardPlan> plans = {};       ///< of all variants, part by part
    std::vector<ShardLeftOut> leftOut = {};
    std::vector<ShardResumed> resumed = {}; ///< where a stream that was stopped went on
    std::optional<int> current = {};        ///< the prompt answered last in a shard at work
    long vanillaTokens = 0;                 ///< this and the next one: beside the subject
    double vanillaMs = 0.0;
    std::optional<double> vanillaMoved = {};  ///< within its blocks: the median of all prompts
    std::optional<MachineFacts> machine = {}; ///< of a finished shard
    bool isLed = false;                       ///< a process works on it at this moment
};

/// Reads how far a run is, again and again, reading only what is new: the run may be measuring
/// speeds on the same cores. Thread: one.
class RunProgressReader {
public:
    /// Errors: those of RunFolder::open().
    static Result<RunProgressReader> open(const std::filesystem::path& path);

    const RunFolder& folder() const { return m_folder; }

    /// The name of the variant that the figures are about: the verdict's, or else the last one that
    /// decodes.
    const std::string& subject() const { return m_subject; }

    /// Number of layers of the run's main model.
    int layers() const;

    /// Errors: Io. A shard that is damaged counts as not begun.
    Result<RunProgress> read();

private:
    /// Size and time of the last change of a file.
    using FileStamp = std::pair<std::uintmax_t, std::filesystem::file_time_type>;

    struct Shard {
        std::optional<FileStamp> stamp = {}; ///< its file's, when it was read
        std::string damage = {};             ///< why its file cannot be read
        bool isFinished = false;
        std::uint64_t next = 0; ///< in its part file
        ShardResult known = {};
        long answers = 0; ///< those of the plan
        long draws = 0;   ///< those of the plan
        long trials = 0;  ///< those of the plan's searches beforehand
    };

    explicit RunProgressReader(RunFolder folder);

    static std::optional<FileStamp> stampOf(const std::filesystem::path& path);
    void readFile(int index);
    Result<ShardState> readShard(int index);
    void sumUp(RunProgress& progress) const;
    void sumTasks(RunProgress& progress);
    void tellTime(RunProgress& progress) const;

    RunFolder m_folder;
    std::string m_subject;
    std::vector<Shard> m_shards;
    std::vector<std::string> m_tasks;     ///< in the order in which they are asked
    std::map<std::string, int> m_prompts; ///< planned prompts of each task
    /// Of a task with so many answers: the interval costs thousands of resamplings.
    std::map<std::string, std::pair<int, RatioEstimate>> m_estimates;
};

} // namespace engine
