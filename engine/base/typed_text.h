// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

namespace engine {

/// Converts an error for a text that was typed instead of read from a file, so that it does not
/// speak of a damaged file.
inline Error asTyped(Error error, std::string hint) {
    if (error.code == ErrorCode::CorruptFile)
        return {ErrorCode::InvalidInput, std::move(error.message), std::move(hint)};
    return error;
}

} // namespace engine
