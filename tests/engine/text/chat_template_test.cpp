// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_template.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> readLines(const std::filesystem::path& path) {
    std::ifstream stream(path);
    std::vector<Json> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(Json::parse(line));
    return lines;
}

std::filesystem::path goldenFolder() {
    return std::filesystem::path(SWIFT_STUDIO_SHARED_DIR) / "golden" / "chat_templates";
}

Result<std::string> rendered(const std::string& source, const Json& variables) {
    ENGINE_TRY(const ChatTemplate compiled, ChatTemplate::compile(source, "a test"));
    return compiled.render(variables);
}

std::string errorOf(const std::string& source, const Json& variables = Json::object()) {
    const auto text = rendered(source, variables);
    return text ? "rendered: " + text.value() : text.error().message;
}

/// Why a case of a file does not hold; empty when it does.
std::string fault(const std::string& source, const Json& variables, const Json& expected) {
    const auto text = rendered(source, variables);
    if (expected.contains("error"))
        return !text && text.error().message == expected["error"].get<std::string>()
                   ? ""
                   : source + "\nis not refused with: " + expected["error"].dump();
    if (expected.contains("fails"))
        return text ? source + "\nshould fail and gives: " + text.value() : "";
    if (!text)
        return source + "\n" + text.error().message;
    return text.value() == expected["output"].get<std::string>()
               ? ""
               : source + "\ngives: " + Json(text.value()).dump() +
                     "\nnot:   " + expected["output"].dump();
}

/// A published template, with what strftime_now gives at noon of 22 November 2026 in place of every
/// call: that is when the expected outputs were made.
std::string publishedTemplate(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream source;
    source << stream.rdbuf();
    std::string text = source.str();
    std::tm noon{};
    noon.tm_year = 126;
    noon.tm_mon = 10;
    noon.tm_mday = 22;
    noon.tm_hour = 12;
    const std::regex call("strftime_now\\(([\"'])(.*?)\\1\\)");
    for (std::smatch found; std::regex_search(text, found, call);) {
        char date[100];
        const std::string format = found[2];
        const std::string literal(date, std::strftime(date, sizeof date, format.c_str(), &noon));
        text = found.prefix().str() + "'" + literal + "'" + found.suffix().str();
    }
    return text;
}

std::string withoutHtmlEscapes(const std::string& text) {
    const std::pair<const char*, const char*> escapes[] = {
        {"&#34;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
    std::string plain = text;
    for (const auto& [escape, character] : escapes)
        plain = std::regex_replace(plain, std::regex(escape), character);
    return plain;
}

/// Why a case of a published template does not hold; the wording of errors is free.
std::string publishedFault(const std::string& source, const Json& one) {
    Json expected = one;
    // jinja2 escapes this template's JSON for HTML, since it marks a text beside it as safe.
    if (one["template"] == "meetkai-functionary-medium-v3.1" && one.contains("output"))
        expected["output"] = withoutHtmlEscapes(one["output"]);
    if (expected.erase("error") > 0)
        expected["fails"] = true;
    return fault(source, one["input"], expected);
}

} // namespace

/// The template language against what Python's jinja2 makes of the same templates.
class ChatTemplateTest : public QObject {
    Q_OBJECT

private slots:

    void everyGoldenCaseRendersByteForByte() {
        if (!std::filesystem::exists(goldenFolder()))
            QSKIP("no golden data beside the checkout");
        const auto cases = readLines(goldenFolder() / "cases.jsonl");
        QVERIFY(cases.size() > 100);
        for (const Json& one : cases) {
            const std::string why = fault(one["template"], one["input"], one);
            QVERIFY2(why.empty(), why.c_str());
        }
    }

    void everyPublishedTemplateRendersByteForByte() {
        const auto folder = goldenFolder() / "real";
        if (!std::filesystem::exists(folder))
            QSKIP("no golden data beside the checkout");
        std::map<std::string, std::string> sources;
        const auto cases = readLines(folder / "real.jsonl");
        for (const Json& one : cases) {
            const std::string name = one["template"];
            if (!sources.contains(name))
                sources[name] = publishedTemplate(folder / (name + ".jinja"));
            const std::string why = publishedFault(sources[name], one);
            QVERIFY2(why.empty(),
                     (name + ", " + one["case"].get<std::string>() + "\n" + why).c_str());
        }
        QVERIFY(cases.size() > 500);
        QVERIFY(sources.size() > 50);
    }

    void theDefaultModelsTemplateRendersByteForByte() {
        if (!std::filesystem::exists(goldenFolder()))
            QSKIP("no golden data beside the checkout");
        std::ifstream stream(goldenFolder() / "golden.json");
        const std::string source = Json::parse(stream)["smollm2_template"];
        const auto cases = readLines(goldenFolder() / "smollm2.jsonl");
        QVERIFY(!cases.empty());
        for (const Json& one : cases) {
            const std::string why = fault(source, one["input"], one);
            QVERIFY2(why.empty(), why.c_str());
        }
    }

    void ourOwnTemplatesRenderAsJinja2RendersThem() {
        const auto lines = readLines(std::filesystem::path(SWIFT_STUDIO_TEST_DATA_DIR) /
                                     "chat_templates" / "jinja2_cases.jsonl");
        QVERIFY(lines.size() > 200);
        for (std::size_t i = 1; i < lines.size(); ++i) {
            const std::string why = fault(lines[i]["template"], lines[0]["input"], lines[i]);
            QVERIFY2(why.empty(), why.c_str());
        }
    }

    void raisedExceptionsKeepTheirWords() {
        const auto text =
            rendered("a\n{{ raise_exception('roles must ' ~ what) }}", Json{{"what", "alternate"}});
        QVERIFY(!text);
        QCOMPARE(text.error().message, std::string("roles must alternate"));
        QVERIFY(text.error().hint.find("line 2") != std::string::npos);
    }

    void errorsNameTheTemplateAndTheLine() {
        QCOMPARE(errorOf("a\n\n{{ x.y }}"),
                 std::string("the chat template of a test fails in line 3: 'x' is undefined"));
        QCOMPARE(errorOf("{% if true %}\n {{ 'a' + 1 }}\n{% endif %}"),
                 std::string("the chat template of a test fails in line 2: can only concatenate "
                             "str (not \"int\") to str"));
        QCOMPARE(errorOf("ab\n é {{ 1 + }}"),
                 std::string("the chat template of a test cannot be used: line 2, column 11: '}}' "
                             "is unexpected here"));
    }

    void whatIsNotSupportedIsNamed() {
        const std::pair<const char*, const char*> cases[] = {
            {"{% include 'x' %}", "the tag 'include' is not supported"},
            {"{% extends 'x' %}", "the tag 'extends' is not supported"},
            {"{{ 1 | xmlattr }}", "the filter 'xmlattr' is not supported"},
            {"{{ 1 is prime }}", "the test 'prime' is not supported"},
            {"{% for x in y recursive %}{% endfor %}", "recursive loops are not supported"},
            {"{% raw %}{% endraw %}", "the tag 'raw' is not supported"},
            {"{% call m() %}{% endcall %}", "the tag 'call' is not supported"},
            {"{% with a = 1 %}{% endwith %}", "the tag 'with' is not supported"},
            {"{{ [1] | batch(2) }}", "the filter 'batch' is not supported"},
            {"{{ 1 is divisibleby 3 }}", "the test 'divisibleby' is not supported"},
            {"{{ '\\101' }}", "the escape \\1 in a text is not supported"},
        };
        for (const auto& [source, words] : cases) {
            const auto compiled = ChatTemplate::compile(source, "a test");
            QVERIFY2(!compiled, source);
            QVERIFY2(compiled.error().message.find(words) != std::string::npos,
                     compiled.error().message.c_str());
            QVERIFY2(compiled.error().code == ErrorCode::Unsupported, source);
        }
    }

    void whatIsNotSupportedAndOnlySeenWhenItIsReachedIsNamed() {
        const std::pair<const char*, const char*> cases[] = {
            {"{{ 'a'.zfill(3) }}", "'str' has no attribute 'zfill'"},
            {"{{ [1].index(1) }}", "'list' has no attribute 'index'"},
            {"{{ joiner(',') }}", "'joiner' is undefined"},
            {"{{ [1] | map('batch') | list }}", "the filter 'batch' is not supported"},
            {"{{ [1] | select('divisibleby', 2) | list }}",
             "the test 'divisibleby' is not supported"},
            {"{{ [1] | sort(reverse=true) }}", "sort() takes an attribute and nothing else"},
            {"{{ {} | tojson(sort_keys=true) }}", "unexpected keyword argument 'sort_keys'"},
            {"{{ '%5.2f' % 1.5 }}", "'%5' in a text is not supported"},
            {"{{ 1.5 ** 2 }}", "** of numbers with a fraction is not supported"},
            {"{{ namespace(a=1) }}", "a Namespace cannot be printed"},
            {"{{ {(1, 2): 3} }}", "unhashable type: 'tuple'"},
            {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "not more than 1 argument"},
        };
        for (const auto& [source, words] : cases) {
            const std::string message = errorOf(source);
            QVERIFY2(message.find(words) != std::string::npos, message.c_str());
        }
    }

    void anUnknownFilterThatIsNeverReachedDoesNoHarm() {
        const auto text = rendered("{% if false %}{{ 1 | xmlattr }}{% endif %}b", Json::object());
        QVERIFY(text);
        QCOMPARE(text.value(), std::string("b"));
    }

    void listsAndDictsCannotBeChanged() {
        const Json variables = {{"l", {1, 2}}, {"d", {{"a", 1}}}};
        for (const char* call : {"l.append(3)", "l.pop()", "d.update({})", "d.pop('a')"}) {
            const std::string message = errorOf("{{ " + std::string(call) + " }}", variables);
            QVERIFY2(message.find("is unsafe") != std::string::npos, message.c_str());
        }
    }

    void nothingOfTheHostIsReachable() {
        const std::string source = "{{ ''.__class__ }}{{ x.__init__ }}{{ range.__globals__ }}"
                                   "{{ self }}{{ config }}";
        const auto text = rendered(source, Json{{"x", {1}}});
        QVERIFY(text);
        QCOMPARE(text.value(), std::string());
        QVERIFY(!rendered("{{ ''.__class__.__mro__ }}", Json::object()));
    }

    void timeIsTheLocalTimeNow() {
        const auto text = rendered("{{ strftime_now('%Y|%%|%d') }}", Json::object());
        QVERIFY(text);
        const QString shown = QString::fromStdString(text.value());
        QVERIFY2(shown.startsWith(QDate::currentDate().toString("yyyy|%|")), text.value().c_str());
    }

    void variablesMustBeAnObject() {
        const auto compiled = ChatTemplate::compile("a", "a test");
        QVERIFY(compiled);
        QVERIFY(!compiled.value().render(Json::array()));
    }

    void aTemplateRendersTwiceTheSame() {
        const auto compiled = ChatTemplate::compile(
            "{% set n = namespace(i=0) %}{% for x in [1,2] %}{% set n.i = n.i + x %}{% endfor %}"
            "{{ n.i }}",
            "a test");
        QVERIFY(compiled);
        for (int i = 0; i < 2; ++i)
            QCOMPARE(compiled.value().render(Json::object()).value(), std::string("3"));
    }
};

QTEST_APPLESS_MAIN(ChatTemplateTest)
#include "chat_template_test.moc"
