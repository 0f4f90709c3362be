// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_output.h"

#include "engine/loading/files/readable_text.h"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace app {

using namespace engine;

namespace {

constexpr std::string_view kUnknownForm = "Slurm has answered in a form that is not known here";

Error unknownForm(const char* command, std::string_view line) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} says \"{}\".", kUnknownForm, command, readable(line)),
            "Run the command by hand and look for what differs from Slurm's own manual."};
}

/// A decimal number without a sign that is the whole text.
template <typename Number> std::optional<Number> wholeNumber(std::string_view text) {
    Number value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || text.starts_with('-'))
        return std::nullopt;
    return value;
}

std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0)
            lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// The fields between '|', of which the last may have '|' itself.
template <std::size_t count>
std::optional<std::array<std::string_view, count>> fieldsOf(std::string_view line) {
    std::array<std::string_view, count> fields;
    for (std::size_t at = 0; at + 1 < count; ++at) {
        const std::size_t end = line.find('|');
        if (end == std::string_view::npos)
            return std::nullopt;
        fields[at] = line.substr(0, end);
        line.remove_prefix(end + 1);
    }
    fields[count - 1] = line;
    return fields;
}

/// The states of Slurm's manual (squeue, sacct: JOB STATE CODES).
std::optional<SlurmPhase> phaseOf(std::string_view word) {
    for (const std::string_view queued : {"PENDING",
                                          "CONFIGURING",
                                          "REQUEUED",
                                          "REQUEUE_FED",
                                          "REQUEUE_HOLD",
                                          "RESV_DEL_HOLD",
                                          "SPECIAL_EXIT"})
        if (word == queued)
            return SlurmPhase::Queued;
    for (const std::string_view running :
         {"RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED"})
        if (word == running)
            return SlurmPhase::Running;
    if (word == "COMPLETED")
        return SlurmPhase::Completed;
    for (const std::string_view ended : {"BOOT_FAIL",
                                         "CANCELLED",
                                         "DEADLINE",
                                         "FAILED",
                                         "LAUNCH_FAILED",
                                         "NODE_FAIL",
                                         "OUT_OF_MEMORY",
                                         "PREEMPTED",
                                         "RECONFIG_FAIL",
                                         "REVOKED",
                                         "TIMEOUT"})
        if (word == ended)
            return SlurmPhase::Ended;
    return std::nullopt;
}

/// The number behind the prefix of a job's name; none for a job of another name.
std::optional<int> familyOf(std::string_view name, const std::string& prefix) {
    if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with('.'))
        return std::nullopt;
    return wholeNumber<int>(name.substr(prefix.size() + 1));
}

std::string reportedText(std::string_view text) {
    return text == "None" || text == "None assigned" || text == "(null)" ? std::string()
                                                                         : readable(text);
}

} // namespace

std::string slurmJobName(const std::string& prefix, int family) {
    return fmt::format("{}.{}", prefix, family);
}

Result<long> readSbatchAnswer(std::string_view text) {
    std::string_view line = text.substr(0, text.find('\n'));
    // "12;name" where Slurm manages several clusters.
    const auto job = wholeNumber<long>(line.substr(0, line.find(';')));
    if (!job || *job <= 0)
        return unknownForm("sbatch", line);
    return *job;
}

Result<SlurmTaskStates> readSqueueAnswer(std::string_view text, const std::string& prefix) {
    SlurmTaskStates states;
    for (const std::string_view line : linesOf(text)) {
        const auto fields = fieldsOf<6>(line);
        if (!fields)
            return unknownForm("squeue", line);
        const auto& [jobText, indexText, name, word, node, reason] = *fields;
        const auto family = familyOf(name, prefix);
        if (!family)
            continue;
        const auto job = wholeNumber<long>(jobText);
        const auto index = wholeNumber<int>(indexText);
        const auto phase = phaseOf(word);
        if (!job || !index || !phase)
            return unknownForm("squeue", line);
        states[{*job, *index, *family}] = {
            *phase, std::string(word), reportedText(node), reportedText(reason)};
    }
    return states;
}

Result<SlurmTaskStates> readSacctAnswer(std::string_view text, const std::string& prefix) {
    SlurmTaskStates states;
    for (const std::string_view line : linesOf(text)) {
        const auto fields = fieldsOf<5>(line);
        if (!fields)
            return unknownForm("sacct", line);
        const auto& [id, name, state, node, exitCode] = *fields;
        const auto family = familyOf(name, prefix);
        if (!family)
            continue;
        const std::size_t middle = std::min(id.find('_'), id.size());
        const auto job = wholeNumber<long>(id.substr(0, middle));
        const std::string_view indexText = id.substr(std::min(middle + 1, id.size()));
        if (job && indexText.starts_with('[') && indexText.ends_with(']'))
            continue;
        const auto index = wholeNumber<int>(indexText);
        const std::string_view word = state.substr(0, state.find(' ')); // "CANCELLED by 1000"
        const auto phase = phaseOf(word);
        if (!job || !index || !phase)
            return unknownForm("sacct", line);
        const std::string reason =
            exitCode == "0:0" ? "" : fmt::format("exit code {}", readable(exitCode));
        states[{*job, *index, *family}] = {*phase, std::string(word), reportedText(node), reason};
    }
    return states;
}

std::string slurmSaid(std::string_view errors) {
    const auto lines = linesOf(errors);
    if (lines.empty())
        return "nothing";
    // The last line is the outcome: "sbatch: error: Batch job submission failed: ...".
    std::string said;
    for (const std::string_view line : lines)
        if (line.find("error") != std::string_view::npos)
            said += (said.empty() ? "" : "; ") + readable(line);
    return said.empty() ? readable(lines.back()) : readable(said, 300);
}

} // namespace app
