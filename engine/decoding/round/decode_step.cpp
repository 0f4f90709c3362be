// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/round/decode_step.h"

#include <algorithm>

namespace engine {

std::string_view tokenOriginName(TokenOrigin origin) {
    switch (origin) {
    case TokenOrigin::Vanilla:
        return "vanilla";
    case TokenOrigin::Draft:
        return "draft";
    case TokenOrigin::Sibling:
        return "sibling";
    case TokenOrigin::Bonus:
        return "bonus";
    }
    return "unknown";
}

std::string_view decoderPhaseName(DecoderPhase phase) {
    switch (phase) {
    case DecoderPhase::Plain:
        return "plain";
    case DecoderPhase::Accumulate:
        return "accumulate";
    case DecoderPhase::Optimise:
        return "optimise";
    case DecoderPhase::Accelerate:
        return "accelerate";
    }
    return "unknown";
}

void DecodeStep::cutTo(std::size_t count) {
    tokens.resize(std::min(tokens.size(), count));
    facts.resize(std::min(facts.size(), count));
    chances.resize(std::min(chances.size(), count));
    path.resize(std::min(path.size(), count));
}

} // namespace engine
