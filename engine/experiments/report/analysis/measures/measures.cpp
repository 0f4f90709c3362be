// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/measures/measures.h"

#include "engine/experiments/report/analysis/measures/selection_sums.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/metrics/sample_statistics.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr std::array kInfos = {
    MeasureInfo{"speedup", "Measured", "× vanilla", NumberForm::Times, true},
    MeasureInfo{"speedup_with_prompt", "With prompt", "× vanilla", NumberForm::Times, true},
    MeasureInfo{"cumulative_speedup", "So far", "× vanilla", NumberForm::Times, true},
    MeasureInfo{"tokens_per_second", "tok/s", "tokens per second", NumberForm::Rate},
    MeasureInfo{"M", "M", "M, tokens a round", NumberForm::Plain},
    MeasureInfo{"acceptance", "α", "α, accepted / drafted", NumberForm::Share},
    MeasureInfo{"tokens_per_layer", "Tokens/layer", "tokens per layer", NumberForm::Small},
    MeasureInfo{"expected_by_ratio", "Eq. 6, c = 1 − r", "× vanilla", NumberForm::Times, true},
    MeasureInfo{"expected_by_cost", "Eq. 6, c", "× vanilla", NumberForm::Times, true},
    MeasureInfo{"expected_by_parts", "with v", "× vanilla", NumberForm::Times, true},
    MeasureInfo{"c_by_ratio", "1 − r", "1 − r", NumberForm::Share},
    MeasureInfo{"c_measured", "c", "c, draft pass / plain step", NumberForm::Share},
    MeasureInfo{"verify_cost", "v", "v, verification / plain step", NumberForm::Plain},
    MeasureInfo{"draft_length", "Draft", "draft passes a round", NumberForm::Plain},
    MeasureInfo{"layers_per_draft", "Exit", "layers a draft pass", NumberForm::Plain},
    MeasureInfo{"draft_share", "Draft", "share of the time", NumberForm::Percent},
    MeasureInfo{"verify_share", "Verify", "share of the time", NumberForm::Percent},
    MeasureInfo{"search_share", "Search", "share of the time", NumberForm::Percent},
    MeasureInfo{"other_share", "Other", "share of the time", NumberForm::Percent},
    MeasureInfo{"step_ms", "ms/round", "milliseconds a round", NumberForm::Plain},
    MeasureInfo{"equal", "Same text", "answers equal to vanilla's", NumberForm::Fraction},
    MeasureInfo{"near_ties", "Near ties", "answers that differ at a near tie", NumberForm::Count},
    MeasureInfo{
        "first_difference", "First other", "first token that is not vanilla's", NumberForm::Count},
    MeasureInfo{"difference_gap", "Widest gap", "gap of two logits", NumberForm::Small},
    MeasureInfo{"draws", "Draws", "continuations", NumberForm::Count},
    MeasureInfo{"draw_p", "p", "p, two-sample test", NumberForm::Small},
    MeasureInfo{"answers", "Answers", "answers", NumberForm::Count},
    MeasureInfo{"tokens", "Tokens", "tokens", NumberForm::Count},
    MeasureInfo{"prompts", "Prompts", "prompts", NumberForm::Count},
    MeasureInfo{"matchness", "Matchness", "matchness", NumberForm::Share},
    MeasureInfo{"best_matchness", "Best matchness", "best matchness", NumberForm::Share},
    MeasureInfo{"trials", "Trials", "trials", NumberForm::Count},
    MeasureInfo{"random_trials", "Random", "random trials", NumberForm::Count},
    MeasureInfo{"bayesian_trials", "Bayesian", "Bayesian trials", NumberForm::Count},
    MeasureInfo{"search_seconds", "Search, s", "seconds of search", NumberForm::Rate},
    MeasureInfo{"skip_ratio", "r", "r, share skipped", NumberForm::Share},
    MeasureInfo{"skipped", "Skipped", "skipped sublayers", NumberForm::Count},
    MeasureInfo{"jaccard", "Jaccard", "Jaccard of the sets", NumberForm::Share},
    MeasureInfo{"set", "Set", "skipped sublayers", NumberForm::Count},
    MeasureInfo{"rouge2", "ROUGE-2", "ROUGE-2", NumberForm::Share},
    MeasureInfo{"rougeL", "ROUGE-L", "ROUGE-L", NumberForm::Share},
    MeasureInfo{"exact_match", "Exact match", "exact match", NumberForm::Share},
    MeasureInfo{"pass_at_1", "pass@1", "pass@1", NumberForm::Share},
    MeasureInfo{"token_origin", "Origin", "origin of the tokens", NumberForm::Count}};

std::optional<Estimate> plain(std::optional<double> value, std::size_t count) {
    if (!value || !std::isfinite(*value))
        return std::nullopt;
    return Estimate{*value, {}, {}, static_cast<int>(count)};
}

/// The answers of a variant on a model to a prompt, those under all seeds together: they are no
/// prompts of their own. Without those that cannot be compared with vanilla's.
std::vector<AnsweredPrompt> promptsOf(const Selection& selection, bool hasPrompt = false) {
    std::vector<AnsweredPrompt> prompts; // in the order of their first answers
    std::map<std::tuple<const ReportVariant*, std::string, int>, std::size_t> places;
    for (const AnsweredPrompt* run : selection.runs) {
        if (msPerToken(run->vanilla, hasPrompt) <= 0.0 || msPerToken(run->own, hasPrompt) <= 0.0)
            continue;
        const auto [place, isNew] = places.try_emplace(
            {run->place.variant, run->place.model, run->place.prompt}, prompts.size());
        if (isNew) {
            prompts.push_back(*run);
            continue;
        }
        AnsweredPrompt& known = prompts[place->second];
        known.own.insert(known.own.end(), run->own.begin(), run->own.end());
        known.vanilla.insert(known.vanilla.end(), run->vanilla.begin(), run->vanilla.end());
    }
    return prompts;
}

/// Vanilla's time for a token over the own one, by prompt.
std::optional<Estimate> speedupOf(const Selection& selection, bool hasPrompt, bool isCumulative) {
    if (!isSteady(vanillaMoved(selection)))
        return std::nullopt;
    std::vector<double> vanilla;
    std::vector<double> own;
    bool isVanilla = true;
    for (const AnsweredPrompt& prompt : promptsOf(selection, hasPrompt)) {
        isVanilla = isVanilla && prompt.place.variant->isVanilla;
        vanilla.push_back(msPerToken(prompt.vanilla, hasPrompt));
        own.push_back(msPerToken(prompt.own, hasPrompt));
    }
    if (own.empty())
        return std::nullopt;
    if (isVanilla)
        return Estimate{1.0, {}, {}, static_cast<int>(own.size())};
    if (own.size() == 1) // of one prompt there is no interval
        return Estimate{vanilla[0] / own[0], {}, {}, 1};
    const RatioEstimate found =
        isCumulative ? ratioOfSums(vanilla, own) : medianRatio(vanilla, own);
    return Estimate{found.ratio, found.low, found.high, static_cast<int>(own.size())};
}

/// The share of the drafts that was kept, of the sums, with its interval over the prompts that have
/// drafts.
std::optional<Estimate> keptShareOf(const Selection& selection) {
    const auto all = SelectionSums(selection).value("acceptance");
    if (!all || !std::isfinite(all->value))
        return std::nullopt;
    std::vector<double> accepted; // [prompts]
    std::vector<double> drafted;
    std::map<std::tuple<const ReportVariant*, std::string, int>, std::size_t> places;
    for (const AnsweredPrompt* run : selection.runs) {
        DecodeMetrics sums;
        for (const ShardAnswer* answer : run->own)
            sums.add(answer->decoding);
        if (sums.draftSteps <= 0)
            continue;
        const auto [place, isNew] = places.try_emplace(
            {run->place.variant, run->place.model, run->place.prompt}, drafted.size());
        if (isNew) {
            accepted.push_back(0.0);
            drafted.push_back(0.0);
        }
        accepted[place->second] += static_cast<double>(sums.accepted);
        drafted[place->second] += static_cast<double>(sums.draftSteps);
    }
    Estimate made{all->value, {}, {}, static_cast<int>(drafted.size())};
    if (drafted.size() > 1) { // of one prompt there is no interval
        const RatioEstimate found = ratioOfSums(accepted, drafted);
        made.low = found.low;
        made.high = found.high;
    }
    return made;
}

/// The shortest text of a share without its leading zero: ".80".
std::string shareText(double value) {
    std::string text = fmt::format("{:.2f}", value);
    if (text.starts_with("0."))
        text.erase(0, 1);
    else if (text.starts_with("-0."))
        text.erase(1, 1);
    return text;
}

std::string countText(double value) {
    std::string text = fmt::format("{:.0f}", value);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (value < 0.0 ? 1 : 0);
         at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

} // namespace

const MeasureInfo& measureInfo(std::string_view name) {
    for (const MeasureInfo& info : kInfos) {
        if (info.name == name)
            return info;
    }
    static constexpr MeasureInfo kUnknown = {"", "?", "?", NumberForm::Plain};
    return kUnknown;
}

bool isSpeedup(std::string_view name) {
    return name == "speedup" || name == "speedup_with_prompt" || name == "cumulative_speedup";
}

std::optional<Estimate> measured(std::string_view name, const Selection& selection) {
    if (name == "speedup")
        return speedupOf(selection, false, false);
    if (name == "speedup_with_prompt")
        return speedupOf(selection, true, false);
    if (name == "cumulative_speedup")
        return speedupOf(selection, false, true);
    if (name == "acceptance")
        return keptShareOf(selection);
    if (name == "prompts") {
        std::set<int> prompts;
        for (const AnsweredPrompt* run : selection.runs)
            prompts.insert(run->place.prompt);
        return plain(static_cast<double>(prompts.size()), prompts.size());
    }
    if (name == "draw_p") {
        const auto test = drawnTest(selection);
        return test ? plain(test->pValue, test->first) : std::nullopt;
    }
    if (const auto found = SelectionSums(selection).value(name))
        return plain(found->value, static_cast<std::size_t>(std::max(found->count, 0)));
    return std::nullopt;
}

std::optional<TwoSampleTest> drawnTest(const Selection& selection) {
    const auto tokensOf = [](const std::vector<const ShardDraw*>& draws) {
        std::vector<std::vector<int>> tokens;
        for (const ShardDraw* draw : draws)
            tokens.push_back(draw->tokens);
        return tokens;
    };
    std::vector<SamplePair> pairs;
    std::set<const ReportVariant*> variants;
    for (const AnsweredPrompt* run : selection.runs) {
        if (run->place.variant->isVanilla || run->draws.empty() || run->vanillaDraws.empty())
            continue;
        variants.insert(run->place.variant);
        pairs.push_back({tokensOf(run->vanillaDraws), tokensOf(run->draws)});
    }
    return variants.size() == 1 ? std::optional(twoSampleTest(pairs)) : std::nullopt;
}

std::vector<std::string> measureNames() {
    std::vector<std::string> names;
    for (const MeasureInfo& info : kInfos)
        names.emplace_back(info.name);
    return names;
}

std::optional<double> refusedFor(std::string_view name, const Selection& selection) {
    if (!isSpeedup(name))
        return std::nullopt;
    const auto moved = vanillaMoved(selection);
    return isSteady(moved) ? std::nullopt : moved;
}

std::string numberText(NumberForm form, const Estimate& value) {
    switch (form) {
    case NumberForm::Times:
        return fmt::format("{:.2f}×", value.value);
    case NumberForm::Share:
        return shareText(value.value);
    case NumberForm::Percent:
        return fmt::format("{:.1f} %", value.value * 100.0);
    case NumberForm::Plain:
        return fmt::format("{:.2f}", value.value);
    case NumberForm::Rate:
        return fmt::format("{:.1f}", value.value);
    case NumberForm::Count:
        return countText(value.value);
    case NumberForm::Fraction:
        return fmt::format("{:.0f}/{}", value.value * value.count, value.count);
    case NumberForm::Small:
        return fmt::format("{:.2g}", value.value);
    }
    return {};
}

std::optional<Estimate> ratioOfTimes(const Selection& selection) {
    double vanilla = 0.0;
    double own = 0.0;
    const std::vector<AnsweredPrompt> prompts = promptsOf(selection);
    for (const AnsweredPrompt& prompt : prompts) {
        vanilla += msPerToken(prompt.vanilla);
        own += msPerToken(prompt.own);
    }
    if (own <= 0.0 || !isSteady(vanillaMoved(selection)))
        return std::nullopt;
    return Estimate{vanilla / own, {}, {}, static_cast<int>(prompts.size())};
}

std::string measureLabel(std::string_view name) {
    const MeasureInfo& info = measureInfo(name);
    if (isSpeedup(name))
        return readableName(name);
    std::string text(info.isOverVanilla ? info.heading : info.title);
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

ResultCell measureCell(std::string_view name, const std::optional<Estimate>& value) {
    if (!value)
        return {"–"};
    ResultCell cell{numberText(measureInfo(name).form, *value), value};
    if (value->low && value->high)
        cell.text += fmt::format(" ± {}", shareText((*value->high - *value->low) / 2.0));
    return cell;
}

} // namespace engine
