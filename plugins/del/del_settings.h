// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"
#include "engine/decoding/round/verifier.h"

namespace del {

/// Longest draft that can be set.
inline constexpr int kMostDraft = 64;

/// Where paper, published code and this implementation differ.
enum class DelRule {
    /// Rows up to the first mismatch, it included, are what alpha divides by; a token of low
    /// confidence is verified; where no draft pays, the next step is a plain one.
    Ours,
    /// As printed: alpha divides by the index of the mismatch, a token of low confidence is
    /// dropped.
    Paper,
    /// As published: at most one step less is considered; where no draft pays it drafts all the
    /// same, and compares rows behind the mismatch as well.
    Code,
};

/// All settings of `del` and `del-ms`, checked. A plain value.
struct DelSettings {
    bool isByTime = false; ///< del-ms
    engine::VerifyRule verification = engine::VerifyRule::Match;
    DelRule rule = DelRule::Ours;
    int fixedExit = 0;          ///< layers that every draft runs; 0 = it is chosen
    bool startsFused = true;    ///< the first round drafts from the prompt; else it is a plain step
    bool isOfficialNan = false; ///< see dynamicThreshold()
    bool isLengthChosen = false; ///< drafts have the length that the choice foresaw
    int mostDraft = 18;
    int contextRows = 32; ///< prompt rows that the first round compares
    double decay = 0.95;  ///< w
    int near = 3;         ///< see thinnedExits()
    int stride = 4;
    int compareEvery = 4;      ///< rounds; del
    double compareShare = 0.0; ///< of the time, 0 to 1; del-ms
    double margin = 0.0; ///< how much better than a plain step a draft must promise to be; del-ms
    bool keepsStatistics = false;
    bool comparesLaws = false; ///< see compare()

    /// From resolved values. Errors: InvalidInput for an exit that the model does not have.
    static engine::Result<DelSettings>
    make(const engine::SettingValues& values, bool isByTime, int layerCount);

    /// The most steps that are considered: k_max.
    int mostSteps() const { return rule == DelRule::Code ? mostDraft - 1 : mostDraft; }

    /// Whether a token is drafted even where none pays: as published, and where the exit is the
    /// user's choice and the threshold alone says how long drafts are.
    bool draftsAnyway() const {
        return rule == DelRule::Code || (fixedExit > 0 && !isLengthChosen);
    }
};

/// What the decoders say about themselves.
engine::DecoderInfo delInfo();
engine::DecoderInfo delMsInfo();

} // namespace del
