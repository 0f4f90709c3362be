// SPDX-License-Identifier: Apache-2.0
#include "engine/text/builtin_templates.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

constexpr std::string_view kChatMl = R"({% for message in messages %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{% if add_generation_prompt %}
{{ '<|im_start|>assistant\n' }}
{%- endif %})";

constexpr std::string_view kLlama3 = R"({{ bos_token }}
{%- for message in messages %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' -}}
{{ message.content | trim }}<|eot_id|>
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})";

// The system's words stand inside the first user turn, as the models were trained.
constexpr std::string_view kLlama2 = R"({% set turns = namespace(system='') %}
{% for message in messages %}
{% if message.role == 'system' %}
{% set turns.system = '<<SYS>>\n' + message.content | trim + '\n<</SYS>>\n\n' %}
{% elif message.role == 'user' %}
{{ bos_token + '[INST] ' + turns.system + message.content | trim + ' [/INST]' }}
{%- set turns.system = '' %}
{% else %}
{{ ' ' + message.content | trim + ' ' + eos_token }}
{%- endif %}
{% endfor %})";

constexpr std::string_view kMistral = R"({% set turns = namespace(system='') %}
{{ bos_token }}
{%- for message in messages %}
{% if message.role == 'system' %}
{% set turns.system = message.content | trim + '\n\n' %}
{% elif message.role == 'user' %}
{{ '[INST] ' + turns.system + message.content | trim + ' [/INST]' }}
{%- set turns.system = '' %}
{% else %}
{{ ' ' + message.content | trim + eos_token }}
{%- endif %}
{% endfor %})";

// The system's words begin the first user turn, as in the published templates of Gemma 3; those of
// Gemma 2 refuse them.
constexpr std::string_view kGemma = R"({% set turns = namespace(system='') %}
{{ bos_token }}
{%- for message in messages %}
{% if message.role == 'system' %}
{% set turns.system = message.content + '\n\n' %}
{% else %}
{% set role = 'model' if message.role == 'assistant' else message.role %}
{{ '<start_of_turn>' + role + '\n' + turns.system + message.content | trim + '<end_of_turn>\n' }}
{%- set turns.system = '' %}
{% endif %}
{% endfor %}
{% if add_generation_prompt %}
{{ '<start_of_turn>model\n' }}
{%- endif %})";

constexpr std::string_view kPhi3 = R"({% for message in messages %}
{% if message.role != 'system' or message.content %}
{{ '<|' + message.role + '|>\n' + message.content + '<|end|>\n' }}
{%- endif %}
{% endfor %}
{{ '<|assistant|>\n' if add_generation_prompt else eos_token }})";

// Without the words and the date that the published templates say for a system that says nothing.
constexpr std::string_view kGranite = R"({% for message in messages %}
{{ '<|start_of_role|>' + message.role + '<|end_of_role|>' + message.content + '<|end_of_text|>\n' }}
{%- endfor %}
{% if add_generation_prompt %}
{{ '<|start_of_role|>assistant<|end_of_role|>' }}
{%- endif %})";

constexpr std::string_view kDeepSeek = R"({% set turns = namespace(system='') %}
{% for message in messages if message.role == 'system' %}
{% set turns.system = turns.system + message.content %}
{% endfor %}
{{ bos_token + turns.system }}
{%- for message in messages %}
{% if message.role == 'user' %}
{{ '<｜User｜>' + message.content }}
{%- elif message.role == 'assistant' %}
{{ '<｜Assistant｜>' + message.content + eos_token }}
{%- endif %}
{% endfor %}
{% if add_generation_prompt %}
{{ '<｜Assistant｜>' }}
{%- endif %})";

constexpr std::string_view kDeepSeekCoder = R"({{ bos_token }}
{%- for message in messages %}
{% if message.role == 'user' %}
{{ '### Instruction:\n' + message.content + '\n' }}
{%- elif message.role == 'assistant' %}
{{ '### Response:\n' + message.content + '\n<|EOT|>\n' }}
{%- else %}
{{ message.content + '\n' }}
{%- endif %}
{% endfor %}
{% if add_generation_prompt %}
{{ '### Response:\n' }}
{%- endif %})";

// DeepSeek's first chat models, and a form that models without any chat training follow best.
constexpr std::string_view kPlainTurns = R"({{ bos_token }}
{%- for message in messages %}
{% if message.role == 'user' %}
{{ 'User: ' + message.content + '\n\n' }}
{%- elif message.role == 'assistant' %}
{{ 'Assistant: ' + message.content + eos_token }}
{%- else %}
{{ message.content + '\n\n' }}
{%- endif %}
{% endfor %}
{% if add_generation_prompt %}
{{ 'Assistant:' }}
{%- endif %})";

// The first whose marker the vocabulary has is taken: the most telling tokens come first.
constexpr std::array kByMarker = {
    BuiltinTemplate{"ChatML", "<|im_start|>", kChatMl},
    BuiltinTemplate{"Llama 3", "<|start_header_id|>", kLlama3},
    BuiltinTemplate{"Gemma", "<start_of_turn>", kGemma},
    BuiltinTemplate{"Granite", "<|start_of_role|>", kGranite},
    BuiltinTemplate{"Phi-3", "<|placeholder1|>", kPhi3}, // other models have its <|user|>, too
    BuiltinTemplate{"DeepSeek", "<｜User｜>", kDeepSeek},
    BuiltinTemplate{"DeepSeek-Coder", "<|EOT|>", kDeepSeekCoder},
    BuiltinTemplate{"DeepSeek LLM", "<｜begin▁of▁sentence｜>", kPlainTurns},
    BuiltinTemplate{"Mistral", "[INST]", kMistral},
    BuiltinTemplate{"Llama 2", "</s>", kLlama2},
};

constexpr BuiltinTemplate kOldMistral{"Mistral", "</s>", kMistral};
constexpr BuiltinTemplate kNoMarker{"plain turns", "", kPlainTurns};

} // namespace

const BuiltinTemplate& builtinTemplateFor(const Tokenizer& tokenizer,
                                          std::string_view architecture) {
    const auto* found =
        std::find_if(kByMarker.begin(), kByMarker.end(), [&](const BuiltinTemplate& candidate) {
            return tokenizer.findToken(candidate.marker) != kNoToken;
        });
    if (found == kByMarker.end())
        return kNoMarker;
    const bool isOldVocabulary = found->marker == kOldMistral.marker;
    return isOldVocabulary && architecture == "mistral" ? kOldMistral : *found;
}

} // namespace engine
