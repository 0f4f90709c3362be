// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Sizes of the layers that draft.
struct DraftSizes {
    int hiddenSize = 0;
    int headCount = 0;
    int kvHeadCount = 0; ///< divides headCount
    int headDim = 0;
    int mlpSize = 0;
    int layerCount = 0;
    int window = 0; ///< keys that a row sees, itself included; 0 = all
    double normEpsilon = 0.0;
    double ropeTheta = 0.0;
};

/// Trained weights that are used for drafting and for nothing else: layers that are fed with the
/// last stream of a model and the embedding of the next token, and the tokens that they may draft.
/// The model alone decides every token, so what stands in an adapter can never change a text. A
/// plain value. Source: arXiv 2401.15077.
struct DraftAdapter {
    std::string name; ///< for messages, as "adapter.safetensors"
    std::vector<std::string>
        fingerprints; ///< of the models that it was made for (modelFingerprint)
    DraftSizes sizes;
    std::vector<TokenId> headIds; ///< the tokens that can be drafted, strictly ascending
    std::string about;            ///< recipe and data, for people; may be empty
    /// By the names of the draft network's tensors; its head is that of the model.
    std::map<std::string, std::vector<float>, std::less<>> tensors;
    /// The same as float32, where they stay in their file and `tensors` is empty; else null.
    std::shared_ptr<const WeightSource> stored = {};
};

/// Bytes of an adapter file, at most: four layers of a model of eight billion weights fit.
inline constexpr std::uint64_t kMostAdapterBytes = 1'000'000'000;

/// Reads an adapter file: safetensors of at most kMostAdapterBytes whose description is
/// `__metadata__["swift_studio_draft_adapter"]`. Nothing in it is a path, and nothing runs. Errors:
/// NotFound, Io; CorruptFile and Numeric name the tensor or the field; Unsupported for a later
/// version, a head or tensors that are not known.
Result<DraftAdapter> readDraftAdapter(const std::filesystem::path& path);

/// The same, but the numbers stay in the file, where they take a quarter of the memory; whether
/// they are finite is for those to see who read them. Errors: as readDraftAdapter().
Result<DraftAdapter> openDraftAdapter(const std::filesystem::path& path);

/// The JSON text that describes an adapter in its file, with all its members. Errors: as
/// readDraftAdapter().
Result<std::string> readDraftDescription(const std::filesystem::path& path);

/// Whether the adapter belongs to this model. Errors: InvalidInput for another fingerprint (names
/// both), another width, or tokens that the model does not have.
Result<void>
checkFits(const DraftAdapter& adapter, const ModelConfig& model, const std::string& fingerprint);

/// The network that the adapter describes, for this model, which it must fit.
ModelConfig draftConfig(const DraftAdapter& adapter, const ModelConfig& model);

/// The name in adapter files ("layer.0.attn.q") and the shape of each tensor, by its name in the
/// network.
struct AdapterTensor {
    std::string name;
    std::vector<std::uint64_t> shape;

    std::uint64_t count() const; ///< of its numbers
};

std::map<std::string, AdapterTensor> adapterTensors(const DraftSizes& sizes);

} // namespace engine
