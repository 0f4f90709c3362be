// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace study {

/// A run's lines in a file, one JSON object each, so that a run that was stopped goes on where it
/// ended. The first line says what is measured; each further one is a prompt. Thread: one.
class Journal {
public:
    /// Opens or begins a file. A last line that was cut off is dropped. Errors: Io; InvalidInput
    /// when the file belongs to a run with another `start` line; CorruptFile.
    static engine::Result<Journal> open(const std::filesystem::path& path,
                                        const nlohmann::ordered_json& start);

    /// Only what a file holds, to be reported. Errors: NotFound, CorruptFile.
    static engine::Result<Journal> read(const std::filesystem::path& path);

    /// A prompt's name within a run.
    static std::string keyOf(const std::string& file, std::int64_t line);

    bool has(const std::string& key) const { return m_keys.contains(key); }

    /// Appends a prompt's line, which has "data" and "line". Errors: Io.
    engine::Result<void> add(nlohmann::ordered_json line);

    const nlohmann::ordered_json& start() const { return m_start; }

    const std::vector<nlohmann::ordered_json>& prompts() const { return m_prompts; }

private:
    engine::Result<void> parse(const std::string& text);
    engine::Result<void> append(const nlohmann::ordered_json& line) const;
    void keep(nlohmann::ordered_json line);

    std::filesystem::path m_path;
    nlohmann::ordered_json m_start;
    std::vector<nlohmann::ordered_json> m_prompts;
    std::set<std::string> m_keys;
    std::size_t m_goodBytes = 0; // of whole lines
};

} // namespace study
