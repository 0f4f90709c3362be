// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/saved_plans.h"

#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_document.h"

#include <map>

namespace engine {

namespace {

constexpr std::uint64_t kMaxFileBytes = 16'000'000; // what readSkipSetFile() takes

} // namespace

Result<void>
savePlan(const std::filesystem::path& path, const std::string& name, const SkipSet& set) {
    if (name.empty() || !isValidUtf8(name))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("\"{}\" cannot be the name of a skip set.", readable(name)),
                     "Use plain names for the model and the task."};
    std::map<std::string, SkipSet> sets;
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored && size > 0) {
        const std::string file = path.string();
        ENGINE_TRY(const JsonDocument document, readJsonFile(file, {.maxBytes = kMaxFileBytes}));
        ENGINE_TRY(sets, readSkipSetCollection(document.root(), file));
    }
    sets.insert_or_assign(name, set);
    return writeFileAtomically(path, skipSetCollectionJson(sets));
}

} // namespace engine
