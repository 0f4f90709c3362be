// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/speed_view.h"

#include "ui/plots/drawing/labels/plot_ticks.h"
#include "ui/shell/widgets/live_label.h"
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

constexpr double kUnitTolerance = 5e-3; ///< a baseline that moves less leaves the lines as they are
constexpr double kGridStep = 0.4;       ///< of the speedup axis: its ends lie on ticks
constexpr double kHighestSpeedup = 5.0; ///< so that one extreme step does not flatten all others;
                                        ///< what is as fast over 2 s is seen whole
constexpr double kExpectedShown = 1.5;  ///< times what was measured, and no further up
constexpr double kSpanBefore = 0.15;    ///< share of the newest span's time that is also shown of
                                        ///< the span before
constexpr double kNearlyEqual = 0.06;   ///< largest difference of expected speedups that share a
                                        ///< line
constexpr int kRoomForSpans = 18;       ///< for the names of spans
constexpr int kWideFrom = 420;          ///< pixels at 100 %: room for equation 6 above the picture
                                        ///< and for what is expected in full words

ViewInfo speedInfo() {
    return {
        QStringLiteral("speed"),
        SpeedView::tr("Speed"),
        SpeedView::tr(
            "The decoding speed over time, as a multiple of the full model's own plain steps, "
            "which are measured in the same run. The pale line averages over .4 s, the coloured "
            "one over the last 2 s, and the dotted one over this chat with this decoder and these "
            "settings. A change of decoder or settings starts a new average, at a labelled tick. "
            "The dashed lines are the speed expected from the acceptance and the measured costs "
            "and, where checking a draft costs about one plain step, the speed predicted by "
            "equation 6 of the paper; a wide view tells it above the picture in any case, with "
            "its error. Compare figure 6, left, of the SWIFT paper."),
        Topic::Speed | Topic::Search | Topic::Decoder | Topic::Model,
        EngineBridge::kFiguresMs};
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
        m_noGain = new NoGainNotice(theme(), true, this);
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
    auto* column = new QVBoxLayout(m_header);
    if (m_form == SpeedForm::Compact) { // too narrow for text beside the figure
        column->addWidget(m_headline);
        column->addWidget(m_detail);
        return;
    }
    auto* row = new QHBoxLayout;
    m_beside = new LiveLabel(theme(), TextRole::Small, &Colours::muted, Fit::Cut, m_header);
    row->addWidget(m_headline);
    row->addWidget(m_beside, 1);
    column->addLayout(row);
    column->addWidget(m_detail);
    m_unitButton = new QPushButton(tr("tok/s"), m_header);
    m_unitButton->setProperty("form", "small");
    m_unitButton->setCheckable(true);
    m_unitButton->setAccessibleName(tr("Show tokens per second"));
    m_unitButton->setToolTip(m_unitButton->accessibleName());
    row->addWidget(m_unitButton);
    connect(m_unitButton, &QPushButton::toggled, this, &SpeedView::setInTokensPerSecond);
}

void SpeedView::makePlot() {
    m_plot = new LinePlot(theme(), tr("Speed over decoding time"), this);
    m_plot->addSeries({tr(".4 s"), &Colours::rawLine});
    m_plot->addSeries({tr("this chat"), &Colours::text, LineForm::Line, Dash::Dotted});
    m_plot->addSeries({tr("now"), &Colours::accent});
    m_plot->addSeries(
        {tr("newest"), &Colours::accent, LineForm::Line, Dash::Solid, Marker::None, true});
    m_plot->setSeriesShown(Chat, m_form == SpeedForm::Full);
    m_plot->setHeadroom(kRoomForSpans);
    m_plot->setEmptyNote({tr("Nothing decoded yet"),
                          tr("The first answer shows its speed here, compared with plain steps of "
                             "the full model that are measured during the answer."),
                          {}});
}

void SpeedView::restyle() {
    setGround(*this, theme().colours().panel);
    m_header->layout()->setContentsMargins(
        theme().scaled(12), theme().scaled(8), theme().scaled(12), 0);
    m_header->layout()->setSpacing(theme().scaled(2));
    if (QLayout* first = m_header->layout()->itemAt(0)->layout())
        first->setSpacing(theme().scaled(8));
}

void SpeedView::refreshView(Topics) {
    m_vanillaMs = store().speed().chat().baselineMs;
    m_expected = expectedSpeeds(store());
    updatePoints();
    updateReferences();
    updateSpans();
    updateMarks();
    updateAxes();
    updateHeader();
    if (m_noGain != nullptr)
        m_noGain->update(gainFinding(store()));
    setBadge(m_curve.isEmpty() ? QString() : newestBadge());
    showUnit();
}

void SpeedView::showUnit() {
    setSubtitle(isInTokensPerSecond() ? tr("tokens per second over decoding time")
                                      : tr("× vanilla over decoding time"));
    m_plot->refresh();
}

bool SpeedView::isInTokensPerSecond() const {
    // Before the first step there is nothing in either unit, so the speedup axis is shown.
    if (m_curve.isEmpty() && !m_vanillaMs)
        return false;
    return m_wantsTokens || !m_vanillaMs;
}

double SpeedView::unit() const { return isInTokensPerSecond() ? 1e3 : m_vanillaMs.value_or(1e3); }

double SpeedView::valueOf(double tokensPerMs, double plainMs) const {
    return tokensPerMs * (isInTokensPerSecond() || plainMs <= 0.0 ? unit() : plainMs);
}

void SpeedView::updateHeader() {
    const SpeedLog& log = store().speed();
    const SpanFigures now = log.now().isEmpty() ? log.answer() : log.now();
    m_header->setVisible(!m_curve.isEmpty());
    m_headline->setText(speedText(now));
    QStringList told;
    if (const QString spans = spansText(log, m_form == SpeedForm::Full);
        !spans.isEmpty()) // none while a prompt is read
        told << spans;
    if (!log.baselineMs())
        told << (m_vanillaMs ? tr("vanilla is being measured again")
                             : tr("vanilla not measured yet"));
    if (const QString six = equationText(m_expected); isWide() && !six.isEmpty()) {
        told << six;
        if (store().decoder() != nullptr && !store().decoder()->hasDraftRatio)
            told << tr("no c\u00A0=\u00A01\u00A0−\u00A0r, because not all drafts are made by "
                       "leaving layers out");
    }
    m_reported = told.join(QStringLiteral(" \u00B7 "));
    m_plot->setSummary(m_headline->text() + QChar(' ') + m_reported);
    layOutDetail();
}

/// What fits beside the headline stands there, the rest below.
void SpeedView::layOutDetail() {
    if (m_beside == nullptr) {
        m_detail->setText(m_reported);
        return;
    }
    const QString dot = QStringLiteral(" \u00B7 ");
    const QString first = m_reported.section(dot, 0, 0);
    const bool fits =
        QFontMetrics(m_beside->textFont()).horizontalAdvance(first) <= m_beside->width();
    m_beside->setText(fits ? first : QString());
    m_detail->setText(fits ? m_reported.section(dot, 1) : m_reported);
}

void SpeedView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    m_header->layout()->activate();
    if (isFrozen()) { // its numbers stay those of its lines
        layOutDetail();
        return;
    }
    updateHeader();
    updateReferences();
    m_plot->refresh();
}

bool SpeedView::isWide() const {
    return m_form == SpeedForm::Full && width() >= theme().scaled(kWideFrom);
}

void SpeedView::updateReferences() {
    std::vector<ReferenceLine> lines;
    if (const auto baselineMs = m_vanillaMs) {
        const double scale = unit() / *baselineMs; // of a speedup on the axis
        lines.push_back({scale,
                         tr("vanilla %1")
                             .arg(isInTokensPerSecond() ? QString::number(scale, 'f', 1)
                                                        : QStringLiteral("1.0")),
                         &Colours::text,
                         Dash::Solid,
                         LabelSide::Beside});
        std::vector<ExpectedSpeed> drawn = m_expected;
        std::erase_if(drawn, [](const ExpectedSpeed& speed) { return !speed.isNear; });
        for (const ExpectedGroup& group : groupsOf(std::move(drawn), kNearlyEqual)) {
            if (m_form == SpeedForm::Compact && !group.isMeasured)
                continue;
            lines.push_back({group.middle() * scale,
                             isWide() ? group.label : group.shortLabel,
                             &Colours::muted,
                             group.isMeasured ? Dash::Dashed : Dash::Dotted,
                             LabelSide::Beside});
        }
    }
    m_plot->setReferences(std::move(lines));
}

/// The names of the lines, with their speeds.
void SpeedView::updateSpans() {
    const SpeedLog& log = store().speed();
    const SpanFigures chat = log.chat();
    const bool isNowNamed = m_form == SpeedForm::Full && !log.now().isEmpty();
    m_plot->setSeriesLabel(
        Newest,
        {isNowNamed ? tr("now %1").arg(speedText(log.now())) : QString(), true, LabelSide::Beside});
    m_plot->setSeriesLabel(Chat,
                           {chat.isDrafting() ? tr("this chat %1").arg(speedText(chat)) : QString(),
                            true,
                            LabelSide::Beside});
}

void SpeedView::updateMarks() {
    std::vector<PhaseBand> bands;
    std::vector<double> ticks;
    const auto& marks = m_curve.marks();
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const bool isLast = i + 1 == marks.size();
        const double end = isLast ? m_curve.newestSeconds() : marks[i + 1].seconds;
        ticks.push_back(marks[i].seconds);
        bands.push_back({marks[i].seconds,
                         end,
                         markText(marks[i].mark),
                         {},
                         i % 2 == 0 ? &Colours::optimiseBand : &Colours::panel});
    }
    m_plot->setBands(std::move(bands));
    m_plot->setInstanceTicks(std::move(ticks));
}

void SpeedView::updatePoints() {
    const bool isContinued = m_curve.update(store().speed());
    const double change = std::abs(unit() - m_fedUnit);
    feed(!isContinued || m_fedInTokens != isInTokensPerSecond() ||
         change > kUnitTolerance * unit());
}

void SpeedView::feed(bool isAnew) {
    if (isAnew) {
        m_plot->clearPoints();
        m_fedSamples = 0;
        m_fedUnit = unit();
        m_fedInTokens = isInTokensPerSecond();
    }
    const auto& samples = m_curve.samples();
    for (; m_fedSamples < samples.size(); ++m_fedSamples)
        appendSample(samples[m_fedSamples]);
    feedNewest();
}

void SpeedView::appendSample(const SpeedCurve::Sample& sample) {
    m_plot->append(Raw, {sample.seconds, valueOf(sample.tokensPerMs, sample.plainMs)});
    m_plot->append(Now, {sample.seconds, valueOf(sample.nowPerMs, sample.plainMs)});
    m_plot->append(
        Chat,
        {sample.seconds,
         sample.chatPerMs > 0.0 ? valueOf(sample.chatPerMs, sample.chatPlainMs) : noValue()});
}

/// The incomplete .4 s change with every step. They are a line of their own, two points long, that
/// ends at the value of *now*.
void SpeedView::feedNewest() {
    std::vector<PlotPoint> points;
    const auto& samples = m_curve.samples();
    if (!samples.empty())
        points.push_back(
            {samples.back().seconds, valueOf(samples.back().nowPerMs, samples.back().plainMs)});
    if (const auto open = m_curve.openSample())
        points.push_back({open->seconds, valueOf(open->nowPerMs, open->plainMs)});
    m_plot->setPoints(Newest, points);
}

/// The newest span and a little of the one before, so that a short answer is not just a dot.
PlotRange SpeedView::xRange() const {
    const double now = m_curve.newestSeconds();
    const double began = m_curve.marks().empty() ? 0.0 : m_curve.marks().back().seconds;
    const double wanted = (now - began) * (began > 0.0 ? 1.0 + kSpanBefore : 1.0);
    return {now - std::clamp(wanted, kLeastSeconds, kShownSeconds), now};
}

PlotRange SpeedView::yRange() const {
    const double one = isInTokensPerSecond() && m_vanillaMs ? unit() / *m_vanillaMs : 1.0;
    double low = 0.6 * one;
    double high = 1.8 * one;
    if (isInTokensPerSecond() && !m_vanillaMs)
        high = 0.0;
    const double from = xRange().from;
    double highestNow = 0.0; // of the coloured line
    const auto include = [&](double raw, double now) {
        low = std::min({low, raw, now});
        high = std::max({high, raw, now});
        highestNow = std::max(highestNow, now);
    };
    const auto& samples = m_curve.samples();
    for (auto sample = samples.rbegin(); sample != samples.rend() && sample->seconds >= from;
         ++sample)
        include(valueOf(sample->tokensPerMs, sample->plainMs),
                valueOf(sample->nowPerMs, sample->plainMs));
    // The curve ends at the headline's speed; the .4 s that are not over yet alone would jump.
    if (const auto open = m_curve.openSample()) {
        const double now = valueOf(open->nowPerMs, open->plainMs);
        include(samples.empty() ? valueOf(open->tokensPerMs, open->plainMs) : now, now);
    }
    // Expected speedups are shown if they do not flatten the measured ones.
    const double most = kExpectedShown * high;
    for (const ExpectedSpeed& speed : m_expected)
        if (speed.speedup * one <= most)
            high = std::max(high, (speed.speedup + 0.1) * one);
    if (isInTokensPerSecond())
        return {0.0, high > 0.0 ? 1.1 * high : 1.0};
    high = std::max(std::min(high, kHighestSpeedup), highestNow);
    return {std::max(0.0, 1.0 - kGridStep * std::ceil((1.0 - low) / kGridStep - 1e-9)),
            1.0 + kGridStep * std::ceil((high - 1.0) / kGridStep - 1e-9)};
}

void SpeedView::updateAxes() {
    const double now = m_curve.newestSeconds();
    const PlotRange shown = xRange();
    AxisForm x;
    x.origin = now;
    x.tickText = [now](double seconds) {
        const double ago = seconds - now;
        if (std::abs(ago) < 1e-6)
            return tr("now");
        return tr("%1 s").arg(plainNumber(ago, std::abs(ago - std::round(ago)) < 1e-6 ? 0 : 1));
    };
    AxisForm y;
    y.origin = isInTokensPerSecond() ? 0.0 : 1.0;
    y.tickCount = 5;
    m_plot->setXAxis(x);
    m_plot->setYAxis(y);
    m_plot->setHome(shown, yRange());
}

void SpeedView::setInTokensPerSecond(bool isInTokens) {
    if (m_wantsTokens == isInTokens)
        return;
    m_wantsTokens = isInTokens;
    if (m_unitButton != nullptr)
        m_unitButton->setChecked(isInTokens);
    if (!isFrozen()) {
        refreshView({});
        return;
    }
    feed(true); // the same numbers in the other unit
    updateReferences();
    updateAxes();
    showUnit();
}

QString SpeedView::headline() const { return m_headline->text(); }

QString SpeedView::detail() const { return m_reported; }

FigureTable SpeedView::table() const {
    FigureTable figure{{tr("seconds of decoding"),
                        tr("tokens per second"),
                        tr("speedup"),
                        tr("speedup now"),
                        tr("speedup of this chat"),
                        tr("expected of this chat, c = 1 − r"),
                        tr("its error"),
                        tr("expected of this chat, c measured"),
                        tr("its error")},
                       {}};
    const auto ofChat = m_vanillaMs;
    const auto number = [](double value) {
        return QString::number(value, 'g', QLocale::FloatingPointShortest);
    };
    std::vector<SpeedCurve::Sample> samples = m_curve.samples();
    if (const auto open = m_curve.openSample())
        samples.push_back(*open);
    const auto speedup = [&](double perMs, double plainMs) {
        return ofChat && perMs > 0.0 ? number(perMs * (plainMs > 0.0 ? plainMs : *ofChat))
                                     : QString();
    };
    for (const SpeedCurve::Sample& sample : samples)
        figure.rows.push_back({number(sample.seconds),
                               number(sample.tokensPerMs * 1e3),
                               speedup(sample.tokensPerMs, sample.plainMs),
                               speedup(sample.nowPerMs, sample.plainMs),
                               speedup(sample.chatPerMs, sample.chatPlainMs),
                               {},
                               {},
                               {},
                               {}});
    for (const ExpectedSpeed& speed : m_expected) // of the newest figures
        if (speed.isEquationSix() && !figure.rows.empty()) {
            const bool isByCount = speed.form == ExpectedSpeed::Form::CostByCount;
            figure.rows.back()[isByCount ? 5 : 7] = number(speed.speedup);
            figure.rows.back()[isByCount ? 6 : 8] = number(speed.error);
        }
    return figure;
}

void SpeedView::drawFigure(QPainter& painter, const QSize& size) {
    paintPicture(*m_plot, painter, size);
}

} // namespace ui
