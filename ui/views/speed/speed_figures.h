// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <QString>

#include <optional>
#include <vector>

namespace ui {

/// Where the time of a span's steps went; those that were asked for as a baseline are left out. A
/// plain value.
struct TimeShares {
    std::int64_t steps = 0;
    std::int64_t drafting = 0; ///< of them
    std::int64_t tokens = 0;
    double draftMs = 0.0; ///< summed
    double verifyMs = 0.0;
    double searchMs = 0.0;
    double otherMs = 0.0;

    double totalMs() const { return draftMs + verifyMs + searchMs + otherMs; }
};

/// None of it before the span has drafted.
TimeShares sharesOf(const SpanFigures& span);

/// "1.33×"; tokens per second where there is no baseline yet or nothing was drafted, as plain steps
/// are no times faster than themselves; empty for an empty span.
QString speedText(const SpanFigures& span);

/// "62.2 tok/s now · this answer 1.26× · this chat 1.29×": every span by its name.
QString spansText(const SpeedLog& log);

/// "SWIFT", "new settings", "another chat": what has begun at a mark.
QString markText(const SpanMark& mark);

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

/// What this chat with this decoder and these settings lets expect, in the order of the forms.
/// Those of equation 6 are left out where checking a draft costs clearly more than the plain step
/// that it reckons with.
std::vector<ExpectedSpeed> expectedSpeeds(const RunStore& store);

/// Speedups that are nearly equal, told as one: "expected 1.31 to 1.34". A plain value.
struct ExpectedGroup {
    double lowest = 0.0;
    double highest = 0.0;
    QString label;
    QString shortLabel;      ///< without how it is computed
    bool isMeasured = false; ///< holds the one of Form::MeasuredCost

    double middle() const { return (lowest + highest) / 2.0; }
};

/// What lies within `tolerance` of each other, lowest first.
std::vector<ExpectedGroup> groupsOf(std::vector<ExpectedSpeed> speeds, double tolerance);

/// "An average step: 77 ms = draft 54 + verify 21 + other 2, for M = 4.81 tokens." The whole
/// milliseconds add up. Says what is missing when no step has drafted.
QString averageStepSentence(const TimeShares& shares);

} // namespace ui
