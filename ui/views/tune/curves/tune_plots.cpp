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

std::vector<PlotPoint> rawLosses(const TuningRun& run) {
    std::vector<PlotPoint> points;
    for (const LossPoint& loss : run.losses)
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
        sum = sum * kKept + loss.loss;
        weight = weight * kKept + 1.0;
        points.push_back({static_cast<double>(loss.step), sum / weight});
    }
    return points;
}

/// From 0 to a whole number above the highest point.
PlotRange lossRange(const CurvePoints& curves) {
    double highest = 1.0;
    for (const PlotPoint& point : curves.front())
        highest = std::max(highest, point.y);
    return {0.0, std::ceil(highest)};
}

std::vector<PlotPoint> acceptanceAt(const TuningRun& run, std::size_t depth) {
    std::vector<PlotPoint> points;
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
    double highest = 0.0;
    for (const std::vector<PlotPoint>& points : curves)
        for (const PlotPoint& point : points)
            highest = std::max(highest, point.y);
    return {0.0, std::clamp(std::ceil(highest * 5.0 + 0.5) / 5.0, 0.4, 1.0)};
}

/// From 1 to a half above the highest point, but to 4 at most.
PlotRange tokenRange(const CurvePoints& curves) {
    double highest = 1.0;
    for (const PlotPoint& point : curves.front())
        highest = std::max(highest, point.y);
    return {1.0, std::clamp(std::ceil(highest * 2.0 + 0.2) / 2.0, 2.0, 4.0)};
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
    plot.info = {QStringLiteral("tune_loss"),
                 tr("Loss"),
                 tr("How far the draft layer's probabilities are from the full model's own next "
                    "tokens, on the answers of each step. The pale line is measured every tenth "
                    "step, the coloured one is its running mean."),
                 {}};
    plot.subtitle = tr("of the drafted tokens, less is better");
    plot.y.tickCount = 4;
    plot.y.tickText = oneDecimal;
    plot.curves.push_back({{tr("loss"), &Colours::rawLine}, rawLosses});
    plot.curves.push_back(
        {{tr("loss, smoothed"), &Colours::accent, LineForm::Line, Dash::Solid, Marker::None, true},
         smoothedLosses,
         [](double loss) { return QString::number(loss, 'f', 2); }});
    plot.range = lossRange;
    plot.note = {tr("No step yet"),
                 tr("Training begins when there are enough answers. Each tenth step adds a point."),
                 {}};
    plot.summary = [](const TuningRun& run) {
        return run.losses.empty() ? QString()
                                  : tr("Step %1: loss %2.")
                                        .arg(run.losses.back().step)
                                        .arg(run.losses.back().loss, 0, 'f', 2);
    };
    return plot;
}

TunePlot acceptancePlot() {
    TunePlot plot;
    plot.info = {QStringLiteral("tune_acceptance"),
                 tr("Acceptance by depth"),
                 tr("On answers that are not trained on: the share of drafted tokens that are the "
                    "full model's own. Depth 1 is the first token of a draft; a deeper one counts "
                    "only where all before it were right. Compare table 1 of the EAGLE paper, "
                    "arXiv 2401.15077."),
                 {}};
    plot.subtitle = tr("of held-out answers, each depth given those before");
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
    plot.range = shareRange;
    plot.note = {tr("Not measured yet"),
                 tr("Every 100 steps and at the end the draft layer drafts held-out answers."),
                 {}};
    plot.summary = [](const TuningRun& run) {
        const TuningEvaluation* newest = run.newest();
        if (newest == nullptr)
            return QString();
        QStringList shares;
        for (const double share : newest->all.acceptance)
            shares << shareText(share);
        return tr("Step %1: acceptance by depth %2.")
            .arg(newest->step)
            .arg(shares.join(QStringLiteral(", ")));
    };
    return plot;
}

TunePlot roundPlot() {
    TunePlot plot;
    plot.info = {QStringLiteral("tune_round"),
                 tr("Tokens a round"),
                 tr("On answers that are not trained on: what a round writes when three tokens are "
                    "drafted, the full model's own token included. 1 is what a plain step writes; "
                    "4 would be a draft that is always right. Whether that is faster also depends "
                    "on what drafting costs on this computer; the chat measures it."),
                 {}};
    plot.subtitle = tr("three drafted, one own; 1 is a plain step");
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
                           [](double tokens) { return QString::number(tokens, 'f', 2); }});
    plot.range = tokenRange;
    plot.note = {tr("Not measured yet"),
                 tr("Every 100 steps and at the end the draft layer drafts held-out answers."),
                 {}};
    plot.summary = [](const TuningRun& run) {
        return run.newest() == nullptr ? QString()
                                       : tr("Step %1: %2 tokens a round.")
                                             .arg(run.newest()->step)
                                             .arg(run.newest()->all.tokensPerRound, 0, 'f', 2);
    };
    return plot;
}

} // namespace ui
