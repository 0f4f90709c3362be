// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/verifier.h"

#include <string>
#include <vector>

namespace engine {

// Settings of more than one decoder, and what resolved values say about them. All act from the next
// step on; where decoders differ in defaults and ranges, these are given.

/// "max_draft": from 1 to `most`.
SettingInfo longestDraftSetting(int initial, int most);

/// "exit_layer", counted from 1; 0 leaves it to the decoder.
SettingInfo exitLayerSetting(std::string meaning);

/// What it says, 0 too. Errors: InvalidInput for an exit that a model of so many layers does not
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

/// What those say.
AdaptiveThresholdOptions thresholdOf(const SettingValues& values);

/// "margin", of decoders that weigh a draft against the time it takes.
SettingInfo marginSetting();

} // namespace engine
