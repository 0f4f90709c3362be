// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/drafts/draft_adapter_writer.h"

#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/safetensors_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

namespace {

constexpr std::size_t kScaleGroup = 32;
constexpr float kMostSteps = 127.0F;

/// For the tokens that can be drafted, the list of tensors and the description.
constexpr std::uint64_t kOtherBytes = 3'000'000;

/// Whether it is stored in 8 bits.
bool isScaled(const AdapterTensor& tensor) {
    return tensor.shape.size() == 2 && tensor.shape.back() % kScaleGroup == 0;
}

/// Collects tensors, one behind the other.
class TensorFile {
public:
    template <typename T>
    void add(const std::string& name,
             const char* type,
             const std::vector<std::uint64_t>& shape,
             std::span<const T> values) {
        m_data.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
        m_tensors.push_back({name, type, shape, values.size_bytes()});
    }

    std::string bytes(const std::string& description) const {
        return safetensorsHeader("swift_studio_draft_adapter", description, m_tensors) + m_data;
    }

private:
    std::vector<HeaderTensor> m_tensors;
    std::string m_data;
};

struct ScaledNumbers {
    std::vector<std::int8_t> steps;    // [rows, columns]
    std::vector<std::uint16_t> scales; // [rows, columns / kScaleGroup] float16
};

/// False where a scale does not fit into 16 bits.
bool scaleNumbers(std::span<const float> values, ScaledNumbers& scaled) {
    for (std::size_t first = 0; first < values.size(); first += kScaleGroup) {
        const auto group = values.subspan(first, kScaleGroup);
        float most = 0.0F;
        for (const float value : group)
            most = std::max(most, std::abs(value));
        const std::uint16_t bits = halfFromFloat(most / kMostSteps);
        const float scale = floatFromHalf(bits);
        if (!std::isfinite(scale))
            return false;
        scaled.scales.push_back(bits);
        for (const float value : group) {
            const float wanted = scale > 0.0F ? value / scale : 0.0F;
            scaled.steps.push_back(
                static_cast<std::int8_t>(std::lround(std::clamp(wanted, -kMostSteps, kMostSteps))));
        }
    }
    return true;
}

} // namespace

Result<std::string> draftAdapterBytes(const DraftAdapter& adapter, const std::string& description) {
    TensorFile file;
    for (const auto& [network, tensor] : adapterTensors(adapter.sizes)) {
        const std::vector<float>& values = adapter.tensors.find(network)->second;
        const auto refused = [&tensor = tensor](const char* why) {
            return Error{
                ErrorCode::Numeric,
                fmt::format("The numbers of {} {}, so no adapter is written.", tensor.name, why),
                "Train with a lower rate."};
        };
        if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
            return refused("are not finite");
        if (!isScaled(tensor)) {
            file.add(tensor.name, "F32", tensor.shape, std::span<const float>(values));
            continue;
        }
        ScaledNumbers scaled;
        if (!scaleNumbers(values, scaled))
            return refused("are too large");
        file.add(tensor.name, "I8", tensor.shape, std::span<const std::int8_t>(scaled.steps));
        file.add(tensor.name + ".scale",
                 "F16",
                 {tensor.shape.front(), tensor.shape.back() / kScaleGroup},
                 std::span<const std::uint16_t>(scaled.scales));
    }
    const std::vector<std::uint32_t> ids(adapter.headIds.begin(), adapter.headIds.end());
    file.add("head.ids", "U32", {ids.size()}, std::span<const std::uint32_t>(ids));
    return file.bytes(description);
}

Result<void> checkAdapterBytes(const DraftSizes& sizes) {
    std::uint64_t bytes = kOtherBytes;
    for (const auto& [network, tensor] : adapterTensors(sizes))
        bytes += isScaled(tensor)
                     ? tensor.count() + tensor.count() / kScaleGroup * sizeof(std::uint16_t)
                     : tensor.count() * sizeof(float);
    if (bytes <= kMostAdapterBytes)
        return {};
    return Error{ErrorCode::Unsupported,
                 fmt::format("An adapter for this model would have about {} bytes, and at most {} "
                             "are read.",
                             bytes,
                             kMostAdapterBytes),
                 "Choose a smaller model, or --set layers=1."};
}

} // namespace engine
