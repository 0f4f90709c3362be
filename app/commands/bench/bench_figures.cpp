// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/bench_figures.h"

#include <algorithm>
#include <functional>

namespace app {

using namespace engine;

namespace {

/// The spread of `value` over all samples; nothing if there are none.
template <typename Samples, typename Value>
std::optional<Spread> spreadOfEach(const Samples& samples, Value value) {
    std::vector<double> values;
    for (const auto& sample : samples)
        if (const std::optional<double> one = value(sample))
            values.push_back(*one);
    if (values.empty())
        return std::nullopt;
    return spreadOf(values);
}

using DecodeOf = std::function<const DecodeSample*(const DecodePair&)>;

const DecodeSample* vanillaOf(const DecodePair& pair) { return &pair.vanilla; }

const DecodeSample* draftedOf(const DecodePair& pair) {
    return pair.drafted ? &*pair.drafted : nullptr;
}

void compareTokens(const DecodeSample& own, const DecodeSample& other, DecodeRatio& ratio) {
    ++ratio.pairs;
    ratio.equal += own.tokens == other.tokens ? 1 : 0;
    if (const auto at = firstDifference(own, other)) {
        const int index = static_cast<int>(*at);
        ratio.firstDifference = std::min(ratio.firstDifference.value_or(index), index);
    }
}

/// `own` over `other`: the ratio of their tokens per second.
std::optional<DecodeRatio>
decodeRatio(const std::vector<DecodePair>& pairs, const DecodeOf& own, const DecodeOf& other) {
    std::map<std::string, SampleGroup> times; // milliseconds per token
    DecodeRatio ratio;
    for (const DecodePair& pair : pairs) {
        const DecodeSample* mine = own(pair);
        const DecodeSample* theirs = other(pair);
        if (mine == nullptr || theirs == nullptr)
            continue;
        times[pair.task].denominators.push_back(mine->msPerToken());
        times[pair.task].numerators.push_back(theirs->msPerToken());
        compareTokens(*mine, *theirs, ratio);
    }
    if (times.empty())
        return std::nullopt;
    std::vector<SampleGroup> groups;
    for (const auto& [task, both] : times) {
        ratio.tasks[task] = ratioOfSums(both.numerators, both.denominators);
        ratio.medians[task] = medianOf(ratiosOf(both.numerators, both.denominators));
        groups.push_back(both);
    }
    ratio.all = meanRatioOfSums(groups);
    return ratio;
}

std::optional<Spread> rateOf(const std::vector<DecodePair>& pairs, const DecodeOf& who) {
    return spreadOfEach(pairs, [&](const DecodePair& pair) -> std::optional<double> {
        const DecodeSample* sample = who(pair);
        return sample != nullptr ? std::optional(sample->tokensPerSecond()) : std::nullopt;
    });
}

/// The share of the memory bandwidth that a step of this many milliseconds uses.
double shareOf(const BenchFacts& facts, double stepMs, double roofGbps) {
    return facts.bytesPerStep / (stepMs * 1e-3 * roofGbps * 1e9);
}

double costOf(const PassPair& pair) { return pair.own.ms / pair.oneRow.ms; }

void addPasses(const BenchResults& results, BenchFigures& figures) {
    std::vector<TimedSample> oneRow;
    for (const auto& [rows, pairs] : results.byRows) {
        figures.costOfRows[rows] =
            *spreadOfEach(pairs, [](const PassPair& pair) { return std::optional(costOf(pair)); });
        for (const PassPair& pair : pairs)
            oneRow.push_back(pair.oneRow);
    }
    for (const SkipSetSamples& set : results.skipSets)
        figures.costOfSkipSets.push_back(spreadOfEach(set.pairs, [](const PassPair& pair) {
                                             return std::optional(costOf(pair));
                                         }).value_or(spreadOf({})));
    figures.oneRowMs =
        spreadOfEach(oneRow, [](const TimedSample& sample) { return std::optional(sample.ms); });
    figures.oneRowShare = spreadOfEach(oneRow, [&](const TimedSample& sample) {
        return std::optional(shareOf(results.facts, sample.ms, sample.roofGbps));
    });
}

void addPrefill(const BenchResults& results, BenchFigures& figures) {
    const double tokens = results.facts.prefillTokens;
    figures.prefillRate = spreadOfEach(results.prefill, [&](const TimedSample& sample) {
        return std::optional(tokens / sample.ms * 1e3);
    });
}

void addRival(const BenchResults& results, std::size_t rival, BenchFigures& figures) {
    const DecodeOf rivalOf = [rival](const DecodePair& pair) {
        return pair.rivals[rival] ? &*pair.rivals[rival] : nullptr;
    };
    RivalFigures& made = figures.rivals[rival];
    made.rate = rateOf(results.decode, rivalOf);
    made.vanilla = decodeRatio(results.decode, vanillaOf, rivalOf);
    made.drafted = decodeRatio(results.decode, draftedOf, rivalOf);
    const std::vector<TimedSample>& prefill = results.rivalPrefill[rival];
    if (prefill.empty())
        return;
    std::vector<double> own;
    std::vector<double> others;
    for (std::size_t i = 0; i < prefill.size(); ++i) {
        own.push_back(results.prefill[i].ms);
        others.push_back(prefill[i].ms);
    }
    made.prefill = medianRatio(others, own);
}

} // namespace

BenchFigures figuresOf(const BenchResults& results) {
    BenchFigures figures;
    figures.roofGbps = spreadOf(results.roofGbps);
    addPasses(results, figures);
    addPrefill(results, figures);
    figures.vanillaRate = rateOf(results.decode, vanillaOf);
    figures.draftedRate = rateOf(results.decode, draftedOf);
    figures.vanillaShare = spreadOfEach(results.decode, [&](const DecodePair& pair) {
        return std::optional(
            shareOf(results.facts, pair.vanilla.msPerToken(), pair.vanilla.time.roofGbps));
    });
    figures.draftedOverVanilla = decodeRatio(results.decode, draftedOf, vanillaOf);
    for (std::size_t rival = 0; rival < kRivals.size(); ++rival)
        addRival(results, rival, figures);
    return figures;
}

} // namespace app
