// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/lens_view.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/learn/lens/head_list.h"
#include "ui/views/learn/lens/lens_cell_panel.h"
#include "ui/views/learn/lens/lens_map.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

namespace {

constexpr int kAttentionDelayMs = 200;
constexpr int kNarrowWidth = 820; // below it the cell stands under the map

ViewInfo lensInfo() {
    return {
        QStringLiteral("lens"),
        LensView::tr("Lens"),
        LensView::tr(
            "Each cell asks: if the model stopped after this sublayer, how sure would it be of "
            "the token that was finally written? Final norm and output head are applied to the "
            "residual stream there, as an early exit does (logit lens). A dot marks where that "
            "token leads, the line where it leads for good. Where columns change little, a "
            "sublayer can be skipped; where the line comes early, an exit pays. Compare figures "
            "1 and 2 of the LayerSkip paper and the sublayers that SWIFT skips."),
        Topic::Answers | Topic::Model | Topic::Selection | Topic::Search,
        250};
}

/// Trials that the scores of sublayers are the means of: those of the newest search.
int scoredTrials(const SearchLog& search) {
    const SublayerScores& scores = search.attention(0);
    return static_cast<int>(scores.skipped + scores.kept);
}

bool hasCosts(const SearchLog& search, const LensModel& model) {
    return model.tokenCount() > 0 && search.layerCount() == model.layerCount() &&
           scoredTrials(search) > 0;
}

/// Matchness that skipping a sublayer costs; none if no trial kept it, or none skipped it.
std::optional<double> matchnessCost(const SublayerScores& scores) {
    const auto kept = scores.meanKept();
    const auto skipped = scores.meanSkipped();
    return kept && skipped ? std::optional(*kept - *skipped) : std::nullopt;
}

} // namespace

LensView::LensView(const ViewContext& context, QWidget* parent)
    : View(context, lensInfo(), parent)
    , m_reader(context.bridge)
    , m_pages(new QStackedWidget(this))
    , m_note(plainLabel(this, true))
    , m_question(plainLabel(this, true))
    , m_colouring(new SegmentedControl(theme(), tr("Colour of the cells"), this))
    , m_overlay(new SegmentedControl(theme(), tr("Shown over the cells"), this))
    , m_state(plainLabel(this))
    , m_progress(new QProgressBar(this))
    , m_read(new QPushButton(this))
    , m_parts(new QSplitter(this))
    , m_map(new LensMap(theme(), m_model, this))
    , m_bars(new LensBars(theme(), this))
    , m_finding(plainLabel(this, true))
    , m_cell(new LensCellPanel(theme(), m_model, this))
    , m_attentionTitle(plainLabel(this, true))
    , m_heads(new HeadList(theme(), this)) {
    connect(&context.bridge, &EngineBridge::eventCame, this, [this](const EngineEvent& event) {
        if (event.as<ModelLoaded>() == nullptr)
            return;
        const Answer* newest = newestAnswer();
        m_lastOfEarlier = newest == nullptr ? 0 : newest->promptId;
        m_begun = 0;
    });
    m_question->setText(
        tr("If the model stopped after this sublayer, how sure would it be of the token that it "
           "finally wrote?"));
    m_question->setProperty("tone", "bold");
    for (QLabel* label : {m_state, m_finding, m_attentionTitle, m_note})
        label->setProperty("tone", "small");
    m_colouring->setSegments({tr("Probability"), tr("Rank"), tr("Leads")});
    m_colouring->setCurrentIndex(0);
    m_overlay->setSegments({tr("Skip set"), tr("Exits taken"), tr("Nothing")});
    m_overlay->setCurrentIndex(0);
    setFocusProxy(m_map);
    m_note->setAlignment(Qt::AlignCenter);
    m_pages->addWidget(m_note);
    auto* left = new QWidget;
    auto* leftRows = new QVBoxLayout(left);
    leftRows->setContentsMargins(0, 0, 0, 0);
    leftRows->setSpacing(0);
    leftRows->addWidget(m_map, 1);
    leftRows->addWidget(m_bars);
    leftRows->addWidget(m_finding);
    m_finding->installEventFilter(this);
    m_parts->addWidget(left);
    m_parts->addWidget(makeSides());
    m_parts->setStretchFactor(0, 3);
    m_parts->setStretchFactor(1, 2);
    m_parts->setChildrenCollapsible(false);
    m_pages->addWidget(m_parts);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(makeTools());
    rows->addWidget(m_pages, 1);
    setAutoFillBackground(true);
    m_attentionDelay.setSingleShot(true);
    m_attentionDelay.setInterval(kAttentionDelayMs);
    connect(&m_attentionDelay, &QTimer::timeout, this, &LensView::askForAttention);
    connect(&m_reader, &LensReader::changed, this, &LensView::showReading);
    connect(this, &View::frozenChanged, this, &LensView::showReading);
    connect(&m_reader, &LensReader::attentionChanged, this, &LensView::showAttention);
    connect(m_map, &LensMap::columnsMoved, this, [this] { m_bars->setEdges(m_map->layerEdges()); });
    connect(m_map->horizontalScrollBar(), &QScrollBar::valueChanged, this, [this] {
        m_bars->setEdges(m_map->layerEdges());
    });
    connect(m_map, &LensMap::currentMoved, this, [this] {
        m_cell->showCell(m_map->current());
        m_attentionDelay.start();
    });
    connect(
        m_cell, &LensCellPanel::branchAsked, this, [this](int token, const TokenChoice& choice) {
            emit branchAsked(m_model.answer().promptId, token, choice);
        });
    connect(m_colouring, &SegmentedControl::chosen, this, [this](int index) {
        m_model.setColouring(static_cast<LensColouring>(index));
    });
    connect(m_overlay, &SegmentedControl::chosen, this, [this](int index) {
        m_model.setOverlay(static_cast<LensOverlay>(index));
    });
    connect(m_read, &QPushButton::clicked, this, [this] {
        if (m_reader.isReading())
            return m_reader.stop();
        setFrozen(false); // what was asked for is seen
        m_reader.read(m_begun, answerLength());
    });
    connect(&theme(), &Theme::changed, this, &LensView::restyle);
    restyle();
    refreshView({});
}

QWidget* LensView::makeTools() {
    auto* tools = new QWidget;
    auto* rows = new QVBoxLayout(tools);
    rows->setContentsMargins(12, 8, 12, 6);
    rows->addWidget(m_question);
    auto* line = new QHBoxLayout;
    line->addWidget(m_colouring);
    line->addWidget(m_overlay);
    line->addStretch(1);
    rows->addLayout(line);
    auto* reading = new QHBoxLayout;
    m_progress->setRange(0, 100);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("How much of the answer has been read"));
    reading->addWidget(m_state);
    reading->addWidget(m_progress);
    reading->addStretch(1);
    reading->addWidget(m_read);
    rows->addLayout(reading);
    return tools;
}

QWidget* LensView::makeSides() {
    auto* sides = new QWidget;
    auto* rows = new QVBoxLayout(sides);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(m_cell);
    rows->addWidget(m_attentionTitle);
    rows->addWidget(m_heads, 1);
    auto* scroll = new ColumnScroll; // on a low screen, or with large text
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(sides);
    return scroll;
}

void LensView::restyle() {
    const Colours& colours = theme().colours();
    setGround(*this, colours.panel);
    const int side = theme().scaled(12);
    m_note->setContentsMargins(3 * side, 0, 3 * side, 0);
    m_finding->setContentsMargins(side, theme().scaled(6), side, theme().scaled(6));
    m_attentionTitle->setContentsMargins(side, theme().scaled(6), side, theme().scaled(4));
    m_progress->setFixedSize(theme().scaled(120), theme().scaled(8));
    m_heads->setMinimumHeight(theme().scaled(120));
    m_map->setMinimumSize(theme().scaled(320), theme().scaled(120));
}

void LensView::chooseFinalCell() {
    std::optional<LensPlace> earliest;
    for (int i = 0; i < m_model.tokenCount(); ++i) {
        const int depth = m_model.token(i).finalDepth();
        if (depth > 0 && (!earliest || depth < earliest->depth))
            earliest = LensPlace{i, depth};
    }
    if (earliest)
        m_map->setCurrent(*earliest);
}

void LensView::tellFacts(LessonFacts& facts) const {
    const auto place = m_map->current();
    if (!place || place->token >= m_model.tokenCount())
        return;
    const auto tell = [&](const char* name, double value) { facts.insert_or_assign(name, value); };
    const LensCell& cell = m_model.cell(*place);
    tell("lens.rank", cell.rank + 1);
    tell("lens.probability", cell.probability);
    if (place->depth > 0) // the embedding belongs to no layer
        tell("lens.layer", layerOfDepth(place->depth));
    if (const int depth = m_model.token(place->token).finalDepth(); depth > 0)
        tell("lens.final_layer", layerOfDepth(depth));
}

/// Side by side where there is room.
void LensView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    m_parts->setOrientation(width() < theme().scaled(kNarrowWidth) ? Qt::Vertical : Qt::Horizontal);
}

/// The splitter asks no part how high it has to be for its width, so the finding says it.
bool LensView::eventFilter(QObject* watched, QEvent* event) {
    const bool isLaidOut = event->type() == QEvent::Resize || event->type() == QEvent::Show;
    if (watched == m_finding && isLaidOut)
        m_finding->setMinimumHeight(m_finding->heightForWidth(m_finding->width()));
    return View::eventFilter(watched, event);
}

QWidget* LensView::makeLegend(QWidget* parent) {
    auto* legend = new LensLegend(theme(), parent);
    const auto follow = [legend](int index) { legend->show(static_cast<LensColouring>(index)); };
    connect(m_colouring, &SegmentedControl::chosen, legend, follow);
    follow(m_colouring->currentIndex());
    return legend;
}

/// The answer of the selected token, else the newest that is not of a search.
const Answer* LensView::shownAnswer() const {
    const AnswerLog& log = store().answers();
    if (const auto token = selection().token())
        if (const Answer* selected = log.find(token->promptId))
            return selected;
    return newestAnswer();
}

/// Of those that are not of a search.
const Answer* LensView::newestAnswer() const {
    const AnswerLog& log = store().answers();
    for (auto answer = log.answers().rbegin(); answer != log.answers().rend(); ++answer)
        if (answer->promptId < kFirstHiddenPrompt)
            return &*answer;
    return nullptr;
}

int LensView::answerLength() const {
    const Answer* answer = store().answers().find(m_begun);
    return answer == nullptr || !answer->finished
               ? 0
               : static_cast<int>(answer->finished->tokens.size());
}

void LensView::refreshView(Topics) {
    const Answer* answer = shownAnswer();
    readFirst(answer);
    m_cell->setObstacle(store().answers().isRunning()
                            ? tr("Wait until the answer that is being written is complete.")
                            : QString());
    showReading();
    showMarks();
    showBars();
}

/// What is shown over the colours.
void LensView::showMarks() {
    const BestSet* newest = store().search().current();
    m_model.setSkipped(newest == nullptr ? SkipSet() : newest->change.plan.skipped,
                       store().search().used() != nullptr);
    if (const Answer* read = store().answers().find(m_model.answer().promptId))
        m_model.setExits(exitsOf(*read, store().rounds()));
}

/// A complete answer that was not begun yet.
bool LensView::isToBeRead(const Answer* answer) const {
    return answer != nullptr && answer->finished && !answer->finished->tokens.empty() &&
           answer->promptId != m_begun && answer->promptId > m_lastOfEarlier &&
           store().model() != nullptr && store().loading() == nullptr &&
           !context().bridge.isReplay();
}

void LensView::readFirst(const Answer* answer) {
    if (!isToBeRead(answer))
        return;
    m_begun = answer->promptId;
    m_reader.read(m_begun, std::min(kFirstTokens, answerLength()));
}

bool LensView::isAtRest() const { return !m_reader.isReading() && !isToBeRead(shownAnswer()); }

void LensView::readOn() {
    readFirst(shownAnswer());
    if (isAtRest())
        m_reader.read(m_begun, std::min(kFirstTokens, answerLength()));
}

QString LensView::noteFor(const Answer* answer) const {
    if (context().bridge.isReplay())
        return tr("The lens looks into a model, and a recording has none. Open the window without "
                  "--replay, load the model and ask the same question.");
    if (store().model() == nullptr)
        return tr("Load a model and ask something: the lens reads the answer with it.");
    if (answer == nullptr)
        return tr("Ask something in Chat. When the answer is complete, the lens reads it.");
    if (answer->isRunning())
        return tr("The answer is being written. When it is complete, the lens reads it.");
    if (!answer->finished || answer->finished->tokens.empty())
        return tr("This answer has no tokens. Ask again in Chat.");
    if (answer->promptId <= m_lastOfEarlier)
        return tr("This answer was written before this model was loaded. Ask again in Chat.");
    if (!m_reader.failure().isEmpty())
        return m_reader.failure();
    if (m_reader.wasStopped())
        return tr("Reading the answer was stopped. The button above begins again.");
    return tr("The model reads the answer once more, sublayer by sublayer.");
}

QString LensView::note() const {
    return m_pages->currentWidget() == m_note ? m_note->text() : QString();
}

/// A frozen picture may be of an answer of which the reader knows nothing any more.
bool LensView::isOfReader() const {
    return !isFrozen() || m_model.answer().promptId == m_reader.answer().promptId;
}

/// A frozen picture stays as it is; the button and the progress are those of the reading.
void LensView::showReading() {
    if (!isFrozen())
        showPicture();
    const LensAnswer& read = m_reader.answer();
    const bool isEmpty = m_model.tokenCount() == 0;
    const bool isReading = m_reader.isReading();
    const int length = answerLength();
    m_progress->setVisible(isReading);
    m_progress->setValue(static_cast<int>(100.0 * m_reader.part()));
    m_read->setVisible(isReading || (isOfReader() && m_model.tokenCount() < length));
    m_read->setText(isReading
                        ? tr("Stop &reading")
                        : countText(length, tr("&Read the token"), tr("&Read all %1 tokens")));
    if (!isOfReader())
        return;
    QStringList state;
    if (!isEmpty)
        state << countText(length, tr("%1 of 1 token"), tr("%2 of %1 tokens"))
                     .arg(m_model.tokenCount());
    if (read.seconds > 0.0 && !isReading)
        state << tr("read in %1 s, after the answer").arg(read.seconds, 0, 'f', 1);
    if (isReading && store().answers().isRunning())
        state << tr("waits for the answer that is being written");
    if (!isEmpty && !m_reader.failure().isEmpty())
        state << m_reader.failure();
    m_state->setText(state.join(tr(" · ")));
}

void LensView::showPicture() {
    const LensAnswer& read = m_reader.answer();
    const bool wasEmpty = m_model.tokenCount() == 0;
    const bool isNew = m_model.setAnswer(read);
    const bool isEmpty = m_model.tokenCount() == 0;
    m_note->setText(noteFor(shownAnswer()));
    m_pages->setCurrentWidget(isEmpty ? static_cast<QWidget*>(m_note) : m_parts);
    if (wasEmpty && !isEmpty)
        m_map->setCurrent({0, lensDepths(m_model.layerCount()) - 1});
    if (isEmpty)
        m_cell->showCell(std::nullopt);
    const Answer* answer = store().answers().find(read.promptId);
    setSubtitle(
        answer == nullptr || isEmpty
            ? QString()
            : tr("“%1”").arg(QString::fromStdString(answer->question).simplified().left(80)));
    if (isNew) {
        showMarks();
        showBars();
        showFinding();
    }
}

void LensView::showBars() {
    std::vector<LensBars::Row> rows;
    if (m_model.tokenCount() > 0) {
        const std::vector<int> counts = m_model.finalBy();
        rows.push_back({tr("Final by here"),
                        countText(m_model.tokenCount(), tr("of 1 token"), tr("of %1 tokens")),
                        std::vector<double>(counts.begin(), counts.end()),
                        {},
                        countText(m_model.tokenCount(),
                                  tr("Final at the last layer: %1 of 1 token."),
                                  tr("Final at the last layer: %2 of %1 tokens."))
                            .arg(counts.back())});
        const std::vector<double>& influence = m_model.answer().influence;
        const auto middle = influence.begin() + static_cast<std::ptrdiff_t>(influence.size() / 2);
        if (!influence.empty())
            rows.push_back(
                {tr("Influence"),
                 tr("|added| / |stream|"),
                 {influence.begin(), middle},
                 {middle, influence.end()},
                 tr("Influence of each sublayer, attention and MLP: what it adds, over the "
                    "stream that it adds to.")});
    }
    const SearchLog& search = store().search();
    m_costs.clear();
    if (hasCosts(search, m_model)) {
        LensBars::Row cost{tr("Matchness cost"),
                           tr("kept less skipped"),
                           {},
                           {},
                           countText(scoredTrials(search),
                                     tr("Matchness that skipping each sublayer costs: kept less "
                                        "skipped, of 1 trial."),
                                     tr("Matchness that skipping each sublayer costs: kept less "
                                        "skipped, mean of %1 trials."))};
        for (int layer = 0; layer < search.layerCount(); ++layer) {
            m_costs.push_back(matchnessCost(search.attention(layer)));
            cost.attention.push_back(m_costs.back().value_or(0.0));
            m_costs.push_back(matchnessCost(search.mlp(layer)));
            cost.mlp.push_back(m_costs.back().value_or(0.0));
        }
        rows.push_back(std::move(cost));
    }
    m_bars->setRows(std::move(rows));
    m_bars->setEdges(m_map->layerEdges());
}

FigureTable LensView::table() const {
    FigureTable figure = m_model.table();
    if (m_costs.empty())
        return figure;
    QStringList cost{tr("matchness cost"), QString(), QString()};
    for (const auto& each : m_costs)
        cost << (each ? numberCell(*each) : QString());
    figure.rows.push_back(cost);
    return figure;
}

QString LensView::finding() const {
    return m_model.finding(static_cast<int>(silentCopies(store(), m_model.layerCount()).size()));
}

void LensView::showFinding() {
    m_finding->setText(finding());
    m_finding->setVisible(!m_finding->text().isEmpty());
    m_finding->setMinimumHeight(m_finding->heightForWidth(m_finding->width()));
    m_map->setAccessibleDescription(finding());
}

void LensView::askForAttention() {
    const auto place = m_map->current();
    if (place && store().model() != nullptr && isOfReader())
        m_reader.readAttention(place->token, std::max(layerOfDepth(place->depth), 0));
}

void LensView::showAttention() {
    if (!isOfReader())
        return;
    const AttentionRead* read = m_reader.attention();
    if (read == nullptr) {
        m_heads->clearHeads();
        m_attentionTitle->setText(m_reader.attentionFailure().isEmpty()
                                      ? tr("Attention: the heads are being read …")
                                      : m_reader.attentionFailure());
        return;
    }
    m_heads->showHeads(*read);
    m_attentionTitle->setText(
        tr("Attention of layer %1 before \u201C%2\u201D: where each of %3 heads looks, over %4 "
           "tokens.")
            .arg(QString::number(read->layer),
                 read->token < m_model.tokenCount() ? shortTokenText(m_model.tokenText(read->token))
                                                    : QString(),
                 QString::number(read->heads.size()),
                 QString::number(read->texts.size())));
}

} // namespace ui
