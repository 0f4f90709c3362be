// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/paper_prompts.h"

#include "app/streams/counted.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace app {

using namespace engine;

namespace {

struct PaperFormat {
    std::string_view task;
    std::string_view opening; ///< in front of the prompt
    std::string_view closing; ///< between the prompt and the answer, on a line of its own
    int shots;
};

constexpr std::array kFormats = {
    PaperFormat{"summarization", "Article: ", "Summary:", 1},
    PaperFormat{"math_reasoning", "Question: ", "Answer:", 5},
    PaperFormat{"question_answering", "Question: ", "Answer:", 1},
    PaperFormat{"translation", "Translate German to English: ", "Answer:", 5},
    PaperFormat{"instruction_following", "Instruction: ", "Answer:", 0},
    PaperFormat{"story", "Write a tiny story: ", "", 1},
    PaperFormat{"code", "", "", 0},
};

const PaperFormat* formatOf(std::string_view task) {
    const auto found = std::find_if(
        kFormats.begin(), kFormats.end(), [&](const auto& format) { return format.task == task; });
    return found == kFormats.end() ? nullptr : &*found;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t\r\n");
    if (from == std::string_view::npos)
        return {};
    return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

/// The prompt between its labels, ready for the answer. Code keeps its spaces.
std::string labelled(const PaperFormat& format, const std::string& prompt) {
    if (format.opening.empty())
        return prompt;
    const std::string_view core = trimmed(prompt);
    const bool hasClosing = !format.closing.empty() && core.ends_with(format.closing);
    const bool hasOpening = core.starts_with(format.opening) || hasClosing;
    std::string text = fmt::format("{}{}", hasOpening ? "" : format.opening, core);
    if (!format.closing.empty() && !hasClosing)
        text += fmt::format("\n{}", format.closing);
    return text;
}

std::string example(const PaperFormat& format, const DataRecord& record) {
    return fmt::format(
        "{} {}\n\n", labelled(format, record.turns.front()), trimmed(record.references.front()));
}

bool canBeExample(const DataRecord& record) {
    return record.turns.size() == 1 && !record.references.empty() &&
           !trimmed(record.references.front()).empty();
}

} // namespace

Result<PaperPrompts> PaperPrompts::read(const std::vector<DataPrompt>& prompts, int shots) {
    PaperPrompts found;
    std::map<std::pair<std::string, std::string>, int> missing; // of file and task
    std::set<std::pair<std::string, std::string>> asked;
    for (const DataPrompt& prompt : prompts) {
        const PaperFormat* format = formatOf(prompt.record.task);
        if (format == nullptr)
            continue;
        const std::pair key(prompt.file, prompt.record.task);
        int& left = missing.try_emplace(key, shots < 0 ? format->shots : shots).first->second;
        if (left > 0 && canBeExample(prompt.record)) {
            found.m_examples[key] += example(*format, prompt.record);
            found.m_lines.emplace(prompt.file, prompt.record.line);
            --left;
        } else {
            asked.insert(key);
        }
    }
    for (const auto& [key, left] : missing)
        if (left > 0 || !asked.contains(key))
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("{} has too few prompts of the task {} with a reference: it needs {}, "
                            "and one more to be asked.",
                            key.first,
                            key.second,
                            counted(shots < 0 ? formatOf(key.second)->shots : shots, "example")),
                "Choose fewer examples with --shots, or a higher --limit."};
    return found;
}

bool PaperPrompts::isExample(const DataPrompt& prompt) const {
    return m_lines.contains({prompt.file, prompt.record.line});
}

DataRecord PaperPrompts::shaped(const DataPrompt& prompt) const {
    DataRecord record = prompt.record;
    const PaperFormat* format = formatOf(record.task);
    if (format == nullptr || record.turns.size() != 1)
        return record;
    const auto examples = m_examples.find({prompt.file, record.task});
    record.turns.front() = (examples == m_examples.end() ? std::string() : examples->second) +
                           labelled(*format, record.turns.front());
    return record;
}

std::string PaperPrompts::answerIn(const std::string& task, const std::string& text) {
    const PaperFormat* format = formatOf(task);
    if (format == nullptr || format->opening.empty())
        return text;
    return text.substr(0, text.find("\n" + std::string(trimmed(format->opening))));
}

} // namespace app
