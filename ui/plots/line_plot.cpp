// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/line_plot.h"

#include "ui/plots/drawing/labels/plot_ticks.h"
#include "ui/plots/drawing/line_plot_drawing.h"
#include "ui/theme/theme.h"
#include "ui/theme/tip_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr qint64 kSummaryMs = 5000; ///< a screen reader is not to be flooded
constexpr int kLeastPlot = 60;      ///< pixels at 100 %, below which axes say nothing

void styleAxis(QCPAxis& axis, const Colours& colours) {
    const QPen pen = finePen(colours.axis);
    axis.setBasePen(pen);
    axis.setTickPen(pen);
    axis.setSubTicks(false);
    axis.setTickLabels(false); // the plot writes them itself, inside its width
    axis.setTickLengthIn(0);
    axis.grid()->setPen(finePen(colours.grid));
    axis.grid()->setZeroLinePen(Qt::NoPen);
    axis.grid()->setSubGridVisible(false);
}

void setTicks(QCPAxis& axis, const std::vector<double>& ticks) {
    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    for (const double tick : ticks)
        ticker->addTick(tick, QString());
    axis.setTicker(ticker);
}

} // namespace

LinePlot::Drawing::Drawing(const Theme& theme, QWidget* parent)
    : state{theme}
    , plot(new QCustomPlot(parent)) {
    plot->setFocusPolicy(Qt::NoFocus);
    plot->setMouseTracking(true);
    plot->setNotAntialiasedElements(QCP::aeAll);
    plot->setPlottingHints(QCP::phCacheLabels);
    plot->setInteractions(QCP::iNone);
    plot->axisRect()->setAutoMargins(QCP::msNone);
    plot->xAxis->grid()->setVisible(false);
    plot->xAxis2->setVisible(false);
    plot->yAxis2->setVisible(false);
    plot->addLayer(QStringLiteral("cursor"), plot->layer(QStringLiteral("overlay")));
    cursorLayer = plot->layer(QStringLiteral("cursor"));
    cursorLayer->setMode(QCPLayer::lmBuffered);
    // The plot owns its layerables.
    new GroundLayer(*plot, QStringLiteral("background"), state);
    new ReferenceLayer(*plot, QStringLiteral("grid"), state);
    new MarkerLayer(*plot, QStringLiteral("main"), state);
    new TextLayer(*plot, QStringLiteral("overlay"), state);
    new CursorLayer(*plot, QStringLiteral("cursor"), state);
}

LinePlot::LinePlot(const Theme& theme, const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_drawing(std::make_unique<Drawing>(theme, this)) {
    setAccessibleName(name);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    m_drawing->plot->setAccessibleName(name);
    m_drawing->plot->installEventFilter(this);
    connect(m_drawing->plot, &QCustomPlot::beforeReplot, this, [this] {
        prepare(m_drawing->plot->size());
        m_isStale = false;
    });
    connect(m_drawing->plot, &QCustomPlot::afterReplot, this, [this] { ++m_replotCount; });
    makeNote();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_drawing->plot, 1);
    column->addWidget(m_note);
    connect(&theme, &Theme::changed, this, &LinePlot::applyTheme);
    applyTheme();
}

LinePlot::~LinePlot() {
    // The drawing's state is destroyed before the child widgets, so the plot is deleted with it and
    // no longer receives events.
    m_drawing->plot->removeEventFilter(this);
    m_drawing->plot->disconnect(this);
    delete m_drawing->plot;
}

void LinePlot::makeNote() {
    m_note = new QWidget(this);
    m_noteTitle = plainLabel(m_note, true);
    m_noteSentence = plainLabel(m_note, true);
    m_noteAction = new QPushButton(m_note);
    m_noteAction->setProperty("form", "small");
    m_noteAction->setAccessibleName(tr("Action of the note"));
    connect(m_noteAction, &QPushButton::clicked, this, &LinePlot::actionRequested);
    auto* column = new QVBoxLayout(m_note);
    column->setSpacing(2);
    column->addWidget(m_noteTitle);
    column->addWidget(m_noteSentence);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, 8, 0, 0);
    buttons->addWidget(m_noteAction);
    buttons->addStretch(1);
    column->addLayout(buttons);
    column->addStretch(1); // without a plot above it its lines stay together
    m_note->setAutoFillBackground(true);
    m_note->hide();
}

int LinePlot::addSeries(const SeriesForm& form) {
    Drawing& drawing = *m_drawing;
    drawing.state.series.push_back(std::make_unique<PlotSeries>(PlotSeries{form}));
    drawing.graphs.emplace_back(*drawing.plot, *drawing.state.series.back());
    drawing.graphs.back().applyColours(m_theme.colours(), false);
    return seriesCount() - 1;
}

int LinePlot::seriesCount() const { return static_cast<int>(m_drawing->state.series.size()); }

void LinePlot::append(int series, PlotPoint point) { m_drawing->at(series).points.append(point); }

void LinePlot::setPoints(int series, std::span<const PlotPoint> points) {
    PointPyramid& pyramid = m_drawing->at(series).points;
    pyramid.clear();
    for (const PlotPoint& point : points)
        pyramid.append(point);
    m_drawing->graphs[static_cast<std::size_t>(series)].forget();
    if (m_choice && m_choice->series == series) {
        m_choice.reset();
        m_drawing->state.readout.reset();
    }
}

void LinePlot::removeBefore(double x) {
    for (const auto& series : m_drawing->state.series)
        series->points.removeBefore(x);
    m_choice.reset();
    m_drawing->state.readout.reset();
}

void LinePlot::clearPoints() {
    for (int i = 0; i < seriesCount(); ++i)
        setPoints(i, {});
}

std::size_t LinePlot::pointCount(int series) const { return m_drawing->at(series).points.size(); }

void LinePlot::setSeriesShown(int series, bool isShown) {
    m_drawing->at(series).isShown = isShown;
    SeriesGraph& graph = m_drawing->graphs[static_cast<std::size_t>(series)];
    graph.applyColours(m_theme.colours(), false);
    graph.forget();
}

bool LinePlot::isSeriesShown(int series) const { return m_drawing->at(series).isShown; }

void LinePlot::setSeriesLabel(int series, const SeriesLabel& label) {
    m_drawing->at(series).label = label;
}

void LinePlot::setXAxis(const AxisForm& axis) { m_drawing->state.xAxis = axis; }

void LinePlot::setYAxis(const AxisForm& axis) { m_drawing->state.yAxis = axis; }

void LinePlot::setHome(PlotRange x, PlotRange y) {
    if (x.span() > 0.0 && std::isfinite(x.span()))
        m_homeX = x;
    if (y.span() > 0.0 && std::isfinite(y.span()))
        m_homeY = y;
}

void LinePlot::setHeadroom(int pixels) { m_headroom = pixels; }

void LinePlot::setReferences(std::vector<ReferenceLine> references) {
    m_drawing->state.references = std::move(references);
}

void LinePlot::setBands(std::vector<PhaseBand> bands) { m_drawing->state.bands = std::move(bands); }

void LinePlot::setInstanceTicks(std::vector<double> ticks) {
    m_drawing->state.instanceTicks = std::move(ticks);
}

void LinePlot::setCursor(const std::optional<PlotCursor>& cursor) {
    if (m_drawing->state.cursor == cursor)
        return;
    m_drawing->state.cursor = cursor;
    replotCursor();
}

const std::optional<PlotCursor>& LinePlot::cursor() const { return m_drawing->state.cursor; }

void LinePlot::setEmptyNote(const EmptyNote& note) {
    m_noteTitle->setText(note.title);
    m_noteSentence->setText(note.sentence);
    m_noteAction->setText(note.action);
    m_noteAction->setAccessibleName(note.action.isEmpty() ? tr("Action of the note") : note.action);
    m_noteAction->setVisible(!note.action.isEmpty());
    updateNote();
}

void LinePlot::setSummary(const QString& sentence) {
    m_summary = sentence;
    if (sentence.isEmpty() || !m_summaryClock.isValid() || m_summaryClock.elapsed() >= kSummaryMs)
        tellSummary();
    if (sentence.isEmpty())
        m_summaryClock.invalidate(); // the next sentence is news
}

void LinePlot::tellSummary() {
    m_summaryClock.start();
    if (accessibleDescription() != m_summary)
        setAccessibleDescription(m_summary);
}

void LinePlot::refresh() {
    updateNote();
    m_isStale = true;
    if (isVisible())
        m_drawing->plot->replot(QCustomPlot::rpQueuedReplot);
}

void LinePlot::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_isStale)
        refresh();
}

void LinePlot::updateNote() {
    const auto& series = m_drawing->state.series;
    const bool isEmpty = std::all_of(
        series.begin(), series.end(), [](const auto& one) { return one->points.isEmpty(); });
    m_note->setVisible(isEmpty && !m_noteTitle->text().isEmpty());
    fitNote();
}

/// The note must be readable as a whole. If there is not enough room, the empty axes are dropped
/// first, then the sentence, which is also a tool tip. What is shown or hidden here may resize the
/// plot at once.
void LinePlot::fitNote() {
    if (m_isFittingNote)
        return;
    const QScopedValueRollback fitting(m_isFittingNote, true);
    if (m_note->isHidden()) {
        m_drawing->plot->show();
        return;
    }
    m_noteSentence->show();
    setTip(*m_note, m_noteSentence->text());
    const auto needed = [this] { return m_note->layout()->totalHeightForWidth(width()); };
    const QWidget& plot = *m_drawing->plot;
    const int least = std::max(m_theme.scaled(kLeastPlot), plot.minimumSizeHint().height());
    m_drawing->plot->setVisible(needed() + least <= height());
    m_noteSentence->setVisible(needed() <= height());
}

void LinePlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitNote();
}

void LinePlot::replotCursor() {
    // A full repaint that is due anyway paints this layer too.
    if (!isVisible() || m_isStale)
        return;
    m_drawing->cursorLayer->replot();
    ++m_cursorReplotCount;
}

int LinePlot::drawnPointCount() const {
    int count = 0;
    for (const SeriesGraph& graph : m_drawing->graphs)
        count += graph.fedCount();
    return count;
}

PlotRange LinePlot::shownX() const { return m_zoomX.value_or(m_homeX); }

PlotRange LinePlot::shownY() const { return m_zoomY.value_or(m_homeY); }

void LinePlot::applyTheme() {
    Drawing& drawing = *m_drawing;
    const Colours& colours = m_theme.colours();
    drawing.plot->setBackground(QBrush(colours.panel));
    styleAxis(*drawing.plot->xAxis, colours);
    styleAxis(*drawing.plot->yAxis, colours);
    drawing.plot->xAxis->setTickLengthOut(4);
    drawing.plot->yAxis->setTickLengthOut(0); // the grid lines lead to its texts
    for (SeriesGraph& graph : drawing.graphs)
        graph.applyColours(colours, false);
    const int inset = m_theme.scaled(12);
    m_note->layout()->setContentsMargins(inset, m_theme.scaled(8), inset, inset);
    QFont title = m_theme.font(TextRole::Interface);
    title.setWeight(QFont::DemiBold);
    m_noteTitle->setFont(title);
    m_noteSentence->setFont(m_theme.font(TextRole::Small));
    setTextColour(*m_noteSentence, colours.muted);
    setGround(*m_note, colours.panel);
    updateGeometry();
    refresh();
}

void LinePlot::applyMargins(int plotWidth) {
    const PlotState& state = m_drawing->state;
    const QFontMetrics figures(m_theme.font(TextRole::AxisFigure));
    state.figures.setFont(m_theme.font(TextRole::AxisFigure));
    double widestText = state.figures.width(m_leastTickText);
    for (const double tick : state.yTicks)
        widestText =
            std::max(widestText, state.figures.width(tickText(state.yAxis, state.yTicks, tick)));
    const int widest = static_cast<int>(std::lround(widestText));
    const int right = marginBeside(plotWidth);
    m_drawing->plot->axisRect()->setMargins(QMargins(widest + m_theme.scaled(14),
                                                     m_theme.scaled(8),
                                                     right,
                                                     figures.height() + m_theme.scaled(10)));
}

/// Room for the labels beside the plot, of which the data keeps at least three fifths.
int LinePlot::marginBeside(int plotWidth) {
    PlotState& state = m_drawing->state;
    state.words.setFont(m_theme.font(TextRole::Tiny));
    double widest = 0.0;
    for (const ReferenceLine& line : state.references)
        if (line.side == LabelSide::Beside)
            widest = std::max(widest, state.words.width(line.label));
    for (const auto& series : state.series)
        if (series->isShown && series->label.side == LabelSide::Beside)
            widest = std::max(widest, state.words.width(series->label.text));
    const int least = m_theme.scaled(12);
    state.besideWidth = std::min(std::ceil(widest), 0.4 * plotWidth);
    return std::max(least, static_cast<int>(state.besideWidth) + 2 * kBesideGap);
}

PlotRange LinePlot::homeYWithHeadroom(int plotHeight) const {
    const QMargins margins = m_drawing->plot->axisRect()->margins();
    const double height = plotHeight - margins.top() - margins.bottom();
    const double free = std::min<double>(m_theme.scaled(m_headroom), height / 2.0);
    PlotRange range = m_homeY;
    if (free > 0.0)
        range.to += range.span() * free / (height - free);
    return range;
}

/// Texts that would touch are left out; a plot that is too low for two has none.
std::vector<double> LinePlot::yTicksThatFit(int plotHeight) const {
    const int line = QFontMetrics(m_theme.font(TextRole::AxisFigure)).height();
    AxisForm axis = m_drawing->state.yAxis;
    const int free = plotHeight - line - m_theme.scaled(18 + m_headroom);
    axis.tickCount = std::min(axis.tickCount, free * 2 / (3 * line));
    return axis.tickCount < 2 ? std::vector<double>() : tickPositions(axis, shownY());
}

void LinePlot::prepare(QSize size) {
    PlotState& state = m_drawing->state;
    QCustomPlot& plot = *m_drawing->plot;
    state.xTicks = tickPositions(state.xAxis, shownX());
    state.yTicks = yTicksThatFit(size.height());
    applyMargins(size.width());
    const PlotRange x = shownX();
    const PlotRange y = m_zoomY.value_or(homeYWithHeadroom(size.height()));
    plot.xAxis->setRange(x.from, x.to);
    plot.yAxis->setRange(y.from, y.to);
    setTicks(*plot.xAxis, state.xTicks);
    setTicks(*plot.yAxis, state.yTicks);
    const auto lines = std::count_if(state.series.begin(), state.series.end(), [](const auto& one) {
        return one->isShown && one->form.line != LineForm::None;
    });
    const int share = kLargestDrawn / std::max(1, static_cast<int>(lines));
    for (SeriesGraph& graph : m_drawing->graphs)
        graph.feed(x, static_cast<std::size_t>(share));
    updateReadout();
}

} // namespace ui
