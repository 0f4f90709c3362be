// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_queue.h"
#include "ui/experiments/recipe_catalog.h"

#include <QAbstractListModel>

namespace ui {

/// The recipes with what their last run has found, those of the SWIFT paper first. Follows catalog
/// and queue by itself. Thread: UI.
class RecipeListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role {
        PathRole = Qt::UserRole,
        SourceRole,           ///< "Tables 2 and 4"
        SectionRole,          ///< "The SWIFT paper", "Beyond the paper", "Your own"
        IsFirstOfSectionRole, ///< whether the section's name is above this row
        StateRole,            ///< State
    };

    enum class State { NotRun, Running, Gain, NoGain };

    RecipeListModel(const RecipeCatalog& catalog,
                    const ExperimentQueue& queue,
                    QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

    /// Invalid for a recipe that is not there.
    QModelIndex indexOf(const QString& path) const;

    /// Of the recipe's newest run.
    static QString stateText(State state);

private:
    void update();
    State stateOf(const RecipeEntry& entry) const;

    const RecipeCatalog& m_catalog;
    const ExperimentQueue& m_queue;
    std::vector<const RecipeEntry*> m_rows;
};

} // namespace ui
