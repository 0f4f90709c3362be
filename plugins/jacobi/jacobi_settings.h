// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"

namespace jacobi {

inline constexpr int kMostBlock = 512;

/// The settings with nothing left to choose. A plain value.
struct JacobiSettings {
    int block = 3;         ///< guesses of a full block
    bool slides = false;   ///< refilled in every round, else when it is exhausted
    bool usesPool = false; ///< refilled from the text, else with random tokens of the prompt
    int budget = 0;        ///< tokens of an answer that are drafted for
    bool operator==(const JacobiSettings&) const = default;

    /// An automatic block is chosen by what a pass of the backend can take.
    static JacobiSettings make(const engine::SettingValues& values, int preferredTreeNodes);
};

engine::DecoderInfo jacobiInfo();

} // namespace jacobi
