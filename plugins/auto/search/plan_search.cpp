// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/search/plan_search.h"

#include "engine/model/weight_share.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace automatic {

using namespace engine;

namespace {

/// How much agreement a set of least influence loses at best, by its harm and the square of its
/// harm. Measured with the default model: harms of .16, .34, .64, .95 and 1.10 lost .16, .22, .37,
/// .65 and .83; a search finds somewhat better sets.
constexpr double kLossByHarm = 0.35;
constexpr double kLossBySquare = 0.25;

/// A plan is never expected to lose less: a window of few tokens cannot show less.
constexpr double kLeastLoss = 0.02;

/// Which part of a larger loss a search may hope to win back, and how many trials halve that hope.
constexpr double kHope = 0.5;
constexpr double kTrialsToHalve = 6.0;

/// Weight of the newest score in the estimate.
constexpr double kNewEvidence = 0.5;

/// The estimate of the loss is never lowered below this part of what was expected.
constexpr double kLeastEvidence = 0.25;

/// At least so many plain steps pass before half of a search's hope comes back.
constexpr double kRest = 4096.0;

/// A better set is looked for only if it promises to be this much faster.
constexpr double kWorthLooking = 1.02;

constexpr std::uint64_t kSeed = 1;

constexpr double kRoundingSlack = 1e-9;

double fearedLoss(double harm) { return (kLossByHarm + kLossBySquare * harm) * harm + kLeastLoss; }

/// The rate where that pays; elsewhere by how much acceptance falls short, which is below that.
double meritOf(const DraftPass& pass, const SearchTerms& terms) {
    const double rate = bestChain(pass, terms.costs, terms.maxNodes).rate();
    if (rate > terms.leastRate)
        return rate;
    return pass.acceptance -
           neededAcceptance({terms.leastRate, pass.cost}, terms.costs, terms.maxNodes);
}

} // namespace

PlanSearch::PlanSearch(const ModelConfig& config)
    : m_config(config)
    , m_choices(config, BudgetUnit::Bytes) {}

/// The root of the sum of squared influences: as if what sublayers add were independent.
double PlanSearch::harmOf(const LayerPlan& plan, const std::vector<double>& influence) const {
    const auto layers = static_cast<std::size_t>(m_config.layerCount);
    double sum = 0.0;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const bool isLeftOut = static_cast<int>(layer) > plan.exitAfterLayer;
        if (isLeftOut || !plan.runsAttention(static_cast<int>(layer)))
            sum += influence[layer] * influence[layer];
        if (isLeftOut || !plan.runsMlp(static_cast<int>(layer)))
            sum += influence[layers + layer] * influence[layers + layer];
    }
    return std::sqrt(sum);
}

double PlanSearch::believedAcceptance(double harm) const {
    const double hope = kHope * std::exp2(-m_idle / kTrialsToHalve);
    const double scale = m_evidence > 1.0 ? 1.0 + (m_evidence - 1.0) * (1.0 - hope) : m_evidence;
    return std::clamp(1.0 - fearedLoss(harm) * scale, 0.0, 1.0);
}

void PlanSearch::judge(const SearchTerms& terms) {
    m_influence = terms.influence;
    m_elapsed = terms.elapsed;
    m_horizon = std::max(kHorizon, m_elapsed);
    if (m_idle > 0.0 && m_elapsed >= m_restartAt) {
        m_idle /= 2.0;
        m_isTried.reset();
        m_isFollowed.reset();
        m_restartAt = 2.0 * m_elapsed + kRest;
    }
    m_believed = {};
    m_ratio = -1;
    m_possibleSkip = 0.0;
    double bestMerit = 0.0;
    for (int index = 0; index < kRatios && m_choices.space().dims() > 0; ++index) {
        const LayerPlan plan = m_choices.leastInfluence(m_influence, ratioAt(index));
        const double cost = terms.costs.relativeDraftCost(weightShare(plan, m_config, m_headPart));
        const double acceptance = believedAcceptance(harmOf(plan, m_influence));
        const Promise believed = bestChain({acceptance, cost}, terms.costs, terms.maxNodes);
        const Promise possible = bestChain({1.0, cost}, terms.costs, terms.maxNodes);
        m_possibleSkip = std::max(m_possibleSkip, possible.rate() - terms.leastRate);
        const double merit = meritOf({acceptance, cost}, terms);
        if (m_ratio >= 0 && merit <= bestMerit)
            continue;
        bestMerit = merit;
        m_believed = believed;
        m_ratio = index;
    }
    const DraftPass half =
        DraftPass::of(1.0, PassShares::of(halfPlan(), m_config, m_headPart), terms.costs);
    m_possibleExit = bestChain(half, terms.costs, terms.maxNodes).rate() - terms.leastRate;
    const double present = std::max(terms.presentRate, terms.leastRate);
    const bool isMore = m_ratio >= 0 && m_believed.rate() > kWorthLooking * present;
    m_savable = isMore ? terms.rounds.savedShare(m_believed.rate()) -
                             terms.rounds.savedShare(std::max(terms.presentRate, 1.0))
                       : 0.0;
}

bool PlanSearch::isWorthIt(double trialCost) const {
    const double hope = std::exp2(-m_idle / kTrialsToHalve);
    return m_savable * hope * m_horizon > trialCost;
}

bool PlanSearch::couldPay(const DraftersWanted& wanted) const {
    return (wanted.skips && m_possibleSkip > 0.0) || (wanted.exits && m_possibleExit > 0.0);
}

int PlanSearch::streamLayers(const DraftersWanted& wanted) const {
    if (!canSkip(wanted) || hasSuggestion())
        return 0;
    const auto ratio = static_cast<std::size_t>(m_ratio);
    if (!m_isTried[ratio] || m_isFollowed[ratio])
        return 0;
    return static_cast<int>(ratioAt(m_ratio) * m_choices.space().width() + kRoundingSlack);
}

void PlanSearch::suggestStream(std::optional<LayerPlan> plan) {
    m_isFollowed.set(static_cast<std::size_t>(m_ratio));
    m_stream = std::move(plan);
}

LayerPlan PlanSearch::halfPlan() const {
    LayerPlan half = LayerPlan::full(m_config.layerCount);
    half.exitAfterLayer = (m_config.layerCount - 1) / 2;
    return half;
}

Candidate PlanSearch::candidate(LayerPlan plan, std::string_view kind) const {
    Candidate made{std::move(plan), kind};
    made.shares = PassShares::of(made.plan, m_config, m_headPart);
    made.ratio = made.isExit() ? 0.0 : m_choices.ratioOf(made.plan);
    return made;
}

Candidate PlanSearch::nextExit() {
    constexpr std::array<double, 3> kParts = {0.5, 0.25, 0.75}; // of the layers
    const double part = kParts[static_cast<std::size_t>(m_exits++) % kParts.size()];
    LayerPlan plan = LayerPlan::full(m_config.layerCount);
    plan.exitAfterLayer =
        std::clamp(static_cast<int>(part * m_config.layerCount) - 1, 0, m_config.layerCount - 1);
    return candidate(std::move(plan), "exit");
}

Result<Candidate> PlanSearch::randomCandidate(std::stop_token stop) {
    if (m_random == nullptr || m_randomRatio != m_ratio) {
        m_randomRatio = m_ratio;
        m_random = makeRandomSearch({.space = m_choices.space(),
                                     .budget = m_choices.budget(ratioAt(m_ratio)),
                                     .seed = kSeed + static_cast<std::uint64_t>(m_ratio),
                                     .weights = m_choices.weights(m_influence)});
    }
    ENGINE_TRY(Trial trial, m_random->nextTrial(std::move(stop)));
    return candidate(std::move(trial.plan), "random");
}

Result<std::optional<Candidate>>
PlanSearch::next(const DraftersWanted& wanted, bool isProbe, std::stop_token stop) {
    const bool canExit = wanted.exits && m_possibleExit > 0.0;
    const bool prefersExit = m_probes % 2 == 1 && !hasSuggestion();
    const bool takesExit = canExit && isProbe && (!canSkip(wanted) || prefersExit);
    m_probes += isProbe ? 1 : 0;
    if (takesExit)
        return std::optional(nextExit());
    if (!canSkip(wanted))
        return std::optional<Candidate>();
    if (m_stored)
        return std::optional(candidate(*std::exchange(m_stored, std::nullopt), "stored"));
    if (isProbe || !m_isTried[static_cast<std::size_t>(m_ratio)]) {
        m_isTried.set(static_cast<std::size_t>(m_ratio));
        return std::optional(
            candidate(m_choices.leastInfluence(m_influence, ratioAt(m_ratio)), "influence"));
    }
    if (m_stream)
        return std::optional(candidate(*std::exchange(m_stream, std::nullopt), "stream"));
    ENGINE_TRY(Candidate found, randomCandidate(std::move(stop)));
    return std::optional(std::move(found));
}

void PlanSearch::weigh(const LayerPlan& plan, double acceptance) {
    const double measured = (1.0 - acceptance) / fearedLoss(harmOf(plan, m_influence));
    m_evidence += kNewEvidence * (std::max(measured, kLeastEvidence) - m_evidence);
}

void PlanSearch::learn(const Candidate& candidate, double score, bool isAdopted) {
    if (candidate.isExit())
        return;
    weigh(candidate.plan, score);
    m_idle = isAdopted ? 0.0 : m_idle + 1.0;
    m_restartAt = 2.0 * m_elapsed + kRest;
}

} // namespace automatic
