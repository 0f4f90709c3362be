// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/licence.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/gguf_file.h"

#include <fstream>
#include <string_view>

namespace engine {

namespace {

constexpr int kMostLines = 400; ///< of the head; tags make it long
constexpr std::size_t kLongestLine = 4096;
constexpr std::string_view kName = "license:";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kAround = " \t\r\"'";
    const std::size_t begin = text.find_first_not_of(kAround);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

/// Nothing behind the end, or of a line that no head would have.
bool readLine(std::istream& file, std::string& line) {
    line.resize(kLongestLine);
    file.getline(line.data(), static_cast<std::streamsize>(line.size()));
    if (!file)
        return false;
    line.resize(std::char_traits<char>::length(line.c_str()));
    return true;
}

std::string licenceOfCard(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return {};
    std::ifstream file(path);
    std::string line;
    if (!readLine(file, line) || trimmed(line) != "---")
        return {};
    for (int i = 0; i < kMostLines && readLine(file, line) && trimmed(line) != "---"; ++i)
        if (line.starts_with(kName))
            return readable(trimmed(std::string_view(line).substr(kName.size())));
    return {};
}

} // namespace

std::string licenceOf(const ModelFiles& files) {
    if (files.gguf() == nullptr)
        return licenceOfCard(files.path() / "README.md");
    if (const auto licence = files.gguf()->stringValue("general.license"))
        if (const std::string_view name = trimmed(*licence); !name.empty())
            return readable(name);
    return licenceOfCard(files.path().parent_path() / "README.md");
}

} // namespace engine
