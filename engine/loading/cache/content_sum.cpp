// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/cache/content_sum.h"

#include "engine/base/result.h"

#include <fmt/format.h>

#include <xxhash.h>

namespace engine {

void ContentSum::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

ContentSum::ContentSum()
    : m_state(XXH3_createState()) {
    ENGINE_CHECK(m_state, "there is no memory for {} bytes of hash state", sizeof(void*));
    XXH3_128bits_reset(m_state.get());
}

ContentSum::ContentSum(ContentSum&&) noexcept = default;
ContentSum::~ContentSum() = default;

void ContentSum::add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(m_state.get(), bytes.data(), bytes.size());
}

std::string ContentSum::hexDigits() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(m_state.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string contentSumOf(std::string_view text) {
    ContentSum sum;
    sum.add(std::as_bytes(std::span(text)));
    return sum.hexDigits();
}

} // namespace engine
