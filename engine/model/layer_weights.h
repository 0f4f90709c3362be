// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/network/network_tensors.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace engine {

/// The norms of one layer, in a backend's own type. What the network does without is empty.
template <typename Norm> struct LayerNormsOf {
    Norm attentionNorm;      // [hidden]
    Norm queryNorm, keyNorm; // [headDim] or [heads * headDim]
    Norm attentionPostNorm;  // [hidden]
    Norm mlpNorm;            // [hidden]
    Norm mlpPostNorm;        // [hidden]

    /// Of a role that is a norm of a layer.
    Norm& norm(TensorRole role) {
        switch (role) {
        case TensorRole::AttentionNorm:
            return attentionNorm;
        case TensorRole::QueryNorm:
            return queryNorm;
        case TensorRole::KeyNorm:
            return keyNorm;
        case TensorRole::AttentionPostNorm:
            return attentionPostNorm;
        case TensorRole::MlpPostNorm:
            return mlpPostNorm;
        default:
            ENGINE_CHECK(role == TensorRole::MlpNorm, "no norm of a layer");
            return mlpNorm;
        }
    }

    template <typename Visit> void forEachNorm(Visit&& visit) const {
        for (const Norm* each :
             {&attentionNorm, &queryNorm, &keyNorm, &attentionPostNorm, &mlpNorm, &mlpPostNorm})
            visit(*each);
    }
};

/// An MLP, or one expert of several.
template <typename Linear> struct GatedMlpOf { Linear gate, up, down; };

/// The weights of one layer of a backend that keeps each tensor by itself.
template <typename Norm, typename Linear> struct LayerWeightsOf : LayerNormsOf<Norm> {
    Linear query, key, value, output;
    Linear router;                        // [experts, hidden]
    std::vector<GatedMlpOf<Linear>> mlps; // one, or the experts

    /// Of a role that is a linear layer; `expert` is -1 where there is only one.
    Linear& linear(TensorRole role, int expert) {
        GatedMlpOf<Linear>& mlp = mlps[static_cast<std::size_t>(std::max(expert, 0))];
        switch (role) {
        case TensorRole::Query:
            return query;
        case TensorRole::Key:
            return key;
        case TensorRole::Value:
            return value;
        case TensorRole::Output:
            return output;
        case TensorRole::Router:
            return router;
        case TensorRole::Gate:
            return mlp.gate;
        case TensorRole::Up:
            return mlp.up;
        default:
            ENGINE_CHECK(role == TensorRole::Down, "no linear layer of a layer");
            return mlp.down;
        }
    }

    template <typename Visit> void forEachLinear(Visit&& visit) { visitLinears(*this, visit); }

    template <typename Visit> void forEachLinear(Visit&& visit) const {
        visitLinears(*this, visit);
    }

private:
    template <typename Layer, typename Visit> static void visitLinears(Layer& layer, Visit& visit) {
        for (auto* each : {&layer.query, &layer.key, &layer.value, &layer.output, &layer.router})
            visit(*each);
        for (auto& mlp : layer.mlps)
            for (auto* each : {&mlp.gate, &mlp.up, &mlp.down})
                visit(*each);
    }
};

} // namespace engine
