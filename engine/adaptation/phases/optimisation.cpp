// SPDX-License-Identifier: Apache-2.0
#include "engine/adaptation/phases/optimisation.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// Candidates tried at one ratio before growing gives up on it.
constexpr int kTrialsPerRatio = 8;

/// Trials at a lowered ratio before they grow rare again.
constexpr int kQuickTrialsWhenLowered = 15;

} // namespace

void Optimisation::begin(bool grows) {
    m_isGrowing = grows;
    m_trials = m_idle = m_ratioTrials = m_pace = 0;
}

void Optimisation::aim(double ratio,
                       const SkipChoices& choices,
                       const std::vector<double>& influence,
                       const SearchSettings& settings) {
    m_ratio = ratio;
    m_ratioTrials = 0;
    if (choices.space().dims() == 0)
        return;
    LayerSearchOptions options{.space = choices.space(),
                               .budget = choices.budget(ratio),
                               .seed = settings.seed + static_cast<std::uint64_t>(m_searches++),
                               .weights = {}};
    if (settings.followsInfluence)
        options.weights = choices.weights(influence);
    BayesianOptions bayesian;
    bayesian.maximiser = settings.maximiser;
    bayesian.registerContinuousPoint = settings.isAsPublished;
    bayesian.tieBreak = settings.isAsPublished ? TieBreak::Lexicographic : TieBreak::Seeded;
    m_random = makeRandomSearch(options);
    m_bayesian = makeBayesianSearch(options, bayesian);
}

void Optimisation::endGrowth() {
    m_isGrowing = false;
    m_idle = 0;
}

bool Optimisation::isRatioTried() const { return m_ratioTrials >= kTrialsPerRatio; }

Result<Trial> Optimisation::propose(const SearchSettings& settings, std::stop_token stop) const {
    const bool isBayesian = settings.usesBayesian && (m_trials + 1) % settings.bayesianEvery == 0;
    return (isBayesian ? m_bayesian : m_random)->nextTrial(std::move(stop));
}

void Optimisation::record(const Trial& trial, double score) {
    if (!m_random || !m_bayesian)
        return;
    m_random->record(trial, score);
    m_bayesian->record(trial, score);
}

void Optimisation::count(bool isBetter) {
    ++m_trials;
    ++m_ratioTrials;
    ++m_pace;
    m_idle = isBetter ? 0 : m_idle + 1;
}

/// The published code exceeds patience and S by one before it stops.
std::string Optimisation::end(double best, const SearchSettings& settings) const {
    const int slack = settings.isAsPublished ? 1 : 0;
    if (m_isGrowing)
        return {};
    if (best > settings.stopScore)
        return fmt::format(
            "The search is over: matchness {:.3f} is above {:.2f}.", best, settings.stopScore);
    if (m_idle >= settings.patience + slack)
        return fmt::format("The search is over: {} trials in a row found nothing better.", m_idle);
    if (m_trials >= settings.maxTrials + slack)
        return fmt::format("The search is over: all {} trials are done.", m_trials);
    return {};
}

double Optimisation::rowsPerTrial(const SearchSettings& settings) const {
    if (settings.trialsToDouble == 0)
        return settings.rowsPerTrial;
    const int further = std::max(0, m_pace - settings.quickTrials);
    return settings.rowsPerTrial *
           std::exp2(static_cast<double>(further) / settings.trialsToDouble);
}

void Optimisation::beginAgain(const SearchSettings& settings) {
    m_trials = m_idle = 0;
    m_pace = std::min(m_pace, settings.quickTrials - kQuickTrialsWhenLowered);
}

} // namespace engine
