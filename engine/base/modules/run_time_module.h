// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Identifies the build. A module of another build is refused, because modules share C++ types with
/// the engine.
std::string_view buildId();

/// A folder of modules of one kind: files named lib<kind>_NAME.so. Modules are opened on first use
/// and never closed, because uses of their code and type information cannot be counted. Thread:
/// any, one at a time.
class ModuleFolder {
public:
    /// `kind` is "backend" or "decoder". The folder need not exist.
    ModuleFolder(const std::filesystem::path& folder, std::string kind);

    /// Names that a file exists for, sorted.
    std::vector<std::string> names() const;

    /// Opens a module, checks that no other user can have written it and that it is of this build,
    /// and calls `registration` with the address of its C function `function`. Errors: Unsupported
    /// (says why), also when the registration throws. NotFound for a name that names() does not
    /// list, so that a name cannot lead out of the folder.
    Result<void> open(const std::string& name,
                      const char* function,
                      const std::function<void(void*)>& registration) const;

private:
    std::filesystem::path pathOf(const std::string& name) const;

    std::filesystem::path m_folder; // absolute; empty = none
    std::string m_kind;
};

/// A module's exception as an error that names the module.
Error moduleFailure(std::string_view module, std::string_view what);

} // namespace engine
