// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGlobal>

namespace support {

/// Whether each case takes ten times as long, as under a sanitizer or on an emulated processor.
inline bool takesFewCases() {
    return qEnvironmentVariableIsSet("SWIFT_STUDIO_EXACTNESS_CASES");
}

/// Leaves out six of seven cases of nested loops where each takes long. Few loops are of seven
/// rounds, so that all their values are still met.
class FewCases {
public:
    bool skipsNext() { return m_isOn && m_count++ % 7 != 0; }

private:
    bool m_isOn = takesFewCases();
    int m_count = 0;
};

} // namespace support
