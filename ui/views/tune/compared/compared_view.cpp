// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/compared/compared_view.h"

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/figure_text.h"
#include "ui/tuning/compare/comparison_arguments.h"
#include "ui/views/tune/compared/before_after_chart.h"
#include "ui/views/tune/curves/score_table.h"
#include "ui/views/tune/recipe/recipe_words.h"
#include "ui/views/tune/tune_words.h"

#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

using NamedSum = std::pair<QString, ComparedSum>;

/// The task that gains most first, and all of them at the end.
std::vector<NamedSum> rowsOf(const ComparedPrompts& prompts) {
    std::vector<NamedSum> rows;
    for (const auto& [task, sum] : prompts.byTask())
        rows.emplace_back(readableTaskTitle(task), sum);
    std::ranges::stable_sort(rows, [](const NamedSum& a, const NamedSum& b) {
        return a.second.with * b.second.without > b.second.with * a.second.without;
    });
    if (rows.size() != 1)
        rows.emplace_back(ComparedView::tr("All"), prompts.all());
    return rows;
}

QString textsCell(const ComparedSum& sum) {
    return sum.differing == 0 ? ComparedView::tr("equal")
                              : countText(sum.differing,
                                          ComparedView::tr("1 differs"),
                                          ComparedView::tr("%1 differ"));
}

/// With all digits, or as they are read.
FigureTable adapterTable(const std::vector<NamedSum>& rows, bool isRead) {
    const auto number = [isRead](double value) {
        return isRead ? decimalText(value) : numberCell(value);
    };
    FigureTable table;
    table.header << ComparedView::tr("task") << ComparedView::tr("with it")
                 << ComparedView::tr("without it") << ComparedView::tr("acceptance")
                 << ComparedView::tr("tokens a round") << ComparedView::tr("prompts")
                 << ComparedView::tr("texts");
    for (const auto& [name, sum] : rows) {
        const QString acceptance = !sum.acceptance ? QString()
                                   : isRead        ? shareText(*sum.acceptance)
                                                   : numberCell(*sum.acceptance);
        table.rows.push_back({name,
                              number(sum.with),
                              number(sum.without),
                              acceptance,
                              number(sum.tokensPerRound),
                              QString::number(sum.prompts),
                              textsCell(sum)});
    }
    return table;
}

/// The same of a copy of the model, with what its quality was and is: perplexity is of all tasks
/// together.
FigureTable
copyTable(const std::vector<NamedSum>& rows, const TuningQuality* quality, bool isRead) {
    const auto number = [isRead](double value) {
        return isRead ? decimalText(value) : numberCell(value);
    };
    const auto share = [isRead](const std::optional<double>& value) {
        return !value ? QString() : isRead ? shareText(*value) : numberCell(*value);
    };
    FigureTable table;
    table.header << ComparedView::tr("task") << ComparedView::tr("over the copy")
                 << ComparedView::tr("over the model") << ComparedView::tr("acceptance")
                 << ComparedView::tr("tokens a round") << ComparedView::tr("score, before")
                 << ComparedView::tr("score, after") << ComparedView::tr("perplexity, before")
                 << ComparedView::tr("perplexity, after") << ComparedView::tr("prompts")
                 << ComparedView::tr("texts");
    for (const auto& [name, sum] : rows) {
        const bool hasQuality = quality != nullptr && &name == &rows.back().first;
        table.rows.push_back({name,
                              number(sum.with),
                              sum.without > 0.0 ? number(sum.with / sum.without) : QString(),
                              share(sum.acceptance),
                              number(sum.tokensPerRound),
                              share(sum.scoreBefore),
                              share(sum.score),
                              hasQuality ? number(quality->perplexityBefore) : QString(),
                              hasQuality ? number(quality->perplexity) : QString(),
                              QString::number(sum.prompts),
                              textsCell(sum)});
    }
    return table;
}

BeforeAfterNames namesOf(TuningRecipe recipe) {
    if (recipe == TuningRecipe::Draft)
        return {ComparedView::tr("Auto without it"),
                ComparedView::tr("Auto with the layer"),
                ComparedView::tr("1.00\u00D7 is plain decoding"),
                ComparedView::tr("%1: %2 without, %3 with the layer")};
    return {ComparedView::tr("the model, plainly"),
            ComparedView::tr("the copy with %1").arg(recipeName(recipe)),
            ComparedView::tr("1.00\u00D7 is plain decoding of the copy"),
            ComparedView::tr("%1: the model %2, the copy with its drafts %3")};
}

} // namespace

ComparedView::ComparedView(const ViewContext& context,
                           const TuningSession& session,
                           QWidget* parent)
    : TuneView(context,
               session,
               {QStringLiteral("tune_compared"),
                tr("Before and after"),
                tr("How fast Auto is with the draft layer and without it, over plain decoding in "
                   "the same run. The prompts are yours, and none of them was trained on. Each is "
                   "answered by all three in turn, then again in reverse order. Acceptance and "
                   "tokens a round are those of Auto with the layer, whatever drafted. Of a copy "
                   "of the model: how fast it is with its drafts, over its own plain decoding and "
                   "over the model's, with the scores of the answers where they have a reference."),
                {}},
               parent)
    , m_chart(new BeforeAfterChart(theme(), info().title, this))
    , m_table(new ScoreTable(theme(), info().title))
    , m_note(plainLabel(this, true)) {
    m_note->setAlignment(Qt::AlignCenter);
    m_note->setProperty("tone", QStringLiteral("small"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_chart);
    column->addWidget(m_table);
    column->addWidget(m_note, 1);
}

QString ComparedView::noteText() const {
    const AdapterComparison& comparison = session().comparison();
    const bool isCopy = session().recipe() != TuningRecipe::Draft;
    if (isOwn() && comparison.isRunning())
        return comparison.isHeld() ? tr("Waits while an answer streams.")
               : isCopy            ? tr("The first prompt is answered six times: by plain decoding "
                                        "of the model and of the copy, and by the copy with its "
                                        "drafts, twice each.")
                                   : tr("The first prompt is answered six times: by plain decoding "
                                        "and by Auto with the layer and without it, twice each.");
    if (isOwn() && comparison.state() == ComparisonState::Failed)
        return comparison.sentence();
    if (session().canCompare() && isCopy)
        return tr("Compare on my prompts, above, answers up to %1 prompts that were not trained "
                  "on, with the model and with its copy.")
            .arg(kComparedPrompts);
    if (session().canCompare())
        return tr("Compare on my prompts, above, answers up to %1 prompts that were not trained "
                  "on, with the draft layer and without it.")
            .arg(kComparedPrompts);
    if (session().hasResult() && !hasPromptsToCompare(session().choice()))
        return tr("There are no prompts of your own to compare with: the model wrote all of them.");
    return isCopy ? tr("Once the training is finished, your own prompts can be answered with the "
                       "model and with its copy, to see what the copy gives.")
                  : tr("Once the training is finished, your own prompts can be answered with the "
                       "draft layer and without it, to see whether it pays.");
}

FigureTable ComparedView::tableOf(const std::vector<std::pair<QString, ComparedSum>>& rows,
                                  bool isRead) const {
    if (session().recipe() == TuningRecipe::Draft)
        return adapterTable(rows, isRead);
    const auto& done = run().done;
    return copyTable(rows, done && done->quality ? &*done->quality : nullptr, isRead);
}

void ComparedView::showRun() {
    const AdapterComparison& comparison = session().comparison();
    const bool isKnown = isOwn() && !comparison.prompts().prompts().empty();
    const std::vector<NamedSum> rows =
        isKnown ? rowsOf(comparison.prompts()) : std::vector<NamedSum>();
    std::vector<BeforeAfter> bars;
    for (const auto& [name, sum] : rows)
        bars.push_back(
            {name, sum.without, sum.with, rows.size() > 1 && &name == &rows.back().first});
    m_chart->setRows(std::move(bars), namesOf(session().recipe()));
    m_shown = isKnown ? tableOf(rows, false) : FigureTable();
    m_table->setTable(isKnown ? tableOf(rows, true) : FigureTable());
    m_chart->setVisible(isKnown);
    m_table->setVisible(isKnown);
    const bool hasFailed = isOwn() && comparison.state() == ComparisonState::Failed;
    m_note->setVisible(!isKnown || hasFailed);
    m_note->setText(noteText());
    fitTable();
    setSubtitle(isKnown ? comparisonText(comparison) : QString());
}

/// As high as its rows: the page scrolls, not the table.
void ComparedView::fitTable() {
    const QHeaderView& header = *m_table->horizontalHeader();
    const QScrollBar& bar = *m_table->horizontalScrollBar();
    m_table->setFixedHeight(header.sizeHint().height() + m_table->verticalHeader()->length() +
                            (bar.maximum() > 0 ? bar.sizeHint().height() : 0) + theme().scaled(4));
    updateGeometry();
}

void ComparedView::resizeEvent(QResizeEvent* event) {
    TuneView::resizeEvent(event);
    fitTable();
}

QSize ComparedView::pictureSize() const { return m_chart->sizeHint().expandedTo(m_chart->size()); }

void ComparedView::drawFigure(QPainter& painter, const QSize& size) {
    painter.fillRect(QRect(QPoint(), size), theme().colours().panel);
    m_chart->paint(painter, QRect(QPoint(), size));
}

QSize ComparedView::sizeHint() const {
    return m_shown.rows.empty() ? QSize(theme().scaled(470), theme().scaled(110))
                                : TuneView::sizeHint();
}

QSize ComparedView::minimumSizeHint() const {
    return m_shown.rows.empty() ? QSize(theme().scaled(250), theme().scaled(90))
                                : TuneView::minimumSizeHint();
}

} // namespace ui
