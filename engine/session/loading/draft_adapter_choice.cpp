// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/draft_adapter_choice.h"

#include "engine/decoding/statistics/data_files.h"
#include "engine/loading/files/readable_text.h"
#include "engine/model/draft_model.h"

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

} // namespace

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
