// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/curves/task_scores_view.h"

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/figure_text.h"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// The best task first; with all digits, or as they are read.
FigureTable tableOf(const ScoresByTask& scores, bool isRead) {
    std::vector<std::pair<QString, DraftScore>> tasks(scores.begin(), scores.end());
    std::ranges::stable_sort(tasks, [](const auto& a, const auto& b) {
        return a.second.tokensPerRound > b.second.tokensPerRound;
    });
    std::size_t depths = 1; // and all that a draft of any task reaches
    for (const auto& [task, score] : tasks)
        for (std::size_t depth = 0; depth < score.acceptance.size(); ++depth)
            if (score.acceptance[depth] > 0.0)
                depths = std::max(depths, depth + 1);
    FigureTable table;
    table.header << TaskScoresView::tr("task") << TaskScoresView::tr("tokens a round");
    for (std::size_t depth = 0; depth < depths; ++depth)
        table.header << QStringLiteral("a%1").arg(depth + 1);
    for (const auto& [task, score] : tasks) {
        QStringList row{readableTaskTitle(task),
                        isRead ? decimalText(score.tokensPerRound)
                               : numberCell(score.tokensPerRound)};
        for (std::size_t depth = 0; depth < depths; ++depth)
            row << (depth >= score.acceptance.size() ? QString()
                    : isRead                         ? shareText(score.acceptance[depth])
                                                     : numberCell(score.acceptance[depth]));
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

TaskScoresView::TaskScoresView(const ViewContext& context,
                               const TuningSession& session,
                               QWidget* parent)
    : TuneTableView(context,
                    session,
                    {QStringLiteral("tune_tasks"),
                     tr("By task"),
                     tr("The same figures for the prompts of each task: the shares of drafted "
                        "tokens that are right at depth 1, 2 and so on, each given that those "
                        "before were right, and the tokens of a round with drafts of three. Drafts "
                        "differ from task to task."),
                     {}},
                    {240, 170},
                    parent) {
    setNote(tr("The first measure fills this table."));
}

/// In the end, those of the state that was kept.
void TaskScoresView::showRun() {
    const ScoresByTask* scores = run().done       ? &run().done->tasks
                                 : run().newest() ? &run().newest()->tasks
                                                  : nullptr;
    if (scores == nullptr)
        showTable({}, {});
    else
        showTable(tableOf(*scores, false), tableOf(*scores, true));
    setSubtitle(run().done          ? tr("of the result")
                : scores == nullptr ? QString()
                                    : tr("step %1").arg(numberText(run().newest()->step)));
}

} // namespace ui
