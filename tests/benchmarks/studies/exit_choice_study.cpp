// SPDX-License-Identifier: Apache-2.0
// How often the choices of an early exit, by rank, are the token that the default model takes: what
// a tree would add to the chains that are drafted by early exit. Counted at places of the model's
// own greedy answers, where an exit that resumes says just what it would say while drafting.
// Run from the checkout's root: build/release/benchmarks/exit_choice_study --help
#include "engine/decoding/target.h"
#include "tests/support/models/default_model.h"
#include "tests/support/value_of.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <array>
#include <numeric>

using namespace engine;

namespace {

constexpr int kRanks = 3;

/// By whether the exit's first choice had at least so much probability.
constexpr std::array<double, 3> kConfidences = {0.0, 0.5, 0.9};

struct Counts {
    std::array<long, kRanks> hits = {};
    long places = 0;
};

/// [confidences] of one exit; a place counts for the highest that its first choice reaches.
using ExitCounts = std::array<Counts, kConfidences.size()>;

void add(ExitCounts& counts, const HeadSummary& exit, TokenId token) {
    std::size_t band = 0;
    while (band + 1 < kConfidences.size() && exit.probability(0) >= kConfidences[band + 1])
        ++band;
    Counts& at = counts[band];
    ++at.places;
    const int rank = exit.rankOf(token);
    if (rank >= 0 && rank < kRanks)
        ++at.hits[static_cast<std::size_t>(rank)];
}

/// What the head makes of the stream behind each exit, [exits]: one row each.
std::vector<HeadSummary> summariesOf(Target& target, std::span<const HiddenPiece> hidden) {
    const int layers = target.transformer().config().layerCount;
    const int exits = static_cast<int>(hidden.size());
    std::vector<int> rows(hidden.size());
    std::iota(rows.begin(), rows.end(), 0);
    return support::valueOf(target.transformer().forward(
                                {.plan = LayerPlan::full(layers),
                                 .layout = AttentionLayout::chain(target.length(), exits),
                                 .hidden = hidden,
                                 .firstLayer = layers,
                                 .endLayer = layers,
                                 .summaryRows = rows},
                                target.cache()))
        .summaries;
}

std::vector<ExitCounts> count(const std::vector<int>& exitLayers, int prompts, int maxTokens) {
    const support::DefaultModel model = support::DefaultModel::load(false, "cpu");
    const auto ends = model.endIds();
    const int exits = static_cast<int>(exitLayers.size());
    std::vector<HiddenRows> streams(exitLayers.size());
    std::vector<HandOut> handOuts;
    for (HiddenRows& stream : streams)
        handOuts.push_back({exitLayers[handOuts.size()] - 1, &stream});
    std::vector<ExitCounts> counts(exitLayers.size());
    Target target = Target::make(*model.transformer, {}, 4096, exits).value();
    for (const char* task : {"code",
                             "instruction_following",
                             "math_reasoning",
                             "multi_turn_chat",
                             "question_answering",
                             "story",
                             "translation"})
        for (const std::string& text : support::dataPrompts(task, prompts)) {
            const auto prompt = model.prompt(text);
            if (!target.begin({prompt, maxTokens, ends}, {}))
                continue; // too long
            while (target.remainingTokens() > 0) {
                for (HiddenRows& stream : streams)
                    stream.clear();
                const TokenId token =
                    support::valueOf(target.verify(Draft(), {.handOuts = handOuts})).tokens.front();
                const std::vector<HiddenPiece> pieces(streams.begin(), streams.end());
                const auto said = summariesOf(target, pieces);
                for (std::size_t exit = 0; exit < said.size(); ++exit)
                    add(counts[exit], said[exit], token);
                if (std::find(ends.begin(), ends.end(), token) != ends.end())
                    break;
            }
        }
    return counts;
}

void print(const std::vector<int>& exitLayers, const std::vector<ExitCounts>& counts) {
    for (std::size_t exit = 0; exit < counts.size(); ++exit)
        for (std::size_t band = 0; band < kConfidences.size(); ++band) {
            const Counts& at = counts[exit][band];
            const double places = static_cast<double>(std::max(at.places, 1L));
            fmt::print("exit behind {:2} layers, first choice at least {:.1f}: {:5} places;",
                       exitLayers[exit],
                       kConfidences[band],
                       at.places);
            for (const long hits : at.hits)
                fmt::print(" {:.3f}", static_cast<double>(hits) / places);
            fmt::print(" by rank\n");
        }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App program("Which of an exit's choices the default model takes.");
    std::vector<int> exitLayers = {8, 15, 20, 25, 28};
    int prompts = 2;
    int maxTokens = 48;
    program.add_option("--exits", exitLayers, "layers of each");
    program.add_option("--prompts", prompts, "of each file");
    program.add_option("--max-tokens", maxTokens);
    CLI11_PARSE(program, argc, argv);
    print(exitLayers, count(exitLayers, prompts, maxTokens));
    return 0;
}
