// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/search_settings.h"
#include "engine/search/layer_search.h"
#include "engine/search/skip_choices.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// The second phase: proposes skip sets of one ratio, random ones and every so often a Bayesian
/// suggestion, and counts what came of them. It ends when a set is good enough, when many in a row
/// were no better, or when all trials are done; while r still grows, it does not end.
/// Source: arXiv 2410.06916 section 4.1.
class Optimisation {
public:
    /// A search begins; `grows`: r is raised step by step while sets do well enough.
    void begin(bool grows);

    /// Proposes sets of this ratio from now on. What was recorded of other ratios says little about
    /// it and is forgotten.
    void aim(double ratio,
             const SkipChoices& choices,
             const std::vector<double>& influence,
             const SearchSettings& settings);

    double ratio() const { return m_ratio; }

    bool isGrowing() const { return m_isGrowing; }

    /// r has grown as far as it can.
    void endGrowth();

    /// Whether this ratio had its share of trials while r grows.
    bool isRatioTried() const;

    /// The next set to score. Errors: Cancelled.
    Result<Trial> propose(const SearchSettings& settings, std::stop_token stop) const;

    /// What a set scored, whoever proposed it.
    void record(const Trial& trial, double score);

    /// A trial is over.
    void count(bool isBetter);

    /// Why the phase ends, for the user; empty while it goes on. `best`: the incumbent's score.
    std::string end(double best, const SearchSettings& settings) const;

    /// Rows to verify before the next trial. Behind the first, quick trials they double again and
    /// again, so that searching costs less the longer it lasts; counted in rows, so that runs
    /// repeat.
    double rowsPerTrial(const SearchSettings& settings) const;

    /// The limits count from here on, and some trials are quick again: r was lowered.
    void beginAgain(const SearchSettings& settings);

private:
    std::unique_ptr<LayerSearch> m_random; // null without sublayers to choose from
    std::unique_ptr<LayerSearch> m_bayesian;
    double m_ratio = 0.0;
    bool m_isGrowing = false;
    int m_searches = 0; // each has a seed of its own
    int m_trials = 0;   // that the limit counts
    int m_idle = 0;     // in a row, that found nothing better
    int m_ratioTrials = 0;
    int m_pace = 0; // trials as far as the distance between them is concerned
};

} // namespace engine
