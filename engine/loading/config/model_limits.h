// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The largest sizes of a network that any reader accepts: far above every known model, and so
/// small that products of two of them stay far below 2^63.
namespace engine::model_limits {

inline constexpr std::int64_t kLayers = 1024;
inline constexpr std::int64_t kExperts = 4096;                     ///< of one layer
inline constexpr std::int64_t kAllExperts = 65'536;                ///< of all layers together
inline constexpr std::int64_t kRowValues = std::int64_t(1) << 24U; ///< of any row of a matrix
inline constexpr std::int64_t kHeadDim = std::int64_t(1) << 16U;
inline constexpr std::int64_t kVocabulary = 4'194'304;
inline constexpr std::int64_t kContext = std::int64_t(1) << 30U; ///< tokens

} // namespace engine::model_limits
