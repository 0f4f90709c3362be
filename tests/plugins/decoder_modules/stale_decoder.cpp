// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_registry.h"

#include <cstdlib>

// What a stale module would do with the registry is anyone's guess: it must not get that far.
extern "C" const char* swiftStudioModuleBuildId() { return "0.0.1-of-last-year"; }

extern "C" void swiftStudioRegisterDecoders(engine::DecoderRegistry&) { std::abort(); }
