// SPDX-License-Identifier: Apache-2.0
#include "engine/model/plain/plain_backend.h"

namespace engine {

void registerPlainBackend(BackendRegistry& registry) {
    BackendInfo info;
    info.name = "plain";
    info.title = "Plain";
    info.summary = "simple loops on one core, the reference of exactness";
    info.settings = {precisionSetting({Precision::F32, Precision::F64})};
    info.forecast = &widenedForecast;
    info.devices = &processorDevice;
    registry.add(std::move(info), &makePlainTransformer);
}

} // namespace engine
