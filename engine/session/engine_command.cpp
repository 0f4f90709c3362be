// SPDX-License-Identifier: Apache-2.0
#include "engine/session/engine_command.h"

namespace engine {

EngineCommand::EngineCommand(const EngineCommand& other) = default;
EngineCommand::EngineCommand(EngineCommand&& other) noexcept = default;
EngineCommand& EngineCommand::operator=(const EngineCommand& other) = default;
EngineCommand& EngineCommand::operator=(EngineCommand&& other) noexcept = default;
EngineCommand::~EngineCommand() = default;

} // namespace engine
