// SPDX-License-Identifier: Apache-2.0
// GGUF files that are split into parts, and the types that blocks of numbers are stored in.
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/model_files.h"
#include "engine/loading/weight_source.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <map>

using namespace engine;
using namespace test_support;
namespace fs = std::filesystem;

namespace {

/// What the parts of one file say of it.
struct PartFacts {
    std::uint16_t number = 0;
    std::uint16_t count = 2;
    std::int32_t tensors = 12;
    const char* architecture = nullptr; ///< where it is no first part
};

void addSplitKeys(TinyGguf& file, const PartFacts& facts) {
    file.addValue("split.no", GgufType::U16, bytesOf(facts.number));
    file.addValue("split.count", GgufType::U16, bytesOf(facts.count));
    file.addValue("split.tensors.count", GgufType::I32, bytesOf(facts.tensors));
}

/// The first part: all metadata, and the embedding.
std::string firstPart(const PartFacts& facts = {}) {
    TinyGguf file = tinyGgufMetadata();
    addSplitKeys(file, facts);
    file.addFloats("token_embd.weight", {4, 5});
    return file.toBytes();
}

/// The second part: the other tensors.
std::string secondPart(const PartFacts& facts = {.number = 1}) {
    TinyGguf file;
    addSplitKeys(file, facts);
    if (facts.architecture)
        file.addString("general.architecture", facts.architecture);
    file.addFloats("blk.0.attn_norm.weight", {4});
    file.addFloats("blk.0.attn_q.weight", {4, 4});
    file.addFloats("blk.0.attn_k.weight", {4, 2});
    file.addFloats("blk.0.attn_v.weight", {4, 2});
    file.addFloats("blk.0.attn_output.weight", {4, 4});
    file.addFloats("blk.0.ffn_norm.weight", {4});
    file.addFloats("blk.0.ffn_gate.weight", {4, 6});
    file.addFloats("blk.0.ffn_up.weight", {4, 6});
    file.addFloats("blk.0.ffn_down.weight", {6, 4});
    file.addFloats("output_norm.weight", {4});
    file.addTensor("extra.q8", {32}, 8, std::string(34, '\1'));
    return file.toBytes();
}

std::string wholeFile() {
    TinyGguf file = tinyGgufMetadata();
    addTinyTensors(file);
    return file.toBytes();
}

constexpr const char* kFirst = "m-00001-of-00002.gguf";
constexpr const char* kSecond = "m-00002-of-00002.gguf";

/// Every number of a model, by the names of its tensors.
std::map<std::string, std::vector<float>> numbersOf(const fs::path& path) {
    const auto files = ModelFiles::open(path);
    ENGINE_CHECK(files.hasValue(), "{}", files.error().message);
    const auto weights = files.value().weights();
    ENGINE_CHECK(weights.hasValue(), "{}", weights.error().message);
    std::map<std::string, std::vector<float>> numbers;
    for (const TensorInfo& tensor : weights.value()->tensors()) {
        std::vector<float>& values = numbers[tensor.name];
        values.resize(tensor.rows() * tensor.columns());
        const auto read = weights.value()->readRows(tensor, 0, tensor.rows(), values);
        ENGINE_CHECK(read.hasValue(), "{}", read.error().message);
    }
    return numbers;
}

QString problemOf(const fs::path& path) {
    const auto files = ModelFiles::open(path);
    return files ? QString() : QString::fromStdString(files.error().message);
}

std::vector<std::byte> bytesOfHex(std::string_view hex) {
    const QByteArray bytes =
        QByteArray::fromHex(QByteArray(hex.data(), static_cast<int>(hex.size())));
    std::vector<std::byte> found(static_cast<std::size_t>(bytes.size()));
    std::memcpy(found.data(), bytes.data(), found.size());
    return found;
}

} // namespace

class SplitFilesTest : public QObject {
    Q_OBJECT

private slots:
    void partsReadLikeTheWholeFile();
    void aFolderWithAllPartsHoldsOneModel();
    void aMissingPartIsNamed();
    void partsOfAnotherModelAreRefused_data();
    void partsOfAnotherModelAreRefused();
    void blocksHoldTheValuesThatOthersRead_data();
    void blocksHoldTheValuesThatOthersRead();
};

void SplitFilesTest::partsReadLikeTheWholeFile() {
    const TemporaryFolder folder;
    const auto whole = numbersOf(folder.write("whole.gguf", wholeFile()));
    const fs::path first = folder.write(kFirst, firstPart());
    const fs::path second = folder.write(kSecond, secondPart());
    QCOMPARE(whole.size(), std::size_t(12));
    QVERIFY(numbersOf(first) == whole);
    QVERIFY(numbersOf(second) == whole);
}

void SplitFilesTest::aFolderWithAllPartsHoldsOneModel() {
    const TemporaryFolder folder;
    folder.write(kFirst, firstPart());
    folder.write(kSecond, secondPart());
    const auto files = ModelFiles::open(folder.path());
    QVERIFY2(files.hasValue(), files ? "" : files.error().message.c_str());
    const auto config = files.value().config();
    QVERIFY(config.hasValue());
    QCOMPARE(config.value().layerCount, 1);
}

void SplitFilesTest::aMissingPartIsNamed() {
    const TemporaryFolder folder;
    const QString problem = problemOf(folder.write(kFirst, firstPart()));
    QVERIFY2(problem.contains("part 2 of 2 of a split GGUF file is missing"), qPrintable(problem));
    QVERIFY(problem.contains(kSecond));
}

void SplitFilesTest::partsOfAnotherModelAreRefused_data() {
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("second");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name,
                        const std::string& first,
                        const std::string& second,
                        const char* problem) {
        QTest::newRow(name) << QByteArray::fromStdString(first) << QByteArray::fromStdString(second)
                            << QString(problem);
    };
    row("another number", firstPart(), secondPart({.number = 0}), "is not the part 2 of 2");
    row("another count",
        firstPart(),
        secondPart({.number = 1, .count = 3}),
        "is not the part 2 of 2");
    row("no part at all", firstPart(), wholeFile(), "is not the part 2 of 2");
    row("another architecture",
        firstPart(),
        secondPart({.number = 1, .architecture = "qwen2"}),
        "belongs to another model");
    row("fewer tensors than the whole has",
        firstPart({.tensors = 13}),
        secondPart({.number = 1, .tensors = 13}),
        "hold 12 tensors, not 13");
    row(
        "the same tensors twice",
        firstPart({.tensors = 0}),
        [] {
            TinyGguf file;
            addSplitKeys(file, {.number = 1, .tensors = 0});
            file.addFloats("token_embd.weight", {4, 5});
            return file.toBytes();
        }(),
        "token_embd.weight");
}

void SplitFilesTest::partsOfAnotherModelAreRefused() {
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, second);
    QFETCH(QString, problem);
    const TemporaryFolder folder;
    folder.write(kSecond, second.toStdString());
    const QString told = problemOf(folder.write(kFirst, first.toStdString()));
    QVERIFY2(told.contains(problem), qPrintable(told));
}

void SplitFilesTest::blocksHoldTheValuesThatOthersRead_data() {
    QTest::addColumn<int>("type");
    for (const TensorType type : {TensorType::Q2_K,
                                  TensorType::Q3_K,
                                  TensorType::IQ4_NL,
                                  TensorType::IQ4_XS,
                                  TensorType::MXFP4})
        QTest::addRow("%s", tensorTypeName(type).data()) << static_cast<int>(type);
}

void SplitFilesTest::blocksHoldTheValuesThatOthersRead() {
    QFETCH(int, type);
    const auto told = readJsonFile(SWIFT_STUDIO_TEST_DATA_DIR "/quant_blocks.json");
    QVERIFY(told.hasValue());
    const auto kind = static_cast<TensorType>(type);
    const JsonValue entry = told.value().root()[tensorTypeName(kind)];
    const std::vector<std::byte> blocks = bytesOfHex(entry["blocks"].asString().value_or(""));
    const std::vector<std::byte> raw = bytesOfHex(entry["values"].asString().value_or(""));
    std::vector<float> expected(raw.size() / sizeof(float));
    std::memcpy(expected.data(), raw.data(), raw.size());
    QVERIFY(!expected.empty());
    std::vector<float> found(expected.size());
    dequantize(kind, blocks, found);
    for (std::size_t i = 0; i < found.size(); ++i)
        QVERIFY2(std::abs(found[i] - expected[i]) <= 1e-6F * std::max(1.0F, std::abs(expected[i])),
                 qPrintable(QString("value %1").arg(i)));
}

QTEST_APPLESS_MAIN(SplitFilesTest)
#include "split_files_test.moc"
