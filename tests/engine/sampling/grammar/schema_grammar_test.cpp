// SPDX-License-Identifier: Apache-2.0
// JSON schemas as grammars: texts that fit and texts that do not, and whatever a random walk writes
// is parsed by nlohmann-json and fits its schema by a check written down here.
#include "tests/support/lossless/grammar_walk.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <random>
#include <tuple>

using namespace engine;
using support::GrammarWalk;
using Json = nlohmann::json;

namespace {

bool isType(const Json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer()) ||
           (type == "boolean" && value.is_boolean()) || (type == "null" && value.is_null());
}

std::size_t characterCount(const std::string& text) {
    return static_cast<std::size_t>(QString::fromStdString(text).toUcs4().size());
}

/// Whether a value fits, word by word as JSON Schema 2020-12 explains them.
bool fits(const Json& value, const Json& schema, const Json& root) {
    if (schema.is_boolean())
        return schema.get<bool>();
    const auto any = [&](const Json& list) {
        return std::count_if(
            list.begin(), list.end(), [&](const Json& other) { return fits(value, other, root); });
    };
    if (schema.contains("$ref") &&
        !fits(
            value, root.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), root))
        return false;
    if (schema.contains("type")) {
        const Json types = schema["type"].is_array() ? schema["type"] : Json{schema["type"]};
        if (std::none_of(
                types.begin(), types.end(), [&](const Json& type) { return isType(value, type); }))
            return false;
    }
    if (schema.contains("const") && value != schema["const"])
        return false;
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
        return false;
    if (schema.contains("anyOf") && any(schema["anyOf"]) == 0)
        return false;
    if (schema.contains("oneOf") && any(schema["oneOf"]) != 1)
        return false;
    if (schema.contains("allOf") &&
        any(schema["allOf"]) != static_cast<std::ptrdiff_t>(schema["allOf"].size()))
        return false;
    if (value.is_string()) {
        const std::size_t length = characterCount(value.get<std::string>());
        if (length < schema.value("minLength", 0U) ||
            length > schema.value("maxLength", 1'000'000U))
            return false;
    }
    if (value.is_number()) {
        const double number = value.get<double>();
        const double parts = number / schema.value("multipleOf", number == 0.0 ? 1.0 : number);
        if (number < schema.value("minimum", -1e300) || number > schema.value("maximum", 1e300) ||
            number <= schema.value("exclusiveMinimum", -1e300) ||
            number >= schema.value("exclusiveMaximum", 1e300) ||
            std::abs(parts - std::round(parts)) > 1e-9 * std::max(1.0, std::abs(parts)))
            return false;
    }
    if (value.is_array()) {
        if (value.size() < schema.value("minItems", 0U) ||
            value.size() > schema.value("maxItems", 1'000'000U))
            return false;
        const Json first = schema.value("prefixItems", Json::array());
        for (std::size_t i = 0; i < value.size(); ++i)
            if (!fits(value[i],
                      i < first.size() ? first[i] : schema.value("items", Json(true)),
                      root))
                return false;
    }
    if (value.is_object()) {
        for (const Json& name : schema.value("required", Json::array()))
            if (!value.contains(name))
                return false;
        const Json properties = schema.value("properties", Json::object());
        for (const auto& [name, member] : value.items())
            if (!fits(member,
                      properties.contains(name) ? properties[name]
                                                : schema.value("additionalProperties", Json(true)),
                      root))
                return false;
    }
    return true;
}

/// A text of the grammar, byte by byte: at random, and with the nearest way out in the end.
std::string randomText(GrammarMatcher& matcher, std::mt19937& random) {
    std::string text;
    auto state = matcher.start();
    const std::string ways = "\"}],:0te\\";
    for (int step = 0; step < 5000; ++step) {
        std::string allowed;
        for (int byte = 0; byte < 256; ++byte)
            if (matcher.next(state, static_cast<std::uint8_t>(byte)) != GrammarMatcher::kDead)
                allowed += static_cast<char>(byte);
        if (matcher.canEnd(state) && (allowed.empty() || random() % 3 == 0))
            return text;
        char chosen = allowed[random() % allowed.size()];
        if (step > 40 || random() % 2 == 0) // closes what is open, rather than going on for ever
            for (const char way : ways)
                if (allowed.find(way) != std::string::npos) {
                    chosen = way;
                    break;
                }
        text += chosen;
        state = matcher.next(state, static_cast<std::uint8_t>(chosen));
    }
    return text;
}

const char* const kPerson = R"({"type": "object", "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 4},
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}},
    "required": ["name", "age"]})";

const char* const kTree = R"({"$defs": {"tree": {"type": "object", "properties": {
    "value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["value"]}}, "$ref": "#/$defs/tree"})";

const char* const kShape = R"({"oneOf": [
    {"type": "object", "properties": {"kind": {"const": "dot"}}, "required": ["kind"]},
    {"type": "object", "properties": {"kind": {"const": "disc"}, "r": {"type": "number", "minimum": 0}},
     "required": ["kind", "r"]}, {"type": "null"}]})";

} // namespace

class SchemaGrammarTest : public QObject {
    Q_OBJECT

private slots:
    void textsFitOrDoNot_data();
    void textsFitOrDoNot();
    void aReferenceIsReadAsAUri();
    void whateverIsWrittenFitsTheSchema_data();
    void whateverIsWrittenFitsTheSchema();
    void integersKeepTheirBounds();
    void numbersKeepTheirBounds();
    void multiplesAreTheMultiples();
    void whatIsNotSupportedIsRefusedByName_data();
    void whatIsNotSupportedIsRefusedByName();
};

void SchemaGrammarTest::textsFitOrDoNot_data() {
    QTest::addColumn<QString>("schema");
    QTest::addColumn<QStringList>("fitting");
    QTest::addColumn<QStringList>("others");
    QTest::newRow("object") << kPerson
                            << QStringList{R"({"name":"Ann","age":7})",
                                           R"({"name": "A", "age": 120, "tags": ["a", "b"]})",
                                           "{\n  \"name\": \"\\u00e9\\n\",\n  \"age\": 0\n}",
                                           R"({"name":"äöü","age":12,"tags":[]})"}
                            << QStringList{R"({"name":"Ann"})",
                                           R"({"age":7,"name":"Ann"})",
                                           R"({"name":"","age":7})",
                                           R"({"name":"Annex","age":7})",
                                           R"({"name":"Ann","age":121})",
                                           R"({"name":"Ann","age":07})",
                                           R"({"name":"Ann","age":7,"tags":["a","b","a"]})",
                                           R"({"name":"Ann","age":7,"tags":["c"]})",
                                           R"({"name":"Ann","age":7,"more":1})",
                                           R"({"name":"Ann","age":7,})"};
    QTest::newRow("recursion")
        << kTree
        << QStringList{R"({"value":1})", R"({"value":1,"children":[{"value":-2,"children":[]}]})"}
        << QStringList{R"({"children":[]})", R"({"value":1,"children":[1]})", R"({"value":1.5})"};
    QTest::newRow("one of")
        << kShape << QStringList{R"({"kind":"dot"})", R"({"kind":"disc","r":1.5e3})", "null"}
        << QStringList{
               R"({"kind":"dot","r":1})", R"({"kind":"disc","r":-1})", R"({"kind":"ring"})"};
    QTest::newRow("other members")
        << R"({"properties": {"ab": {"type": "null"}}, "additionalProperties": {"type": "boolean"}})"
        << QStringList{R"({"ab":null,"abc":true})", R"({"a":true,"b":false,"":true})", "{}"}
        << QStringList{R"({"ab":true})", R"({"abc":null})", R"({"abc":true,"ab":true})"};
    QTest::newRow("places")
        << R"({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "null"},
               "minItems": 1})"
        << QStringList{"[1]", R"([1, "a", null, null])"} << QStringList{"[]", R"(["a"])", "[1, 2]"};
    QTest::newRow("types") << R"({"type": ["string", "null"], "maxLength": 2})"
                           << QStringList{"null", "\"ab\""} << QStringList{"1", "\"abc\""};
    QTest::newRow("constants") << R"({"enum": [1, "1", true, null, {"a": [1]}, -2.5]})"
                               << QStringList{"1", "\"1\"", "true", "null", R"({"a":[1]})", "-2.5"}
                               << QStringList{"11", "false", "2"};
    QTest::newRow("constants that are whole") << R"({"type": "integer", "enum": [1.0, 2.5, -3]})"
                                              << QStringList{"1", "-3"} << QStringList{"2.5", "2"};
    QTest::newRow("pattern") << R"({"type": "string", "pattern": "^[a-c]{2}(x|y)$"})"
                             << QStringList{"\"abx\"", "\"ccy\""}
                             << QStringList{"\"ab\"", "\"abxx\"", "\"abz\""};
    QTest::newRow("pattern with a bar in a class")
        << R"({"type": "string", "pattern": "^[\\]|]+$"})" << QStringList{"\"]|\""}
        << QStringList{"\"a\""};
    QTest::newRow("format") << R"({"type": "string", "format": "date"})"
                            << QStringList{"\"2024-12-31\"", "\"1999-02-28\"", "\"2000-04-30\""}
                            << QStringList{"\"2024-13-01\"", "\"2024-04-31\"", "\"2024-2-1\""};
    QTest::newRow("all of these")
        << R"({"allOf": [{"$ref": "#/$defs/named"}, {"properties": {"age": {"type": "integer"}},
               "required": ["age"]}, {"properties": {"name": {"maxLength": 2}}}],
               "$defs": {"named": {"type": "object", "properties": {"name": {"type": "string"}},
               "required": ["name"]}}})"
        << QStringList{R"({"name":"Al","age":7})"}
        << QStringList{R"({"name":"Ann","age":7})", R"({"name":"Al"})", R"({"age":7})"};
    QTest::newRow("all of these, one closed")
        << R"({"allOf": [{"properties": {"a": {}}, "additionalProperties": false},
               {"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}]})"
        << QStringList{R"({"a":null})", "{}"}
        << QStringList{R"({"a":null,"b":null})", R"({"a":1})"};
    QTest::newRow("all of these, with choices")
        << R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"const": 1}},
               "allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}]})"
        << QStringList{R"({"a":3})", R"({"b":1})", R"({"a":3,"b":1})"} << QStringList{"{}"};
    QTest::newRow("all of these, constants")
        << R"({"allOf": [{"enum": [1, 2, "3", null]}, {"enum": ["3", 2, 4]}, {"type": "integer"}]})"
        << QStringList{"2"} << QStringList{"1", "\"3\"", "4", "null"};
    QTest::newRow("a reference with more words")
        << R"({"$ref": "#/$defs/n", "maximum": 3, "$defs": {"n": {"type": "integer", "minimum": 2}}})"
        << QStringList{"2", "3"} << QStringList{"1", "4"};
    QTest::newRow("all of these, which hold themselves")
        << R"({"$defs": {"v": {"type": "object", "properties": {"v": {"type": "integer"},
               "next": {"$ref": "#/$defs/v"}}, "required": ["v"]}},
               "allOf": [{"$ref": "#/$defs/v"}, {"properties": {"next": {"$ref": "#"}}}]})"
        << QStringList{R"({"v":1,"next":{"v":2,"next":{"v":3}}})"}
        << QStringList{R"({"v":1,"next":{"next":{"v":3}}})"};
    QTest::newRow("anything") << "{}"
                              << QStringList{R"({"a":[1,{"b":"\ud83d\ude00"}],"c":-0.5e-3})", "[]"}
                              << QStringList{
                                     "{a:1}", "[1,]", "01", R"("\ud83d")", "nul1", "\"\t\""};
}

void SchemaGrammarTest::textsFitOrDoNot() {
    QFETCH(QString, schema);
    QFETCH(QStringList, fitting);
    QFETCH(QStringList, others);
    const Json parsed = Json::parse(schema.toStdString());
    GrammarWalk walk({GrammarKind::Schema, schema.toStdString()});
    for (const QString& text : fitting) {
        QVERIFY2(walk.accepts(text.toStdString()), qPrintable(text));
        QVERIFY2(fits(Json::parse(text.toStdString()), parsed, parsed), qPrintable(text));
    }
    for (const QString& text : others)
        QVERIFY2(!walk.accepts(text.toStdString()), qPrintable(text));
}

void SchemaGrammarTest::aReferenceIsReadAsAUri() {
    GrammarWalk walk({GrammarKind::Schema,
                      R"({"$defs": {"a b": {"const": 1}, "50%": {"const": 2}, "c/d": {"const": 3}},
                          "anyOf": [{"$ref": "#/$defs/a%20b"}, {"$ref": "#/$defs/50%25"},
                                    {"$ref": "#/%24defs/c~1d"}]})"});
    QVERIFY(walk.accepts("1") && walk.accepts("2") && walk.accepts("3") && !walk.accepts("4"));
}

void SchemaGrammarTest::whateverIsWrittenFitsTheSchema_data() {
    QTest::addColumn<QString>("schema");
    QTest::newRow("person") << kPerson;
    QTest::newRow("tree") << kTree;
    QTest::newRow("shape") << kShape;
    QTest::newRow("anything") << "{}";
    QTest::newRow("numbers") << R"({"type": "array", "items": {"type": "number"}, "minItems": 3})";
    QTest::newRow("numbers between")
        << R"({"type": "array", "minItems": 2, "items": {"type": "number", "minimum": -0.25,
               "exclusiveMaximum": 12.5}})";
    QTest::newRow("prices") << R"({"type": "array", "minItems": 2, "items": {"type": "number",
                                  "exclusiveMinimum": 0.005, "multipleOf": 0.01}})";
    QTest::newRow("sevens") << R"({"type": "array", "minItems": 2, "items": {"type": "integer",
                                  "multipleOf": 7}})";
    QTest::newRow("all of") << R"({"allOf": [{"properties": {"a": {"type": "number"}}},
        {"properties": {"a": {"minimum": 1.5, "maximum": 2}, "b": {"oneOf": [{"type": "null"},
        {"const": 1}]}}, "required": ["b"]}]})";
    QTest::newRow("any of") << R"({"anyOf": [{"type": "integer", "maximum": -3},
                                  {"type": "string", "minLength": 2, "maxLength": 3}]})";
    QTest::newRow("other members")
        << R"({"properties": {"ab": {"type": "null"}, "ax": {"type": "null"}},
               "required": ["ax", "zz"], "additionalProperties": {"type": "integer"}})";
    QTest::newRow("places") << R"({"type": "array", "prefixItems": [{"const": 1}, {"const": "x"}],
                                  "items": {"type": "boolean"}, "minItems": 1, "maxItems": 4})";
}

void SchemaGrammarTest::whateverIsWrittenFitsTheSchema() {
    QFETCH(QString, schema);
    const Json parsed = Json::parse(schema.toStdString());
    auto graph = makeGrammarGraph({GrammarKind::Schema, schema.toStdString()});
    QVERIFY2(graph.hasValue(), graph.hasValue() ? "" : graph.error().message.c_str());
    GrammarMatcher matcher(std::move(graph).value());
    std::mt19937 random(11);
    for (int i = 0; i < 400; ++i) {
        const std::string text = randomText(matcher, random);
        const Json value = Json::parse(text, nullptr, false);
        QVERIFY2(!value.is_discarded(), text.c_str());
        QVERIFY2(fits(value, parsed, parsed), text.c_str());
    }
}

void SchemaGrammarTest::integersKeepTheirBounds() {
    for (const auto& [least, most] : std::vector<std::pair<int, int>>{
             {0, 0}, {-5, 5}, {7, 123}, {-1234, -99}, {99, 100}, {-1, 2000}, {1, 9}, {200, 399}}) {
        GrammarWalk walk(
            {GrammarKind::Schema,
             fmt::format(R"({{"type": "integer", "minimum": {}, "maximum": {}}})", least, most)});
        for (int value = -2500; value <= 2500; ++value)
            QVERIFY2(walk.accepts(std::to_string(value)) == (value >= least && value <= most),
                     fmt::format("{} in {} to {}", value, least, most).c_str());
    }
    GrammarWalk above({GrammarKind::Schema, R"({"type": "integer", "exclusiveMinimum": 2.5})"});
    QVERIFY(!above.accepts("2") && above.accepts("3") && above.accepts("9999999999999999"));
    GrammarWalk below({GrammarKind::Schema, R"({"type": "integer", "exclusiveMaximum": -3})"});
    QVERIFY(!below.accepts("-3") && below.accepts("-4") && !below.accepts("4"));
}

void SchemaGrammarTest::numbersKeepTheirBounds() {
    using Bounds = std::pair<double, double>; // in steps of 0.05 above and below
    for (const auto& [least, most] : std::vector<Bounds>{{-2.5, 1.25},
                                                         {0.1, 0.35},
                                                         {-0.05, 0.05},
                                                         {0.5, 0.5},
                                                         {-1.0, -0.15},
                                                         {9.95, 10.05},
                                                         {-10.0, -9.9},
                                                         {0.0, 20.0}})
        for (const bool isOpen : {false, true}) {
            if (isOpen && least == most)
                continue; // nothing is between them
            GrammarWalk walk({GrammarKind::Schema,
                              fmt::format(R"({{"type": "number", "{}": {}, "{}": {}}})",
                                          isOpen ? "exclusiveMinimum" : "minimum",
                                          least,
                                          isOpen ? "exclusiveMaximum" : "maximum",
                                          most)});
            for (int step = -600; step <= 600; ++step) {
                const double value = std::stod(fmt::format("{:.2f}", step * 0.05));
                const bool isIn =
                    isOpen ? value > least && value < most : value >= least && value <= most;
                if (value == 0.0 && step < 0)
                    continue; // a negative zero is left out
                QVERIFY2(walk.accepts(fmt::format("{:.2f}", value + 0.0)) == isIn,
                         fmt::format("{} in {} to {}", value, least, most).c_str());
                if (step % 20 == 0)
                    QCOMPARE(walk.accepts(fmt::format("{:.0f}", value + 0.0)), isIn);
            }
        }
    GrammarWalk above({GrammarKind::Schema, R"({"type": "number", "exclusiveMinimum": 0.3})"});
    QVERIFY(above.accepts("0.3000000000000001") && !above.accepts("0.3000") &&
            above.accepts("9999999999999999.9"));
    GrammarWalk small({GrammarKind::Schema, R"({"type": "number", "maximum": 1e-300})"});
    QVERIFY(small.accepts("0.0") && !small.accepts("0.0000000000000001") && small.accepts("-7"));
    GrammarWalk large({GrammarKind::Schema, R"({"type": "number", "maximum": 1e300})"});
    QVERIFY(large.accepts("9999999999999999.5"));
}

void SchemaGrammarTest::multiplesAreTheMultiples() {
    for (const auto& [bounds, least, most] : std::vector<std::tuple<std::string, int, int>>{
             {"", -9999, 9999},
             {R"("minimum": 0,)", 0, 9999},
             {R"("minimum": 1,)", 1, 9999},
             {R"("minimum": -50, "maximum": 75.5,)", -50, 75}})
        for (const int multiple : {2, 7, 10, 96}) {
            GrammarWalk walk(
                {GrammarKind::Schema,
                 fmt::format(R"({{"type": "integer", {} "multipleOf": {}}})", bounds, multiple)});
            for (int value = -1000; value <= 1000; ++value)
                QVERIFY2(walk.accepts(std::to_string(value)) ==
                             (value % multiple == 0 && value >= least && value <= most),
                         fmt::format("{} of {} {}", value, multiple, bounds).c_str());
        }
    GrammarWalk cents({GrammarKind::Schema, R"({"type": "number", "multipleOf": 0.01})"});
    QVERIFY(cents.accepts("3.25") && cents.accepts("-3") && !cents.accepts("3.255"));
    GrammarWalk whole({GrammarKind::Schema, R"({"type": "number", "multipleOf": 1})"});
    QVERIFY(whole.accepts("3") && !whole.accepts("3.5"));
}

void SchemaGrammarTest::whatIsNotSupportedIsRefusedByName_data() {
    QTest::addColumn<QString>("schema");
    QTest::addColumn<QString>("reason");
    QTest::newRow("no JSON") << "{"
                             << "the JSON schema";
    QTest::newRow("no schema") << "3"
                               << "at #: a schema is an object, true or false";
    QTest::newRow("unknown word") << R"({"type": "array", "uniqueItems": true})"
                                  << "at #: \"uniqueItems\" is not supported here";
    QTest::newRow("place") << R"({"properties": {"a/b": {"type": "string", "contains": 1}}})"
                           << "at #/properties/a~1b: \"contains\" is not supported here";
    QTest::newRow("outer reference") << R"({"$ref": "http://example.org/a"})"
                                     << "\"http://example.org/a\" leads out of the document";
    QTest::newRow("no place") << R"({"$ref": "#/$defs/none"})"
                              << "leads to nothing";
    QTest::newRow("overlap") << R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})"
                             << "one value may fit two of these";
    QTest::newRow("type") << R"({"type": "text"})"
                          << "it is not the name of a JSON type";
    QTest::newRow("names by pattern") << R"({"patternProperties": {"^a": {}}})"
                                      << "\"patternProperties\" is not supported here";
    QTest::newRow("a bound that is none") << R"({"type": "number", "maximum": "3"})"
                                          << "\"maximum\" is not a number";
    QTest::newRow("bounds that contradict") << R"({"type": "number", "minimum": 2, "maximum": 1.5})"
                                            << "allows no text at all";
    QTest::newRow("multiples of a part") << R"({"type": "number", "multipleOf": 0.25})"
                                         << "only \"multipleOf\" 1, 0.1, 0.01 and so on";
    QTest::newRow("multiples of much") << R"({"type": "integer", "multipleOf": 12345})"
                                       << "\"multipleOf\" is supported up to 100, or between";
    QTest::newRow("multiples of nothing") << R"({"type": "integer", "multipleOf": 0})"
                                          << "\"multipleOf\" is supported when it is whole";
    QTest::newRow("all of no list") << R"({"allOf": {"type": "null"}})"
                                    << "at #/allOf: it is not a list of schemas";
    QTest::newRow("all of, unknown word") << R"({"allOf": [{"not": {}}]})"
                                          << "at #/allOf/0: \"not\" is not supported here";
    QTest::newRow("all of, two patterns")
        << R"({"type": "string", "allOf": [{"pattern": "^a$"}, {"pattern": "^b$"}]})"
        << "two different \"pattern\" together are not supported";
    QTest::newRow("all of, places beside items")
        << R"({"allOf": [{"items": {"type": "integer"}},
                         {"items": true, "prefixItems": [{"type": "string"}]}]})"
        << "at #/allOf/1: \"prefixItems\" beside items of another schema is not supported";
    QTest::newRow("all of, contradiction") << R"({"allOf": [{"type": "null"}, {"type": "string"}]})"
                                           << "allows no text at all";
    QTest::newRow("all of, loop") << R"({"allOf": [{"$ref": "#"}, {"type": "null"}]})"
                                  << "\"allOf\" refers to itself endlessly";
    QTest::newRow("all of, loop of choices")
        << R"({"allOf": [{"anyOf": [{"$ref": "#"}, {"type": "null"}]}, {"type": "null"}]})"
        << "refers to itself before anything is read";
    QTest::newRow("required that is no list") << R"({"type": "object", "required": "a"})"
                                              << "at #/required: it is not a list of names";
    QTest::newRow("required numbers") << R"({"type": "object", "required": [1]})"
                                      << "at #/required: it is not a list of names";
    QTest::newRow("all of, required that is no list")
        << R"({"allOf": [{"type": "object", "properties": {"a": {}}, "required": "a"}]})"
        << "at #/allOf/0/required: it is not a list of names";
    QTest::newRow("all of, required numbers") << R"({"allOf": [{"required": [5]}]})"
                                              << "at #/allOf/0/required: it is not a list of names";
    QTest::newRow("a reference beside a list of properties")
        << R"({"$ref": "#/$defs/n", "properties": ["a"], "$defs": {"n": {"type": "object"}}})"
        << "at #/properties: it is not an object of schemas";
    QTest::newRow("pattern without an end") << R"({"type": "string", "pattern": "^abc\\$"})"
                                            << "begins with ^ and ends with $";
    QTest::newRow("pattern with a bracket too many")
        << R"({"type": "string", "pattern": "^a)(?:b$"})"
        << "at byte 2: there is a ) without a (";
    QTest::newRow("pattern that is no text") << R"({"type": "string", "pattern": 5})"
                                             << "at #/pattern: it is not a text";
    QTest::newRow("format that is no text") << R"({"type": "string", "format": [5]})"
                                            << "at #/format: it is not a text";
    QTest::newRow("pattern") << R"({"type": "string", "pattern": "a+"})"
                             << "begins with ^ and ends with $";
    QTest::newRow("format") << R"({"type": "string", "format": "email"})"
                            << "the format \"email\" is not supported";
    QTest::newRow("loop") << R"({"$ref": "#"})"
                          << "allows no text at all";
    QTest::newRow("left loop") << R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})"
                               << "refers to itself before anything is read";
    QTest::newRow("endless") << R"({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})"
                             << "allows no text at all";
    QTest::newRow("contradiction") << R"({"type": "array", "minItems": 3, "maxItems": 2})"
                                   << "allows no text at all";
    QTest::newRow("false") << "false"
                           << "allows no text at all";
    std::string chain = R"({"$ref": "#/$defs/0", "$defs": {)";
    for (int i = 0; i < 20'000; ++i)
        chain += fmt::format(R"("{}": {{"$ref": "#/$defs/{}"}}, )", i, i + 1);
    QTest::newRow("long chain") << QString::fromStdString(chain + R"("20000": true}})")
                                << "more than 300 schemas lead one to the next";
    QTest::newRow("large") << R"({"type": "string", "minLength": 900000})"
                           << "is too large";
}

void SchemaGrammarTest::whatIsNotSupportedIsRefusedByName() {
    QFETCH(QString, schema);
    QFETCH(QString, reason);
    const auto graph = makeGrammarGraph({GrammarKind::Schema, schema.toStdString()});
    QVERIFY(!graph);
    QCOMPARE(graph.error().code, ErrorCode::InvalidInput);
    const QString message = QString::fromStdString(graph.error().message);
    QVERIFY2(message.contains(reason), qPrintable(message));
    QVERIFY(!graph.error().hint.empty());
}

QTEST_APPLESS_MAIN(SchemaGrammarTest)
#include "schema_grammar_test.moc"
