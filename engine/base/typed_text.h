// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

namespace engine {

/// The error for a text that was typed instead of read from a file: no file is damaged then.
inline Error asTyped(Error error, std::string hint) {
    if (error.code == ErrorCode::CorruptFile)
        return {ErrorCode::InvalidInput, std::move(error.message), std::move(hint)};
    return error;
}

} // namespace engine
