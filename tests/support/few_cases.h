// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGlobal>

namespace support {

/// SWIFT_STUDIO_FULL_EXACTNESS=1: the cases of a test are its whole grid, and no sample of it.
inline bool takesAllCases() {
    return qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_EXACTNESS") == 1;
}

/// Whether a test should take few cases because each takes ten times as long, as under a sanitizer
/// or on an emulated processor.
inline bool takesFewCases() {
    return qEnvironmentVariableIntValue("SWIFT_STUDIO_EXACTNESS_CASES") == 1 && !takesAllCases();
}

/// Takes one of so many cases of nested loops, a prime number, where few are taken. Loops of as
/// many rounds are rare, so that all their values are still met.
class FewCases {
public:
    explicit FewCases(int oneOf = 7, bool isOn = takesFewCases())
        : m_oneOf(isOn ? oneOf : 1) {}

    bool skipsNext() { return m_count++ % m_oneOf != 0; }

private:
    int m_oneOf;
    int m_count = 0;
};

} // namespace support
