// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/speed_view.h"

#include "ui/plots/drawing/plot_ticks.h"
#include "ui/shell/live_label.h"
#include "ui/views/speed/no_gain_notice.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ui {

namespace {

constexpr double kSmoothing = 0.2;      ///< weight of the newest .4 s
constexpr double kUnitTolerance = 5e-3; ///< a baseline that moves less leaves the lines as they are
constexpr double kGridStep = 0.4;       ///< of the speedup axis: its ends lie on ticks
constexpr double kHighestSpeedup = 5.0; ///< a freak step does not flatten all others

ViewInfo speedInfo() {
    return {
        QStringLiteral("speed"),
        SpeedView::tr("Speed"),
        SpeedView::tr(
            "How fast the text came, .4 s by .4 s of decoding, as a multiple of the full model's "
            "own plain "
            "steps, which are measured in the same run. Dashed and dotted lines are what "
            "equation 6 of the paper promises from the acceptance and the cost of a draft pass. "
            "Mirrors figure 6, left, of the SWIFT paper."),
        Topic::Speed | Topic::Search | Topic::Decoder | Topic::Model};
}

double noValue() { return std::numeric_limits<double>::quiet_NaN(); }

} // namespace

SpeedView::SpeedView(const ViewContext& context, SpeedForm form, QWidget* parent)
    : View(context, speedInfo(), parent)
    , m_form(form) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    if (form == SpeedForm::Full) {
        m_noGain = new NoGainNotice(theme(), this);
        column->addWidget(m_noGain);
    }
    makeHeader();
    makePlot();
    column->addWidget(m_header);
    column->addWidget(m_plot, 1);
    setAutoFillBackground(true);
    connect(&theme(), &Theme::changed, this, &SpeedView::restyle);
    restyle();
    refreshView({});
}

void SpeedView::makeHeader() {
    m_header = new QWidget(this);
    using Fit = LiveLabel::Fit;
    m_headline = new LiveLabel(theme(), TextRole::Headline, &Colours::accent, Fit::Whole, m_header);
    m_detail = new LiveLabel(theme(), TextRole::Small, &Colours::muted, Fit::Wrapped, m_header);
    auto* row = new QHBoxLayout(m_header);
    row->addWidget(m_headline, 0, Qt::AlignBottom);
    row->addWidget(m_detail, 1, Qt::AlignBottom);
    if (m_form == SpeedForm::Compact)
        return;
    const auto addButton = [&](const QString& text, const QString& name) {
        auto* button = new QPushButton(text, m_header);
        button->setProperty("form", "small");
        button->setCheckable(true);
        button->setAccessibleName(name);
        button->setToolTip(name);
        row->addWidget(button);
        return button;
    };
    m_unitButton = addButton(tr("tok/s"), tr("Show tokens per second"));
    m_smoothButton = addButton(tr("Smooth"), tr("Draw a smoothed line over the raw one"));
    connect(m_unitButton, &QPushButton::toggled, this, &SpeedView::setInTokensPerSecond);
    connect(m_smoothButton, &QPushButton::toggled, this, &SpeedView::setSmoothed);
}

void SpeedView::makePlot() {
    m_plot = new LinePlot(theme(), tr("Speed over the time of decoding"), this);
    m_plot->addSeries({tr("raw"), &Colours::rawLine});
    m_plot->addSeries({tr("whole run"), &Colours::text, LineForm::Line, Dash::Dotted});
    m_plot->addSeries({tr("speed"), &Colours::accent});
    m_plot->addSeries(
        {tr("now"), &Colours::accent, LineForm::Line, Dash::Solid, Marker::None, true});
    m_plot->setSeriesShown(Whole, m_form == SpeedForm::Full);
    m_plot->setEmptyNote({tr("Nothing decoded yet"),
                          tr("The first answer draws its speed here, against plain steps of the "
                             "full model that are measured on the way."),
                          {}});
}

void SpeedView::restyle() {
    const Colours& colours = theme().colours();
    QPalette ground = palette();
    ground.setColor(QPalette::Window, colours.panel);
    setPalette(ground);
    m_header->layout()->setContentsMargins(
        theme().scaled(12), theme().scaled(8), theme().scaled(12), 0);
    m_header->layout()->setSpacing(theme().scaled(8));
}

void SpeedView::refreshView(Topics) {
    m_expected = expectedSpeeds(store());
    updatePoints();
    updateReferences();
    updateAxes();
    updateHeader();
    if (m_noGain != nullptr)
        m_noGain->update(gainFinding(store()));
    setSubtitle(isInTokensPerSecond() ? tr("tokens per second, last 60 s of decoding")
                                      : tr("× vanilla, last 60 s of decoding"));
    setBadge(m_curve.isEmpty() ? QString() : tr("live"));
    m_plot->refresh();
}

bool SpeedView::isInTokensPerSecond() const {
    // Before the first step there is nothing in either unit: the axis of speedups stands there.
    if (m_curve.isEmpty() && !store().speed().baselineMs())
        return false;
    return m_wantsTokens || !store().speed().baselineMs();
}

double SpeedView::unit() const {
    return isInTokensPerSecond() ? 1e3 : store().speed().baselineMs().value_or(1e3);
}

void SpeedView::updateHeader() {
    const auto now = speedOfLast(store().speed(), kNowSeconds);
    m_header->setVisible(now.has_value());
    if (!now) {
        m_headline->setText({});
        m_detail->setText({});
        return;
    }
    const QString rate = QString::number(now->tokensPerSecond, 'f', 1);
    if (now->speedup) {
        m_headline->setText(QStringLiteral("%1×").arg(*now->speedup, 0, 'f', 2));
        m_detail->setText(now->isDrafting ? tr("%1 tok/s now").arg(rate)
                                          : tr("%1 tok/s now, plain steps").arg(rate));
    } else {
        m_headline->setText(rate);
        m_detail->setText(tr("tok/s; baseline not measured yet"));
    }
    m_plot->setSummary(m_headline->text() + QChar(' ') + m_detail->text());
}

void SpeedView::updateReferences() {
    std::vector<ReferenceLine> lines;
    const auto baselineMs = store().speed().baselineMs();
    const bool isFull = m_form == SpeedForm::Full;
    if (baselineMs) {
        const double scale = unit() / *baselineMs; // of a speedup on the axis
        const QString rate = QString::number(1e3 / *baselineMs, 'f', 1);
        lines.push_back({scale,
                         isFull ? tr("vanilla, measured = 1.0 (%1 tok/s)").arg(rate)
                                : tr("vanilla, measured = 1.0"),
                         &Colours::text,
                         Dash::Solid,
                         LabelSide::Right,
                         true});
        for (const ExpectedSpeed& speed : m_expected) {
            const bool isMeasured = speed.form == ExpectedSpeed::Form::MeasuredCost;
            if (!isFull && !isMeasured)
                continue;
            const Dash dash = isMeasured                                       ? Dash::Dashed
                              : speed.form == ExpectedSpeed::Form::CostByCount ? Dash::Dotted
                                                                               : Dash::DashDotted;
            lines.push_back({speed.speedup * scale,
                             isFull ? speed.label : speed.shortLabel,
                             &Colours::muted,
                             dash,
                             LabelSide::Left,
                             false});
        }
    }
    m_plot->setReferences(std::move(lines));
    const auto whole = store().speed().wholeSpeedup();
    m_plot->setSeriesLabel(
        Whole, {whole ? tr("whole run %1").arg(QString::number(*whole, 'f', 2)) : QString(), true});
}

void SpeedView::updatePoints() {
    const bool isContinued = m_curve.update(store().speed());
    const double change = std::abs(unit() - m_fedUnit);
    feed(!isContinued || change > kUnitTolerance * unit());
}

void SpeedView::feed(bool isAnew) {
    if (isAnew) {
        m_plot->clearPoints();
        m_fedSamples = 0;
        m_fedUnit = unit();
    }
    const auto& samples = m_curve.samples();
    for (; m_fedSamples < samples.size(); ++m_fedSamples)
        appendSample(samples[m_fedSamples]);
    feedNewest();
}

void SpeedView::appendSample(const SpeedCurve::Sample& sample) {
    m_smooth = m_fedSamples == 0 ? sample.tokensPerMs
                                 : m_smooth + kSmoothing * (sample.tokensPerMs - m_smooth);
    const double raw = sample.tokensPerMs * m_fedUnit;
    if (m_isSmoothed)
        m_plot->append(Raw, {sample.seconds, raw});
    m_plot->append(Now, {sample.seconds, m_isSmoothed ? m_smooth * m_fedUnit : raw});
    m_plot->append(
        Whole,
        {sample.seconds, sample.wholePerMs > 0.0 ? sample.wholePerMs * m_fedUnit : noValue()});
}

/// The span that has begun changes with every step: it is a line of its own, two points long.
void SpeedView::feedNewest() {
    std::vector<PlotPoint> points;
    const auto& samples = m_curve.samples();
    const double smooth = m_smooth * m_fedUnit;
    if (!samples.empty())
        points.push_back({samples.back().seconds,
                          m_isSmoothed ? smooth : samples.back().tokensPerMs * m_fedUnit});
    if (const auto open = m_curve.openSample())
        points.push_back(
            {open->seconds,
             m_isSmoothed && !samples.empty() ? smooth : open->tokensPerMs * m_fedUnit});
    m_plot->setPoints(Newest, points);
}

PlotRange SpeedView::yRange() const {
    const double one = isInTokensPerSecond() && store().speed().baselineMs()
                           ? unit() / *store().speed().baselineMs()
                           : 1.0;
    double low = 0.6 * one;
    double high = 1.8 * one;
    if (isInTokensPerSecond() && !store().speed().baselineMs())
        high = 0.0;
    for (const ExpectedSpeed& speed : m_expected)
        high = std::max(high, (speed.speedup + 0.1) * one);
    const double from = m_curve.newestSeconds() - kShownSeconds;
    const auto& samples = m_curve.samples();
    for (auto sample = samples.rbegin(); sample != samples.rend() && sample->seconds >= from;
         ++sample) {
        low = std::min(low, sample->tokensPerMs * unit());
        high = std::max(high, sample->tokensPerMs * unit());
    }
    if (const auto open = m_curve.openSample(); open && samples.empty())
        high = std::max(high, open->tokensPerMs * unit());
    if (isInTokensPerSecond())
        return {0.0, high > 0.0 ? 1.1 * high : 1.0};
    high = std::min(high, kHighestSpeedup);
    return {std::max(0.0, 1.0 - kGridStep * std::ceil((1.0 - low) / kGridStep - 1e-9)),
            1.0 + kGridStep * std::ceil((high - 1.0) / kGridStep - 1e-9)};
}

void SpeedView::updateAxes() {
    const double now = m_curve.newestSeconds();
    AxisForm x;
    x.origin = now;
    x.tickText = [now](double seconds) {
        const double ago = seconds - now;
        if (std::abs(ago) < 1e-6)
            return tr("now");
        const QString number = plainNumber(ago, std::abs(ago - std::round(ago)) < 1e-6 ? 0 : 1);
        return ago < -kShownSeconds + 0.5 ? tr("%1 s").arg(number) : number;
    };
    AxisForm y;
    y.origin = isInTokensPerSecond() ? 0.0 : 1.0;
    y.tickCount = 5;
    m_plot->setXAxis(x);
    m_plot->setYAxis(y);
    m_plot->setHome({now - kShownSeconds, now}, yRange());
}

void SpeedView::setSmoothed(bool isSmoothed) {
    if (m_isSmoothed == isSmoothed)
        return;
    m_isSmoothed = isSmoothed;
    if (m_smoothButton != nullptr)
        m_smoothButton->setChecked(isSmoothed);
    feed(true);
    m_plot->refresh();
}

void SpeedView::setInTokensPerSecond(bool isInTokens) {
    if (m_wantsTokens == isInTokens)
        return;
    m_wantsTokens = isInTokens;
    if (m_unitButton != nullptr)
        m_unitButton->setChecked(isInTokens);
    refreshView({});
}

QString SpeedView::headline() const { return m_headline->text(); }

QString SpeedView::detail() const { return m_detail->text(); }

FigureTable SpeedView::table() const {
    FigureTable figure{{tr("seconds of decoding"),
                        tr("tokens per second"),
                        tr("speedup"),
                        tr("speedup of the whole run")},
                       {}};
    const auto baselineMs = store().speed().baselineMs();
    const auto number = [](double value) {
        return QString::number(value, 'g', QLocale::FloatingPointShortest);
    };
    std::vector<SpeedCurve::Sample> samples = m_curve.samples();
    if (const auto open = m_curve.openSample())
        samples.push_back(*open);
    for (const SpeedCurve::Sample& sample : samples)
        figure.rows.push_back({number(sample.seconds),
                               number(sample.tokensPerMs * 1e3),
                               baselineMs ? number(sample.tokensPerMs * *baselineMs) : QString(),
                               baselineMs && sample.wholePerMs > 0.0
                                   ? number(sample.wholePerMs * *baselineMs)
                                   : QString()});
    return figure;
}

void SpeedView::drawFigure(QPainter& painter, const QSize& size) {
    paintPicture(*m_plot, painter, size);
}

} // namespace ui
