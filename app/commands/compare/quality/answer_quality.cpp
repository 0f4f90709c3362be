// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/quality/answer_quality.h"

#include "engine/experiments/task_quality.h"

#include <algorithm>

namespace app {

using namespace engine;

namespace {

enum Score : std::size_t { kRouge1, kRouge2, kRougeL, kExactMatch, kPassAt1 };

/// The name behind the last "def " at the beginning of a line; empty without one.
std::string lastFunction(const std::string& code) {
    const std::string marked = "\n" + code;
    const std::size_t at = marked.rfind("\ndef ");
    if (at == std::string::npos)
        return {};
    const std::size_t from = at + 5;
    return marked.substr(from, marked.find_first_of("( :\n", from) - from);
}

/// The content of the first block of Markdown; the text itself without one.
std::string codeIn(const std::string& text) {
    const std::size_t fence = text.find("```");
    if (fence == std::string::npos)
        return text;
    const std::size_t from = std::min(text.find('\n', fence), text.size());
    return text.substr(from, text.find("```", from) - from);
}

/// Up to the first line that is not indented, where the function has ended.
std::string bodyIn(const std::string& text) {
    std::size_t line = 0;
    while (line < text.size()) {
        const std::size_t end = std::min(text.find('\n', line), text.size());
        const char first = text[line];
        if (line > 0 && first != '\n' && first != ' ' && first != '\t' && first != '\r')
            return text.substr(0, line);
        line = end + 1;
    }
    return text;
}

} // namespace

std::optional<CodeTrial> codeTrial(const DataRecord& record, const std::string& answer) {
    const std::string& prompt = record.turns.front();
    CodeTrial trial{.program = {},
                    .test = record.test,
                    .examples = prompt,
                    .entryPoint =
                        record.entryPoint.empty() ? lastFunction(prompt) : record.entryPoint};
    const bool hasTest = !trial.test.empty() && !trial.entryPoint.empty();
    if (!hasTest && prompt.find(">>> ") == std::string::npos)
        return std::nullopt;
    const std::string code = codeIn(answer);
    const std::string head = "def " + trial.entryPoint + "(";
    const std::size_t own = ("\n" + code).find("\n" + head);
    if (!trial.entryPoint.empty() && own != std::string::npos) {
        // The lines in front of the function may hold imports and helpers.
        const std::size_t before = ("\n" + prompt).find("\n" + head);
        trial.program =
            (before == std::string::npos ? std::string() : prompt.substr(0, before)) + "\n" + code;
    } else {
        trial.program = prompt + bodyIn(code);
    }
    trial.program += "\n";
    return trial;
}

Result<AnswerQuality> QualityJudge::score(const DataRecord& record,
                                          const std::string& answer) const {
    AnswerQuality quality;
    if (record.turns.size() != 1)
        return quality;
    const std::vector<std::string>& references = record.references;
    if (record.task == "code") {
        const auto trial = m_sandbox ? codeTrial(record, answer) : std::nullopt;
        if (trial) {
            ENGINE_TRY(const bool passes, m_sandbox->passes(*trial));
            quality.scores[kPassAt1] = passes ? 1.0 : 0.0;
        }
    } else if (references.empty()) {
        return quality;
    } else if (record.task == "summarization") {
        const RougeScores scores = rouge(answer, references);
        quality.scores[kRouge1] = scores.rouge1;
        quality.scores[kRouge2] = scores.rouge2;
        quality.scores[kRougeL] = scores.rougeL;
    } else if (record.task == "math_reasoning") {
        quality.scores[kExactMatch] = hasSameResult(answer, references) ? 1.0 : 0.0;
    } else if (record.task == "question_answering" || record.task == "long_context_qa") {
        quality.scores[kExactMatch] = isExactMatch(answer, references) ? 1.0 : 0.0;
    }
    return quality;
}

} // namespace app
