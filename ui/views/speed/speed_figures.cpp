// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/speed_figures.h"

#include "ui/views/speed/gain_finding.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <ranges>

namespace ui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("SpeedFigures", text); }

QString timesText(double factor) { return QString::number(factor, 'f', 2); }

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
    const BestSet* set = store.search().current();
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

std::optional<SpeedNow> speedOfLast(const SpeedLog& log, double seconds) {
    const TimeShares own = log.sharesOfLast(seconds);
    double tokens = static_cast<double>(own.tokens);
    double ms = own.totalMs();
    if (own.steps == 0) {
        double decodedMs = 0.0;
        for (const SpeedPoint& point : log.points() | std::views::reverse) {
            if (decodedMs > seconds * 1e3)
                break;
            decodedMs += point.totalMs();
            tokens += point.tokens;
            ms += point.totalMs();
        }
    }
    if (ms <= 0.0)
        return std::nullopt;
    SpeedNow now{1e3 * tokens / ms, std::nullopt, own.drafting > 0};
    if (const auto baselineMs = log.baselineMs())
        now.speedup = *baselineMs * tokens / ms;
    return now;
}

std::vector<ExpectedSpeed> expectedSpeeds(const RunStore& store) {
    std::vector<ExpectedSpeed> speeds;
    const auto measured = store.speed().measuredFactors();
    if (!measured)
        return speeds;
    const auto add =
        [&](ExpectedSpeed::Form form, const engine::SpeedFactors& factors, QString how) {
            const double speedup = engine::expectedSpeedup(factors);
            const QString name = tr("expected %1").arg(timesText(speedup));
            speeds.push_back({form, speedup, name + std::move(how), name});
        };
    engine::SpeedFactors factors = *measured;
    factors.verifyCost = 1.0;
    factors.otherCost = 0.0;
    if (const auto ratio = skipRatio(store)) {
        factors.draftCost = 1.0 - *ratio;
        add(ExpectedSpeed::Form::CostByCount,
            factors,
            tr(", c = 1 − r = %1").arg(shareText(factors.draftCost)));
    }
    factors.draftCost = measured->draftCost;
    add(ExpectedSpeed::Form::MeasuredCost,
        factors,
        tr(", c measured %1").arg(shareText(factors.draftCost)));
    add(ExpectedSpeed::Form::AllCosts,
        *measured,
        tr(", v = %1, other %2")
            .arg(shareText(measured->verifyCost), shareText(measured->otherCost)));
    return speeds;
}

QString averageStepSentence(const TimeShares& shares) {
    if (shares.drafting == 0)
        return tr("No step has drafted yet, so there is nothing to divide.");
    const auto steps = static_cast<double>(shares.steps);
    const std::array<double, 4> parts = {shares.draftMs / steps,
                                         shares.verifyMs / steps,
                                         shares.searchMs / steps,
                                         shares.otherMs / steps};
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    // Short steps need a decimal: whole milliseconds would all be 0 or 1.
    const double scale = sum < 20.0 ? 10.0 : 1.0;
    std::array<double, 4> scaled = parts;
    for (double& part : scaled)
        part *= scale;
    const auto whole = wholeParts(scaled);
    const auto number = [&](int value) {
        return QString::number(value / scale, 'f', scale > 1.0 ? 1 : 0);
    };
    const std::array<QString, 4> names = {tr("draft"), tr("verify"), tr("search"), tr("other")};
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
             QString::number(static_cast<double>(shares.tokens) / steps, 'f', 2));
}

} // namespace ui
