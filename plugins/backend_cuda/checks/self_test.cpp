// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/checks/self_test.h"

#include "engine/base/to_size.h"
#include "engine/decoding/statistics/data_files.h"
#include "engine/model/plain/plain_backend.h"
#include "plugins/backend_cuda/checks/made_up_weights.h"
#include "plugins/backend_cuda/device/kernel_image.h"
#include "plugins/backend_cuda/device/wrapped_device.h"
#include "plugins/backend_cuda/transformer/cuda_transformer.h"

#include <cmath>
#include <initializer_list>
#include <numeric>
#include <span>

namespace backend_cuda {

using namespace engine;

namespace {

/// A stored type, the form that it gets, and how far from the reference its logits may be: root of
/// the mean square over that of the numbers.
struct TestedForm {
    TensorType stored;
    std::optional<Form> wanted;
    KvType kvType;
    double tolerance;
};

constexpr TestedForm kForms[] = {{TensorType::F32, Form::F32, KvType::F32, 1e-5},
                                 {TensorType::F32, Form::Bf16, KvType::BF16, 3e-2},
                                 {TensorType::F32, Form::F16, KvType::F16, 5e-3},
                                 {TensorType::F32, Form::Int8, KvType::F16, 5e-2},
                                 {TensorType::Q4_0, std::nullopt, KvType::F16, 5e-2},
                                 {TensorType::Q4_K, std::nullopt, KvType::F16, 5e-2},
                                 {TensorType::Q6_K, std::nullopt, KvType::F16, 5e-2}};

/// Keys and values of each type in heads of each width; weights whose columns end within a record.
constexpr TestedForm kFormsOfWideHeads[] = {{TensorType::F32, Form::F32, KvType::F32, 1e-5},
                                            {TensorType::F32, Form::Bf16, KvType::BF16, 3e-2},
                                            {TensorType::F32, Form::Int8, KvType::F16, 5e-2}};

/// No other one: rounded rows may choose another expert than the reference.
constexpr TestedForm kFormOfFeatures[] = {{TensorType::F32, Form::F32, KvType::F32, 1e-4}};

/// A made-up network, how many tokens of it are computed, in which parts once more, and how many
/// of them a draft has.
struct TestedNetwork {
    const char* what; // for people, behind the form
    std::span<const TestedForm> forms;
    ModelConfig config;
    int rows;
    std::initializer_list<int> parts;
    int kept;
};

constexpr int kBeforeTree = 20;

/// More rows than attention cuts its keys over, and in parts that take each of the four kernels.
constexpr int kRows = 107;
constexpr std::initializer_list<int> kParts = {1, 7, 9, 26, 64};
constexpr int kKept = 60;
constexpr int kFewRows = 72; // the same for what is small besides
constexpr std::initializer_list<int> kFewParts = {1, 7, 9, 26, 29};
constexpr int kFewKept = 25;

/// Several slabs and strips, and columns that every type can have.
ModelConfig testedConfig() {
    ModelConfig config;
    config.architecture = "llama";
    config.layerCount = 2;
    config.hiddenSize = 256;
    config.mlpSize = 1280;
    config.headCount = 4;
    config.kvHeadCount = 2;
    config.headDim = 64;
    config.vocabSize = 700;
    config.contextLength = 512;
    config.normEpsilon = 1e-5;
    config.layerWindows = {0, 0};
    return config;
}

/// One layer with heads of this many numbers, in strips and records that are not full.
ModelConfig wideHeadsConfig(int headDim, int heads) {
    ModelConfig config = testedConfig();
    config.layerCount = 1;
    config.hiddenSize = 192;
    config.mlpSize = 320;
    config.headCount = heads;
    config.kvHeadCount = 1;
    config.headDim = headDim;
    config.vocabSize = 513;
    config.layerWindows = {0};
    return config;
}

/// What the others lack: experts, norms of each head and on both sides of a branch, a window, caps,
/// and heads that are filled up.
ModelConfig featuresConfig() {
    ModelConfig config = wideHeadsConfig(80, 2);
    config.layerCount = 2;
    config.layerWindows = {0, 20};
    config.headNorm = HeadNorm::EachHead;
    config.normPlace = NormPlace::Around;
    config.attentionSoftCap = 4.0;
    config.logitSoftCap = 6.0;
    config.embeddingScale = 1.5;
    config.experts = {.count = 4, .used = 2, .size = 96};
    config.denseLayers = {0};
    return config;
}

/// The same GPU with half its multiprocessors.
class HalfDevice final : public WrappedDevice {
public:
    explicit HalfDevice(std::shared_ptr<Device> device)
        : WrappedDevice(std::move(device))
        , m_facts(WrappedDevice::facts()) {
        m_facts.multiprocessors = (m_facts.multiprocessors + 1) / 2;
    }

    const DeviceFacts& facts() const override { return m_facts; }

private:
    DeviceFacts m_facts;
};

/// Appends the logits of a pass, one row behind the other. Its tokens are those of the text from
/// place `first` on.
Result<void> addLogits(Transformer& transformer,
                       KvCache& cache,
                       const AttentionLayout& layout,
                       int first,
                       std::vector<double>& all) {
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    std::vector<TokenId> tokens;
    for (int i = first; i < first + layout.rowCount(); ++i)
        tokens.push_back((i * 7919 + 1) % transformer.config().vocabSize);
    std::vector<int> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    ENGINE_TRY(ForwardResult result,
               transformer.forward(
                   {.plan = plan, .layout = layout, .tokens = tokens, .logitRows = rows}, cache));
    for (const int row : rows) {
        ENGINE_TRY(const std::span<double> logits, result.logits.row(row));
        all.insert(all.end(), logits.begin(), logits.end());
    }
    return {};
}

/// Logits of the whole text, computed in passes of these layouts.
Result<std::vector<double>> logitsOf(Transformer& transformer,
                                     const std::vector<AttentionLayout>& layouts) {
    ENGINE_TRY(KvCache cache,
               transformer.makeCache(layouts.back().firstSlot() + layouts.back().rowCount()));
    std::vector<double> all;
    for (const AttentionLayout& layout : layouts)
        ENGINE_TRY_DO(addLogits(transformer, cache, layout, layout.firstSlot(), all));
    return all;
}

/// The same with a part of the text drafted beside a wrong token (the one before it, once more) and
/// kept, so that the cache moves it before the rest is read.
Result<std::vector<double>> keptLogitsOf(Transformer& transformer, const TestedNetwork& network) {
    ENGINE_TRY(KvCache cache, transformer.makeCache(network.rows));
    std::vector<double> all;
    ENGINE_TRY_DO(addLogits(transformer, cache, AttentionLayout::chain(0, kBeforeTree), 0, all));
    cache.commit(kBeforeTree);
    std::vector<int> parents(toSize(network.kept + 1));
    std::iota(parents.begin(), parents.end(), -1);
    parents[1] = -1;
    std::vector<double> drafted;
    ENGINE_TRY_DO(addLogits(
        transformer, cache, AttentionLayout::tree(kBeforeTree, parents), kBeforeTree - 1, drafted));
    all.insert(all.end(), drafted.begin() + transformer.config().vocabSize, drafted.end());
    std::vector<Position> slots(toSize(network.kept));
    std::iota(slots.begin(), slots.end(), kBeforeTree + 1);
    cache.keepPath(slots);
    const int first = cache.length();
    ENGINE_TRY_DO(addLogits(
        transformer, cache, AttentionLayout::chain(first, network.rows - first), first, all));
    return all;
}

std::vector<AttentionLayout> chainOf(std::initializer_list<int> parts) {
    std::vector<AttentionLayout> layouts;
    int first = 0;
    for (const int rows : parts) {
        layouts.push_back(AttentionLayout::chain(first, rows));
        first += rows;
    }
    return layouts;
}

Error untrusted(const DeviceFacts& facts, const std::string& form, std::string_view what) {
    return Error{ErrorCode::Device,
                 fmt::format("The GPU {} fails the test on a made-up network ({}): {}, so its "
                             "answers cannot be trusted.",
                             facts.name,
                             form,
                             what),
                 "Try another driver of NVIDIA, or compute with --backend cpu."};
}

Result<void> testForm(const std::shared_ptr<Device>& device,
                      const TestedNetwork& network,
                      const TestedForm& form) {
    const ModelConfig& config = network.config;
    const int rows = network.rows;
    const MadeUpWeights weights(config, form.stored);
    const auto make = [&](const std::shared_ptr<Device>& on,
                          bool isByOperations) -> Result<std::unique_ptr<CudaTransformer>> {
        ENGINE_TRY(DeviceWeights uploaded,
                   uploadWeights(config, weights, form.wanted, allLayers(config), on, {}));
        return CudaTransformer::make(
            on,
            config,
            std::move(uploaded),
            {.weights = form.wanted, .kvType = form.kvType, .isByOperations = isByOperations},
            rows);
    };
    ENGINE_TRY(const auto transformer, make(device, false));
    const std::string name = transformer->arithmeticName() + network.what;
    ENGINE_TRY(const std::vector<double> expected, logitsOf(*transformer, chainOf({rows})));
    const auto check = [&](Result<std::vector<double>> logits,
                           std::string_view what) -> Result<void> {
        ENGINE_TRY(const std::vector<double> found, std::move(logits));
        if (found != expected)
            return untrusted(device->facts(), name, what);
        return {};
    };
    ENGINE_TRY_DO(check(logitsOf(*transformer, chainOf(network.parts)),
                        "its rows depend on those that are computed beside"));
    std::vector<int> parents(toSize(rows - kBeforeTree));
    std::iota(parents.begin(), parents.end(), -1);
    ENGINE_TRY_DO(check(logitsOf(*transformer,
                                 {AttentionLayout::chain(0, kBeforeTree),
                                  AttentionLayout::tree(kBeforeTree, parents)}),
                        "a tree's branch is not the chain of its tokens"));
    ENGINE_TRY_DO(check(keptLogitsOf(*transformer, network),
                        "a draft that was kept is not the chain of its tokens"));
    ENGINE_TRY(const auto byOperations, make(device, true));
    ENGINE_TRY_DO(check(logitsOf(*byOperations, chainOf({rows})),
                        "whole passes differ from their operations one after the other"));
    ENGINE_TRY(const auto onHalf, make(std::make_shared<HalfDevice>(device), false));
    ENGINE_TRY_DO(check(logitsOf(*onHalf, chainOf({rows})),
                        "its rows depend on the number of multiprocessors"));
    ENGINE_TRY(const auto reference,
               makePlainTransformer(config, weights, {.precision = Precision::F64}));
    ENGINE_TRY(const std::vector<double> right, logitsOf(*reference, chainOf({rows})));
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        difference += (expected[i] - right[i]) * (expected[i] - right[i]);
        size += right[i] * right[i];
    }
    if (!(std::sqrt(difference / size) <= form.tolerance)) // nor what is no number
        return untrusted(device->facts(), name, "its numbers are wrong");
    return {};
}

Result<void> testNetwork(const std::shared_ptr<Device>& device, const TestedNetwork& network) {
    for (const TestedForm& form : network.forms) {
        Result<void> tested = testForm(device, network, form);
        if (!tested && tested.error().code == ErrorCode::Numeric)
            return untrusted(device->facts(), "any form", tested.error().message);
        ENGINE_TRY_DO(std::move(tested));
    }
    return {};
}

/// A network that is small besides what is looked at.
TestedNetwork
smallNetwork(const char* what, std::span<const TestedForm> forms, const ModelConfig& config) {
    return {what, forms, config, kFewRows, kFewParts, kFewKept};
}

} // namespace

Result<void> testSizes(const std::shared_ptr<Device>& device) {
    ENGINE_TRY_DO(testNetwork(
        device, smallNetwork(", heads of 128", kFormsOfWideHeads, wideHeadsConfig(128, 2))));
    ENGINE_TRY_DO(testNetwork(
        device, smallNetwork(", heads of 256", kFormsOfWideHeads, wideHeadsConfig(256, 1))));
    return testNetwork(device, smallNetwork(", experts", kFormOfFeatures, featuresConfig()));
}

Result<void> testDevice(const std::shared_ptr<Device>& device) {
    ENGINE_TRY_DO(testNetwork(device, {"", kForms, testedConfig(), kRows, kParts, kKept}));
    return testSizes(device);
}

std::string testNameOf(const DeviceFacts& facts) {
    return fmt::format("{}-{}-{}.txt",
                       facts.uuid,
                       facts.driverBuild.empty() ? std::to_string(facts.driverVersion)
                                                 : facts.driverBuild,
                       kernelImageMark());
}

Result<void> testDeviceOnce(const std::shared_ptr<Device>& device,
                            const std::filesystem::path& folder,
                            ShapeSample shapes) {
    const std::filesystem::path file = folder / testNameOf(device->facts());
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored))
        return {};
    ENGINE_TRY_DO(testDevice(device));
    ENGINE_TRY_DO(testShapes(device, shapes));
    (void)storeDataFile(file, fmt::format("{} passed the test.\n", device->facts().name));
    return {};
}

} // namespace backend_cuda
