// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/settings.h"
#include "engine/model/memory_need.h"
#include "engine/model/transformer.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a backend can compute on: the processor, or one of several GPUs. A plain value.
struct BackendDevice {
    std::string name;
    /// Memory that it can still give; of a GPU all that it has; 0 = not known.
    std::uint64_t freeBytes = 0;
};

/// What a backend says about itself. Command line, window, inspection and measurements are made
/// from it: a new backend needs no line of theirs.
struct BackendInfo {
    std::string name;    ///< as typed: "cpu"
    std::string title;   ///< as shown: "Processor"
    std::string summary; ///< "simple loops on one core"
    /// "precision" and "threads" are handed over as fields of TransformerOptions, the others in its
    /// `settings`. All act when a model is loaded.
    std::vector<SettingInfo> settings = {};

    /// Whether weights, keys and values lie in memory of its own, not in the computer's.
    bool hasOwnMemory = false;

    /// What loading would make of a model, without reading its weights. Errors: Unsupported for
    /// what the backend cannot compute; those of looking for the tensors that the config calls for.
    std::function<Result<LoadForecast>(const ModelConfig& config,
                                       const WeightSource& weights,
                                       const TransformerOptions& options,
                                       int contextLength)>
        forecast = {};

    /// What it can compute on here. Errors: Unsupported, saying why it cannot be used here.
    std::function<Result<std::vector<BackendDevice>>()> devices = {};

    /// For people: in which form it would hold a tensor if nothing else is asked for; empty where a
    /// backend holds all alike.
    std::function<std::string(const WeightSource& weights, const TensorInfo& tensor)> heldAs = {};

    const SettingInfo* find(std::string_view setting) const {
        return findSetting(settings, setting);
    }
};

// What several backends say alike.

/// A choice of one of these words. The first title is that of the default.
SettingInfo loadChoice(std::string name,
                       std::string title,
                       std::vector<std::string> choices,
                       std::vector<std::string> titles,
                       std::string meaning);

/// The arithmetic; the first one is the default.
SettingInfo precisionSetting(std::initializer_list<Precision> precisions);

/// How keys and values are held: auto, f16, bf16, f32 or, where a backend has it, int8.
SettingInfo kvSetting(bool hasInt8);

/// Compute threads.
SettingInfo threadsSetting();

/// The processor and the memory that the system can still give.
Result<std::vector<BackendDevice>> processorDevice();

} // namespace engine
