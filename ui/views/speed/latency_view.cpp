// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/latency_view.h"

#include "ui/views/speed/speed_figures.h"

#include <QVBoxLayout>

namespace ui {

namespace {

ViewInfo latencyInfo() {
    return {
        QStringLiteral("latency"),
        LatencyView::tr("Latency"),
        LatencyView::tr("How the time of the steps was spent: drafting, checking with the full "
                        "model, searching for a better skip set, and the rest. Compare figure 6, "
                        "right, of the SWIFT paper."),
        Topic::Speed | Topic::Decoder | Topic::Model,
        250};
}

/// Nothing if no step drafted: a plain step is one pass.
Bar barOf(const QString& name, const TimeShares& shares) {
    if (shares.drafting == 0)
        return {name, {0.0, 0.0, 0.0, 0.0}};
    return {name, {shares.draftMs, shares.verifyMs, shares.searchMs, shares.otherMs}};
}

} // namespace

LatencyView::LatencyView(const ViewContext& context, QWidget* parent)
    : View(context, latencyInfo(), parent)
    , m_bars(new StackedBars(theme(), tr("Shares of a step's time"), tr("ms"), this)) {
    m_bars->setParts({{tr("draft"), &Colours::draftTime, &Colours::onDraftTime},
                      {tr("verify"), &Colours::verifyTime, &Colours::onVerifyTime},
                      {tr("search"), &Colours::searchTime, &Colours::text},
                      {tr("other", "time"), &Colours::otherTime, &Colours::text}});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_bars);
    column->addStretch(1);
    setAutoFillBackground(true);
    connect(&theme(), &Theme::changed, this, &LatencyView::restyle);
    restyle();
    refreshView({});
}

void LatencyView::restyle() { setGround(*this, theme().colours().panel); }

void LatencyView::refreshView(Topics) {
    const SpeedLog& log = store().speed();
    const TimeShares answer = sharesOf(log.answer());
    const TimeShares all = sharesOf(log.chat());
    m_bars->setBars({barOf(tr("This answer"), answer), barOf(tr("This chat"), all)},
                    averageStepSentence(log));
    setSubtitle(tr("time of a decode step"));
    setBadge(all.steps > 0 ? newestBadge() : QString());
}

FigureTable LatencyView::table() const { return m_bars->table(); }

void LatencyView::drawFigure(QPainter& painter, const QSize& size) {
    paintPicture(*m_bars, painter, size);
}

} // namespace ui
