// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/measures/selection_sums.h"

#include "engine/experiments/report/analysis/measures/measures.h"
#include "engine/metrics/equation_six.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace engine {

namespace {

std::optional<double> quotient(double a, double b) {
    return b > 0.0 ? std::optional(a / b) : std::nullopt;
}

std::optional<Estimate> counted(std::optional<double> value, int count) {
    return value ? std::optional(Estimate{*value, {}, {}, count}) : std::nullopt;
}

/// What searches took.
struct SearchCost {
    std::map<std::string, double> trials = {}; ///< by kind
    double ms = 0.0;                           ///< within answers
    double seconds = 0.0;                      ///< until the last trial
};

/// What the searches of a selection took, by shard and variant.
class SearchCosts {
public:
    SearchCost& of(const RunPlace& place) {
        ShardCost& found = m_costs[{place.shard->index, place.variant->name}];
        found.shard = place.shard;
        return found.cost;
    }

    /// Shards that differ only by their seed count as their mean.
    SearchCost sum() const {
        using Search = std::tuple<std::string, int, std::vector<int>, std::string>;
        std::map<Search, std::vector<const SearchCost*>> searches; // the same under all seeds
        for (const auto& [key, one] : m_costs)
            searches[{one.shard->stage, one.shard->model, one.shard->prompts, key.second}]
                .push_back(&one.cost);
        SearchCost all;
        for (const auto& [search, seeds] : searches) {
            const auto count = static_cast<double>(seeds.size());
            for (const SearchCost* cost : seeds) {
                all.ms += cost->ms / count;
                all.seconds += cost->seconds / count;
                for (const auto& [kind, trials] : cost->trials)
                    all.trials[kind] += trials / count;
            }
        }
        return all;
    }

private:
    struct ShardCost {
        const PlannedShard* shard = nullptr;
        SearchCost cost = {};
    };

    std::map<std::pair<int, std::string>, ShardCost> m_costs; // by shard and variant
};

} // namespace

DecodeMetrics sumsOf(const Selection& selection) { return SelectionSums(selection).decoding(); }

const ShardPlan* lastPlan(const Selection& selection) {
    return selection.plans.empty() ? nullptr : selection.plans.back()->plan;
}

SelectionSums::SelectionSums(const Selection& selection) {
    std::set<const ShardAnswer*> references; // several variants may share vanilla's answers
    std::set<std::tuple<const ReportVariant*, std::string, int>> prompts;
    SearchCosts searches;
    for (const AnsweredPrompt* run : selection.runs) {
        prompts.emplace(run->place.variant, run->place.model, run->place.prompt);
        SearchCost& search = searches.of(run->place);
        for (const ShardAnswer* answer : run->own) {
            m_decoding.add(answer->decoding);
            m_decodeMs += answer->decodeMs;
            m_tokens += answer->tokens;
            if (answer->pass == 0) // a second pass searches once more
                search.ms += answer->decoding.searchMs;
            ++m_answers;
            m_compared += answer->isEqual.has_value();
            m_equal += answer->isEqual.value_or(false);
            m_nearTies += answer->isNearTie;
            addDifference(*answer);
            // Above 1 was written of drafts that had none.
            if (answer->draftRatio && *answer->draftRatio <= 1.0 &&
                answer->decoding.draftLayers > 0.0) {
                m_ratioSum += *answer->draftRatio;
                ++m_ratios;
            }
            for (const auto& [name, score] : answer->quality) {
                m_quality[name].first += score;
                ++m_quality[name].second;
            }
        }
        m_draws += static_cast<int>(run->draws.size());
        references.insert(run->vanilla.begin(), run->vanilla.end());
    }
    for (const ShardAnswer* answer : references) {
        m_vanillaMs += answer->decodeMs;
        m_vanillaTokens += answer->tokens;
    }
    for (const TrialRun* run : selection.trials.empty() ? selection.sources : selection.trials) {
        m_newestScore = run->trial->score;
        m_bestScore = std::max(m_bestScore.value_or(0.0), run->trial->best);
        SearchCost& search = searches.of(run->place);
        search.trials[run->trial->kind] += 1.0;
        search.seconds = std::max(search.seconds, run->trial->at);
    }
    SearchCost all = searches.sum();
    m_trials = std::move(all.trials);
    m_searchMs = all.ms;
    m_trialSeconds = all.seconds;
    m_prompts = static_cast<int>(prompts.size());
    m_lastPlan = lastPlan(selection);
}

void SelectionSums::addDifference(const ShardAnswer& answer) {
    if (answer.isEqual.value_or(true))
        return;
    if (answer.differsAt)
        m_firstDifference =
            std::min(m_firstDifference.value_or(*answer.differsAt), *answer.differsAt);
    if (answer.gap)
        m_widestGap = std::max(m_widestGap.value_or(*answer.gap), *answer.gap);
}

std::optional<double> SelectionSums::plainMs() const {
    return quotient(m_vanillaMs, static_cast<double>(m_vanillaTokens));
}

std::optional<Estimate> SelectionSums::value(std::string_view name) const {
    if (const auto found = roundMeasure(name, m_decoding))
        return counted(found, m_prompts);
    if (const auto found = ofEquationSix(name))
        return counted(found, m_prompts);
    if (const auto found = ofTime(name))
        return counted(found, m_prompts);
    if (const auto found = ofAnswers(name))
        return found;
    return ofSearch(name);
}

/// Vanilla's rounds give one token each.
std::optional<double> roundMeasure(std::string_view name, const DecodeMetrics& sums) {
    const auto rounds = static_cast<double>(sums.rounds);
    const auto drafts = static_cast<double>(sums.draftSteps);
    if (name == "M")
        return sums.rounds == 0 && sums.baselineTokens > 0 ? 1.0 : sums.tokensPerRound();
    if (name == "acceptance")
        return sums.acceptance();
    if (name == "tokens_per_layer")
        return sums.tokensPerLayer();
    if (name == "draft_length")
        return drafts > 0.0 ? quotient(drafts, rounds) : std::nullopt;
    if (name == "layers_per_draft")
        return quotient(sums.draftLayers, drafts);
    return std::nullopt;
}

std::optional<double> SelectionSums::ofEquationSix(std::string_view name) const {
    const auto plain = plainMs();
    // Drafts that no layer made have no c and no r.
    const auto cost =
        plain && hasDraftPasses(m_decoding) ? draftCost(m_decoding, *plain) : std::nullopt;
    const auto ratio = m_ratios > 0 ? std::optional(m_ratioSum / m_ratios) : std::nullopt;
    const auto verifying =
        plain && *plain > 0.0 && m_decoding.rounds > 0
            ? quotient(m_decoding.verifyMs / *plain, static_cast<double>(m_decoding.rounds))
            : std::nullopt;
    const auto expected = [&](std::optional<double> c) -> std::optional<double> {
        const auto found = c ? EquationSix::of(m_decoding, *c, 1.0) : std::nullopt;
        return found ? std::optional(found->expected) : std::nullopt;
    };
    if (name == "c_measured")
        return cost;
    if (name == "c_by_ratio" && ratio)
        return 1.0 - *ratio;
    if (name == "verify_cost")
        return verifying;
    if (name == "expected_by_ratio" && ratio)
        return expected(1.0 - *ratio);
    if (name == "expected_by_cost")
        return expected(cost);
    if (name == "expected_by_parts" && verifying && m_decoding.tokens > 0) {
        // Without draft passes the drafts cost nothing, so any acceptance gives the same.
        const auto rounds = static_cast<double>(m_decoding.rounds);
        const SpeedFactors factors = {
            .tokensPerRound = static_cast<double>(m_decoding.tokens) / rounds,
            .acceptance = cost ? m_decoding.acceptance().value_or(1.0) : 1.0,
            .draftCost = cost.value_or(0.0),
            .verifyCost = *verifying,
            .otherCost = m_decoding.otherMs / *plain / rounds};
        return quotient(expectedSpeedup(factors), 1.0);
    }
    return std::nullopt;
}

std::optional<double> SelectionSums::ofTime(std::string_view name) const {
    const double all = m_decoding.allMs();
    if (name == "tokens_per_second")
        return quotient(static_cast<double>(m_tokens) * 1e3, m_decodeMs);
    if (name == "draft_share")
        return quotient(m_decoding.draftMs, all);
    if (name == "verify_share")
        return quotient(m_decoding.verifyMs + m_decoding.baselineMs, all);
    if (name == "search_share")
        return quotient(m_decoding.searchMs, all);
    if (name == "other_share")
        return quotient(m_decoding.otherMs, all);
    if (name == "step_ms")
        return quotient(m_decoding.ownMs(), static_cast<double>(m_decoding.ownRounds()));
    return std::nullopt;
}

std::optional<Estimate> SelectionSums::ofAnswers(std::string_view name) const {
    if (name == "equal")
        return counted(quotient(m_equal, m_compared), m_compared);
    if (name == "near_ties" && m_compared > 0)
        return Estimate{static_cast<double>(m_nearTies), {}, {}, m_compared};
    if (name == "first_difference" && m_firstDifference)
        return Estimate{*m_firstDifference + 1.0, {}, {}, m_compared};
    if (name == "difference_gap")
        return counted(m_widestGap, m_compared);
    if (name == "draws" && m_draws > 0)
        return Estimate{static_cast<double>(m_draws), {}, {}, m_draws};
    if (name == "answers")
        return Estimate{static_cast<double>(m_answers), {}, {}, m_answers};
    if (name == "tokens")
        return Estimate{static_cast<double>(m_tokens), {}, {}, m_answers};
    const auto found = m_quality.find(std::string(name));
    if (found == m_quality.end())
        return std::nullopt;
    return counted(quotient(found->second.first, found->second.second), found->second.second);
}

std::optional<Estimate> SelectionSums::ofSearch(std::string_view name) const {
    const auto kind = [&](const std::string& wanted) {
        const auto found = m_trials.find(wanted);
        return found == m_trials.end() ? 0.0 : found->second;
    };
    double tried = 0.0;
    for (const auto& [other, count] : m_trials)
        tried += other == "rescore" ? 0.0 : count;
    const auto trials = static_cast<int>(std::lround(tried));
    if (name == "skip_ratio") {
        if (m_ratios > 0)
            return Estimate{m_ratioSum / m_ratios, {}, {}, m_ratios};
        return m_lastPlan ? std::optional(Estimate{m_lastPlan->ratio, {}, {}, 1}) : std::nullopt;
    }
    if (name == "skipped" && m_lastPlan)
        return Estimate{
            static_cast<double>(m_lastPlan->attention.size() + m_lastPlan->mlp.size()), {}, {}, 1};
    if (name == "matchness" && m_lastPlan && m_lastPlan->score > 0.0)
        return Estimate{m_lastPlan->score, {}, {}, 1};
    if (name == "matchness")
        return counted(m_newestScore, trials);
    if (name == "best_matchness")
        return counted(m_bestScore, trials);
    if (trials == 0)
        return std::nullopt;
    if (name == "trials")
        return Estimate{tried, {}, {}, trials};
    if (name == "random_trials")
        return Estimate{kind("random"), {}, {}, trials};
    if (name == "bayesian_trials")
        return Estimate{kind("bayesian"), {}, {}, trials};
    if (name == "search_seconds")
        return Estimate{m_searchMs > 0.0 ? m_searchMs / 1e3 : m_trialSeconds, {}, {}, trials};
    return std::nullopt;
}

} // namespace engine
