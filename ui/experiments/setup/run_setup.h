// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/data/prompt_set.h"
#include "engine/experiments/recipe/recipe.h"
#include "engine/session/recording/session_records.h"
#include "ui/experiments/queue/experiment_job.h"

#include <QObject>
#include <QStringList>
#include <QThreadPool>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ui {

/// In place of a path: the lesson model that is made from the chosen one.
inline constexpr const char* kLessonModel = "planted";

/// A recipe with the user's options.
struct RecipeChoice {
    QString path; ///< of the recipe
    engine::Recipe recipe;
    QString size;                   ///< "quick", ...
    QStringList data;               ///< files and folders
    engine::DataLayout layout = {}; ///< of all of them
    int seeds = 1;
    QStringList executor;    ///< its arguments; empty: this machine
    QStringList otherModels; ///< beside the chosen one: paths, or kLessonModel
    QStringList tasks;       ///< empty: those that the recipe takes
    QStringList variants;    ///< empty: all
};

/// Prompts of the user's as a stream.
struct StreamChoice {
    QString title;
    engine::DataChoice data;
    int maxTokens = 128;
    std::string decoder = "auto";
    engine::RecipeSettings settings = {};
};

/// The arguments that choose a model for swift-run.
struct ModelChoice {
    QString path; ///< empty: the default model
    bool isPlanted = false;
    QStringList loadOptions = {}; ///< as the window has loaded it
};

/// A recipe that runs prompts as one stream and measures the decoder beside vanilla.
engine::Recipe streamRecipe(const StreamChoice& choice);

/// A recipe that searches a skip set on prompts, and then measures it on them.
engine::Recipe sliceRecipe(const QString& title, int trials, int maxTokens);

/// The arguments of `swift-run experiment` behind the recipe, but for the folder.
QStringList argumentsOf(const RecipeChoice& choice, const ModelChoice& model);

/// A recipe that measures two skip sets on the same prompts, each as it is: nothing is searched.
engine::Recipe setsRecipe(const QString& firstName,
                          const engine::SkipSet& first,
                          const QString& secondName,
                          const engine::SkipSet& second);

/// Of a search for a set that is called so.
QString searchTitle(const QString& name);

/// "Main comparison, Quick".
QString titleOf(const RecipeChoice& choice);

QString sizeTitle(const QString& size);

/// Makes jobs out of what the user has chosen. Prompts and recipes that need a file of their own
/// are written into `folder`, on a thread of its own. Thread: UI.
class RunSetup : public QObject {
    Q_OBJECT

public:
    /// Called on the UI thread: a job, or a sentence that says why there is none.
    using Done = std::function<void(const ExperimentJob& job, const QString& problem)>;

    explicit RunSetup(QString folder, QObject* parent = nullptr);
    ~RunSetup() override;

    void make(const RecipeChoice& choice, const ModelChoice& model, Done done);
    void make(const StreamChoice& choice, const ModelChoice& model, Done done);

    /// As make(), only to ask what it costs: its files take the place of those of the question
    /// before.
    void makeForEstimate(const StreamChoice& choice, const ModelChoice& model, Done done);

    /// A search on some prompts (lines of data.jsonl, from 0) of the run in `runFolder`. The set
    /// that it finds is for the task `name`.
    void makeSearch(const QString& runFolder,
                    const std::vector<int>& prompts,
                    const QString& name,
                    const ModelChoice& model,
                    Done done);

private:
    struct Files {
        engine::Recipe recipe;
        std::function<engine::Result<std::string>()> prompts; ///< the lines of the data
    };

    void makeStream(const StreamChoice& choice,
                    const ModelChoice& model,
                    const QString& fileName,
                    Done done);
    void write(ExperimentJob job, Files files, Done done, const QString& fileName = {});

    QString m_folder;
    QThreadPool m_thread{this};
};

} // namespace ui
