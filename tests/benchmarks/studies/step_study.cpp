// SPDX-License-Identifier: Apache-2.0
// Where the time of a drafting decoder's steps goes, against vanilla answers right beside it: what
// a draft pass costs for the bytes it reads, what is done outside of passes, and how much of the
// speedup that the measured cost of rows and the read bytes promise is reached. --planted does it
// on the default model with a near-silent copy of each layer, drafting without those copies.
#include "app/commands/bench/bench_model.h"
#include "app/commands/bench/measure/pass_clock.h"
#include "app/commands/options/decoder_options.h"
#include "app/commands/options/text_options.h"
#include "app/exit_codes.h"
#include "app/program_paths.h"
#include "engine/metrics/sample_statistics.h"
#include "tests/benchmarks/timed_transformer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace study {

using namespace engine;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
    app::BenchOptions bench;
    bool json = false;
    std::string decoder = "swift";
};

/// One round: what it gave, and what it asked of the network.
struct Round {
    double tokens = 0.0;
    double ms = 0.0;
    double passMs = 0.0;
    double draftPassMs = 0.0;
    double draftMs = 0.0; ///< drafting as the decoder tells it, passes included
    double draftShares = 0.0;
    int verifiedRows = 0;
};

struct Answer {
    std::vector<Round> rounds;
    std::vector<TokenId> tokens;
    double ms = 0.0;

    double msPerToken() const { return ms / static_cast<double>(tokens.size()); }

    double sum(double Round::*part) const {
        double sum = 0.0;
        for (const Round& round : rounds)
            sum += round.*part;
        return sum;
    }
};

/// Answers of one prompt and passes of some rows, within the same seconds.
struct Pair {
    Answer vanilla;
    Answer drafted;
    std::map<int, double> v; ///< by rows
};

double msSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string plantedSet(const ModelConfig& config) {
    const Json copies = config.silentCopies();
    return Json{{"attention", copies}, {"mlp", copies}}.dump();
}

class Study {
public:
    explicit Study(const Options& options)
        : m_options(options) {}

    Result<void> run(const app::Console& console) {
        ENGINE_TRY(m_model, app::openBenchModel(m_options.bench, {}));
        TimedTransformer timed(*m_model.loaded.transformer);
        ENGINE_TRY_DO(makeDecoders(timed));
        ENGINE_TRY(app::PassClock clock,
                   app::PassClock::make(*m_model.loaded.transformer,
                                        {.cachedTokens = m_options.bench.cachedTokens,
                                         .mostRows = m_options.bench.rows.back(),
                                         .prefillTokens = 1}));
        for (int i = 0; i < m_options.bench.pairs; ++i) {
            const auto& prompt =
                m_model.prompts[static_cast<std::size_t>(i) % m_model.prompts.size()];
            Pair pair;
            for (const int turn : {0, 1}) {
                const bool isVanilla = (i + turn) % 2 == 0;
                ENGINE_TRY((isVanilla ? pair.vanilla : pair.drafted),
                           answer(isVanilla ? *m_vanilla : *m_drafting, prompt, timed));
            }
            ENGINE_TRY_DO(timeRows(clock, pair));
            app::Console::note(fmt::format("pair {} of {}: vanilla {:.3f} ms a token, {} {:.3f}",
                                           i + 1,
                                           m_options.bench.pairs,
                                           pair.vanilla.msPerToken(),
                                           m_options.decoder,
                                           pair.drafted.msPerToken()));
            m_pairs.push_back(std::move(pair));
        }
        report(console);
        return {};
    }

private:
    Result<void> makeDecoders(Transformer& timed) {
        DecoderRegistry registry(app::moduleFolder());
        std::vector<std::string> typed;
        if (m_options.bench.model.isPlanted)
            typed = {"start=manual",
                     "skip_set=" + plantedSet(m_model.loaded.config),
                     "optimise=0",
                     "free_draft=0"};
        typed.insert(typed.end(), m_options.bench.settings.begin(), m_options.bench.settings.end());
        ENGINE_TRY(const SettingValues settings,
                   app::parseSettings(registry, m_options.decoder, typed));
        DecoderContext context = {.transformer = timed, .contextLength = m_model.contextLength};
        ENGINE_TRY(m_vanilla, registry.make("vanilla", context));
        context.settings = settings;
        ENGINE_TRY(m_drafting, registry.make(m_options.decoder, context));
        return {};
    }

    /// Rounds until the answer is as long as asked for; past its end, so that all are.
    Result<Answer>
    answer(Decoder& decoder, const app::BenchPrompt& prompt, TimedTransformer& timed) {
        Answer made;
        ENGINE_TRY_DO(decoder.begin(
            {.tokens = prompt.ids, .maxTokens = m_options.bench.maxTokens, .task = prompt.task},
            {}));
        timed.takePasses();
        while (static_cast<int>(made.tokens.size()) < m_options.bench.maxTokens &&
               decoder.remainingContext() > 0) {
            const auto start = Clock::now();
            ENGINE_TRY(const DecodeStep step, decoder.step());
            Round round;
            round.ms = msSince(start) - step.search.searchMs;
            round.tokens = static_cast<double>(step.tokens.size());
            round.draftMs = step.draftMs;
            for (const TimedPass& pass : timed.takePasses()) {
                round.passMs += pass.ms;
                const bool isDraft = pass.share < 0.9999;
                round.draftShares += isDraft ? pass.share : 0.0;
                round.draftPassMs += isDraft ? pass.ms : 0.0;
                round.verifiedRows = isDraft ? round.verifiedRows : pass.rows;
            }
            made.ms += round.ms;
            made.rounds.push_back(round);
            made.tokens.insert(made.tokens.end(), step.tokens.begin(), step.tokens.end());
        }
        ENGINE_TRY_DO(decoder.endAnswer());
        timed.takePasses();
        return made;
    }

    Result<void> timeRows(app::PassClock& clock, Pair& pair) {
        const LayerPlan plan = LayerPlan::full(m_model.loaded.config.layerCount);
        for (const int rows : m_options.bench.rows) {
            ENGINE_TRY(const double one, clock.passMs(plan, 1));
            ENGINE_TRY(const double several, clock.passMs(plan, rows));
            pair.v[rows] = several / one;
        }
        return {};
    }

    /// Cost of rows that were not measured: between their neighbours, or beyond the last in line.
    static double costOf(const std::map<int, double>& v, int rows) {
        const auto above = v.lower_bound(rows);
        if (above == v.end())
            return v.rbegin()->second * rows / v.rbegin()->first;
        if (above->first == rows || above == v.begin())
            return above->second;
        const auto below = std::prev(above);
        const double part =
            static_cast<double>(rows - below->first) / (above->first - below->first);
        return below->second + part * (above->second - below->second);
    }

    std::map<int, double> medianCosts() const {
        std::map<int, double> medians = {{1, 1.0}};
        for (const int rows : m_options.bench.rows) {
            std::vector<double> found;
            for (const Pair& pair : m_pairs)
                found.push_back(pair.v.at(rows));
            medians[rows] = medianOf(found);
        }
        return medians;
    }

    template <typename Value> Json spread(Value value) const {
        std::vector<double> found;
        for (const Pair& pair : m_pairs)
            if (const double one = value(pair); std::isfinite(one))
                found.push_back(one);
        if (found.empty())
            return nullptr;
        const Spread all = spreadOf(found);
        return {{"median", all.median}, {"quartiles", {all.lower, all.upper}}};
    }

    void report(const app::Console& console) const {
        const std::map<int, double> v = medianCosts();
        const auto theory = [&](const Pair& pair) {
            double cost = 0.0;
            for (const Round& round : pair.drafted.rounds)
                cost += round.draftShares + costOf(v, round.verifiedRows);
            return pair.drafted.sum(&Round::tokens) / cost;
        };
        const auto speedup = [](const Pair& pair) {
            return pair.vanilla.msPerToken() / pair.drafted.msPerToken();
        };
        const auto outside = [](const Answer& answer, const Pair& pair) {
            return (answer.ms - answer.sum(&Round::passMs)) /
                   static_cast<double>(answer.rounds.size()) / pair.vanilla.msPerToken();
        };
        const auto perShare = [](double Round::*part) {
            return [part](const Pair& pair) {
                return pair.drafted.sum(part) / pair.drafted.sum(&Round::draftShares) /
                       pair.vanilla.msPerToken();
            };
        };
        int equal = 0;
        for (const Pair& pair : m_pairs)
            equal += pair.vanilla.tokens == pair.drafted.tokens ? 1 : 0;
        Json costs = Json::object();
        for (const auto& [rows, cost] : v)
            costs[std::to_string(rows)] = cost;
        const Transformer& transformer = *m_model.loaded.transformer;
        const Json done = {
            {"event", "done"},
            {"model", m_options.bench.model.isPlanted ? "planted " + m_model.name : m_model.name},
            {"precision", transformer.arithmeticName()},
            {"isa", transformer.instructionSet()},
            {"weight_bytes", transformer.weightBytes()},
            {"decoder", m_options.decoder},
            {"settings", m_options.bench.settings},
            {"pairs", m_pairs.size()},
            {"equal", equal},
            {"max_tokens", m_options.bench.maxTokens},
            {"v", costs},
            {"vanilla_ms", spread([](const Pair& pair) { return pair.vanilla.msPerToken(); })},
            {"tokens_per_round", spread([](const Pair& pair) {
                 return pair.drafted.sum(&Round::tokens) /
                        static_cast<double>(pair.drafted.rounds.size());
             })},
            {"speedup", spread(speedup)},
            {"theory", spread(theory)},
            {"speedup_over_theory",
             spread([&](const Pair& pair) { return speedup(pair) / theory(pair); })},
            {"draft_pass_over_bytes", spread(perShare(&Round::draftPassMs))},
            {"drafting_over_bytes", spread(perShare(&Round::draftMs))},
            {"outside_passes",
             spread([&](const Pair& pair) { return outside(pair.drafted, pair); })},
            {"vanilla_outside_passes",
             spread([&](const Pair& pair) { return outside(pair.vanilla, pair); })}};
        if (console.isJson())
            console.jsonLine(done);
        else
            console.text(done.dump(2) + "\n");
    }

    const Options& m_options;
    app::BenchModel m_model;
    std::unique_ptr<Decoder> m_vanilla;
    std::unique_ptr<Decoder> m_drafting;
    std::vector<Pair> m_pairs;
};

void addOptions(CLI::App& app, Options& options) {
    options.bench.rows = {2, 3, 4, 5, 6, 8};
    app::addModelOptions(app, options.bench.model);
    app::addContextOption(app, options.bench.model);
    app.add_option(
        "--shape", options.bench.shape, "1b, 3b, 7b or 13b: made-up weights, as in bench");
    app.add_option("--layers",
                   options.bench.layers,
                   "Number of layers of the --shape; 0 keeps the shape's own number");
    app.add_option("--decoder", options.decoder)->capture_default_str();
    app.add_option("--set", options.bench.settings, "NAME=VALUE for the decoder");
    app.add_option("--prompts", options.bench.data.paths, "Default: a few built-in ones");
    app.add_option("--pairs", options.bench.pairs)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--max-tokens", options.bench.maxTokens)->capture_default_str();
    app.add_option("--rows", options.bench.rows, "Whose cost is measured, ascending")
        ->delimiter(',');
    app.add_flag("--json", options.json);
}

} // namespace

} // namespace study

int main(int argc, char** argv) {
    CLI::App app("Where the time of drafting steps goes, and how near to theory they come.");
    study::Options options;
    study::addOptions(app, options);
    CLI11_PARSE(app, argc, argv);
    const app::Console console(options.json);
    const auto ran = study::Study(options).run(console);
    if (ran)
        return app::kSuccess;
    console.error(ran.error());
    return app::exitCodeOf(ran.error().code);
}
