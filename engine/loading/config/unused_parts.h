// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/json/json_document.h"
#include "engine/loading/model_config.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a model's files hold beyond what is computed with: it is told, never passed over.
namespace engine {

/// Adds a note to the configuration that these tensors have no effect, if there are any.
void noteUnusedTensors(std::span<const std::string> unused, ModelConfig& config);

/// Refuses a norm of a computed layer that the family has not, by name: with it the network
/// computes otherwise. Names are those of a folder or of a GGUF file. Errors: Unsupported.
Result<void> refuseUnreadNorms(std::span<const std::string> unused, const ModelConfig& config);

/// Names of the object's members that are in neither list; those that are null are left out.
std::vector<std::string> fieldsWithoutEffect(const JsonValue& object,
                                             std::span<const std::string_view> known,
                                             std::span<const std::string_view> alsoKnown);

/// "a", "a and b", "a, b, c and 5 more" where there are more than `most`; control characters are
/// replaced.
std::string listOf(std::span<const std::string> names, std::size_t most = 6);

} // namespace engine
