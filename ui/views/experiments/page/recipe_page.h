// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/recipe/recipe.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;

namespace ui {

/// What a recipe does and makes, before it has run. Thread: UI.
class RecipePage : public QWidget {
    Q_OBJECT

public:
    explicit RecipePage(const Theme& theme, QWidget* parent = nullptr);

    void setRecipe(const engine::Recipe& recipe);

private:
    void restyle();

    const Theme& m_theme;
    QLabel* m_summary;
    QLabel* m_parts;
    QLabel* m_caveat;
    QLabel* m_source;
};

} // namespace ui
