// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/options/recipe_outlook.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"

namespace ui {

QStringList sizesOf(const engine::Recipe& recipe) {
    QStringList sizes;
    for (const char* known : {"quick", "standard", "paper"})
        if (recipe.sizes.contains(known))
            sizes << QLatin1String(known);
    for (const auto& [name, size] : recipe.sizes)
        if (!sizes.contains(QString::fromStdString(name)))
            sizes << QString::fromStdString(name);
    return sizes;
}

QString promptsOfEachTask(int prompts) {
    return prompts == 0
               ? tr("All prompts of each task")
               : countText(prompts, tr("1 prompt of each task"), tr("%1 prompts of each task"));
}

QString sizeSentence(const QString& prompts, const engine::RecipeSize& size) {
    QString text = prompts;
    if (size.mostTasks > 0)
        text = tr("%1, of %2 at most")
                   .arg(text, countText(size.mostTasks, tr("1 task"), tr("%1 tasks")));
    return countText(
               size.maxTokens, tr("%2, answers up to 1 token."), tr("%2, answers up to %1 tokens."))
        .arg(text);
}

} // namespace ui
