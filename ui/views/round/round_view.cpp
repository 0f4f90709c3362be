// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/round/round_view.h"

#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/draft_tree/draft_tree_view.h"

#include <QApplication>
#include <QLabel>
#include <QPainter>
#include <QResizeEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <ranges>

namespace ui {

using namespace engine;

namespace {

constexpr int kPaneWidth = 260; ///< pixels at 100 % from which on a table has room beside others

ViewInfo roundInfo() {
    return {QStringLiteral("round"),
            RoundView::tr("Round"),
            RoundView::tr(
                "What the decoder keeps to draft from, as of the last round: for example a window "
                "of guesses, a pool of text seen before, or the expected gain of each exit. The "
                "marked row is the one it used. The decoder's explanation in Parameters says what "
                "the columns mean. For a decoder that keeps nothing, this shows the figures of the "
                "round."),
            Topic::Answers | Topic::Decoder | Topic::Selection | Topic::Model,
            EngineBridge::kFiguresMs};
}

/// The figures that every decoder's round has.
ShownTable figuresOf(const StepFinished& step) {
    ShownTable table{"figures",
                     RoundView::tr("Figures").toStdString(),
                     {RoundView::tr("what").toStdString(), RoundView::tr("value").toStdString()},
                     {},
                     -1};
    const auto add = [&](const QString& what, double value) {
        table.rows.push_back({what.toStdString(), value});
    };
    add(RoundView::tr("tokens written"), static_cast<double>(step.tokens.size()));
    add(RoundView::tr("nodes drafted"), static_cast<double>(step.draft.size()));
    add(RoundView::tr("nodes accepted"), static_cast<double>(step.path.size()));
    add(RoundView::tr("rows verified"), step.verifiedRows);
    add(RoundView::tr("layers read for the draft"), step.draftLayers);
    add(RoundView::tr("layers read to verify"), step.verifyLayers);
    add(RoundView::tr("draft, ms"), step.draftMs);
    add(RoundView::tr("verify, ms"), step.verifyMs);
    add(RoundView::tr("search, ms"), step.searchMs);
    add(RoundView::tr("other, ms"), step.otherMs);
    return table;
}

} // namespace

RoundView::RoundView(const ViewContext& context, QWidget* parent)
    : View(context, roundInfo(), parent) {
    build();
    connect(m_tabs, &SegmentedControl::chosen, this, &RoundView::choose);
    connect(&context.theme, &Theme::changed, this, &RoundView::restyle);
    restyle();
    refreshView({});
}

void RoundView::build() {
    m_tabs = new SegmentedControl(theme(), tr("Table of the round"), this);
    m_row = new QHBoxLayout;
    pane(0);
    m_note = plainLabel(this, true);
    m_note->setProperty("tone", "muted");
    m_note->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* bar = new QHBoxLayout;
    bar->addWidget(m_tabs);
    bar->addStretch(1);
    auto* rows = new QVBoxLayout(this);
    rows->addLayout(bar);
    rows->addLayout(m_row, 1);
    rows->addWidget(m_note, 1);
}

void RoundView::restyle() {
    const int side = theme().scaled(12);
    layout()->setContentsMargins(0, theme().scaled(8), 0, 0);
    layout()->setSpacing(theme().scaled(4));
    layout()->itemAt(0)->layout()->setContentsMargins(side, 0, side, 0);
    m_note->setContentsMargins(side, 0, side, 0);
    m_note->setFont(theme().font(TextRole::Small));
    m_row->setSpacing(theme().scaled(8));
}

RoundPane* RoundView::pane(std::size_t index) {
    while (m_panes.size() <= index) {
        m_panes.push_back(new RoundPane(theme(), this));
        m_row->addWidget(m_panes.back(), 1);
    }
    return m_panes[index];
}

/// The step of the selected token, otherwise the newest step of the newest answer that has tables:
/// a decoder chosen later may show other tables than an earlier one.
ShownStep RoundView::shownRound() const {
    if (selection().token())
        return shownStep(store(), selection());
    const Answer* answer = store().answers().latestShown();
    if (answer == nullptr)
        return {};
    const auto made = [answer](const StepFinished& step) {
        return ShownStep{answer, &step, answer->firstStep + step.step + 1, false};
    };
    for (const StepFinished& step : answer->steps | std::views::reverse)
        if (!step.tables.empty())
            return made(step);
    return made(answer->steps.back());
}

void RoundView::refreshView(Topics) {
    const ShownStep shown = shownRound();
    const StepFinished* round = shown.step;
    std::vector<ShownTable> tables;
    if (round != nullptr)
        tables = round->tables;
    m_isWide = !tables.empty() && hasRoomFor(tables.size() + 1);
    if (round != nullptr && (m_isWide || tables.empty()))
        tables.push_back(figuresOf(*round));
    showTables(tables);
    const bool isEmpty = m_tables.empty();
    m_note->setVisible(isEmpty);
    static_cast<QBoxLayout*>(layout())->setStretchFactor(m_row, isEmpty ? 0 : 1);
    m_note->setText(!isEmpty       ? QString()
                    : shown.isGone ? goneStepText()
                                   : tr("With the first answer, this shows the figures of the "
                                        "decoder's rounds and what it keeps to draft from."));
    const QString title =
        m_tables.size() == 1 ? QString::fromStdString(m_tables.front().title) : QString();
    const QString step = round == nullptr ? QString() : tr("decode step %1").arg(shown.number);
    setSubtitle(isEmpty || title.isEmpty() ? (isEmpty ? QString() : step)
                                           : tr("%1, %2").arg(title, step));
    setAccessibleDescription(isEmpty ? m_note->text() : info().explanation);
    setFocusPolicy(isEmpty ? Qt::TabFocus : Qt::NoFocus); // a tab stop even without a table
}

bool RoundView::hasRoomFor(std::size_t tables) const {
    return width() >= static_cast<int>(tables) * theme().scaled(kPaneWidth);
}

void RoundView::showTables(const std::vector<ShownTable>& tables) {
    const bool hasOtherTabs =
        !std::ranges::equal(tables, m_tables, [](const ShownTable& a, const ShownTable& b) {
            return a.title == b.title;
        });
    m_tables = tables;
    if (hasOtherTabs)
        showTabs();
    const std::size_t chosen = chosenTable();
    m_tabs->setCurrentIndex(m_tables.empty() ? -1 : static_cast<int>(chosen));
    m_tabs->setVisible(m_tables.size() > 1 && !m_isWide);
    const std::size_t shown =
        m_isWide ? m_tables.size() : std::min<std::size_t>(1, m_tables.size());
    for (std::size_t i = 0; i < shown; ++i)
        pane(i)->show(m_tables[m_isWide ? i : chosen], m_isWide);
    for (std::size_t i = 0; i < m_panes.size(); ++i)
        m_panes[i]->setVisible(i < shown);
    if (m_tables.empty())
        pane(0)->show({}, false);
}

void RoundView::showTabs() {
    const bool hadFocus = m_tabs->isAncestorOf(QApplication::focusWidget());
    QStringList titles;
    for (const ShownTable& table : m_tables)
        titles << QString::fromStdString(table.title);
    m_tabs->setSegments(titles);
    if (hadFocus && !m_tables.empty()) // the tab that had it is gone
        m_tabs->segment(static_cast<int>(chosenTable()))->setFocus(Qt::OtherFocusReason);
}

std::size_t RoundView::chosenTable() const {
    if (!m_chosenName)
        return 0;
    const auto wanted = std::ranges::find(m_tables, *m_chosenName, &ShownTable::name);
    return wanted == m_tables.end() ? 0 : static_cast<std::size_t>(wanted - m_tables.begin());
}

void RoundView::choose(int index) {
    if (index < 0 || index >= static_cast<int>(m_tables.size()))
        return;
    m_chosenName = m_tables[static_cast<std::size_t>(index)].name;
    showTables(std::vector(m_tables)); // of the same round, also where a later one is known
}

/// A new width may fit more tables, or fewer.
void RoundView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    if (!isFrozen() && event->size().width() != event->oldSize().width())
        refreshView({});
}

FigureTable RoundView::table() const {
    const std::size_t place = m_isWide ? chosenTable() : 0;
    return m_panes[place]->model().figure();
}

QString RoundView::note() const { return m_note->text(); }

/// The ring of a panel that is nothing but its note.
void RoundView::paintEvent(QPaintEvent* event) {
    View::paintEvent(event);
    if (!hasFocus())
        return;
    QPainter painter(this);
    painter.setPen(QPen(theme().colours().focus, 2.0));
    painter.drawRect(rect().adjusted(2, 2, -2, -2));
}

} // namespace ui
