// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace engine {

enum class FinishReason { EndToken, StopString, MaxTokens, ContextFull, Cancelled };

std::string_view finishReasonName(FinishReason reason); ///< "end_token", "stop_string", ...

/// Where the time of one answer went. Milliseconds are wall-clock.
struct GenerationMetrics {
    int promptTokens = 0;
    int outputTokens = 0;
    int steps = 0;
    double promptMs = 0.0;     ///< all but the last prompt token, whenever it was read
    double firstTokenMs = 0.0; ///< from the start to the end of the first step
    double decodeMs = 0.0;     ///< all steps together, and what the answer's end took

    bool operator==(const GenerationMetrics&) const = default;

    double tokensPerSecond() const { return decodeMs > 0.0 ? outputTokens / decodeMs * 1e3 : 0.0; }

    double tokensPerStep() const {
        return steps > 0 ? static_cast<double>(outputTokens) / steps : 0.0;
    }
};

} // namespace engine
