// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/lookup_drafter.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <bit>

namespace engine {

namespace {

constexpr std::size_t kFirstPlaces = 1024;

/// The hash of a sequence that is one token longer to the left; never 0.
std::uint64_t extended(std::uint64_t hash, TokenId token) {
    const auto bits = static_cast<std::uint64_t>(static_cast<std::uint32_t>(token));
    return mixBits(hash ^ mixBits(bits)) | 1U;
}

/// The token so many places before the end of `tokens` followed by `drafted`.
TokenId fromEnd(std::span<const TokenId> tokens, std::span<const TokenId> drafted, int back) {
    const auto place = static_cast<std::size_t>(back);
    if (place < drafted.size())
        return drafted[drafted.size() - 1 - place];
    return tokens[tokens.size() - 1 - (place - drafted.size())];
}

} // namespace

void LookupDrafter::begin(std::span<const TokenId> tokens) {
    const auto common = static_cast<std::size_t>(
        std::mismatch(m_tokens.begin(), m_tokens.end(), tokens.begin(), tokens.end()).first -
        m_tokens.begin());
    while (m_tokens.size() > common)
        forget();
    for (const TokenId token : tokens.subspan(common))
        append(token);
}

void LookupDrafter::append(TokenId token) {
    if (!m_tokens.empty())
        know();
    m_tokens.push_back(token);
}

void LookupDrafter::know() {
    const int longest = std::min(kLongest, static_cast<int>(m_tokens.size()));
    Ends& earlier = m_earlier.emplace_back();
    earlier.fill(-1);
    std::uint64_t hash = 0;
    for (int length = 1; length <= longest; ++length) {
        hash = extended(hash, fromEnd(m_tokens, {}, length - 1));
        std::int32_t& end = endOf(hash);
        earlier[static_cast<std::size_t>(length) - 1] = end;
        end = static_cast<std::int32_t>(m_tokens.size()) - 1;
    }
}

/// Takes the newest token back, and what became known when it was appended.
void LookupDrafter::forget() {
    m_tokens.pop_back();
    if (m_tokens.empty())
        return;
    const int longest = std::min(kLongest, static_cast<int>(m_tokens.size()));
    std::uint64_t hash = 0;
    for (int length = 1; length <= longest; ++length) {
        hash = extended(hash, fromEnd(m_tokens, {}, length - 1));
        endOf(hash) = m_earlier.back()[static_cast<std::size_t>(length) - 1];
    }
    m_earlier.pop_back();
}

LookupMatch LookupDrafter::find(std::span<const TokenId> drafted) const {
    const int longest = std::min(kLongest, static_cast<int>(m_tokens.size() + drafted.size()));
    Ends ends;
    int length = 0;
    std::uint64_t hash = 0;
    while (length < longest) { // what a longer sequence has met, its end has met as well
        hash = extended(hash, fromEnd(m_tokens, drafted, length));
        const std::int32_t end = findEnd(hash);
        if (end < 0)
            break;
        ends[static_cast<std::size_t>(length++)] = end;
    }
    for (; length > 0; --length) {
        const std::int32_t end = ends[static_cast<std::size_t>(length) - 1];
        if (isMatch(end, length, drafted))
            return {length, std::span(m_tokens).subspan(static_cast<std::size_t>(end) + 1)};
    }
    return {};
}

/// Other tokens may have the same hash.
bool LookupDrafter::isMatch(std::int32_t end, int length, std::span<const TokenId> drafted) const {
    for (int back = 0; back < length; ++back)
        if (end < back ||
            m_tokens[static_cast<std::size_t>(end - back)] != fromEnd(m_tokens, drafted, back))
            return false;
    return true;
}

std::int32_t LookupDrafter::findEnd(std::uint64_t hash) const {
    if (m_places.empty())
        return -1;
    const std::size_t mask = m_places.size() - 1;
    for (std::size_t at = hash >> 1U & mask; m_places[at].hash != 0; at = (at + 1) & mask)
        if (m_places[at].hash == hash)
            return m_places[at].end;
    return -1;
}

std::int32_t& LookupDrafter::endOf(std::uint64_t hash) {
    if (m_places.empty() || 2 * m_placeCount >= m_places.size())
        grow();
    const std::size_t mask = m_places.size() - 1;
    std::size_t at = hash >> 1U & mask;
    while (m_places[at].hash != 0 && m_places[at].hash != hash)
        at = (at + 1) & mask;
    if (m_places[at].hash == 0) {
        m_places[at].hash = hash;
        ++m_placeCount;
    }
    return m_places[at].end;
}

/// What was taken back is left out here: the table follows the tokens, not all that ever were.
void LookupDrafter::grow() {
    const auto isKept = [](const Place& place) { return place.hash != 0 && place.end >= 0; };
    m_placeCount =
        static_cast<std::size_t>(std::count_if(m_places.begin(), m_places.end(), isKept));
    std::vector<Place> old(std::max(kFirstPlaces, std::bit_ceil(4 * m_placeCount)));
    old.swap(m_places);
    const std::size_t mask = m_places.size() - 1;
    for (const Place& place : old) {
        if (!isKept(place))
            continue;
        std::size_t at = place.hash >> 1U & mask;
        while (m_places[at].hash != 0)
            at = (at + 1) & mask;
        m_places[at] = place;
    }
}

} // namespace engine
