// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/recipe/recipe.h"

#include <QString>
#include <QStringList>

namespace ui {

/// How the chosen recipe would be run now. A plain value.
struct RecipeOutlook {
    QString size;    ///< "quick", ...
    QString prompts; ///< a sentence: which ones
    QString cost;    ///< a sentence: what it takes, or why that is not known

    bool operator==(const RecipeOutlook&) const = default;
};

/// The names of the sizes, the smallest first.
QStringList sizesOf(const engine::Recipe& recipe);

/// "4 prompts of each task"; 0 means all.
QString promptsOfEachTask(int prompts);

/// "4 prompts of each task, of 3 tasks at most, answers up to 40 tokens." `prompts` are its first
/// words.
QString sizeSentence(const QString& prompts, const engine::RecipeSize& size);

} // namespace ui
