// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/layer_map_view.h"

#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"
#include "ui/views/layer_map/empty_layer_map.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/grid/layer_legend.h"
#include "ui/views/search_offer/ratio_in_use.h"
#include "ui/views/search_offer/search_offer.h"
#include "ui/views/search_offer/swift_forecast.h"

#include <QApplication>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>
#include <iterator>

namespace ui {

namespace {

/// Of answers, only whether a layer beside the model drafts them.
constexpr Topics kOwnTopics = Topic::Model | Topic::Decoder | Topic::Search | Topic::Selection;

ViewInfo layerMapInfo() {
    return {QStringLiteral("layer_map"),
            LayerMapView::tr("Layer map"),
            LayerMapView::tr(
                "Each column is a layer of the model, with its attention above and its MLP below. "
                "Drafts skip the coloured and hatched cells. The full model still checks every "
                "token, so the text stays the same. Compare figure 10 of the SWIFT paper. While a "
                "draft adapter drafts, its layer is a column with a plus behind the model's."),
            kOwnTopics | Topic::Answers};
}

} // namespace

LayerMapView::LayerMapView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, layerMapInfo(), parent)
    , m_manual(viewContext)
    , m_actions(new SkipSetActions(
          viewContext, m_manual, [this] { return shownSet(); }, this)) {
    build();
    connect(m_grid, &LayerGrid::flipRequested, this, &LayerMapView::flip);
    connect(m_grid, &LayerGrid::chosen, this, &LayerMapView::pinCard);
    connect(m_grid, &LayerGrid::currentChanged, this, &LayerMapView::updateCard);
    connect(m_grid, &LayerGrid::formChanged, this, [this] {
        arrangeNotice();
        updateLegends();
    });
    connect(m_resume, &QPushButton::clicked, &m_manual, &ManualSet::resumeSearch);
    connect(m_empty, &EmptyLayerMap::findRequested, this, &LayerMapView::findAsked);
    connect(m_empty, &EmptyLayerMap::loadRequested, m_actions, &SkipSetActions::askWhatToLoad);
    connect(&m_manual, &ManualSet::refused, this, &LayerMapView::tell);
    connect(m_actions, &SkipSetActions::told, this, &LayerMapView::tell);
    connect(&m_manual, &ManualSet::changed, this, [this] {
        m_message.clear();
        context().bridge.markChanged(Topic::Decoder);
    });
    connect(&theme(), &Theme::changed, this, &LayerMapView::styleParts);
    styleParts();
    updateMap();
}

LayerMapView::~LayerMapView() { delete m_card; }

void LayerMapView::build() {
    m_page = new QWidget(this);
    m_grid = new LayerGrid(theme(), m_model, m_page);
    m_miniLegend = new LayerLegend(theme(), m_page);
    m_empty = new EmptyLayerMap(theme(), this);
    m_manualBadge = new QLabel(tr("manual"), m_page);
    m_notice = plainLabel(m_page, true);
    m_resume = new QPushButton(tr("Resume the search"), m_page);
    m_resume->setProperty("form", "small");
    m_resume->setAccessibleName(tr("Resume the search"));
    m_noticePlace = new QWidget(m_page);
    m_noticeRow = new QGridLayout(m_noticePlace);
    m_noticeRow->setContentsMargins(0, 0, 0, 0);
    auto* column = new QVBoxLayout(m_page);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_grid);
    column->addWidget(m_miniLegend);
    column->addWidget(m_noticePlace);
    column->addStretch(1);
    auto* whole = new QVBoxLayout(this);
    whole->addWidget(m_page);
    whole->addWidget(m_empty);
    arrangeNotice();
}

/// In a narrow view, the sentence has a line of its own.
void LayerMapView::arrangeNotice() {
    const bool isMini = m_grid->isMini();
    for (QWidget* part : {static_cast<QWidget*>(m_manualBadge),
                          static_cast<QWidget*>(m_notice),
                          static_cast<QWidget*>(m_resume)})
        m_noticeRow->removeWidget(part);
    m_noticeRow->addWidget(m_manualBadge, 0, 0, Qt::AlignVCenter | Qt::AlignLeft);
    m_noticeRow->addWidget(m_resume, 0, 2, Qt::AlignVCenter | Qt::AlignRight);
    if (isMini)
        m_noticeRow->addWidget(m_notice, 1, 0, 1, 3);
    else
        m_noticeRow->addWidget(m_notice, 0, 1);
    m_noticeRow->setColumnStretch(1, 1);
    reserveNotice();
}

/// The cells keep their place when a sentence appears or disappears, so that the next click hits
/// its target; in a narrow window what is said of a pinned cell takes two lines. The mini form has
/// no room to spare; there the legend is dropped.
void LayerMapView::reserveNotice() {
    const int lines = 2 * QFontMetrics(theme().font(TextRole::Small)).lineSpacing();
    const int height = std::max(lines, m_resume->sizeHint().height());
    m_noticePlace->setMinimumHeight(m_grid->isMini() ? 0 : height);
}

void LayerMapView::styleParts() {
    const int side = theme().scaled(12);
    layout()->setContentsMargins(side, theme().scaled(8), side, theme().scaled(8));
    m_page->layout()->setSpacing(theme().scaled(6));
    m_notice->setFont(theme().font(TextRole::Small));
    m_manualBadge->setFont(theme().font(TextRole::Tiny));
    const QString accent = theme().colours().accent.name();
    m_manualBadge->setStyleSheet(
        QStringLiteral("border: 1px solid %1; color: %1; border-radius: 3px; padding: 0 %2px;")
            .arg(accent)
            .arg(theme().scaled(5)));
    reserveNotice();
    update();
}

QSize LayerMapView::sizeHint() const { return {theme().scaled(720), theme().scaled(120)}; }

std::optional<engine::PlanOutline> LayerMapView::shownSet() const {
    const auto& sets = store().search().bestSets();
    const auto index = selection().historyIndex();
    if (index && *index >= 0 && static_cast<std::size_t>(*index) < sets.size())
        return sets[static_cast<std::size_t>(*index)].change.plan;
    const BestSet* current = store().search().current();
    if (const auto pending = m_manual.pending()) {
        const int layers = store().model() != nullptr ? store().model()->model.layerCount
                           : current != nullptr       ? current->change.plan.layerCount
                                                      : 0;
        return engine::PlanOutline{layers, *pending, layers - 1};
    }
    return current == nullptr ? std::nullopt : std::optional(current->change.plan);
}

QString LayerMapView::notice() const { return m_notice->text(); }

void LayerMapView::refreshView(Topics changed) {
    if (!(changed & kOwnTopics) && hasDraftLayer() == m_model.state().hasDraftLayer) {
        if (m_pinnedCell && m_model.state().isDraftLayer(m_pinnedCell->layer))
            updateNotice(); // it counts rounds
        return;
    }
    const auto index = selection().historyIndex();
    if (changed.testFlag(Topic::Model) || index != m_messageIndex)
        m_message.clear();
    m_messageIndex = index;
    updateMap();
}

void LayerMapView::updateMap() {
    const auto shown = shownSet();
    LayerMapState state;
    state.hasDraftLayer = hasDraftLayer();
    if (shown) {
        state.layerCount = shown->layerCount;
        state.skipped = leftOutBy(*shown);
        if (shown->exitAfterLayer < shown->layerCount - 1)
            state.exitAfterLayer = shown->exitAfterLayer;
        state.lockedLayers = store().lockedLayers(shown->layerCount);
        state.silentCopies = silentCopies(store(), shown->layerCount);
        const auto& pinned = selection().pinnedSet();
        const BestSet* live = store().search().current();
        if (pinned && pinned->layerCount == state.layerCount) {
            state.reference = leftOutBy(*pinned);
            state.referenceName = tr("pinned set");
        } else if (selection().historyIndex() && live != nullptr) {
            state.reference = leftOutBy(live->change.plan);
            state.referenceName = tr("live set");
        }
    }
    m_scores.clear();
    const SearchLog& search = store().search();
    for (int layer = 0; layer < search.layerCount(); ++layer) {
        m_scores[Sublayer::Attention].push_back(search.attention(layer));
        m_scores[Sublayer::Mlp].push_back(search.mlp(layer));
    }
    const bool pinsDraftLayer = m_pinnedCell && m_model.state().isDraftLayer(m_pinnedCell->layer);
    m_model.setState(state);
    if (m_pinnedCell && state.isDraftLayer(m_pinnedCell->layer) != pinsDraftLayer) {
        m_pinnedCell.reset(); // its column is another one now, or none
        m_grid->setPinned(m_pinnedCell);
    }
    m_page->setVisible(shown.has_value());
    m_empty->setVisible(!shown);
    if (!shown)
        updateEmpty();
    else if (hasFocus())
        m_grid->table().setFocus(Qt::OtherFocusReason);
    updateTitle();
    updateNotice();
    updateLegends();
    updateCard();
}

void LayerMapView::updateTitle() {
    const LayerMapState& state = m_model.state();
    const auto& sets = store().search().bestSets();
    const auto index = selection().historyIndex();
    const bool isBack = index && *index >= 0 && static_cast<std::size_t>(*index) < sets.size();
    if (state.layerCount == 0) {
        setBadge({});
        setSubtitle({});
        return;
    }
    setBadge(isBack ? tr("step %1").arg(sets[static_cast<std::size_t>(*index)].place)
                    : newestBadge());
    QString words = isBack                                      ? tr("best set at that time")
                    : m_manual.isManual()                       ? tr("manual set")
                    : store().search().foundBeside() != nullptr ? tr("not used yet: best so far")
                                                                : tr("live set");
    if (state.exitAfterLayer >= 0)
        words = tr("%1, exit after layer %2").arg(words).arg(state.exitAfterLayer);
    words += copiesText(state.skipped, state.silentCopies);
    if (state.reference)
        words += differenceText(state.skipped, *state.reference, state.referenceName);
    setSubtitle(words);
}

QString LayerMapView::manualText() const {
    const BestSet* current = store().search().current();
    const bool isMeasured = !m_manual.pending() && current != nullptr && current->trial;
    if (!isMeasured)
        return tr("Manual set: matchness not measured yet.");
    const engine::TrialFinished& trial = *current->trial;
    const auto matches = std::ranges::count(trial.ticks, 1);
    const QString text = tr("Manual set: matchness %1").arg(shareText(trial.score));
    return trial.ticks.empty() ? tr("%1.").arg(text)
                               : countText(static_cast<qint64>(trial.ticks.size()),
                                           tr("%2, %3 of 1 token."),
                                           tr("%2, %3 of %1 tokens."))
                                     .arg(text)
                                     .arg(matches);
}

void LayerMapView::updateNotice() {
    const bool isManual = m_manual.isManual() && !selection().historyIndex();
    const bool isFoundBeside = store().search().foundBeside() != nullptr &&
                               !selection().historyIndex() && !m_grid->isMini();
    m_notice->setText(!m_message.isEmpty()                  ? m_message
                      : m_pinnedCell && !m_isFinding        ? pinnedText()
                      : m_isFinding || !m_finding.isEmpty() ? m_finding
                      : isManual                            ? manualText()
                      : isFoundBeside                       ? besideSentence(store())
                      : selection().historyIndex()          ? QString()
                                                            : otherRatioText(store()));
    setTip(*m_notice, m_notice->text());
    m_manualBadge->setVisible(isManual);
    m_notice->setVisible(!m_notice->text().isEmpty());
    m_resume->setVisible(!context().bridge.isReplay() && m_manual.isSearchOff() &&
                         m_manual.refusal().isEmpty() && !selection().historyIndex());
}

void LayerMapView::updateEmpty() {
    const engine::DecoderInfo* searching = searchingDecoder(store());
    const bool isReplay = context().bridge.isReplay();
    const bool canLoad = !isReplay && m_manual.refusal().isEmpty();
    EmptyLayerMap::Offer offer;
    offer.isSearched = searchesBeside(store());
    offer.layerCount = store().model() != nullptr ? store().model()->model.layerCount : 0;
    offer.canFind = !isReplay && searching != nullptr && !m_isFinding;
    offer.canLoad = canLoad && !m_isFinding;
    if (m_finding.isEmpty())
        offer.reason = searchOffer(store(), isReplay).reason;
    if (!m_message.isEmpty())
        offer.note = m_message;
    else if (!m_finding.isEmpty())
        offer.note = m_finding;
    else if (isReplay)
        offer.note = tr("It appears when the recording reaches one.");
    else if (store().model() == nullptr)
        offer.note = tr("Open a model first.");
    else if (canLoad)
        offer.note = m_manual.isSearchOff()
                         ? tr("The next answer makes one, but the search for a better one is off.")
                         : tr("The search begins with the next answer.");
    else if (offer.isSearched)
        offer.note = tr("Colour comes with the first answer and the pause behind it.");
    else if (const auto* gamma = searching != nullptr ? searching->find("gamma") : nullptr)
        if (const auto* tokens = std::get_if<double>(&gamma->initial))
            offer.note =
                tr("It uses the first %1 tokens of an answer.").arg(static_cast<int>(*tokens));
    offer.hasDraftLayer = hasDraftLayer();
    m_empty->setOffer(offer);
}

void LayerMapView::updateLegends() {
    const LayerMapState& state = m_model.state();
    const CellLook attention{Sublayer::Attention, true, false, false, false};
    const CellLook mlp{Sublayer::Mlp, true, false, false, false};
    const CellLook kept{Sublayer::Attention, false, false, false, false};
    const bool isMini = m_grid->isMini();
    m_miniLegend->setVisible(isMini && m_notice->text().isEmpty());
    m_miniLegend->setItems({{attention, tr("%1 attention").arg(state.skipped.attention.size())},
                            {mlp, tr("%1 MLP skipped").arg(state.skipped.mlp.size())},
                            {kept, tr("kept")}});
    if (!m_titleLegend)
        return;
    std::vector<LayerLegend::Item> items;
    if (!isMini && state.layerCount > 0)
        items = {
            {attention, tr("attention skipped")}, {mlp, tr("MLP skipped")}, {kept, tr("kept")}};
    if (!items.empty())
        std::ranges::move(markItems(state), std::back_inserter(items));
    m_titleLegend->setItems(std::move(items));
}

QWidget* LayerMapView::makeLegend(QWidget* parent) {
    m_titleLegend = new LayerLegend(theme(), parent);
    updateLegends();
    return m_titleLegend;
}

/// The card floats while the pointer is on a cell; for a pinned cell everything is shown below the
/// map, where it covers nothing.
void LayerMapView::updateCard() {
    const std::optional<Cell> cell = m_grid->current();
    if (!cell || cell == m_pinnedCell || !isVisible() ||
        cell->layer >= m_model.state().columnCount()) {
        if (m_card)
            m_card->hide();
        return;
    }
    if (!m_card)
        m_card = new SublayerCard(theme(), window());
    m_card->setFacts(factsOf(*cell));
    // Below the whole view, so that the map and its description stay visible.
    const QRect place = m_grid->cellRect(*cell);
    const int left = m_grid->mapTo(this, place.topLeft()).x();
    m_card->showBeside(*this, QRect(left, 0, place.width(), height()));
}

void LayerMapView::pinCard(const Cell& cell) {
    m_pinnedCell = m_pinnedCell == cell ? std::nullopt : std::optional(cell);
    m_grid->setPinned(m_pinnedCell);
    m_message.clear();
    updateNotice();
    updateLegends();
    updateCard();
}

void LayerMapView::flip(const Cell& cell) {
    const LayerMapState& state = m_model.state();
    if (state.isDraftLayer(cell.layer)) {
        tell(tr("The draft layer is none of the model's layers, so no skip set can name it."));
        return;
    }
    const bool skips = isSkipped(state.skipped, cell);
    if (!skips && state.isLocked(cell.layer)) {
        tell(tr("This decoder never skips layer %1. Choose another layer.").arg(cell.layer));
        return;
    }
    const QString what = skips ? tr("keep layer %1, %2") : tr("skip layer %1, %2");
    m_manual.use(flipped(state.skipped, cell),
                 what.arg(QString::number(cell.layer), sublayerName(cell.kind)));
    if (!m_manual.pending())
        return;
    setFrozen(false); // what was asked for is seen
    selection().setHistoryIndex(std::nullopt);
    context().bridge.markChanged(Topic::Selection);
    updateMap();
}

void LayerMapView::showFinding(bool isRunning, const QString& sentence) {
    // The button goes: the keyboard waits here for the map.
    if (isRunning && m_empty->isAncestorOf(QApplication::focusWidget()))
        setFocus(Qt::OtherFocusReason);
    m_isFinding = isRunning;
    m_finding = sentence;
    updateNotice();
    updateLegends();
    updateEmpty();
}

void LayerMapView::tell(const QString& sentence) {
    m_message = sentence;
    m_messageIndex = selection().historyIndex();
    updateNotice();
    updateLegends();
    if (m_empty->isVisibleTo(this))
        updateEmpty();
}

void LayerMapView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    updateCard();
}

void LayerMapView::hideEvent(QHideEvent* event) {
    View::hideEvent(event);
    if (m_card)
        m_card->hide();
}

} // namespace ui
