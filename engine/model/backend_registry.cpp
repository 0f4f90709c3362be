// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backend_registry.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace engine {

BackendRegistry::BackendRegistry(const std::filesystem::path& moduleFolder)
    : m_modules(moduleFolder, "backend") {
    // Through a lambda: a backend that is never asked for need not be resolved at start.
    add("plain",
        [](const ModelConfig& config,
           const WeightSource& source,
           const TransformerOptions& options) {
            return makePlainTransformer(config, source, options);
        });
    add("cpu",
        [](const ModelConfig& config,
           const WeightSource& source,
           const TransformerOptions& options) {
            return makeCpuTransformer(config, source, options);
        });
}

std::vector<std::string> BackendRegistry::names() const {
    std::vector<std::string> names = m_modules.names();
    for (const auto& [name, factory] : m_factories)
        names.push_back(name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<TransformerFactory> BackendRegistry::find(const std::string& name) {
    if (const auto known = m_factories.find(name); known != m_factories.end())
        return known->second;
    const std::vector<std::string> choices = names();
    if (std::find(choices.begin(), choices.end(), name) == choices.end())
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no backend '{}'.", name),
                     fmt::format("Backends: {}.", fmt::join(choices, ", "))};
    auto before = m_factories;
    auto opened = m_modules.open(name, "swiftStudioRegisterBackend", [this](void* function) {
        reinterpret_cast<RegisterBackendFunction>(function)(*this);
    });
    if (!opened) {
        m_factories = std::move(before); // a module may have registered something and then thrown
        return std::move(opened).error();
    }
    const auto registered = m_factories.find(name);
    if (registered == m_factories.end())
        return Error{
            ErrorCode::Unsupported,
            fmt::format("The module libbackend_{0}.so was refused: it registers no backend '{0}'.",
                        name),
            "Remove it, or build the project again."};
    return registered->second;
}

void BackendRegistry::add(const std::string& name, TransformerFactory factory) {
    ENGINE_CHECK(factory != nullptr, "backend '{}' has no factory", name);
    ENGINE_CHECK(!m_factories.contains(name), "backend '{}' is registered twice", name);
    m_factories.emplace(name, std::move(factory));
}

} // namespace engine
