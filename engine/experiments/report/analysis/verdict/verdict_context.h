// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/measures/measures.h"

#include <string>
#include <vector>

namespace engine {

/// A variant and what was measured for it.
struct Measurement {
    const ReportVariant* variant = nullptr;
    Estimate value;
};

/// What a verdict is made of: the measurements of a run, and the question of its recipe.
struct VerdictContext {
    const RunData& data;
    const VerdictWish& wish;
    std::string stage;        ///< the last one
    bool isAboutSets = false; ///< the recipe shows sets rather than speeds
    std::string source = {};  ///< what the recipe repeats

    /// All of a variant, or what it did on one task. Vanilla counts in the last stage alone.
    Selection of(const ReportVariant& variant, const std::string& task = {}) const;

    /// The drafting variants that have this measure, best first.
    std::vector<Measurement> ranked(const std::string& measure) const;

    /// Of several variants that were made of one of the recipe, the one with the best measure of
    /// the wish; null for none.
    const ReportVariant* bestNamed(const std::string& name) const;

    /// "a higher acceptance", "no more tokens per layer"
    std::string comparedWords(bool isHigher) const;

    /// The measure of the wish as words: "tokens per layer".
    std::string measureWords() const;
};

/// Whether this is the variant of the recipe, or one that was made of it.
bool isNamed(const ReportVariant& variant, const std::string& name);

std::string measureText(const std::string& measure, const Estimate& value);

/// What was measured, without a claim.
ExperimentVerdict plainVerdict(const VerdictContext& context);

/// Whether each task's own set is the fastest one on it.
ExperimentVerdict diagonalVerdict(const VerdictContext& context);

/// Whether all answers are vanilla's, token for token.
ExperimentVerdict equalVerdict(const VerdictContext& context);

/// The part of the time that the measure of the wish takes.
ExperimentVerdict shareVerdict(const VerdictContext& context);

/// Acceptance on the first task against that on all later ones.
ExperimentVerdict driftVerdict(const VerdictContext& context);

} // namespace engine
