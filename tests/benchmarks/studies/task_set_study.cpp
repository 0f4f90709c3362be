// SPDX-License-Identifier: Apache-2.0
// Whether skip sets are worth choosing by the prompt's task, on the default model's own answers to
// the shared data. Three questions, nine tasks, half of the prompts to learn from and half to test:
//   near     how often the nearest prompt vector (mean of the residual stream behind a layer, less
//            the mean of all prompts, unit length) belongs to the prompt's own task, by layer;
//   confused which task a test prompt is taken for, by three nearest learnt prompts;
//   matrix   agreement of each task's own set, of --skipped sublayers, on each task's test answers.
// A set is found one sublayer at a time: first all are scored alone on the learnt answers, then the
// best --width of them are tried together with those already chosen.
// Run from the checkout's root: build/release/benchmarks/task_set_study --help
#include "engine/decoding/round/cached_sequence.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_space.h"
#include "tests/support/models/default_model.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

using namespace engine;

namespace {

constexpr std::array<const char*, 9> kTasks = {"code",
                                               "instruction_following",
                                               "long_context_qa",
                                               "math_reasoning",
                                               "multi_turn_chat",
                                               "question_answering",
                                               "story",
                                               "summarization",
                                               "translation"};

struct Options {
    int prompts = 20; // of each task, half of them to learn from
    int windows = 5;  // answers of each half that sets are scored on
    int window = 32;
    int skipped = 4;
    int width = 16;
    std::string backend = "cpu";
};

using Vector = std::vector<double>;

/// A prompt, what the model makes of it, and the beginning of its answer.
struct Sample {
    std::size_t task = 0;
    bool isLearnt = false;
    std::vector<Vector> vectors; // [layers asked]
    std::vector<TokenId> prompt;
    MatchnessWindow window;                   // empty where no answer was made
    std::shared_ptr<CachedSequence> sequence; // that holds the prompt, where there is a window
};

double dot(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void normalise(Vector& vector) {
    const double length = std::sqrt(dot(vector, vector));
    for (double& value : vector)
        value /= length;
}

class Study {
public:
    explicit Study(const Options& options)
        : m_options(options)
        , m_model(support::DefaultModel::load(false, options.backend))
        , m_space(SkipSpace::inner(m_model.config.layerCount)) {
        const int last = m_model.config.layerCount - 1;
        m_layers = {(last + 3) / 4, last / 2, last};
    }

    void run() {
        for (std::size_t task = 0; task < kTasks.size(); ++task)
            read(task);
        reportNearest();
        reportMatrix();
    }

private:
    void read(std::size_t task) {
        const auto texts = support::dataPrompts(kTasks[task], m_options.prompts);
        std::array<int, 2> answered{};
        for (std::size_t index = 0; index < texts.size(); ++index) {
            Sample sample{task, 2 * index < texts.size(), {}, m_model.prompt(texts[index]), {}, {}};
            sample.vectors = vectorsOf(sample.prompt);
            int& windows = answered[sample.isLearnt ? 0 : 1];
            if (windows < m_options.windows && answer(sample))
                ++windows;
            m_samples.push_back(std::move(sample));
        }
        fmt::print(stderr, "{}: {} prompts\n", kTasks[task], texts.size());
    }

    /// The mean residual stream of the prompt's first rows behind each layer asked.
    std::vector<Vector> vectorsOf(const std::vector<TokenId>& prompt) {
        const auto rows = std::min<std::size_t>(prompt.size(), 384);
        auto cache = std::move(m_model.transformer->makeCache(512)).value();
        const LayerPlan plan = LayerPlan::full(m_model.config.layerCount);
        const AttentionLayout layout = AttentionLayout::chain(0, static_cast<int>(rows));
        std::vector<HiddenRows> streams(m_layers.size());
        std::vector<HandOut> handOuts;
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer)
            handOuts.push_back({m_layers[layer], &streams[layer]});
        const auto result = m_model.transformer->forward({.plan = plan,
                                                          .layout = layout,
                                                          .tokens = std::span(prompt).first(rows),
                                                          .handOuts = handOuts},
                                                         cache);
        ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
        std::vector<Vector> means;
        const auto width = static_cast<std::size_t>(m_model.config.hiddenSize);
        Vector values(rows * width);
        for (const HiddenRows& stream : streams) {
            ENGINE_CHECK(stream.read(0, values).hasValue(), "read");
            Vector& mean = means.emplace_back(width, 0.0);
            for (std::size_t at = 0; at < values.size(); ++at)
                mean[at % width] += values[at] / static_cast<double>(rows);
        }
        return means;
    }

    /// Decodes plainly; false where the answer is too short for a window.
    bool answer(Sample& sample) {
        const auto room = static_cast<Position>(sample.prompt.size()) + 2 * m_options.window;
        auto sequence = std::make_shared<CachedSequence>(
            std::move(m_model.transformer->makeCache(room)).value());
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
            const auto result = m_model.transformer->forward({.plan = plan,
                                                              .layout = layout,
                                                              .tokens = std::span(&newest, 1),
                                                              .summaryRows = rows},
                                                             cache);
            ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
            cache.commit(1);
            newest = result.value().summaries.front().best();
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

    /// Prompt vectors behind one layer, less the mean of those learnt from.
    std::vector<Vector> centred(std::size_t layer) const {
        Vector mean(m_samples.front().vectors[layer].size(), 0.0);
        double learnt = 0.0;
        for (const Sample& sample : m_samples)
            if (sample.isLearnt) {
                learnt += 1.0;
                for (std::size_t i = 0; i < mean.size(); ++i)
                    mean[i] += sample.vectors[layer][i];
            }
        std::vector<Vector> result;
        for (const Sample& sample : m_samples) {
            Vector vector = sample.vectors[layer];
            for (std::size_t i = 0; i < mean.size(); ++i)
                vector[i] -= mean[i] / learnt;
            normalise(vector);
            result.push_back(std::move(vector));
        }
        return result;
    }

    /// The task that the three nearest learnt prompts vote for.
    std::size_t recognised(const std::vector<Vector>& vectors, std::size_t asked) const {
        std::vector<std::pair<double, std::size_t>> near; // cosine, task
        for (std::size_t other = 0; other < m_samples.size(); ++other)
            if (m_samples[other].isLearnt && other != asked)
                near.emplace_back(dot(vectors[asked], vectors[other]), m_samples[other].task);
        std::partial_sort(near.begin(), near.begin() + 3, near.end(), std::greater<>());
        std::array<double, kTasks.size()> votes{};
        for (std::size_t place = 0; place < 3; ++place)
            votes[near[place].second] += near[place].first;
        return static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) -
                                        votes.begin());
    }

    void reportNearest() const {
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            const auto vectors = centred(layer);
            std::array<std::array<int, kTasks.size()>, kTasks.size()> confusion{};
            int right = 0;
            int tested = 0;
            for (std::size_t asked = 0; asked < m_samples.size(); ++asked) {
                if (m_samples[asked].isLearnt)
                    continue;
                const std::size_t taken = recognised(vectors, asked);
                ++confusion[m_samples[asked].task][taken];
                right += taken == m_samples[asked].task ? 1 : 0;
                ++tested;
            }
            fmt::print("behind layer {}: {} of {} test prompts recognised\n",
                       m_layers[layer],
                       right,
                       tested);
            for (std::size_t task = 0; task < kTasks.size(); ++task) {
                fmt::print("  {:22}", kTasks[task]);
                for (const int count : confusion[task])
                    fmt::print(" {:3}", count);
                fmt::print("\n");
            }
        }
    }

    /// Mean agreement of a plan with a task's answers.
    double score(const LayerPlan& plan, std::size_t task, bool isLearnt) {
        double sum = 0.0;
        int count = 0;
        for (const Sample& sample : m_samples)
            if (sample.task == task && sample.isLearnt == isLearnt && sample.sequence) {
                const auto found =
                    matchness(*m_model.transformer, sample.sequence->cache(), plan, sample.window);
                ENGINE_CHECK(found.hasValue(), "{}", found.error().message);
                sum += found.value().score;
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
    std::vector<int> m_layers;
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
    CLI11_PARSE(app, argc, argv);
    Study(options).run();
    return 0;
}
