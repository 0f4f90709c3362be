// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "engine/model/transformer.h"

namespace space {

/// How a candidate is chosen from what its mask says.
enum class CandidateChoice {
    Argmax,  ///< the most probable token; under Match vanilla's own tokens come out
    Noise,   ///< drawn with the noise that vanilla draws with at its place; Match as well
    Sampled, ///< drawn from the mask's law and checked by ratio: tokens of vanilla's own law
};

/// What can be set, checked. A plain value.
struct SpaceSettings {
    int masks = 5;                 ///< k
    engine::TokenId maskToken = 0; ///< in the vocabulary
    CandidateChoice choice = CandidateChoice::Argmax;
    bool usesPaperSampling = false; ///< only with Sampled: biased
    double leastReach = 0.0;        ///< 0 when not adaptive

    /// Errors: Unsupported for a model without a mask token; InvalidInput for an id outside the
    /// vocabulary, or for the paper's sampling where nothing is sampled.
    static engine::Result<SpaceSettings> make(const engine::SettingValues& values,
                                              const engine::Transformer& transformer);
};

engine::DecoderInfo spaceInfo();

} // namespace space
