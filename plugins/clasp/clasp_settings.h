// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "engine/decoding/round/verifier.h"

namespace clasp {

/// What the two decoders of this module differ in: what a set leaves out, and who says how much.
enum class Method {
    Clasp,    ///< "clasp": so many whole layers
    KnapSpec, ///< "knapspec": sublayers, as many as promise the most speed
};

/// All settings of one of the decoders, checked against the model.
struct ClaspSettings {
    int skipped = 1;        ///< Clasp: layers that a set leaves out
    double most = 0.5;      ///< KnapSpec: share of the inner sublayers' cost left out at most
    int interval = 64;      ///< rounds between two updates
    int references = 1;     ///< tokens whose streams are followed
    bool checks = true;     ///< a set must predict the newest tokens before it replaces another
    double confidence = .7; ///< a draft ends after a token less probable than this
    int longest = 10;       ///< tokens of a draft
    engine::VerifyRule rule = engine::VerifyRule::Match;
    bool sharesNoise = true;

    /// From resolved values. Errors: Unsupported for a model without inner layers; InvalidInput for
    /// a budget that the model cannot meet.
    static engine::Result<ClaspSettings>
    make(Method method, const engine::SettingValues& values, int layerCount);
};

/// What the decoder says about itself.
engine::DecoderInfo claspInfo(Method method);

} // namespace clasp
