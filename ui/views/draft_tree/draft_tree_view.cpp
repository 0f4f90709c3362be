// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/draft_tree_view.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/theme/tip_text.h"
#include "ui/views/draft_tree/choice_sentence.h"
#include "ui/views/draft_tree/draft_end_text.h"

#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <ranges>

namespace ui {

using namespace engine;

namespace {

constexpr int kRoomForSentence = 270; ///< pixels at 100 %, beside the tree

ViewInfo treeInfo() {
    return {QStringLiteral("draft_tree"),
            DraftTreeView::tr("Draft tree"),
            DraftTreeView::tr(
                "What the last step drafted, and which of it the full model accepted. The draft's "
                "first choices run downwards; its alternatives, where it was less sure, are beside "
                "them. The full model checks all of them in one pass: it accepts the bold path and "
                "adds one token of its own (paper: figure 5). Some decoders add further rows to "
                "the same pass, such as masks or a window of guesses. They are shown dashed below "
                "the token they follow, and cannot be accepted."),
            Topic::Answers | Topic::Decoder | Topic::Selection,
            EngineBridge::kFiguresMs};
}

/// Why there was no draft, if the step says so.
QString plainSentence(const StepFinished& step) {
    const QString plain =
        DraftTreeView::tr("A plain step: one token by the full model, nothing was drafted.");
    if (step.isBaseline)
        return plain + QLatin1Char(' ') +
               DraftTreeView::tr("It measured the full model's own speed.");
    const QString why = draftEndText(step.draftEnd);
    return why.isEmpty() ? plain
                         : plain + QLatin1Char(' ') + DraftTreeView::tr("Reason: %1.").arg(why);
}

/// What was drafted, how much was accepted, and which rows ran outside the draft.
QString treeSentence(const StepFinished& step, const DraftComb& comb) {
    const QString beside =
        countText(comb.sideCount,
                  DraftTreeView::tr("1 more row ran in the pass; it cannot be accepted."),
                  DraftTreeView::tr("%1 more rows ran in the pass; they cannot be accepted."));
    if (comb.rows.empty())
        return comb.sideCount > 0
                   ? DraftTreeView::tr("Nothing was drafted.") + QLatin1Char(' ') + beside
                   : plainSentence(step);
    const QString drafted = countText(static_cast<qint64>(step.draft.size()),
                                      DraftTreeView::tr("1 candidate checked in one pass: %2 "
                                                        "accepted, %3 own."),
                                      DraftTreeView::tr("%1 candidates checked in one pass: %2 "
                                                        "accepted, %3 own."))
                                .arg(comb.accepted)
                                .arg(static_cast<int>(step.tokens.size()) - comb.accepted);
    return comb.sideCount > 0 ? drafted + QLatin1Char(' ') + beside : drafted;
}

} // namespace

ShownStep shownStep(const RunStore& store, const Selection& selection) {
    if (const auto chosen = selection.token()) {
        const Answer* answer = store.answers().find(chosen->promptId);
        const auto index = static_cast<std::size_t>(chosen->index);
        if (answer != nullptr && chosen->index >= 0 && index < answer->tokens.size()) {
            const auto step =
                std::ranges::find(answer->steps, answer->tokens[index].step, &StepFinished::step);
            if (step != answer->steps.end())
                return {answer, &*step, chosen->firstStep + step->step + 1, false};
        }
        return {nullptr, nullptr, 0, true};
    }
    const Answer* answer = store.answers().latestShown();
    if (answer == nullptr)
        return {};
    const auto made = [answer](const StepFinished& step) {
        return ShownStep{answer, &step, answer->firstStep + step.step + 1, false};
    };
    for (const StepFinished& step : answer->steps | std::views::reverse)
        if (const ShownStep shown = made(step); shown.hasRows())
            return shown;
    return made(answer->steps.back());
}

QString goneStepText() { return DraftTreeView::tr("The round of this token cannot be shown."); }

QString textBefore(const Answer& answer, const StepFinished& step) {
    const auto first = std::ranges::find(answer.tokens, step.step, &AnswerToken::step);
    if (first == answer.tokens.end() || first == answer.tokens.begin())
        return {};
    const AnswerToken& before = *(first - 1);
    return QString::fromStdString(answer.text.substr(before.begin, before.end - before.begin));
}

DraftTreeView::DraftTreeView(const ViewContext& context, DraftTreeForm form, QWidget* parent)
    : View(context, treeInfo(), parent)
    , m_form(form)
    , m_scroll(new QScrollArea(this))
    , m_picture(new CombPicture(context.theme, form))
    , m_sentence(
          new LiveLabel(theme(), TextRole::Small, &Colours::text, LiveLabel::Fit::Wrapped, this)) {
    auto* rows = new QVBoxLayout(this);
    m_scroll->setWidget(m_picture);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("Draft tree of the last step"));
    m_scroll->setFocusPolicy(Qt::TabFocus);
    rows->addWidget(m_sentence);
    rows->addWidget(m_scroll, 1);
    connect(&context.theme, &Theme::changed, this, &DraftTreeView::restyle);
    restyle();
    refreshView({});
}

void DraftTreeView::refreshView(Topics) {
    const ShownStep shown = shownStep(store(), selection());
    if (shown.step == nullptr) {
        m_picture->show({});
        setSubtitle({});
        tell(shown.isGone ? goneStepText()
                          : tr("Once a decoder drafts, the tree of each step appears here: its "
                               "candidates, and which of them the full model accepted."),
             false);
        return;
    }
    const DraftComb comb = makeDraftComb(*shown.step, textBefore(*shown.answer, *shown.step));
    setSubtitle(tr("step %1").arg(shown.number));
    const QString why = choiceSentence(*shown.step);
    const QString whole = treeSentence(*shown.step, comb);
    tell(why.isEmpty() ? whole : whole + QLatin1Char(' ') + why,
         !comb.rows.empty() || comb.sideCount > 0);
    m_picture->show(comb);
}

void DraftTreeView::tell(const QString& sentence, bool isTree) {
    m_sentence->setText(sentence);
    setTip(*m_picture, sentence);
    if (m_scroll->accessibleDescription() != sentence) // the keyboard stops there
        m_scroll->setAccessibleDescription(sentence);
    m_isTree = isTree;
    share();
}

/// A low dock has room for the tree or for the sentence.
void DraftTreeView::share() {
    const bool isLow =
        m_form == DraftTreeForm::Compact || height() < theme().scaled(kRoomForSentence);
    m_sentence->setVisible(!isLow || !m_isTree);
    m_scroll->setVisible(!isLow || m_isTree);
}

void DraftTreeView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    share();
}

FigureTable DraftTreeView::table() const {
    FigureTable table{{tr("Depth"), tr("Token"), tr("Choice"), tr("Probability"), tr("Accepted")},
                      {}};
    const auto add = [&](const CombNode& node, int depth) {
        table.rows.push_back({QString::number(depth),
                              node.text,
                              QString::number(node.choice),
                              QString::number(node.probability, 'f', 4),
                              node.isAccepted ? tr("yes") : tr("no")});
    };
    const auto addSides = [&](const std::vector<CombSide>& sides) {
        for (const CombSide& side : sides)
            table.rows.push_back(
                {QString::number(side.depth), side.text, tr("beside"), {}, tr("cannot be")});
    };
    addSides(m_picture->comb().rootSides);
    for (const CombRow& row : m_picture->comb().rows) {
        if (row.firstChoice.index >= 0)
            add(row.firstChoice, row.depth);
        for (const CombNode& node : row.alternatives)
            add(node, row.depth);
        addSides(row.sides);
    }
    return table;
}

void DraftTreeView::drawFigure(QPainter& painter, const QSize& size) {
    const QSize whole(m_picture->width(), std::max(m_picture->sizeHint().height(), 1));
    const double scale = std::min(static_cast<double>(size.width()) / std::max(whole.width(), 1),
                                  static_cast<double>(size.height()) / whole.height());
    painter.scale(scale, scale);
    m_picture->render(&painter, QPoint(), QRegion(), DrawChildren);
}

void DraftTreeView::restyle() {
    const int above = m_form == DraftTreeForm::Compact ? 4 : 8;
    layout()->setContentsMargins(0, theme().scaled(above), 0, 0);
    layout()->setSpacing(theme().scaled(4));
    m_sentence->setContentsMargins(theme().scaled(12), 0, theme().scaled(12), 0);
    m_picture->updateGeometry();
    m_picture->update();
}

} // namespace ui
