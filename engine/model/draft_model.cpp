// SPDX-License-Identifier: Apache-2.0
#include "engine/model/draft_model.h"

#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

constexpr std::uint64_t kGroup = 32;
constexpr std::size_t kGroupBytes = 20; // of Q4_1: scale, minimum, 32 numbers of 4 bits

/// The tensors of an adapter and the rows of the model's head, in 4 bits where `rounds` says so and
/// rows are whole groups.
class DraftWeights final : public WeightSource {
public:
    DraftWeights(const DraftAdapter& adapter, const ModelConfig& config, bool rounds)
        : m_rounds(rounds) {
        for (const auto& [name, tensor] : adapterTensors(adapter.sizes))
            add(name,
                fmt::format("tensor {} of the draft adapter {}", tensor.name, adapter.name),
                tensor.shape,
                adapter.tensors.find(name)->second);
        m_headName = headTensor(config).weightName();
    }

    Result<void> addHead(const Transformer& model, std::span<const TokenId> ids) {
        const std::size_t width = toSize(model.config().hiddenSize);
        m_head.resize(ids.size() * width);
        for (std::size_t i = 0; i < ids.size(); ++i)
            ENGINE_TRY_DO(model.readHeadRow(ids[i], std::span(m_head).subspan(i * width, width)));
        add(m_headName, "the model's output head", {ids.size(), width}, m_head);
        return {};
    }

    std::span<const TensorInfo> tensors() const override { return m_tensors; }

    const TensorInfo* find(std::string_view name) const override {
        const auto found = std::find_if(m_tensors.begin(), m_tensors.end(), [&](const auto& each) {
            return each.name == name;
        });
        return found == m_tensors.end() ? nullptr : &*found;
    }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const override {
        const std::span<const float> from = rowsOf(tensor, firstRow, rowCount);
        std::copy(from.begin(), from.end(), out.begin());
        return {};
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override {
        const std::span<const float> from = rowsOf(tensor, firstRow, rowCount);
        if (tensor.type == TensorType::F32) {
            std::memcpy(out.data(), from.data(), from.size_bytes());
            return {};
        }
        for (std::size_t group = 0; group < from.size() / kGroup; ++group)
            if (!roundToQ4_1(from.data() + group * kGroup, out.data() + group * kGroupBytes))
                return Error{ErrorCode::Numeric,
                             fmt::format("Numbers in {} are too large to be rounded to 4 bits for "
                                         "drafting.",
                                         m_titles[placeOf(tensor)]),
                             "Go on without the draft adapter (--draft-adapter none), or use "
                             "--backend plain."};
        return {};
    }

private:
    /// `title` names the tensor in messages.
    void add(const std::string& name,
             std::string title,
             const std::vector<std::uint64_t>& shape,
             std::span<const float> values) {
        TensorInfo info;
        info.name = name;
        info.shape = shape;
        info.byteSize = values.size_bytes();
        if (m_rounds && shape.size() == 2 && shape.back() % kGroup == 0) {
            info.type = TensorType::Q4_1;
            info.byteSize = values.size() / kGroup * kGroupBytes;
        }
        m_tensors.push_back(std::move(info));
        m_values.push_back(values);
        m_titles.push_back(std::move(title));
    }

    std::size_t placeOf(const TensorInfo& tensor) const {
        return static_cast<std::size_t>(&tensor - m_tensors.data());
    }

    std::span<const float>
    rowsOf(const TensorInfo& tensor, std::uint64_t firstRow, std::uint64_t rowCount) const {
        const auto columns = static_cast<std::size_t>(tensor.columns());
        return m_values[placeOf(tensor)].subspan(static_cast<std::size_t>(firstRow) * columns,
                                                 static_cast<std::size_t>(rowCount) * columns);
    }

    bool m_rounds;
    std::string m_headName;
    std::vector<TensorInfo> m_tensors;
    std::vector<std::span<const float>> m_values; // [tensors]
    std::vector<std::string> m_titles;            // [tensors]
    std::vector<float> m_head;
};

/// Rounding to halves and groups hides numbers that are not finite.
Result<void> checkFinite(const DraftAdapter& adapter) {
    for (const auto& [name, tensor] : adapterTensors(adapter.sizes)) {
        const std::vector<float>& values = adapter.tensors.find(name)->second;
        if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
            return Error{
                ErrorCode::Numeric,
                fmt::format("The draft adapter {} holds numbers that are not finite in {}.",
                            adapter.name,
                            tensor.name),
                "Make it again, or go on without it."};
    }
    return {};
}

} // namespace

Result<std::unique_ptr<DraftModel>> makeDraftModel(const Transformer& model,
                                                   const DraftAdapter& adapter) {
    ENGINE_TRY_DO(checkFinite(adapter));
    const ModelConfig config = draftConfig(adapter, model.config());
    DraftWeights weights(adapter, config, model.roundsDraftNetworks());
    ENGINE_TRY_DO(weights.addHead(model, adapter.headIds));
    auto made = std::make_unique<DraftModel>();
    ENGINE_TRY(made->network, model.makeDraftNetwork(config, weights));
    made->name = adapter.name;
    made->about = adapter.about;
    made->ids = adapter.headIds;
    return made;
}

} // namespace engine
