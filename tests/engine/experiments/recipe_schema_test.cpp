// SPDX-License-Identifier: Apache-2.0
// The schema that editors read and the parser of the program know the same members, words and
// bounds.
#include "engine/experiments/json/member_json.h"
#include "engine/experiments/recipe/recipe_members.h"
#include "engine/experiments/report/analysis/measures/measures.h"
#include "tests/support/file_content.h"

#include <QDir>
#include <QRegularExpression>
#include <QTest>

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

/// Has every member that has a bound, a word or a shape.
constexpr const char* kExample = R"({
  "$schema": "recipe.schema.json", "format": "swift-experiment", "version": 1,
  "name": "all", "title": "All", "source": "nothing", "summary": "It has all.", "caveat": "None.",
  "stream": false, "order": "drift", "tasks": ["a"], "preferred_tasks": ["b"],
  "stages": [
    {"name": "find", "baseline": false, "twice": false, "split_by_task": true,
     "split_by_variant": false, "first_task_only": false, "same_prompts": false,
     "variants": [{"name": "bo", "search": {"method": "bayes", "trials": 30, "max_tokens": 16,
                                            "ratio": 0.4, "by_time": true}}]},
    {"name": "run", "max_tokens": 8, "sampling": {"temperature": 1, "top_p": 0.9, "top_k": 40},
     "variants": [{"name": "set", "decoder": "self_sd", "set_from": "bo", "set_task": "own",
                   "settings": {"gamma": [16, "32"], "early_stop": false}}]},
    {"name": "draw", "sampling": {"temperature": 2},
     "variants": [{"name": "swift", "decoder": "swift"}]}],
  "keep_texts": false, "keep_rounds": true, "least_models": 1,
  "sizes": {"quick": {"prompts_per_task": {"run": 2}, "max_tokens": 16, "seeds": 2, "draws": 4,
                      "draw_tokens": 3, "most_tasks": 2, "settings": {"swift": {"S": 5}},
                      "trials": {"bo": 4}, "variants": ["bo", "set", "swift"]}},
  "tables": [{"id": "main", "title": "Main", "rows": "variant", "columns": ["M"],
              "variants": ["set"], "stage": "run", "note": "Yes."}],
  "figures": [{"id": "speed", "title": "Speed", "kind": "dots", "x": "task", "y": ["speedup"],
               "series": "variant", "panels": "measure", "variants": ["set"], "stage": "run",
               "note": "No."}],
  "overlays": [{"label": "paper", "values": [{"measure": "M", "variant": "set", "task": "a",
                                              "value": 2.5, "x": 1}]}],
  "verdict": {"kind": "best", "measure": "M", "variant": "set", "against": "vanilla",
              "along": "gamma"},
  "run": {"size": "quick", "seed": 7, "models": ["m"], "planted": false, "backend": "cpu",
          "backend_settings": {"threads": "2"}, "context": 0, "raw": false,
          "draft_adapter": "none"}})";

/// Without the part that only the folder of a run has: some rules do not hold there.
Json example() {
    Json made = Json::parse(kExample);
    made.erase("run");
    return made;
}

std::string problemOf(const Json& recipe) {
    const auto read = readRecipe(recipe.dump(), "mine");
    return read ? std::string() : read.error().message;
}

template <typename T> struct Bare { using Type = T; };

template <typename T> struct Bare<std::optional<T>> { using Type = T; };

/// What a schema calls a plain type; empty for others.
template <typename T> std::string typeWord() {
    using Plain = typename Bare<T>::Type;
    if constexpr (std::is_same_v<Plain, bool>)
        return "boolean";
    else if constexpr (std::is_integral_v<Plain>)
        return "integer";
    else if constexpr (std::is_floating_point_v<Plain>)
        return "number";
    else if constexpr (std::is_same_v<Plain, std::string>)
        return "string";
    else
        return {};
}

/// Takes down which members the parser reads.
struct MemberTypes {
    std::map<std::string, std::string> types = {};

    template <typename T> void operator()(const char* name, T& /*member*/) {
        types[name] = typeWord<T>();
    }
};

/// A part of a recipe, and what the schema says of it.
struct Place {
    std::string pointer;
    Json rule;
};

class Schema {
public:
    explicit Schema(Json root)
        : m_root(std::move(root)) {}

    const Json& part(const std::string& name) const {
        return name.empty() ? m_root : m_root["$defs"].at(name);
    }

    /// The rule that a rule names, if it names one.
    const Json& ruleOf(const Json& rule) const {
        if (!rule.contains("$ref"))
            return rule;
        const auto name = rule["$ref"].get<std::string>();
        return part(name.substr(name.find_last_of('/') + 1));
    }

    /// The first fault of a value; empty if it keeps the rule.
    std::string faultOf(const Json& rule, const Json& value, const std::string& where = "") const {
        for (const auto& [keyword, wanted] : rule.items())
            if (const std::string fault = faultAgainst(keyword, wanted, rule, value, where);
                !fault.empty())
                return fault;
        return {};
    }

    /// Every part of a value with its rule.
    void collect(const Json& named,
                 const Json& value,
                 const std::string& pointer,
                 std::vector<Place>& found) const {
        const Json& rule = ruleOf(named);
        found.push_back({pointer, rule});
        if (value.is_object())
            for (const auto& [name, member] : value.items())
                collect(memberRule(rule, name), member, pointer + "/" + name, found);
        if (value.is_array())
            for (std::size_t i = 0; i < value.size(); ++i)
                collect(rule.value("items", Json::object()),
                        value[i],
                        fmt::format("{}/{}", pointer, i),
                        found);
    }

private:
    static Json memberRule(const Json& rule, const std::string& name) {
        if (rule.contains("properties") && rule["properties"].contains(name))
            return rule["properties"][name];
        const Json others = rule.value("additionalProperties", Json());
        return others.is_object() ? others : Json::object();
    }

    static bool hasType(const std::string& type, const Json& value) {
        return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
               (type == "string" && value.is_string()) ||
               (type == "boolean" && value.is_boolean()) ||
               (type == "integer" && value.is_number_integer()) ||
               (type == "number" && value.is_number());
    }

    static bool matches(const Json& pattern, const Json& value) {
        const QRegularExpression wanted(QString::fromStdString(pattern.get<std::string>()));
        return wanted.match(QString::fromStdString(value.get<std::string>())).hasMatch();
    }

    std::string faultAgainst(const std::string& keyword,
                             const Json& wanted,
                             const Json& rule,
                             const Json& value,
                             const std::string& where) const {
        static const std::set<std::string> kSaysNothing = {
            "$schema", "$id", "$defs", "title", "description", "default"};
        const auto need = [&](bool holds) {
            return holds ? std::string() : fmt::format("{}: {} {}", where, keyword, wanted.dump());
        };
        const auto kept = [&](const Json& other) { return faultOf(other, value, where).empty(); };
        if (keyword == "$ref")
            return faultOf(ruleOf(rule), value, where);
        if (keyword == "type") {
            const Json types = wanted.is_array() ? wanted : Json::array({wanted});
            return need(std::any_of(types.begin(), types.end(), [&](const Json& type) {
                return hasType(type.get<std::string>(), value);
            }));
        }
        if (keyword == "enum")
            return need(std::find(wanted.begin(), wanted.end(), value) != wanted.end());
        if (keyword == "const")
            return need(value == wanted);
        if (keyword == "not")
            return need(!kept(wanted));
        if (keyword == "anyOf")
            return need(std::any_of(wanted.begin(), wanted.end(), kept));
        if (keyword == "oneOf")
            return need(std::count_if(wanted.begin(), wanted.end(), kept) == 1);
        if (keyword == "minimum")
            return need(value.get<double>() >= wanted.get<double>());
        if (keyword == "maximum")
            return need(value.get<double>() <= wanted.get<double>());
        if (keyword == "pattern")
            return need(matches(wanted, value));
        if (keyword == "minLength")
            return need(value.get<std::string>().size() >= wanted.get<std::size_t>());
        if (keyword == "minItems" || keyword == "minProperties")
            return need(value.size() >= wanted.get<std::size_t>());
        if (keyword == "maxItems")
            return need(value.size() <= wanted.get<std::size_t>());
        if (keyword == "uniqueItems")
            return need(std::set<Json>(value.begin(), value.end()).size() == value.size());
        if (keyword == "required")
            return need(std::all_of(wanted.begin(), wanted.end(), [&](const Json& name) {
                return value.contains(name.get<std::string>());
            }));
        if (keyword == "items") {
            for (std::size_t i = 0; i < value.size(); ++i)
                if (std::string fault = faultOf(wanted, value[i], fmt::format("{}/{}", where, i));
                    !fault.empty())
                    return fault;
            return {};
        }
        if (keyword == "properties" || keyword == "additionalProperties")
            return faultOfMembers(rule, value, where);
        return need(kSaysNothing.contains(keyword));
    }

    std::string
    faultOfMembers(const Json& rule, const Json& value, const std::string& where) const {
        for (const auto& [name, member] : value.items()) {
            const std::string place = where + "/" + name;
            const bool isKnown = rule.contains("properties") && rule["properties"].contains(name);
            if (!isKnown && rule.value("additionalProperties", Json()) == Json(false))
                return place + " is not known";
            if (std::string fault = faultOf(memberRule(rule, name), member, place); !fault.empty())
                return fault;
        }
        return {};
    }

    Json m_root;
};

/// How the schema's part of this name and the members of a type differ; empty if they do not.
template <typename T> std::string differencesOf(const Schema& schema, const std::string& part) {
    const Json& properties = schema.part(part).at("properties");
    MemberTypes read;
    T usual{};
    visitMembers(read, usual);
    if (part.empty()) { // of the file
        read.types["format"] = "string";
        read.types["version"] = "integer";
    }
    std::string text;
    for (const auto& [name, type] : read.types) {
        if (!properties.contains(name))
            text += fmt::format("{}.{} is not in the schema. ", part, name);
        else if (const Json& rule = schema.ruleOf(properties[name]);
                 !type.empty() && rule.value("type", "") != type)
            text += fmt::format("{}.{} is a {}. ", part, name, type);
    }
    for (const auto& [name, rule] : properties.items()) {
        if (!read.types.contains(name))
            text += fmt::format("{}.{} is not in the parser. ", part, name);
        if (!rule.value("description", "").ends_with('.'))
            text += fmt::format("{}.{} is not described. ", part, name);
    }
    const Json written = MemberWriter::toJson(usual);
    for (const auto& [name, value] : written.items())
        if (value.is_primitive() &&
            properties.value(name, Json::object()).value("default", Json()) != value)
            text += fmt::format("{}.{} is {} without being given. ", part, name, value.dump());
    return text;
}

/// The words that a rule allows; empty if it allows any.
std::vector<std::string> wordsOf(const Json& rule) {
    const Json& held = rule.contains("anyOf") ? rule["anyOf"][0] : rule;
    return held.value("enum", std::vector<std::string>());
}

} // namespace

class RecipeSchemaTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        const std::string text = support::fileBytes("resources/recipe.schema.json").toStdString();
        m_schema = std::make_unique<Schema>(Json::parse(text));
    }

    void itHasTheMembersOfTheParserAndNoOthers() {
        std::string text = differencesOf<Recipe>(*m_schema, "");
        text += differencesOf<RecipeStage>(*m_schema, "stage");
        text += differencesOf<RecipeVariant>(*m_schema, "variant");
        text += differencesOf<RecipeSearch>(*m_schema, "search");
        text += differencesOf<RecipeSampling>(*m_schema, "sampling");
        text += differencesOf<RecipeSize>(*m_schema, "size");
        text += differencesOf<TableWish>(*m_schema, "table");
        text += differencesOf<FigureWish>(*m_schema, "figure");
        text += differencesOf<RecipeOverlay>(*m_schema, "overlay");
        text += differencesOf<OverlayValue>(*m_schema, "overlay_value");
        text += differencesOf<VerdictWish>(*m_schema, "verdict");
        text += differencesOf<RunOptions>(*m_schema, "run");
        QCOMPARE(text, std::string());
        QCOMPARE(wordsOf(m_schema->part("measure")), measureNames());
    }

    void everyRecipeOfTheProgramKeepsIt() {
        int count = 0;
        for (const QFileInfo& file : QDir("resources/recipes").entryInfoList({"*.json"})) {
            const auto text = support::fileBytes(file.filePath()).toStdString();
            const std::string fault = faultOf(Json::parse(text));
            QVERIFY2(fault.empty(), (file.fileName().toStdString() + fault).c_str());
            ++count;
        }
        QVERIFY(count >= 20);
    }

    void whatItRefusesTheParserRefuses() {
        QCOMPARE(faultOf(Json::parse(kExample)), std::string());
        QCOMPARE(problemOf(Json::parse(kExample)), std::string());
        QCOMPARE(problemOf(example()), std::string());
        int count = 0;
        for (const Place& place : places()) {
            for (const Json& wrong : wrongFor(place)) {
                Json changed = example();
                changed[Json::json_pointer(place.pointer)] = wrong;
                const std::string shown = place.pointer + " is " + wrong.dump();
                QVERIFY2(!faultOf(changed).empty(), shown.c_str());
                QVERIFY2(!problemOf(changed).empty(), shown.c_str());
                ++count;
            }
            for (const Json& name : place.rule.value("required", Json::array())) {
                Json changed = example();
                changed[Json::json_pointer(place.pointer)].erase(name.get<std::string>());
                const std::string shown = place.pointer + " has no " + name.dump();
                QVERIFY2(!faultOf(changed).empty(), shown.c_str());
                QVERIFY2(!problemOf(changed).empty(), shown.c_str());
                ++count;
            }
        }
        QVERIFY(count > 150);
    }

    void itsBoundsAndWordsAreTheParsers() {
        int count = 0;
        for (const Place& place : places()) {
            std::vector<Json> allowed;
            for (const char* bound : {"minimum", "maximum"})
                if (place.rule.contains(bound))
                    allowed.push_back(place.rule[bound]);
            const std::vector<std::string> words = wordsOf(place.rule);
            allowed.insert(allowed.end(), words.begin(), words.end());
            for (const Json& value : allowed) {
                Json changed = example();
                changed[Json::json_pointer(place.pointer)] = value;
                const std::string problem = problemOf(changed);
                QVERIFY2(problem.empty(), problem.c_str());
                ++count;
            }
            if (words.empty())
                continue;
            Json changed = example();
            changed[Json::json_pointer(place.pointer)] = "nonsense";
            const std::string problem = problemOf(changed);
            if (const auto at = problem.find("must be one of "); at != std::string::npos)
                QCOMPARE(QString::fromStdString(problem.substr(at)),
                         QString::fromStdString(
                             fmt::format("must be one of {}{}.",
                                         fmt::join(words, ", "),
                                         place.rule.contains("anyOf") ? ", setting:NAME" : "")));
        }
        QVERIFY(count > 150);
    }

private:
    std::string faultOf(const Json& recipe) const {
        return m_schema->faultOf(m_schema->part(""), recipe);
    }

    std::vector<Place> places() const {
        std::vector<Place> found;
        m_schema->collect(m_schema->part(""), example(), "", found);
        return found;
    }

    /// Values that break a rule in each of its ways.
    static std::vector<Json> wrongFor(const Place& place) {
        const Json& rule = place.rule;
        std::vector<Json> wrong;
        const bool hasType = rule.contains("type") && rule["type"].is_string();
        const std::string type = hasType ? rule["type"].get<std::string>() : std::string();
        if (type == "string")
            wrong.emplace_back(7);
        else if (hasType)
            wrong.emplace_back("x");
        const double step = type == "integer" ? 1.0 : 0.5;
        const auto beyond = [&](const char* bound, double by) {
            const double value = rule[bound].get<double>() + by;
            wrong.push_back(type == "integer" ? Json(static_cast<int>(value)) : Json(value));
        };
        if (rule.contains("minimum"))
            beyond("minimum", -step);
        if (rule.contains("maximum"))
            beyond("maximum", step);
        if (!wordsOf(rule).empty() || rule.contains("const"))
            wrong.push_back(type == "integer" ? Json(2) : Json("nonsense"));
        if (rule.contains("pattern"))
            wrong.emplace_back("no name");
        if (rule.contains("minLength"))
            wrong.emplace_back("");
        if (rule.contains("minItems"))
            wrong.push_back(Json::array());
        if (rule.contains("minProperties"))
            wrong.push_back(Json::object());
        if (rule.value("additionalProperties", Json()) == Json(false)) {
            Json more = example()[Json::json_pointer(place.pointer)];
            more["surprise"] = true;
            wrong.push_back(more);
        }
        return wrong;
    }

    std::unique_ptr<Schema> m_schema;
};

QTEST_APPLESS_MAIN(RecipeSchemaTest)
#include "recipe_schema_test.moc"
