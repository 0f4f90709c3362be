// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/search_settings.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/drafts/self_drafter.h"

namespace swift {

/// All settings of the decoder, checked.
struct SwiftSettings {
    engine::SearchSettings search;
    engine::DraftTerms draft;  ///< the stop rule aside
    bool draftsFreely = false; ///< tokens that were seen before are drafted first
    double freeLeast = 0.6;    ///< probability that the first of them must have
    double epsilon = 0.8;
    bool calibrates = true;   ///< the threshold follows acceptance, from epsilon downwards
    double searchShare = 0.0; ///< of the time of drafting and verifying; 0 = trials may take any
    bool weighs = true;       ///< a draft is as long and wide as its measured time pays for
    int maxDraft = 25;

    /// From resolved values. Errors: InvalidInput for texts that say nothing sensible.
    static engine::Result<SwiftSettings>
    make(const engine::SettingValues& values, bool isGreedy, int preferredTreeNodes);

    /// How much of `searchShare` trials are worth where the best set has this matchness, 0 to 1:
    /// all of it while half of the tokens are missed or more, then less and less, as less is left
    /// to find; a tenth at least.
    double searchShareAt(double matchness) const;

    /// Whether the search must begin anew to follow `next`.
    bool needsNewSearch(const SwiftSettings& next) const;
};

/// What the decoder says about itself, with its profiles.
engine::DecoderInfo swiftInfo();

} // namespace swift
