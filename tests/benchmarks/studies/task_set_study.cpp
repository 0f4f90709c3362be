// SPDX-License-Identifier: Apache-2.0
// Whether a prompt's task is recognised, and whether skip sets are worth choosing by it, on the
// default model's own answers to the shared data. Nine tasks, half of the prompts to learn from and
// half to test:
//   taken    what each task's test prompts are taken for, "none" of the tasks last;
//   unknown  how many of a task's test prompts are taken for none while that task is not known;
//   matrix   agreement of each task's own set, of --skipped sublayers, on each task's test answers
//            (not with --recognise).
// A set is found one sublayer at a time: first all are scored alone on the learnt answers, then the
// best --width of them are tried together with those already chosen.
// Run from the checkout's root: build/release/benchmarks/task_set_study --help
#include "engine/decoding/round/cached_sequence.h"
#include "engine/decoding/statistics/task_recogniser.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_space.h"
#include "tests/support/models/default_model.h"
#include "tests/support/value_of.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

using namespace engine;

namespace {

constexpr auto& kTasks = support::kDataTasks;

struct Options {
    int prompts = 20; // of each task, half of them to learn from
    int windows = 5;  // answers of each half that sets are scored on
    int window = 32;
    int skipped = 4;
    int width = 16;
    bool onlyRecognises = false;
    std::string backend = "cpu";
};

/// A prompt, what the model makes of it, and the beginning of its answer.
struct Sample {
    std::size_t task = 0;
    bool isLearnt = false;
    PromptVector vector{};
    std::vector<TokenId> prompt;
    MatchnessWindow window;                   // empty where no answer was made
    std::shared_ptr<CachedSequence> sequence; // that holds the prompt, where there is a window
};

class Study {
public:
    explicit Study(const Options& options)
        : m_options(options)
        , m_model(support::DefaultModel::load(false, options.backend))
        , m_space(SkipSpace::inner(m_model.config.layerCount)) {}

    void run() {
        for (std::size_t task = 0; task < kTasks.size(); ++task)
            read(task);
        reportTaken();
        reportUnknown();
        if (!m_options.onlyRecognises)
            reportMatrix();
    }

private:
    void read(std::size_t task) {
        const auto texts = support::dataPrompts(kTasks[task], m_options.prompts);
        std::array<int, 2> answered{};
        for (std::size_t index = 0; index < texts.size(); ++index) {
            Sample sample{task, 2 * index < texts.size(), {}, m_model.prompt(texts[index]), {}, {}};
            sample.vector = vectorOf(sample.prompt);
            int& windows = answered[sample.isLearnt ? 0 : 1];
            if (!m_options.onlyRecognises && windows < m_options.windows && answer(sample))
                ++windows;
            m_samples.push_back(std::move(sample));
        }
        fmt::print(stderr, "{}: {} prompts\n", kTasks[task], texts.size());
    }

    PromptVector vectorOf(const std::vector<TokenId>& prompt) {
        PromptRow row{.layer = recognitionLayer(m_model.config.layerCount)};
        CachedSequence sequence(
            m_model.transformer->makeCache(static_cast<Position>(prompt.size())).value());
        const auto before = std::span(prompt).first(prompt.size() - 1);
        const auto read = sequence.fill(*m_model.transformer, before, {.lastRow = &row});
        ENGINE_CHECK(read.hasValue(), "{}", read.error().message);
        return promptVector(row.values);
    }

    /// Decodes plainly; false where the answer is too short for a window.
    bool answer(Sample& sample) {
        const auto room = static_cast<Position>(sample.prompt.size()) + 2 * m_options.window;
        auto sequence =
            std::make_shared<CachedSequence>(m_model.transformer->makeCache(room).value());
        ENGINE_CHECK(sequence->fill(*m_model.transformer, sample.prompt, {}).hasValue(), "fill");
        KvCache& cache = sequence->cache();
        const Position promptLength = cache.length();
        cache.truncate(promptLength - 1); // its last token runs once more, for its row
        const LayerPlan plan = LayerPlan::full(m_model.config.layerCount);
        const auto ends = m_model.endIds();
        const std::array<int, 1> rows{0};
        std::vector<TokenId> tokens;
        TokenId newest = sample.prompt.back();
        while (static_cast<int>(tokens.size()) <= m_options.window) {
            const AttentionLayout layout = AttentionLayout::chain(cache.length(), 1);
            const auto result =
                support::valueOf(m_model.transformer->forward({.plan = plan,
                                                               .layout = layout,
                                                               .tokens = std::span(&newest, 1),
                                                               .summaryRows = rows},
                                                              cache));
            cache.commit(1);
            newest = result.summaries.front().best();
            if (std::find(ends.begin(), ends.end(), newest) != ends.end())
                break;
            tokens.push_back(newest);
        }
        cache.truncate(promptLength);
        if (tokens.size() < 9)
            return false;
        sample.window = {
            promptLength, {tokens.begin(), tokens.end() - 1}, {tokens.begin() + 1, tokens.end()}};
        sample.sequence = std::move(sequence);
        return true;
    }

    /// What was learnt of all tasks but `without`.
    KnownTasks known(std::size_t without) const {
        KnownTasks tasks;
        for (const Sample& sample : m_samples)
            if (sample.isLearnt && sample.task != without)
                tasks[kTasks[sample.task]].learn(sample.vector, 0);
        return tasks;
    }

    /// How many of a task's test prompts are taken for each task, and for none.
    std::array<int, kTasks.size() + 1> taken(std::size_t task, const KnownTasks& tasks) const {
        std::array<int, kTasks.size() + 1> counts{};
        for (const Sample& sample : m_samples)
            if (!sample.isLearnt && sample.task == task) {
                const Recognition found = recogniseTask(tasks, sample.vector);
                const auto place = !found.task
                                       ? kTasks.end()
                                       : std::find(kTasks.begin(), kTasks.end(), found.task->task);
                ++counts[static_cast<std::size_t>(place - kTasks.begin())];
            }
        return counts;
    }

    void reportTaken() const {
        const KnownTasks tasks = known(kTasks.size());
        int right = 0;
        int none = 0;
        int tested = 0;
        for (std::size_t task = 0; task < kTasks.size(); ++task) {
            const auto counts = taken(task, tasks);
            right += counts[task];
            none += counts.back();
            tested += std::accumulate(counts.begin(), counts.end(), 0);
            fmt::print("taken {:22}: {:3}\n", kTasks[task], fmt::join(counts, " "));
        }
        fmt::print(
            "of {} test prompts {} are recognised, {} are taken for none, {} for another task\n",
            tested,
            right,
            none,
            tested - right - none);
    }

    void reportUnknown() const {
        int none = 0;
        for (std::size_t task = 0; task < kTasks.size(); ++task) {
            const int refused = taken(task, known(task)).back();
            none += refused;
            fmt::print("unknown {:22}: {} taken for none\n", kTasks[task], refused);
        }
        fmt::print("of the prompts of a task that is not known {} are taken for none\n", none);
    }

    /// Mean agreement of a plan with a task's answers.
    double score(const LayerPlan& plan, std::size_t task, bool isLearnt) {
        double sum = 0.0;
        int count = 0;
        for (const Sample& sample : m_samples)
            if (sample.task == task && sample.isLearnt == isLearnt && sample.sequence) {
                sum += support::valueOf(
                           matchness(
                               *m_model.transformer, sample.sequence->cache(), plan, sample.window))
                           .score;
                ++count;
            }
        return sum / std::max(count, 1);
    }

    /// Adds the coordinate that harms least, again and again.
    LayerPlan setOf(std::size_t task) {
        std::vector<std::uint8_t> bits(static_cast<std::size_t>(m_space.dims()), 0);
        std::vector<std::size_t> candidates(bits.size());
        std::iota(candidates.begin(), candidates.end(), std::size_t{0});
        for (int chosen = 0; chosen < m_options.skipped; ++chosen) {
            std::vector<std::pair<double, std::size_t>> scores;
            for (const std::size_t coordinate : candidates) {
                bits[coordinate] = 1;
                scores.emplace_back(-score(m_space.plan(bits), task, true), coordinate);
                bits[coordinate] = 0;
            }
            std::sort(scores.begin(), scores.end());
            bits[scores.front().second] = 1;
            candidates.clear();
            for (std::size_t place = 1;
                 place < std::min(scores.size(), static_cast<std::size_t>(m_options.width));
                 ++place)
                candidates.push_back(scores[place].second);
        }
        return m_space.plan(bits);
    }

    void reportMatrix() {
        std::array<std::array<double, kTasks.size()>, kTasks.size()> matrix{};
        for (std::size_t set = 0; set < kTasks.size(); ++set) {
            const LayerPlan plan = setOf(set);
            for (std::size_t task = 0; task < kTasks.size(); ++task)
                matrix[set][task] = score(plan, task, false);
            fmt::print("set of {:22}:", kTasks[set]);
            for (const double value : matrix[set])
                fmt::print(" {:.3f}", value);
            fmt::print("\n");
            std::fflush(stdout);
        }
        double own = 0.0;
        double foreign = 0.0;
        for (std::size_t set = 0; set < kTasks.size(); ++set)
            for (std::size_t task = 0; task < kTasks.size(); ++task)
                (set == task ? own : foreign) += matrix[set][task];
        const auto count = static_cast<double>(kTasks.size());
        fmt::print("{} sublayers skipped: own sets {:.3f}, foreign ones {:.3f}\n",
                   m_options.skipped,
                   own / count,
                   foreign / count / (count - 1.0));
    }

    Options m_options;
    support::DefaultModel m_model;
    SkipSpace m_space;
    std::vector<Sample> m_samples;
};

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Whether skip sets are worth choosing by the prompt's task.");
    Options options;
    app.add_option("--prompts", options.prompts, "of each task")->capture_default_str();
    app.add_option("--windows", options.windows, "answers of each half")->capture_default_str();
    app.add_option("--skipped", options.skipped, "sublayers of a set")->capture_default_str();
    app.add_option("--width", options.width, "sublayers tried further")->capture_default_str();
    app.add_option("--backend", options.backend)->capture_default_str();
    app.add_flag("--recognise", options.onlyRecognises, "Compare no skip sets");
    CLI11_PARSE(app, argc, argv);
    Study(options).run();
    return 0;
}
