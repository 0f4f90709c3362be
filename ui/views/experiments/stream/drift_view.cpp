// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/drift_view.h"

#include "ui/plots/line_plot.h"
#include "ui/plots/marker_legend.h"
#include "ui/shell/figure_text.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ui {

namespace {

constexpr double kNoPoint = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kSmoothed = 7; ///< prompts in a mean of the line; of one task only
constexpr double kChangesAt = 0.06;  ///< of the axis, from its foot
constexpr int kBandRoom = 22;        ///< pixels above the speeds, for the names of tasks

/// The mean of the last values; begins anew with each task.
class RunningMean {
public:
    double add(double value) {
        m_values.push_back(value);
        if (m_values.size() > kSmoothed)
            m_values.erase(m_values.begin());
        double sum = 0.0;
        for (const double kept : m_values)
            sum += kept;
        return sum / static_cast<double>(m_values.size());
    }

    void clear() { m_values.clear(); }

private:
    std::vector<double> m_values;
};

/// A fifth above the highest, on a half; at least 1.5.
double niceTop(double highest) { return std::max(1.5, std::ceil(highest * 2.2) / 2.0); }

} // namespace

DriftView::DriftView(const ViewContext& context, QWidget* parent)
    : RunView(context,
              {QStringLiteral("drift"),
               tr("Drift"),
               tr("Above, the speed of each prompt over vanilla's on the same prompt; below, the "
                  "share of drafted tokens that were accepted. The line is the mean of up to seven "
                  "prompts of one task. A diamond marks a prompt from which on a new skip set "
                  "drafts. Compare figure 7 of the SWIFT paper."),
               {}},
              parent)
    , m_speed(makePlot(tr("Speed of each prompt")))
    , m_acceptance(makePlot(tr("Acceptance of each prompt"))) {
    m_speedPoints = m_speed->addSeries(
        {tr("speed"), &Colours::axis, LineForm::None, Dash::Solid, Marker::HollowCircle});
    m_speedLine = m_speed->addSeries(
        {tr("speed, smoothed"), &Colours::accent, LineForm::Line, Dash::Solid, Marker::None, true});
    m_changes = m_speed->addSeries(
        {tr("new set"), &Colours::accent, LineForm::None, Dash::Solid, Marker::FilledDiamond});
    m_acceptancePoints = m_acceptance->addSeries(
        {tr("acceptance"), &Colours::axis, LineForm::None, Dash::Solid, Marker::HollowCircle});
    m_acceptanceLine =
        m_acceptance->addSeries({tr("acceptance, smoothed"), &Colours::text, LineForm::Line});
    m_speed->setHeadroom(kBandRoom);
    AxisForm prompts;
    prompts.title = tr("prompt");
    prompts.tickCount = 8;
    m_acceptance->setXAxis(prompts);
    prompts.title.clear();
    m_speed->setXAxis(prompts);
    AxisForm shares;
    shares.tickCount = 3;
    shares.tickText = [](double share) { return QString::number(share, 'f', 1); };
    m_acceptance->setYAxis(shares);
    for (LinePlot* plot : {m_speed, m_acceptance})
        plot->setLeastTickText(QStringLiteral("0.0"));
    shares.tickCount = 4;
    shares.origin = 1.0;
    m_speed->setYAxis(shares);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_speed, 3);
    column->addWidget(m_acceptance, 2);
    showPicture();
}

LinePlot* DriftView::makePlot(const QString& name) {
    auto* plot = new LinePlot(theme(), name, this);
    connect(plot, &LinePlot::pointChosen, this, [this](double x) {
        emit promptChosen(static_cast<int>(std::lround(x)));
    });
    return plot;
}

QWidget* DriftView::makeLegend(QWidget* parent) {
    return new MarkerLegend(theme(),
                            {{tr("prompt"), Marker::HollowCircle, &Colours::axis},
                             {tr("smoothed"), Marker::None, &Colours::accent},
                             {tr("a new set drafts"), Marker::FilledDiamond, &Colours::accent}},
                            parent);
}

void DriftView::showPicture() {
    setSubtitle(subtitleFor(picture()));
    if (picture() == nullptr) {
        for (LinePlot* plot : {m_speed, m_acceptance}) {
            plot->clearPoints();
            plot->setBands({});
            plot->setReferences({});
            plot->setHome({0.0, 10.0}, {0.0, 1.5}); // whole prompts, before there is one
        }
    } else {
        showPoints(*picture());
        showBands(*picture());
        showSummary(*picture());
    }
    m_speed->setEmptyNote({tr("No prompt is answered yet"),
                           tr("Each prompt adds its speed over vanilla here, and its acceptance "
                              "below."),
                           {}});
    m_speed->refresh();
    m_acceptance->refresh();
}

/// A run that was stopped keeps its answers and its newest sets, but not what its searches had
/// tried.
QString DriftView::subtitleFor(const RunPicture* picture) {
    QStringList prompts;
    if (picture != nullptr)
        for (const engine::ShardResumed& resumed : picture->progress.resumed)
            prompts << QString::number(resumed.prompt + 1);
    return prompts.isEmpty() ? tr("one dot a prompt, in the order of the run")
                             : tr("resumed at prompt %1: the search began anew there, from the "
                                  "newest set")
                                   .arg(prompts.join(QStringLiteral(", ")));
}

void DriftView::showPoints(const RunPicture& picture) {
    std::vector<PlotPoint> speeds;
    std::vector<PlotPoint> speedLine;
    std::vector<PlotPoint> shares;
    std::vector<PlotPoint> shareLine;
    RunningMean speedMean;
    RunningMean shareMean;
    const PromptRow* before = nullptr;
    for (const PromptRow& row : picture.rows) {
        if (before != nullptr && before->task != row.task) {
            speedMean.clear();
            shareMean.clear();
            speedLine.push_back({static_cast<double>(row.prompt), kNoPoint});
            shareLine.push_back({static_cast<double>(row.prompt), kNoPoint});
        }
        before = &row;
        const double x = row.prompt;
        if (row.speed) {
            speeds.push_back({x, *row.speed});
            speedLine.push_back({x, speedMean.add(*row.speed)});
        } else { // nothing is drawn across what was not measured
            speedLine.push_back({x, kNoPoint});
        }
        if (const auto share = row.acceptance()) {
            shares.push_back({x, *share});
            shareLine.push_back({x, shareMean.add(*share)});
        }
    }
    m_speed->setPoints(m_speedPoints, speeds);
    m_speed->setPoints(m_speedLine, speedLine);
    m_acceptance->setPoints(m_acceptancePoints, shares);
    m_acceptance->setPoints(m_acceptanceLine, shareLine);
    double highest = 1.0;
    for (const PlotPoint& point : speeds)
        highest = std::max(highest, point.y);
    std::vector<PlotPoint> changes; // just above the axis
    for (const engine::ShardPlan& plan : picture.progress.plans)
        if (plan.variant == picture.facts->subject)
            changes.push_back({plan.prompt + 1.0, kChangesAt * niceTop(highest)});
    std::ranges::sort(changes, {}, &PlotPoint::x);
    m_speed->setPoints(m_changes, changes);
    const PlotRange prompts{0.0, static_cast<double>(picture.facts->tasks.size()) + 1.0};
    m_speed->setHome(prompts, {0.0, niceTop(highest)});
    m_acceptance->setHome(prompts, {0.0, 1.05});
}

void DriftView::showBands(const RunPicture& picture) {
    std::vector<PhaseBand> named;
    std::vector<PhaseBand> plain;
    bool isOdd = false;
    for (const TaskBand& band : taskBands(*picture.facts)) {
        isOdd = !isOdd;
        PhaseBand shown;
        shown.from = band.first + 0.5;
        shown.to = band.first + band.count + 0.5;
        shown.ground = isOdd ? &Colours::raised : &Colours::panel;
        plain.push_back(shown);
        shown.name = readableTaskTitle(band.task);
        shown.shortName = shown.name.left(6);
        named.push_back(std::move(shown));
    }
    m_speed->setBands(std::move(named));
    m_acceptance->setBands(std::move(plain));
    std::vector<ReferenceLine> lines;
    lines.push_back({1.0,
                     tr("speed: 1.0 = vanilla on the same prompts"),
                     &Colours::text,
                     Dash::Solid,
                     LabelSide::Right,
                     true});
    m_speed->setReferences(std::move(lines));
    m_acceptance->setReferences({{1.0,
                                  tr("acceptance: accepted / drafted"),
                                  &Colours::muted,
                                  Dash::Dotted,
                                  LabelSide::Right,
                                  true}});
}

void DriftView::showSummary(const RunPicture& picture) {
    if (picture.rows.empty())
        return;
    const PromptRow& newest = picture.rows.back();
    QString speed = newest.speed ? factorText(*newest.speed) : tr("not measured");
    m_speed->setSummary(tr("Prompt %1 of %2, %3: %4 vanilla.")
                            .arg(newest.prompt)
                            .arg(picture.facts->tasks.size())
                            .arg(readableTaskTitle(newest.task), speed));
    if (const auto share = newest.acceptance())
        m_acceptance->setSummary(tr("Prompt %1: accepted / drafted %2 / %3 (%4).")
                                     .arg(newest.prompt)
                                     .arg(newest.accepted)
                                     .arg(newest.drafted)
                                     .arg(shareText(*share)));
}

FigureTable DriftView::table() const {
    FigureTable table;
    table.header = {
        tr("prompt"), tr("task"), tr("speedup"), tr("accepted"), tr("drafted"), tr("acceptance")};
    if (picture() == nullptr)
        return table;
    for (const PromptRow& row : picture()->rows)
        table.rows.push_back({QString::number(row.prompt),
                              row.task,
                              row.speed ? numberCell(*row.speed) : QString(),
                              QString::number(row.accepted),
                              QString::number(row.drafted),
                              row.acceptance() ? numberCell(*row.acceptance()) : QString()});
    return table;
}

QSize DriftView::sizeHint() const { return {theme().scaled(640), theme().scaled(230)}; }

QSize DriftView::minimumSizeHint() const { return {theme().scaled(300), theme().scaled(190)}; }

} // namespace ui
