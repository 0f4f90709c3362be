// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/progress/prompt_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace engine {

namespace {

ShardResult recordsOf(const RunFolder& folder, int shard) {
    ShardResult known;
    if (auto finished = folder.result(shard))
        return std::move(finished).value();
    if (auto part = folder.progress(shard, 0))
        for (ShardRecord& record : part.value().records)
            addRecord(known, std::move(record));
    return known;
}

} // namespace

Result<PromptAnswers> readPromptAnswers(const RunFolder& folder, int prompt) {
    if (prompt < 0 || prompt >= static_cast<int>(folder.prompts().size()))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The run in {} has {} prompts, so there is no prompt {}.",
                                 folder.path().string(),
                                 folder.prompts().size(),
                                 prompt + 1),
                     "Name one of them."};
    PromptAnswers found;
    found.prompt = folder.prompts()[static_cast<std::size_t>(prompt)];
    for (const PlannedShard& shard : folder.plan().shards) {
        if (std::ranges::find(shard.prompts, prompt) == shard.prompts.end())
            continue;
        ShardResult known = recordsOf(folder, shard.index);
        for (ShardAnswer& answer : known.answers) {
            const bool isKnown =
                std::ranges::find(found.answers, answer.variant, &ShardAnswer::variant) !=
                found.answers.end();
            if (answer.prompt != prompt || answer.pass != 0 || isKnown)
                continue;
            for (ShardRound& round : known.rounds)
                if (round.prompt == prompt && round.pass == 0 && round.variant == answer.variant)
                    found.rounds.push_back(std::move(round));
            found.answers.push_back(std::move(answer));
        }
    }
    return found;
}

} // namespace engine
