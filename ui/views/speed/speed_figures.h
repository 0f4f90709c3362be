// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <QString>

#include <optional>
#include <vector>

namespace ui {

/// How the time of a span's steps was spent, without baseline steps. A plain value.
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

/// All empty before the span has drafted.
TimeShares sharesOf(const SpanFigures& span);

/// "1.33×"; tokens per second if there is no baseline yet or nothing was drafted, because plain
/// steps have no speedup over themselves; empty for an empty span.
QString speedText(const SpanFigures& span);

/// "62.2 tok/s now · this answer 1.26× · this chat 1.29×": each span with its name. Where the
/// headline is a rate, too, it has the number, and only a span that was clearly faster or slower
/// follows.
QString spansText(const SpeedLog& log, bool withChat = true);

/// "SWIFT", "new settings", "another chat": the reason of a mark.
QString markText(const SpanMark& mark);

/// A speedup predicted by a formula, and its name. A plain value.
struct ExpectedSpeed {
    enum class Form {
        CostByCount,  ///< equation 6, c = 1 - r
        MeasuredCost, ///< equation 6, c as measured
        AllCosts,     ///< with v(T) and other costs as measured
    };

    Form form = Form::MeasuredCost;
    double speedup = 0.0;
    QString label;      ///< "expected 1.36, c measured .63"
    QString shortLabel; ///< "equation 6: 1.36"
    double error = 0.0; ///< of the formula: expected / measured - 1
    QString how = {};   ///< "c measured .63"
    bool isNear = true; ///< checking a draft costs about the one plain step that equation 6 assumes

    bool isEquationSix() const { return form != Form::AllCosts; }
};

/// The expected speedups of this chat with this decoder and these settings, in the order of the
/// forms.
std::vector<ExpectedSpeed> expectedSpeeds(const RunStore& store);

/// "equation 6: 1.50 (+13 %), c = 1 − r = .55; 1.36 (+2 %), c measured .63"; empty
/// if nothing is expected.
QString equationText(const std::vector<ExpectedSpeed>& speeds);

/// Nearly equal speedups, shown as one: "expected 1.31 to 1.34". A plain value.
struct ExpectedGroup {
    double lowest = 0.0;
    double highest = 0.0;
    QString label;
    QString shortLabel;      ///< without how it is computed
    bool isMeasured = false; ///< holds the one of Form::MeasuredCost

    double middle() const { return (lowest + highest) / 2.0; }
};

/// Groups of speedups within `tolerance` of each other, lowest first.
std::vector<ExpectedGroup> groupsOf(std::vector<ExpectedSpeed> speeds, double tolerance);

/// "An average step: 77 ms = draft 54 + verify 21 + other 2, for M = 4.81 tokens." The whole
/// milliseconds add up. Of the newest answer or, if it has not drafted, of the chat; if no step has
/// drafted, says since when.
QString averageStepSentence(const SpeedLog& log);

/// The same for a span that has drafted.
QString averageStepSentence(const TimeShares& shares);

} // namespace ui
