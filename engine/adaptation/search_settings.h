// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/skip_sets/skip_set.h"
#include "engine/search/layer_search.h"

#include <cstdint>

namespace engine {

/// What the search begins with.
enum class StartSet {
    Uniform,   ///< even distances at ratio r
    Odd,       ///< every odd layer, as published
    Library,   ///< what an earlier run stored for this task
    Last,      ///< what an earlier run stored last, for whatever task
    Influence, ///< the sublayers that change the residual stream least
    Stream,    ///< the least change of the newest token's stream, by dynamic programming
    Manual,    ///< the setting skip_set
};

/// How the skip set is searched for. Source of the defaults: arXiv 2410.06916.
struct SearchSettings {
    bool isOn = true;
    bool usesBayesian = true;
    double ratio = 0.45;    ///< r
    int window = 32;        ///< gamma
    int bayesianEvery = 25; ///< beta
    int maxTrials = 1000;   ///< S
    double stopScore = 0.95;
    int patience = 300;
    int stepsPerTrial = 1; ///< opt_interval
    int rowsPerTrial = 4;
    int quickTrials = 50;   ///< that come so often
    int trialsToDouble = 4; ///< further ones that double the rows between two; 0 = never more
    StartSet start = StartSet::Uniform;
    SkipSet manualSet;
    bool followsInfluence = false; ///< random proposals
    bool countsBytes = false;      ///< the budget, instead of sublayers
    bool growsRatio = false;
    double growScore = 0.7;
    bool scoresShortWindows = true; ///< of answers that are too short for a whole one
    bool scoresStart = true;
    bool rescores = true;
    double restartDrop = 0.15; ///< 0 = never
    double lowerBelow = 0.7;   ///< 0 = never
    double minimumRatio = 0.05;
    double ratioStep = 0.05;
    bool isAsPublished = false; ///< ties, registration and strict comparisons of the code
    BayesianMaximiser maximiser = BayesianMaximiser::ContinuousTopK;
    std::uint64_t seed = 1;
};

} // namespace engine
