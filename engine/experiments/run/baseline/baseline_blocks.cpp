// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/baseline/baseline_blocks.h"

#include <cmath>

namespace engine {

bool isVanillaName(std::string_view name) {
    return name == "vanilla" || name.starts_with("vanilla@");
}

bool endsBlock(const PlannedShard& shard, std::size_t place) {
    return (place + 1) % kPromptsOfBlock == 0 || place + 1 == shard.prompts.size();
}

std::map<int, double> vanillaMoves(const PlannedShard& shard,
                                   std::span<const ShardAnswer> answers) {
    std::map<int, double> begins; // by prompt: milliseconds for a token
    std::map<int, double> ends;
    for (const ShardAnswer& answer : answers) {
        if (isVanillaName(answer.variant) && answer.tokens > 0 && answer.decodeMs > 0.0)
            (answer.pass == 0 ? begins : ends)[answer.prompt] =
                answer.decodeMs / static_cast<double>(answer.tokens);
    }
    std::map<int, double> moves;
    std::map<std::size_t, double> movesOfBlock;
    for (std::size_t place = 0; place < shard.prompts.size(); ++place) {
        const int prompt = shard.prompts[place];
        const auto begin = begins.find(prompt);
        const auto end = ends.find(prompt);
        if (begin == begins.end() || end == ends.end())
            continue;
        moves[prompt] = end->second / begin->second - 1.0;
        movesOfBlock[place / kPromptsOfBlock] = moves[prompt];
    }
    for (std::size_t place = 0; place < shard.prompts.size(); ++place) {
        if (const auto block = movesOfBlock.find(place / kPromptsOfBlock);
            block != movesOfBlock.end())
            moves.try_emplace(shard.prompts[place], block->second);
    }
    return moves;
}

bool isSteady(std::optional<double> moved) { return !moved || std::abs(*moved) <= kBaselineLimit; }

} // namespace engine
