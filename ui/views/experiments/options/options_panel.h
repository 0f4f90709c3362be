// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/data/data_layout.h"
#include "engine/session/engine_event.h"
#include "ui/experiments/setup/cost_preview.h"
#include "ui/experiments/setup/run_setup.h"
#include "ui/theme/theme.h"
#include "ui/views/experiments/options/recipe_outlook.h"

#include <QHash>
#include <QSet>
#include <QWidget>

#include <optional>

class QCheckBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace ui {

class ColumnScroll;
class ExecutorChoice;
class PromptsChoice;
class SegmentedControl;

/// How the chosen recipe is run: size, prompts, other models if it compares some, decoders, tasks,
/// seeds, and where; what that costs; and whether the papers' own figures are shown. Thread: UI.
class OptionsPanel : public QWidget {
    Q_OBJECT

public:
    /// `examples` is the folder of the prompts that come with the program; empty: there are none.
    OptionsPanel(const Theme& theme,
                 QString program,
                 const QString& examples = {},
                 QWidget* parent = nullptr);

    /// Shows the options of this recipe; a null one has none.
    void setRecipe(const QString& path, const engine::Recipe* recipe);

    /// The user's files with prompts for recipes, and how they are read: without a layout as the
    /// first of them proposes. No paths: the examples.
    void setData(const QStringList& paths, const std::optional<engine::DataLayout>& layout = {});

    /// The model that runs, and the decoders that it has, for their titles.
    void setModel(const ModelChoice& model, const std::vector<engine::DecoderInfo>& decoders);

    RecipeChoice choice() const;

    RecipeOutlook outlook() const;

signals:
    void outlookChanged();
    void dataAsked();
    void examplesAsked();
    void runAsked(const ui::RecipeChoice& choice);
    void addAsked(const ui::RecipeChoice& choice);
    void overlayToggled(bool isShown);

private:
    void build(const QString& examples);
    void restyle();
    void showSizes();
    void showModels();
    void askForModel(bool isFolder);
    void addModel(const QString& path);
    QStringList otherModels() const;
    void showVariants();
    void showTasks();
    void showRunnable();
    void forgetCost();
    void askCost();
    void tellCost(const QString& text, bool isError);
    QString obstacle() const;

    const Theme& m_theme;
    CostPreview* m_cost;
    QString m_path;
    engine::Recipe m_recipe;
    bool m_hasRecipe = false;
    QStringList m_sizes;
    QString m_size;
    ModelChoice m_model;
    QHash<QString, QString> m_titles; ///< of decoders, by name
    ColumnScroll* m_scroll = nullptr;
    QWidget* m_form = nullptr;
    QLabel* m_nothing = nullptr;
    SegmentedControl* m_sizeChoice = nullptr;
    QLabel* m_sizeNote = nullptr;
    PromptsChoice* m_prompts = nullptr;
    QLabel* m_modelTitle = nullptr;
    QVBoxLayout* m_modelRows = nullptr;
    std::vector<QCheckBox*> m_models;
    QPushButton* m_addFile = nullptr;
    QPushButton* m_addFolder = nullptr;
    QStringList m_knownModels;                ///< files and folders that were added
    QHash<QString, QStringList> m_usedModels; ///< of them or kLessonModel, by the recipe's path
    QLabel* m_variantTitle = nullptr;
    QVBoxLayout* m_variantRows = nullptr;
    std::vector<QCheckBox*> m_variants;
    QLabel* m_taskTitle = nullptr;
    QVBoxLayout* m_taskRows = nullptr;
    std::vector<QCheckBox*> m_tasks;
    QSet<QString> m_leftOut; ///< tasks; those that a longer look finds are taken
    QSpinBox* m_seeds = nullptr;
    ExecutorChoice* m_executor = nullptr;
    QCheckBox* m_overlay = nullptr;
    QLabel* m_costNote = nullptr;
    QPushButton* m_estimate = nullptr;
    QWidget* m_buttons = nullptr; ///< below the form, always in sight
    QPushButton* m_run = nullptr;
    QPushButton* m_add = nullptr;
};

} // namespace ui
