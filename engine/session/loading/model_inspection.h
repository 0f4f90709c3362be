// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <filesystem>

namespace engine {

/// Inspects a model without reading its weights: its facts, and the memory it would need. Thread:
/// engine. Errors: those of loading the model, as far as the files' headers show them; a backend
/// that does not exist.
Result<ModelInspected> inspectModel(const std::filesystem::path& moduleFolder,
                                    const InspectModel& command);

} // namespace engine
