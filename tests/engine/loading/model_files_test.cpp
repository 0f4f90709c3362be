// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/model_files.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <functional>

using namespace engine;
using support::valueOf;
using namespace test_support;

namespace {

template <typename T> QString messageOf(const Result<T>& result) {
    return result ? QString("no error") : QString::fromStdString(result.error().message);
}

std::string tinyGguf() {
    TinyGguf file = tinyGgufMetadata();
    addTinyTokenizer(file);
    addTinyTensors(file);
    return file.toBytes();
}

/// The configuration of a GGUF file whose metadata is changed by `change`.
Result<ModelConfig> ggufConfig(const TinyGguf& file) {
    const TemporaryFolder folder;
    const auto files = ModelFiles::open(folder.write("m.gguf", file.toBytes()));
    return files ? files.value().config() : files.error();
}

} // namespace

class ModelFilesTest : public QObject {
    Q_OBJECT

private slots:
    void aFolderGivesAllItsParts();
    void aGgufFileGivesAllItsParts();
    void partsSufficeForWhatNeedsOnlyThem();
    void whatIsNoModelIsRefused();
    void pickledWeightsAreRefusedWithAdvice();
    void pipesAreRefusedAndNeverWaitedOn();
    void aFolderOfOneGgufIsThatGguf();
    void aConfigurationWithoutWeightsDoesNotHideAGguf();
    void endIdsOfBothFilesAreMerged();
    void theMaskTokenMayBeNamedInThreePlaces();
    void aHeadOfItsOwnCountsAlsoWhereItIsTied();
    void tensorsWithoutEffectAreNoted();
    void ggufMetadataWithoutEffectIsNoted();
    void brokenPartsNameTheirFile();
    void chatTemplatesComeFromTheirFourPlaces();
    void shardedFoldersOpen();
    void ggufBiasesAreReordered();
    void ggufConfigsAreChecked_data();
    void ggufConfigsAreChecked();
    void ggufHeadsThatDoNotDivideAreRefused();
    void ggufScalingIsRead();
    void ggufNamesMustNotCollide();
    void onlyWhereThereMayBeAWindowItsLackIsNoted();
};

void ModelFilesTest::aFolderGivesAllItsParts() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors", tinySafetensors().toBytes());
    folder.write("tokenizer.json", "{}");
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QVERIFY(files.format() == ModelFiles::Format::Folder && !files.gguf());
    QCOMPARE(files.path(), folder.path());
    QCOMPARE(valueOf(ModelFiles::open(folder.path() / "")).path(), folder.path());
    QCOMPARE(valueOf(files.config()).vocabSize, 5);
    QVERIFY(valueOf(files.weights())->find("model.layers.0.mlp.down_proj.weight"));
    QCOMPARE(*files.tokenizerJsonPath(), folder.path() / "tokenizer.json");
    QVERIFY(!files.tokenizerModelPath() && !files.tokenizerConfigPath());
    QVERIFY(!valueOf(files.chatTemplate()));
}

void ModelFilesTest::aGgufFileGivesAllItsParts() {
    const TemporaryFolder folder;
    const auto path = folder.write("m.gguf", tinyGguf());
    std::unique_ptr<WeightSource> weights;
    {
        const ModelFiles files = valueOf(ModelFiles::open(path));
        QVERIFY(files.format() == ModelFiles::Format::Gguf && files.gguf());
        const ModelConfig config = valueOf(files.config());
        QCOMPARE(config.vocabSize, 5);
        QCOMPARE(config.headDim, 2);
        QVERIFY(config.tiedHead && config.eosIds == std::vector<TokenId>({2}));
        QCOMPARE(config.notes,
                 std::vector<std::string>{
                     "The model's files hold tensors that have no effect: extra.q8."});
        QVERIFY(!files.tokenizerJsonPath());
        weights = valueOf(files.weights());
    }
    // The weights outlive the files they came from.
    const std::array<std::uint64_t, 2> shape = {5, 4};
    QCOMPARE(valueOf(readTensor(*weights, "model.embed_tokens.weight", shape))[1], 0.375F);
    QVERIFY(weights->find("extra.q8"));
}

void ModelFilesTest::partsSufficeForWhatNeedsOnlyThem() {
    const TemporaryFolder folder;
    folder.write("tokenizer.model", "x");
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QVERIFY(files.tokenizerModelPath());
    QCOMPARE(files.config().error().code, ErrorCode::NotFound);
    QVERIFY(messageOf(files.config()).contains("holds no config.json"));
    QCOMPARE(files.weights().error().code, ErrorCode::NotFound);
    QVERIFY(messageOf(files.weights()).contains("looked for model.safetensors"));
}

void ModelFilesTest::whatIsNoModelIsRefused() {
    const TemporaryFolder folder;
    const auto nothing = ModelFiles::open(folder.path());
    QCOMPARE(nothing.error().code, ErrorCode::NotFound);
    QVERIFY(messageOf(nothing).contains("looked for config.json, model.safetensors"));
    QCOMPARE(ModelFiles::open(folder.path() / "absent").error().code, ErrorCode::NotFound);
    const auto text = ModelFiles::open(folder.write("story.gguf", "Once upon a time\n"));
    QCOMPARE(text.error().code, ErrorCode::CorruptFile);
    QVERIFY(messageOf(text).contains("it looks like text"));
    const auto other = ModelFiles::open(folder.write("story.txt", "Once upon a time\n"));
    QCOMPARE(other.error().code, ErrorCode::CorruptFile);
    const auto part = ModelFiles::open(folder.write("a.safetensors", tinySafetensors().toBytes()));
    QCOMPARE(part.error().code, ErrorCode::InvalidInput);
    QVERIFY(!part.error().hint.empty());
    // The name does not matter where the content is right.
    QVERIFY(ModelFiles::open(folder.write("model.data", tinyGguf())));
}

void ModelFilesTest::pickledWeightsAreRefusedWithAdvice() {
    const TemporaryFolder folder;
    const auto path = folder.write("pytorch_model.bin", "PK\x03\x04");
    for (const auto& place : {path, folder.path()}) {
        const auto opened = ModelFiles::open(place);
        QCOMPARE(opened.error().code, ErrorCode::Unsupported);
        QVERIFY(opened.error().hint.find("safetensors") != std::string::npos);
    }
    folder.write("config.json", tinyConfigJson());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QCOMPARE(files.weights().error().code, ErrorCode::Unsupported);
}

void ModelFilesTest::pipesAreRefusedAndNeverWaitedOn() {
    const TemporaryFolder folder;
    const auto pipe = folder.path() / "pipe.gguf";
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    QCOMPARE(ModelFiles::open(pipe).error().code, ErrorCode::InvalidInput);
    QVERIFY(!ModelFiles::open("/dev/zero"));
    const TemporaryFolder other;
    const auto config = other.path() / "config.json";
    QCOMPARE(::mkfifo(config.c_str(), 0600), 0);
    other.write("model.safetensors", "");
    const ModelFiles files = valueOf(ModelFiles::open(other.path()));
    QVERIFY(messageOf(files.config()).contains("not a regular file"));
}

void ModelFilesTest::aFolderOfOneGgufIsThatGguf() {
    const TemporaryFolder folder;
    const auto path = folder.write("one.gguf", tinyGguf());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QVERIFY(files.gguf());
    QCOMPARE(files.path(), path);
    folder.write("two.gguf", tinyGguf());
    const auto several = ModelFiles::open(folder.path());
    QCOMPARE(several.error().code, ErrorCode::InvalidInput);
    QVERIFY(messageOf(several).contains("one.gguf and two.gguf"));
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors", tinySafetensors().toBytes());
    QVERIFY(!valueOf(ModelFiles::open(folder.path())).gguf());
}

void ModelFilesTest::aConfigurationWithoutWeightsDoesNotHideAGguf() {
    const TemporaryFolder folder;
    folder.write("config.json", R"({"model_type":"llama"})");
    const auto path = folder.write("one.gguf", tinyGguf());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QCOMPARE(files.path(), path);
    QCOMPARE(valueOf(files.config()).vocabSize, 5);
    folder.write("two.gguf", tinyGguf());
    QVERIFY(messageOf(ModelFiles::open(folder.path())).contains("one.gguf and two.gguf"));
    for (const char* weights : {"model.safetensors", "model.safetensors.index.json"}) {
        const auto written = folder.write(weights, tinySafetensors().toBytes());
        QVERIFY(!valueOf(ModelFiles::open(folder.path())).gguf());
        QVERIFY(std::filesystem::remove(written));
    }
}

void ModelFilesTest::endIdsOfBothFilesAreMerged() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    folder.write("generation_config.json", R"({"eos_token_id":[3,5,4],"temperature":9})");
    QCOMPARE(valueOf(files.config()).eosIds, std::vector<TokenId>({2, 3, 4}));
    QVERIFY(valueOf(files.config()).notes.back().starts_with("The end token 5 is outside"));
    folder.write("generation_config.json", R"({"eos_token_id":4})");
    QCOMPARE(valueOf(files.config()).eosIds, std::vector<TokenId>({2, 3, 4}));
}

void ModelFilesTest::theMaskTokenMayBeNamedInThreePlaces() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    const auto named = [&](const std::string& tokenizer) {
        folder.write("tokenizer_config.json", tokenizer);
        return valueOf(files.config()).maskTokenId;
    };
    const std::string known = R"("added_tokens_decoder":{"2":{"content":"</s>"},)"
                              R"("3":{"content":"[MASK]"},"x":{"content":"[M]"}})";
    QCOMPARE(valueOf(files.config()).maskTokenId, kNoToken);
    QCOMPARE(named(R"({"mask_token":"[MASK]",)" + known + "}"), TokenId(3));
    QCOMPARE(named(R"({"mask_token":{"content":"[MASK]"},)" + known + "}"), TokenId(3));
    QCOMPARE(named(R"({"mask_token":"[M]",)" + known + "}"), kNoToken);
    QCOMPARE(named(R"({"mask_token":null,)" + known + "}"), kNoToken);
    QCOMPARE(named("{" + known + "}"), kNoToken);
    QCOMPARE(named("no JSON"), kNoToken);
    std::string config = tinyConfigJson();
    config.insert(1, R"("mask_token_id":1,)");
    folder.write("config.json", config);
    QCOMPARE(named(R"({"mask_token":"[MASK]",)" + known + "}"), TokenId(1));
    TinyGguf file = tinyGgufMetadata();
    file.addU32("tokenizer.ggml.mask_token_id", 2);
    addTinyTensors(file);
    QCOMPARE(valueOf(ggufConfig(file)).maskTokenId, TokenId(2));
}

void ModelFilesTest::aHeadOfItsOwnCountsAlsoWhereItIsTied() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    TinySafetensors file = tinySafetensors();
    folder.write("model.safetensors", file.toBytes());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QVERIFY(valueOf(files.config()).tiedHead && valueOf(files.config()).notes.empty());
    file.addFloats("lm_head.weight", {5, 4});
    folder.write("model.safetensors", file.toBytes());
    const ModelConfig config = valueOf(files.config());
    QVERIFY(!config.tiedHead);
    QCOMPARE(config.notes.size(), std::size_t(1));
    QVERIFY(config.notes[0].find("tie_word_embeddings") != std::string::npos);
}

void ModelFilesTest::tensorsWithoutEffectAreNoted() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    TinySafetensors file = tinySafetensors();
    file.addFloats("model.layers.0.self_attn.q_proj.bias", {4});
    file.addFloats("model.layers.1.input_layernorm.weight", {4});
    file.addFloats("model.layers.00.input_layernorm.weight", {4});
    folder.write("model.safetensors", file.toBytes());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QCOMPARE(valueOf(files.config()).notes,
             std::vector<std::string>({"The model's files hold tensors that have no effect: "
                                       "model.layers.0.self_attn.q_proj.bias and "
                                       "model.layers.*.input_layernorm.weight (2)."}));
    // Damaged weights are told when they are asked for.
    folder.write("model.safetensors", "no weights");
    QVERIFY(valueOf(files.config()).notes.empty());
    QVERIFY(!files.weights());
}

void ModelFilesTest::ggufMetadataWithoutEffectIsNoted() {
    const auto with = [](const std::function<void(TinyGguf&)>& change) {
        TinyGguf file = tinyGgufMetadata();
        change(file);
        addTinyTensors(file);
        return ggufConfig(file);
    };
    const ModelConfig config = valueOf(with([](TinyGguf& file) {
        file.addF32("llama.logit_scale", 1);
        file.addU32("llama.vocab_size", 5);
        file.addF32("qwen2.logit_scale", 2); // another architecture's
        file.addF32("llama.attention.scale", 0);
        file.addF32("llama.rope.scaling.attn_factor", 1);
        file.addU32("tokenizer.ggml.padding_token_id", 5);
    }));
    QCOMPARE(config.notes.size(), std::size_t(3));
    QCOMPARE(config.notes[0],
             std::string("The padding token 5 is outside the vocabulary of 5 and is not used."));
    QCOMPARE(
        config.notes[1],
        std::string("The file's metadata holds keys that have no effect on architecture llama: "
                    "llama.logit_scale."));
    QVERIFY(messageOf(with([](TinyGguf& file) {
                file.addF32("llama.attention.scale", 0.5F);
            })).contains("attention.scale"));
    QVERIFY(messageOf(with([](TinyGguf& file) {
                file.addF32("llama.rope.scaling.attn_factor", 1.5F);
            })).contains("attn_factor"));
}

void ModelFilesTest::brokenPartsNameTheirFile() {
    const TemporaryFolder folder;
    folder.write("config.json", R"({"model_type":"llama"})");
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QVERIFY(messageOf(files.config())
                .contains("config.json: the key \"num_hidden_layers\" is missing"));
    folder.write("config.json", "{");
    QVERIFY(messageOf(files.config()).contains("config.json: not valid JSON"));
    TinyGguf file;
    file.addString("general.architecture", "mamba");
    QVERIFY(messageOf(ggufConfig(file)).contains("m.gguf: architecture mamba is not supported"));
}

void ModelFilesTest::chatTemplatesComeFromTheirFourPlaces() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    folder.write("tokenizer_config.json", R"({"bos_token":"<s>"})");
    QVERIFY(!valueOf(files.chatTemplate()));
    folder.write("chat_template.json", R"({"chat_template":"of a processor"})");
    QCOMPARE(valueOf(files.chatTemplate())->origin, std::string("chat_template.json"));
    folder.write("tokenizer_config.json", R"({"chat_template":"text"})");
    QCOMPARE(valueOf(files.chatTemplate())->text, std::string("text"));
    QCOMPARE(valueOf(files.chatTemplate())->origin, std::string("tokenizer_config.json"));
    folder.write(
        "tokenizer_config.json",
        R"({"chat_template":[{"name":"tools","template":"no"},{"name":"default","template":"yes"}]})");
    QCOMPARE(valueOf(files.chatTemplate())->text, std::string("yes"));
    folder.write("tokenizer_config.json", R"({"chat_template":7})");
    QVERIFY(messageOf(files.chatTemplate()).contains("neither a string nor a list"));
    folder.write("chat_template.jinja", "from jinja");
    QCOMPARE(valueOf(files.chatTemplate())->text, std::string("from jinja"));
    const ModelFiles gguf = valueOf(ModelFiles::open(folder.write("m.gguf", tinyGguf())));
    QCOMPARE(valueOf(gguf.chatTemplate())->text, std::string("{{ messages }}"));
    QCOMPARE(valueOf(gguf.chatTemplate())->origin, std::string("GGUF tokenizer.chat_template"));
}

void ModelFilesTest::shardedFoldersOpen() {
    const TemporaryFolder folder;
    TinySafetensors shard;
    shard.addFloats("model.norm.weight", {4});
    folder.write("model-00001-of-00001.safetensors", shard.toBytes());
    folder.write("model.safetensors.index.json",
                 R"({"weight_map":{"model.norm.weight":"model-00001-of-00001.safetensors"}})");
    const ModelFiles files = valueOf(ModelFiles::open(folder.path()));
    QVERIFY(valueOf(files.weights())->find("model.norm.weight"));
}

void ModelFilesTest::ggufBiasesAreReordered() {
    TinyGguf file;
    file.addString("general.architecture", "llama");
    file.addU32("llama.block_count", 1);
    file.addU32("llama.embedding_length", 8);
    file.addU32("llama.feed_forward_length", 6);
    file.addU32("llama.attention.head_count", 2);
    file.addU32("llama.context_length", 16);
    file.addF32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    file.addFloats("token_embd.weight", {8, 5});
    const std::array<float, 8> stored = {0, 1, 2, 3, 4, 5, 6, 7};
    file.addTensor("blk.0.attn_q.bias", {8}, 0, bytesOf(std::span<const float>(stored)));
    file.addTensor("blk.0.attn_v.bias", {8}, 0, bytesOf(std::span<const float>(stored)));
    const TemporaryFolder folder;
    const ModelFiles files = valueOf(ModelFiles::open(folder.write("m.gguf", file.toBytes())));
    QVERIFY(valueOf(files.config()).qkvBias);
    const auto weights = valueOf(files.weights());
    const std::array<std::uint64_t, 1> eight = {8};
    const std::vector<float> wanted = {0, 2, 1, 3, 4, 6, 5, 7};
    QCOMPARE(valueOf(readTensor(*weights, "model.layers.0.self_attn.q_proj.bias", eight)), wanted);
    QCOMPARE(valueOf(readTensor(*weights, "model.layers.0.self_attn.v_proj.bias", eight)),
             std::vector<float>(stored.begin(), stored.end()));
    std::vector<float> raw(8);
    QVERIFY(weights->readRawRows(*weights->find("model.layers.0.self_attn.q_proj.bias"),
                                 0,
                                 1,
                                 std::as_writable_bytes(std::span(raw))));
    QCOMPARE(raw, wanted);
}

void ModelFilesTest::ggufConfigsAreChecked_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const char* key, double value, const char* problem) {
        QTest::newRow(name) << QString(key) << value << QString(problem);
    };
    row("issue25821BlockCount", "llama.block_count", 1025, "number of layers is 1025");
    row("blockCountHuge", "llama.block_count", 4294967295.0, "too large");
    row("noHeads", "llama.attention.head_count", 0, "no attention heads");
    row("noKvHeads", "llama.attention.head_count_kv", 0, "key-value heads is 0");
    row("unevenHeads", "llama.attention.head_count_kv", 3, "evenly");
    row("noContext", "llama.context_length", 0, "context length");
    row("otherHidden",
        "llama.embedding_length",
        8,
        "token_embd.weight is no matrix with rows of 8");
    row("keysAndValuesDiffer", "llama.attention.value_length", 4, "must be equal");
    row("partialRotation", "llama.rope.dimension_count", 1, "must be equal");
    row("expertsWithoutChoice", "llama.expert_count", 8, "llama.expert_used_count is missing");
    row("issue25508EosBeyondVocabulary",
        "tokenizer.ggml.eos_token_id",
        5,
        "outside the vocabulary");
    row("bosNegative", "tokenizer.ggml.bos_token_id", 4000000000.0, "no token id");
}

void ModelFilesTest::ggufConfigsAreChecked() {
    QFETCH(QString, key);
    QFETCH(double, value);
    QFETCH(QString, problem);
    const std::vector<std::pair<std::string, std::uint32_t>> fields = {
        {"llama.block_count", 1},
        {"llama.embedding_length", 4},
        {"llama.feed_forward_length", 6},
        {"llama.attention.head_count", 2},
        {"llama.attention.head_count_kv", 1},
        {"llama.context_length", 16}};
    TinyGguf file;
    file.addString("general.architecture", "llama");
    file.addF32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    file.addU32(key.toStdString(), static_cast<std::uint32_t>(value));
    for (const auto& [name, number] : fields) {
        if (name != key.toStdString())
            file.addU32(name, number);
    }
    addTinyTensors(file);
    const auto config = ggufConfig(file);
    QVERIFY2(messageOf(config).contains(problem), qPrintable(messageOf(config)));
}

void ModelFilesTest::ggufHeadsThatDoNotDivideAreRefused() {
    TinyGguf file = tinyGgufMetadata();
    file.addFloats("token_embd.weight", {4, 5});
    file.addFloats("blk.0.attn_q.weight", {4, 6});
    const TemporaryFolder folder;
    const ModelFiles files = valueOf(ModelFiles::open(folder.write("m.gguf", file.toBytes())));
    QVERIFY(messageOf(files.weights())
                .contains("tensor blk.0.attn_q.weight has 6 rows, which do not divide"));
}

void ModelFilesTest::ggufScalingIsRead() {
    const auto with = [](const std::function<void(TinyGguf&)>& change) {
        TinyGguf file = tinyGgufMetadata();
        change(file);
        addTinyTensors(file);
        return ggufConfig(file);
    };
    const ModelConfig linear = valueOf(with([](TinyGguf& file) {
        file.addString("llama.rope.scaling.type", "linear");
        file.addF32("llama.rope.scaling.factor", 4);
        file.addF32("llama.rope.freq_base", 1e5F);
    }));
    QVERIFY(linear.ropeScaling.kind == RopeScalingKind::Linear);
    QCOMPARE(linear.ropeScaling.factor, 4.0);
    QCOMPARE(linear.ropeTheta, 1e5);
    QVERIFY(messageOf(with([](TinyGguf& file) {
                file.addString("llama.rope.scaling.type", "yarn");
            })).contains("rope scaling \"yarn\""));
    QVERIFY(messageOf(with([](TinyGguf& file) {
                file.addFloats("rope_freqs.weight", {2});
            })).contains("rope_freqs.weight has shape [2]"));
    QCOMPARE(valueOf(with([](TinyGguf& file) {
                 file.addFloats("rope_freqs.weight", {1});
             })).ropeFrequencyFactors,
             std::vector<float>({0.25F}));
}

void ModelFilesTest::ggufNamesMustNotCollide() {
    TinyGguf file = tinyGgufMetadata();
    addTinyTensors(file);
    file.addFloats("model.norm.weight", {4});
    const TemporaryFolder folder;
    const ModelFiles files = valueOf(ModelFiles::open(folder.write("m.gguf", file.toBytes())));
    QVERIFY(messageOf(files.weights()).contains("two tensors stand for model.norm.weight"));
}

/// Mistral 7B v0.1 was trained with a window that its GGUF files do not tell; version 0.3 has none.
void ModelFilesTest::onlyWhereThereMayBeAWindowItsLackIsNoted() {
    const auto windowNotes = [](float ropeBase, std::uint32_t layers) {
        TinyGguf file;
        file.addString("general.architecture", "llama");
        file.addU32("llama.block_count", layers);
        file.addU32("llama.embedding_length", 4096);
        file.addU32("llama.feed_forward_length", 14336);
        file.addU32("llama.attention.head_count", 32);
        file.addU32("llama.attention.head_count_kv", 8);
        file.addU32("llama.context_length", 32768);
        file.addF32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
        file.addF32("llama.rope.freq_base", ropeBase);
        file.addFloats("token_embd.weight", {4096, 3});
        const ModelConfig config = valueOf(ggufConfig(file));
        return std::count_if(config.notes.begin(), config.notes.end(), [](const std::string& note) {
            return note.find("no sliding window") != std::string::npos;
        });
    };
    QCOMPARE(windowNotes(10000.0F, 32), 1);
    QCOMPARE(windowNotes(1e6F, 32), 0);
    QCOMPARE(windowNotes(10000.0F, 30), 0);
}

QTEST_APPLESS_MAIN(ModelFilesTest)
#include "model_files_test.moc"
