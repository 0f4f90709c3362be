// SPDX-License-Identifier: Apache-2.0
// How many tokens a round free drafts give on the default model's own answers to the shared data,
// by nodes and source. The answers are made once and kept in a file; the rounds are simulated on
// them, so that other rules can be tried in seconds. What a pass would have said behind rejected
// nodes is not known here: the real decoder knows a little more.
// Run from the checkout's root: build/release/benchmarks/free_draft_study --help
#include "engine/decoding/free_drafter.h"
#include "tests/support/default_model.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>

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

/// One answer: rows[i] is what the model said before it emitted tokens[i].
struct Answer {
    std::size_t task = 0;
    std::vector<TokenId> prompt;
    std::vector<TokenId> tokens;
    std::vector<SeenRow> rows;
};

struct Answers {
    int vocabSize = 0;
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
    put(file, answers.all.size());
    for (const Answer& answer : answers.all) {
        put(file, answer.task);
        putAll(file, answer.prompt);
        putAll(file, answer.tokens);
        putAll(file, answer.rows);
    }
    ENGINE_CHECK(file.good(), "{} was not written", path);
}

Answers read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    Answers answers;
    answers.vocabSize = get<int>(file);
    answers.all.resize(get<std::size_t>(file));
    for (Answer& answer : answers.all) {
        answer.task = get<std::size_t>(file);
        answer.prompt = getAll<TokenId>(file);
        answer.tokens = getAll<TokenId>(file);
        answer.rows = getAll<SeenRow>(file);
    }
    ENGINE_CHECK(file.good(), "{} is cut short", path);
    return answers;
}

/// Greedy answers, one prompt of each task in turn.
Answers make(int prompts, int maxTokens) {
    const support::DefaultModel model = support::DefaultModel::load(false);
    const auto ends = model.endIds();
    Answers answers{model.config.vocabSize, {}};
    std::vector<std::vector<std::string>> texts;
    for (const char* task : kTasks)
        texts.push_back(support::dataPrompts(task, prompts));
    Target target = std::move(Target::make(*model.transformer, {}, 4096, 0)).value();
    for (std::size_t index = 0; index < static_cast<std::size_t>(prompts); ++index)
        for (std::size_t task = 0; task < kTasks.size(); ++task) {
            if (index >= texts[task].size())
                continue;
            Answer answer{task, model.prompt(texts[task][index]), {}, {}};
            if (!target.begin({answer.prompt, maxTokens, ends}, {}))
                continue; // too long
            while (target.remainingTokens() > 0) {
                const auto step = target.plainStep();
                ENGINE_CHECK(step.hasValue(), "{}", step.error().message);
                answer.tokens.push_back(step.value().tokens.front());
                answer.rows.push_back(target.seenRow(0));
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

std::array<Sums, kTasks.size()> simulate(const Answers& answers, FreeDraftOptions options) {
    std::array<Sums, kTasks.size()> sums{};
    FreeDrafter drafter(answers.vocabSize);
    for (const Answer& answer : answers.all) {
        drafter.begin(answer.prompt, {});
        Sums& sum = sums[answer.task];
        std::size_t made = 0;
        while (made < answer.tokens.size()) {
            const auto coming = std::span(answer.tokens).subspan(made);
            options.maxDepth = static_cast<int>(coming.size()) - 1;
            const FreeDraft draft = drafter.draft(options);
            const std::size_t count = accepted(draft.tree, coming) + 1;
            drafter.observe(coming.first(count), std::span(answer.rows).subspan(made, count));
            made += count;
            sum.tokens += static_cast<double>(count);
            sum.rounds += 1;
            sum.expected += draft.expectedTokens;
            sum.nodes += draft.tree.size();
        }
    }
    return sums;
}

void report(const Answers& answers, double leastGain) {
    const std::array<std::pair<const char*, FreeSources>, 3> sources = {
        {{"look-up", {true, false}}, {"successors", {false, true}}, {"both", {true, true}}}};
    for (const auto& [name, asked] : sources)
        for (const int nodes : {1, 2, 3, 4, 7, 15}) {
            const auto sums = simulate(answers, {nodes, 0, leastGain, asked});
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

} // namespace

int main(int argc, char** argv) {
    CLI::App program("Tokens a round of free drafts, simulated on real answers.");
    std::string path = "free_draft_answers.bin";
    int prompts = 6;
    int maxTokens = 128;
    double leastGain = 0.0;
    program.add_option("--answers", path, "where the answers are kept; made when it is not there");
    program.add_option("--prompts", prompts, "of each file");
    program.add_option("--max-tokens", maxTokens);
    program.add_option("--least-gain", leastGain, "FreeDraftOptions::leastGain");
    CLI11_PARSE(program, argc, argv);
    if (!std::filesystem::exists(path))
        write(make(prompts, maxTokens), path);
    report(read(path), leastGain);
    return 0;
}
