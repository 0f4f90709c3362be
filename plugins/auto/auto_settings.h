// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "engine/decoding/free/free_candidates.h"

namespace automatic {

/// Slots behind the context, and the largest tree that can be set.
constexpr int kMostNodes = 64;

/// All settings of the decoder.
struct AutoSettings {
    int maxNodes;
    double margin;
    engine::FreeSources sources;
    bool skipsLayers;
    bool exitsEarly;
    bool usesAdapter;
    bool usesCopy;
    double probing;
    bool searchesBeside;
    bool remembers;
    double vocabularyShare; ///< see DraftTerms

    static AutoSettings make(const engine::SettingValues& values);
};

/// What the decoder says about itself.
engine::DecoderInfo autoInfo();

} // namespace automatic
