// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_template.h"
#include "tests/support/programs/allocation_counter.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace engine;

namespace {

constexpr std::size_t kMaxExtraBytes = std::size_t(64) << 20U;

struct Attack {
    const char* name;
    std::string source;
    const char* expected; ///< part of the error message
};

std::string repeated(const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
        out += text;
    return out;
}

std::string grown(const std::string& start, const std::string& step, int rounds) {
    return "{% set n = namespace(x=" + start + ") %}{% for i in range(" + std::to_string(rounds) +
           ") %}{% set n.x = " + step + " %}{% endfor %}";
}

constexpr const char* kSteps = "it takes more than 1000000 steps";
constexpr const char* kText = "a text grows beyond 1000000 bytes";
constexpr const char* kNesting = "nested more than 200 deep";
constexpr const char* kValues = "values are nested more than 100 deep";
constexpr const char* kWide = "wider than a text may become";
constexpr const char* kCalls = "its parts call each other too deeply";
constexpr const char* kMacros = "macros call each other more than 64 deep";

std::vector<Attack> loopsAndMacros() {
    return {
        {"nested loops",
         "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
         kSteps},
        {"a giant range", "{{ range(10**12) }}", "a range has more than 100000 numbers"},
        {"ranges again and again",
         "{% for i in range(99999) %}{{ range(99999) | length }}{% endfor %}",
         kSteps},
        {"a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", kMacros},
        {"a default that calls its macro", "{% macro m(x=m()) %}{% endmacro %}{{ m() }}", kMacros},
        {"a deep macro that calls itself",
         "{% macro m(x) %}{% if 1 %}{% for i in [1] %}{{ [[[m([x])]]] | string | upper }}"
         "{% endfor %}{% endif %}{% endmacro %}{{ m(1) }}",
         kCalls},
        {"output without end",
         "{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
         "it writes more than 1000000 bytes"},
    };
}

std::vector<Attack> growingValues() {
    return {
        {"doubling a text", grown("'ab'", "n.x ~ n.x", 60), kText},
        {"doubling a list", grown("[1]", "n.x + n.x", 60), kSteps},
        {"a list in a list", grown("[1]", "[n.x]", 99999), kValues},
        {"methods of methods", grown("{}", "{'a': n.x.get}", 99999), kValues},
        {"printing a doubled tree", grown("[1]", "[n.x, n.x]", 60) + "{{ n.x }}", kText},
        {"JSON of a doubled tree", grown("[1]", "[n.x, n.x]", 60) + "{{ n.x | tojson }}", kText},
        {"a text times a number", "{{ 'a' * 10**18 }}", kText},
        {"a list times a number", "{{ [1] * 10**12 }}", kSteps},
        {"a power", "{{ 2 ** 2**40 }}", "an integer does not fit into 64 bits"},
        {"indenting", "{{ ('\\n' * 500000) | indent(100000) }}", kText},
        {"indenting JSON", "{{ [[1]] | tojson(indent=10**15) }}", "tojson indents by more"},
        {"a percent format", "{% set t = '%s' * 100000 %}{{ t % 'a' }}", "not enough arguments"},
        {"wide formats", "{{ ('%9999d' * 1000) % ((1,) * 1000) }}", kSteps},
        {"dicts of long keys",
         "{% set k = 'a' * 1000000 %}{% for i in range(9999) %}{% set d = dict([(k, 1)]) %}"
         "{% endfor %}",
         kSteps},
        {"dicts of many pairs",
         "{% set p = [('a', 1)] * 100000 %}{% for i in range(9999) %}{% set d = dict(p) %}"
         "{% endfor %}",
         kSteps},
        {"percent formats",
         "{% for i in range(9999) %}{% set t = '%s' % ('a' * 999999) %}{% endfor %}",
         kSteps},
        {"replacing", "{{ ('a' * 1000000).replace('a', 'b' * 1000000) }}", kText},
        {"joining", "{{ ('x' * 1000000).join(['a'] * 100000) }}", kText},
        {"the time", "{{ strftime_now('%9999999d') }}", "too long a text"},
        {"splitting", "{{ (',' * 1000000).split(',') | length }}", kSteps},
        {"sorting long texts",
         "{% set b = 'a' * 100000 %}{{ ([b ~ 1, b ~ 2] * 500) | sort | length }}",
         kSteps},
        {"casing long texts",
         "{% for i in range(1000) %}{{ (('aß' * 100000) | title) | length }}{% endfor %}",
         kSteps},
    };
}

std::vector<Attack> deepSources() {
    return {
        {"parentheses",
         "{{ " + repeated("(", 10000) + "1" + repeated(")", 10000) + " }}",
         kNesting},
        {"brackets", "{{ " + repeated("[", 10000) + "1" + repeated("]", 10000) + " }}", kNesting},
        {"ifs", repeated("{% if 1 %}", 10000) + repeated("{% endif %}", 10000), kNesting},
        {"nots", "{{ " + repeated("not ", 10000) + "1 }}", kNesting},
        {"minuses", "{{ " + repeated("- ", 10000) + "1 }}", kNesting},
        {"inline ifs", "{{ " + repeated("1 if 0 else ", 10000) + "1 }}", kNesting},
        {"sums", "{{ " + repeated("1 + ", 20000) + "1 }}", kCalls},
        {"attributes", "{{ x" + repeated(".a", 20000) + " }}", kCalls},
        {"filters", "{{ 1" + repeated(" | string", 20000) + " }}", kCalls},
        {"many parts", "{{ [" + repeated("1,", 300000) + "] }}", "more than 100000 parts"},
        {"withs", repeated("{% with %}", 10000) + repeated("{% endwith %}", 10000), kNesting},
        {"a raw block", "{% raw %}" + repeated("{% ", 300000), "'{% endraw %}' is missing"},
        {"a long name", "{{ " + repeated("a", 500000) + " }}", "a name is longer than 200 bytes"},
        {"a long template", repeated("x", 1000001), "1000001 bytes"},
    };
}

std::string outcome(const std::string& source) {
    const auto compiled = ChatTemplate::compile(source, "a test");
    if (!compiled)
        return compiled.error().message;
    const auto text = compiled.value().render({{"x", "s"}});
    return text ? "rendered " + std::to_string(text.value().size()) + " bytes"
                : text.error().message;
}

} // namespace

/// Templates that want to hang the program or to fill its memory: a clear error within two seconds
/// and 64 MB.
class ChatTemplateLimitsTest : public QObject {
    Q_OBJECT

private slots:

    void loopsAndMacrosEnd() { check(loopsAndMacros()); }

    void valuesStopGrowing() { check(growingValues()); }

    void deepAndLongSourcesAreRefused() { check(deepSources()); }

    void ringsAndChainsOfObjectsEndWell() {
        const std::pair<std::string, std::string> cases[] = {
            {grown("1", "namespace(p=n.x)", 9999), "rendered 0 bytes"},
            {"{% set n = namespace() %}{% set n.n = n %}{{ n }}", "a Namespace cannot be printed"},
            {"{% set n = namespace() %}{% macro m() %}{{ n }}{% endmacro %}{% set n.m = m %}",
             "rendered 0 bytes"},
            {"{% for i in [1, 2] %}{% if loop == loop %}a{% endif %}{% endfor %}",
             "rendered 2 bytes"},
        };
        for (const auto& [source, expected] : cases) {
            const std::string got = outcome(source);
            QVERIFY2(got.find(expected) != std::string::npos, (source + ": " + got).c_str());
        }
    }

    void searchingHostileTextsTakesLinearTime() {
        const support::ProcessorClock clock;
        const std::string got =
            outcome("{% set h = 'a' * 1000000 %}{% set w = 'a' * 500000 ~ 'b' %}"
                    "{{ w in h }} {{ ('a' * 200 ~ 'b') in h }} {{ h.replace(w, '') == h }} "
                    "{{ h.split(w) | length }}{{ h.rsplit(w, 1) | length }}"
                    "{{ h.rpartition('b' ~ w) | length }}");
        QCOMPARE(got, std::string("rendered 20 bytes"));
        QVERIFY2(clock.ms() < support::kEndsSoonMs, std::to_string(clock.ms()).c_str());
    }

    void limitsOfTheCallerHold() {
        const auto compiled = ChatTemplate::compile(
            "{% macro m(i) %}{{ m(i - 1) if i else 'end' }}{% endmacro %}{{ m(depth) }}", "a test");
        QVERIFY(compiled);
        TemplateLimits limits;
        limits.maxDepth = 5;
        QVERIFY(compiled.value().render({{"depth", 4}}, limits));
        QVERIFY(!compiled.value().render({{"depth", 5}}, limits));
        limits.maxOutputBytes = 2;
        QVERIFY(!compiled.value().render({{"depth", 1}}, limits));
        limits = {};
        limits.maxSteps = 10;
        QVERIFY(!compiled.value().render({{"depth", 4}}, limits));
    }

    void aLongConversationStaysWithinTheLimits() {
        auto messages = nlohmann::ordered_json::array();
        for (int i = 0; i < 400; ++i)
            messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"},
                                {"content", repeated("some words ", 180)}});
        const auto compiled = ChatTemplate::compile(
            "{%- for m in messages %}{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
            "{{ raise_exception('no') }}{%- endif %}{{- '<|' + m.role + '|>' + m.content | trim + "
            "'<|end|>\\n' }}{%- endfor %}",
            "a test");
        QVERIFY(compiled);
        const auto text = compiled.value().render({{"messages", messages}});
        QVERIFY2(text, text ? "" : text.error().message.c_str());
        QVERIFY(text.value().size() > 790'000);
    }

private:
    void check(const std::vector<Attack>& attacks) {
        for (const Attack& attack : attacks) {
            const support::ProcessorClock clock;
            const test_support::PeakAllocation peak;
            const std::string got = outcome(attack.source);
            QVERIFY2(peak.bytes() <= attack.source.size() + kMaxExtraBytes, attack.name);
            QVERIFY2(clock.ms() < support::kEndsSoonMs,
                     (attack.name + std::string(": ms ") + std::to_string(clock.ms())).c_str());
            QVERIFY2(got.find(attack.expected) != std::string::npos,
                     (attack.name + std::string(": ") + got.substr(0, 300)).c_str());
        }
    }
};

QTEST_APPLESS_MAIN(ChatTemplateLimitsTest)
#include "chat_template_limits_test.moc"
