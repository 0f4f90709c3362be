// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/draft_adapter_choice.h"

#include "engine/decoding/statistics/data_files.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"
#include "engine/model/draft_model.h"

#include <algorithm>
#include <new>
#include <system_error>

namespace engine {

namespace {

Result<void>
adopt(Transformer& model, const std::string& fingerprint, const std::filesystem::path& path) {
    try {
        ENGINE_TRY(const DraftAdapter adapter, openDraftAdapter(path));
        ENGINE_TRY_DO(checkFits(adapter, model.config(), fingerprint));
        ENGINE_TRY(auto made, makeDraftModel(model, adapter));
        model.useDraftModel(std::move(made));
        return {};
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     fmt::format("There is not enough memory for the draft adapter {}.",
                                 readable(path.filename().string())),
                     "Close other programs, or go on without it (--draft-adapter none)."};
    }
}

constexpr int kMostKept = 3;

/// Number 1 is the newest of those that are kept.
std::filesystem::path keptAs(const std::filesystem::path& place, int number) {
    return place.string() + (number == 1 ? ".before" : fmt::format(".before-{}", number));
}

} // namespace

Result<std::filesystem::path> keepUsedAdapter(const std::filesystem::path& place) {
    ENGINE_TRY(const std::string used, readTextFile(place, kMostAdapterBytes));
    std::error_code failure;
    int last = 1;
    for (; last <= kMostKept && std::filesystem::exists(keptAs(place, last), failure); ++last) {
        const auto kept = readTextFile(keptAs(place, last), kMostAdapterBytes);
        if (kept && kept.value() == used)
            return keptAs(place, last);
    }
    const std::filesystem::path copy = place.string() + ".before-new";
    ENGINE_TRY_DO(writeFileAtomically(copy, used));
    failure.clear();
    for (last = std::min(last, kMostKept); last > 1 && !failure; --last)
        std::filesystem::rename(keptAs(place, last - 1), keptAs(place, last), failure);
    if (!failure)
        std::filesystem::rename(copy, keptAs(place, 1), failure);
    if (failure)
        return Error{ErrorCode::Io,
                     fmt::format("The adapter in use cannot be kept as {}: {}.",
                                 keptAs(place, 1).string(),
                                 failure.message()),
                     "Check the folder and its permissions."};
    return keptAs(place, 1);
}

std::filesystem::path usersDraftAdapter(const std::string& fingerprint) {
    return modelDataFile(defaultDataFolder(), "draft-adapters", fingerprint, ".safetensors");
}

Result<std::vector<std::string>> adoptDraftAdapter(Transformer& model,
                                                   const std::string& fingerprint,
                                                   const std::string& asked,
                                                   const std::filesystem::path& shipped) {
    std::vector<std::string> notes;
    if (asked == kNoDraftAdapter)
        return notes;
    if (!asked.empty()) {
        ENGINE_TRY_DO(adopt(model, fingerprint, asked));
        return notes;
    }
    const std::filesystem::path users = usersDraftAdapter(fingerprint);
    std::vector<std::filesystem::path> known = {users};
    if (!shipped.empty())
        known.push_back(shipped / users.filename());
    for (const std::filesystem::path& path : known) {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored))
            continue;
        const auto adopted = adopt(model, fingerprint, path);
        if (adopted)
            return notes;
        if (path == users || adopted.error().code != ErrorCode::Unsupported)
            notes.push_back("The draft adapter is not used: " + adopted.error().message);
    }
    return notes;
}

} // namespace engine
