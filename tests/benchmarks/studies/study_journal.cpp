// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmarks/studies/study_journal.h"

#include <fstream>
#include <sstream>

namespace study {

using namespace engine;
using Json = nlohmann::ordered_json;

namespace {

Error damaged(const std::filesystem::path& path, std::size_t line) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: line {} is no line of a study.", path.string(), line),
            "Name another file, or delete this one to begin anew."};
}

std::string textOf(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

std::string Journal::keyOf(const std::string& file, std::int64_t line) {
    return fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
}

Result<Journal> Journal::read(const std::filesystem::path& path) {
    Journal journal;
    journal.m_path = path;
    if (!std::filesystem::exists(path))
        return Error{ErrorCode::NotFound, fmt::format("There is no file {}.", path.string()), ""};
    ENGINE_TRY_DO(journal.parse(textOf(path)));
    if (journal.m_start.is_null())
        return damaged(path, 1);
    return journal;
}

Result<Journal> Journal::open(const std::filesystem::path& path, const Json& start) {
    Journal journal;
    journal.m_path = path;
    if (std::filesystem::exists(path)) {
        ENGINE_TRY_DO(journal.parse(textOf(path)));
        std::filesystem::resize_file(path, journal.m_goodBytes);
    }
    if (journal.m_start.is_null()) {
        journal.m_start = start;
        ENGINE_TRY_DO(journal.append(start));
    }
    if (journal.m_start != start)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} belongs to a run with other settings.", path.string()),
                     "Name another file for this one."};
    return journal;
}

Result<void> Journal::parse(const std::string& text) {
    std::size_t number = 0;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = text.find('\n', begin);
        if (end == std::string::npos)
            break; // cut off while it was written
        ++number;
        Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
        const std::string event = line.is_object() ? line.value("event", "") : "";
        if (event != (number == 1 ? "start" : "prompt"))
            return damaged(m_path, number);
        if (number == 1)
            m_start = std::move(line);
        else
            keep(std::move(line));
        m_goodBytes = end + 1;
    }
    return {};
}

void Journal::keep(Json line) {
    m_keys.insert(keyOf(line.value("data", ""), line.value("line", std::int64_t{0})));
    m_prompts.push_back(std::move(line));
}

Result<void> Journal::add(Json line) {
    ENGINE_TRY_DO(append(line));
    keep(std::move(line));
    return {};
}

Result<void> Journal::append(const Json& line) const {
    std::ofstream file(m_path, std::ios::binary | std::ios::app);
    file << line.dump() << '\n';
    file.flush();
    if (!file)
        return Error{ErrorCode::Io,
                     fmt::format("{} cannot be written.", m_path.string()),
                     "Is there room on the disk?"};
    return {};
}

} // namespace study
