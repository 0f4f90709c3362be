// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_keys.h"

#include "engine/base/checked_math.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

namespace {

/// Metadata of an architecture that is read, or that says nothing about what is computed.
constexpr auto kKnownKeys = std::to_array<std::string_view>({
    "attention.causal",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.layer_norm_rms_epsilon",
    "attention.value_length",
    "block_count",
    "context_length",
    "embedding_length",
    "expert_count",
    "expert_feed_forward_length",
    "expert_used_count",
    "expert_weights_norm",
    "feed_forward_length",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "tensor_data_layout",
    "vocab_size",
});

} // namespace

Error corruptGguf(std::string problem) {
    return {ErrorCode::CorruptFile,
            std::move(problem),
            "Fetch the file again, or convert the model again."};
}

Error unsupportedGguf(std::string problem) {
    return {ErrorCode::Unsupported, std::move(problem), "Choose a model that does without it."};
}

Result<int> ArchitectureKeys::size(std::string_view key) const {
    ENGINE_TRY(const auto value, wholeNumber(key));
    if (!value)
        return missing(key, "whole number");
    return narrow(key, *value);
}

Result<int> ArchitectureKeys::sizeOr(std::string_view key, int absent) const {
    ENGINE_TRY(const auto value, wholeNumber(key));
    return value ? narrow(key, *value) : Result<int>(absent);
}

bool ArchitectureKeys::isUnknown(std::string_view wholeKey) const {
    if (!wholeKey.starts_with(m_prefix))
        return false;
    const std::string_view key = wholeKey.substr(m_prefix.size());
    return std::find(kKnownKeys.begin(), kKnownKeys.end(), key) == kKnownKeys.end() &&
           std::find(m_read.begin(), m_read.end(), key) == m_read.end();
}

Error ArchitectureKeys::missing(std::string_view key, std::string_view kind) const {
    return corruptGguf(fmt::format("the metadata key {} is missing or no {}", whole(key), kind));
}

Result<std::optional<std::uint64_t>> ArchitectureKeys::wholeNumber(std::string_view key) const {
    const auto* list = m_file.integerArray(whole(key));
    if (list == nullptr || list->empty())
        return m_file.unsignedValue(whole(key));
    const bool isOne = std::all_of(
        list->begin(), list->end(), [&](std::int64_t item) { return item == list->front(); });
    if (!isOne || list->front() < 0)
        return unsupportedGguf(
            fmt::format("layers of different sizes ({}) are not supported", whole(key)));
    return std::optional(static_cast<std::uint64_t>(list->front()));
}

Result<int> ArchitectureKeys::narrow(std::string_view key, std::uint64_t value) const {
    const auto narrowed = checked::narrow<int>(value);
    if (!narrowed)
        return corruptGguf(fmt::format("the metadata key {} is too large: {}", whole(key), value));
    return *narrowed;
}

} // namespace engine
