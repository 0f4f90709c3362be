// SPDX-License-Identifier: Apache-2.0
#include "plugins/lookahead/lookahead_decoder.h"

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(lookahead::lookaheadInfo(), &lookahead::LookaheadDecoder::make);
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
