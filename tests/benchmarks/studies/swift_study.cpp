// SPDX-License-Identifier: Apache-2.0
// What the search of SWIFT finds on one task of the shared data with the default model: acceptance,
// r and matchness prompt by prompt; then the last set on the last windows against the uniform set
// on the first ones. Run from the checkout's root: build/release/benchmarks/swift_study --help
#include "engine/decoding/decoder_registry.h"
#include "engine/search/matchness.h"
#include "engine/search/skip_space.h"
#include "tests/support/models/default_model.h"
#include "tests/support/value_of.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <numeric>

using namespace engine;

namespace {

struct Options {
    std::string task = "summarization";
    std::string backend;
    std::vector<std::string> settings;
    int prompts = 60;
    int maxTokens = 64;
    double startRatio = 0.45;
    bool planted = false;
    int stopAfterTrials = 0;
};

/// One answer and where it began.
struct Window {
    std::vector<TokenId> prompt;
    std::vector<TokenId> answer;
};

struct Totals {
    int accepted = 0;
    int drafted = 0;
    int tokens = 0;
    int rounds = 0;
    int trials = 0;
    double draftMs = 0, verifyMs = 0, searchMs = 0, allMs = 0;
};

class Study {
public:
    explicit Study(const Options& options)
        : m_options(options)
        , m_model(support::DefaultModel::load(options.planted, options.backend))
        , m_registry(std::filesystem::absolute(SWIFT_STUDIO_MODULE_DIR)) {}

    void run() {
        SettingValues given;
        const DecoderInfo info = m_registry.info("swift").value();
        for (const std::string& setting : m_options.settings)
            given.insert(support::valueOf(parseSetting(info, setting)));
        auto made = support::valueOf(m_registry.make(
            "swift",
            {.transformer = *m_model.transformer, .contextLength = 4096, .settings = given}));
        int index = 0;
        for (const std::string& text : support::dataPrompts(m_options.task, m_options.prompts)) {
            answer(*made, m_model.prompt(text), ++index);
            if (m_options.stopAfterTrials > 0 && m_trials >= m_options.stopAfterTrials)
                break;
        }
        conclude();
    }

private:
    void answer(Decoder& decoder, std::vector<TokenId> prompt, int index) {
        Totals totals;
        const auto ends = m_model.endIds();
        Window window{prompt, {}};
        ENGINE_CHECK(decoder
                         .begin({.tokens = prompt,
                                 .maxTokens = m_options.maxTokens,
                                 .endIds = ends,
                                 .task = m_options.task},
                                {})
                         .hasValue(),
                     "begin");
        const auto start = std::chrono::steady_clock::now();
        bool isOver = false;
        while (!isOver) {
            const DecodeStep step = support::valueOf(decoder.step());
            totals.accepted += static_cast<int>(step.path.size());
            totals.drafted += step.draft.draftSteps();
            totals.tokens += static_cast<int>(step.tokens.size());
            totals.rounds += 1;
            totals.draftMs += step.draftMs;
            totals.verifyMs += step.verifyMs;
            take(step.search, totals, index);
            window.answer.insert(window.answer.end(), step.tokens.begin(), step.tokens.end());
            isOver = totals.tokens >= m_options.maxTokens ||
                     std::find(ends.begin(), ends.end(), step.tokens.back()) != ends.end();
        }
        take(support::valueOf(decoder.endAnswer()), totals, index);
        totals.allMs =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        fmt::print("{:3} alpha {:.2f} M {:.2f} r {:.2f} best {:.2f} trials {} ({}) tokens {} "
                   "ms/token {:.0f} search {:.1f} %\n",
                   index,
                   totals.drafted > 0 ? static_cast<double>(totals.accepted) / totals.drafted : 0.0,
                   static_cast<double>(totals.tokens) / totals.rounds,
                   m_ratio,
                   m_best,
                   totals.trials,
                   m_trials,
                   totals.tokens,
                   totals.allMs / totals.tokens,
                   100.0 * totals.searchMs / totals.allMs);
        std::fflush(stdout);
        m_totals.push_back(totals);
        m_windows.push_back(std::move(window));
    }

    void take(const SearchReport& report, Totals& totals, int index) {
        totals.searchMs += report.searchMs;
        for (const TrialRecord& trial : report.trials) {
            totals.trials += trial.counts ? 1 : 0;
            m_trials += trial.counts ? 1 : 0;
            m_best = trial.best;
            if (trial.isBest && trial.kind != "rescore")
                fmt::print("    trial {} {} {:.3f} prompt {}\n",
                           trial.index,
                           trial.kind,
                           trial.score,
                           index);
            if (trial.score >= 0.95 && m_reached < 0)
                m_reached = m_trials;
        }
        for (const PlanChange& change : report.planChanges) {
            m_plan = change.plan;
            m_ratio = change.skipRatio;
        }
        for (const std::string& note : report.notes)
            fmt::print("    {}\n", note);
    }

    double score(const LayerPlan& plan, const Window& window) {
        const std::size_t count = std::min<std::size_t>(32, window.answer.size() - 1);
        if (window.answer.size() < 9)
            return -1.0;
        KvCache cache = m_model.transformer->makeCache(4096).value();
        CachedSequence sequence(std::move(cache));
        ENGINE_CHECK(sequence.fill(*m_model.transformer, window.prompt, {}).hasValue(), "fill");
        const auto end = window.answer.begin() + static_cast<std::ptrdiff_t>(count);
        const auto found = matchness(*m_model.transformer,
                                     sequence.cache(),
                                     plan,
                                     {static_cast<Position>(window.prompt.size()),
                                      {window.answer.begin(), end},
                                      {window.answer.begin() + 1, end + 1}});
        return found.value().score;
    }

    double mean(const LayerPlan& plan, std::size_t first, std::size_t count) {
        double total = 0.0;
        int scored = 0;
        for (std::size_t i = first; i < std::min(first + count, m_windows.size()); ++i)
            if (const double found = score(plan, m_windows[i]); found >= 0.0) {
                total += found;
                ++scored;
            }
        return total / std::max(scored, 1);
    }

    void conclude() {
        const SkipSpace space = SkipSpace::inner(m_model.config.layerCount);
        const std::size_t count = m_windows.size();
        const std::size_t last = count > 10 ? count - 10 : 0;
        const std::size_t last20 = count > 20 ? count - 20 : 0;
        double search = 0, all = 0;
        int accepted = 0, drafted = 0;
        for (std::size_t i = last20; i < count; ++i) {
            search += m_totals[i].searchMs;
            all += m_totals[i].allMs;
            accepted += m_totals[i].accepted;
            drafted += m_totals[i].drafted;
        }
        fmt::print("last set (r {:.2f}, {} skipped) on the last 10 windows {:.3f}; uniform set at "
                   "r {:.2f} on the first 10 {:.3f}, on the last 10 {:.3f}\n",
                   m_ratio,
                   skipped(m_plan),
                   mean(m_plan, last, 10),
                   m_options.startRatio,
                   mean(space.uniform(m_options.startRatio), 0, 10),
                   mean(space.uniform(m_options.startRatio), last, 10));
        fmt::print(
            "search over the last 20 prompts: {:.2f} % of the time; acceptance there {:.2f}; "
            "trials {}; matchness .95 reached after {} trials\n",
            100.0 * search / all,
            drafted > 0 ? static_cast<double>(accepted) / drafted : 0.0,
            m_trials,
            m_reached);
        if (m_options.planted) {
            int right = 0;
            int planted = 0;
            for (const int layer : m_model.config.silentCopies()) {
                right += (m_plan.runsAttention(layer) ? 0 : 1) + (m_plan.runsMlp(layer) ? 0 : 1);
                planted += 2;
            }
            fmt::print("planted sublayers skipped: {} of {}\n", right, planted);
        }
    }

    static int skipped(const LayerPlan& plan) {
        return static_cast<int>(
            std::count(plan.attention.begin(), plan.attention.end(), SublayerAction::Skip) +
            std::count(plan.mlp.begin(), plan.mlp.end(), SublayerAction::Skip));
    }

    Options m_options;
    support::DefaultModel m_model;
    DecoderRegistry m_registry;
    std::vector<Window> m_windows;
    std::vector<Totals> m_totals;
    LayerPlan m_plan;
    double m_ratio = 0.0;
    double m_best = 0.0;
    int m_trials = 0;
    int m_reached = -1;
};

} // namespace

int main(int argc, char** argv) {
    CLI::App app("What SWIFT's search finds on a task.");
    Options options;
    app.add_option("--task", options.task)->capture_default_str();
    app.add_option("--prompts", options.prompts)->capture_default_str();
    app.add_option("--max-tokens", options.maxTokens)->capture_default_str();
    app.add_option("--backend", options.backend);
    app.add_option("--set", options.settings);
    app.add_option("--start-ratio", options.startRatio)->capture_default_str();
    app.add_option("--trials", options.stopAfterTrials, "End behind so many; 0 = no");
    app.add_flag("--planted", options.planted, "With a near-silent copy of each layer");
    CLI11_PARSE(app, argc, argv);
    Study(options).run();
    return 0;
}
