// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

namespace app {

/// The exit codes of swift-run; app/README.md lists them.
enum ExitCode : int {
    kSuccess = 0,
    kBug = 1,
    kUsage = 2,
    kNotFound = 3,
    kUnsupported = 4,
    kCorruptFile = 5,
    kNoMemory = 6,
    kIo = 7,
    kNumeric = 8,
    kDevice = 9,
    kCancelled = 130,  // 128 + SIGINT, as shells expect
    kTerminated = 143, // 128 + SIGTERM
};

inline ExitCode exitCodeOf(engine::ErrorCode code) {
    switch (code) {
    case engine::ErrorCode::InvalidInput:
        return kUsage;
    case engine::ErrorCode::NotFound:
        return kNotFound;
    case engine::ErrorCode::Unsupported:
        return kUnsupported;
    case engine::ErrorCode::CorruptFile:
        return kCorruptFile;
    case engine::ErrorCode::NoMemory:
        return kNoMemory;
    case engine::ErrorCode::Io:
        return kIo;
    case engine::ErrorCode::Numeric:
        return kNumeric;
    case engine::ErrorCode::Device:
        return kDevice;
    case engine::ErrorCode::Cancelled:
        return kCancelled;
    case engine::ErrorCode::Internal:
        return kBug;
    }
    return kBug;
}

} // namespace app
