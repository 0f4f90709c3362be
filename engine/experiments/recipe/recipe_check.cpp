// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/recipe/recipe_check.h"

#include "engine/base/settings.h"
#include "engine/experiments/report/analysis/measures/measures.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace engine {

namespace {

using Words = std::vector<std::string>;

const Words kTableRows = {"variant", "task", "variant_task", "prompt", "search", "stage"};
const Words kFigureKinds = {"dots", "bars", "lines", "stack", "matrix", "layer_grids"};
const Words kFigureX = {
    "task", "variant", "prompt", "round", "time", "set", "parameters", "setting:NAME"};
const Words kFigureSeries = {"", "variant", "task", "measure", "setting:NAME"};
const Words kFigurePanels = {"", "task", "variant", "measure"};
const Words kVerdicts = {"gain", "better", "diagonal", "equal", "share", "best", "drift", "none"};
const Words kOrders = {"", "as-is", "by-task", "shuffled", "drift"};
const Words kMethods = {"random", "bayes", "self_sd"};

/// Checks one recipe; the first fault counts.
class RecipeCheck {
public:
    RecipeCheck(const Recipe& recipe, const std::string& where)
        : m_recipe(recipe)
        , m_where(where) {}

    Result<void> run() {
        checkHead();
        std::size_t number = 0;
        for (const RecipeStage& stage : m_recipe.stages)
            checkStage(stage, fmt::format("stages[{}]", number++));
        for (const auto& [name, size] : m_recipe.sizes)
            checkSize(size, "sizes." + name);
        number = 0;
        for (const TableWish& table : m_recipe.tables)
            checkTable(table, fmt::format("tables[{}]", number++));
        number = 0;
        for (const FigureWish& figure : m_recipe.figures)
            checkFigure(figure, fmt::format("figures[{}]", number++));
        number = 0;
        for (const RecipeOverlay& overlay : m_recipe.overlays) {
            const std::string member = fmt::format("overlays[{}]", number++);
            need(!overlay.label.empty(), member + ".label", "is missing");
            for (const OverlayValue& value : overlay.values)
                measure(member + ".values", value.measure);
        }
        oneOf("verdict.kind", m_recipe.verdict.kind, kVerdicts);
        measure("verdict.measure", m_recipe.verdict.measure);
        comparedVariant("verdict.variant", m_recipe.verdict.variant);
        comparedVariant("verdict.against", m_recipe.verdict.against);
        if (m_fault)
            return std::move(*m_fault);
        return {};
    }

private:
    void fail(const std::string& member, const std::string& problem, std::string hint = {}) {
        if (!m_fault)
            m_fault = Error{ErrorCode::InvalidInput,
                            fmt::format("{}: the member \"{}\" {}.", m_where, member, problem),
                            std::move(hint)};
    }

    void need(bool holds, const std::string& member, const std::string& problem) {
        if (!holds)
            fail(member, problem);
    }

    void oneOf(const std::string& member, const std::string& word, const Words& words) {
        const bool isSetting =
            word.starts_with("setting:") && word.size() > 8 && words.back() == "setting:NAME";
        if (isSetting || std::find(words.begin(), words.end(), word) != words.end())
            return;
        Words shown = words;
        std::erase(shown, "");
        fail(member, fmt::format("is \"{}\", but must be one of {}", word, fmt::join(shown, ", ")));
    }

    void measure(const std::string& member, const std::string& word) {
        if (!measureInfo(word).name.empty() || word.starts_with("setting:"))
            return;
        const Words words = measureNames();
        const std::string near = nearestName(word, words);
        fail(member,
             fmt::format("is \"{}\", which no recipe can show", word),
             near.empty() ? fmt::format("It can be one of {}.", fmt::join(words, ", "))
                          : fmt::format("Did you mean {}?", near));
    }

    void range(const std::string& member, double value, double least, double most) {
        need(value >= least && value <= most,
             member,
             fmt::format("is {}, but must be from {} to {}", value, least, most));
    }

    static bool isPlainName(const std::string& name) {
        return !name.empty() && name.size() <= 64 &&
               std::all_of(name.begin(), name.end(), [](unsigned char letter) {
                   return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
               });
    }

    void plainName(const std::string& member, const std::string& name) {
        need(isPlainName(name), member, "must be a name of at most 64 letters, digits, _ and -");
    }

    void checkHead() {
        plainName("name", m_recipe.name);
        need(!m_recipe.title.empty(), "title", "is missing");
        need(!m_recipe.summary.empty(), "summary", "is missing");
        need(!m_recipe.stages.empty(), "stages", "is missing or empty");
        need(m_recipe.stages.size() <= 8, "stages", "has more than 8 items");
        need(!m_recipe.sizes.empty(), "sizes", "is missing or empty");
        oneOf("order", m_recipe.order, kOrders);
        range("least_models", m_recipe.leastModels, 1, 16);
        if (!m_recipe.isStream || m_recipe.stages.empty())
            return;
        need(m_recipe.stages.size() == 1, "stages", "of a stream must have one item");
        need(m_recipe.stages.front().variants.size() == 1,
             "stages[0].variants",
             "of a stream must have one item");
    }

    void checkStage(const RecipeStage& stage, const std::string& member) {
        plainName(member + ".name", stage.name);
        need(m_stages.insert(stage.name).second, member + ".name", "names two stages");
        need(!stage.variants.empty(), member + ".variants", "is missing or empty");
        need(stage.variants.size() <= 64, member + ".variants", "has more than 64 items");
        need(!stage.reusesPrompts || m_stages.size() > 1,
             member + ".same_prompts",
             "is true in the first stage, which has none before it");
        if (stage.maxTokens)
            range(member + ".max_tokens", *stage.maxTokens, 1, 1e6);
        range(member + ".sampling.temperature", stage.sampling.temperature, 0.0, 100.0);
        range(member + ".sampling.top_p", stage.sampling.topP, 0.0, 1.0);
        range(member + ".sampling.top_k", stage.sampling.topK, 0, 1e6);
        std::set<std::string> before = m_variants;
        std::size_t number = 0;
        for (const RecipeVariant& variant : stage.variants)
            checkVariant(variant, before, fmt::format("{}.variants[{}]", member, number++));
    }

    void checkVariant(const RecipeVariant& variant,
                      const std::set<std::string>& before,
                      const std::string& member) {
        plainName(member + ".name", variant.name);
        need(variant.name != "vanilla",
             member + ".name",
             "is \"vanilla\", which runs without being named (see \"baseline\")");
        need(m_variants.insert(variant.name).second, member + ".name", "names two variants");
        need(variant.decoder.empty() == variant.search.has_value(),
             member,
             "must have either a decoder or a search");
        if (variant.search) {
            oneOf(member + ".search.method", variant.search->method, kMethods);
            range(member + ".search.trials", variant.search->trials, 1, 1e6);
            range(member + ".search.max_tokens", variant.search->maxTokens, 8, 4096);
            range(member + ".search.ratio", variant.search->ratio, 0.0, 0.95);
        }
        for (const auto& [name, values] : variant.settings)
            checkValues(member + ".settings." + name, values);
        if (variant.setFrom.empty())
            return;
        need(before.contains(variant.setFrom),
             member + ".set_from",
             fmt::format("names {}, which is no variant of an earlier stage", variant.setFrom));
        need(!variant.setTask.empty(), member + ".set_task", "is empty");
        need(!variant.search, member + ".set_from", "belongs to a decoder, not to a search");
    }

    void checkSize(const RecipeSize& size, const std::string& member) {
        for (const auto& [stage, count] : size.promptsPerTask) {
            need(stage.empty() || m_stages.contains(stage),
                 member + ".prompts_per_task",
                 fmt::format("names the stage {}, which there is not", stage));
            range(member + ".prompts_per_task", count, 0, 1e6);
        }
        range(member + ".max_tokens", size.maxTokens, 1, 1e6);
        range(member + ".seeds", size.seeds, 1, 10'000);
        range(member + ".draws", size.draws, 0, kMostDraws);
        range(member + ".draw_tokens", size.drawTokens, 1, kMostDrawTokens);
        need(m_recipe.run || size.draws == 0 || canDraw(),
             member + ".draws",
             "needs a stage with a temperature above 0, and no stream");
        range(member + ".most_tasks", size.mostTasks, 0, 1e6);
        for (const auto& [name, settings] : size.settings) {
            existingVariant(member + ".settings", name);
            for (const auto& [setting, values] : settings)
                checkValues(fmt::format("{}.settings.{}.{}", member, name, setting), values);
        }
        for (const auto& [name, trials] : size.trials) {
            existingVariant(member + ".trials", name);
            range(member + ".trials", trials, 1, 1e6);
        }
        for (const std::string& name : size.variants)
            existingVariant(member + ".variants", name);
    }

    bool canDraw() const {
        return !m_recipe.isStream && std::any_of(m_recipe.stages.begin(),
                                                 m_recipe.stages.end(),
                                                 [](const RecipeStage& stage) {
                                                     return stage.sampling.temperature > 0.0;
                                                 });
    }

    void existingVariant(const std::string& member, const std::string& name) {
        need(m_variants.contains(name),
             member,
             fmt::format("names the variant {}, which there is not", name));
    }

    /// Also one that a list of values makes, as "swift gamma=16". The recipe of a run has only the
    /// variants of its size.
    void comparedVariant(const std::string& member, const std::string& name) {
        if (!m_recipe.run && !name.empty() && name != "vanilla")
            existingVariant(member, name.substr(0, name.find(' ')));
    }

    void checkView(const std::string& member,
                   const std::string& id,
                   const std::string& stage,
                   const Words& variants) {
        plainName(member + ".id", id);
        need(m_views.insert(id).second, member + ".id", "is that of another table or figure");
        need(stage.empty() || m_stages.contains(stage),
             member + ".stage",
             fmt::format("names {}, which is no stage", stage));
        for (const std::string& name : variants)
            if (name != "vanilla")
                existingVariant(member + ".variants", name);
    }

    /// Each value of a setting makes a variant, so there are no two equal ones.
    void checkValues(const std::string& member, const Words& values) {
        need(!values.empty(), member, "is an empty list");
        const std::set<std::string> different(values.begin(), values.end());
        if (!m_recipe.run) // a run that was made before this rule can still be read
            need(different.size() == values.size(), member, "has a value twice");
    }

    void checkTable(const TableWish& table, const std::string& member) {
        need(m_recipe.run || table.id != "tokens",
             member + ".id",
             "is \"tokens\", which is another file of the report");
        checkView(member, table.id, table.stage, table.variants);
        oneOf(member + ".rows", table.rows, kTableRows);
        need(!table.columns.empty(), member + ".columns", "is missing or empty");
        for (const std::string& column : table.columns)
            measure(member + ".columns", column);
    }

    void checkFigure(const FigureWish& figure, const std::string& member) {
        checkView(member, figure.id, figure.stage, figure.variants);
        oneOf(member + ".kind", figure.kind, kFigureKinds);
        oneOf(member + ".x", figure.x, kFigureX);
        oneOf(member + ".series", figure.series, kFigureSeries);
        oneOf(member + ".panels", figure.panels, kFigurePanels);
        need(!figure.y.empty(), member + ".y", "is missing or empty");
        for (const std::string& word : figure.y)
            measure(member + ".y", word);
    }

    const Recipe& m_recipe;
    const std::string& m_where;
    std::set<std::string> m_stages;   // those so far
    std::set<std::string> m_variants; // of all stages so far
    std::set<std::string> m_views;
    std::optional<Error> m_fault;
};

} // namespace

Result<void> checkRecipe(const Recipe& recipe, const std::string& where) {
    return RecipeCheck(recipe, where).run();
}

} // namespace engine
