// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// How the values of a tensor are stored in its file. `Other` (integers, float64, float8 of
/// safetensors) can be read raw only: readRows refuses it by name.
enum class TensorType {
    F32,
    F16,
    BF16,
    Q8_0,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ4_NL,
    IQ4_XS,
    MXFP4,
    Other
};

/// The name the file formats use, such as "Q4_1".
std::string_view tensorTypeName(TensorType type);

/// One tensor of a model file.
struct TensorInfo {
    std::string name;
    TensorType type = TensorType::F32;
    std::vector<std::uint64_t> shape; ///< row-major, outermost first: a linear layer is [out, in]
    std::uint64_t byteSize = 0;       ///< in the file
    std::string_view otherType;       ///< the format's name of a type that is `Other`, as "I64"

    /// "Q4_1", "I64".
    std::string_view typeName() const;

    /// Length of the contiguous dimension; 1 for a scalar.
    std::uint64_t columns() const { return shape.empty() ? 1 : shape.back(); }

    /// Number of rows: the product of all other dimensions.
    std::uint64_t rows() const;
};

/// Hands out tensors by name, whatever the file format.
/// Reads copy out of the file: nothing is computed from a mapping that could be cut short.
/// Thread: reads may come from several threads at once.
class WeightSource {
public:
    virtual ~WeightSource() = default;

    /// All tensors, in file order.
    virtual std::span<const TensorInfo> tensors() const = 0;

    /// The tensor of that name, or null. Valid as long as the source lives.
    virtual const TensorInfo* find(std::string_view name) const = 0;

    /// Reads rows [firstRow, firstRow + rowCount) as float32, dequantised if need be.
    /// Shapes: out [rowCount, tensor.columns()]. `tensor` must come from this source.
    /// Errors: Io or CorruptFile when the file can no longer give these bytes.
    virtual Result<void> readRows(const TensorInfo& tensor,
                                  std::uint64_t firstRow,
                                  std::uint64_t rowCount,
                                  std::span<float> out) const = 0;

    /// Reads the same rows as they are stored (rows are whole numbers of blocks).
    /// Shapes: out [rowCount * byteSize / rows].
    virtual Result<void> readRawRows(const TensorInfo& tensor,
                                     std::uint64_t firstRow,
                                     std::uint64_t rowCount,
                                     std::span<std::byte> out) const = 0;

    /// Tells the files that the tensors come from, in the state in which they were opened, from
    /// changed ones; empty when they come from no files.
    virtual std::string fileState() const { return {}; }
};

/// The tensor of that name, after checking that it has this shape. Errors: NotFound, CorruptFile,
/// each naming the tensor and what was expected.
Result<const TensorInfo*>
findTensor(const WeightSource& source, std::string_view name, std::span<const std::uint64_t> shape);

/// The whole tensor as float32, after checking that it is there, has this shape and only finite
/// values. Errors: NotFound, CorruptFile or Numeric, each naming the tensor and what was expected.
Result<std::vector<float>>
readTensor(const WeightSource& source, std::string_view name, std::span<const std::uint64_t> shape);

} // namespace engine
