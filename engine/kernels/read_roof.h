// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <map>
#include <string>

namespace engine {

/// Measures how fast the memory in which a backend holds weights can be read at this moment: the
/// upper limit ("roof") of everything that streams weights. Thread: one at a time.
class ReadRoof {
public:
    ReadRoof() = default;
    virtual ~ReadRoof() = default;
    ReadRoof(const ReadRoof&) = delete;
    ReadRoof& operator=(const ReadRoof&) = delete;

    /// Reads the whole buffer. Returns 1e9 bytes a second. Errors: those of a device that fails.
    virtual Result<double> readGbps() = 0;

    /// Bytes of the buffer.
    virtual std::size_t byteSize() const = 0;

    /// What else takes time on a device of its own, in microseconds, by name: "launch", "barrier".
    /// None of the processor. Errors: those of a device that fails.
    virtual Result<std::map<std::string, double>> timesUs() {
        return std::map<std::string, double>();
    }
};

} // namespace engine
