// SPDX-License-Identifier: Apache-2.0
// One network in the shapes in which its families' files are published: each computes the same, on
// the backends plain and cpu.
#include "engine/loading/model_files.h"
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/tiny_gguf.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/forward_helpers.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <map>

using namespace engine;
using namespace test_support;

namespace {

constexpr std::uint64_t kHidden = 8;
constexpr std::uint64_t kMlp = 6;
constexpr std::uint64_t kHeadDim = 4;
constexpr std::uint64_t kVocab = 11;
constexpr int kLayers = 2;
constexpr int kExperts = 4;

struct Tensor {
    std::vector<std::uint64_t> shape; ///< [rows, columns] or [values]
    std::vector<float> values;
};

/// By their Hugging Face names.
using Network = std::map<std::string, Tensor>;

/// Values of about .5 that depend on the name and the place alone.
Tensor tensorOf(const std::string& name, std::vector<std::uint64_t> shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape)
        count *= size;
    std::uint64_t state = 1;
    for (const char c : name)
        state = state * 131 + static_cast<unsigned char>(c);
    Tensor tensor{std::move(shape), {}};
    for (std::uint64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        tensor.values.push_back(static_cast<float>(state >> 40U) / 16'777'216.0F - 0.5F);
    }
    return tensor;
}

void add(Network& network, const std::string& name, std::vector<std::uint64_t> shape) {
    network[name] = tensorOf(name, std::move(shape));
}

/// `normsOfHeads`: width of a norm of q, and of k; 0: there is none.
Network makeNetwork(int experts, std::array<std::uint64_t, 2> normsOfHeads) {
    Network network;
    add(network, "model.embed_tokens.weight", {kVocab, kHidden});
    for (int layer = 0; layer < kLayers; ++layer) {
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        add(network, prefix + "input_layernorm.weight", {kHidden});
        add(network, prefix + "self_attn.q_proj.weight", {2 * kHeadDim, kHidden});
        add(network, prefix + "self_attn.k_proj.weight", {kHeadDim, kHidden});
        add(network, prefix + "self_attn.v_proj.weight", {kHeadDim, kHidden});
        add(network, prefix + "self_attn.o_proj.weight", {kHidden, 2 * kHeadDim});
        for (const auto& [name, width] :
             {std::pair("q", normsOfHeads[0]), std::pair("k", normsOfHeads[1])})
            if (width > 0)
                add(network, fmt::format("{}self_attn.{}_norm.weight", prefix, name), {width});
        add(network, prefix + "post_attention_layernorm.weight", {kHidden});
        if (experts > 0)
            add(network,
                prefix + "mlp.gate.weight",
                {static_cast<std::uint64_t>(experts), kHidden});
        for (int expert = 0; expert < std::max(experts, 1); ++expert) {
            const std::string inner =
                prefix + (experts > 0 ? fmt::format("mlp.experts.{}.", expert) : "mlp.");
            add(network, inner + "gate_proj.weight", {kMlp, kHidden});
            add(network, inner + "up_proj.weight", {kMlp, kHidden});
            add(network, inner + "down_proj.weight", {kHidden, kMlp});
        }
    }
    add(network, "model.norm.weight", {kHidden});
    add(network, "lm_head.weight", {kVocab, kHidden});
    return network;
}

std::string bytesOfValues(const std::vector<float>& values) {
    return bytesOf(std::span<const float>(values));
}

std::string safetensorsOf(const Network& network) {
    TinySafetensors file;
    for (const auto& [name, tensor] : network)
        file.add(name, "F32", tensor.shape, bytesOfValues(tensor.values));
    return file.toBytes();
}

using Logits = std::vector<std::vector<double>>; // of every position

struct Opened {
    ModelConfig config;
    Logits logits;
};

/// The tolerance is greater than any difference of the order of sums, less than any of the network.
bool isSame(const Logits& a, const Logits& b) { return support::relativeError(a, b) < 1e-4; }

/// The logits are the plain backend's; those of the cpu backend must be the same.
Result<Opened> open(const std::filesystem::path& path) {
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(path));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const auto plain, makePlainTransformer(config, *weights, {}));
    ENGINE_TRY(const auto cpu, makeCpuTransformer(config, *weights, {}));
    const auto logitsOn = [&](Transformer& transformer) {
        constexpr std::array<TokenId, 6> kIds = {3, 1, 4, 1, 5, 9};
        KvCache cache = support::emptyCache(transformer, 8);
        return support::runChain(
            transformer, cache, LayerPlan::full(config.layerCount), kIds, kIds.size());
    };
    Opened opened{config, logitsOn(*plain)};
    ENGINE_CHECK(isSame(logitsOn(*cpu), opened.logits), "the cpu backend computes otherwise");
    return opened;
}

Opened openFolder(const std::string& config, const std::string& weights) {
    const TemporaryFolder folder;
    folder.write("config.json", config);
    folder.write("model.safetensors", weights);
    auto opened = open(folder.path());
    ENGINE_CHECK(opened.hasValue(), "{}", opened.error().message);
    return std::move(opened).value();
}

Result<Opened> openGguf(const TinyGguf& file) {
    const TemporaryFolder folder;
    return open(folder.write("m.gguf", file.toBytes()));
}

/// Sizes that every family here has; `extra` members stand in front.
std::string configText(std::string_view type, std::string_view extra) {
    return fmt::format(
        R"({{"model_type":"{}",{},"hidden_size":{},"intermediate_size":{},)"
        R"("num_hidden_layers":{},"num_attention_heads":2,"num_key_value_heads":1,"head_dim":{},)"
        R"("vocab_size":{},"max_position_embeddings":64,"rms_norm_eps":1e-5}})",
        type,
        extra,
        kHidden,
        kMlp,
        kLayers,
        kHeadDim,
        kVocab);
}

TinyGguf ggufMetadata(const std::string& architecture, int experts, int used) {
    TinyGguf file;
    file.addString("general.architecture", architecture);
    const auto number = [&](const char* key, std::uint64_t value) {
        file.addU32(architecture + "." + key, static_cast<std::uint32_t>(value));
    };
    number("block_count", kLayers);
    number("embedding_length", kHidden);
    number("feed_forward_length", kMlp);
    number("attention.head_count", 2);
    number("attention.head_count_kv", 1);
    number("attention.key_length", kHeadDim);
    number("attention.value_length", kHeadDim);
    number("context_length", 64);
    number("expert_count", static_cast<std::uint64_t>(experts));
    number("expert_used_count", static_cast<std::uint64_t>(used));
    file.addF32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5F);
    return file;
}

void addTensor(TinyGguf& file, const std::string& name, const Tensor& tensor) {
    const std::vector<std::uint64_t> dimensions(tensor.shape.rbegin(), tensor.shape.rend());
    file.addTensor(name, dimensions, 0, bytesOfValues(tensor.values));
}

/// The rows of each head side by side in pairs, as converters write them for architecture llama.
Tensor interleaved(const Tensor& tensor) {
    Tensor out = tensor;
    for (std::uint64_t row = 0; row < tensor.shape[0]; ++row) {
        const std::uint64_t inHead = row % kHeadDim;
        const std::uint64_t to =
            row - inHead + 2 * (inHead % (kHeadDim / 2)) + inHead / (kHeadDim / 2);
        std::copy_n(tensor.values.begin() + static_cast<std::ptrdiff_t>(row * kHidden),
                    kHidden,
                    out.values.begin() + static_cast<std::ptrdiff_t>(to * kHidden));
    }
    return out;
}

/// Adds all tensors but those of the experts.
void addShared(TinyGguf& file, const Network& network, bool interleaves) {
    addTensor(file, "token_embd.weight", network.at("model.embed_tokens.weight"));
    addTensor(file, "output_norm.weight", network.at("model.norm.weight"));
    addTensor(file, "output.weight", network.at("lm_head.weight"));
    for (int layer = 0; layer < kLayers; ++layer)
        for (const auto& [theirs, ours] : {std::pair("attn_norm", "input_layernorm"),
                                           std::pair("attn_q", "self_attn.q_proj"),
                                           std::pair("attn_k", "self_attn.k_proj"),
                                           std::pair("attn_v", "self_attn.v_proj"),
                                           std::pair("attn_q_norm", "self_attn.q_norm"),
                                           std::pair("attn_k_norm", "self_attn.k_norm"),
                                           std::pair("attn_output", "self_attn.o_proj"),
                                           std::pair("ffn_norm", "post_attention_layernorm"),
                                           std::pair("ffn_gate_inp", "mlp.gate")}) {
            const auto found = network.find(fmt::format("model.layers.{}.{}.weight", layer, ours));
            if (found == network.end())
                continue;
            const bool isTurned = interleaves && (std::string_view(theirs) == "attn_q" ||
                                                  std::string_view(theirs) == "attn_k");
            addTensor(file,
                      fmt::format("blk.{}.{}.weight", layer, theirs),
                      isTurned ? interleaved(found->second) : found->second);
        }
}

constexpr std::array<const char*, 3> kMatrices = {"gate", "up", "down"};

const Tensor& expertOf(const Network& network, int layer, int expert, const char* matrix) {
    return network.at(
        fmt::format("model.layers.{}.mlp.experts.{}.{}_proj.weight", layer, expert, matrix));
}

/// One tensor of three dimensions for all experts of a layer.
void addStackedExperts(TinyGguf& file, const Network& network) {
    for (int layer = 0; layer < kLayers; ++layer)
        for (const char* matrix : kMatrices) {
            Tensor stacked = expertOf(network, layer, 0, matrix);
            for (int expert = 1; expert < kExperts; ++expert) {
                const auto& values = expertOf(network, layer, expert, matrix).values;
                stacked.values.insert(stacked.values.end(), values.begin(), values.end());
            }
            stacked.shape.insert(stacked.shape.begin(), kExperts);
            addTensor(file, fmt::format("blk.{}.ffn_{}_exps.weight", layer, matrix), stacked);
        }
}

/// A tensor for each expert, whose number stands behind the name.
void addSingleExperts(TinyGguf& file, const Network& network, int firstNumber = 0) {
    for (int layer = 0; layer < kLayers; ++layer)
        for (const char* matrix : kMatrices)
            for (int expert = 0; expert < kExperts; ++expert)
                addTensor(
                    file,
                    fmt::format("blk.{}.ffn_{}.{}.weight", layer, matrix, expert + firstNumber),
                    expertOf(network, layer, expert, matrix));
}

/// Mixtral's own names of the experts.
Network asMixtral(const Network& network) {
    Network renamed;
    for (const auto& [name, tensor] : network) {
        std::string other = name;
        for (const auto& [ours, theirs] : {std::pair(".mlp.", ".block_sparse_moe."),
                                           std::pair(".gate_proj.", ".w1."),
                                           std::pair(".up_proj.", ".w3."),
                                           std::pair(".down_proj.", ".w2.")})
            if (const std::size_t at = other.find(ours); at != std::string::npos)
                other.replace(at, std::string_view(ours).size(), theirs);
        renamed[other] = tensor;
    }
    return renamed;
}

/// A Gemma 3 has a norm before and behind each sublayer.
Network makeGemma() {
    Network network = makeNetwork(0, {kHeadDim, kHeadDim});
    network.erase("lm_head.weight");
    for (int layer = 0; layer < kLayers; ++layer)
        for (const char* norm : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
            add(network, fmt::format("model.layers.{}.{}.weight", layer, norm), {kHidden});
    return network;
}

/// As the text model of a model of images and text, beside a vision tower.
Network amongOthers(const Network& network, const std::string& prefix) {
    Network renamed;
    for (const auto& [name, tensor] : network)
        renamed[prefix + name.substr(std::string_view("model.").size())] = tensor;
    for (int layer = 0; layer < 3; ++layer)
        add(renamed,
            fmt::format("vision_tower.vision_model.encoder.layers.{}.layer_norm1.weight", layer),
            {kHidden});
    add(renamed, "multi_modal_projector.mm_soft_emb_norm.weight", {kHidden});
    return renamed;
}

bool hasNote(const ModelConfig& config, std::string_view text) {
    return std::any_of(config.notes.begin(), config.notes.end(), [&](const std::string& note) {
        return note.find(text) != std::string::npos;
    });
}

} // namespace

class FamilyShapesTest : public QObject {
    Q_OBJECT

private slots:
    void aSeedOssHasItsBiasesApart();
    void aBaseModelComputesLikeTheModelAroundIt();
    void anOlmoeGgufComputesWhatItsFolderComputes();
    void anOlderMixtralGgufComputesWhatANewOneAndTheFolderCompute();
    void anExpertThatTheModelDoesNotCountIsRefused();
    void theTextModelOfImagesAndTextComputesAlone();
    void whatATextConfigLeavesUnsaidIsAsInTheFamily();
    void quantisedPartsOfImagesAndTextAreRefused();
};

/// A LLaMA has biases at all four projections of the attention or at none, a Qwen 2 at the first
/// three. Beside them all of a Seed-OSS is as in these.
void FamilyShapesTest::aSeedOssHasItsBiasesApart() {
    Network network = makeNetwork(0, {0, 0});
    for (int layer = 0; layer < kLayers; ++layer) {
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        add(network, prefix + "self_attn.q_proj.bias", {2 * kHeadDim});
        add(network, prefix + "self_attn.k_proj.bias", {kHeadDim});
        add(network, prefix + "self_attn.v_proj.bias", {kHeadDim});
    }
    const auto opened = [&](const char* type, const char* extra) {
        return openFolder(configText(type, extra), safetensorsOf(network)).logits;
    };
    const auto ofThree = opened("seed_oss", R"("attention_out_bias":false)");
    QVERIFY(isSame(ofThree, opened("qwen2", R"("use_sliding_window":false)")));
    for (int layer = 0; layer < kLayers; ++layer) {
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        add(network, prefix + "self_attn.o_proj.bias", {kHidden});
        add(network, prefix + "mlp.gate_proj.bias", {kMlp});
        add(network, prefix + "mlp.up_proj.bias", {kMlp});
        add(network, prefix + "mlp.down_proj.bias", {kHidden});
    }
    const auto ofAll =
        opened("seed_oss", R"("attention_bias":true,"attention_out_bias":true,"mlp_bias":true)");
    QVERIFY(isSame(ofAll, opened("llama", R"("attention_bias":true,"mlp_bias":true)")));
    QVERIFY(!isSame(ofAll, ofThree));
    const TemporaryFolder folder; // a family without it refuses it by name
    folder.write("config.json", configText("llama", R"("attention_out_bias":true)"));
    folder.write("model.safetensors", safetensorsOf(network));
    const auto refused = open(folder.path());
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("attention_out_bias") != std::string::npos);
}

/// So are models saved that were loaded without their head.
void FamilyShapesTest::aBaseModelComputesLikeTheModelAroundIt() {
    Network network = makeNetwork(0, {0, 0});
    network.erase("lm_head.weight");
    const std::string config = configText("llama", R"("tie_word_embeddings":true)");
    Network base;
    for (const auto& [name, tensor] : network)
        base[name.substr(std::string_view("model.").size())] = tensor;
    const Opened opened = openFolder(config, safetensorsOf(base));
    QVERIFY(isSame(opened.logits, openFolder(config, safetensorsOf(network)).logits));
    QVERIFY(!hasNote(opened.config, "tensors that have no effect"));
    base["model.norm.weight"] = base["norm.weight"]; // now its names are those of no model
    const TemporaryFolder folder;
    folder.write("config.json", config);
    folder.write("model.safetensors", safetensorsOf(base));
    const auto refused = open(folder.path());
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("no tensor model.embed_tokens") != std::string::npos);
}

void FamilyShapesTest::anOlmoeGgufComputesWhatItsFolderComputes() {
    const Network network = makeNetwork(kExperts, {2 * kHeadDim, kHeadDim});
    const auto folder = [&](const char* renormalises) {
        return openFolder(
            configText("olmoe",
                       fmt::format(R"("num_experts":{},"num_experts_per_tok":2,"clip_qkv":null,)"
                                   R"("norm_topk_prob":{})",
                                   kExperts,
                                   renormalises)),
            safetensorsOf(network));
    };
    const auto gguf = [&](std::optional<bool> renormalises) {
        TinyGguf file = ggufMetadata("olmoe", kExperts, 2);
        if (renormalises)
            file.addValue("olmoe.expert_weights_norm", GgufType::Bool, bytesOf(*renormalises));
        addShared(file, network, false);
        addStackedExperts(file, network);
        return openGguf(file);
    };
    const auto unsaid = gguf(std::nullopt);
    QVERIFY2(unsaid.hasValue(), unsaid ? "" : unsaid.error().message.c_str());
    QVERIFY(isSame(unsaid.value().logits, folder("false").logits));
    QVERIFY(!isSame(unsaid.value().logits, folder("true").logits));
    const auto said = gguf(true);
    QVERIFY2(said.hasValue(), said ? "" : said.error().message.c_str());
    QVERIFY(isSame(said.value().logits, folder("true").logits));
    QVERIFY2(unsaid.value().config.notes.empty(),
             unsaid.value().config.notes.empty() ? "" : unsaid.value().config.notes[0].c_str());
}

void FamilyShapesTest::anOlderMixtralGgufComputesWhatANewOneAndTheFolderCompute() {
    const Network network = makeNetwork(kExperts, {0, 0});
    const Opened folder =
        openFolder(configText("mixtral",
                              fmt::format(R"("num_local_experts":{},"num_experts_per_tok":2,)"
                                          R"("rope_theta":10000.0)",
                                          kExperts)),
                   safetensorsOf(asMixtral(network)));
    for (const bool isOlder : {false, true}) {
        TinyGguf file = ggufMetadata("llama", kExperts, 2);
        addShared(file, network, true);
        if (isOlder)
            addSingleExperts(file, network);
        else
            addStackedExperts(file, network);
        const auto opened = openGguf(file);
        QVERIFY2(opened.hasValue(), opened ? "" : opened.error().message.c_str());
        QVERIFY(isSame(opened.value().logits, folder.logits));
        QVERIFY(!hasNote(opened.value().config, "tensors that have no effect"));
    }
}

void FamilyShapesTest::anExpertThatTheModelDoesNotCountIsRefused() {
    const Network network = makeNetwork(kExperts, {0, 0});
    TinyGguf file = ggufMetadata("llama", kExperts, 2);
    addShared(file, network, true);
    addSingleExperts(file, network, 1);
    const auto opened = openGguf(file);
    QVERIFY(!opened);
    const QString message = QString::fromStdString(opened.error().message);
    QVERIFY2(message.contains("blk.0.ffn_gate.4.weight is of expert 4, but the model has 4"),
             qPrintable(message));
}

void FamilyShapesTest::theTextModelOfImagesAndTextComputesAlone() {
    const Network network = makeGemma();
    constexpr std::string_view kOwn = R"("query_pre_attn_scalar":4,"sliding_window":3)";
    const std::string alone = configText("gemma3_text", kOwn);
    const Opened expected = openFolder(alone, safetensorsOf(network));
    QVERIFY(!hasNote(expected.config, "images"));
    const std::string outer =
        fmt::format(R"({{"architectures":["Gemma3ForConditionalGeneration"],"model_type":"gemma3",)"
                    R"("eos_token_id":[1,7],"image_token_index":262144,"torch_dtype":"bfloat16",)"
                    R"("text_config":{},"vision_config":{{"hidden_size":8}}}})",
                    alone);
    for (const char* prefix : {"language_model.model.", "model.language_model."}) {
        const Opened opened = openFolder(outer, safetensorsOf(amongOthers(network, prefix)));
        QVERIFY(isSame(opened.logits, expected.logits));
        QCOMPARE(opened.config.eosIds, std::vector<TokenId>({1, 7}));
        QCOMPARE(opened.config.storedType, std::string("bfloat16"));
        QVERIFY(hasNote(opened.config, "a model of images and text (gemma3)"));
        QVERIFY(hasNote(opened.config,
                        "vision_tower.vision_model.encoder.layers.*.layer_norm*.weight (3)"));
        QVERIFY(hasNote(opened.config, "multi_modal_projector"));
        QVERIFY(!hasNote(opened.config, "language_model."));
    }
}

void FamilyShapesTest::whatATextConfigLeavesUnsaidIsAsInTheFamily() {
    // So published with the 4B model, whose numbers these are.
    constexpr const char* kPublished =
        R"({"model_type":"gemma3","eos_token_id":[1,106],"text_config":{"hidden_size":2560,
"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,
"rope_scaling":{"factor":8.0,"rope_type":"linear"},"sliding_window":1024}})";
    const auto document = JsonDocument::parse(kPublished, "config.json");
    QVERIFY(document.hasValue());
    const auto config = readModelConfig(document.value().root());
    QVERIFY2(config.hasValue(), config ? "" : config.error().message.c_str());
    QCOMPARE(config.value().headCount, 8);
    QCOMPARE(config.value().kvHeadCount, 4);
    QCOMPARE(config.value().headDim, 256);
    QCOMPARE(config.value().vocabSize, 262'208);
    QCOMPARE(config.value().contextLength, 131'072);
    QCOMPARE(config.value().ropeScaling.factor, 8.0);
    QVERIFY(config.value().tiedHead);
}

void FamilyShapesTest::quantisedPartsOfImagesAndTextAreRefused() {
    for (const auto& [text, problem] :
         {std::pair(R"({"model_type":"mistral3","quantization_config":{"quant_method":"fp8"},
"text_config":{"model_type":"mistral"}})",
                    "quantization_config"),
          std::pair(R"({"model_type":"gemma3"})", "\"text_config\" is missing"),
          std::pair(R"({"model_type":"gemma3","text_config":3})", "\"text_config\" is missing"),
          std::pair(R"({"model_type":"gemma3","text_config":{"model_type":"t5"}})",
                    "architecture t5 is not supported")}) {
        const auto document = JsonDocument::parse(text, "config.json");
        QVERIFY(document.hasValue());
        const auto config = readModelConfig(document.value().root());
        QVERIFY(!config);
        const QString message = QString::fromStdString(config.error().message);
        QVERIFY2(message.contains(problem), qPrintable(message));
    }
}

QTEST_APPLESS_MAIN(FamilyShapesTest)
#include "family_shapes_test.moc"
