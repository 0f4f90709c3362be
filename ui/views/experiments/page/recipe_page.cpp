// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/recipe_page.h"

#include "engine/experiments/report/analysis/run_data.h"
#include "ui/experiments/runs/run_picture.h"
#include "ui/experiments/setup/run_setup.h"
#include "ui/language/engine_words.h"
#include "ui/shell/docks/dock_title.h"
#include "ui/shell/figure_text.h"
#include "ui/views/models/figure_list.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr double kReadableWidth = 728.0; ///< pixels at 100 %
constexpr double kNameWidth = 150.0;
constexpr qsizetype kLongestSetting = 24; ///< letters of a value: a skip set may be one

using ListRows = std::vector<FigureList::Row>;

QString settingWords(const std::string& name, const std::vector<std::string>& values) {
    QStringList shown;
    for (const std::string& value : values) {
        const QString text = QString::fromStdString(value);
        shown << (text.size() <= kLongestSetting ? text
                                                 : text.left(kLongestSetting - 1) + u'\u2026');
    }
    return QString::fromStdString(engine::settingName(name)) + u' ' +
           shown.join(QStringLiteral(", "));
}

/// Whose skip set a variant drafts with.
QString sourceWords(const engine::RecipeVariant& variant) {
    const QString source = readableTitle(QString::fromStdString(variant.setFrom));
    if (variant.setTask == "each")
        return RecipePage::tr("with every task's set of %1").arg(source);
    if (variant.setTask == "own")
        return RecipePage::tr("with the set of %1").arg(source);
    if (variant.setTask == "first")
        return RecipePage::tr("with the set of %1 on the first task").arg(source);
    return RecipePage::tr("with the set of %1 on %2")
        .arg(source, readableTaskTitle(QString::fromStdString(variant.setTask)));
}

QString variantWords(const engine::RecipeVariant& variant) {
    if (variant.search)
        return countText(variant.search->trials,
                         RecipePage::tr("a search of 1 trial"),
                         RecipePage::tr("a search of %1 trials"));
    QStringList words;
    if (variant.name != variant.decoder)
        words << RecipePage::tr("decoder %1")
                     .arg(readableTitle(QString::fromStdString(variant.decoder)));
    for (const auto& [name, values] : variant.settings)
        words << settingWords(name, values);
    if (!variant.setFrom.empty())
        words << sourceWords(variant);
    return words.isEmpty() ? RecipePage::tr("usual settings")
                           : words.join(QStringLiteral(" \u00B7 "));
}

QString stageWords(const engine::RecipeStage& stage) {
    const auto isSearch = [](const engine::RecipeVariant& variant) {
        return variant.search.has_value();
    };
    if (std::ranges::all_of(stage.variants, isSearch))
        return RecipePage::tr("searches beforehand");
    if (stage.sampling.temperature <= 0.0)
        return RecipePage::tr("greedy answers");
    QStringList words{RecipePage::tr("temperature %1").arg(stage.sampling.temperature)};
    if (stage.sampling.topP < 1.0)
        words << RecipePage::tr("top-p %1").arg(stage.sampling.topP);
    if (stage.sampling.topK > 0)
        words << RecipePage::tr("top-k %1").arg(stage.sampling.topK);
    return words.join(QStringLiteral(" \u00B7 "));
}

ListRows comparedRows(const engine::Recipe& recipe) {
    ListRows rows;
    if (recipe.leastModels > 1)
        rows.push_back({RecipePage::tr("Models"),
                        RecipePage::tr("at least %1").arg(numberText(recipe.leastModels))});
    for (const engine::RecipeStage& stage : recipe.stages) {
        if (recipe.stages.size() > 1 || stage.sampling.temperature > 0.0)
            rows.push_back(
                {readableTitle(QString::fromStdString(stage.name)), stageWords(stage), true});
        if (stage.hasBaseline)
            rows.push_back({readableTitle(QStringLiteral("vanilla")),
                            RecipePage::tr("measured beside the others")});
        for (const engine::RecipeVariant& variant : stage.variants)
            rows.push_back(
                {readableTitle(QString::fromStdString(variant.name)), variantWords(variant)});
    }
    return rows;
}

/// The prompts that a size takes, by stages where several take their own.
QString promptsTaken(const engine::Recipe& recipe, const engine::RecipeSize& size) {
    const auto asking =
        std::ranges::count(recipe.stages, false, &engine::RecipeStage::reusesPrompts);
    QStringList taken;
    for (const engine::RecipeStage& stage : recipe.stages) {
        if (stage.reusesPrompts)
            continue;
        const int prompts = size.promptsFor(stage.name);
        const QString words = !stage.isForFirstTask ? promptsOfEachTask(prompts)
                              : prompts == 0
                                  ? RecipePage::tr("All prompts of the first task")
                                  : countText(prompts,
                                              RecipePage::tr("1 prompt of the first task"),
                                              RecipePage::tr("%1 prompts of the first task"));
        taken << (asking > 1 ? RecipePage::tr("%1: %2").arg(
                                   readableTitle(QString::fromStdString(stage.name)), words)
                             : words);
    }
    return taken.join(QStringLiteral("; "));
}

QString sizeWords(const engine::Recipe& recipe, const engine::RecipeSize& size) {
    const QString sentence = sizeSentence(promptsTaken(recipe, size), size);
    const bool draws = std::ranges::any_of(
        recipe.stages, [&](const engine::RecipeStage& stage) { return size.drawsIn(stage) > 0; });
    if (!draws)
        return sentence;
    return sentence + u' ' +
           RecipePage::tr("Where answers are sampled, each decoder goes on %1 times more from "
                          "each prompt, by %2.")
               .arg(numberText(size.draws),
                    countText(
                        size.drawTokens, RecipePage::tr("1 token"), RecipePage::tr("%1 tokens")));
}

QString taskWords(const engine::Recipe& recipe) {
    const std::vector<std::string>& named = recipe.tasks.empty() ? recipe.preferred : recipe.tasks;
    if (named.empty())
        return RecipePage::tr("those of the prompts");
    QStringList titles;
    for (const std::string& task : named)
        titles << readableTaskTitle(QString::fromStdString(task));
    const QString text = titles.join(QStringLiteral(", "));
    return recipe.tasks.empty() ? RecipePage::tr("%1 first, where the prompts have them").arg(text)
                                : text;
}

void addIfKnown(ListRows& rows, const QString& name, const QString& words) {
    if (!words.isEmpty())
        rows.push_back({name, words});
}

/// One a line.
template <typename Wish> QString titlesOf(const std::vector<Wish>& wishes) {
    QStringList titles;
    for (const Wish& wish : wishes)
        titles << QString::fromStdString(wish.title);
    return titles.join(u'\n');
}

} // namespace

RecipePage::RecipePage(const Theme& theme, QWidget* parent)
    : QScrollArea(parent)
    , m_theme(theme) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setAccessibleName(tr("What the recipe runs"));
    build();
    connect(&theme, &Theme::changed, this, &RecipePage::restyle);
    restyle();
}

void RecipePage::build() {
    auto* content = new QWidget;
    content->setProperty("ground", QStringLiteral("panel"));
    content->setAttribute(Qt::WA_StyledBackground);
    m_column = new QVBoxLayout(content);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    m_head = new QWidget(content);
    m_summary = plainLabel(m_head, true);
    m_caveat = plainLabel(m_head, true);
    m_caveat->setProperty("tone", QStringLiteral("muted"));
    m_facts = new FigureList(m_theme, TextRole::Small, m_head);
    m_facts->alignLeft(kNameWidth);
    auto* head = new QVBoxLayout(m_head);
    for (QWidget* part : std::initializer_list<QWidget*>{m_summary, m_caveat, m_facts})
        head->addWidget(part);
    addNarrow(m_head);
    m_compared = addList(new DockTitle(m_theme, tr("What is compared"), nullptr));
    m_prompts = addList(new DockTitle(m_theme, tr("Prompts and sizes"), nullptr));
    m_reportTitle = new DockTitle(m_theme, tr("What the report shows"), nullptr);
    m_report = addList(m_reportTitle);
    m_column->addStretch(1);
    setWidget(content);
}

/// The list below its title.
FigureList* RecipePage::addList(DockTitle* title) {
    m_column->addWidget(title);
    auto* list = new FigureList(m_theme, TextRole::Small, m_column->parentWidget());
    list->alignLeft(kNameWidth);
    addNarrow(list);
    return list;
}

/// At the left; the stretch has what the part does not take.
void RecipePage::addNarrow(QWidget* part) {
    constexpr int kAlmostAll = 1000;
    auto* row = new QHBoxLayout;
    row->addWidget(part, kAlmostAll);
    row->addStretch(1);
    m_column->addLayout(row);
    m_narrow.push_back(part);
}

void RecipePage::setRecipe(const engine::Recipe& recipe) {
    m_recipe = recipe;
    m_summary->setText(engineText(recipe.summary));
    m_caveat->setText(QString::fromStdString(recipe.caveat));
    m_caveat->setVisible(!recipe.caveat.empty());
    showFacts();
    showParts();
    verticalScrollBar()->setValue(0);
}

void RecipePage::setOutlook(const RecipeOutlook& outlook) {
    const RecipeOutlook before = std::exchange(m_outlook, outlook);
    if (before == outlook)
        return;
    showFacts();
    if (before.size != outlook.size)
        showParts();
}

/// Where it comes from, what it takes, and on which prompts it runs.
void RecipePage::showFacts() {
    ListRows facts;
    facts.push_back({tr("Source"), QString::fromStdString(m_recipe.source)});
    QStringList papers;
    for (const engine::RecipeOverlay& overlay : m_recipe.overlays)
        papers << QString::fromStdString(overlay.label);
    addIfKnown(facts, tr("The paper's own figures"), papers.join(QStringLiteral("; ")));
    addIfKnown(facts, tr("Will take"), m_outlook.cost);
    m_facts->setRows(std::move(facts));
    ListRows prompts;
    addIfKnown(prompts, tr("Prompts"), m_outlook.prompts);
    prompts.push_back({tr("Tasks"), taskWords(m_recipe)});
    const QStringList sizes = sizesOf(m_recipe);
    for (const QString& size : sizes) {
        const bool isChosen = size == m_outlook.size && sizes.size() > 1;
        prompts.push_back({isChosen ? tr("%1 (chosen)").arg(sizeTitle(size)) : sizeTitle(size),
                           sizeWords(m_recipe, m_recipe.sizes.at(size.toStdString()))});
    }
    m_prompts->setRows(std::move(prompts));
}

/// As the chosen size has them.
void RecipePage::showParts() {
    engine::Recipe recipe = m_recipe;
    if (auto sized = engine::recipeOfSize(m_recipe, {.size = m_outlook.size.toStdString()}))
        recipe = std::move(sized).value();
    m_compared->setRows(comparedRows(recipe));
    ListRows report;
    addIfKnown(report, tr("Its figures"), titlesOf(recipe.figures));
    addIfKnown(report, tr("Its tables"), titlesOf(recipe.tables));
    m_reportTitle->setVisible(!report.empty());
    m_report->setRows(std::move(report));
}

void RecipePage::restyle() {
    const int side = m_theme.scaled(12);
    const int gap = m_theme.scaled(8);
    m_head->layout()->setContentsMargins(side, m_theme.scaled(16), side, gap);
    m_head->layout()->setSpacing(side);
    for (FigureList* list : {m_compared, m_prompts, m_report})
        list->setContentsMargins(side, gap, side, gap);
    for (QWidget* part : m_narrow)
        part->setMaximumWidth(m_theme.scaled(kReadableWidth));
}

} // namespace ui
