// SPDX-License-Identifier: Apache-2.0
#include "plugins/space/space_decoder.h"

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(space::spaceInfo(), [](const engine::DecoderContext& context) {
        return space::SpaceDecoder::make(context);
    });
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
