// SPDX-License-Identifier: Apache-2.0
#include "engine/base/modules/run_time_module.h"

#include <fmt/ranges.h>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <system_error>

namespace engine {

namespace {

constexpr std::string_view kSuffix = ".so";

Error refused(const std::filesystem::path& path, std::string_view reason, std::string hint) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("The module {} was refused: {}.", path.string(), reason),
                 std::move(hint)};
}

/// A module is code, so it is opened only if no other user can have written it.
Result<void> checkModuleFile(const std::filesystem::path& path) {
    struct stat facts {};

    if (lstat(path.c_str(), &facts) != 0)
        return refused(path, std::generic_category().message(errno), "Build the project again.");
    if (!S_ISREG(facts.st_mode))
        return refused(path, "it is not a regular file", "Replace it by a copy of the file.");
    if (facts.st_uid != geteuid() && facts.st_uid != 0)
        return refused(
            path, "it belongs to another user", "Only modules of your own or of root are opened.");
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refused(path,
                       "other users may write to it",
                       fmt::format("If you trust it: chmod go-w '{}'.", path.string()));
    return {};
}

Error noMemoryFor(const std::filesystem::path& path) {
    return {ErrorCode::NoMemory,
            fmt::format("There is not enough memory for the module {}.", path.string()),
            "Close other programs, or choose a smaller model."};
}

Result<void> callRegistration(const std::filesystem::path& path,
                              const std::function<void(void*)>& registration,
                              void* function) {
    try {
        registration(function);
    } catch (const std::bad_alloc&) {
        return noMemoryFor(path);
    } catch (const std::exception& failure) {
        return refused(
            path, fmt::format("it failed to register ({})", failure.what()), "Remove it.");
    } catch (...) {
        return refused(path, "it failed to register", "Remove it.");
    }
    return {};
}

} // namespace

ModuleFolder::ModuleFolder(const std::filesystem::path& folder, std::string kind)
    : m_kind(std::move(kind)) {
    std::error_code failure;
    m_folder = std::filesystem::absolute(folder, failure);
    if (failure)
        m_folder.clear(); // a relative path would let dlopen search elsewhere
}

std::vector<std::string> ModuleFolder::names() const {
    const std::string prefix = fmt::format("lib{}_", m_kind);
    std::vector<std::string> names;
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(m_folder, failure), end;
         !failure && entry != end;
         entry.increment(failure)) {
        const std::string file = entry->path().filename().string();
        if (file.starts_with(prefix) && file.ends_with(kSuffix) &&
            file.size() > prefix.size() + kSuffix.size())
            names.push_back(
                file.substr(prefix.size(), file.size() - prefix.size() - kSuffix.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::filesystem::path ModuleFolder::pathOf(const std::string& name) const {
    return m_folder / fmt::format("lib{}_{}{}", m_kind, name, kSuffix);
}

Result<void> ModuleFolder::open(const std::string& name,
                                const char* function,
                                const std::function<void(void*)>& registration) const {
    const std::vector<std::string> known = names();
    if (std::find(known.begin(), known.end(), name) == known.end())
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no {} '{}'.", m_kind, name),
                     fmt::format("Available: {}.", fmt::join(known, ", "))};
    const std::filesystem::path path = pathOf(name);
    ENGINE_TRY_DO(checkModuleFile(path));
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        const char* reason = dlerror();
        if (reason != nullptr && std::strstr(reason, std::strerror(ENOMEM)) != nullptr)
            return noMemoryFor(path);
        return refused(path,
                       fmt::format("it cannot be opened ({})", reason ? reason : "no reason given"),
                       "Build the project again; the libraries it needs must be where they were "
                       "then.");
    }
    using BuildIdFunction = const char* (*)();
    const auto moduleBuildId =
        reinterpret_cast<BuildIdFunction>(dlsym(module, "swiftStudioModuleBuildId"));
    void* const registrationFunction = dlsym(module, function);
    if (moduleBuildId == nullptr || registrationFunction == nullptr)
        return refused(
            path, fmt::format("it is not a {} module of this program", m_kind), "Remove it.");
    if (moduleBuildId() != buildId())
        return refused(path,
                       fmt::format("it belongs to build {}, but the program to build {}",
                                   moduleBuildId(),
                                   buildId()),
                       "Build program and modules together.");
    return callRegistration(path, registration, registrationFunction);
}

Error moduleFailure(std::string_view module, std::string_view what) {
    return Error{ErrorCode::Internal,
                 fmt::format("Something inside {} went wrong: {}.", module, what),
                 "Please report this; another decoder or backend may work."};
}

} // namespace engine
