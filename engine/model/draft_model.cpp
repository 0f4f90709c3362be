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

/// The tensors of an adapter, which may stay in their file, and the rows of the model's head, which
/// stay in the model, in 4 bits where `rounds` says so and rows are whole groups.
class DraftWeights final : public WeightSource {
public:
    DraftWeights(const DraftAdapter& adapter, const ModelConfig& config, const Transformer& model)
        : m_rounds(model.roundsDraftNetworks())
        , m_adapter(adapter)
        , m_model(model) {
        for (const auto& [name, tensor] : adapterTensors(adapter.sizes)) {
            const auto found = adapter.tensors.find(name);
            add(name,
                fmt::format("tensor {} of the draft adapter {}", tensor.name, adapter.name),
                tensor.shape,
                found == adapter.tensors.end() ? std::span<const float>()
                                               : std::span<const float>(found->second));
        }
        add(headTensor(config).weightName(),
            "the model's output head",
            {adapter.headIds.size(), toSize(config.hiddenSize)},
            {});
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
        std::vector<float> room;
        ENGINE_TRY(const std::span<const float> from, rowsOf(tensor, firstRow, rowCount, room));
        std::copy(from.begin(), from.end(), out.begin());
        return {};
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override {
        std::vector<float> room;
        ENGINE_TRY(const std::span<const float> from, rowsOf(tensor, firstRow, rowCount, room));
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

    std::string fileState() const override {
        return m_adapter.stored == nullptr ? std::string() : m_adapter.stored->fileState();
    }

private:
    /// `title` names the tensor in messages; without `values` they stay in the file.
    void add(const std::string& name,
             std::string title,
             const std::vector<std::uint64_t>& shape,
             std::span<const float> values) {
        TensorInfo info;
        info.name = name;
        info.shape = shape;
        const std::uint64_t count = info.rows() * info.columns();
        info.byteSize = count * sizeof(float);
        if (m_rounds && shape.size() == 2 && shape.back() % kGroup == 0) {
            info.type = TensorType::Q4_1;
            info.byteSize = count / kGroup * kGroupBytes;
        }
        m_tensors.push_back(std::move(info));
        m_values.push_back(values);
        m_titles.push_back(std::move(title));
    }

    std::size_t placeOf(const TensorInfo& tensor) const {
        return static_cast<std::size_t>(&tensor - m_tensors.data());
    }

    /// `room` holds those that come from the file or from the model.
    Result<std::span<const float>> rowsOf(const TensorInfo& tensor,
                                          std::uint64_t firstRow,
                                          std::uint64_t rowCount,
                                          std::vector<float>& room) const {
        const auto columns = static_cast<std::size_t>(tensor.columns());
        const std::size_t count = static_cast<std::size_t>(rowCount) * columns;
        const auto first = static_cast<std::size_t>(firstRow);
        if (&tensor == &m_tensors.back()) {
            room.resize(count);
            for (std::size_t row = 0; row < count / columns; ++row)
                ENGINE_TRY_DO(m_model.readHeadRow(m_adapter.headIds[first + row],
                                                  std::span(room).subspan(row * columns, columns)));
            return std::span<const float>(room);
        }
        std::span<const float> values = m_values[placeOf(tensor)];
        if (!values.empty()) {
            values = values.subspan(first * columns, count);
        } else {
            const auto& file = m_adapter.stored;
            const TensorInfo* stored = file == nullptr ? nullptr : file->find(tensor.name);
            ENGINE_CHECK(stored != nullptr, "no numbers of {}", tensor.name);
            room.resize(count);
            ENGINE_TRY_DO(file->readRows(*stored, firstRow, rowCount, room));
            values = room;
        }
        ENGINE_TRY_DO(checkFinite(tensor, values));
        return values;
    }

    /// Rounding to halves and groups hides numbers that are not finite.
    Result<void> checkFinite(const TensorInfo& tensor, std::span<const float> values) const {
        if (std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
            return {};
        return Error{ErrorCode::Numeric,
                     fmt::format("Some numbers are not finite in {}.", m_titles[placeOf(tensor)]),
                     "Make the adapter again, or go on without it (--draft-adapter none)."};
    }

    bool m_rounds;
    const DraftAdapter& m_adapter;
    const Transformer& m_model;
    std::vector<TensorInfo> m_tensors;            // those of the adapter, then the head
    std::vector<std::span<const float>> m_values; // [tensors]
    std::vector<std::string> m_titles;            // [tensors]
};

} // namespace

Result<std::unique_ptr<DraftModel>> makeDraftModel(const Transformer& model,
                                                   const DraftAdapter& adapter) {
    const ModelConfig config = draftConfig(adapter, model.config());
    const DraftWeights weights(adapter, config, model);
    auto made = std::make_unique<DraftModel>();
    ENGINE_TRY(made->network, model.makeDraftNetwork(config, weights));
    made->name = adapter.name;
    made->about = adapter.about;
    made->ids = adapter.headIds;
    return made;
}

} // namespace engine
