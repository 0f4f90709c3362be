// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_info.h"

namespace jacobi {

inline constexpr int kMostBlock = 512;

/// What can be set. A plain value.
struct JacobiSettings {
    int block = 3;         ///< guesses of a full block; 0 = as many as are worth their rows
    bool slides = false;   ///< refilled in every round, else when it is exhausted
    bool usesPool = false; ///< refilled from the text, else with random tokens of the prompt
    int budget = 0;        ///< tokens of an answer that are drafted for
    bool operator==(const JacobiSettings&) const = default;

    static JacobiSettings make(const engine::SettingValues& values);
};

engine::DecoderInfo jacobiInfo();

} // namespace jacobi
