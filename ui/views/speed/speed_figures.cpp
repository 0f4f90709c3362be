// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/speed_figures.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/speed/gain_finding.h"

#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ui {

namespace {

/// What equation 6 of the paper expects is drawn as a line only if checking a draft, with all other
/// work, costs at most this many plain steps. The equation assumes 1, which is nearly true when a
/// pass waits for memory. On a small model computed row by row it promises far too much; there it
/// is only told, with its error.
constexpr double kCheckedAsOne = 1.25;

/// Rates that differ by less are called the same.
constexpr double kSameRate = 0.03;

/// "+13", "−8".
QString signedPercent(double share) {
    const long percent = std::lround(100.0 * share);
    return (percent < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) +
           QString::number(std::abs(percent));
}

/// Plain steps, and all steps before a baseline is known.
bool isReportedAsRate(const SpanFigures& span) { return !span.isDrafting() || !span.speedup(); }

/// Whether a span is as fast as one that is told already: the same rate twice says nothing.
/// Speedups are told of every span, because people compare them.
bool isReportedBy(const SpanFigures& told, const SpanFigures& span) {
    const auto before = told.tokensPerSecond();
    const auto rate = span.tokensPerSecond();
    return isReportedAsRate(told) && isReportedAsRate(span) && before && rate &&
           std::abs(*rate / *before - 1.0) < kSameRate;
}

/// Whole numbers that add up to the rounded sum: the largest remainders are rounded up.
template <std::size_t N> std::array<int, N> wholeParts(const std::array<double, N>& parts) {
    std::array<int, N> whole{};
    std::array<std::size_t, N> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i < N; ++i)
        whole[i] = static_cast<int>(std::floor(parts[i]));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return parts[a] - whole[a] > parts[b] - whole[b];
    });
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    const int missing =
        static_cast<int>(std::lround(sum)) - std::accumulate(whole.begin(), whole.end(), 0);
    for (std::size_t i = 0; i < N && static_cast<int>(i) < missing; ++i)
        ++whole[order[i]];
    return whole;
}

/// The skip ratio of the set in use; none when nothing is skipped.
std::optional<double> skipRatio(const RunStore& store) {
    const BestSet* set = store.search().used();
    if (set == nullptr)
        return std::nullopt;
    if (set->change.skipRatio > 0.0)
        return set->change.skipRatio;
    const int layers = set->change.plan.layerCount;
    const engine::SkipSet leftOut = engine::leftOutBy(set->change.plan);
    const auto skipped = static_cast<double>(leftOut.attention.size() + leftOut.mlp.size());
    if (layers == 0 || skipped <= 0.0)
        return std::nullopt;
    return skipped / (2.0 * layers);
}

} // namespace

TimeShares sharesOf(const SpanFigures& span) {
    const engine::DecodeMetrics& sums = span.sums;
    if (!span.isDrafting())
        return {};
    return {.steps = sums.ownRounds(),
            .drafting = sums.rounds,
            .tokens = sums.ownTokens(),
            .draftMs = sums.draftMs,
            .verifyMs = sums.verifyMs + sums.plainMs,
            .searchMs = sums.searchMs,
            .otherMs = sums.otherMs};
}

QString speedText(const SpanFigures& span) {
    if (const auto speedup = span.speedup(); speedup && span.isDrafting())
        return factorText(*speedup);
    const auto rate = span.tokensPerSecond();
    return rate ? tr("%1 tok/s").arg(*rate, 0, 'f', 1) : QString();
}

QString spansText(const SpeedLog& log, bool withChat) {
    QStringList parts;
    const SpanFigures now = log.now();
    if (!now.isEmpty() && isReportedAsRate(now)) // the headline has the number
        parts << (now.isDrafting() ? tr("now") : tr("now, in plain steps of the full model"));
    else if (const auto rate = now.tokensPerSecond())
        parts << tr("%1 tok/s now").arg(*rate, 0, 'f', 1);
    std::vector<SpanFigures> told = {now};
    const auto add = [&](const SpanFigures& span, const QString& words) {
        const auto isSame = [&](const SpanFigures& before) { return isReportedBy(before, span); };
        if (span.isEmpty() || std::ranges::any_of(told, isSame))
            return;
        parts << words.arg(speedText(span));
        told.push_back(span);
    };
    add(log.answer(), tr("this answer %1"));
    if (withChat)
        add(log.chat(), tr("this chat %1"));
    return parts.join(QStringLiteral(" \u00B7 "));
}

QString markText(const SpanMark& mark) {
    switch (mark.cause) {
    case engine::SpanCause::Settings:
        return tr("new settings");
    case engine::SpanCause::Sampling:
        return tr("other sampling");
    case engine::SpanCause::Chat:
        return tr("another chat");
    case engine::SpanCause::Model:
        return tr("another model");
    case engine::SpanCause::Decoder:
        break;
    }
    return QString::fromStdString(mark.decoder);
}

std::vector<ExpectedSpeed> expectedSpeeds(const RunStore& store) {
    std::vector<ExpectedSpeed> speeds;
    const SpanFigures chat = store.speed().chat();
    const auto costs = chat.factors();
    const auto measured = chat.speedup();
    if (!costs || !measured || *measured <= 0.0)
        return speeds;
    const bool isNear = costs->verifyCost + costs->otherCost <= kCheckedAsOne;
    const auto add =
        [&](ExpectedSpeed::Form form, const engine::SpeedFactors& factors, const QString& how) {
            const double speedup = engine::expectedSpeedup(factors);
            const QString name = tr("expected %1").arg(decimalText(speedup));
            speeds.push_back({.form = form,
                              .speedup = speedup,
                              .label = name + QStringLiteral(", ") + how,
                              .shortLabel = form == ExpectedSpeed::Form::AllCosts
                                                ? tr("all costs %1").arg(decimalText(speedup))
                                                : tr("equation 6: %1").arg(decimalText(speedup)),
                              .error = speedup / *measured - 1.0,
                              .how = how,
                              .isNear = isNear || form == ExpectedSpeed::Form::AllCosts});
        };
    engine::SpeedFactors factors = *costs;
    factors.verifyCost = 1.0;
    factors.otherCost = 0.0;
    const bool hasRatio = store.decoder() == nullptr || store.decoder()->hasDraftRatio;
    if (const auto ratio = skipRatio(store); ratio && hasRatio) {
        factors.draftCost = 1.0 - *ratio;
        add(ExpectedSpeed::Form::CostByCount,
            factors,
            tr("c = 1 − r = %1").arg(shareText(factors.draftCost)));
    }
    factors.draftCost = costs->draftCost;
    add(ExpectedSpeed::Form::MeasuredCost,
        factors,
        tr("c measured %1").arg(shareText(factors.draftCost)));
    add(ExpectedSpeed::Form::AllCosts,
        *costs,
        tr("v = %1, other %2").arg(shareText(costs->verifyCost), shareText(costs->otherCost)));
    return speeds;
}

QString equationText(const std::vector<ExpectedSpeed>& speeds) {
    QStringList words;
    for (const ExpectedSpeed& speed : speeds)
        if (speed.isEquationSix())
            words << tr("%1 (%2 %), %3")
                         .arg(decimalText(speed.speedup), signedPercent(speed.error), speed.how);
    return words.isEmpty() ? QString() : tr("equation 6: %1").arg(words.join(QStringLiteral("; ")));
}

std::vector<ExpectedGroup> groupsOf(std::vector<ExpectedSpeed> speeds, double tolerance) {
    std::ranges::sort(speeds, {}, &ExpectedSpeed::speedup);
    std::vector<ExpectedGroup> groups;
    for (const ExpectedSpeed& speed : speeds) {
        const bool isMeasured = speed.form == ExpectedSpeed::Form::MeasuredCost;
        if (groups.empty() || speed.speedup - groups.back().lowest > tolerance) {
            groups.push_back(
                {speed.speedup, speed.speedup, speed.label, speed.shortLabel, isMeasured});
            continue;
        }
        ExpectedGroup& group = groups.back();
        group.highest = speed.speedup;
        group.isMeasured |= isMeasured;
        const QString low = decimalText(group.lowest);
        const QString high = decimalText(group.highest);
        group.label = group.shortLabel =
            low == high ? tr("expected %1").arg(low) : tr("expected %1\u2013%2").arg(low, high);
    }
    return groups;
}

QString averageStepSentence(const SpeedLog& log) {
    for (const SpanFigures& span : {log.answer(), log.chat()})
        if (span.isDrafting())
            return averageStepSentence(sharesOf(span));
    if (log.isDraftingHidden())
        return tr("Only a search for a skip set has drafted here. Its steps are part of no answer, "
                  "so there are no times to show.");
    const auto drafts = [](const SpeedPoint& point) { return !point.isPlain; };
    if (log.marks().empty() || std::ranges::none_of(log.points(), drafts))
        return tr("No step has drafted yet, so there are no times to show.");
    return log.marks().back().cause == engine::SpanCause::Chat
               ? tr("No step of this chat has drafted yet, so there are no times to show.")
               : tr("No step has drafted with these settings yet, so there are no times to show.");
}

QString averageStepSentence(const TimeShares& shares) {
    const auto steps = static_cast<double>(shares.steps);
    const std::array<double, 4> parts = {shares.draftMs / steps,
                                         shares.verifyMs / steps,
                                         shares.searchMs / steps,
                                         shares.otherMs / steps};
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    // Short steps need a decimal, because whole milliseconds would all be 0 or 1.
    const double scale = sum < 20.0 ? 10.0 : 1.0;
    std::array<double, 4> scaled = parts;
    for (double& part : scaled)
        part *= scale;
    const auto whole = wholeParts(scaled);
    const auto number = [&](int value) {
        return QString::number(value / scale, 'f', scale > 1.0 ? 1 : 0);
    };
    const std::array<QString, 4> names = {
        tr("draft"), tr("verify"), tr("search"), tr("other", "time")};
    QStringList words;
    int total = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        total += whole[i];
        if (i != 2 || whole[i] > 0)
            words << QStringLiteral("%1 %2").arg(names[i], number(whole[i]));
    }
    return tr("An average step: %1 ms = %2, for M = %3 tokens.")
        .arg(number(total),
             words.join(QStringLiteral(" + ")),
             decimalText(static_cast<double>(shares.tokens) / steps));
}

} // namespace ui
