// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/tune/curves/tune_curve_view.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ui {

namespace {

using CurvePoints = std::vector<std::vector<PlotPoint>>;

QString oneDecimal(double value) { return QString::number(value, 'f', 1); }

/// Of a copy of the model, what its drafts are trained by.
double draftLoss(const LossPoint& point) { return point.drafting.value_or(point.loss); }

std::vector<PlotPoint> rawLosses(const TuningRun& run) {
    std::vector<PlotPoint> points;
    for (const LossPoint& loss : run.losses)
        points.push_back({static_cast<double>(loss.step), draftLoss(loss)});
    return points;
}

/// How far a copy is from the untouched model; nothing for a layer beside it.
std::vector<PlotPoint> distances(const TuningRun& run) {
    std::vector<PlotPoint> points;
    for (const LossPoint& loss : run.losses)
        if (loss.drafting)
            points.push_back({static_cast<double>(loss.step), loss.loss});
    return points;
}

/// Each point counts an eighth; the first ones are not pulled towards 0.
std::vector<PlotPoint> smoothedLosses(const TuningRun& run) {
    constexpr double kKept = 7.0 / 8.0;
    std::vector<PlotPoint> points;
    double sum = 0.0;
    double weight = 0.0;
    for (const LossPoint& loss : run.losses) {
        sum = sum * kKept + draftLoss(loss);
        weight = weight * kKept + 1.0;
        points.push_back({static_cast<double>(loss.step), sum / weight});
    }
    return points;
}

/// Of all points, but `least` at least.
double highestOf(const CurvePoints& curves, double least) {
    for (const std::vector<PlotPoint>& points : curves)
        for (const PlotPoint& point : points)
            least = std::max(least, point.y);
    return least;
}

/// From 0 to a whole number above the highest point.
PlotRange lossRange(const CurvePoints& curves) { return {0.0, std::ceil(highestOf(curves, 1.0))}; }

/// Nothing for a depth that no draft reaches, as SPACE has only as many as masks.
std::vector<PlotPoint> acceptanceAt(const TuningRun& run, std::size_t depth) {
    std::vector<PlotPoint> points;
    const auto reaches = [depth](const TuningEvaluation& one) {
        return depth < one.all.acceptance.size() && one.all.acceptance[depth] > 0.0;
    };
    if (std::ranges::none_of(run.evaluations, reaches))
        return points;
    for (const TuningEvaluation& one : run.evaluations)
        if (depth < one.all.acceptance.size())
            points.push_back({static_cast<double>(one.step), one.all.acceptance[depth]});
    return points;
}

std::vector<PlotPoint> roundPoints(const TuningRun& run) {
    std::vector<PlotPoint> points;
    for (const TuningEvaluation& one : run.evaluations)
        points.push_back({static_cast<double>(one.step), one.all.tokensPerRound});
    return points;
}

/// From 0 to a fifth above the highest point, but to 1 at most.
PlotRange shareRange(const CurvePoints& curves) {
    const double highest = highestOf(curves, 0.0);
    return {0.0, std::clamp(std::ceil(highest * 5.0 + 0.5) / 5.0, 0.4, 1.0)};
}

/// What a draft of three that is right gives.
constexpr double kMostPerRound = 4.0;

/// From 1 to a half above the highest point, but no further than a round can get.
PlotRange tokenRange(const CurvePoints& curves) {
    const double highest = highestOf(curves, 1.0);
    return {1.0, std::clamp(std::ceil(highest * 2.0 + 0.2) / 2.0, 2.0, kMostPerRound)};
}

/// The acceptance from which on drafting pays at the prices of this computer.
std::vector<TuneLine> acceptanceLines(const TuningSession& session) {
    const auto& prices = session.run().prices;
    if (!prices || !prices->breakEven)
        return {};
    return {{tr("break-even"),
             {.value = *prices->breakEven,
              .label = tr("drafting pays from %1 on").arg(shareText(*prices->breakEven)),
              .colour = &Colours::text,
              .dash = Dash::Dashed}}};
}

/// What a round must write to be as fast as plain steps, and as Auto is without the layer.
std::vector<TuneLine> roundLines(const TuningSession& session) {
    const auto& prices = session.run().prices;
    const auto round = prices ? prices->round(3) : std::nullopt;
    if (!round || *round > kMostPerRound)
        return {};
    std::vector<TuneLine> lines{
        {tr("break-even with plain steps"),
         {.value = *round,
          .label = tr("break-even with plain steps: %1").arg(decimalText(*round)),
          .colour = &Colours::text,
          .isLabelBelow = true}}};
    const bool isCompared = session.recipe() == TuningRecipe::Draft && session.isComparisonOwn() &&
                            session.comparison().isMeasured();
    const double fast = isCompared ? session.comparison().prompts().all().without : 0.0;
    if (fast > 0.0 && fast * *round <= kMostPerRound) {
        lines.push_back({tr("break-even with Auto as it is"),
                         {.value = fast * *round,
                          .label = tr("break-even with Auto as it is (%1): %2")
                                       .arg(factorText(fast), decimalText(fast * *round)),
                          .colour = &Colours::muted,
                          .dash = Dash::Dashed}});
    }
    return lines;
}

/// Only the end tells whether there were enough prompts to hold some out of the training.
QString acceptanceSubtitle(const TuningRun& run) {
    if (!run.done)
        return tr("each depth given those before");
    return run.done->isHeldOut
               ? tr("of held-out answers, each depth given those before")
               : tr("of answers that were trained on, each depth given those before");
}

struct DepthLook {
    ColourName colour;
    Dash dash;
    Marker marker;
};

constexpr std::array<DepthLook, 4> kDepthLooks = {
    {{&Colours::accent, Dash::Solid, Marker::FilledDiamond},
     {&Colours::text, Dash::Solid, Marker::HollowCircle},
     {&Colours::text, Dash::Dashed, Marker::HollowSquare},
     {&Colours::muted, Dash::Dotted, Marker::HollowTriangle}}};

} // namespace

TunePlot lossPlot() {
    TunePlot plot;
    plot.info = {
        QStringLiteral("tune_loss"),
        tr("Loss"),
        tr("How far the probabilities of drafts are from the full model's own next tokens, "
           "on the answers of each step. The pale line is measured every tenth step, the "
           "coloured one is its running mean. Of a copy of the model, the dashed line "
           "tells how far it is from the model itself; it should stay near 0."),
        {}};
    plot.subtitle = [](const TuningRun&) { return tr("of the drafted tokens, less is better"); };
    plot.y.tickCount = 4;
    plot.y.tickText = oneDecimal;
    plot.curves.push_back({{tr("loss"), &Colours::rawLine}, rawLosses});
    plot.curves.push_back(
        {{tr("loss, smoothed"), &Colours::accent, LineForm::Line, Dash::Solid, Marker::None, true},
         smoothedLosses,
         decimalText});
    plot.curves.push_back(
        {{tr("distance from the model"), &Colours::muted, LineForm::Line, Dash::Dashed},
         distances,
         [](double loss) { return tr("from the model %1").arg(decimalText(loss)); }});
    plot.range = lossRange;
    plot.note = {tr("No step yet"),
                 tr("Training begins when there are enough answers. Each tenth step adds a point."),
                 {}};
    plot.summary = [](const TuningRun& run) {
        return run.losses.empty() ? QString()
                                  : tr("Step %1: loss %2.")
                                        .arg(run.losses.back().step)
                                        .arg(decimalText(draftLoss(run.losses.back())));
    };
    return plot;
}

TunePlot acceptancePlot() {
    TunePlot plot;
    plot.info = {
        QStringLiteral("tune_acceptance"),
        tr("Acceptance by depth"),
        tr("On answers that are not trained on, if there are enough prompts: the share of "
           "drafted tokens that are the "
           "full model's own. Depth 1 is the first token of a draft; a deeper one counts "
           "only where all before it were right. From the dashed line on drafting is faster "
           "than plain steps here, if every depth reaches it: where "
           "1 + a + a\u00B2 + ... = g c + v(g + 1), for g drafted tokens at the cost c and "
           "a check of g + 1 rows at the cost v. Compare table 1 of the EAGLE paper, "
           "arXiv 2401.15077."),
        {}};
    plot.subtitle = acceptanceSubtitle;
    plot.y.tickCount = 5;
    plot.y.tickText = oneDecimal;
    for (std::size_t depth = 0; depth < kDepthLooks.size(); ++depth) {
        const DepthLook& look = kDepthLooks[depth];
        const QString name = tr("depth %1").arg(depth + 1);
        plot.curves.push_back(
            {{name, look.colour, LineForm::Line, look.dash, look.marker},
             [depth](const TuningRun& run) { return acceptanceAt(run, depth); },
             [name](double share) { return QStringLiteral("%1 %2").arg(name, shareText(share)); }});
    }
    plot.lines = acceptanceLines;
    plot.range = shareRange;
    plot.note = {
        tr("Not measured yet"), tr("Every 100 steps and at the end some answers are drafted."), {}};
    plot.summary = [](const TuningRun& run) {
        const TuningEvaluation* newest = run.newest();
        if (newest == nullptr)
            return QString();
        QStringList shares;
        for (std::size_t depth = 0; depth < newest->all.acceptance.size(); ++depth)
            if (depth == 0 || !acceptanceAt(run, depth).empty())
                shares << shareText(newest->all.acceptance[depth]);
        return tr("Step %1: acceptance by depth %2.")
            .arg(newest->step)
            .arg(shares.join(QStringLiteral(", ")));
    };
    return plot;
}

TunePlot roundPlot() {
    TunePlot plot;
    plot.info = {
        QStringLiteral("tune_round"),
        tr("Tokens a round"),
        tr("On answers that are not trained on, if there are enough prompts: what a round "
           "writes when three tokens are "
           "drafted (of a copy for SPACE one for each mask), the full model's own token included. "
           "1 is what a plain step writes; "
           "4 would be a draft that is always right. Above the full line that is faster than "
           "plain steps here: it is 3 c + v(4), three drafted tokens and a check of four "
           "rows. Above the dashed one it is faster than Auto without the layer, once that "
           "was compared."),
        {}};
    plot.subtitle = [](const TuningRun&) {
        return tr("drafted ones and one own; 1 is a plain step");
    };
    plot.y.tickCount = 5;
    plot.y.origin = 1.0;
    plot.y.tickText = oneDecimal;
    plot.curves.push_back({{tr("tokens a round"),
                            &Colours::accent,
                            LineForm::Line,
                            Dash::Solid,
                            Marker::HollowCircle,
                            true},
                           roundPoints,
                           decimalText});
    plot.lines = roundLines;
    plot.range = tokenRange;
    plot.note = {
        tr("Not measured yet"), tr("Every 100 steps and at the end some answers are drafted."), {}};
    plot.summary = [](const TuningRun& run) {
        return run.newest() == nullptr ? QString()
                                       : tr("Step %1: %2 tokens a round.")
                                             .arg(run.newest()->step)
                                             .arg(run.newest()->all.tokensPerRound, 0, 'f', 2);
    };
    return plot;
}

} // namespace ui
