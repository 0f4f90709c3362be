// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Watches growing text for stop strings; holds back what could still become one.
class StopStringFilter {
public:
    /// Empty stop strings are ignored.
    explicit StopStringFilter(std::vector<std::string> stopStrings);

    /// Adds text; returns the part that is now certain. After a hit nothing more comes out.
    std::string push(std::string_view text);

    /// What was held back when no more text comes.
    std::string finish();

    bool hasHit() const { return m_hasHit; }

    /// How many bytes from the stop string on were taken; 0 before a hit.
    std::size_t cutBytes() const { return m_cutBytes; }

private:
    std::vector<std::string> m_stopStrings;
    std::string m_held;
    bool m_hasHit = false;
    std::size_t m_cutBytes = 0;
};

} // namespace engine
