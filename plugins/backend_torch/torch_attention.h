// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/model/cache/attention_layout.h"
#include "engine/model/cache/kv_cache.h"

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace backend_torch {

/// The cache slots of one row's keys, in the layout's order: `count` neighbours from `first` on,
/// then `tail`, which is empty unless the row belongs to a tree.
struct RowKeys {
    engine::Position first = 0;
    engine::Position count = 0;
    std::span<const engine::VisibleSlot> tail; // a guest of the layout

    engine::Position length() const { return count + static_cast<engine::Position>(tail.size()); }
};

/// The keys of each row; `window` as in AttentionLayout::forEachKey.
std::vector<RowKeys> visibleKeys(const engine::AttentionLayout& layout, int window);

/// Attention of one layer in one pass. Each row is computed by operations of its own, over exactly
/// its own keys in their order: neither the other rows nor the place of the keys in memory matter.
/// The softmax and both products are in the math type; bfloat16 keys and values are widened first.
class LayerAttention {
public:
    /// `rows` say which keys are wanted; the cache already holds this pass's keys and values.
    LayerAttention(engine::HostKvStorage& storage, int layer, std::span<const RowKeys> rows);

    /// Shapes: queries [kvHeads, group, headDim], already scaled; returns the same. `group` is at
    /// least 2: with one row LibTorch takes another path, whose sums depend on memory alignment.
    /// `softCap` above 0: scores become softCap * tanh(score / softCap).
    at::Tensor attend(const RowKeys& row, const at::Tensor& queries, double softCap);

private:
    void gather(const RowKeys& row);

    at::Tensor m_keys;                    // [kvHeads, slots, headDim], math type
    at::Tensor m_values;                  // likewise
    engine::Position m_firstSlot = 0;     // slot of index 0 in both
    at::Tensor m_gatheredKeys;            // [kvHeads, longest tree row, headDim]: a row of a tree
    at::Tensor m_gatheredValues;          // likewise
    engine::Position m_longest = 0;       // of all rows with a tail
    engine::Position m_gatheredFirst = 0; // slots that the front of the gathered tensors holds
    engine::Position m_gatheredCount = 0;
};

} // namespace backend_torch
