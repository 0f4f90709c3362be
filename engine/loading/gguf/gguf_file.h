// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/weight_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A GGUF file, version 2 or 3: its metadata and its tensors under the file's own names
/// ("blk.0.attn_q.weight", rows as stored). Source: the format comment in gguf.h.
/// Thread: read-only after opening; any.
class GgufFile : public WeightSource {
public:
    /// Errors: NotFound, Io, CorruptFile, Unsupported; each with the byte offset where it applies.
    static Result<std::shared_ptr<const GgufFile>> open(const std::filesystem::path& path);

    /// Metadata by key; nothing when the key is absent or has another type.
    virtual std::optional<std::uint64_t> unsignedValue(std::string_view key) const = 0;
    virtual std::optional<double> numberValue(std::string_view key) const = 0;
    virtual std::optional<bool> boolValue(std::string_view key) const = 0;
    virtual std::optional<std::string_view> stringValue(std::string_view key) const = 0;
    /// Arrays; null when absent or of other items (signed and unsigned integers both widen).
    virtual const std::vector<std::string>* stringArray(std::string_view key) const = 0;
    virtual const std::vector<std::int64_t>* integerArray(std::string_view key) const = 0;
    virtual const std::vector<float>* floatArray(std::string_view key) const = 0;
    virtual const std::vector<bool>* boolArray(std::string_view key) const = 0;

    virtual std::uint32_t version() const = 0;
    virtual const std::filesystem::path& path() const = 0;
    /// Every metadata key with its value as text, arrays as "[N strings]"; for `inspect`.
    virtual std::vector<std::pair<std::string, std::string>> describeMetadata() const = 0;

    /// Whether the metadata has a key, of whatever type.
    bool holds(std::string_view key) const;

    /// The id of a token that has a use: of "eos" under "tokenizer.ggml.eos_token_id". Nothing
    /// where the file has none, which some writers say by the largest 32-bit number.
    std::optional<std::uint64_t> tokenId(std::string_view use) const;
};

/// "tokenizer.ggml.eos_token_id" of "eos".
std::string ggufTokenKey(std::string_view use);

} // namespace engine
