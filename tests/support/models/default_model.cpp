// SPDX-License-Identifier: Apache-2.0
#include "tests/support/models/default_model.h"

#include "engine/experiments/data_stream.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/text/chat_prompt.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace support {

using namespace engine;

namespace {

constexpr const char* kPath = SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr const char* kSharedPrompts = SWIFT_STUDIO_SHARED_DIR "/data";
constexpr const char* kOwnPrompts = SWIFT_STUDIO_TEST_DATA_DIR "/prompts";
constexpr float kSilence = 1e-3F;
constexpr std::string_view kLayers = "model.layers.";

template <typename T> T valueOf(Result<T> result) {
    ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
    return std::move(result).value();
}

/// The tensor's name after "model.layers.N.", empty for other tensors.
std::string_view nameInLayer(std::string_view name) {
    if (!name.starts_with(kLayers))
        return {};
    return name.substr(name.find('.', kLayers.size()) + 1);
}

/// Where the half precision numbers lie that all values of a block are multiples of.
std::vector<std::size_t> scalePlaces(TensorType type) {
    switch (type) {
    case TensorType::Q4_1:
    case TensorType::Q5_1:
    case TensorType::Q4_K:
    case TensorType::Q5_K:
        return {0, 2};
    case TensorType::Q2_K:
        return {80, 82};
    case TensorType::Q3_K:
        return {108};
    case TensorType::Q6_K:
        return {208};
    default:
        return {0};
    }
}

void scaleHalf(std::byte* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, 2);
    bits = halfFromFloat(floatFromHalf(bits) * kSilence);
    std::memcpy(at, &bits, 2);
}

/// Makes values as they are stored near-silent.
void quieten(TensorType type, std::span<std::byte> stored) {
    const std::size_t step = blockLayout(type).bytes;
    for (std::size_t block = 0; block < stored.size(); block += step) {
        std::byte* at = stored.data() + block;
        if (type == TensorType::F32) {
            float value = 0.0F;
            std::memcpy(&value, at, 4);
            value *= kSilence;
            std::memcpy(at, &value, 4);
        } else if (type == TensorType::BF16) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, at, 2);
            bits = bfloat16FromFloat(floatFromBfloat16(bits) * kSilence);
            std::memcpy(at, &bits, 2);
        } else {
            for (const std::size_t place : scalePlaces(type))
                scaleHalf(at + place);
        }
    }
}

bool isOutput(std::string_view name) {
    const std::string_view inner = nameInLayer(name);
    return inner.starts_with("self_attn.o_proj") || inner.starts_with("mlp.down_proj");
}

} // namespace

PlantedWeights::PlantedWeights(const WeightSource& source, int layerCount)
    : m_source(source)
    , m_layerCount(2 * layerCount) {
    for (const TensorInfo& tensor : source.tensors()) {
        const std::string_view inner = nameInLayer(tensor.name);
        if (inner.empty()) {
            m_tensors.push_back(tensor);
            m_sourceNames.push_back(tensor.name);
            continue;
        }
        const int layer = std::stoi(tensor.name.substr(kLayers.size()));
        ENGINE_CHECK(layer < layerCount, "layer {} of {}", layer, layerCount);
        for (const int copy : {2 * layer, 2 * layer + 1}) {
            m_tensors.push_back(tensor);
            m_tensors.back().name = fmt::format("{}{}.{}", kLayers, copy, inner);
            m_sourceNames.push_back(tensor.name);
        }
    }
}

const TensorInfo* PlantedWeights::find(std::string_view name) const {
    const auto found = std::find_if(m_tensors.begin(),
                                    m_tensors.end(),
                                    [&](const TensorInfo& tensor) { return tensor.name == name; });
    return found == m_tensors.end() ? nullptr : &*found;
}

const TensorInfo& PlantedWeights::original(const TensorInfo& tensor) const {
    const auto index = static_cast<std::size_t>(&tensor - m_tensors.data());
    return *m_source.find(m_sourceNames[index]);
}

bool PlantedWeights::isQuiet(const TensorInfo& tensor) const {
    return isOutput(tensor.name) &&
           isSilent(std::stoi(tensor.name.substr(kLayers.size())), m_layerCount);
}

Result<void> PlantedWeights::readRows(const TensorInfo& tensor,
                                      std::uint64_t firstRow,
                                      std::uint64_t rowCount,
                                      std::span<float> out) const {
    if (!isQuiet(tensor) || tensor.shape.size() != 2)
        return m_source.readRows(original(tensor), firstRow, rowCount, out);
    std::vector<std::byte> raw(
        static_cast<std::size_t>(tensor.byteSize / tensor.rows() * rowCount));
    ENGINE_TRY_DO(readRawRows(tensor, firstRow, rowCount, raw));
    dequantize(tensor.type, raw, out);
    return {};
}

Result<void> PlantedWeights::readRawRows(const TensorInfo& tensor,
                                         std::uint64_t firstRow,
                                         std::uint64_t rowCount,
                                         std::span<std::byte> out) const {
    ENGINE_TRY_DO(m_source.readRawRows(original(tensor), firstRow, rowCount, out));
    if (isQuiet(tensor))
        quieten(tensor.type, out);
    return {};
}

bool PlantedWeights::isSilent(int layer, int layerCount) {
    const int original = layer / 2;
    const bool isLast = original == layerCount / 2 - 1;
    const bool comesFirst = isLast || (original > 0 && original * 7 % 5 < 2);
    return (layer % 2 == 0) == comesFirst;
}

ModelConfig PlantedWeights::planted(ModelConfig config) {
    std::vector<int> windows;
    for (const int window : config.layerWindows)
        windows.insert(windows.end(), 2, window);
    config.layerWindows = std::move(windows);
    config.layerCount *= 2;
    return config;
}

bool DefaultModel::isThere() { return std::filesystem::exists(kPath); }

DefaultModel DefaultModel::load(bool planted, std::string backend) {
    BackendRegistry registry(std::filesystem::absolute(SWIFT_STUDIO_MODULE_DIR));
    const auto names = registry.names();
    if (backend.empty())
        backend = std::find(names.begin(), names.end(), "torch") != names.end() ? "torch" : "plain";
    const ModelFiles files = valueOf(ModelFiles::open(kPath));
    const auto weights = valueOf(files.weights());
    DefaultModel model;
    model.config = valueOf(files.config());
    const PlantedWeights copies(*weights, model.config.layerCount);
    if (planted)
        model.config = PlantedWeights::planted(model.config);
    const TransformerFactory factory = valueOf(registry.find(backend));
    const WeightSource& source = planted ? static_cast<const WeightSource&>(copies) : *weights;
    model.transformer = valueOf(factory(model.config, source, {}));
    model.tokenizer = valueOf(loadTokenizer(files));
    model.chatTemplate =
        std::make_unique<ChatTemplate>(valueOf(chooseChatTemplate(files, *model.tokenizer)));
    return model;
}

std::vector<TokenId> DefaultModel::prompt(const std::string& text) const {
    return valueOf(encodeChat(*chatTemplate, {{"user", text}}, *tokenizer));
}

std::vector<TokenId> DefaultModel::endIds() const {
    std::vector<TokenId> ids = config.eosIds;
    const auto chat = chatEndIds(*tokenizer);
    ids.insert(ids.end(), chat.begin(), chat.end());
    return ids;
}

bool hasSharedData() { return std::filesystem::exists(kSharedPrompts); }

std::vector<std::string> dataPrompts(const std::string& task, int count) {
    std::vector<std::string> prompts;
    const char* folder = hasSharedData() ? kSharedPrompts : kOwnPrompts;
    DataStream stream = valueOf(DataStream::open(fmt::format("{}/{}.jsonl", folder, task),
                                                 {.limit = count, .onlyTask = {}}));
    while (auto item = valueOf(stream.next()))
        if (const auto* record = std::get_if<DataRecord>(&*item))
            prompts.push_back(record->turns.front());
    return prompts;
}

} // namespace support
