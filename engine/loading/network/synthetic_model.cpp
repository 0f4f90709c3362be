// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/network/synthetic_model.h"

#include "engine/base/counter_random.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/network/network_tensors.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

struct Shape {
    std::string_view name;
    int hiddenSize;
    int mlpSize;
    int layerCount;
    int headCount;
    int kvHeadCount;
};

constexpr std::array kShapes = {Shape{"1b", 2048, 5632, 22, 32, 4},
                                Shape{"3b", 3200, 8640, 26, 32, 32},
                                Shape{"7b", 4096, 11008, 32, 32, 32},
                                Shape{"13b", 5120, 13824, 40, 40, 40}};
constexpr int kVocabSize = 32000;
constexpr int kContextLength = 16384;

/// 64 bits at a time, from a key of its own for each row.
class RowBits {
public:
    RowBits(std::string_view tensor, std::uint64_t row) {
        for (const char letter : tensor)
            m_state = mixBits(m_state ^ static_cast<unsigned char>(letter));
        m_state = mixBits(m_state ^ row);
    }

    std::uint64_t next() {
        m_state += 0x9E3779B97F4A7C15ULL; // SplitMix64, as mixBits
        return mixBits(m_state);
    }

private:
    std::uint64_t m_state = 0;
};

/// Half precision of a number that is normal there, cut instead of rounded.
std::uint16_t halfBits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent = ((bits >> 23U) & 255U) - 112U;
    ENGINE_CHECK(exponent >= 1 && exponent <= 30, "{} is no normal half", value);
    return static_cast<std::uint16_t>(((bits >> 16U) & 0x8000U) | (exponent << 10U) |
                                      ((bits >> 13U) & 1023U));
}

void putHalf(float value, std::byte* at) {
    const std::uint16_t bits = halfBits(value);
    std::memcpy(at, &bits, sizeof bits);
}

/// A uniform number in [-bound, bound) of 32 random bits.
float uniform(std::uint64_t bits, float bound) {
    return static_cast<float>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))) *
           0x1.0p-31F * bound;
}

void putF32(RowBits& bits, float bound, std::byte* at) {
    const float value = uniform(bits.next(), bound);
    std::memcpy(at, &value, sizeof value);
}

void putBf16(RowBits& bits, float bound, std::byte* at) {
    const auto wide = std::bit_cast<std::uint32_t>(uniform(bits.next(), bound));
    const auto upper = static_cast<std::uint16_t>(wide >> 16U);
    std::memcpy(at, &upper, sizeof upper);
}

void putQ8Zero(RowBits& bits, float bound, std::byte* at) {
    putHalf(bound / 127.0F, at);
    for (std::size_t j = 0; j < 32; j += 8) {
        auto eight = std::bit_cast<std::array<std::int8_t, 8>>(bits.next());
        for (std::int8_t& value : eight)
            value = value == -128 ? std::int8_t{-127} : value; // no quantiser makes -128
        std::memcpy(at + 2 + j, eight.data(), eight.size());
    }
}

void putQ4One(RowBits& bits, float bound, std::byte* at) {
    putHalf(bound * 2.0F / 15.0F, at);
    putHalf(-bound, at + 2);
    for (std::size_t j = 0; j < 16; j += 8) {
        const std::uint64_t sixteen = bits.next();
        std::memcpy(at + 4 + j, &sixteen, sizeof sixteen);
    }
}

using PutBlock = void (*)(RowBits&, float, std::byte*);

PutBlock putBlockOf(TensorType type) {
    switch (type) {
    case TensorType::F32:
        return putF32;
    case TensorType::BF16:
        return putBf16;
    case TensorType::Q8_0:
        return putQ8Zero;
    case TensorType::Q4_1:
        return putQ4One;
    default:
        return nullptr;
    }
}

bool isNorm(const TensorInfo& tensor) { return tensor.shape.size() == 1; }

} // namespace

Result<ModelConfig> syntheticConfig(std::string_view shape, int layerCount) {
    for (const Shape& known : kShapes) {
        if (known.name != shape || layerCount < 0)
            continue;
        ModelConfig config;
        config.architecture = "llama";
        config.layerCount = layerCount > 0 ? layerCount : known.layerCount;
        config.hiddenSize = known.hiddenSize;
        config.mlpSize = known.mlpSize;
        config.headCount = known.headCount;
        config.kvHeadCount = known.kvHeadCount;
        config.headDim = known.hiddenSize / known.headCount;
        config.vocabSize = kVocabSize;
        config.contextLength = kContextLength;
        config.normEpsilon = 1e-5;
        config.layerWindows.assign(static_cast<std::size_t>(config.layerCount), 0);
        ENGINE_TRY_DO(config.validate());
        return config;
    }
    return Error{ErrorCode::InvalidInput,
                 fmt::format("There is no shape \"{}\" of {} layers.", shape, layerCount),
                 "Choose 1b, 3b, 7b or 13b, and at least one layer."};
}

SyntheticWeights::SyntheticWeights(const ModelConfig& config, TensorType type) {
    forEachTensor(config, [&](const TensorSpec& tensor) {
        ENGINE_CHECK(!tensor.hasBias, "no made-up biases: {}", tensor.name);
        add(tensor.weightName(), tensor.shape(), tensor.isNorm() ? TensorType::F32 : type);
    });
}

void SyntheticWeights::add(std::string name, std::vector<std::uint64_t> shape, TensorType type) {
    ENGINE_CHECK(putBlockOf(type) != nullptr, "no made-up weights of {}", tensorTypeName(type));
    TensorInfo tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    tensor.shape = std::move(shape);
    const BlockLayout block = blockLayout(type);
    ENGINE_CHECK(tensor.columns() % block.values == 0, "{} columns", tensor.columns());
    tensor.byteSize = tensor.rows() * (tensor.columns() / block.values) * block.bytes;
    m_indexOf.emplace(tensor.name, m_tensors.size());
    m_tensors.push_back(std::move(tensor));
}

const TensorInfo* SyntheticWeights::find(std::string_view name) const {
    const auto found = m_indexOf.find(name);
    return found == m_indexOf.end() ? nullptr : &m_tensors[found->second];
}

std::uint64_t SyntheticWeights::byteSize() const {
    std::uint64_t bytes = 0;
    for (const TensorInfo& tensor : m_tensors)
        bytes += tensor.byteSize;
    return bytes;
}

Result<void> SyntheticWeights::readRawRows(const TensorInfo& tensor,
                                           std::uint64_t firstRow,
                                           std::uint64_t rowCount,
                                           std::span<std::byte> out) const {
    const BlockLayout block = blockLayout(tensor.type);
    const std::uint64_t blocks = tensor.columns() / block.values;
    ENGINE_CHECK(out.size() == rowCount * blocks * block.bytes, "{} bytes", out.size());
    if (isNorm(tensor)) {
        constexpr float kOne = 1.0F;
        for (std::size_t at = 0; at < out.size(); at += sizeof kOne)
            std::memcpy(out.data() + at, &kOne, sizeof kOne);
        return {};
    }
    const PutBlock putBlock = putBlockOf(tensor.type);
    const float bound = std::sqrt(3.0F / static_cast<float>(tensor.columns()));
    std::byte* at = out.data();
    for (std::uint64_t row = firstRow; row < firstRow + rowCount; ++row) {
        RowBits bits(tensor.name, row);
        for (std::uint64_t i = 0; i < blocks; ++i, at += block.bytes)
            putBlock(bits, bound, at);
    }
    return {};
}

Result<void> SyntheticWeights::readRows(const TensorInfo& tensor,
                                        std::uint64_t firstRow,
                                        std::uint64_t rowCount,
                                        std::span<float> out) const {
    const BlockLayout block = blockLayout(tensor.type);
    const std::uint64_t columns = tensor.columns();
    std::vector<std::byte> raw(columns / block.values * block.bytes); // one row at a time
    for (std::uint64_t row = 0; row < rowCount; ++row) {
        ENGINE_TRY_DO(readRawRows(tensor, firstRow + row, 1, raw));
        dequantize(tensor.type, raw, out.subspan(row * columns, columns));
    }
    return {};
}

} // namespace engine
