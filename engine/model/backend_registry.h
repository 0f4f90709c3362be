// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/run_time_module.h"
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

/// Name to backend. "plain" and "cpu" are built in; others ("torch") are modules beside the
/// program, opened when they are first asked for and never unloaded. Thread: any, one at a time.
class BackendRegistry {
public:
    /// `moduleFolder` holds files named libbackend_NAME.so; it need not exist.
    explicit BackendRegistry(const std::filesystem::path& moduleFolder);

    /// Names that can be asked for: the built-in ones and those that a module file exists for.
    std::vector<std::string> names() const;

    /// Errors: NotFound (lists the names), Unsupported (a module of another build, or one that
    /// cannot be opened: says why).
    Result<TransformerFactory> find(const std::string& name);

    /// Called by a module's registration function.
    void add(const std::string& name, TransformerFactory factory);

private:
    ModuleFolder m_modules;
    std::map<std::string, TransformerFactory> m_factories;
};

/// What a backend module exports besides its build id, both made by ENGINE_BACKEND_MODULE.
using RegisterBackendFunction = void (*)(BackendRegistry&);

} // namespace engine

/// Defines the two functions a backend module must export.
#define ENGINE_BACKEND_MODULE(name, factory)                                                       \
    ENGINE_MODULE_BUILD_ID;                                                                        \
    extern "C" __attribute__((visibility("default"))) void swiftStudioRegisterBackend(             \
        ::engine::BackendRegistry& registry) {                                                     \
        registry.add(name, factory);                                                               \
    }                                                                                              \
    static_assert(true)
