// SPDX-License-Identifier: Apache-2.0
#include "engine/search/layer_search.h"

namespace engine {

std::string_view trialKindName(TrialKind kind) {
    switch (kind) {
    case TrialKind::Start:
        return "start";
    case TrialKind::Random:
        return "random";
    case TrialKind::Bayesian:
        return "bayesian";
    case TrialKind::Rescore:
        return "rescore";
    case TrialKind::Manual:
        return "manual";
    }
    return "unknown";
}

Trial makeTrial(TrialKind kind, const SkipSpace& space, const LayerPlan& plan) {
    Trial trial{kind, plan, space.bits(plan), {}};
    trial.point.assign(trial.bits.begin(), trial.bits.end());
    return trial;
}

} // namespace engine
