// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/experiments/lists/recipe_list_model.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QListView;
class QPushButton;
class QSortFilterProxyModel;

namespace ui {

/// The gallery of recipes, with a filter. Thread: UI.
class RecipePanel : public QWidget {
    Q_OBJECT

public:
    RecipePanel(const Theme& theme,
                const RecipeCatalog& catalog,
                const ExperimentQueue& queue,
                QWidget* parent = nullptr);

    /// Marks a recipe without emitting chosen(); an empty path marks none.
    void setCurrent(const QString& path);

    QListView& list() { return *m_list; }

    /// Titles stay readable.
    QSize minimumSizeHint() const override;

signals:
    /// The user pointed at a recipe.
    void chosen(const QString& path);

    /// The user wants to open a recipe's file.
    void ownAsked();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();
    void showEmpty();

    const Theme& m_theme;
    RecipeListModel* m_model;
    QSortFilterProxyModel* m_filtered;
    QLineEdit* m_filter;
    QAction* m_filterIcon;
    QPushButton* m_own;
    QListView* m_list;
    QLabel* m_empty;
    QWidget* m_legend;
    bool m_isMarking = false;
};

} // namespace ui
