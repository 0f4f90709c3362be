// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_torch/torch_attention.h"

#include "plugins/backend_torch/row_math.h"

#include <ATen/ops/_softmax.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <limits>

namespace backend_torch {

using namespace engine;

namespace {

RowKeys visibleKeysOf(const AttentionLayout& layout, int row, int window) {
    const Position lowest = window > 0 ? std::max(0, layout.position(row) - window + 1) : 0;
    const Position prefix = layout.prefixLength(row);
    std::span<const VisibleSlot> path = layout.path(row);
    while (!path.empty() && path.front().position < lowest)
        path = path.subspan(1);
    RowKeys keys;
    keys.first = lowest;
    keys.count = std::max(0, prefix - lowest);
    if (keys.count == 0 && !path.empty())
        keys.first = path.front().slot;
    while (!path.empty() && path.front().slot == keys.first + keys.count) {
        ++keys.count;
        path = path.subspan(1);
    }
    keys.tail = path;
    return keys;
}

/// The storage's numbers as they lie, without a copy: [kvHeads, capacity, headDim].
at::Tensor planeOf(std::byte* numbers, const KvShape& shape) {
    const at::ScalarType type = shape.type == KvType::F64    ? at::kDouble
                                : shape.type == KvType::BF16 ? at::kBFloat16
                                                             : at::kFloat;
    return at::from_blob(numbers,
                         {shape.kvHeadCount, shape.capacity, shape.headDim},
                         at::TensorOptions().dtype(type));
}

template <typename Math> void capAll(const at::Tensor& scores, double softCap) {
    Math* values = scores.mutable_data_ptr<Math>();
    for (std::int64_t i = 0; i < scores.numel(); ++i)
        values[i] = softCapped(values[i], static_cast<Math>(softCap));
}

void capScores(const at::Tensor& scores, double softCap) {
    if (scores.scalar_type() == at::kDouble)
        capAll<double>(scores, softCap);
    else
        capAll<float>(scores, softCap);
}

} // namespace

std::vector<RowKeys> visibleKeys(const AttentionLayout& layout, int window) {
    std::vector<RowKeys> rows;
    for (int row = 0; row < layout.rowCount(); ++row)
        rows.push_back(visibleKeysOf(layout, row, window));
    return rows;
}

LayerAttention::LayerAttention(HostKvStorage& storage, int layer, std::span<const RowKeys> rows)
    : m_keys(planeOf(storage.keys(layer), storage.shape()))
    , m_values(planeOf(storage.values(layer), storage.shape())) {
    Position first = std::numeric_limits<Position>::max();
    Position end = 0;
    for (const RowKeys& row : rows) {
        first = std::min(first, row.first);
        end = std::max(end, row.first + row.count);
        for (const VisibleSlot& seen : row.tail) {
            first = std::min(first, seen.slot);
            end = std::max(end, seen.slot + 1);
        }
        if (!row.tail.empty())
            m_longest = std::max(m_longest, row.length());
    }
    if (storage.shape().type == KvType::BF16 && first < end) {
        m_firstSlot = first;
        m_keys = m_keys.narrow(1, first, end - first).to(at::kFloat);
        m_values = m_values.narrow(1, first, end - first).to(at::kFloat);
    }
    if (m_longest > 0) {
        const std::int64_t sizes[] = {m_keys.size(0), m_longest, m_keys.size(2)};
        m_gatheredKeys = at::empty(sizes, m_keys.options());
        m_gatheredValues = at::empty(sizes, m_keys.options());
    }
}

at::Tensor LayerAttention::attend(const RowKeys& row, const at::Tensor& queries, double softCap) {
    at::Tensor keys;
    at::Tensor values;
    if (row.tail.empty()) {
        keys = m_keys.narrow(1, row.first - m_firstSlot, row.count);
        values = m_values.narrow(1, row.first - m_firstSlot, row.count);
    } else {
        gather(row);
        keys = m_gatheredKeys.narrow(1, 0, row.length());
        values = m_gatheredValues.narrow(1, 0, row.length());
    }
    const at::Tensor scores = at::bmm(queries, keys.transpose(1, 2)); // [kvHeads, group, keys]
    if (softCap > 0.0)
        capScores(scores, softCap);
    return at::bmm(at::_softmax(scores, 2, false), values);
}

/// Rows of a tree share most of their front: only what the last row did not leave there is copied.
void LayerAttention::gather(const RowKeys& row) {
    const Position kept = m_gatheredFirst == row.first ? std::min(m_gatheredCount, row.count) : 0;
    const auto copyInto = [&](const at::Tensor& into, const at::Tensor& from) {
        const Position source = row.first - m_firstSlot + kept;
        into.narrow(1, kept, row.count - kept).copy_(from.narrow(1, source, row.count - kept));
        Position at = row.count;
        for (const VisibleSlot& seen : row.tail)
            into.select(1, at++).copy_(from.select(1, seen.slot - m_firstSlot));
    };
    copyInto(m_gatheredKeys, m_keys);
    copyInto(m_gatheredValues, m_values);
    m_gatheredFirst = row.first;
    m_gatheredCount = row.count;
}

} // namespace backend_torch
