// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/data_sources.h"

#include "engine/experiments/data/reading/file_extension.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace engine {

namespace {

constexpr std::array<std::string_view, 6> kListNames = {
    ".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".txt"};
constexpr std::array<std::string_view, 2> kDocumentNames = {".md", ".markdown"};

template <typename Names>
std::vector<std::filesystem::path> withExtension(const std::vector<std::filesystem::path>& files,
                                                 const Names& extensions) {
    std::vector<std::filesystem::path> chosen;
    std::copy_if(files.begin(), files.end(), std::back_inserter(chosen), [&](const auto& file) {
        return std::find(extensions.begin(), extensions.end(), lowerExtension(file)) !=
               extensions.end();
    });
    return chosen;
}

/// All but hidden ones, sorted.
Result<std::vector<std::filesystem::path>> filesIn(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code unknown; // a broken link is no file
        if (at->is_regular_file(unknown) && !at->path().filename().string().starts_with('.'))
            files.push_back(at->path());
    }
    if (error)
        return Error{
            ErrorCode::Io,
            fmt::format("The folder {} cannot be read: {}", folder.string(), error.message()),
            "Check that you may read it."};
    std::sort(files.begin(), files.end());
    return files;
}

std::string folderName(const std::filesystem::path& folder) {
    const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
    return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

Result<void> addFolder(const std::filesystem::path& folder, std::vector<DataSource>& sources) {
    ENGINE_TRY(const auto files, filesIn(folder));
    const auto lists = withExtension(files, kListNames);
    for (const auto& file : lists)
        sources.push_back({file, file.stem().string(), true});
    if (!lists.empty())
        return {};
    const auto documents = withExtension(files, kDocumentNames);
    for (const auto& file : documents)
        sources.push_back({file, folderName(folder), true});
    if (!documents.empty())
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The folder {} holds no data: it has no file that ends in .jsonl, "
                             ".ndjson, .csv, .tsv, .tab, .txt or .md.",
                             folder.string()),
                 "Name the files themselves if they end otherwise."};
}

} // namespace

Result<std::vector<DataSource>> findDataSources(const std::vector<std::string>& paths) {
    std::vector<DataSource> sources;
    for (const std::filesystem::path path : paths) {
        std::error_code error;
        const auto status = std::filesystem::status(path, error);
        if (status.type() == std::filesystem::file_type::not_found)
            return Error{ErrorCode::NotFound,
                         fmt::format("{} does not exist", path.string()),
                         "Check the path."};
        if (std::filesystem::is_directory(status))
            ENGINE_TRY_DO(addFolder(path, sources));
        else
            sources.push_back({path, path.stem().string(), false});
    }
    return sources;
}

} // namespace engine
