// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/run_setup.h"

#include "engine/experiments/run/run_folder.h"
#include "ui/experiments/setup/chosen_layout.h"
#include "ui/files/whole_file.h"
#include "ui/shell/figure_text.h"

#include <QDir>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr const char* kOwnSize = "own";

/// What the name of a variant may hold.
std::string plainName(const QString& name) {
    constexpr int kLongestPlainName = 60;
    std::string plain;
    for (const QChar letter : name.left(kLongestPlainName))
        plain += letter.unicode() < 128 && letter.isLetterOrNumber() ? letter.toLatin1() : '_';
    return plain;
}

void addModel(QStringList& arguments, const ModelChoice& model) {
    if (!model.path.isEmpty())
        arguments << QStringLiteral("--model") << model.path;
    if (model.isPlanted)
        arguments << QStringLiteral("--planted");
    arguments << model.loadOptions;
}

/// The tables and figures of a run that compares one variant with vanilla.
void addReport(engine::Recipe& recipe, const std::string& variant, const std::string& x) {
    engine::TableWish table;
    table.id = "tasks";
    table.title = "Tasks";
    table.rows = "task";
    table.columns = {"speedup", "M", "acceptance", "tokens_per_second", "equal", "prompts"};
    table.variants = {variant};
    recipe.tables = {table};
    engine::FigureWish dots;
    dots.id = "speed";
    dots.title = "Speed";
    dots.kind = "dots";
    dots.x = "task";
    dots.y = {"speedup"};
    dots.variants = {variant};
    recipe.figures = {dots};
    if (!x.empty()) {
        engine::FigureWish lines = dots;
        lines.id = "along";
        lines.title = "Speed along the prompts";
        lines.kind = "lines";
        lines.x = x;
        recipe.figures.push_back(lines);
    }
    recipe.verdict.kind = "gain";
    recipe.verdict.variant = variant;
}

/// Drafts with the set that it has: no other is searched for, and no time is weighed.
engine::RecipeSettings heldSet() {
    return {
        {"optimise", {"off"}}, {"lower_below", {"0"}}, {"restart_drop", {"0"}}, {"weigh", {"off"}}};
}

} // namespace

engine::Recipe streamRecipe(const StreamChoice& choice) {
    engine::Recipe recipe;
    recipe.name = "stream";
    recipe.title = choice.title.toStdString();
    recipe.source = "Prompts of your own";
    recipe.summary = "Runs the prompts one after another and measures the decoder beside vanilla.";
    recipe.isStream = true;
    recipe.keepsTexts = true; // an answer can be opened
    recipe.keepsRounds = true;
    engine::RecipeVariant variant;
    variant.name = choice.decoder;
    variant.decoder = choice.decoder;
    variant.settings = choice.settings;
    engine::RecipeStage stage;
    stage.name = "stream";
    stage.variants = {variant};
    stage.isTwice = false;
    stage.isSplitByTask = false;
    recipe.stages = {stage};
    engine::RecipeSize size;
    size.promptsPerTask = {{"", 0}};
    size.maxTokens = choice.maxTokens;
    recipe.sizes = {{kOwnSize, size}};
    addReport(recipe, variant.name, "prompt");
    return recipe;
}

engine::Recipe sliceRecipe(const QString& title, int trials, int maxTokens) {
    engine::Recipe recipe;
    recipe.name = "slice_search";
    recipe.title = title.toStdString();
    recipe.source = "Prompts of your own";
    recipe.summary = "Searches a skip set on these prompts, then measures it on them.";
    recipe.caveat = "The set is measured on the prompts that it was found on, so it may gain less "
                    "on others.";
    engine::RecipeVariant search;
    search.name = "set";
    search.search = engine::RecipeSearch{.method = "bayes", .trials = trials};
    engine::RecipeStage find;
    find.name = "search";
    find.variants = {search};
    find.hasBaseline = false;
    find.isTwice = false;
    engine::RecipeVariant swift;
    swift.name = "swift";
    swift.decoder = "swift";
    swift.settings = heldSet();
    swift.setFrom = "set";
    engine::RecipeStage measure;
    measure.name = "measure";
    measure.variants = {swift};
    measure.reusesPrompts = true;
    recipe.stages = {find, measure};
    engine::RecipeSize size;
    size.promptsPerTask = {{"", 0}};
    size.maxTokens = maxTokens;
    recipe.sizes = {{kOwnSize, size}};
    addReport(recipe, swift.name, {});
    engine::FigureWish grids;
    grids.id = "set";
    grids.title = "The set that was found";
    grids.kind = "layer_grids";
    grids.x = "task";
    grids.y = {"set"};
    grids.stage = find.name;
    recipe.figures.push_back(grids);
    return recipe;
}

engine::Recipe setsRecipe(const QString& firstName,
                          const engine::SkipSet& first,
                          const QString& secondName,
                          const engine::SkipSet& second) {
    engine::Recipe recipe;
    recipe.name = "set_against_set";
    recipe.title = QStringLiteral("%1 against %2").arg(firstName, secondName).toStdString();
    recipe.source = "Skip sets of your own";
    recipe.summary = "Drafts with each of two skip sets on the same prompts, with vanilla beside.";
    recipe.caveat = "A set that was found on prompts like these has an advantage on them.";
    const auto variant = [](const char* letter, const QString& name, const engine::SkipSet& set) {
        engine::RecipeVariant made;
        made.name = letter + plainName(name);
        made.decoder = "swift";
        made.settings = heldSet();
        made.settings["start"] = {"manual"};
        made.settings["skip_set"] = {engine::skipSetJson(set)};
        return made;
    };
    engine::RecipeStage stage;
    stage.name = "run";
    stage.variants = {variant("A-", firstName, first), variant("B-", secondName, second)};
    recipe.stages = {stage};
    recipe.sizes["quick"] = {.promptsPerTask = {{"", 3}}, .maxTokens = 32, .mostTasks = 3};
    recipe.sizes["standard"] = {.promptsPerTask = {{"", 10}}, .maxTokens = 64};
    engine::TableWish table;
    table.id = "main";
    table.title = "The two sets";
    table.rows = "variant";
    table.columns = {"speedup", "acceptance", "M", "tokens_per_second", "equal", "prompts"};
    engine::TableWish tasks = table;
    tasks.id = "tasks";
    tasks.title = "By task";
    tasks.rows = "variant_task";
    tasks.columns = {"speedup", "acceptance", "M"};
    recipe.tables = {table, tasks};
    engine::FigureWish speed;
    speed.id = "speedup";
    speed.title = "Speed";
    speed.kind = "dots";
    speed.x = "task";
    speed.y = {"speedup"};
    speed.series = "variant";
    recipe.figures = {speed};
    recipe.verdict = {
        .kind = "better", .variant = stage.variants[0].name, .against = stage.variants[1].name};
    return recipe;
}

QString searchTitle(const QString& name) { return RunSetup::tr("Set for: %1").arg(name); }

QString sizeTitle(const QString& size) {
    QString title = size;
    if (!title.isEmpty())
        title[0] = title[0].toUpper();
    return title;
}

QString titleOf(const RecipeChoice& choice) {
    return QStringLiteral("%1, %2").arg(QString::fromStdString(choice.recipe.title),
                                        sizeTitle(choice.size));
}

QStringList argumentsOf(const RecipeChoice& choice, const ModelChoice& model) {
    QStringList arguments{QStringLiteral("--size"), choice.size};
    for (const QString& path : choice.data)
        arguments << QStringLiteral("--data") << path;
    arguments += layoutArguments(choice.layout);
    if (choice.seeds > 1)
        arguments << QStringLiteral("--seeds") << QString::number(choice.seeds);
    arguments += choice.executor;
    ModelChoice first = model;
    const qsizetype context = first.loadOptions.indexOf(QStringLiteral("--context"));
    if (!choice.otherModels.isEmpty() && context >= 0) // it may be too long for another model
        first.loadOptions.remove(context, 2);
    addModel(arguments, first);
    for (const QString& other : choice.otherModels)
        arguments << QStringLiteral("--and-model") << other;
    return arguments;
}

RunSetup::RunSetup(QString folder, QObject* parent)
    : QObject(parent)
    , m_folder(std::move(folder)) {
    m_thread.setMaxThreadCount(1);
}

RunSetup::~RunSetup() { m_thread.waitForDone(); }

void RunSetup::make(const RecipeChoice& choice, const ModelChoice& model, Done done) {
    ExperimentJob job;
    job.title = titleOf(choice);
    job.source = choice.path;
    job.arguments = argumentsOf(choice, model);
    if (choice.tasks.isEmpty() && choice.variants.isEmpty()) {
        job.recipe = choice.path;
        done(job, {});
        return;
    }
    Files files;
    files.recipe = choice.recipe;
    for (const QString& task : choice.tasks)
        files.recipe.tasks.push_back(task.toStdString());
    // Those that the recipe takes first stay in front: a size may take the first ones alone.
    std::ranges::stable_sort(files.recipe.tasks, {}, [&](const std::string& task) {
        const std::vector<std::string>& preferred = choice.recipe.preferred;
        return std::ranges::find(preferred, task) - preferred.begin();
    });
    if (!choice.variants.isEmpty()) {
        std::vector<std::string>& variants = files.recipe.sizes[choice.size.toStdString()].variants;
        variants.clear();
        for (const QString& variant : choice.variants)
            variants.push_back(variant.toStdString());
    }
    write(std::move(job), std::move(files), std::move(done));
}

void RunSetup::make(const StreamChoice& choice, const ModelChoice& model, Done done) {
    makeStream(choice, model, {}, std::move(done));
}

void RunSetup::makeForEstimate(const StreamChoice& choice, const ModelChoice& model, Done done) {
    makeStream(choice, model, QStringLiteral("estimate"), std::move(done));
}

void RunSetup::makeStream(const StreamChoice& choice,
                          const ModelChoice& model,
                          const QString& fileName,
                          Done done) {
    ExperimentJob job;
    job.title = choice.title;
    job.arguments << QStringLiteral("--size") << QLatin1String(kOwnSize);
    addModel(job.arguments, model);
    Files files;
    files.recipe = streamRecipe(choice);
    files.prompts = [data = choice.data]() -> engine::Result<std::string> {
        ENGINE_TRY(const auto set, engine::collectPrompts(data, {}));
        std::string lines;
        for (const engine::DataPrompt& prompt : set.prompts)
            lines += engine::promptJson(prompt.record) + '\n';
        return lines;
    };
    write(std::move(job), std::move(files), std::move(done), fileName);
}

void RunSetup::makeSearch(const QString& runFolder,
                          const std::vector<int>& prompts,
                          const QString& name,
                          const ModelChoice& model,
                          Done done) {
    ExperimentJob job;
    job.title = searchTitle(name);
    job.arguments << QStringLiteral("--size") << QLatin1String(kOwnSize);
    addModel(job.arguments, model);
    constexpr int kTrials = 200;
    constexpr int kMaxTokens = 64;
    Files files;
    files.recipe = sliceRecipe(job.title, kTrials, kMaxTokens);
    files.prompts = [folder = runFolder.toStdString(),
                     prompts,
                     task = name.toStdString()]() -> engine::Result<std::string> {
        ENGINE_TRY(const engine::RunFolder run, engine::RunFolder::open(folder));
        std::string lines;
        for (const int prompt : prompts) {
            engine::DataRecord record = run.prompts().at(static_cast<std::size_t>(prompt));
            record.task = task; // one set for all of them
            lines += engine::promptJson(record) + '\n';
        }
        return lines;
    };
    write(std::move(job), std::move(files), std::move(done));
}

void RunSetup::write(ExperimentJob job, Files files, Done done, const QString& fileName) {
    const QString name =
        fileName.isEmpty() ? QUuid::createUuid().toString(QUuid::WithoutBraces) : fileName;
    const QString recipePath = QStringLiteral("%1/inputs/%2.swiftexp").arg(m_folder, name);
    const QString dataPath = QStringLiteral("%1/inputs/%2.jsonl").arg(m_folder, name);
    job.recipe = recipePath;
    if (files.prompts)
        job.arguments << QStringLiteral("--data") << dataPath;
    m_thread.start([this, job, recipePath, dataPath, files = std::move(files), done] {
        QString problem;
        const auto save = [&](const std::string& content, const QString& path) {
            const QString failure = saveWhole(QByteArray::fromStdString(content), path);
            if (!failure.isEmpty())
                problem = tr("%1 cannot be written (%2). Check the folder's permissions and the "
                             "free space.")
                              .arg(QDir::toNativeSeparators(path), failure);
        };
        QDir().mkpath(QFileInfo(recipePath).absolutePath());
        if (files.prompts) {
            if (const auto lines = files.prompts())
                save(lines.value(), dataPath);
            else
                problem = errorText(lines.error());
        }
        if (problem.isEmpty())
            save(engine::recipeJson(files.recipe), recipePath);
        // The destructor waits for this thread, so `this` is valid.
        QMetaObject::invokeMethod(
            this, [job, problem, done] { done(job, problem); }, Qt::QueuedConnection);
    });
}

} // namespace ui
