// SPDX-License-Identifier: Apache-2.0
// How many tokens a round free drafts give on the default model's own answers to the shared data,
// by nodes and source. The answers are made once and kept in a file; the rounds are simulated on
// them, so that other rules can be tried in seconds. They are made with free drafts of kMadeWith
// nodes, so what the model said behind rejected nodes is known for those. With --pool it is shown
// what a pool of n-grams would add as a further source.
// Run from the checkout's root: build/release/benchmarks/free_draft_study --help
#include "engine/decoding/free/free_drafter.h"
#include "tests/benchmarks/pool_source.h"
#include "tests/support/models/default_model.h"
#include "tests/support/value_of.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

using namespace engine;

namespace {

constexpr auto& kTasks = support::kDataTasks;

constexpr int kMadeWith = 7;

/// What the model said behind a drafted token that was rejected. A plain value.
struct RejectedRow {
    std::size_t place = 0; ///< tokens emitted before its round
    SeenRow row;
    /// The last tokens before the prediction, the prediction last: an n-gram and its key.
    std::array<TokenId, study::PoolSource::kLength + 1> ngram{};
};

/// One answer: rows[i] is what the model said before it emitted tokens[i].
struct Answer {
    std::size_t task = 0;
    std::vector<TokenId> prompt;
    std::vector<TokenId> tokens;
    std::vector<SeenRow> rows;
    std::vector<RejectedRow> rejected; ///< in the order of their rounds
};

struct Answers {
    int vocabSize = 0;
    double temperature = 0.0; ///< 0 = greedy
    double topP = 1.0;
    std::vector<Answer> all;
};

template <typename Value> void put(std::ofstream& file, const Value& value) {
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Value> Value get(std::ifstream& file) {
    Value value{};
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
}

template <typename Value> void putAll(std::ofstream& file, const std::vector<Value>& values) {
    put(file, values.size());
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(Value)));
}

template <typename Value> std::vector<Value> getAll(std::ifstream& file) {
    std::vector<Value> values(get<std::size_t>(file));
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(Value)));
    return values;
}

void write(const Answers& answers, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    put(file, answers.vocabSize);
    put(file, answers.temperature);
    put(file, answers.topP);
    put(file, answers.all.size());
    for (const Answer& answer : answers.all) {
        put(file, answer.task);
        putAll(file, answer.prompt);
        putAll(file, answer.tokens);
        putAll(file, answer.rows);
        putAll(file, answer.rejected);
    }
    ENGINE_CHECK(file.good(), "{} was not written", path);
}

Answers read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    Answers answers;
    answers.vocabSize = get<int>(file);
    answers.temperature = get<double>(file);
    answers.topP = get<double>(file);
    answers.all.resize(get<std::size_t>(file));
    for (Answer& answer : answers.all) {
        answer.task = get<std::size_t>(file);
        answer.prompt = getAll<TokenId>(file);
        answer.tokens = getAll<TokenId>(file);
        answer.rows = getAll<SeenRow>(file);
        answer.rejected = getAll<RejectedRow>(file);
    }
    ENGINE_CHECK(file.good(), "{} is cut short", path);
    return answers;
}

/// Sorts the rows of a round into those that decided a token and the others.
void take(const Target& target, const DecodeStep& step, Answer& answer) {
    const std::size_t place = answer.tokens.size();
    std::vector<TokenId> text = answer.prompt;
    text.insert(text.end(), answer.tokens.begin(), answer.tokens.end());
    std::vector<std::vector<TokenId>> texts = {text}; // [rows] up to the row's own token
    for (const DraftNode& node : step.draft.nodes()) {
        texts.push_back(texts[static_cast<std::size_t>(node.parent + 1)]);
        texts.back().push_back(node.token);
    }
    answer.rows.push_back(target.seenRow(0));
    for (int row = 1; row < static_cast<int>(texts.size()); ++row) {
        const auto at = std::find(step.path.begin(), step.path.end(), row - 1);
        const SeenRow seen = target.seenRow(row);
        if (at != step.path.end() &&
            at - step.path.begin() + 1 < static_cast<std::ptrdiff_t>(step.tokens.size())) {
            answer.rows.push_back(seen);
            continue;
        }
        std::vector<TokenId>& before = texts[static_cast<std::size_t>(row)];
        before.push_back(seen.summary.best());
        RejectedRow rejected{place, seen, {}};
        std::copy_n(before.rbegin(),
                    std::min(before.size(), rejected.ngram.size()),
                    rejected.ngram.rbegin());
        answer.rejected.push_back(rejected);
    }
    answer.tokens.insert(answer.tokens.end(), step.tokens.begin(), step.tokens.end());
}

/// How the answer of that index is drawn: each has a seed of its own.
SamplingOptions samplingOf(const Answers& answers, std::size_t index) {
    SamplingOptions sampling;
    sampling.temperature = answers.temperature;
    sampling.topP = answers.topP;
    sampling.seed = index + 1;
    return sampling;
}

/// Answers to one prompt of each task in turn, drawn as `answers` says.
Answers make(Answers answers, int prompts, int maxTokens, const std::string& backend) {
    const support::DefaultModel model = support::DefaultModel::load(false, backend);
    const auto ends = model.endIds();
    answers.vocabSize = model.config.vocabSize;
    FreeDrafter drafter(model.config.vocabSize);
    std::vector<std::vector<std::string>> texts;
    for (const char* task : kTasks)
        texts.push_back(support::dataPrompts(task, prompts));
    Target target = Target::make(*model.transformer, {}, 4096, kMadeWith).value();
    for (std::size_t index = 0; index < static_cast<std::size_t>(prompts); ++index)
        for (std::size_t task = 0; task < kTasks.size(); ++task) {
            if (index >= texts[task].size())
                continue;
            Answer answer{task, model.prompt(texts[task][index]), {}, {}, {}};
            const SamplingOptions sampling = samplingOf(answers, answers.all.size());
            ENGINE_CHECK(target.changeSampling(sampling).hasValue(), "sampling");
            if (!target.begin({answer.prompt, maxTokens, ends}, {}))
                continue; // too long
            drafter.begin({.tokens = answer.prompt}, sampling);
            while (target.remainingTokens() > 0) {
                auto draft = support::valueOf(drafter.draft(target, {.maxNodes = kMadeWith}));
                const auto step = support::valueOf(target.verify(std::move(draft)));
                take(target, step, answer);
                drafter.observe(target, step);
                if (std::find(ends.begin(), ends.end(), answer.tokens.back()) != ends.end())
                    break;
            }
            fmt::print(stderr, "{} {}: {} tokens\n", kTasks[task], index, answer.tokens.size());
            answers.all.push_back(std::move(answer));
        }
    return answers;
}

struct Sums {
    double tokens = 0;
    double rounds = 0;
    double expected = 0;
    double nodes = 0;
    double cost = 0; ///< plain steps
};

/// Nodes that are accepted, when the answer goes on with `coming`.
std::size_t accepted(const DraftTree& tree, std::span<const TokenId> coming) {
    int at = -1;
    for (std::size_t depth = 0;; ++depth) {
        int next = -1;
        for (const int child : tree.children(at))
            if (depth < coming.size() && tree.node(child).token == coming[depth])
                next = child;
        if (next < 0)
            return depth;
        at = next;
    }
}

/// What fills the pool.
enum class PoolFilling { None, Text, TextAndRows };

struct Simulated {
    FreeDraftOptions options;
    PoolFilling filling = PoolFilling::None;
    /// What two rows cost beyond one, in plain steps, and each further one; with it, a draft is cut
    /// as the decoder `auto` cuts it.
    std::optional<std::pair<double, double>> prices = std::nullopt;
    bool isCold = false; ///< each answer is drafted for by a drafter that has seen nothing
};

class Simulation {
public:
    Simulation(const Answers& answers, const Simulated& simulated)
        : m_simulated(simulated) {
        for (std::size_t index = 0; index < answers.all.size(); ++index) {
            if (index == 0 || simulated.isCold)
                m_drafter = std::make_unique<FreeDrafter>(answers.vocabSize);
            run(answers.all[index], samplingOf(answers, index));
        }
    }

    std::array<Sums, kTasks.size()> sums{};
    std::vector<double> speeds; ///< of each answer, plain steps in the time of one

private:
    void run(const Answer& answer, const SamplingOptions& sampling) {
        m_drafter->begin({.tokens = answer.prompt}, sampling);
        if (hasPool())
            m_pool.addText(answer.prompt);
        m_text = answer.prompt;
        m_rejected = 0;
        Sums& sum = sums[answer.task];
        double answerCost = 0.0;
        for (std::size_t made = 0; made < answer.tokens.size();) {
            const auto coming = std::span(answer.tokens).subspan(made);
            m_simulated.options.maxDepth = static_cast<int>(coming.size()) - 1;
            const Draft draft = proposed();
            const DraftTree tree = hasPool() ? m_pool.widen(draft.tree,
                                                            m_text.back(),
                                                            m_simulated.options.maxNodes,
                                                            m_simulated.options.maxDepth)
                                             : draft.tree;
            const std::size_t count = accepted(tree, coming) + 1;
            learn(answer, made, count);
            made += count;
            sum.tokens += static_cast<double>(count);
            sum.rounds += 1;
            sum.expected += draft.expectedTokens();
            sum.nodes += tree.size();
            sum.cost += costOf(tree.size());
            answerCost += costOf(tree.size());
        }
        speeds.push_back(static_cast<double>(answer.tokens.size()) / answerCost);
    }

    double costOf(int nodes) const {
        if (nodes == 0 || !m_simulated.prices)
            return 1.0;
        return 1.0 + m_simulated.prices->first + m_simulated.prices->second * (nodes - 1);
    }

    /// The draft as it is, or with prices the first nodes of it that give the most tokens for their
    /// time.
    Draft proposed() {
        Draft all = m_drafter->propose(m_simulated.options);
        if (!m_simulated.prices)
            return all;
        int best = 0;
        double bestRate = 1.0;
        double tokens = 1.0;
        for (int nodes = 1; nodes <= all.tree.size(); ++nodes) {
            tokens += all.gains[static_cast<std::size_t>(nodes - 1)];
            if (tokens / costOf(nodes) > bestRate) {
                best = nodes;
                bestRate = tokens / costOf(nodes);
            }
        }
        FreeDraftOptions cut = m_simulated.options;
        cut.maxNodes = best;
        return best == 0 ? Draft{} : m_drafter->propose(cut);
    }

    void learn(const Answer& answer, std::size_t made, std::size_t count) {
        const auto emitted = std::span(answer.tokens).subspan(made, count);
        const auto decided = std::span(answer.rows).subspan(made, count);
        std::vector<SeenRow> rows(decided.begin(), decided.end());
        if (hasPool())
            m_pool.learn(std::span(answer.tokens).subspan(made));
        for (; m_rejected < answer.rejected.size() &&
               answer.rejected[m_rejected].place < made + count;
             ++m_rejected) {
            rows.push_back(answer.rejected[m_rejected].row);
            if (m_simulated.filling == PoolFilling::TextAndRows)
                m_pool.addText(answer.rejected[m_rejected].ngram);
        }
        m_drafter->observe(emitted, rows);
        m_text.insert(m_text.end(), emitted.begin(), emitted.end());
        if (!hasPool())
            return;
        const std::size_t fresh = count + study::PoolSource::kLength;
        m_pool.addText(std::span(m_text).last(std::min(fresh, m_text.size())));
    }

    bool hasPool() const { return m_simulated.filling != PoolFilling::None; }

    Simulated m_simulated;
    std::unique_ptr<FreeDrafter> m_drafter;
    study::PoolSource m_pool;
    std::vector<TokenId> m_text;
    std::size_t m_rejected = 0; // rows that were told
};

double tokensPerRound(const std::array<Sums, kTasks.size()>& sums) {
    Sums all;
    for (const Sums& sum : sums) {
        all.tokens += sum.tokens;
        all.rounds += sum.rounds;
    }
    return all.tokens / all.rounds;
}

void reportPool(const Answers& answers) {
    for (const int nodes : {1, 2, 3, 4, 7, 15}) {
        const auto rate = [&](PoolFilling filling) {
            return tokensPerRound(Simulation(answers, {{nodes, 0, 0.0, {}}, filling}).sums);
        };
        const double none = rate(PoolFilling::None);
        const double text = rate(PoolFilling::Text);
        const double rows = rate(PoolFilling::TextAndRows);
        fmt::print("{:2} nodes: no pool {:.4f}; of the text {:.4f} ({:+.2f} %); of the text and of "
                   "rejected rows {:.4f} ({:+.2f} %)\n",
                   nodes,
                   none,
                   text,
                   100.0 * (text / none - 1.0),
                   rows,
                   100.0 * (rows / none - 1.0));
    }
}

void report(const Answers& answers, double leastGain) {
    const std::array<std::pair<const char*, FreeSources>, 3> sources = {
        {{"look-up", {true, false}}, {"successors", {false, true}}, {"both", {true, true}}}};
    for (const auto& [name, asked] : sources)
        for (const int nodes : {1, 2, 3, 4, 7, 15}) {
            const auto sums = Simulation(answers, {{nodes, 0, leastGain, asked}}).sums;
            double mean = 0.0;
            Sums all;
            std::string line;
            for (const Sums& sum : sums) {
                mean += sum.rounds > 0 ? sum.tokens / sum.rounds / kTasks.size() : 0.0;
                line += fmt::format(" {:.2f}", sum.rounds > 0 ? sum.tokens / sum.rounds : 0.0);
                all.tokens += sum.tokens;
                all.rounds += sum.rounds;
                all.expected += sum.expected;
                all.nodes += sum.nodes;
            }
            fmt::print(
                "{:10} {:2} nodes: mean {:.3f} (all {:.3f}, expected {:.3f}, {:.1f} nodes):{}\n",
                name,
                nodes,
                mean,
                all.tokens / all.rounds,
                all.expected / all.rounds,
                all.nodes / all.rounds,
                line);
        }
}

/// Speed over plain steps where rows have these prices, as drafts are cut in the decoder `auto`.
void reportPrices(const Answers& answers, double second, double further) {
    for (const bool isCold : {true, false}) {
        Simulation simulation(
            answers, {{15, 0, 0.0, {}}, PoolFilling::None, std::pair(second, further), isCold});
        std::string line;
        double mean = 0.0;
        double promised = 0.0;
        double given = 0.0;
        for (const Sums& sum : simulation.sums) {
            mean += sum.rounds > 0 ? sum.tokens / sum.cost / kTasks.size() : 0.0;
            line += fmt::format(" {:.2f}", sum.rounds > 0 ? sum.tokens / sum.cost : 0.0);
            promised += sum.expected - sum.rounds;
            given += sum.tokens - sum.rounds;
        }
        std::vector<double>& speeds = simulation.speeds;
        std::sort(speeds.begin(), speeds.end());
        fmt::print(
            "{}: mean {:.3f}, twentieth {:.3f}, least {:.3f}; of {:.0f} promised tokens {:.0f} "
            "came:{}\n",
            isCold ? "cold" : "warm",
            mean,
            speeds[speeds.size() / 20],
            speeds.front(),
            promised,
            given,
            line);
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App program("Tokens a round of free drafts, simulated on real answers.");
    std::string path = "free_draft_answers.bin";
    int prompts = 6;
    int maxTokens = 128;
    double leastGain = 0.0;
    double temperature = 0.0;
    double topP = 1.0;
    bool hasPool = false;
    std::vector<double> prices;
    std::string backend = "cpu";
    program.add_option("--answers", path, "where the answers are kept; made when it is not there");
    program.add_option("--prompts", prompts, "of each file");
    program.add_option("--max-tokens", maxTokens);
    program.add_option("--temperature", temperature, "of the answers; 0 = greedy");
    program.add_option("--top-p", topP, "of the answers");
    program.add_option("--backend", backend, "that makes the answers");
    program.add_flag("--pool", hasPool, "what a pool of n-grams would add");
    program.add_option("--least-gain", leastGain, "FreeDraftOptions::leastGain");
    program
        .add_option("--prices",
                    prices,
                    "what two rows cost beyond one, in plain steps, and each further one")
        ->expected(2);
    CLI11_PARSE(program, argc, argv);
    if (!std::filesystem::exists(path))
        write(make({0, temperature, topP, {}}, prompts, maxTokens, backend), path);
    const Answers answers = read(path);
    if (hasPool)
        reportPool(answers);
    else if (!prices.empty())
        reportPrices(answers, prices[0], prices[1]);
    else
        report(answers, leastGain);
    return 0;
}
