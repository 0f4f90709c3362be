// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace engine {

/// A hash (XXH3, 128 bits) that grows with the bytes. Thread: one.
class ContentSum {
public:
    ContentSum();
    ContentSum(ContentSum&&) noexcept;
    ~ContentSum();

    void add(std::span<const std::byte> bytes);

    /// 32 hexadecimal digits over all bytes so far.
    std::string hexDigits() const;

private:
    struct Free {
        void operator()(XXH3_state_s* state) const;
    };

    std::unique_ptr<XXH3_state_s, Free> m_state;
};

/// 32 hexadecimal digits over a text.
std::string contentSumOf(std::string_view text);

} // namespace engine
