// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/del_decoder.h"

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(del::delInfo(), [](const engine::DecoderContext& context) {
        return del::DelDecoder::make(context, false);
    });
    registry.add(del::delMsInfo(), [](const engine::DecoderContext& context) {
        return del::DelDecoder::make(context, true);
    });
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
