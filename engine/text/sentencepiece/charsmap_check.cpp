// SPDX-License-Identifier: Apache-2.0
#include "engine/text/sentencepiece/charsmap_check.h"

#include "engine/text/vocabulary/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace engine {

namespace {

constexpr std::size_t kMaxCharsmapBytes = 16U << 20U;
constexpr std::size_t kMaxTargetBytes = 1024; // bounds how much a text can grow
constexpr int kMaxNestedRules = 32; // the library keeps 32 matches and reads what it found

std::uint32_t readU32(std::string_view bytes, std::size_t offset) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i)
        value |= std::uint32_t{static_cast<std::uint8_t>(bytes[offset + i])} << (8 * i);
    return value;
}

/// The texts that rules turn into, one behind the other.
class Targets {
public:
    explicit Targets(std::string_view bytes)
        : m_bytes(bytes) {}

    std::optional<std::string> findFault() const {
        if (m_bytes.empty() || m_bytes.back() != '\0')
            return "the texts of the charsmap do not end in NUL";
        if (const auto offset = utf8::findInvalid(m_bytes))
            return fmt::format("the texts of the charsmap are not UTF-8 at their byte {}", *offset);
        std::size_t begin = 0;
        for (std::size_t end = m_bytes.find('\0'); end != std::string_view::npos;
             end = m_bytes.find('\0', begin)) {
            if (end - begin > kMaxTargetBytes)
                return fmt::format("a text of the charsmap has {} bytes", end - begin);
            begin = end + 1;
        }
        return std::nullopt;
    }

    /// Whether a text begins at this offset.
    bool beginsAt(std::uint32_t offset) const {
        return offset < m_bytes.size() && (offset == 0 || m_bytes[offset - 1] == '\0');
    }

private:
    std::string_view m_bytes;
};

/// Depth first over the trie. Units may be shared between branches (the library packs equal tails
/// together), so each is entered once and remembers how many rules lie on the longest way down.
class TrieWalk {
public:
    TrieWalk(std::string_view units, const Targets& targets)
        : m_units(units)
        , m_targets(targets)
        , m_count(units.size() / 4)
        , m_rulesBelow(m_count, kNotSeen) {}

    std::optional<std::string> run() {
        if (auto fault = enter(0))
            return fault;
        while (!m_path.empty()) {
            Node& node = m_path.back();
            if (node.nextByte == 256) {
                leave();
                continue;
            }
            const std::uint32_t byte = node.nextByte++;
            const std::size_t child = node.base ^ byte;
            if ((unit(child) & 0x800000FFU) != byte)
                continue;
            if (m_rulesBelow[child] == kOnPath)
                return fmt::format("unit {} of the charsmap leads back to itself", child);
            if (m_rulesBelow[child] != kNotSeen)
                node.rulesBelow = std::max(node.rulesBelow, m_rulesBelow[child]);
            else if (auto fault = enter(child))
                return fault;
        }
        if (m_rulesBelow[0] > kMaxNestedRules)
            return fmt::format("more than {} rules of the charsmap begin alike", kMaxNestedRules);
        return std::nullopt;
    }

private:
    static constexpr int kNotSeen = -1;
    static constexpr int kOnPath = -2;

    struct Node { // small, since a hostile path may be as long as the file
        std::uint32_t index = 0;
        std::uint32_t base = 0; // its children are at base ^ byte
        int rulesBelow = 0;     // on the longest way down from its children
        std::uint16_t nextByte = 0;
        bool hasRule = false;
    };

    std::uint32_t unit(std::size_t index) const { return readU32(m_units, 4 * index); }

    std::optional<std::string> enter(std::size_t index) {
        const std::uint32_t value = unit(index);
        const std::size_t offset = std::size_t{value >> 10U} << ((value & (1U << 9U)) >> 6U);
        const std::size_t base = index ^ offset;
        if ((base | 0xFFU) >= m_count)
            return fmt::format(
                "unit {} of the charsmap points beyond its {} units", index, m_count);
        const bool hasRule = index != 0 && ((value >> 8U) & 1U) == 1;
        if (hasRule && !m_targets.beginsAt(unit(base) & 0x7FFFFFFFU))
            return fmt::format("unit {} of the charsmap names no text", base);
        m_rulesBelow[index] = kOnPath;
        m_path.push_back({static_cast<std::uint32_t>(index),
                          static_cast<std::uint32_t>(base), // below m_count, at most 2^22
                          0,
                          0,
                          hasRule});
        return std::nullopt;
    }

    void leave() {
        const Node node = m_path.back();
        m_path.pop_back();
        const int rules = node.rulesBelow + (node.hasRule ? 1 : 0);
        m_rulesBelow[node.index] = rules;
        if (!m_path.empty())
            m_path.back().rulesBelow = std::max(m_path.back().rulesBelow, rules);
    }

    std::string_view m_units;
    const Targets& m_targets;
    std::size_t m_count;
    std::vector<int> m_rulesBelow; // or kNotSeen, kOnPath
    std::vector<Node> m_path;
};

} // namespace

std::optional<std::string> findCharsmapFault(std::string_view charsmap) {
    if (charsmap.size() > kMaxCharsmapBytes)
        return fmt::format("the charsmap has {} bytes", charsmap.size());
    if (charsmap.size() < 4)
        return "the charsmap is cut short";
    const std::size_t trieBytes = readU32(charsmap, 0);
    if (trieBytes < 1024 || trieBytes % 1024 != 0 || trieBytes >= charsmap.size() - 4)
        return fmt::format(
            "the charsmap claims a trie of {} bytes in {}", trieBytes, charsmap.size());
    const Targets targets(charsmap.substr(4 + trieBytes));
    if (auto fault = targets.findFault())
        return fault;
    return TrieWalk(charsmap.substr(4, trieBytes), targets).run();
}

} // namespace engine
