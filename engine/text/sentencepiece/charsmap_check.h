// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// Walks through a precompiled_charsmap (u32 size, double-array trie of that many bytes, texts
/// that end in NUL) along every path a text could take, so that the library, which follows it
/// without looking, cannot leave it. Returns what is wrong, or nothing.
/// Source: darts-clone's unit layout; sentencepiece's NormalizerSpec.
std::optional<std::string> findCharsmapFault(std::string_view charsmap);

} // namespace engine
