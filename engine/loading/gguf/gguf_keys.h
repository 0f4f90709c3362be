// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/network/family_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What is wrong with a file's metadata, and something that no backend computes.
Error corruptGguf(std::string problem);
Error unsupportedGguf(std::string problem);

/// Metadata keys of one architecture: "block_count" is "llama.block_count". It remembers which
/// were read, so that the others can be told. `file` goes on living with it. Thread: one at a time.
class ArchitectureKeys {
public:
    ArchitectureKeys(const GgufFile& file, std::string_view architecture)
        : m_file(file)
        , m_prefix(std::string(architecture) + ".") {}

    /// A number, or a list with the same number for every layer.
    /// Errors: CorruptFile when it is missing or too large, Unsupported when layers differ.
    Result<int> size(std::string_view key) const;
    Result<int> sizeOr(std::string_view key, int absent) const;

    std::optional<double> number(std::string_view key) const {
        return m_file.numberValue(whole(key));
    }

    std::optional<std::string_view> text(std::string_view key) const {
        return m_file.stringValue(whole(key));
    }

    std::optional<bool> flag(std::string_view key) const { return m_file.boolValue(whole(key)); }

    bool holds(std::string_view key) const { return m_file.holds(whole(key)); }

    /// Of a whole key: it is one of this architecture, and nothing is known of it.
    bool isUnknown(std::string_view wholeKey) const;

    /// A number that counts for some families only; `absent` where the file does not say. `key`
    /// goes on living with this.
    double ownNumber(std::string_view key, double absent) {
        m_read.push_back(key);
        return number(key).value_or(absent);
    }

    std::string whole(std::string_view key) const { return m_prefix + std::string(key); }

    Error missing(std::string_view key, std::string_view kind) const;

private:
    Result<std::optional<std::uint64_t>> wholeNumber(std::string_view key) const;
    Result<int> narrow(std::string_view key, std::uint64_t value) const;

    const GgufFile& m_file;
    std::string m_prefix;
    std::vector<std::string_view> m_read; // own numbers that were asked for
};

/// Refuses metadata that would change the arithmetic to one that no backend has.
Result<void>
refuseOtherArithmetic(const GgufFile& file, ArchitectureKeys& keys, const Family& family);

} // namespace engine
