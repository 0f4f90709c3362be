// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"

#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/plain/plain_backend.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace engine {

namespace {

constexpr const char* kUsualBackend = "cpu";

/// Only words that precisionSetting() wrote down come here.
Precision precisionNamed(const std::string& name) {
    for (const Precision precision : {Precision::F64, Precision::BF16})
        if (name == precisionName(precision))
            return precision;
    return Precision::F32;
}

} // namespace

std::string chosenBackend(const std::string& asked) {
    return asked.empty() ? std::string(kUsualBackend) : asked;
}

BackendRegistry::BackendRegistry(const std::filesystem::path& moduleFolder)
    : m_folder(moduleFolder)
    , m_modules(moduleFolder, "backend") {
    registerPlainBackend(*this);
    cpu::registerBackend(*this);
}

std::vector<std::string> BackendRegistry::names() const {
    std::vector<std::string> names = m_modules.names();
    for (const auto& [name, entry] : m_entries)
        names.push_back(name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<BackendInfo> BackendRegistry::list(std::vector<Error>* refused) {
    std::vector<BackendInfo> infos;
    for (const std::string& name : names()) {
        auto opened = open(name);
        if (opened)
            infos.push_back(opened.value()->info);
        else if (refused != nullptr)
            refused->push_back(std::move(opened).error());
    }
    std::stable_partition(infos.begin(), infos.end(), [](const BackendInfo& info) {
        return info.name == kUsualBackend;
    });
    return infos;
}

Result<BackendInfo> BackendRegistry::info(const std::string& name) {
    ENGINE_TRY(const Entry* entry, open(name));
    return entry->info;
}

Result<TransformerFactory> BackendRegistry::find(const std::string& name) {
    ENGINE_TRY(const Entry* entry, open(name));
    return entry->factory;
}

Result<TransformerOptions> BackendRegistry::options(const std::string& name,
                                                    const SettingValues& given) {
    ENGINE_TRY(const BackendInfo info, this->info(name));
    TransformerOptions options;
    for (const auto& [setting, value] : given) {
        const SettingInfo* known = info.find(setting);
        if (known == nullptr)
            return notTaken(info, setting);
        if (auto checked = checkSetting(*known, value); !checked)
            return valueNotTaken(info, *known, value, std::move(checked).error());
        if (setting == "precision")
            options.precision = precisionNamed(std::get<std::string>(value));
        else if (setting == "threads")
            options.threads = static_cast<int>(std::get<double>(value));
        else
            options.settings.emplace(setting, value);
    }
    return options;
}

/// Names those that do take it.
Error BackendRegistry::notTaken(const BackendInfo& info, const std::string& setting) {
    std::vector<std::string> others;
    for (const BackendInfo& other : list())
        if (other.find(setting) != nullptr)
            others.push_back(other.name);
    if (others.empty())
        return unknownSetting(fmt::format("The backend {}", info.name), info.settings, setting);
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The backend {} takes no --{}: {} does.",
                             info.name,
                             setting,
                             fmt::join(others, " or ")),
                 fmt::format("Leave it out, or name --backend {}.", others.front())};
}

Error BackendRegistry::valueNotTaken(const BackendInfo& info,
                                     const SettingInfo& setting,
                                     const SettingValue& value,
                                     Error otherwise) {
    for (const BackendInfo& other : list()) {
        const SettingInfo* same = other.find(setting.name);
        if (same != nullptr && checkSetting(*same, value))
            return Error{ErrorCode::Unsupported,
                         fmt::format("The backend {} does not take --{} {}.",
                                     info.name,
                                     setting.name,
                                     settingText(value)),
                         fmt::format("Name --backend {}, which does, or leave --{} out.",
                                     other.name,
                                     setting.name)};
    }
    return otherwise;
}

Result<const BackendRegistry::Entry*> BackendRegistry::open(const std::string& name) {
    if (const auto known = m_entries.find(name); known != m_entries.end())
        return &known->second;
    const std::vector<std::string> choices = names();
    if (std::find(choices.begin(), choices.end(), name) == choices.end())
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no backend '{}'.", name),
                     fmt::format("Backends: {}.", fmt::join(choices, ", "))};
    auto before = m_entries;
    auto opened = m_modules.open(name, "swiftStudioRegisterBackend", [this](void* function) {
        reinterpret_cast<RegisterBackendFunction>(function)(*this);
    });
    const auto registered = m_entries.find(name);
    if (!opened || registered == m_entries.end())
        m_entries = std::move(before); // a refused module leaves nothing behind
    if (!opened)
        return std::move(opened).error();
    if (!m_entries.contains(name))
        return Error{
            ErrorCode::Unsupported,
            fmt::format("The module libbackend_{0}.so was refused: it registers no backend '{0}'.",
                        name),
            "Remove it, or build the project again."};
    return &registered->second;
}

void BackendRegistry::add(BackendInfo info, TransformerFactory factory) {
    ENGINE_CHECK(factory != nullptr && info.forecast != nullptr && info.devices != nullptr,
                 "backend '{}' is not complete",
                 info.name);
    ENGINE_CHECK(!m_entries.contains(info.name), "backend '{}' is registered twice", info.name);
    const std::string name = info.name;
    m_entries.emplace(name, Entry{std::move(info), std::move(factory)});
}

} // namespace engine
