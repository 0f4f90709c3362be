// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "plugins/lookahead/guess_window.h"

namespace lookahead {

inline constexpr int kMostColumns = 64;
inline constexpr int kMostSize = 8;
inline constexpr int kMostNgrams = 64;

/// The settings with nothing left to choose. A plain value.
struct LookaheadSettings {
    WindowShape shape;
    int ngrams = 5; ///< G: of a key, and so of a draft
    bool readsPrompt = false;
    bool keepsPool = false;

    /// What is 0 (automatic) is chosen by what a pass of the backend can take beside the pending
    /// token. Errors: InvalidInput for n-grams of one token.
    static engine::Result<LookaheadSettings> make(const engine::SettingValues& values,
                                                  int preferredTreeNodes);
};

engine::DecoderInfo lookaheadInfo();

} // namespace lookahead
