// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"

#include <string>
#include <vector>

namespace app {

/// One column of a comparison: a decoder with its settings, under a name.
struct Variant {
    std::string name;    ///< "swift", or a name of its own: "a" of "a=swift"
    std::string decoder; ///< "swift"
    engine::SettingValues settings = {};
    std::optional<int> lockedLayers = {}; ///< see DecoderInfo::lockedCount

    bool isVanilla() const { return name == "vanilla"; }

    /// The name, and for a name of its own also the decoder and what was set: "a = swift with
    /// r=0.3".
    std::string inWords() const;
};

/// Reads what was typed for --decoders (NAME or NAME=DECODER) and --set (VARIANT.SETTING=VALUE for
/// one, SETTING=VALUE for all that draft). Vanilla comes first if it was not named. Errors, each in
/// one sentence: InvalidInput for an empty or impossible name, a name that is given twice or that
/// is a decoder's own, and a setting of a variant that is not compared; those of
/// DecoderRegistry::info and parseSetting.
engine::Result<std::vector<Variant>> readVariants(engine::DecoderRegistry& registry,
                                                  const std::vector<std::string>& decoders,
                                                  const std::vector<std::string>& settings);

} // namespace app
