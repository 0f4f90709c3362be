// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <utility>

namespace support {

/// The value of a result without which a test cannot go on; an error ends the program and is told.
template <typename T> T valueOf(engine::Result<T> result) {
    ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
    return std::move(result).value();
}

} // namespace support
