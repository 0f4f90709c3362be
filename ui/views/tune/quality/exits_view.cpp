// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/quality/exits_view.h"

#include "ui/plots/line_plot.h"
#include "ui/shell/figure_text.h"

#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kFirst = 0; ///< series
constexpr int kNow = 1;

std::vector<PlotPoint> pointsOf(const std::vector<double>& shares) {
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < shares.size(); ++i)
        points.push_back({static_cast<double>(i), shares[i]});
    return points;
}

} // namespace

ExitsView::ExitsView(const ViewContext& context, const TuningSession& session, QWidget* parent)
    : TuneView(context,
               session,
               {QStringLiteral("tune_exits"),
                tr("Exits"),
                tr("On answers that are not trained on, if there are enough prompts: the share of "
                   "tokens that the copy would "
                   "say if it stopped behind a layer, counted from 0. The earlier a layer that is "
                   "often right, the cheaper are drafts. The pale line is the first measure. "
                   "Compare figure 2 of the LayerSkip paper, arXiv 2404.16710."),
                {}},
               parent)
    , m_plot(new LinePlot(theme(), info().title, this)) {
    m_plot->addSeries({tr("first measure"), &Colours::rawLine});
    m_plot->addSeries(
        {tr("now"), &Colours::accent, LineForm::Line, Dash::Solid, Marker::HollowCircle, false});
    AxisForm layers;
    layers.title = tr("layer");
    layers.tickCount = 6;
    m_plot->setXAxis(layers);
    AxisForm shares;
    shares.tickCount = 5;
    shares.tickText = [](double share) { return QString::number(share, 'f', 1); };
    m_plot->setYAxis(shares);
    m_plot->setLeastTickText(QStringLiteral("0.0"));
    m_plot->setEmptyNote({tr("Not measured yet"),
                          tr("Every 100 steps and at the end each exit reads some answers."),
                          {}});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_plot);
}

void ExitsView::showRun() {
    m_now = run().exits();
    m_first = run().evaluations.empty() ? std::vector<double>() : run().evaluations.front().exits;
    m_plot->setPoints(kFirst, pointsOf(m_first));
    m_plot->setPoints(kNow, pointsOf(m_now));
    constexpr std::size_t kNotKnown = 10; // layers
    const std::size_t last = m_now.empty() ? kNotKnown : std::max<std::size_t>(m_now.size(), 2) - 1;
    m_plot->setHome({0.0, static_cast<double>(last)}, {0.0, 1.0});
    const std::size_t middle = m_now.size() / 2;
    m_plot->setSummary(m_now.empty() ? QString()
                                     : tr("Behind layer %1, %2 of the tokens are right.")
                                           .arg(middle)
                                           .arg(shareText(m_now[middle])));
    m_plot->refresh();
    setSubtitle(m_now.empty()    ? QString()
                : run().done     ? tr("of the result")
                : run().newest() ? tr("step %1").arg(numberText(run().newest()->step))
                                 : QString());
}

FigureTable ExitsView::table() const {
    FigureTable table;
    table.header << tr("layer") << tr("first measure") << tr("now");
    for (std::size_t i = 0; i < m_now.size(); ++i)
        table.rows.push_back({QString::number(i),
                              i < m_first.size() ? numberCell(m_first[i]) : QString(),
                              numberCell(m_now[i])});
    return table;
}

QSize ExitsView::sizeHint() const { return {theme().scaled(470), theme().scaled(240)}; }

QSize ExitsView::minimumSizeHint() const { return {theme().scaled(250), theme().scaled(170)}; }

} // namespace ui
