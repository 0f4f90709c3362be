// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/gguf_split.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace engine {

namespace {

constexpr std::size_t kPartDigits = 5;

/// Five digits as a number above 0; 0 for anything else.
int fiveDigits(std::string_view text) {
    int number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failure == std::errc() && end == text.data() + kPartDigits ? number : 0;
}

} // namespace

std::filesystem::path GgufPartName::sibling(const std::filesystem::path& path, int other) const {
    return path.parent_path() / fmt::format("{}-{:05}-of-{:05}.gguf", stem, other, count);
}

std::optional<GgufPartName> ggufPartName(const std::filesystem::path& path) {
    constexpr std::string_view kOf = "-of-";
    constexpr std::size_t kTail = 1 + kPartDigits + kOf.size() + kPartDigits; // "-00002-of-00005"
    const std::string name = path.stem().string();
    if (path.extension() != ".gguf" || name.size() <= kTail)
        return std::nullopt;
    const std::string_view tail = std::string_view(name).substr(name.size() - kTail);
    GgufPartName part{name.substr(0, name.size() - kTail),
                      fiveDigits(tail.substr(1, kPartDigits)),
                      fiveDigits(tail.substr(kTail - kPartDigits))};
    const bool isPart = tail[0] == '-' && tail.substr(1 + kPartDigits, kOf.size()) == kOf &&
                        part.number >= 1 && part.number <= part.count;
    return isPart ? std::optional(std::move(part)) : std::nullopt;
}

} // namespace engine
