// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/measures/two_samples.h"
#include "engine/experiments/report/analysis/run_data.h"
#include "engine/experiments/report/experiment_result.h"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// How the numbers of a measure are written.
enum class NumberForm {
    Times,    ///< 1.37×
    Share,    ///< .80
    Percent,  ///< 12.5 %
    Plain,    ///< 2.40
    Rate,     ///< 131.4
    Count,    ///< 180
    Fraction, ///< 178/180, of the count
    Small,    ///< 0.00012, with two digits
};

/// A measure that tables, figures and verdicts may ask for, as tables and axes name it. Of answers
/// (per variant, task, prompt ...): speedup, the same with the time of the prompts, rates, M,
/// acceptance, ... `expected_*` are equation 6 of arXiv 2410.06916, `expected_by_parts` also counts
/// what verifying and the rest of a round cost; `verify_cost` is a verification in vanilla steps;
/// `draft_length` are draft passes per round, `layers_per_draft` the layers that one of them reads
/// (the mean exit); `*_share` are parts of the decode time; `equal`, `near_ties` are shares of
/// answers; `first_difference` is the first place, from 1, at which one of them is not vanilla's,
/// `difference_gap` the widest gap between vanilla's two best logits at such places; `draws` are
/// continuations under seeds of their own, `draw_p` is the p-value of drawnTest();
/// `cumulative_speedup` is that of all prompts so far. Of searches: `matchness` (each
/// trial), `best_matchness`, `trials`, `random_trials`, `bayesian_trials`, `search_seconds`. Of
/// sets: `skip_ratio`, `skipped` (sublayers), `jaccard` (of two tasks' sets), `set` (the layer
/// grid). Of texts: the scores, and `token_origin` (the coloured text).
struct MeasureInfo {
    std::string_view name;
    std::string_view heading; ///< of a column: "tok/s"
    std::string_view title;   ///< of an axis: "tokens per second"
    NumberForm form = NumberForm::Plain;
    bool isOverVanilla = false; ///< 1.0 is vanilla
};

/// Of fewer prompts there is no 95 % interval of a median: the range of four holds it in 7 of 8
/// runs, that of two in one of two.
inline constexpr int kLeastPromptsOfInterval = 5;

/// Of no name if it is unknown.
const MeasureInfo& measureInfo(std::string_view name);

std::vector<std::string> measureNames();

/// Whether a measure is a ratio of measured speeds.
bool isSpeedup(std::string_view name);

/// The measure's value in a selection; none if nothing of the kind was measured there, and none for
/// a speedup if the baseline moved there. Speedups are the median over prompts, each with the
/// answers of all seeds; all other values are those of the sums. Speedups and acceptance have a
/// 95 % bootstrap interval over prompts, unless there is only one.
std::optional<Estimate> measured(std::string_view name, const Selection& selection);

/// Whether a variant's continuations under seeds of their own have vanilla's distribution, prompt
/// by prompt; none unless both have drawn some, and of several variants together.
std::optional<TwoSampleTest> drawnTest(const Selection& selection);

/// How far the baseline moved, if that is why a measure has no value in a selection.
std::optional<double> refusedFor(std::string_view name, const Selection& selection);

/// A cell of a table: the value as text, with half of its interval behind it; "–" for none.
ResultCell measureCell(std::string_view name, const std::optional<Estimate>& value);

/// The sums of vanilla's times for a token over the own ones, without an interval; none if the
/// baseline moved.
std::optional<Estimate> ratioOfTimes(const Selection& selection);

/// A measure as the name of a panel or a line: "Speedup, × vanilla".
std::string measureLabel(std::string_view name);

/// The value alone, without its interval: "1.37×".
std::string numberText(NumberForm form, const Estimate& value);

/// The sums of the own answers of a selection.
DecodeMetrics sumsOf(const Selection& selection);

/// The set that was chosen last in a selection; null if there is none.
const ShardPlan* lastPlan(const Selection& selection);

} // namespace engine
