// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/prompt_source.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace app {

/// Prompts in the format of the published experiments: the text between labels, behind worked
/// examples of the same task, to be continued without a chat template. Labels that a prompt has
/// already are not repeated. The examples are the first records of a task that have a reference;
/// they are not asked. Source of the labels and of the numbers of examples: the public scripts of
/// SWIFT (arXiv 2410.06916) and of later work by the same group; the wording of SWIFT's other
/// prompts was never published.
class PaperPrompts {
public:
    /// Takes the examples from the prompts. `shots`: how many each task has, -1: as many as in the
    /// scripts. Errors: InvalidInput if a file has too few prompts of a task.
    static engine::Result<PaperPrompts> read(const std::vector<DataPrompt>& prompts, int shots);

    /// Whether the record serves as an example.
    bool isExample(const DataPrompt& prompt) const;

    /// The record to be asked. Conversations and tasks that the papers do not have stay as they
    /// are.
    engine::DataRecord shaped(const DataPrompt& prompt) const;

    /// The part of an answer that belongs to this prompt: base models go on with a next example.
    static std::string answerIn(const std::string& task, const std::string& text);

    std::size_t exampleCount() const { return m_lines.size(); }

private:
    std::map<std::pair<std::string, std::string>, std::string> m_examples; // file and task: text
    std::set<std::pair<std::string, std::int64_t>> m_lines;                // file and line
};

} // namespace app
