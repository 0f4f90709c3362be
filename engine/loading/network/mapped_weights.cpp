// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/network/mapped_weights.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/tensor_table.h"

#include <algorithm>

namespace engine {

namespace {

Error corruptWeights(std::string problem) {
    return {ErrorCode::CorruptFile,
            std::move(problem),
            "Fetch the model's files again, or convert the model again."};
}

/// A row or value of a head in half-split order -> its place in the interleaved order.
std::uint64_t interleavedIndex(std::uint64_t index, std::uint64_t headRows) {
    const std::uint64_t half = headRows / 2;
    return 2 * (index % half) + index / half;
}

class MappedWeights final : public WeightSource {
public:
    MappedWeights(std::shared_ptr<const WeightSource> stored, std::vector<MappedTensor> parts)
        : m_stored(std::move(stored))
        , m_parts(std::move(parts)) {
        m_tensors.reserve(m_parts.size());
        for (MappedTensor& part : m_parts) {
            TensorInfo& tensor = m_tensors.emplace_back(*part.stored);
            tensor.name = std::move(part.name);
            if (part.shape.empty())
                continue;
            const std::uint64_t rows = part.stored->rows(); // 0 in a damaged file
            const std::uint64_t rowBytes = rows == 0 ? 0 : part.stored->byteSize / rows;
            tensor.shape = std::move(part.shape);
            tensor.byteSize = tensor.rows() * rowBytes;
        }
    }

    std::optional<std::size_t> sortNames() { return m_names.sort(m_tensors); }

    std::span<const TensorInfo> tensors() const override { return m_tensors; }

    std::string fileState() const override { return m_stored->fileState(); }

    const TensorInfo* find(std::string_view name) const override {
        return m_names.find(m_tensors, name);
    }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const override {
        const MappedTensor& part = partOf(tensor);
        const auto readStored = [&](std::uint64_t first, std::uint64_t count, std::span<float> to) {
            return m_stored->readRows(*part.stored, first, count, to);
        };
        if (tensor.shape.size() == 1)
            ENGINE_TRY_DO(readVector(tensor, rowCount, tensor.columns(), out, readStored));
        else
            ENGINE_TRY_DO(readMatrix(tensor, {firstRow, rowCount}, out, readStored));
        if (part.offset != 0.0F)
            for (float& value : out)
                value += part.offset;
        return {};
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override {
        const MappedTensor& part = partOf(tensor);
        const auto readStored =
            [&](std::uint64_t first, std::uint64_t count, std::span<std::byte> to) {
                return m_stored->readRawRows(*part.stored, first, count, to);
            };
        if (tensor.shape.size() != 1)
            return readMatrix(tensor, {firstRow, rowCount}, out, readStored);
        if (part.headRows != 0 && blockLayout(tensor.type).values != 1)
            return Error{ErrorCode::Unsupported,
                         fmt::format("the bias {} is stored in blocks of {}, whose values cannot "
                                     "be reordered as stored",
                                     readable(tensor.name),
                                     tensor.typeName()),
                         "Choose a model that does without it."};
        return readVector(tensor, rowCount, tensor.columns(), out, readStored);
    }

private:
    struct RowRange {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };

    const MappedTensor& partOf(const TensorInfo& tensor) const {
        const auto index = static_cast<std::size_t>(&tensor - m_tensors.data());
        ENGINE_CHECK(index < m_tensors.size() && &m_tensors[index] == &tensor,
                     "tensor {} belongs to another source",
                     tensor.name);
        return m_parts[index];
    }

    /// Reads head by head what the range touches and puts each row where it belongs.
    template <typename T, typename ReadStored>
    Result<void> readMatrix(const TensorInfo& tensor,
                            RowRange range,
                            std::span<T> out,
                            const ReadStored& readStored) const {
        const auto& [name, stored, shape, firstRow, headRows, offset] = partOf(tensor);
        if (range.count == 0)
            return {};
        ENGINE_CHECK(range.first <= tensor.rows() && range.count <= tensor.rows() - range.first,
                     "rows beyond the {} of tensor {}",
                     tensor.rows(),
                     tensor.name);
        if (headRows == 0)
            return readStored(firstRow + range.first, range.count, out);
        const std::uint64_t width = out.size() / range.count;
        std::vector<T> head(static_cast<std::size_t>(headRows * width));
        for (std::uint64_t i = 0; i < range.count; ++i) {
            const std::uint64_t row = range.first + i;
            const std::uint64_t headStart = row / headRows * headRows;
            if (i == 0 || row == headStart)
                ENGINE_TRY_DO(readStored(firstRow + headStart, headRows, std::span<T>(head)));
            const T* from = head.data() + interleavedIndex(row - headStart, headRows) * width;
            std::copy_n(from, width, out.data() + i * width);
        }
        return {};
    }

    /// A vector is one row, whose values are in the order of the matrix rows.
    template <typename T, typename ReadStored>
    Result<void> readVector(const TensorInfo& tensor,
                            std::uint64_t rowCount,
                            std::uint64_t valueCount,
                            std::span<T> out,
                            const ReadStored& readStored) const {
        ENGINE_TRY_DO(readStored(0, rowCount, out));
        const std::uint64_t headRows = partOf(tensor).headRows;
        if (headRows == 0 || rowCount == 0)
            return {};
        const std::vector<T> stored(out.begin(), out.end());
        const std::uint64_t width = out.size() / valueCount;
        for (std::uint64_t i = 0; i < valueCount; ++i) {
            const std::uint64_t headStart = i / headRows * headRows;
            const std::uint64_t from = headStart + interleavedIndex(i - headStart, headRows);
            std::copy_n(stored.data() + from * width, width, out.data() + i * width);
        }
        return {};
    }

    std::shared_ptr<const WeightSource> m_stored;
    std::vector<MappedTensor> m_parts;
    std::vector<TensorInfo> m_tensors; // [parts]
    TensorNames m_names;
};

/// Whether the checkpoint is of a base model that was saved without its head: then no name begins
/// with "model.".
bool isBaseModel(const WeightSource& source) {
    const auto tensors = source.tensors();
    return source.find("embed_tokens.weight") != nullptr &&
           std::none_of(tensors.begin(), tensors.end(), [](const TensorInfo& tensor) {
               return tensor.name.starts_with("model.");
           });
}

/// Where a Hugging Face tensor of one layer goes: "model.layers.7." and "mlp.up_proj.weight".
class CheckpointMap {
public:
    CheckpointMap(const ModelConfig& config, const WeightSource& source)
        : m_config(config)
        , m_family(familyOf(config))
        , m_isBaseModel(isBaseModel(source)) {}

    bool isNeededFor(const WeightSource& source) const {
        const auto tensors = source.tensors();
        return m_family.isFused || m_family.storedNormOffset != 0.0F ||
               !m_family.expertBlock.empty() ||
               std::any_of(tensors.begin(), tensors.end(), [this](const TensorInfo& tensor) {
                   return textName(tensor.name) != tensor.name;
               });
    }

    Result<void> add(const TensorInfo& stored, std::vector<MappedTensor>& into) const {
        constexpr std::string_view kLayers = "model.layers.";
        const std::string whole = textName(stored.name);
        const std::string_view name = whole;
        const bool isNorm = name.ends_with("norm.weight");
        const float offset = isNorm ? m_family.storedNormOffset : 0.0F;
        const auto [layer, part] =
            name.starts_with(kLayers)
                ? splitNumber(name.substr(kLayers.size()), m_config.layerCount)
                : NumberedName();
        const std::string_view prefix = name.substr(0, name.size() - part.size());
        if (layer >= 0 && m_family.isFused && part == "self_attn.qkv_proj.weight")
            return cutRows(stored, fusedAttentionParts(m_config, prefix), ".weight", into);
        if (layer >= 0 && m_family.isFused && part == "mlp.gate_up_proj.weight")
            return cutRows(stored, fusedMlpParts(m_config, prefix), ".weight", into);
        into.push_back(
            {.name = std::string(prefix) + expertName(part), .stored = &stored, .offset = offset});
        return {};
    }

private:
    /// A model of images and text sets its text model's names apart, in one of two ways; a base
    /// model leaves out what all its names would begin with.
    std::string textName(std::string_view name) const {
        if (m_isBaseModel && !name.starts_with("lm_head."))
            return "model." + std::string(name);
        if (!m_family.outerType.empty())
            for (const auto& [theirs, ours] : {std::pair("language_model.model.", "model."),
                                               std::pair("model.language_model.", "model."),
                                               std::pair("language_model.lm_head.", "lm_head.")})
                if (name.starts_with(theirs))
                    return ours + std::string(name.substr(std::string_view(theirs).size()));
        return std::string(name);
    }

    /// "block_sparse_moe.experts.3.w2.weight" -> "mlp.experts.3.down_proj.weight".
    std::string expertName(std::string_view part) const {
        if (m_family.expertBlock.empty() || !part.starts_with(m_family.expertBlock))
            return std::string(part);
        std::string renamed = "mlp." + std::string(part.substr(m_family.expertBlock.size()));
        for (const auto& [theirs, ours] : {std::pair(".w1.", ".gate_proj."),
                                           std::pair(".w3.", ".up_proj."),
                                           std::pair(".w2.", ".down_proj.")})
            if (const std::size_t at = renamed.find(theirs); at != std::string::npos)
                renamed.replace(at, std::string_view(theirs).size(), ours);
        return renamed;
    }

    const ModelConfig& m_config;
    const Family& m_family;
    bool m_isBaseModel;
};

/// Experts beyond those that the configuration counts: it is another model's.
Result<void> checkExpertCount(const WeightSource& source, const ModelConfig& config) {
    constexpr std::string_view kExperts = ".experts.";
    constexpr int kAny = 1'000'000;
    for (const TensorInfo& tensor : source.tensors()) {
        const std::size_t at = tensor.name.find(kExperts);
        if (config.experts.count == 0 || at == std::string::npos)
            continue;
        const std::string_view rest = std::string_view(tensor.name).substr(at + kExperts.size());
        if (const int expert = splitNumber(rest, kAny).number; expert >= config.experts.count)
            return corruptWeights(fmt::format(
                "the weights hold tensor {}, but the configuration says that there are {} experts",
                readable(tensor.name),
                config.experts.count));
    }
    return {};
}

} // namespace

Result<std::unique_ptr<WeightSource>> mapWeights(std::shared_ptr<const WeightSource> stored,
                                                 std::vector<MappedTensor> tensors,
                                                 const std::string& where) {
    auto weights = std::make_unique<MappedWeights>(std::move(stored), std::move(tensors));
    if (const auto twice = weights->sortNames())
        return corruptWeights(fmt::format(
            "{}two tensors stand for {}", where, readable(weights->tensors()[*twice].name)));
    return std::unique_ptr<WeightSource>(std::move(weights));
}

Result<void> cutRows(const TensorInfo& stored,
                     const std::vector<RowPart>& parts,
                     std::string_view suffix,
                     std::vector<MappedTensor>& into) {
    std::uint64_t rows = 0;
    for (const RowPart& part : parts)
        rows += part.rows;
    if (stored.shape.size() != 2 || stored.rows() != rows)
        return corruptWeights(
            fmt::format("tensor {} has {} rows, but the configuration asks for {}",
                        readable(stored.name),
                        stored.rows(),
                        rows));
    std::uint64_t first = 0;
    for (const RowPart& part : parts) {
        into.push_back({.name = part.name + std::string(suffix),
                        .stored = &stored,
                        .shape = {part.rows, stored.columns()},
                        .firstRow = first});
        first += part.rows;
    }
    return {};
}

std::vector<RowPart> fusedAttentionParts(const ModelConfig& config, std::string_view layer) {
    const auto dim = static_cast<std::uint64_t>(config.headDim);
    const std::uint64_t queries = dim * static_cast<std::uint64_t>(config.headCount);
    const std::uint64_t keys = dim * static_cast<std::uint64_t>(config.kvHeadCount);
    const std::string prefix(layer);
    return {{prefix + "self_attn.q_proj", queries},
            {prefix + "self_attn.k_proj", keys},
            {prefix + "self_attn.v_proj", keys}};
}

std::vector<RowPart> fusedMlpParts(const ModelConfig& config, std::string_view layer) {
    const auto inner = static_cast<std::uint64_t>(config.mlpSize);
    const std::string prefix(layer);
    return {{prefix + "mlp.gate_proj", inner}, {prefix + "mlp.up_proj", inner}};
}

Result<std::unique_ptr<WeightSource>> mapCheckpoint(std::unique_ptr<WeightSource> source,
                                                    const ModelConfig& config) {
    ENGINE_TRY_DO(checkExpertCount(*source, config));
    const CheckpointMap map(config, *source);
    if (!map.isNeededFor(*source))
        return source;
    std::shared_ptr<const WeightSource> stored = std::move(source);
    std::vector<MappedTensor> tensors;
    for (const TensorInfo& tensor : stored->tensors())
        ENGINE_TRY_DO(map.add(tensor, tensors));
    return mapWeights(std::move(stored), std::move(tensors), "");
}

} // namespace engine
