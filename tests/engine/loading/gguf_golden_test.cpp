// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/model_files.h"
#include "engine/loading/safetensors_file.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <cmath>
#include <cstring>

using namespace engine;
using support::valueOf;

namespace {

const std::string kFolder = SWIFT_STUDIO_SHARED_DIR "/golden/gguf/";

std::vector<float> allOf(const WeightSource& source, const TensorInfo& tensor) {
    std::vector<float> values(tensor.rows() * tensor.columns());
    const auto read = source.readRows(tensor, 0, tensor.rows(), values);
    if (!read)
        qFatal("%s", read.error().message.c_str());
    return values;
}

bool isExact(TensorType type) {
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

} // namespace

/// The GGUF files of the golden data: shapes, types and values against gguf-py's.
class GgufGoldenTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();

    void shapesAndTypesAreAsStored_data() { nameFiles(); }

    void shapesAndTypesAreAsStored();

    void valuesEqualTheGoldenOnes_data() { nameFiles(); }

    void valuesEqualTheGoldenOnes();

    void anyRowRangeGivesTheSameValues_data() { nameFiles(); }

    void anyRowRangeGivesTheSameValues();
    void huggingFaceRowsAreThePermutedOnes();
    void qwen2KeepsItsRows();
    void configsSayWhatTheFilesHold();

private:
    void nameFiles();
    JsonDocument m_golden = valueOf(JsonDocument::parse("{}", "none"));
};

void GgufGoldenTest::initTestCase() {
    auto golden = readJsonFile(kFolder + "golden.json");
    if (!golden)
        QSKIP("the golden data is not there");
    m_golden = std::move(golden).value();
}

void GgufGoldenTest::nameFiles() {
    QTest::addColumn<QString>("name");
    for (const auto& [name, facts] : m_golden.root()["files"].members())
        QTest::newRow(std::string(name).c_str()) << QString::fromStdString(std::string(name));
}

void GgufGoldenTest::shapesAndTypesAreAsStored() {
    QFETCH(QString, name);
    const auto file = valueOf(GgufFile::open(kFolder + name.toStdString()));
    const JsonValue facts = m_golden.root()["files"][name.toStdString()];
    QCOMPARE(file->tensors().size(), facts["tensor_types"].size());
    for (const auto& [tensorName, type] : facts["tensor_types"].members()) {
        const TensorInfo* tensor = file->find(tensorName);
        QVERIFY(tensor);
        QVERIFY(tensor->typeName() == *type.asString());
    }
    const auto hidden = static_cast<std::uint64_t>(*facts["hidden"].asInteger());
    const auto ffn = static_cast<std::uint64_t>(*facts["ffn"].asInteger());
    const std::vector<std::uint64_t> gate = {ffn, hidden};
    const std::vector<std::uint64_t> down = {hidden, ffn};
    QCOMPARE(file->find("blk.0.ffn_gate.weight")->shape, gate);
    QCOMPARE(file->find("blk.0.ffn_down.weight")->shape, down);
    QVERIFY(!file->describeMetadata().empty());
}

void GgufGoldenTest::valuesEqualTheGoldenOnes() {
    QFETCH(QString, name);
    const auto file = valueOf(GgufFile::open(kFolder + name.toStdString()));
    const std::string stem = name.chopped(5).toStdString();
    const auto golden = valueOf(openSafetensors(kFolder + stem + ".golden.safetensors"));
    int compared = 0;
    for (const TensorInfo& expected : golden->tensors()) {
        if (!expected.name.starts_with("deq."))
            continue;
        const TensorInfo* tensor = file->find(expected.name.substr(4));
        QVERIFY2(tensor, expected.name.c_str());
        const std::vector<float> wanted = allOf(*golden, expected);
        const std::vector<float> values = allOf(*file, *tensor);
        QVERIFY(values.size() >= wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const float difference = std::abs(values[i] - wanted[i]);
            QVERIFY2(difference <= (isExact(tensor->type) ? 0.0F : 1e-6F), expected.name.c_str());
        }
        ++compared;
    }
    QVERIFY(compared > 5);
}

void GgufGoldenTest::anyRowRangeGivesTheSameValues() {
    QFETCH(QString, name);
    const auto files = valueOf(ModelFiles::open(kFolder + name.toStdString()));
    const auto weights = valueOf(files.weights());
    for (const TensorInfo& tensor : weights->tensors()) {
        const std::vector<float> whole = allOf(*weights, tensor);
        const std::size_t columns = tensor.columns();
        std::vector<std::byte> rawWhole(tensor.byteSize);
        QVERIFY(weights->readRawRows(tensor, 0, tensor.rows(), rawWhole));
        const std::size_t rowBytes = tensor.byteSize / tensor.rows();
        for (const std::uint64_t first : {std::uint64_t(0), tensor.rows() / 3, tensor.rows() - 1}) {
            const std::uint64_t count = std::min<std::uint64_t>(5, tensor.rows() - first);
            std::vector<float> part(count * columns);
            QVERIFY(weights->readRows(tensor, first, count, part));
            QVERIFY(std::equal(part.begin(),
                               part.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(first * columns)));
            std::vector<std::byte> raw(count * rowBytes);
            QVERIFY(weights->readRawRows(tensor, first, count, raw));
            QVERIFY(std::memcmp(raw.data(), rawWhole.data() + first * rowBytes, raw.size()) == 0);
        }
    }
}

void GgufGoldenTest::huggingFaceRowsAreThePermutedOnes() {
    const auto files = valueOf(ModelFiles::open(kFolder + "llama_s_F32.gguf"));
    const auto weights = valueOf(files.weights());
    const ModelConfig config = valueOf(files.config());
    for (const auto& [ours, theirs, heads] :
         {std::tuple(
              "model.layers.1.self_attn.q_proj.weight", "blk.1.attn_q.weight", config.headCount),
          std::tuple("model.layers.1.self_attn.k_proj.weight",
                     "blk.1.attn_k.weight",
                     config.kvHeadCount)}) {
        const TensorInfo* tensor = weights->find(ours);
        QVERIFY(tensor);
        const std::vector<float> values = allOf(*weights, *tensor);
        const std::vector<float> stored = allOf(*files.gguf(), *files.gguf()->find(theirs));
        const std::size_t columns = tensor->columns();
        const std::size_t d = tensor->rows() / static_cast<std::size_t>(heads);
        for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
            for (std::size_t s = 0; s < 2; ++s) {
                for (std::size_t i = 0; i < d / 2; ++i) {
                    const float* mine = values.data() + (head * d + s * d / 2 + i) * columns;
                    const float* file = stored.data() + (head * d + 2 * i + s) * columns;
                    QVERIFY(std::equal(mine, mine + columns, file));
                }
            }
        }
    }
}

void GgufGoldenTest::qwen2KeepsItsRows() {
    const auto files = valueOf(ModelFiles::open(kFolder + "qwen2_t_F32.gguf"));
    const auto weights = valueOf(files.weights());
    for (const auto& [ours, theirs] :
         {std::pair("model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight"),
          std::pair("model.layers.0.self_attn.k_proj.bias", "blk.0.attn_k.bias")}) {
        QVERIFY(weights->find(ours));
        QCOMPARE(allOf(*weights, *weights->find(ours)),
                 allOf(*files.gguf(), *files.gguf()->find(theirs)));
    }
}

void GgufGoldenTest::configsSayWhatTheFilesHold() {
    for (const auto& [name, facts] : m_golden.root()["files"].members()) {
        const auto files = valueOf(ModelFiles::open(kFolder + std::string(name)));
        const ModelConfig config = valueOf(files.config());
        QVERIFY(config.architecture == *facts["architecture"].asString());
        QCOMPARE(config.layerCount, static_cast<int>(*facts["layers"].asInteger()));
        QCOMPARE(config.hiddenSize, static_cast<int>(*facts["hidden"].asInteger()));
        QCOMPARE(config.mlpSize, static_cast<int>(*facts["ffn"].asInteger()));
        QCOMPARE(config.headCount, static_cast<int>(*facts["heads"].asInteger()));
        QCOMPARE(config.kvHeadCount, static_cast<int>(*facts["kv_heads"].asInteger()));
        QCOMPARE(config.vocabSize, static_cast<int>(*facts["vocab"].asInteger()));
        QCOMPARE(config.tiedHead, *facts["tied"].asBool());
        QCOMPARE(config.qkvBias, config.architecture == "qwen2");
        QVERIFY(config.notes.empty());
        QCOMPARE(config.ropeFrequencyFactors.empty(), name != "llama_t_ropefreqs_F32.gguf");
        if (config.architecture == "llama" && std::string(name).find("llama_s_Q5_1") == 0)
            QCOMPARE(config.storedType, "Q5_1");
    }
}

QTEST_APPLESS_MAIN(GgufGoldenTest)
#include "gguf_golden_test.moc"
