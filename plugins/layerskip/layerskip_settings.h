// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/verifier.h"
#include "engine/loading/model_config.h"

namespace layerskip {

/// What the three decoders of this module differ in: how long their drafts are.
enum class LengthMethod {
    Fixed,       ///< "layerskip"
    FiniteState, ///< "layerskip-fs"
    Adaptive,    ///< "layerskip-dv"
};

/// All settings of one of the decoders, checked against the model.
struct LayerSkipSettings {
    int exitLayers = 1; ///< E, from 1 to one less than the model has
    engine::VerifyRule rule = engine::VerifyRule::Match;
    bool sharesNoise = true;
    double vocabularyShare = 1.0; ///< see DraftTerms
    bool startsFromPrompt = true;
    int length = 6;     ///< fixed, or where the finite states start; up to maxLength
    int maxLength = 18; ///< of a draft, whatever the method
    engine::AdaptiveThresholdOptions threshold; ///< LengthMethod::Adaptive

    /// From resolved values. Errors: InvalidInput for an exit that the model does not have.
    static engine::Result<LayerSkipSettings> make(LengthMethod method,
                                                  const engine::SettingValues& values,
                                                  const engine::ModelConfig& config);
};

/// What the decoder says about itself.
engine::DecoderInfo layerSkipInfo(LengthMethod method);

} // namespace layerskip
