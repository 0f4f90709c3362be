// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGlobal>

namespace support {

/// Whether a test should take few cases because each takes ten times as long, as under a sanitizer
/// or on an emulated processor.
inline bool takesFewCases() {
    return qEnvironmentVariableIntValue("SWIFT_STUDIO_EXACTNESS_CASES") == 1 &&
           qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_EXACTNESS") != 1;
}

/// Leaves out six of seven cases of nested loops where few are taken. Loops of seven rounds are
/// rare, so that all their values are still met.
class FewCases {
public:
    bool skipsNext() { return m_isOn && m_count++ % 7 != 0; }

private:
    bool m_isOn = takesFewCases();
    int m_count = 0;
};

} // namespace support
