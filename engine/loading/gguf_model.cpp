// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf_model.h"

#include "engine/base/checked_math.h"
#include "engine/loading/config/model_limits.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/quantized_blocks.h"
#include "engine/loading/readable_text.h"
#include "engine/loading/tensor_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kFrequencyFactors = "rope_freqs.weight";
constexpr const char* kConvertAgain = "Fetch the file again, or convert the model again.";

Error corrupt(std::string problem) {
    return {ErrorCode::CorruptFile, std::move(problem), kConvertAgain};
}

Error unsupportedGguf(std::string problem) {
    return {ErrorCode::Unsupported, std::move(problem), "Choose a model that does without it."};
}

/// Metadata of an architecture that is read, or that says nothing about what is computed.
constexpr auto kKnownKeys = std::to_array<std::string_view>({
    "attention.causal",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.layer_norm_rms_epsilon",
    "attention.scale",
    "attention.value_length",
    "block_count",
    "context_length",
    "embedding_length",
    "expert_count",
    "expert_used_count",
    "feed_forward_length",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.attn_factor",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "tensor_data_layout",
    "vocab_size",
});

/// Metadata keys of one architecture: "block_count" is "llama.block_count".
class ArchitectureKeys {
public:
    ArchitectureKeys(const GgufFile& file, std::string_view architecture)
        : m_file(file)
        , m_prefix(std::string(architecture) + ".") {}

    Result<int> size(std::string_view key) const {
        const auto value = m_file.unsignedValue(m_prefix + std::string(key));
        if (!value)
            return missing(key, "whole number");
        return narrow(key, *value);
    }

    Result<int> sizeOr(std::string_view key, int absent) const {
        const auto value = m_file.unsignedValue(m_prefix + std::string(key));
        return value ? narrow(key, *value) : Result<int>(absent);
    }

    std::optional<double> number(std::string_view key) const {
        return m_file.numberValue(m_prefix + std::string(key));
    }

    std::optional<std::string_view> text(std::string_view key) const {
        return m_file.stringValue(m_prefix + std::string(key));
    }

    std::optional<bool> flag(std::string_view key) const {
        return m_file.boolValue(m_prefix + std::string(key));
    }

    /// Of a whole key: it is one of this architecture, and nothing is known of it.
    bool isUnknown(std::string_view wholeKey) const {
        return wholeKey.starts_with(m_prefix) &&
               std::find(kKnownKeys.begin(), kKnownKeys.end(), wholeKey.substr(m_prefix.size())) ==
                   kKnownKeys.end();
    }

    Error missing(std::string_view key, std::string_view kind) const {
        return corrupt(
            fmt::format("the metadata key {}{} is missing or no {}", m_prefix, key, kind));
    }

private:
    Result<int> narrow(std::string_view key, std::uint64_t value) const {
        const auto narrowed = checked::narrow<int>(value);
        if (!narrowed)
            return corrupt(
                fmt::format("the metadata key {}{} is too large: {}", m_prefix, key, value));
        return *narrowed;
    }

    const GgufFile& m_file;
    std::string m_prefix;
};

Result<void> readSizes(const ArchitectureKeys& keys, ModelConfig& config) {
    ENGINE_TRY(config.layerCount, keys.size("block_count"));
    ENGINE_TRY(config.hiddenSize, keys.size("embedding_length"));
    ENGINE_TRY(config.mlpSize, keys.size("feed_forward_length"));
    ENGINE_TRY(config.headCount, keys.size("attention.head_count"));
    ENGINE_TRY(config.kvHeadCount, keys.sizeOr("attention.head_count_kv", config.headCount));
    ENGINE_TRY(config.contextLength, keys.size("context_length"));
    const auto epsilon = keys.number("attention.layer_norm_rms_epsilon");
    if (!epsilon)
        return keys.missing("attention.layer_norm_rms_epsilon", "number");
    config.normEpsilon = *epsilon;
    if (config.headCount == 0)
        return corrupt("the model is said to have no attention heads");
    ENGINE_TRY(config.headDim,
               keys.sizeOr("attention.key_length", config.hiddenSize / config.headCount));
    ENGINE_TRY(const int valueLength, keys.sizeOr("attention.value_length", config.headDim));
    ENGINE_TRY(const int rotated, keys.sizeOr("rope.dimension_count", config.headDim));
    if (valueLength != config.headDim || rotated != config.headDim)
        return unsupportedGguf(
            fmt::format("heads with {} key, {} value and {} rotated dimensions are "
                        "not supported: they must be equal",
                        config.headDim,
                        valueLength,
                        rotated));
    ENGINE_TRY(const int experts, keys.sizeOr("expert_count", 0));
    if (experts != 0)
        return unsupportedGguf(fmt::format("a mixture of {} experts is not supported", experts));
    return {};
}

Result<void> readRotary(const GgufFile& file, const ArchitectureKeys& keys, ModelConfig& config) {
    config.ropeTheta = keys.number("rope.freq_base").value_or(config.ropeTheta);
    const std::string_view kind = keys.text("rope.scaling.type").value_or("linear");
    if (kind != "linear" && kind != "none")
        return unsupportedGguf(
            fmt::format("rope scaling \"{}\" is not supported; supported: none, linear, and "
                        "llama3 by rope_freqs.weight",
                        readable(kind)));
    const auto olderFactor = keys.number("rope.scale_linear");
    const double factor = keys.number("rope.scaling.factor").value_or(olderFactor.value_or(0));
    // Converters write 0 or 1 where nothing is to be scaled.
    if (kind == "linear" && factor != 0 && factor != 1)
        config.ropeScaling = {.kind = RopeScalingKind::Linear, .factor = factor};
    const TensorInfo* frequencies = file.find(kFrequencyFactors);
    if (!frequencies)
        return {};
    const std::uint64_t pairs = static_cast<std::uint64_t>(std::max(config.headDim, 0)) / 2;
    ENGINE_TRY(config.ropeFrequencyFactors, readTensor(file, kFrequencyFactors, std::array{pairs}));
    return {};
}

Result<void> readSpecialIds(const GgufFile& file, ModelConfig& config) {
    const auto readId = [&](std::string_view name) -> Result<TokenId> {
        const auto value = file.unsignedValue(fmt::format("tokenizer.ggml.{}_token_id", name));
        if (!value || *value == 0xFFFFFFFFU) // an unset id, written as a u32
            return kNoToken;
        const auto id = checked::narrow<TokenId>(*value);
        return id ? Result<TokenId>(*id)
                  : corrupt(fmt::format("the {} token id {} is no token id", name, *value));
    };
    ENGINE_TRY(config.bosId, readId("bos"));
    for (const std::string_view name : {"eos", "eot", "eom"}) {
        ENGINE_TRY(const TokenId id, readId(name));
        const auto& known = config.eosIds;
        if (id != kNoToken && std::find(known.begin(), known.end(), id) == known.end())
            config.eosIds.push_back(id);
    }
    ENGINE_TRY(const TokenId mask, readId("mask"));
    adoptMaskToken(mask, config);
    return {};
}

/// The type that most bytes are stored as.
std::string mainType(const GgufFile& file) {
    std::map<std::string_view, std::uint64_t> bytes;
    for (const TensorInfo& tensor : file.tensors())
        bytes[tensor.typeName()] += tensor.byteSize;
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
    return most == bytes.end() ? std::string() : std::string(most->first);
}

Result<int> readVocabSize(const GgufFile& file, const ModelConfig& config) {
    const TensorInfo* embedding = file.find("token_embd.weight");
    if (!embedding)
        return corrupt("the tensor token_embd.weight is missing");
    const auto rows =
        embedding->shape.size() == 2 ? checked::narrow<int>(embedding->rows()) : std::nullopt;
    if (!rows || embedding->columns() != static_cast<std::uint64_t>(config.hiddenSize))
        return corrupt(fmt::format("the tensor token_embd.weight is no matrix with rows of {}",
                                   config.hiddenSize));
    return *rows;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kLayerNames = {{
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
}};

/// "blk.7.attn_q.weight" -> "model.layers.7.self_attn.q_proj.weight".
std::string huggingFaceName(std::string_view name) {
    if (name == "token_embd.weight")
        return "model.embed_tokens.weight";
    if (name == "output_norm.weight")
        return "model.norm.weight";
    if (name == "output.weight")
        return "lm_head.weight";
    const std::size_t numberEnd = name.find('.', 4);
    const std::size_t stemEnd = name.rfind('.');
    if (!name.starts_with("blk.") || numberEnd == std::string_view::npos || stemEnd <= numberEnd)
        return std::string(name);
    const std::string_view stem = name.substr(numberEnd + 1, stemEnd - numberEnd - 1);
    for (const auto& [theirs, ours] : kLayerNames) {
        if (stem == theirs)
            return fmt::format(
                "model.layers.{}.{}{}", name.substr(4, numberEnd - 4), ours, name.substr(stemEnd));
    }
    return std::string(name);
}

/// Metadata that would change the arithmetic to one that no backend has.
Result<void> refuseOtherArithmetic(const ArchitectureKeys& keys) {
    if (const auto scale = keys.number("attention.scale"); scale && *scale != 0)
        return unsupportedGguf("an attention.scale of the model's own is not supported");
    if (const auto factor = keys.number("rope.scaling.attn_factor"); factor && *factor != 1)
        return unsupportedGguf("a rope.scaling.attn_factor other than 1 is not supported");
    if (keys.flag("attention.causal") == false)
        return unsupportedGguf("attention to later tokens (attention.causal) is not supported");
    return {};
}

/// Notes which tensors and which metadata of the architecture are not computed with.
void noteUnusedParts(const GgufFile& file, const ArchitectureKeys& keys, ModelConfig& config) {
    std::vector<std::string> unusedKeys;
    for (const auto& [key, value] : file.describeMetadata()) {
        if (keys.isUnknown(key))
            unusedKeys.push_back(key);
    }
    if (!unusedKeys.empty())
        config.notes.push_back(fmt::format(
            "The file's metadata holds keys that have no effect on architecture {}: {}.",
            config.architecture,
            listOf(unusedKeys)));
    std::vector<std::string> unused;
    for (const TensorInfo& tensor : file.tensors()) {
        if (tensor.name != kFrequencyFactors && !computesWith(config, huggingFaceName(tensor.name)))
            unused.push_back(tensor.name);
    }
    noteUnusedTensors(unused, config);
}

} // namespace

Result<ModelConfig> readGgufModelConfig(const GgufFile& file) {
    const auto architecture = file.stringValue("general.architecture");
    if (!architecture)
        return corrupt("the metadata key general.architecture is missing or no string");
    if (architecture != "llama" && architecture != "qwen2")
        return unsupportedArchitecture(*architecture);
    const ArchitectureKeys keys(file, *architecture);
    ModelConfig config;
    config.architecture = *architecture;
    ENGINE_TRY_DO(refuseOtherArithmetic(keys));
    ENGINE_TRY_DO(readSizes(keys, config));
    ENGINE_TRY(config.vocabSize, readVocabSize(file, config));
    ENGINE_TRY_DO(readRotary(file, keys, config));
    ENGINE_TRY_DO(readSpecialIds(file, config));
    config.qkvBias = architecture == "qwen2" || file.find("blk.0.attn_q.bias");
    config.outputBias = file.find("blk.0.attn_output.bias") != nullptr;
    config.mlpBias = file.find("blk.0.ffn_gate.bias") != nullptr;
    config.tiedHead = file.find("output.weight") == nullptr;
    config.storedType = mainType(file);
    if (architecture == "llama")
        config.notes.push_back(
            "A GGUF file of architecture llama carries no sliding window: all layers see the whole "
            "context, also where the model was trained with a window (Mistral 7B v0.1).");
    // validate() repeats the limit; here it bounds the allocation.
    config.layerWindows.assign(
        std::clamp<std::size_t>(
            static_cast<std::size_t>(std::max(config.layerCount, 0)), 0, model_limits::kLayers),
        0);
    ENGINE_TRY_DO(config.validate());
    noteUnusedParts(file, keys, config);
    return config;
}

namespace {

/// How many heads the rows of this tensor were interleaved in; 0: they were not.
int interleavedHeads(std::string_view name, const ModelConfig& config) {
    if (config.architecture != "llama" || !name.starts_with("blk."))
        return 0;
    if (name.ends_with(".attn_q.weight") || name.ends_with(".attn_q.bias"))
        return config.headCount;
    if (name.ends_with(".attn_k.weight") || name.ends_with(".attn_k.bias"))
        return config.kvHeadCount;
    return 0;
}

/// A row or value of a head in half-split order -> its place in the interleaved order.
std::uint64_t interleavedIndex(std::uint64_t index, std::uint64_t headRows) {
    const std::uint64_t half = headRows / 2;
    return 2 * (index % half) + index / half;
}

/// A GGUF file seen through Hugging Face names and row order.
class GgufWeights : public WeightSource {
public:
    static Result<std::unique_ptr<WeightSource>> open(std::shared_ptr<const GgufFile> file,
                                                      const ModelConfig& config) {
        auto weights = std::make_unique<GgufWeights>();
        weights->m_tensors.reserve(file->tensors().size());
        for (const TensorInfo& stored : file->tensors()) {
            const int heads = interleavedHeads(stored.name, config);
            // Rows of a matrix, values of a bias.
            const std::uint64_t length =
                stored.shape.size() == 1 ? stored.columns() : stored.rows();
            const auto divisor = static_cast<std::uint64_t>(std::max(heads, 1)) * 2;
            if (heads != 0 && (length == 0 || length % divisor != 0))
                return corrupt(fmt::format("{}: the {} rows of tensor {} do not divide into {} "
                                           "heads with rotary pairs",
                                           file->path().string(),
                                           length,
                                           readable(stored.name),
                                           heads));
            weights->m_headRows.push_back(heads == 0 ? 0 : length / divisor * 2);
            weights->m_tensors.push_back(stored);
            weights->m_tensors.back().name = huggingFaceName(stored.name);
        }
        if (const auto twice = weights->m_names.sort(weights->m_tensors))
            return corrupt(fmt::format("{}: two tensors stand for {}",
                                       file->path().string(),
                                       readable(weights->m_tensors[*twice].name)));
        weights->m_file = std::move(file);
        return std::unique_ptr<WeightSource>(std::move(weights));
    }

    std::span<const TensorInfo> tensors() const override { return m_tensors; }

    std::string fileState() const override { return m_file->fileState(); }

    const TensorInfo* find(std::string_view name) const override {
        return m_names.find(m_tensors, name);
    }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const override {
        const auto readStored = [&](std::uint64_t first, std::uint64_t count, std::span<float> to) {
            return m_file->readRows(storedTensor(tensor), first, count, to);
        };
        if (tensor.shape.size() == 1)
            return readVector(tensor, rowCount, tensor.columns(), out, readStored);
        return readMatrix(tensor, {firstRow, rowCount}, out, readStored);
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override {
        const auto readStored =
            [&](std::uint64_t first, std::uint64_t count, std::span<std::byte> to) {
                return m_file->readRawRows(storedTensor(tensor), first, count, to);
            };
        if (tensor.shape.size() != 1)
            return readMatrix(tensor, {firstRow, rowCount}, out, readStored);
        if (headRowsOf(tensor) != 0 && blockLayout(tensor.type).values != 1)
            return unsupportedGguf(
                fmt::format("{}: the bias {} is stored in blocks of {}, whose values cannot be "
                            "reordered as stored",
                            m_file->path().string(),
                            tensor.name,
                            tensor.typeName()));
        return readVector(tensor, rowCount, tensor.columns(), out, readStored);
    }

private:
    struct RowRange {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };

    std::size_t indexOf(const TensorInfo& tensor) const {
        const auto index = static_cast<std::size_t>(&tensor - m_tensors.data());
        ENGINE_CHECK(index < m_tensors.size() && &m_tensors[index] == &tensor,
                     "tensor {} belongs to another source",
                     tensor.name);
        return index;
    }

    const TensorInfo& storedTensor(const TensorInfo& tensor) const {
        return m_file->tensors()[indexOf(tensor)];
    }

    std::uint64_t headRowsOf(const TensorInfo& tensor) const { return m_headRows[indexOf(tensor)]; }

    /// Reads head by head what the range touches and puts each row where it belongs.
    template <typename T, typename ReadStored>
    Result<void> readMatrix(const TensorInfo& tensor,
                            RowRange range,
                            std::span<T> out,
                            const ReadStored& readStored) const {
        const std::uint64_t headRows = headRowsOf(tensor);
        if (headRows == 0 || range.count == 0)
            return readStored(range.first, range.count, out);
        ENGINE_CHECK(range.first <= tensor.rows() && range.count <= tensor.rows() - range.first,
                     "rows beyond the {} of tensor {}",
                     tensor.rows(),
                     tensor.name);
        const std::uint64_t width = out.size() / range.count;
        std::vector<T> head(static_cast<std::size_t>(headRows * width));
        for (std::uint64_t i = 0; i < range.count; ++i) {
            const std::uint64_t row = range.first + i;
            const std::uint64_t headStart = row / headRows * headRows;
            if (i == 0 || row == headStart)
                ENGINE_TRY_DO(readStored(headStart, headRows, std::span<T>(head)));
            const T* from = head.data() + interleavedIndex(row - headStart, headRows) * width;
            std::copy_n(from, width, out.data() + i * width);
        }
        return {};
    }

    /// A bias is one row, whose values are in the order of the matrix rows.
    template <typename T, typename ReadStored>
    Result<void> readVector(const TensorInfo& tensor,
                            std::uint64_t rowCount,
                            std::uint64_t valueCount,
                            std::span<T> out,
                            const ReadStored& readStored) const {
        ENGINE_TRY_DO(readStored(0, rowCount, out));
        const std::uint64_t headRows = headRowsOf(tensor);
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

    std::shared_ptr<const GgufFile> m_file; // shared with ModelFiles, which may go first
    std::vector<TensorInfo> m_tensors;      // as the file's, renamed
    std::vector<std::uint64_t> m_headRows;  // 0: rows are in order as stored
    TensorNames m_names;
};

} // namespace

Result<std::unique_ptr<WeightSource>> openGgufWeights(std::shared_ptr<const GgufFile> file) {
    ENGINE_TRY(const ModelConfig config, readGgufModelConfig(*file));
    return GgufWeights::open(std::move(file), config);
}

} // namespace engine
