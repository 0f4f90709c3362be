// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/matchness/strip_view.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/matchness/search_figures.h"
#include "ui/views/search_offer/search_offer.h"

#include <QLabel>
#include <QVBoxLayout>

namespace ui {

namespace {

ViewInfo stripInfo() {
    return {
        QStringLiteral("matchness_strip"),
        MatchnessStripView::tr("Matchness strip"),
        MatchnessStripView::tr(
            "The first γ tokens of an answer, on which skip sets are scored. The upper row is what "
            "the full model rates most likely at each place (where tokens are drawn, the answer "
            "may have another one; a search as published takes that); below it is a tick where the "
            "draft agrees, or a cross and the "
            "draft's own guess. The share of ticks is the matchness. Compare equation 4 and figure "
            "4 of the SWIFT paper."),
        Topic::Search | Topic::Selection | Topic::Model | Topic::Decoder,
        100};
}

} // namespace

MatchnessStripView::MatchnessStripView(const ViewContext& context, QWidget* parent)
    : View(context, stripInfo(), parent)
    , m_strip(new MatchnessStrip(theme(), this))
    , m_note(plainLabel(this, true)) {
    m_note->setProperty("tone", "muted");
    m_note->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_strip, 1);
    column->addWidget(m_note);
    setAutoFillBackground(true);
    connect(&theme(), &Theme::changed, this, &MatchnessStripView::restyle);
    restyle();
    refreshView({});
}

void MatchnessStripView::restyle() {
    setGround(*this, theme().colours().panel);
    m_note->setFont(theme().font(TextRole::Small));
    const int side = theme().scaled(12);
    layout()->setContentsMargins(side, theme().scaled(8), side, theme().scaled(5));
}

QWidget* MatchnessStripView::makeLegend(QWidget* parent) {
    m_counts =
        new LiveLabel(theme(), TextRole::Small, &Colours::text, LiveLabel::Fit::Whole, parent);
    connect(m_counts, &QObject::destroyed, this, [this] { m_counts = nullptr; });
    showWords();
    return m_counts;
}

QString MatchnessStripView::countsText() const {
    const StripModel& cells = m_strip->cellModel();
    if (cells.cells().empty())
        return {};
    return tr("%1 match, %2 miss").arg(cells.matchCount()).arg(cells.missCount());
}

void MatchnessStripView::refreshView(Topics) {
    const SearchLog& search = store().search();
    const auto index = selection().historyIndex();
    const engine::TrialFinished* trial = shownTrial(search, index);
    m_strip->setCells(trial == nullptr ? std::vector<StripCell>() : stripCells(*trial));
    m_strip->setVisible(trial != nullptr);
    m_note->setVisible(trial == nullptr);
    m_note->setText(emptyNote());
    const bool isPast = index && *index >= 0 && *index < static_cast<int>(search.bestSets().size());
    if (isPast)
        setBadge(tr("step %1").arg(search.bestSets()[static_cast<std::size_t>(*index)].place));
    else
        setBadge(trial != nullptr ? newestBadge() : QString());
    showWords();
}

QString MatchnessStripView::emptyNote() const {
    const SearchLog& search = store().search();
    const QString reason = searchOffer(store(), context().bridge.isReplay()).reason;
    if (!search.trials().empty())
        return search.bestSets().empty() && !reason.isEmpty()
                   ? reason
                   : tr("This set has not been scored yet.");
    return reason.isEmpty()
               ? tr("No set has been scored yet. With the first search step, the first γ tokens of "
                    "an answer appear here.")
               : tr("No set has been scored. %1").arg(reason);
}

void MatchnessStripView::showWords() {
    const auto count = m_strip->cellModel().cells().size();
    setSubtitle(count == 0
                    ? tr("what the set would have drafted")
                    : countText(static_cast<qint64>(count),
                                tr("first γ = 1 token: the full model's likeliest, below it this "
                                   "set's"),
                                tr("first γ = %1 tokens: the full model's likeliest, below them "
                                   "this set's")));
    if (m_counts != nullptr)
        m_counts->setText(countsText());
}

FigureTable MatchnessStripView::table() const {
    FigureTable figure{
        {tr("place"), tr("full model's likeliest"), tr("draft's guess"), tr("match")}, {}};
    int place = 0;
    for (const StripCell& cell : m_strip->cellModel().cells())
        figure.rows.push_back({QString::number(++place),
                               cell.token,
                               cell.isMatch ? cell.token : cell.guess,
                               cell.isMatch ? tr("yes") : tr("no")});
    return figure;
}

} // namespace ui
