// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/verifier.h"

#include <string>
#include <vector>

namespace engine {

// Settings that several decoders share, and how to read their resolved values. All take effect at
// the next step. Defaults and ranges that differ between decoders are parameters.

/// When drafts of SWIFT end and how wide they are, unless the user says otherwise. Source: arXiv
/// 2410.06916 section 4.2 and appendix C.2.
inline constexpr double kSwiftEpsilon = 0.8;
inline constexpr int kSwiftLongestDraft = 25;
inline constexpr const char* kSwiftSiblings = "1,3,5,10";

/// The most time that its trials take while it searches, as a share of the time of drafting and
/// verifying. Not of the paper.
inline constexpr double kSwiftSearchShare = 0.25;

/// "max_draft": from 1 to `most`.
SettingInfo longestDraftSetting(int initial, int most);

/// "exit_layer", counted from 1; 0 leaves it to the decoder.
SettingInfo exitLayerSetting(std::string meaning);

/// Its value, 0 included. Errors: InvalidInput for an exit that a model of so many layers does not
/// have; `hint` says what 0 does.
Result<int> exitLayerOf(const SettingValues& values, int layerCount, std::string hint);

/// "verification": match or rejection.
SettingInfo verificationSetting();

VerifyRule verifyRuleOf(const SettingValues& values);

/// "shared_noise"; see DraftTerms::sharesNoise.
SettingInfo sharedNoiseSetting();

/// "th", "adapt", "a", "step", "beta1", "beta2" and "max_draft", with the defaults of `initial` and
/// drafts of at most `mostSteps`. Which acceptance is meant is no part of them.
std::vector<SettingInfo> thresholdSettings(const AdaptiveThresholdOptions& initial, int mostSteps);

/// The values of those.
AdaptiveThresholdOptions thresholdOf(const SettingValues& values);

/// "draft_vocabulary", see DraftTerms::vocabularyShare.
SettingInfo draftVocabularySetting(double initial);

/// Its value where nothing says otherwise: on the lesson model made of the default one a sixth and
/// two fifths were about as fast.
inline constexpr double kDraftVocabulary = 0.25;

/// "margin", for decoders that weigh a draft against the time it takes.
SettingInfo marginSetting();

} // namespace engine
