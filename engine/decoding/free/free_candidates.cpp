// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/free_candidates.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace engine {

namespace {

using OtherSource = FreeStatistics::OtherSource;
using SuccessorKey = FreeStatistics::SuccessorKey;

constexpr int kOthers = 3; // values of OtherSource

// Look-ups by length: up to each of these, and what is accepted before anything is known.
constexpr std::array<int, 8> kLengths = {1, 2, 3, 4, 6, 9, 15, LookupDrafter::kLongest};
constexpr std::array<double, 8> kLengthPriors = {0.15, 0.3, 0.45, 0.55, 0.65, 0.75, 0.85, 0.9};
constexpr int kLookupRates = static_cast<int>(kLengths.size()) * kOthers;

// Successors by probability: from each of these on, and the middle of each band.
constexpr std::array<double, 7> kBands = {0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.0};
constexpr std::array<double, 7> kBandMiddles = {0.97, 0.8, 0.6, 0.4, 0.22, 0.1, 0.02};
constexpr int kRanks = 3; // first, second, further ones
constexpr int kBandCount = static_cast<int>(kBands.size());

// What was judged in a text: each place weighs so many times the next one, and so many places that
// were right as often as promised stand in front. Where rows are dear they bring the slowest
// twentieth of answers from .93 of plain decoding to .94 and from .985 to 1.01, with the same mean
// (tests/benchmarks/studies/free_draft_study --prices).
constexpr double kJudgedMemory = 0.97;
constexpr double kJudgedPrior = 16.0;

/// A probability whose odds are multiplied.
double withOdds(double probability, double odds) {
    const double weighed = probability * odds;
    return weighed / (1.0 - probability + weighed);
}

/// The part of a successor's old probability that is left in a new place.
double keyPrior(SuccessorKey key) {
    switch (key) {
    case SuccessorKey::Pair:
        return 0.75;
    case SuccessorKey::LoneToken:
        return 0.55;
    case SuccessorKey::TokenBesidePair:
        return 0.15;
    }
    return 0.0;
}

double withOther(double prior, OtherSource other) {
    switch (other) {
    case OtherSource::Silent:
        return prior;
    case OtherSource::Differs:
        return 0.6 * prior;
    // Both mostly remember the same place, so that they agree says little.
    case OtherSource::Agrees:
        return 1.0 - 0.75 * (1.0 - prior);
    }
    return prior;
}

bool isBetter(const FreeCandidate& a, const FreeCandidate& b) {
    return a.probability > b.probability;
}

/// The token so many places before the end; kNoToken when there is none.
TokenId tokenBefore(std::span<const TokenId> known, std::span<const TokenId> drafted, int back) {
    const auto place = static_cast<std::size_t>(back);
    if (place < drafted.size())
        return drafted[drafted.size() - 1 - place];
    const std::size_t further = place - drafted.size();
    return further < known.size() ? known[known.size() - 1 - further] : kNoToken;
}

} // namespace

FreeStatistics::FreeStatistics() {
    for (const double prior : kLengthPriors)
        for (int other = 0; other < kOthers; ++other)
            m_rates.emplace_back(withOther(prior, static_cast<OtherSource>(other)));
    for (const SuccessorKey key :
         {SuccessorKey::Pair, SuccessorKey::LoneToken, SuccessorKey::TokenBesidePair})
        for (int rank = 0; rank < kRanks; ++rank)
            for (const double middle : kBandMiddles)
                for (int other = 0; other < kOthers; ++other)
                    m_rates.emplace_back(
                        withOther(keyPrior(key) * middle, static_cast<OtherSource>(other)));
}

double FreeStatistics::probability(int rate) const {
    return withOdds(m_rates[static_cast<std::size_t>(rate)].value(), m_text.odds);
}

void FreeStatistics::judge(double probability, bool isHit) {
    Judged& text = m_text;
    text.places = kJudgedMemory * text.places + 1.0;
    text.promised = kJudgedMemory * text.promised + withOdds(probability, 1.0 / text.odds);
    text.hits = kJudgedMemory * text.hits + (isHit ? 1.0 : 0.0);
    text.odds = (text.hits + kJudgedPrior) / (text.promised + kJudgedPrior) *
                (text.places - text.promised + kJudgedPrior) /
                (text.places - text.hits + kJudgedPrior);
}

int FreeStatistics::lookupRate(int matchLength, OtherSource successors) {
    const auto bucket = std::lower_bound(kLengths.begin(), kLengths.end() - 1, matchLength);
    return static_cast<int>(bucket - kLengths.begin()) * kOthers + static_cast<int>(successors);
}

int FreeStatistics::successorRate(SuccessorKey key,
                                  int rank,
                                  double probability,
                                  OtherSource lookup) {
    const auto band = std::find_if(kBands.begin(), kBands.end() - 1, [probability](double from) {
        return probability >= from;
    });
    const int byRank = static_cast<int>(key) * kRanks + std::min(rank, kRanks - 1);
    const int byBand = byRank * kBandCount + static_cast<int>(band - kBands.begin());
    return kLookupRates + byBand * kOthers + static_cast<int>(lookup);
}

/// Draws share their noise with vanilla: at this place the token that vanilla takes is the argmax
/// of log p + noise, so the noise itself says which of the likely ones it will be.
Successors FreeCandidateFinder::drawn(const Successors& seen, Position outputPosition) const {
    if (sampling.temperature == 0.0)
        return seen;
    const auto count = static_cast<std::size_t>(seen.count);
    std::array<double, Successors::kMost> scores{};
    for (std::size_t rank = 0; rank < count; ++rank) {
        const double likely = std::max(static_cast<double>(seen.probabilities[rank]), 1e-12);
        scores[rank] = std::log(likely) / sampling.temperature +
                       counterGumbel(sampling.seed,
                                     static_cast<std::uint64_t>(outputPosition),
                                     seen.ids[rank]);
    }
    std::array<std::size_t, Successors::kMost> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    std::stable_sort(order.begin(), end, [&scores](std::size_t a, std::size_t b) {
        return scores[a] > scores[b];
    });
    double total = 0.0;
    for (std::size_t rank = 0; rank < count; ++rank)
        total += std::exp(scores[rank] - scores[order[0]]);
    Successors result;
    result.count = seen.count;
    for (std::size_t rank = 0; rank < count; ++rank) {
        result.ids[rank] = seen.ids[order[rank]];
        result.probabilities[rank] =
            static_cast<float>(std::exp(scores[order[rank]] - scores[order[0]]) / total);
    }
    return result;
}

void FreeCandidateFinder::addSuccessors(Found& found,
                                        const Successors& seen,
                                        SuccessorKey key) const {
    for (int rank = 0; rank < seen.count; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        const TokenId token = seen.ids[at];
        const OtherSource other = found.lookupToken == kNoToken ? OtherSource::Silent
                                  : found.lookupToken == token  ? OtherSource::Agrees
                                                                : OtherSource::Differs;
        const int rate = FreeStatistics::successorRate(
            key, rank, static_cast<double>(seen.probabilities[at]), other);
        const double probability = statistics.probability(rate);
        const auto known =
            std::find_if(found.candidates.begin(),
                         found.candidates.end(),
                         [token](const FreeCandidate& one) { return one.token == token; });
        if (known == found.candidates.end()) {
            found.candidates.push_back({token, probability, {-1, rate}});
        } else if (known->rates[1] < 0) { // the look-up's; a pair speaks before a token
            known->rates[1] = rate;
            known->probability = 0.5 * (known->probability + probability);
        }
    }
}

std::vector<FreeCandidate> FreeCandidateFinder::find(const FreePlace& place) const {
    const std::span<const TokenId> known = lookup.tokens();
    const TokenId token = tokenBefore(known, place.drafted, 0);
    const TokenId previous = tokenBefore(known, place.drafted, 1);
    Found found;
    if (token == kNoToken)
        return found.candidates;
    const Successors* pair = sources.usesSuccessors ? successors.ofPair(previous, token) : nullptr;
    const Successors* lone = sources.usesSuccessors ? successors.ofToken(token) : nullptr;
    const LookupMatch match = sources.usesLookup ? lookup.find(place.drafted) : LookupMatch();
    const Successors ofPair = pair ? drawn(*pair, place.outputPosition) : Successors();
    const Successors ofToken = lone ? drawn(*lone, place.outputPosition) : Successors();
    if (match.length > 0) {
        found.lookupToken = match.continuation.front();
        const Successors& best = pair ? ofPair : ofToken;
        const OtherSource other = best.count == 0                         ? OtherSource::Silent
                                  : best.ids.front() == found.lookupToken ? OtherSource::Agrees
                                                                          : OtherSource::Differs;
        const int rate = FreeStatistics::lookupRate(match.length, other);
        found.candidates.push_back({found.lookupToken, statistics.probability(rate), {rate, -1}});
    }
    addSuccessors(found, ofPair, SuccessorKey::Pair);
    addSuccessors(found, ofToken, pair ? SuccessorKey::TokenBesidePair : SuccessorKey::LoneToken);
    double total = 0.0;
    for (const FreeCandidate& candidate : found.candidates)
        total += candidate.probability;
    if (total > 1.0)
        for (FreeCandidate& candidate : found.candidates)
            candidate.probability /= total;
    std::stable_sort(found.candidates.begin(), found.candidates.end(), isBetter);
    return std::move(found.candidates);
}

} // namespace engine
