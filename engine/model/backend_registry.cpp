// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backend_registry.h"

#include <fmt/ranges.h>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <system_error>

namespace engine {

namespace {

constexpr std::string_view kModulePrefix = "libbackend_";
constexpr std::string_view kModuleSuffix = ".so";

/// The NAME of libbackend_NAME.so, or nothing for any other file name.
std::optional<std::string> backendNameOf(const std::string& fileName) {
    if (!fileName.starts_with(kModulePrefix) || !fileName.ends_with(kModuleSuffix) ||
        fileName.size() <= kModulePrefix.size() + kModuleSuffix.size())
        return std::nullopt;
    return fileName.substr(kModulePrefix.size(),
                           fileName.size() - kModulePrefix.size() - kModuleSuffix.size());
}

Error refused(const std::filesystem::path& path, std::string_view reason, std::string hint) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("The backend module {} was refused: {}.", path.string(), reason),
                 std::move(hint)};
}

/// A module is code: it is opened only when no other user can have written it.
Result<void> checkModuleFile(const std::filesystem::path& path) {
    struct stat facts {};

    if (lstat(path.c_str(), &facts) != 0)
        return refused(path, std::generic_category().message(errno), "Build the project again.");
    if (!S_ISREG(facts.st_mode))
        return refused(path, "it is not a regular file", "Replace it by the file it stands for.");
    if (facts.st_uid != geteuid() && facts.st_uid != 0)
        return refused(
            path, "it belongs to another user", "Only modules of your own or of root are opened.");
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refused(path,
                       "other users may write to it",
                       fmt::format("If you trust it: chmod go-w '{}'.", path.string()));
    return {};
}

template <typename Function> Function findFunction(void* module, const char* name) {
    return reinterpret_cast<Function>(dlsym(module, name));
}

/// Opens a module, checks that it is of this build and has it register itself. It stays open
/// whatever happens: code and type information of a module may be in use in ways nobody counts.
Result<void> openModule(const std::filesystem::path& path, BackendRegistry& registry) {
    ENGINE_TRY_DO(checkModuleFile(path));
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        const char* reason = dlerror();
        return refused(path,
                       fmt::format("it cannot be opened ({})", reason ? reason : "no reason given"),
                       "Build the project again, and check that LibTorch is where it was then.");
    }
    const auto moduleBuildId =
        findFunction<ModuleBuildIdFunction>(module, "swiftStudioModuleBuildId");
    const auto registerBackend =
        findFunction<RegisterBackendFunction>(module, "swiftStudioRegisterBackend");
    if (moduleBuildId == nullptr || registerBackend == nullptr)
        return refused(path, "it is no backend module of this program", "Remove it.");
    if (moduleBuildId() != buildId())
        return refused(
            path,
            fmt::format("it is of build {}, the program of build {}", moduleBuildId(), buildId()),
            "Build program and modules together.");
    try {
        registerBackend(registry);
    } catch (const std::exception& failure) {
        return refused(
            path, fmt::format("it failed to register ({})", failure.what()), "Remove it.");
    } catch (...) {
        return refused(path, "it failed to register", "Remove it.");
    }
    return {};
}

} // namespace

BackendRegistry::BackendRegistry(std::filesystem::path moduleFolder) {
    std::error_code failure;
    m_moduleFolder = std::filesystem::absolute(moduleFolder, failure);
    if (failure)
        m_moduleFolder.clear(); // a relative path would let dlopen search elsewhere
    // Through a lambda: a backend that is never asked for need not be resolved at start.
    add("plain",
        [](const ModelConfig& config,
           const WeightSource& source,
           const TransformerOptions& options) {
            return makePlainTransformer(config, source, options);
        });
}

std::vector<std::string> BackendRegistry::names() const {
    std::vector<std::string> names;
    for (const auto& [name, factory] : m_factories)
        names.push_back(name);
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(m_moduleFolder, failure), end;
         !failure && entry != end;
         entry.increment(failure))
        if (auto name = backendNameOf(entry->path().filename().string()))
            names.push_back(*std::move(name));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<TransformerFactory> BackendRegistry::find(const std::string& name) {
    if (const auto known = m_factories.find(name); known != m_factories.end())
        return known->second;
    // Only what the listing found is opened, so a name cannot lead out of the folder.
    const std::vector<std::string> choices = names();
    if (std::find(choices.begin(), choices.end(), name) == choices.end())
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no backend '{}'.", name),
                     fmt::format("Backends: {}.", fmt::join(choices, ", "))};
    const std::filesystem::path path =
        m_moduleFolder / fmt::format("{}{}{}", kModulePrefix, name, kModuleSuffix);
    auto before = m_factories;
    if (auto opened = openModule(path, *this); !opened) {
        m_factories = std::move(before); // a module may have registered something and then thrown
        return std::move(opened).error();
    }
    const auto registered = m_factories.find(name);
    if (registered == m_factories.end())
        return refused(path, fmt::format("it registers no backend '{}'", name), "Remove it.");
    return registered->second;
}

void BackendRegistry::add(const std::string& name, TransformerFactory factory) {
    ENGINE_CHECK(factory != nullptr, "backend '{}' has no factory", name);
    ENGINE_CHECK(!m_factories.contains(name), "backend '{}' is registered twice", name);
    m_factories.emplace(name, std::move(factory));
}

std::string_view buildId() { return SWIFT_STUDIO_BUILD_ID; }

} // namespace engine
