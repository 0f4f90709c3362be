// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/weight_source.h"

#include "engine/loading/files/readable_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace engine {

namespace {

Error notFinite(const TensorInfo& tensor, std::uint64_t element, float value) {
    return {ErrorCode::Numeric,
            fmt::format("tensor {} holds {} at row {}, column {}",
                        readable(tensor.name),
                        std::isnan(value) ? "a value that is not a number" : "an infinite value",
                        element / tensor.columns(),
                        element % tensor.columns()),
            "The weights are damaged: fetch or convert the model again."};
}

} // namespace

std::string_view TensorInfo::typeName() const {
    return type == TensorType::Other ? otherType : tensorTypeName(type);
}

std::uint64_t TensorInfo::rows() const {
    std::uint64_t product = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
        product *= shape[i]; // the readers let no product wrap
    return product;
}

Result<const TensorInfo*> findTensor(const WeightSource& source,
                                     std::string_view name,
                                     std::span<const std::uint64_t> shape) {
    const TensorInfo* tensor = source.find(name);
    if (!tensor)
        return Error{ErrorCode::NotFound,
                     fmt::format("the model has no tensor {}", name),
                     "Its files are incomplete, or its configuration belongs to another model."};
    if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end()))
        return Error{ErrorCode::CorruptFile,
                     fmt::format("tensor {} has shape [{}], but the configuration asks for [{}]",
                                 readable(tensor->name),
                                 fmt::join(tensor->shape, ", "),
                                 fmt::join(shape, ", ")),
                     "The weights and the configuration belong to different models."};
    return tensor;
}

Result<std::vector<float>> readTensor(const WeightSource& source,
                                      std::string_view name,
                                      std::span<const std::uint64_t> shape) {
    ENGINE_TRY(const TensorInfo* tensor, findTensor(source, name, shape));
    try {
        std::vector<float> values(static_cast<std::size_t>(tensor->rows() * tensor->columns()));
        ENGINE_TRY_DO(source.readRows(*tensor, 0, tensor->rows(), values));
        const auto bad = std::find_if_not(
            values.begin(), values.end(), [](float value) { return std::isfinite(value); });
        if (bad != values.end())
            return notFinite(*tensor, static_cast<std::uint64_t>(bad - values.begin()), *bad);
        return values;
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     fmt::format("there is not enough memory for tensor {} ({} values)",
                                 readable(tensor->name),
                                 tensor->rows() * tensor->columns()),
                     "Close other programs or choose a smaller model."};
    }
}

} // namespace engine
