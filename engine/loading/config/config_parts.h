// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/config/json_fields.h"
#include "engine/loading/network/family_table.h"

/// The parts that config.json is read in. Each minds the family's row for what the file leaves
/// unsaid. Errors: CorruptFile with the member and its byte offset; Unsupported by name.
namespace engine {

/// Something that no backend computes.
Error unsupportedConfig(std::string_view what);

/// Refuses what some family computes by a field that this one does not read. The sizes have been
/// read.
Result<void>
refuseUnreadArithmetic(const JsonFields& fields, const Family& family, const ModelConfig& config);

/// Layers whose queries see a window of the keys.
Result<void> readWindows(const JsonFields& fields, const Family& family, ModelConfig& config);

/// How queries and keys are turned, layer by layer. The windows have been read.
Result<void> readRotary(const JsonFields& fields, const Family& family, ModelConfig& config);

/// Scales and soft-caps of embedding, stream, scores and logits.
Result<void> readScales(const JsonFields& fields, const Family& family, ModelConfig& config);

/// Experts, and the layers that have none.
Result<void> readExperts(const JsonFields& fields, const Family& family, ModelConfig& config);

} // namespace engine
