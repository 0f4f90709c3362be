// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/history_view.h"

#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/transport_button.h"
#include "ui/theme/tip_text.h"
#include "ui/views/layer_map/grid/grid_geometry.h"
#include "ui/views/layer_map/history/column_slider.h"
#include "ui/views/layer_map/history/history_columns.h"
#include "ui/views/layer_map/history/history_painting.h"
#include "ui/views/matchness/search_figures.h"
#include "ui/views/search_offer/ratio_in_use.h"
#include "ui/views/search_offer/search_offer.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>

#include <algorithm>
#include <map>
#include <string>

namespace ui {

namespace {

ViewInfo historyInfo() {
    return {QStringLiteral("history"),
            HistoryView::tr("History of best sets"),
            HistoryView::tr(
                "Each column is a better skip set that the search found, with attention layers "
                "above and MLP layers below, coloured where they are skipped. A set that skips "
                "more may be better at a lower matchness, because its drafts cost less. The slider "
                "takes all views back to that time. Compare figure 12 of the SWIFT paper."),
            Topic::Model | Topic::Decoder | Topic::Search | Topic::Selection};
}

QString joined(const std::vector<int>& layers) {
    QStringList words;
    for (const int layer : layers)
        words << QString::number(layer);
    return words.join(QLatin1Char(' '));
}

/// As the pictures name it; other kinds have the name that their decoder gave them.
QString trialName(const std::string& kind) {
    const TrialLook look = trialLook(kind);
    return look == TrialLook::Other ? QString::fromStdString(kind) : trialSign(look).name;
}

/// Of engine::PlanChange::reason; others are names that people choose in the settings.
QString reasonName(const std::string& reason) {
    const std::map<std::string, QString> names = {{"start", HistoryView::tr("start")},
                                                  {"better", HistoryView::tr("better")},
                                                  {"restart", HistoryView::tr("started again")},
                                                  {"lower r", HistoryView::tr("lower r")},
                                                  {"larger r", HistoryView::tr("larger r")},
                                                  {"task", HistoryView::tr("known task")},
                                                  {"manual", HistoryView::tr("by hand")},
                                                  {"copy", HistoryView::tr("copy")},
                                                  {"exit", HistoryView::tr("exit")},
                                                  {"stored", HistoryView::tr("stored")},
                                                  {"update", HistoryView::tr("renewed")},
                                                  {"setting", HistoryView::tr("setting")}};
    const auto name = names.find(reason);
    return name == names.end() ? QString::fromStdString(reason) : name->second;
}

} // namespace

HistoryView::HistoryView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, historyInfo(), parent)
    , m_choices(viewContext.bridge, viewContext.undoStack) {
    build();
    connect(m_columns, &HistoryColumns::columnChosen, this, &HistoryView::goTo);
    connect(m_slider, &QSlider::valueChanged, this, &HistoryView::goTo);
    connect(m_slider, &ColumnSlider::playRequested, this, [this] { setPlaying(!m_isPlaying); });
    connect(m_previous, &QToolButton::clicked, this, [this] { goTo(current() - 1); });
    connect(m_next, &QToolButton::clicked, this, [this] { goTo(current() + 1); });
    connect(m_play, &QToolButton::clicked, this, [this] { setPlaying(!m_isPlaying); });
    connect(m_backToLive, &QPushButton::clicked, this, &HistoryView::goToLive);
    connect(m_useSearch, &QPushButton::clicked, this, &HistoryView::useSearch);
    connect(&viewContext.bridge, &EngineBridge::tickFinished, this, [this] {
        leaveGonePlace();
        playOn();
    });
    connect(this, &View::frozenChanged, this, &HistoryView::followFreezing);
    connect(&theme(), &Theme::changed, this, &HistoryView::styleParts);
    styleParts();
    updateAll();
}

void HistoryView::build() {
    m_columns = new HistoryColumns(theme(), this);
    m_transport = new QWidget(this);
    using Sign = TransportButton::Sign;
    m_previous = new TransportButton(theme(), Sign::Previous, tr("Previous change"), m_transport);
    m_play = new TransportButton(theme(), Sign::Play, tr("Play the history"), m_transport);
    m_next = new TransportButton(theme(), Sign::Next, tr("Next change"), m_transport);
    m_slider = new ColumnSlider(theme(), this);
    m_slider->setAccessibleName(tr("Position in the history of best sets"));
    m_info = new LiveLabel(theme(), TextRole::Small, &Colours::text, LiveLabel::Fit::Cut, this);
    m_reason =
        new LiveLabel(theme(), TextRole::Small, &Colours::text, LiveLabel::Fit::Wrapped, this);
    m_backToLive = new QPushButton(tr("Back to live"), this);
    m_backToLive->setProperty("kind", "primary");
    m_backToLive->setProperty("form", "small");
    m_backToLive->setAccessibleName(tr("Back to live"));
    m_useSearch = new QPushButton(this);
    m_useSearch->setProperty("form", "small");
    m_useSearch->setAccessibleName(tr("Use the decoder that searches"));
    m_useSearch->hide();

    auto* buttons = new QHBoxLayout(m_transport);
    buttons->setContentsMargins(0, 0, 0, 0);
    buttons->setSpacing(0);
    for (TransportButton* button : {m_previous, m_play, m_next})
        buttons->addWidget(button);
    buttons->addStretch();
    auto* scrubber = new QHBoxLayout;
    scrubber->setSpacing(0);
    scrubber->addWidget(m_transport);
    scrubber->addWidget(m_slider, 1);
    auto* last = new QHBoxLayout;
    last->addWidget(m_info, 1);
    last->addWidget(m_reason, 1);
    last->addWidget(m_useSearch);
    last->addWidget(m_backToLive);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_columns, 1);
    column->addLayout(scrubber);
    column->addLayout(last);
}

void HistoryView::styleParts() {
    const int side = theme().scaled(12);
    layout()->setContentsMargins(side, theme().scaled(8), side, theme().scaled(8));
    layout()->setSpacing(theme().scaled(2));
    m_transport->setFixedWidth(rowNamesWidth(theme(), false));
    m_info->setMinimumHeight(m_backToLive->sizeHint().height()); // the button moves nothing
}

QSize HistoryView::sizeHint() const { return {theme().scaled(720), theme().scaled(300)}; }

int HistoryView::newestCount() const {
    return static_cast<int>(store().search().bestSets().size());
}

/// Of the columns that can be reached.
int HistoryView::count() const {
    return isFrozen() ? static_cast<int>(m_columns->columns().size()) : newestCount();
}

/// A frozen column may be of a search that is gone by now.
bool HistoryView::isStillThere(int index) const {
    if (!isFrozen())
        return true;
    const auto place = static_cast<std::size_t>(index);
    const std::vector<HistoryColumn> newest = historyColumns(store().search());
    const HistoryColumn& frozen = m_columns->columns()[place];
    return place < newest.size() && newest[place].step == frozen.step &&
           newest[place].skipped == frozen.skipped;
}

int HistoryView::current() const {
    const auto index = selection().historyIndex();
    return index && *index >= 0 && *index < count() ? *index : count() - 1;
}

/// The picture is brought to the moment of the table.
void HistoryView::followFreezing(bool isFrozen) {
    showColumns();
    m_frozen = isFrozen ? newestTable() : FigureTable();
    updateAll();
}

void HistoryView::refreshView(Topics changed) {
    if (changed & (Topic::Model | Topic::Decoder))
        m_problem.clear();
    updateAll();
}

/// A place belongs to the search of one model, decoder and task, and goes with it: also while this
/// view is hidden, because other views follow it.
void HistoryView::leaveGonePlace() {
    const bool isOtherTask = m_task != store().search().task();
    if (isOtherTask)
        m_task = store().search().task();
    const auto index = selection().historyIndex();
    if (!index || (!isOtherTask && *index < newestCount()))
        return;
    select(std::nullopt);
}

void HistoryView::showColumns() {
    const BestSet* newest = store().search().current();
    m_columns->setColumns(historyColumns(store().search()),
                          newest == nullptr ? 0 : newest->change.plan.layerCount);
    m_trials = store().search().countedTrials();
}

void HistoryView::updateAll() {
    leaveGonePlace();
    if (!isFrozen())
        showColumns();
    m_columns->setCurrent(count() > 0 ? std::optional(current()) : std::nullopt);
    {
        const QSignalBlocker blocker(m_slider);
        m_slider->setRange(0, std::max(0, count() - 1));
        m_slider->setValue(std::max(0, current()));
    }
    m_slider->update();
    m_slider->setEnabled(count() > 1);
    m_play->setEnabled(count() > 1);
    m_previous->setEnabled(current() > 0);
    m_next->setEnabled(current() < count() - 1);
    updateInfo();
}

void HistoryView::updateInfo() {
    const bool isBack = selection().historyIndex().has_value();
    m_backToLive->setVisible(isBack);
    m_info->setVisible(count() > 0);
    m_reason->setVisible(count() == 0);
    const SearchOffer offer = searchOffer(store(), context().bridge.isReplay());
    m_useSearch->setVisible(count() == 0 && !offer.action.isEmpty());
    if (count() == 0) {
        updateEmpty();
        return;
    }
    const auto place = static_cast<std::size_t>(current());
    const HistoryColumn& column = m_columns->columns()[place];
    setBadge(isBack ? tr("step %1").arg(column.step) : newestBadge());
    if (!isFrozen())
        setSubtitle(ofTask(store().search(), tr("one column each time the best set changed")));
    m_info->setText(tr("Step %1 of %2 · %3 · change %4 of %5")
                        .arg(QString::number(column.step),
                             QString::number(m_trials),
                             columnWords(column),
                             QString::number(current() + 1),
                             QString::number(count())));
    setTip(*m_info, m_info->text());
}

/// Why there is no column, and how to get some.
void HistoryView::updateEmpty() {
    const SearchOffer offer = searchOffer(store(), context().bridge.isReplay());
    setBadge({});
    setSubtitle({});
    m_useSearch->setText(offer.action);
    const QString columns = tr("Columns appear when the search finds a better skip set.");
    m_reason->setText(!m_problem.isEmpty()     ? m_problem
                      : offer.reason.isEmpty() ? columns
                                               : columns + QLatin1Char(' ') + offer.reason);
}

/// The store may have columns by now that are not shown yet. A frozen offer that was taken has no
/// more to say.
void HistoryView::useSearch() {
    setFrozen(false);
    m_problem = useSearchingDecoder(store(), m_choices);
    updateAll();
}

void HistoryView::goTo(int index) {
    if (count() == 0)
        return;
    const int place = std::clamp(index, 0, count() - 1);
    if (isStillThere(place))
        select(place == newestCount() - 1 ? std::nullopt : std::optional(place));
    updateAll();
}

void HistoryView::goToLive() {
    setPlaying(false);
    select(std::nullopt);
    updateAll();
    m_slider->setFocus();
}

void HistoryView::select(std::optional<int> index) {
    selection().setHistoryIndex(index);
    context().bridge.markChanged(Topic::Selection);
}

void HistoryView::setPlaying(bool isPlaying) {
    m_isPlaying = isPlaying && count() > 1;
    m_ticks = 0;
    if (m_isPlaying && current() == count() - 1)
        goTo(0);
    m_play->setSign(m_isPlaying ? TransportButton::Sign::Pause : TransportButton::Sign::Play,
                    m_isPlaying ? tr("Pause the history") : tr("Play the history"));
}

void HistoryView::playOn() {
    if (!m_isPlaying || !isShowing() || ++m_ticks < kTicksPerColumn)
        return;
    m_ticks = 0;
    constexpr int kMostStops = 120; // so that playing a long history does not take minutes
    goTo(current() + std::max(1, count() / kMostStops));
    if (current() == count() - 1)
        setPlaying(false);
}

FigureTable HistoryView::table() const { return isFrozen() ? m_frozen : newestTable(); }

FigureTable HistoryView::newestTable() const {
    FigureTable made;
    made.header = {tr("Search step"),
                   tr("Time in s"),
                   tr("Reason"),
                   tr("Kind of trial"),
                   tr("Matchness"),
                   tr("Skip ratio r"),
                   tr("Attention layers skipped"),
                   tr("MLP layers skipped"),
                   tr("Skip ratio r asked for"),
                   tr("Why another"),
                   tr("Task")};
    const std::vector<HistoryColumn> columns = historyColumns(store().search());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const BestSet& set = store().search().bestSets()[i];
        const double askedRatio = set.change.askedRatio;
        made.rows.push_back(
            {QString::number(columns[i].step),
             QString::number(set.time, 'f', 3),
             reasonName(set.change.reason),
             trialName(columns[i].kind),
             columns[i].score ? QString::number(*columns[i].score, 'f', 4) : QString(),
             QString::number(set.change.skipRatio, 'f', 3),
             joined(columns[i].skipped.attention),
             joined(columns[i].skipped.mlp),
             askedRatio > 0.0 ? QString::number(askedRatio, 'f', 3) : QString(),
             QString::fromStdString(set.change.ratioReason),
             QString::fromStdString(store().search().task())});
    }
    return made;
}

void HistoryView::drawFigure(QPainter& painter, const QSize& size) {
    const QRect whole(QPoint(), size);
    painter.fillRect(whole, theme().colours().panel);
    const int margin = theme().scaled(12);
    m_columns->paintFigure(painter, whole.adjusted(margin, margin, -margin, -margin));
}

} // namespace ui
