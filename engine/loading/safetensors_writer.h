// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/files/part_file.h"
#include "engine/loading/weight_source.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// A tensor as a header lists it.
struct HeaderTensor {
    std::string name;
    std::string_view type; ///< as safetensors calls it
    std::vector<std::uint64_t> shape;
    std::uint64_t bytes = 0;
};

/// What a safetensors file begins with: the length of its header and the header, for tensors that
/// stand one behind the other; its metadata are one text under a key.
std::string safetensorsHeader(const std::string& key,
                              const std::string& text,
                              std::span<const HeaderTensor> tensors);

/// A tensor that is to be written.
struct PlannedTensor {
    std::string name;
    TensorType type = TensorType::F32; ///< F32, F16 or BF16
    std::vector<std::uint64_t> shape;

    std::uint64_t count() const; ///< of its numbers
};

/// Writes a safetensors file tensor by tensor, so that one of them is in memory at a time; it has
/// its name only once it is finished. Source: the format section of the huggingface/safetensors
/// README. Thread: one.
class SafetensorsWriter {
public:
    /// The tensors in the order in which they are going to be added. Another type is a bug
    /// (ENGINE_CHECK). Errors: Io.
    static Result<SafetensorsWriter> begin(const std::filesystem::path& path,
                                           std::vector<PlannedTensor> tensors);

    /// The next tensor, rounded to its type (ties to even). Another number of values is a bug
    /// (ENGINE_CHECK). Errors: Numeric for a value that is not finite, or too large for the type;
    /// Io.
    Result<void> add(std::span<const float> values);

    /// Waits for the disk and gives the file its name. Returns its size in bytes. A tensor that is
    /// missing is a bug (ENGINE_CHECK). Errors: Io.
    Result<std::uint64_t> finish();

private:
    SafetensorsWriter(PartFile file, std::vector<PlannedTensor> tensors)
        : m_file(std::move(file))
        , m_tensors(std::move(tensors)) {}

    PartFile m_file;
    std::vector<PlannedTensor> m_tensors;
    std::size_t m_next = 0;
    std::uint64_t m_bytes = 0;
};

} // namespace engine
