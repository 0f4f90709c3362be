// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_template.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/programs/damaged_bytes.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace engine;
using namespace test_support;

namespace {

constexpr int kFlips = 2000;
constexpr std::uint64_t kSeed = 20250717;
constexpr std::size_t kMaxExtraBytes = std::size_t(64) << 20U;

// Uses most of the language in a few lines.
constexpr const char* kTemplate = R"({#- a comment -#}
{%- macro typeName(spec, indent=0) -%}
  {%- set known = {'string': 'text', 'number': "number\t\u00e9", 'list': [1, 2.5, none]} -%}
  {%- if known[spec.type] is defined -%}
    {{- '  ' * indent ~ known[spec.type] -}}
  {%- elif spec.type is iterable and spec.type is not string -%}
    {{- spec.type | map('upper') | join(' | ') -}}
  {%- else -%}
    any
  {%- endif -%}
{%- endmacro -%}
{% set state = namespace(turns=0, last='', parts=[]) %}
{% if messages[0]['role'] == 'system' %}
  {% set system = messages[0].content | trim %}
  {% set rest = messages[1:] %}
{% else %}
  {% set system, rest = 'You are kind.', messages %}
{% endif %}
{{ bos_token }}{{ system | replace('\n', ' ') | indent(2) }}
{% for tool in tools or [] %}
- {{ tool.function.name }}({% for key, spec in tool.function.parameters.properties.items() %}
{{- key }}: {{ typeName(spec, indent=1) }}{{ ', ' if not loop.last }}{% endfor %})
{{ tool | tojson(indent=2) }}
{% else %}
no tools
{% endfor %}
{% for m in rest if m.role != 'tool' %}
  {%- if (m.role == 'user') != (loop.index0 % 2 == 0) and not lenient %}
    {{- raise_exception('roles must alternate: ' ~ m.role) }}
  {%- endif %}
  {%- set state.turns = state.turns + 1 %}
  {%- set text = m.content.split('</think>')[-1].lstrip('\n') if m.content is string else '' %}
  {%- if text | length > 10 ** 3 or loop.index > 50 %}{% break %}{% endif %}
  {{- '<|%s|>' % m.role + text[:200].strip() ~ eos_token }}
{% endfor %}
{% set shout %}{{ rest | selectattr('role', 'equalto', 'user') | list | length }}!{% endset %}
{% filter upper %}{{ shout }} {{ state.turns // 2 }}{% endfilter %}
{% generation %}{% set x = (1, 2, 3)[::-1] %}{{ x }}{{ x | sort | first }}{% endgeneration %}
{{- '%d|%s' % (state.turns, ['q']) }}
{%- if add_generation_prompt %}<|assistant|>{% endif %}
)";

nlohmann::ordered_json variables() {
    return nlohmann::ordered_json::parse(R"({"bos_token": "<s>", "eos_token": "</s>",
        "add_generation_prompt": true, "messages": [
        {"role": "system", "content": " Be terse. "}, {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "<think>a</think>\n\nHello"},
        {"role": "user", "content": "Gr\u00fc\u00dfe"}],
        "tools": [{"function": {"name": "add", "parameters": {"properties": {
        "a": {"type": "number"}, "b": {"type": ["x", "y"]}, "c": {"type": "z"}}}}}]})");
}

Result<std::string> rendered(const std::string& source) {
    ENGINE_TRY(const ChatTemplate compiled, ChatTemplate::compile(source, "a test"));
    return compiled.render(variables());
}

} // namespace

/// Every cut and 2,000 bit flips of a template: an error or a text, within two seconds and 64 MB.
class DamagedTemplatesTest : public QObject {
    Q_OBJECT

private slots:

    void theWholeTemplateRenders() {
        QVERIFY(std::string(kTemplate).size() <= 4096);
        const auto text = rendered(kTemplate);
        QVERIFY2(text, text ? "" : text.error().message.c_str());
        QVERIFY2(text.value().ends_with("(3, 2, 1)13|['q']<|assistant|>"), text.value().c_str());
    }

    void everyCutEndsWell() {
        int refused = 0;
        forEachCut(kTemplate,
                   [&](const std::string& damaged, std::size_t) { refused += survives(damaged); });
        QVERIFY2(refused > 1000, std::to_string(refused).c_str());
    }

    void everyBitFlipEndsWell() {
        int refused = 0;
        forEachFlip(kTemplate, kFlips, kSeed, [&](const std::string& damaged, std::size_t) {
            refused += survives(damaged);
        });
        QVERIFY2(refused > 500, std::to_string(refused).c_str());
    }

private:
    /// 1 when the damage was noticed.
    static int survives(const std::string& damaged) {
        const support::ProcessorClock clock;
        const PeakAllocation peak;
        const auto text = rendered(damaged);
        [&] {
            QVERIFY2(peak.bytes() <= damaged.size() + kMaxExtraBytes, damaged.c_str());
            QVERIFY2(clock.ms() < support::kEndsSoonMs, damaged.c_str());
            QVERIFY2(text || text.error().message.size() > 10, damaged.c_str());
        }();
        return text ? 0 : 1;
    }
};

QTEST_APPLESS_MAIN(DamagedTemplatesTest)
#include "damaged_templates_test.moc"
