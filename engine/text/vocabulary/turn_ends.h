// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace engine {

/// Texts of tokens by which chat models end a turn, or a whole text, whatever a file names as its
/// end: GGUF files often name one of several.
inline constexpr auto kTurnEnds = std::to_array<std::string_view>({
    "<|im_end|>",      // ChatML: Qwen, SmolLM
    "<|eot_id|>",      // Llama 3
    "<|eom_id|>",      // Llama 3, before a tool is called
    "<|end_of_text|>", // Llama 3, Granite
    "<end_of_turn>",   // Gemma
    "<|end_of_turn|>",
    "<|end|>", // Phi
    "<|endoftext|>",
    "<|EOT|>", // DeepSeek-Coder
});

inline bool isTurnEnd(std::string_view text) {
    return text.starts_with('<') &&
           std::find(kTurnEnds.begin(), kTurnEnds.end(), text) != kTurnEnds.end();
}

} // namespace engine
