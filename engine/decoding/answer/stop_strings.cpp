// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/stop_strings.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// Length of the longest end of `text` that is a beginning of `stop` (shorter than all of it).
std::size_t overlap(std::string_view text, std::string_view stop) {
    for (std::size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length)
        if (text.substr(text.size() - length) == stop.substr(0, length))
            return length;
    return 0;
}

} // namespace

StopStringFilter::StopStringFilter(std::vector<std::string> stopStrings)
    : m_stopStrings(std::move(stopStrings)) {
    std::erase(m_stopStrings, "");
}

std::string StopStringFilter::push(std::string_view text) {
    if (m_hasHit)
        return {};
    m_held += text;
    std::size_t hit = std::string::npos;
    std::size_t held = 0;
    for (const std::string& stop : m_stopStrings) {
        hit = std::min(hit, m_held.find(stop));
        held = std::max(held, overlap(m_held, stop));
    }
    m_hasHit = hit != std::string::npos;
    const std::size_t certain = m_hasHit ? hit : m_held.size() - held;
    m_cutBytes = m_hasHit ? m_held.size() - hit : 0;
    std::string out = m_held.substr(0, certain);
    m_held.erase(0, m_hasHit ? m_held.size() : certain);
    return out;
}

std::string StopStringFilter::finish() { return std::exchange(m_held, {}); }

} // namespace engine
