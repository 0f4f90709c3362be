// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <filesystem>

namespace engine {

/// Looks at a model without reading its weights: its facts, and what running it would take.
/// Thread: engine. Errors: whatever would keep the model from being loaded, as far as the files'
/// heads tell; a backend that does not exist.
Result<ModelInspected> inspectModel(const std::filesystem::path& moduleFolder,
                                    const InspectModel& command);

} // namespace engine
