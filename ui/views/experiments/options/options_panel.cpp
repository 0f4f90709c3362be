// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/options/options_panel.h"

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/theme/tip_text.h"
#include "ui/views/experiments/options/executor_choice.h"
#include "ui/views/experiments/options/prompts_choice.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kMostSeeds = 50;
constexpr int kMostShownTasks = 24;
constexpr int kModelWidth = 200; ///< of its name, at 100 %

/// The recipe's variants that decode, in their order, each once.
std::vector<engine::RecipeVariant> decodersOf(const engine::Recipe& recipe) {
    std::vector<engine::RecipeVariant> variants;
    for (const engine::RecipeStage& stage : recipe.stages)
        for (const engine::RecipeVariant& variant : stage.variants)
            if (!variant.decoder.empty() &&
                std::ranges::find(variants, variant.name, &engine::RecipeVariant::name) ==
                    variants.end())
                variants.push_back(variant);
    return variants;
}

void clearChecks(std::vector<QCheckBox*>& checks) {
    qDeleteAll(checks);
    checks.clear();
}

QStringList checkedNames(const std::vector<QCheckBox*>& checks) {
    QStringList names;
    for (const QCheckBox* check : checks)
        if (check->isChecked())
            names << check->property("name").toString();
    return names;
}

bool areAllChecked(const std::vector<QCheckBox*>& checks) {
    return std::ranges::all_of(checks, &QCheckBox::isChecked);
}

} // namespace

OptionsPanel::OptionsPanel(const Theme& theme,
                           QString program,
                           const QString& examples,
                           QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_cost(new CostPreview(std::move(program), this)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    build(examples);
    connect(m_prompts, &PromptsChoice::filesAsked, this, &OptionsPanel::dataAsked);
    connect(m_prompts, &PromptsChoice::examplesAsked, this, &OptionsPanel::examplesAsked);
    connect(m_prompts, &PromptsChoice::obstacleChanged, this, &OptionsPanel::forgetCost);
    connect(m_prompts, &PromptsChoice::previewCame, this, [this] {
        showSizes();
        showTasks();
        showRunnable();
    });
    connect(m_cost, &CostPreview::answered, this, [this](const QString& text, bool isError) {
        const bool isPart = !areAllChecked(m_variants) || !areAllChecked(m_tasks);
        tellCost(isPart && !isError ? tr("With all decoders and tasks: %1").arg(text) : text,
                 isError);
    });
    connect(&theme, &Theme::changed, this, &OptionsPanel::restyle);
    restyle();
    setRecipe({}, nullptr);
}

void OptionsPanel::build(const QString& examples) {
    m_form = new QWidget;
    m_form->setAttribute(Qt::WA_StyledBackground);
    m_form->setProperty("ground", QStringLiteral("panel"));
    auto* form = new QVBoxLayout(m_form);
    const auto title = [&](const QString& text) {
        auto* label = new QLabel(text);
        label->setProperty("tone", QStringLiteral("bold"));
        label->setContentsMargins(0, m_theme.scaled(8), 0, 0);
        form->addWidget(label);
        return label;
    };
    const auto note = [&] {
        QLabel* label = plainLabel(m_form, true);
        label->setProperty("tone", QStringLiteral("small"));
        label->ensurePolished(); // also while the form is hidden
        form->addWidget(label);
        return label;
    };
    m_sizeChoice = new SegmentedControl(m_theme, tr("Size of the experiment"));
    form->addWidget(m_sizeChoice, 0, Qt::AlignLeft);
    m_sizeNote = note();
    title(tr("Prompts"));
    m_prompts = new PromptsChoice(m_theme, examples);
    form->addWidget(m_prompts);
    m_modelTitle = title(tr("Other models"));
    m_modelRows = new QVBoxLayout;
    form->addLayout(m_modelRows);
    m_addFile = new QPushButton(tr("Add a file..."));
    m_addFolder = new QPushButton(tr("Add a folder..."));
    auto* adding = new QHBoxLayout;
    for (QPushButton* button : {m_addFile, m_addFolder}) {
        button->setProperty("form", QStringLiteral("small"));
        adding->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, button] {
            askForModel(button == m_addFolder);
        });
    }
    adding->addStretch(1);
    form->addLayout(adding);
    m_variantTitle = title(tr("Decoders"));
    m_variantRows = new QVBoxLayout;
    form->addLayout(m_variantRows);
    m_taskTitle = title(tr("Tasks"));
    m_taskRows = new QVBoxLayout;
    form->addLayout(m_taskRows);
    auto* grid = new QGridLayout;
    auto* seedsName = new QLabel(tr("Seeds"));
    m_seeds = new QSpinBox;
    m_seeds->setRange(1, kMostSeeds);
    m_seeds->setAccessibleName(tr("Seeds: how often the experiment is repeated"));
    seedsName->setBuddy(m_seeds);
    grid->addWidget(seedsName, 0, 0);
    grid->addWidget(m_seeds, 0, 1, Qt::AlignLeft);
    grid->setColumnStretch(1, 1);
    form->addLayout(grid);
    m_executor = new ExecutorChoice(m_theme);
    form->addWidget(m_executor);
    m_overlay = new QCheckBox(tr("Show the papers' own figures, faintly"));
    m_overlay->setChecked(true);
    form->addWidget(m_overlay);
    title(tr("Will take"));
    m_costNote = note();
    m_estimate = new QPushButton(tr("Estimate"));
    m_estimate->setProperty("form", QStringLiteral("small"));
    m_estimate->setAccessibleName(tr("Estimate how long the experiment takes"));
    form->addWidget(m_estimate, 0, Qt::AlignLeft);
    m_run = new QPushButton(tr("Run"));
    m_run->setProperty("kind", QStringLiteral("primary"));
    m_add = new QPushButton(tr("Add to queue"));
    m_buttons = new QWidget;
    auto* buttons = new QHBoxLayout(m_buttons);
    buttons->addWidget(m_run);
    buttons->addWidget(m_add);
    buttons->addStretch(1);
    form->addStretch(1);
    m_nothing = plainLabel(this, true);
    m_nothing->setProperty("tone", "muted");
    m_nothing->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_nothing->setText(tr("Choose a recipe; how it is run is chosen here."));
    m_scroll = new ColumnScroll;
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_form);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_nothing);
    column->addWidget(m_scroll, 1);
    column->addWidget(m_buttons);
    column->setSpacing(0);
    connect(m_sizeChoice, &SegmentedControl::chosen, this, [this](int index) {
        m_size = m_sizes.value(index);
        showSizes();
        forgetCost();
    });
    connect(m_seeds, &QSpinBox::valueChanged, this, &OptionsPanel::forgetCost);
    connect(m_executor, &ExecutorChoice::changed, this, &OptionsPanel::forgetCost);
    connect(m_estimate, &QPushButton::clicked, this, &OptionsPanel::askCost);
    connect(m_overlay, &QCheckBox::toggled, this, &OptionsPanel::overlayToggled);
    connect(m_run, &QPushButton::clicked, this, [this] { emit runAsked(choice()); });
    connect(m_add, &QPushButton::clicked, this, [this] { emit addAsked(choice()); });
}

void OptionsPanel::setRecipe(const QString& path, const engine::Recipe* recipe) {
    // A later version may have taken the place of the one that is shown.
    const bool isSame = path == m_path && m_hasRecipe && recipe != nullptr &&
                        engine::recipeJson(*recipe) == engine::recipeJson(m_recipe);
    m_hasRecipe = recipe != nullptr;
    m_scroll->setVisible(m_hasRecipe);
    m_buttons->setVisible(m_hasRecipe);
    m_nothing->setVisible(!m_hasRecipe);
    if (isSame || !m_hasRecipe) {
        m_path = path;
        return;
    }
    m_path = path;
    m_recipe = *recipe;
    m_executor->lookForSlurm();
    m_sizes = sizesOf(m_recipe);
    if (!m_sizes.contains(m_size))
        m_size = m_sizes.value(0);
    m_overlay->setVisible(!m_recipe.overlays.empty());
    QStringList titles;
    for (const QString& size : std::as_const(m_sizes))
        titles << sizeTitle(size);
    m_sizeChoice->setSegments(titles);
    showSizes();
    showModels();
    showVariants();
    showTasks();
    forgetCost();
}

void OptionsPanel::setModel(const ModelChoice& model,
                            const std::vector<engine::DecoderInfo>& decoders) {
    m_model = model;
    for (const engine::DecoderInfo& decoder : decoders)
        m_titles[QString::fromStdString(decoder.name)] = QString::fromStdString(decoder.title);
    showModels();
    forgetCost();
}

void OptionsPanel::setData(const QStringList& paths,
                           const std::optional<engine::DataLayout>& layout) {
    m_leftOut.clear();
    m_prompts->setData(paths, layout);
    showSizes();
    showTasks();
    forgetCost();
}

void OptionsPanel::showSizes() {
    m_sizeChoice->setCurrentIndex(static_cast<int>(m_sizes.indexOf(m_size)));
    const auto found = m_recipe.sizes.find(m_size.toStdString());
    if (found == m_recipe.sizes.end()) {
        m_sizeNote->clear();
        return;
    }
    const int prompts =
        found->second.promptsFor(m_recipe.stages.empty() ? "" : m_recipe.stages.back().name);
    qint64 most = 0; // that a task of the files has
    const DataScan::Preview preview = m_prompts->preview();
    if (preview != nullptr)
        for (const auto& [task, count] : preview->tasks)
            most = std::max<qint64>(most, count);
    QString text = promptsOfEachTask(prompts);
    if (most > 0 && most < prompts)
        text = (m_prompts->areExamples() ? tr("%1 (no task of the examples has more than %2)")
                                         : tr("%1 (no task of your files has more than %2)"))
                   .arg(text, numberText(most));
    m_sizeNote->setText(sizeSentence(text, found->second));
    emit outlookChanged();
}

/// None for recipes that run on one model.
void OptionsPanel::showModels() {
    clearChecks(m_models);
    const bool isAsked = m_recipe.leastModels > 1;
    for (QWidget* part : std::initializer_list<QWidget*>{m_modelTitle, m_addFile, m_addFolder})
        part->setVisible(isAsked);
    if (!isAsked)
        return;
    const QString lesson = QLatin1String(kLessonModel);
    for (const QString& name : QStringList{lesson} + m_knownModels) {
        auto* check = new QCheckBox;
        if (name != lesson) {
            QString title = fontMetrics().elidedText(
                QFileInfo(name).fileName(), Qt::ElideMiddle, m_theme.scaled(kModelWidth));
            check->setText(title.replace(u'&', QStringLiteral("&&")));
            setTip(*check, name);
        } else {
            check->setText(m_model.isPlanted ? tr("The model without silent copies")
                                             : tr("Lesson model (silent copies)"));
        }
        check->setProperty("name", name);
        check->setChecked(m_usedModels.value(m_path).contains(name));
        m_modelRows->addWidget(check);
        m_models.push_back(check);
        connect(check, &QCheckBox::toggled, this, [this] {
            m_usedModels[m_path] = checkedNames(m_models);
            forgetCost();
        });
    }
}

void OptionsPanel::askForModel(bool isFolder) {
    auto* dialog =
        new QFileDialog(this, isFolder ? tr("Open a model folder") : tr("Open a model file"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(isFolder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    if (!isFolder)
        dialog->setNameFilter(tr("GGUF files (*.gguf);;All files (*)"));
    connect(dialog, &QFileDialog::fileSelected, this, &OptionsPanel::addModel);
    dialog->open();
}

void OptionsPanel::addModel(const QString& path) {
    if (!m_knownModels.contains(path))
        m_knownModels << path;
    m_usedModels[m_path] << path;
    showModels();
    forgetCost();
}

/// As swift-run names them. The other half of a lesson model is the model that it was made from.
QStringList OptionsPanel::otherModels() const {
    QStringList models = checkedNames(m_models);
    if (m_model.isPlanted)
        std::replace(
            models.begin(), models.end(), QString(QLatin1String(kLessonModel)), m_model.path);
    models.removeDuplicates();
    return models;
}

void OptionsPanel::showVariants() {
    clearChecks(m_variants);
    for (const engine::RecipeVariant& variant : decodersOf(m_recipe)) {
        const QString name = QString::fromStdString(variant.name);
        const QString title = m_titles.value(variant.name == variant.decoder ? name : QString());
        auto* check = new QCheckBox(title.isEmpty() ? readableTitle(name) : title);
        check->setProperty("name", name);
        check->setChecked(true);
        m_variantRows->addWidget(check);
        m_variants.push_back(check);
        connect(check, &QCheckBox::toggled, this, &OptionsPanel::forgetCost);
    }
    m_variantTitle->setVisible(m_variants.size() > 1);
    if (m_variants.size() == 1)
        m_variants.front()->hide();
}

/// Recipes with tasks of their own take no others.
void OptionsPanel::showTasks() {
    clearChecks(m_tasks);
    const DataScan::Preview preview = m_prompts->preview();
    if (preview != nullptr && m_recipe.tasks.empty() && preview->tasks.size() > 1 &&
        preview->tasks.size() <= kMostShownTasks)
        for (const auto& [task, count] : preview->tasks) {
            const QString name = QString::fromStdString(task);
            auto* check = new QCheckBox(
                QStringLiteral("%1 \u00B7 %2").arg(readableTaskTitle(name), numberText(count)));
            check->setProperty("name", name);
            check->setChecked(!m_leftOut.contains(name));
            m_taskRows->addWidget(check);
            m_tasks.push_back(check);
            connect(check, &QCheckBox::toggled, this, [this, name](bool isTaken) {
                if (isTaken)
                    m_leftOut.remove(name);
                else
                    m_leftOut.insert(name);
                forgetCost();
            });
        }
    m_taskTitle->setVisible(!m_tasks.empty());
}

void OptionsPanel::showRunnable() {
    const bool canRun = obstacle().isEmpty();
    m_run->setEnabled(canRun);
    m_add->setEnabled(canRun);
}

QString OptionsPanel::obstacle() const {
    if (const QString problem = m_prompts->obstacle(); !problem.isEmpty())
        return problem;
    const QStringList others = otherModels();
    if (m_recipe.leastModels - 1 > others.size())
        return countText(m_recipe.leastModels - 1,
                         tr("Choose another model: this recipe compares models."),
                         tr("Choose at least %1 other models: this recipe compares models."));
    if (!m_model.isPlanted && others.contains(m_model.path))
        return tr("One of the other models is the loaded one. Choose another.");
    if (!m_variants.empty() && checkedNames(m_variants).isEmpty())
        return tr("Choose at least one decoder.");
    if (!m_tasks.empty() && checkedNames(m_tasks).isEmpty())
        return tr("Choose at least one task.");
    return {};
}

/// What was estimated before holds no longer.
void OptionsPanel::forgetCost() {
    if (!m_hasRecipe)
        return;
    m_cost->ask({});
    showRunnable();
    const QString problem = obstacle();
    tellCost(problem.isEmpty() ? tr("Not estimated: that reads the model and measures it for some "
                                    "seconds.")
                               : problem,
             false);
    m_estimate->setEnabled(problem.isEmpty());
}

void OptionsPanel::askCost() {
    tellCost(tr("being estimated"), false);
    m_cost->ask(QStringList{m_path} + argumentsOf(choice(), m_model));
}

void OptionsPanel::tellCost(const QString& text, bool isError) {
    m_costNote->setText(text);
    m_costNote->setProperty("tone", isError ? "problem" : "small");
    m_costNote->style()->unpolish(m_costNote);
    m_costNote->style()->polish(m_costNote);
    emit outlookChanged();
}

RecipeOutlook OptionsPanel::outlook() const {
    return {m_size, m_prompts->sentence(), m_costNote->text()};
}

RecipeChoice OptionsPanel::choice() const {
    RecipeChoice choice;
    choice.path = m_path;
    choice.recipe = m_recipe;
    choice.size = m_size;
    choice.data = m_prompts->data();
    choice.layout = m_prompts->dataLayout().value_or(engine::DataLayout());
    choice.seeds = m_seeds->value();
    choice.executor = m_executor->arguments();
    choice.otherModels = otherModels();
    if (!areAllChecked(m_variants))
        choice.variants = checkedNames(m_variants);
    if (!areAllChecked(m_tasks))
        choice.tasks = checkedNames(m_tasks);
    return choice;
}

void OptionsPanel::restyle() {
    const int side = m_theme.scaled(12);
    m_form->layout()->setContentsMargins(side, m_theme.scaled(10), side, m_theme.scaled(10));
    m_form->layout()->setSpacing(m_theme.scaled(6));
    m_buttons->layout()->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
    m_modelRows->setSpacing(m_theme.scaled(4));
    m_variantRows->setSpacing(m_theme.scaled(4));
    m_taskRows->setSpacing(m_theme.scaled(4));
    m_nothing->setMargin(side); // a frame forgets its contents margins when its style changes
}

} // namespace ui
