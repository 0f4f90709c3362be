// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"

#include <cstdlib>

// What a stale module would do with the registry is anyone's guess: it must not get that far.
extern "C" const char* swiftStudioModuleBuildId() { return "0.0.1-of-last-year"; }

extern "C" void swiftStudioRegisterBackend(engine::BackendRegistry&) { std::abort(); }
