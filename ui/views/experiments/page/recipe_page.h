// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/recipe/recipe.h"
#include "ui/theme/theme.h"
#include "ui/views/experiments/options/recipe_outlook.h"

#include <QScrollArea>

#include <vector>

class QLabel;
class QVBoxLayout;

namespace ui {

class DockTitle;
class FigureList;

/// What a recipe asks, compares and shows, and what it takes, before it has run. Thread: UI.
class RecipePage : public QScrollArea {
    Q_OBJECT

public:
    explicit RecipePage(const Theme& theme, QWidget* parent = nullptr);

    void setRecipe(const engine::Recipe& recipe);

    /// Of the recipe that is shown, or of the next one.
    void setOutlook(const RecipeOutlook& outlook);

private:
    void build();
    FigureList* addList(DockTitle* title);
    void addNarrow(QWidget* part);
    void restyle();
    void showFacts();
    void showParts();

    const Theme& m_theme;
    engine::Recipe m_recipe;
    RecipeOutlook m_outlook;
    QVBoxLayout* m_column = nullptr;
    QWidget* m_head = nullptr;
    QLabel* m_summary = nullptr;
    QLabel* m_caveat = nullptr;
    FigureList* m_facts = nullptr;
    FigureList* m_compared = nullptr;
    FigureList* m_prompts = nullptr;
    DockTitle* m_reportTitle = nullptr;
    FigureList* m_report = nullptr;
    std::vector<QWidget*> m_narrow; ///< not wider than is read with ease
};

} // namespace ui
