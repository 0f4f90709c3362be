// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/sampling_options.h"

#include <algorithm>
#include <span>
#include <vector>

namespace support {

/// The effect of penalties and bias on a row, written from their definition: each token of the
/// vocabulary is searched for in the texts.
inline std::vector<double> penalised(std::span<const double> logits,
                                     const engine::SamplingOptions& options,
                                     const std::vector<engine::TokenId>& prompt,
                                     const std::vector<engine::TokenId>& answer) {
    std::vector<engine::TokenId> all = prompt;
    all.insert(all.end(), answer.begin(), answer.end());
    const auto window = static_cast<std::size_t>(options.repetitionWindow);
    const std::size_t first = window == 0 || window > all.size() ? 0 : all.size() - window;
    std::vector<double> changed(logits.begin(), logits.end());
    for (std::size_t id = 0; id < changed.size(); ++id) {
        const auto token = static_cast<engine::TokenId>(id);
        double& logit = changed[id];
        if (std::find(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), token) !=
            all.end())
            logit =
                logit > 0.0 ? logit / options.repetitionPenalty : logit * options.repetitionPenalty;
        const auto times = std::count(answer.begin(), answer.end(), token);
        if (times > 0)
            logit -=
                options.frequencyPenalty * static_cast<double>(times) + options.presencePenalty;
        for (const engine::LogitBias& bias : options.logitBias)
            if (bias.token == token)
                logit += bias.value;
    }
    return changed;
}

} // namespace support
