// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/matchness/matchness_view.h"

#include "ui/plots/marker_legend.h"
#include "ui/shell/figure_text.h"
#include "ui/views/search_offer/ratio_in_use.h"
#include "ui/views/search_offer/search_offer.h"
#include "ui/views/search_offer/swift_forecast.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

constexpr double kHighestFoot = 0.8; ///< the axis begins no higher than this, on a fifth
constexpr int kHeadroom = 36;        ///< pixels above 1.0, for the names of phases

ViewInfo matchnessInfo() {
    return {QStringLiteral("matchness"),
            MatchnessView::tr("Matchness"),
            MatchnessView::tr(
                "Each point is a candidate skip set. Its matchness is the share of the window's γ "
                "tokens that a draft with this set predicts correctly. The line shows the search's "
                "current set; "
                "the search ends at the stop score. Compare figure 6, left, of the SWIFT paper."),
            Topic::Search | Topic::Decoder | Topic::Model | Topic::Selection};
}

/// Of the kinds of trials, in the order of their series.
constexpr std::array kLooks = {TrialLook::Random,
                               TrialLook::Bayesian,
                               TrialLook::Start,
                               TrialLook::Manual,
                               TrialLook::Rescore,
                               TrialLook::Other};

} // namespace

MatchnessView::MatchnessView(const ViewContext& context, QWidget* parent)
    : View(context, matchnessInfo(), parent)
    , m_choices(context.bridge, context.undoStack) {
    makePlot();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_plot);
    connect(m_plot, &LinePlot::pointChosen, this, &MatchnessView::choosePlace);
    connect(m_plot, &LinePlot::choiceTakenBack, this, [this] { goTo(m_placeBefore); });
    connect(m_plot, &LinePlot::actionRequested, this, &MatchnessView::useSearch);
    refreshView({});
}

void MatchnessView::makePlot() {
    m_plot = new LinePlot(theme(), tr("Matchness of each candidate set"), this);
    AxisForm x;
    x.title = tr("search step");
    x.tickCount = 5;
    m_table.header << x.title;
    for (const TrialLook look : kLooks) {
        const TrialSign sign = trialSign(look);
        m_series[static_cast<std::size_t>(look)] =
            m_plot->addSeries({sign.name, sign.colour, LineForm::None, Dash::Solid, sign.marker});
        m_table.header << sign.name;
    }
    m_bestSeries = m_plot->addSeries({tr("current set"), &Colours::text, LineForm::Step});
    m_table.header << tr("current set");
    AxisForm y;
    y.tickCount = 6;
    m_plot->setXAxis(x);
    m_plot->setYAxis(y);
    m_plot->setHeadroom(kHeadroom);
}

/// What the picture will show, or why it stays empty and how to fill it.
void MatchnessView::showEmptyNote() {
    const SearchOffer offer = searchOffer(store(), context().bridge.isReplay());
    const QString what = tr("Matchness is the share of an answer's first γ tokens that a draft "
                            "predicts correctly.");
    const QString when = !m_problem.isEmpty()     ? m_problem
                         : offer.reason.isEmpty() ? tr("The first search step adds the first "
                                                       "point.")
                                                  : offer.reason;
    m_plot->setEmptyNote(
        {tr("Nothing measured yet"), what + QLatin1Char(' ') + when, offer.action});
}

/// A frozen offer that was taken has no more to say.
void MatchnessView::useSearch() {
    setFrozen(false);
    m_problem = useSearchingDecoder(store(), m_choices);
    showEmptyNote();
}

QWidget* MatchnessView::makeLegend(QWidget* parent) {
    std::vector<MarkerLegend::Entry> entries;
    for (const TrialLook look : {TrialLook::Random, TrialLook::Bayesian, TrialLook::Start}) {
        const TrialSign sign = trialSign(look);
        entries.push_back({sign.name, sign.marker, sign.colour});
    }
    entries.push_back({tr("current set"), Marker::None, &Colours::text});
    return new MarkerLegend(theme(), std::move(entries), parent);
}

void MatchnessView::refreshView(Topics changed) {
    if (changed & (Topic::Model | Topic::Decoder))
        m_problem.clear();
    takeTrials();
    if (m_taken == 0)
        showEmptyNote();
    updateAxes();
    updateCursor();
    const auto& trials = store().search().trials();
    const bool isBeside = store().search().foundBeside() != nullptr || searchesBeside(store());
    setSubtitle(!isBeside ? ofTask(store().search(), tr("of each candidate set"))
                : trials.empty()
                    ? tr("of sets tried beside the answers")
                    : countText(store().search().countedTrials(),
                                tr("now %1, 1 set tried").arg(shareText(trials.back().best)),
                                tr("now %1, %2 sets tried")
                                    .arg(shareText(trials.back().best), QStringLiteral("%1"))));
    m_plot->setSummary(summary());
    m_plot->refresh();
}

/// In words; nothing while nothing is measured. The line holds the score before until a new set has
/// one of its own.
QString MatchnessView::summary() const {
    const SearchLog& search = store().search();
    if (search.trials().empty())
        return {};
    if (search.current() != nullptr && !search.current()->trial)
        return tr("This set has not been scored yet.");
    return countText(search.countedTrials(),
                     tr("The current set has matchness %2 after 1 search step."),
                     tr("The current set has matchness %2 after %1 search steps."))
        .arg(QString::number(search.trials().back().best, 'f', 3));
}

/// Whether the points are of the search that there is now.
bool MatchnessView::isOfSearch() const {
    const auto& trials = store().search().trials();
    return trials.size() >= m_taken && (m_taken == 0 || trials[m_taken - 1].time == m_takenUntil);
}

void MatchnessView::takeTrials() {
    const auto& trials = store().search().trials();
    if (!isOfSearch()) {
        m_plot->clearPoints();
        m_table.rows.clear();
        m_taken = 0;
        m_lowest = 1.0;
    }
    for (; m_taken < trials.size(); ++m_taken) {
        const TrialPoint& trial = trials[m_taken];
        const auto place = static_cast<double>(trial.place);
        m_plot->append(m_series[static_cast<std::size_t>(trialLook(trial.kind))],
                       {place, trial.score});
        m_plot->append(m_bestSeries, {place, trial.best});
        QStringList row(m_table.header.size());
        row.first() = numberCell(place);
        row[static_cast<qsizetype>(trialLook(trial.kind)) + 1] = numberCell(trial.score);
        row.last() = numberCell(trial.best);
        m_table.rows.push_back(std::move(row));
        m_lowest = std::min({m_lowest, trial.score, trial.best});
        m_takenUntil = trial.time;
    }
}

void MatchnessView::updateAxes() {
    const SearchLog& search = store().search();
    const SearchSpan span = searchSpan(search);
    const double foot = std::clamp(std::floor(m_lowest * 5.0 - 1e-9) / 5.0, 0.0, kHighestFoot);
    m_plot->setHome(span.range(), {m_taken == 0 ? 0.0 : foot, 1.0});
    m_plot->setBands(searchBands(search, span));
    std::vector<double> ticks;
    for (const int place : search.answerPlaces())
        if (place > 0)
            ticks.push_back(place);
    m_plot->setInstanceTicks(std::move(ticks));
    std::vector<ReferenceLine> lines;
    if (const auto wanted = stopScore()) {
        const double score = *wanted;
        lines.push_back({score,
                         tr("stop score %1").arg(decimalText(score)),
                         &Colours::success,
                         Dash::Dashed,
                         LabelSide::Left,
                         false,
                         0.0});
    }
    m_plot->setReferences(std::move(lines));
}

/// Of the search that runs, or of the one that a search beside the answers follows.
std::optional<double> MatchnessView::stopScore() const {
    const auto set = store().settings().find("stop_score");
    const engine::SettingValue* value = set == store().settings().end() ? nullptr : &set->second;
    const engine::DecoderInfo* searching =
        searchesBeside(store()) ? searchingDecoder(store()) : nullptr;
    if (value == nullptr && searching != nullptr)
        if (const engine::SettingInfo* setting = searching->find("stop_score"))
            value = &setting->initial;
    const double* score = value == nullptr ? nullptr : std::get_if<double>(value);
    return score == nullptr ? std::nullopt : std::optional(*score);
}

void MatchnessView::updateCursor() {
    const auto& sets = store().search().bestSets();
    const auto index = selection().historyIndex();
    if (!index || *index < 0 || *index >= static_cast<int>(sets.size())) {
        m_plot->setCursor(std::nullopt);
        setBadge(m_taken == 0 ? QString() : newestBadge());
        return;
    }
    const BestSet& set = sets[static_cast<std::size_t>(*index)];
    PlotCursor cursor;
    cursor.x = set.place;
    cursor.label = tr("step %1").arg(set.place);
    if (set.trial) {
        cursor.y = set.trial->score;
        cursor.label = tr("step %1: %2").arg(set.place).arg(scoreText(*set.trial));
    }
    m_plot->setCursor(cursor);
    setBadge(tr("step %1").arg(set.place));
}

void MatchnessView::choosePlace(double place) {
    m_placeBefore = selection().historyIndex();
    if (!isOfSearch()) // it is frozen, and its search is gone
        return;
    goTo(historyIndexAt(store().search(), place));
}

void MatchnessView::goTo(std::optional<int> index) {
    selection().setHistoryIndex(index);
    updateCursor();
}

FigureTable MatchnessView::table() const { return m_table; }

void MatchnessView::drawFigure(QPainter& painter, const QSize& size) {
    paintPicture(*m_plot, painter, size);
}

} // namespace ui
