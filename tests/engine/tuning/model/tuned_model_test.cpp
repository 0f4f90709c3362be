// SPDX-License-Identifier: Apache-2.0
// The folder of a tuned model: what it holds, in which form, and what cannot be written.
#include "engine/base/to_size.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/safetensors_file.h"
#include "engine/loading/safetensors_writer.h"
#include "engine/tuning/model/model_config_text.h"
#include "engine/tuning/model/tuned_model.h"
#include "engine/tuning/model/tuned_weights.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace engine;

namespace {

constexpr TokenId kMask = 14;
constexpr int kRank = 3;

/// A model in a folder, opened.
struct FolderModel {
    test_support::TemporaryFolder folder;
    ModelConfig config;
    support::MemoryWeights weights;
    std::unique_ptr<ModelFiles> files;
    std::unique_ptr<WeightSource> source;

    FolderModel()
        : config(support::letterConfig(3))
        , weights(support::randomWeights(config, 6)) {
        support::writeFolderModel(folder.path() / "model", config, weights);
        files = std::make_unique<ModelFiles>(ModelFiles::open(folder.path() / "model").value());
        config = files->config().value();
        source = files->weights().value();
    }

    std::filesystem::path out() const { return folder.path() / "out"; }

    Result<TunedModelPlan> plan(TokenId mask = kNoToken) const {
        return planTunedModel(*files, config, *source, mask);
    }
};

std::vector<float> normals(std::size_t count, std::mt19937& random) {
    std::normal_distribution<float> normal(0.0F, 0.1F);
    std::vector<float> values(count);
    for (float& value : values)
        value = normal(random);
    return values;
}

NamedArrays loraOf(const ModelConfig& config) {
    std::mt19937 random(2);
    NamedArrays trained;
    for (int layer = 0; layer < config.layerCount; ++layer)
        for (const TensorSpec& spec : layerTensors(config, layer))
            if (!spec.isNorm()) {
                trained[spec.name + kLoraDown] = normals(toSize(kRank * spec.inputs), random);
                trained[spec.name + kLoraUp] = normals(toSize(kRank * spec.outputs), random);
            }
    trained[kMaskEmbedding] = normals(toSize(config.hiddenSize), random);
    return trained;
}

std::vector<float> readAll(const WeightSource& source, const TensorSpec& spec) {
    return readTensor(source, spec.weightName(), spec.shape()).value();
}

/// The smallest GGUF model of the letters' kind.
std::string ggufModel(const std::string& kind, bool hasFactors, const std::string& pre = "smollm") {
    test_support::TinyGguf file = test_support::tinyGgufMetadata();
    file.addString("tokenizer.ggml.model", kind);
    file.addStrings("tokenizer.ggml.tokens", {"a", "b", "<e>", "ab", "c"});
    file.addArray<std::int32_t>(
        "tokenizer.ggml.token_type", test_support::GgufType::I32, {1, 1, 3, 1, 1});
    file.addStrings("tokenizer.ggml.merges", {"a b"});
    file.addString("tokenizer.ggml.pre", pre);
    file.addU32("tokenizer.ggml.eos_token_id", 2);
    file.addString("tokenizer.chat_template", "{{ messages }}");
    test_support::addTinyTensors(file);
    if (hasFactors)
        file.addFloats("rope_freqs.weight", {1});
    return file.toBytes();
}

} // namespace

class TunedModelTest : public QObject {
    Q_OBJECT

private slots:
    void theFolderHoldsTheModelThatWasTrained();
    void allWeightsTakeThePlaceOfTheModels();
    void numbersThatAreNotFiniteAreRefused();
    void formsOfNumbersAreRoundedToNearest();
    void narrowFormsBecomeBfloat16();
    void aFolderIsOwnWhileItHoldsNothingElse();
    void aModelThatWasKeptIsNoRejectedOne();
    void anEarlierTryIsReplaced();
    void otherFilesAreNeverDeletedForATry();
    void aGgufModelBecomesAFolder();
    void ggufTokenizersMakeTheSameTokens_data();
    void ggufTokenizersMakeTheSameTokens();
    void whatCannotBeWrittenIsOneSentence_data();
    void whatCannotBeWrittenIsOneSentence();
};

void TunedModelTest::theFolderHoldsTheModelThatWasTrained() {
    const FolderModel model;
    const NamedArrays trained = loraOf(model.config);
    const TunedModelPlan plan = model.plan(kMask).value();
    const auto written = writeTunedModel(model.out(), plan, model.config, *model.source, trained);
    QVERIFY2(written.hasValue(), written ? "" : written.error().message.c_str());
    QCOMPARE(written.value(), std::filesystem::file_size(model.out() / "model.safetensors"));
    const ModelFiles files = ModelFiles::open(model.out()).value();
    const ModelConfig config = files.config().value();
    QCOMPARE(config.maskTokenId, kMask);
    QCOMPARE(config.layerCount, model.config.layerCount);
    QCOMPARE(config.storedType, std::string("float32"));
    QVERIFY(config.notes == model.config.notes); // nothing that is not read
    const auto source = files.weights().value();
    QCOMPARE(source->tensors().size(), model.source->tensors().size());
    forEachTensor(config, [&](const TensorSpec& spec) {
        const std::vector<float> found = readAll(*source, spec);
        const std::vector<float> before = readAll(*model.source, spec);
        const bool isLora = trained.contains(spec.name + kLoraDown);
        if (spec.role == TensorRole::Embedding) {
            const std::vector<float>& mask = trained.at(kMaskEmbedding);
            for (std::size_t i = 0; i < found.size(); ++i) {
                const bool isMask = i / mask.size() == toSize(kMask);
                QCOMPARE(found[i], isMask ? mask[i % mask.size()] : before[i]);
            }
        } else if (!isLora) {
            QVERIFY2(found == before, spec.name.c_str());
        } else {
            const auto& down = trained.at(spec.name + kLoraDown);
            const auto& up = trained.at(spec.name + kLoraUp);
            const std::size_t inputs = toSize(spec.inputs);
            for (std::size_t i = 0; i < found.size(); ++i) {
                double sum = 0.0;
                for (std::size_t r = 0; r < toSize(kRank); ++r)
                    sum += static_cast<double>(up[i / inputs * toSize(kRank) + r]) *
                           static_cast<double>(down[r * inputs + i % inputs]);
                QVERIFY(std::abs(static_cast<double>(found[i]) -
                                 (static_cast<double>(before[i]) + kLoraScale * sum)) < 1e-6);
            }
        }
    });
    const auto tokenizer = loadTokenizer(files);
    QVERIFY(tokenizer.hasValue());
    QVERIFY(tokenizer.value()->encode("abc ab", true).value() ==
            loadTokenizer(*model.files).value()->encode("abc ab", true).value());
}

void TunedModelTest::allWeightsTakeThePlaceOfTheModels() {
    const FolderModel model;
    std::mt19937 random(3);
    NamedArrays trained;
    forEachTensor(model.config, [&](const TensorSpec& spec) {
        trained[spec.weightName()] = normals(readAll(*model.source, spec).size(), random);
    });
    QVERIFY(writeTunedModel(model.out(), model.plan().value(), model.config, *model.source, trained)
                .hasValue());
    const ModelFiles files = ModelFiles::open(model.out()).value();
    QCOMPARE(files.config().value().maskTokenId, kNoToken);
    const auto source = files.weights().value();
    forEachTensor(model.config, [&](const TensorSpec& spec) {
        QVERIFY2(readAll(*source, spec) == trained.at(spec.weightName()), spec.name.c_str());
    });
}

void TunedModelTest::numbersThatAreNotFiniteAreRefused() {
    const FolderModel model;
    NamedArrays trained = loraOf(model.config);
    trained.begin()->second.front() = std::numeric_limits<float>::quiet_NaN();
    const auto refused = writeTunedModel(
        model.out(), model.plan(kMask).value(), model.config, *model.source, trained);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Numeric);
    QVERIFY(!std::filesystem::exists(model.out() / "model.safetensors"));
}

void TunedModelTest::formsOfNumbersAreRoundedToNearest() {
    const test_support::TemporaryFolder folder;
    const auto path = folder.path() / "forms.safetensors";
    // Between two numbers of bfloat16, at a tie to the even one below and above, and a large one.
    const std::vector<float> values = {
        1.0F, 1.0F + 0x1p-8F, 1.0F + 3 * 0x1p-8F, 1.0F + 0x1p-8F + 0x1p-20F, -3.0e38F, 0.0F};
    const std::vector<float> wanted = {
        1.0F, 1.0F, 1.0F + 4 * 0x1p-8F, 1.0F + 0x1p-7F, -3.0e38F, 0.0F};
    auto writer = SafetensorsWriter::begin(
        path, {{"bf", TensorType::BF16, {2, 3}}, {"f", TensorType::F32, {6}}});
    QVERIFY(writer.hasValue());
    QVERIFY(writer.value().add(values).hasValue());
    QVERIFY(writer.value().add(values).hasValue());
    QVERIFY(!std::filesystem::exists(path)); // not yet whole
    QVERIFY(writer.value().finish().hasValue());
    const auto files = openSafetensors(path);
    QVERIFY2(files.hasValue(), files ? "" : files.error().message.c_str());
    const std::vector<std::uint64_t> square = {2, 3};
    const std::vector<std::uint64_t> row = {6};
    const auto found = readTensor(*files.value(), "bf", square).value();
    for (std::size_t i = 0; i < values.size(); ++i)
        QVERIFY(std::abs(found[i] - wanted[i]) <= std::abs(wanted[i]) * 0x1p-8F &&
                (i == 4 || found[i] == wanted[i]));
    QVERIFY(readTensor(*files.value(), "f", row).value() == values);

    auto half = SafetensorsWriter::begin(folder.path() / "half", {{"h", TensorType::F16, {1}}});
    const std::vector<float> large = {1.0e6F};
    const auto refused = half.value().add(large);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Numeric);
    QVERIFY(refused.error().message.find("F16") != std::string::npos);
}

void TunedModelTest::narrowFormsBecomeBfloat16() {
    ModelConfig config = support::letterConfig(1);
    config.hiddenSize = 32;
    config.mlpSize = 32;
    config.headDim = 8;
    const auto typeOf = [&](TensorType type) {
        return tunedType(support::StoredWeights(support::randomWeights(config, 1), type));
    };
    QCOMPARE(typeOf(TensorType::F32), TensorType::F32);
    QCOMPARE(typeOf(TensorType::F16), TensorType::F16);
    QCOMPARE(typeOf(TensorType::BF16), TensorType::BF16);
    QCOMPARE(typeOf(TensorType::Q4_1), TensorType::BF16);
    QCOMPARE(typeOf(TensorType::Q8_0), TensorType::BF16);
}

void TunedModelTest::aFolderIsOwnWhileItHoldsNothingElse() {
    const FolderModel model;
    const TunedModelPlan plan = model.plan(kMask).value();
    QVERIFY(writeTunedModel(model.out(), plan, model.config, *model.source, loraOf(model.config))
                .hasValue());
    QVERIFY(!isTunedModel(model.out()).value());
    RunOrigin origin;
    origin.plan = planOfProfile("quick", TuningRecipe::Space).value();
    QVERIFY(
        writeTuningFile(model.out(), plan, origin, 2, TrainingResult(), ModelQuality()).hasValue());
    QVERIFY(isTunedModel(model.out()).value());
    support::writeText(model.out() / "diary.txt", "Dear diary,\n");
    QVERIFY(!isTunedModel(model.out()).value());
    QVERIFY(!isTunedModel(model.folder.path() / "model").value());
    QVERIFY(!isTunedModel(model.folder.path() / "nowhere").value());
}

void TunedModelTest::aModelThatWasKeptIsNoRejectedOne() {
    const FolderModel model;
    const TunedModelPlan plan = model.plan(kMask).value();
    QVERIFY(writeTunedModel(model.out(), plan, model.config, *model.source, loraOf(model.config))
                .hasValue());
    RunOrigin origin;
    origin.plan = planOfProfile("quick", TuningRecipe::Space).value();
    ModelQuality quality;
    for (const double agreement : {0.5, 1.0}) {
        quality.agreement = agreement;
        QVERIFY(
            writeTuningFile(model.out(), plan, origin, 2, TrainingResult(), quality).hasValue());
        QVERIFY(isTunedModel(model.out()).value());
        QCOMPARE(isRejectedModel(model.out()).value(), agreement < 0.9);
    }
}

void TunedModelTest::anEarlierTryIsReplaced() {
    const FolderModel model;
    std::filesystem::create_directories(model.out());
    support::writeText(model.out() / "model.safetensors", "half of it");
    support::writeText(model.out() / "merges.txt", "of another model");
    QVERIFY(writeTunedFrame(model.out(), model.plan().value()).hasValue());
    QVERIFY(!std::filesystem::exists(model.out() / "model.safetensors"));
    QVERIFY(!std::filesystem::exists(model.out() / "merges.txt"));
    QVERIFY(std::filesystem::exists(model.out() / "tokenizer.json"));
}

void TunedModelTest::otherFilesAreNeverDeletedForATry() {
    const FolderModel model;
    std::filesystem::create_directories(model.out());
    support::writeText(model.out() / "model.safetensors", "half of it");
    support::writeText(model.out() / "diary.txt", "Dear diary,");
    const auto refused = writeTunedFrame(model.out(), model.plan().value());
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY2(refused.error().message.find("diary.txt") != std::string::npos,
             refused.error().message.c_str());
    QVERIFY(std::filesystem::exists(model.out() / "diary.txt"));
    QVERIFY(std::filesystem::exists(model.out() / "model.safetensors"));
}

void TunedModelTest::aGgufModelBecomesAFolder() {
    const test_support::TemporaryFolder folder;
    const auto path = folder.write("model.gguf", ggufModel("gpt2", false));
    const ModelFiles files = ModelFiles::open(path).value();
    const ModelConfig config = files.config().value();
    const auto weights = files.weights().value();
    const auto plan = planTunedModel(files, config, *weights, 4);
    QVERIFY2(plan.hasValue(), plan ? "" : plan.error().message.c_str());
    QCOMPARE(plan.value().type, TensorType::F32);
    const auto written =
        writeTunedModel(folder.path() / "out", plan.value(), config, *weights, NamedArrays());
    QVERIFY2(written.hasValue(), written ? "" : written.error().message.c_str());
    const ModelFiles opened = ModelFiles::open(folder.path() / "out").value();
    const ModelConfig read = opened.config().value();
    QCOMPARE(read.hiddenSize, config.hiddenSize);
    QCOMPARE(read.normEpsilon, config.normEpsilon);
    QVERIFY(read.eosIds == config.eosIds);
    QCOMPARE(read.maskTokenId, 4);
    const auto source = opened.weights().value();
    forEachTensor(config, [&](const TensorSpec& spec) {
        QVERIFY2(readAll(*source, spec) == readAll(*weights, spec), spec.name.c_str());
    });
    QCOMPARE(opened.chatTemplate().value()->text, std::string("{{ messages }}"));
}

void TunedModelTest::ggufTokenizersMakeTheSameTokens_data() {
    QTest::addColumn<QString>("pre");
    QTest::addColumn<bool>("addsBos");
    for (const char* pre : {"smollm", "llama-bpe", "qwen2", "gpt-2", "tekken", "default"}) {
        QTest::addRow("%s", pre) << QString(pre) << false;
        QTest::addRow("%s with a begin", pre) << QString(pre) << true;
    }
}

void TunedModelTest::ggufTokenizersMakeTheSameTokens() {
    QFETCH(const QString, pre);
    QFETCH(const bool, addsBos);
    test_support::TinyGguf gguf = tiny::ggufBpe(pre.toStdString());
    const char value = addsBos ? '\1' : '\0';
    gguf.addValue(
        "tokenizer.ggml.add_bos_token", test_support::GgufType::Bool, std::string_view(&value, 1));
    const test_support::TemporaryFolder folder;
    const ModelFiles files = ModelFiles::open(folder.write("t.gguf", gguf.toBytes())).value();
    const auto before = loadTokenizer(files);
    QVERIFY(before.hasValue());
    const auto made = tokenizerFiles(files);
    QVERIFY2(made.hasValue(), made ? "" : made.error().message.c_str());
    std::filesystem::create_directories(folder.path() / "out");
    for (const NamedFile& file : made.value())
        support::writeText(folder.path() / "out" / file.name, file.bytes);
    const auto after = tiny::load(folder.path() / "out");
    QVERIFY2(after.hasValue(), after ? "" : after.error().message.c_str());
    for (const char* text : {"abc ab", "<|user|>ab<tool>c <|end|>", "  a b\u0120", "cab  abc", ""})
        for (const bool addsSpecial : {false, true})
            QVERIFY2(after.value()->encode(text, addsSpecial).value() ==
                         before.value()->encode(text, addsSpecial).value(),
                     text);
    for (TokenId id = 0; id < before.value()->vocabSize(); ++id) {
        QCOMPARE(after.value()->tokenText(id), before.value()->tokenText(id));
        QCOMPARE(after.value()->isSpecial(id), before.value()->isSpecial(id));
    }
    QVERIFY(after.value()->eosIds() == before.value()->eosIds());
}

void TunedModelTest::whatCannotBeWrittenIsOneSentence_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("named");
    QTest::newRow("a tokenizer of SentencePiece")
        << QByteArray::fromStdString(ggufModel("llama", false)) << "'llama'";
    QTest::newRow("an unknown pre-tokenizer")
        << QByteArray::fromStdString(ggufModel("gpt2", false, "qwen35")) << "'qwen35'";
    QTest::newRow("factors of rotary frequencies")
        << QByteArray::fromStdString(ggufModel("gpt2", true)) << "rotary frequencies";
}

void TunedModelTest::whatCannotBeWrittenIsOneSentence() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, named);
    const test_support::TemporaryFolder folder;
    const ModelFiles files =
        ModelFiles::open(folder.write("model.gguf", bytes.toStdString())).value();
    const ModelConfig config = files.config().value();
    const auto weights = files.weights().value();
    const auto refused = planTunedModel(files, config, *weights, kNoToken);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    const QString message = QString::fromStdString(refused.error().message);
    QVERIFY2(message.contains(named) && message.contains("model.gguf"), qPrintable(message));
    QVERIFY(!refused.error().hint.empty());
    ModelConfig fused = config;
    fused.architecture = "phi3";
    QCOMPARE(tunedConfigText(files, fused, {}).error().code, ErrorCode::Unsupported);
}

QTEST_GUILESS_MAIN(TunedModelTest)
#include "tuned_model_test.moc"
