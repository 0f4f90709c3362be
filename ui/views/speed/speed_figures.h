// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <QString>

#include <optional>
#include <vector>

namespace ui {

/// How fast the newest seconds of decoding were. A plain value.
struct SpeedNow {
    double tokensPerSecond = 0.0;
    std::optional<double> speedup; ///< times vanilla; none until there is a baseline
    bool isDrafting = false;       ///< false: plain steps only
};

/// None before the first step. The decoder's own steps count, the plain ones that it chose too;
/// where there are none, those that were asked for.
std::optional<SpeedNow> speedOfLast(const SpeedLog& log, double seconds);

/// A speedup that a formula promises, and how to call it. A plain value.
struct ExpectedSpeed {
    enum class Form {
        CostByCount,  ///< equation 6, c = 1 - r
        MeasuredCost, ///< equation 6, c as measured
        AllCosts,     ///< with v(T) and other costs as measured
    };

    Form form = Form::MeasuredCost;
    double speedup = 0.0;
    QString label;      ///< "expected 1.36, c measured .63"
    QString shortLabel; ///< "expected 1.36"
};

/// What is known of them so far, in the order of the forms.
std::vector<ExpectedSpeed> expectedSpeeds(const RunStore& store);

/// "An average step: 77 ms = draft 54 + verify 21 + other 2, for M = 4.81 tokens." The whole
/// milliseconds add up. Says what is missing when no step has drafted.
QString averageStepSentence(const TimeShares& shares);

} // namespace ui
