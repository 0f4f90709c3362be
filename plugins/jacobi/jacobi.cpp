// SPDX-License-Identifier: Apache-2.0
#include "plugins/jacobi/jacobi_decoder.h"

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(jacobi::jacobiInfo(), &jacobi::JacobiDecoder::make);
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
