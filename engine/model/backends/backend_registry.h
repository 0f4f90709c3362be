// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/modules/run_time_module.h"
#include "engine/base/result.h"
#include "engine/model/backends/backend_info.h"
#include "engine/model/transformer.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Makes a Transformer from a model's config and weights.
using TransformerFactory = std::function<Result<std::unique_ptr<Transformer>>(
    const ModelConfig&, const WeightSource&, const TransformerOptions&)>;

/// The name of the backend that computes: the one asked for, or for "" the usual one.
std::string chosenBackend(const std::string& asked);

/// Name to backend. Some are built in; others are modules beside the program, opened when they are
/// first asked for and never unloaded. A module says what it is without loading the libraries that
/// it computes with. Thread: any, one at a time.
class BackendRegistry {
public:
    /// `moduleFolder` holds files named libbackend_NAME.so; it need not exist.
    explicit BackendRegistry(const std::filesystem::path& moduleFolder);

    /// Names that can be asked for: the built-in ones and those that a module file exists for.
    std::vector<std::string> names() const;

    /// Describes all backends, the usual one first, the others by name. A module that cannot be
    /// opened is left out and told in `refused`, if given.
    std::vector<BackendInfo> list(std::vector<Error>* refused = nullptr);

    /// Errors: NotFound (lists the names), Unsupported (a module of another build, or one that
    /// cannot be opened: says why).
    Result<BackendInfo> info(const std::string& name);

    /// Errors: as info().
    Result<TransformerFactory> find(const std::string& name);

    /// What the settings that a user gave mean to this backend. Errors: as info(); InvalidInput for
    /// a setting or a value that it does not know, Unsupported for a value that others take; each
    /// names the setting as an option of the command line.
    Result<TransformerOptions> options(const std::string& name, const SettingValues& given);

    /// Called by a backend's registration function. A name that is taken is a bug.
    void add(BackendInfo info, TransformerFactory factory);

    const std::filesystem::path& moduleFolder() const { return m_folder; }

private:
    struct Entry {
        BackendInfo info;
        TransformerFactory factory;
    };

    Result<const Entry*> open(const std::string& name);
    Error notTaken(const BackendInfo& info, const std::string& setting);
    Error valueNotTaken(const BackendInfo& info,
                        const SettingInfo& setting,
                        const SettingValue& value,
                        Error otherwise);

    std::filesystem::path m_folder;
    ModuleFolder m_modules;
    std::map<std::string, Entry> m_entries;
};

/// What a backend module exports besides its build id, made by ENGINE_BACKEND_MODULE.
using RegisterBackendFunction = void (*)(BackendRegistry&);

} // namespace engine

/// Defines the function that a backend module must export; `registration` is a function that takes
/// the BackendRegistry and adds the backend.
#define ENGINE_BACKEND_MODULE(registration)                                                        \
    extern "C" __attribute__((visibility("default"))) void swiftStudioRegisterBackend(             \
        ::engine::BackendRegistry& registry) {                                                     \
        registration(registry);                                                                    \
    }                                                                                              \
    static_assert(true)
