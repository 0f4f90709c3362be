// SPDX-License-Identifier: Apache-2.0
// Modules whose registration goes wrong; TEST_FAULT says how.
#include "engine/decoding/decoder_registry.h"

#include <stdexcept>

namespace {

using namespace engine;

Result<std::unique_ptr<Decoder>> refuse(const DecoderContext&) {
    return Error{ErrorCode::Unsupported, "Only a test.", ""};
}

DecoderInfo infoOf(std::string name) {
    DecoderInfo info;
    info.name = std::move(name);
    info.settings = {{.name = "r", .title = "r", .initial = 0.5, .minimum = 0.0, .maximum = 0.8}};
    return info;
}

void registerBroken(DecoderRegistry& registry) {
    const std::string fault = TEST_FAULT;
    DecoderInfo info = infoOf(fault);
    if (fault == "silent")
        return;
    if (fault == "usurper")
        info.name = "vanilla";
    if (fault == "bad_default")
        info.settings.front().initial = 0.9;
    if (fault == "bad_profile")
        info.profiles = {{"code", "As published.", {{"gamma", 3.0}}}};
    registry.add(std::move(info), refuse);
    if (fault == "throwing")
        throw std::runtime_error("the registration broke down");
}

} // namespace

ENGINE_DECODER_MODULE(registerBroken);
