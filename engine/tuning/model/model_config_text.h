// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"

#include <string>

namespace engine {

/// What a tuned model's configuration says otherwise than that of its model.
struct ConfigChanges {
    TensorType type = TensorType::BF16; ///< of its weights
    TokenId maskToken = kNoToken;       ///< kNoToken: as it was
};

/// config.json of a tuned model: that of a folder with these changes, or one made from what a GGUF
/// file says. It is read again and describes the same network, whatever else it says. Errors:
/// Unsupported where that is not so, or where no config.json can say what the file says; those of
/// reading.
Result<std::string>
tunedConfigText(const ModelFiles& files, const ModelConfig& config, const ConfigChanges& changes);

} // namespace engine
