// SPDX-License-Identifier: Apache-2.0

/// What a module says when the engine asks for its build (engine/base/modules/run_time_module.h).
/// It stands in a file of its own, which each changed header of the engine compiles anew.
extern "C" __attribute__((visibility("default"))) const char* swiftStudioModuleBuildId() {
    return SWIFT_STUDIO_BUILD_ID;
}
