// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/experiments/lists/list_panel.h"
#include "ui/views/experiments/lists/recipe_list_model.h"

class QAction;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;

namespace ui {

/// The gallery of recipes, with a filter. Thread: UI.
class RecipePanel : public ListPanel {
    Q_OBJECT

public:
    RecipePanel(const Theme& theme,
                const RecipeCatalog& catalog,
                const ExperimentQueue& queue,
                QWidget* parent = nullptr);

    /// Marks a recipe without emitting chosen(); an empty path marks none.
    void setCurrent(const QString& path);

signals:
    /// The user pointed at a recipe.
    void chosen(const QString& path);

    /// The user wants to open a recipe's file.
    void ownAsked();

protected:
    void choose(const QModelIndex& index) override;
    void restyle() override;

private:
    void showEmpty();

    RecipeListModel* m_model;
    QSortFilterProxyModel* m_filtered;
    QLineEdit* m_filter;
    QAction* m_filterIcon;
    QPushButton* m_own;
    QWidget* m_legend;
    QString m_marked; ///< path; also while the filter hides its row
};

} // namespace ui
