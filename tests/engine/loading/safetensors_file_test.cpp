// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/safetensors_file.h"
#include "tests/support/models/tiny_safetensors.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <array>
#include <fstream>
#include <limits>

using namespace engine;
using namespace test_support;

namespace {

/// One tensor "a" of eight data bytes, whose entry is given.
std::string withEntry(const std::string& entry) {
    return safetensorsFile(R"({"a":)" + entry + "}", std::string(8, '\0'));
}

std::string entryOf(const std::string& type, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

/// Two tensors "a" and "b" over `dataBytes` bytes of data.
std::string withTwo(const std::string& first, const std::string& second, std::size_t dataBytes) {
    return safetensorsFile(R"({"a":)" + first + R"(,"b":)" + second + "}",
                           std::string(dataBytes, '\0'));
}

std::string headerOfLength(std::uint64_t length) {
    return bytesOf(length) + "{}" + std::string(14, ' ');
}

/// A folder laid out as the Hugging Face cache: snapshots hold links to blobs.
struct CachedRepository {
    explicit CachedRepository(const TemporaryFolder& cache)
        : root(cache.path() / "models--some--model")
        , snapshot(root / "snapshots" / "0123abcd") {
        std::filesystem::create_directories(snapshot);
        std::filesystem::create_directories(root / "blobs");
    }

    void write(const std::filesystem::path& path, std::string_view bytes) const {
        std::ofstream(path, std::ios::binary) << bytes;
    }

    std::filesystem::path root;
    std::filesystem::path snapshot;
};

} // namespace

/// The rules of the format and the public faults of other readers, one file each.
class SafetensorsFileTest : public QObject {
    Q_OBJECT

private slots:
    void badFilesAreRefused_data();
    void badFilesAreRefused();
    void validFilesAreRead_data();
    void validFilesAreRead();
    void everyTypeHasItsSize();
    void typesThatCannotBeComputedWithAreRefusedWhenRead();
    void tensorsAreCheckedWhenRead();
    void valuesSurviveMisalignment();
    void aFileCutShortWhileOpenIsAnError();
    void shardsAreOneSource();
    void whatNoShardHoldsIsMissedWhenItIsNeeded();
    void badIndexesAreRefused_data();
    void badIndexesAreRefused();
    void shardsOfAHuggingFaceCacheAreOneSource();
    void aShardThatIsALinkOutIsRefused_data();
    void aShardThatIsALinkOutIsRefused();
    void aShardWhoseLinkLeadsNowhereIsMissing();
    void manyTinyTensorsStayWithinMemory();

private:
    TemporaryFolder m_folder;
};

void SafetensorsFileTest::badFilesAreRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const std::string& bytes, const char* problem) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString(problem);
    };
    row("empty", "", "the length of the header");
    row("sevenBytes", "1234567", "the length of the header");
    row("headerLongerThanFile", headerOfLength(17), "is said to have 17 bytes");
    row("headerLengthWraps", headerOfLength(std::numeric_limits<std::uint64_t>::max()), "at most");
    row("headerAboveCap", headerOfLength(100'000'001), "at most 100000000");
    row("headerNotAnObject", safetensorsFile("[]", ""), "does not begin with '{'");
    row("headerBeginsWithSpace", safetensorsFile(" {}", ""), "does not begin with '{'");
    row("headerNotJson", safetensorsFile("{\"a\":", ""), "not valid JSON");
    row("headerTooDeep", safetensorsFile("{\"a\":" + std::string(100, '['), ""), "nested");
    row("headerInvalidUtf8", safetensorsFile("{\"\xff\":0}", ""), "not valid JSON");
    row("headerNulPadding", safetensorsFile(std::string("{}\0\0", 4), ""), "not valid JSON");
    row("metadataNotAnObject", safetensorsFile(R"({"__metadata__":[]})", ""), "__metadata__");
    row("metadataNotStrings", safetensorsFile(R"({"__metadata__":{"a":1}})", ""), "is no string");
    row("entryNotAnObject", withEntry("7"), "unknown dtype");
    row("impUnknownTypeIsNoLesserCheck", withEntry(entryOf("F31", "[2]", "[0,8]")), "F31");
    row("shapeMissing", withEntry(R"({"dtype":"F32","data_offsets":[0,8]})"), "shape");
    row("shapeNegative", withEntry(entryOf("F32", "[-2]", "[0,8]")), "no count");
    row("impShapeThroughADouble", withEntry(entryOf("F32", "[2.0]", "[0,8]")), "no count");
    row("shapeBeyond63Bits",
        withEntry(entryOf("U8", "[18446744073709551615]", "[0,8]")),
        "no count");
    row("tooManyDimensions",
        withEntry(entryOf("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]")),
        "at most 8");
    row("mlxOffsetsDisagreeWithShape", withEntry(entryOf("F32", "[3]", "[0,8]")), "96 bits");
    row("liteRtProductWrapsToZero",
        withEntry(entryOf("F32", "[4294967296,4294967296]", "[0,0]")),
        "overflows");
    row("productWrapsBehindAZero",
        withEntry(entryOf("F32", "[0,4294967296,4294967296]", "[0,0]")),
        "overflows");
    row("bitSizeWraps", withEntry(entryOf("F64", "[288230376151711744]", "[0,0]")), "overflows");
    row("offsetsBackwards", withEntry(entryOf("F32", "[2]", "[8,0]")), "no range");
    row("offsetsOfThree", withEntry(entryOf("F32", "[2]", "[0,8,8]")), "data_offsets");
    row("oddBits", withEntry(entryOf("F4", "[15]", "[0,8]")), "60 bits");
    row("endBeyondFile", withEntry(entryOf("F32", "[4]", "[0,16]")), "there are only 8");
    row("bytesLeftOver", withEntry(entryOf("F32", "[1]", "[0,4]")), "4 bytes behind the last");
    row("holeAtTheStart", withEntry(entryOf("F32", "[1]", "[4,8]")), "leaves a hole");
    row("holeBetween",
        withTwo(entryOf("F32", "[1]", "[0,4]"), entryOf("F32", "[1]", "[8,12]"), 12),
        "leaves a hole");
    row("overlap",
        withTwo(entryOf("F32", "[2]", "[0,8]"), entryOf("F32", "[2]", "[4,12]"), 12),
        "overlaps");
    row("duplicateName",
        safetensorsFile(R"({"a":)" + entryOf("F32", "[1]", "[0,4]") + R"(,"a":)" +
                            entryOf("F32", "[1]", "[4,8]") + "}",
                        std::string(8, '\0')),
        "\"a\" appears twice");
    row("duplicateField",
        withEntry(R"({"dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8]})"),
        "\"dtype\" appears twice");
}

void SafetensorsFileTest::badFilesAreRefused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, problem);
    const auto path = m_folder.write("bad.safetensors", bytes.toStdString());
    const PeakAllocation peak;
    const auto opened = openSafetensors(path);
    QVERIFY(!opened);
    QCOMPARE(opened.error().code, ErrorCode::CorruptFile);
    const QString message = QString::fromStdString(opened.error().message);
    QVERIFY2(message.contains(problem), qPrintable(message));
    QVERIFY2(message.contains("(byte ") && message.contains("bad.safetensors"),
             qPrintable(message));
    QVERIFY(!opened.error().hint.empty());
    QVERIFY(peak.bytes() < 1'000'000);
}

void SafetensorsFileTest::validFilesAreRead_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("tensors");
    const auto row = [](const char* name, const std::string& bytes, int tensors) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << tensors;
    };
    row("noTensors", safetensorsFile("{}", ""), 0);
    row("spacePadding", safetensorsFile("{}      ", ""), 0);
    row("metadata", safetensorsFile(R"({"__metadata__":{"format":"pt"}})", ""), 0);
    row("scalar", safetensorsFile(R"({"a":)" + entryOf("F32", "[]", "[0,4]") + "}", "1234"), 1);
    row("zeroSize", safetensorsFile(R"({"a":)" + entryOf("F32", "[0,3]", "[0,0]") + "}", ""), 1);
    row("backToFront",
        withTwo(entryOf("F32", "[1]", "[4,8]"), entryOf("F32", "[1]", "[0,4]"), 8),
        2);
    row("zeroSizeBetween",
        safetensorsFile(R"({"a":)" + entryOf("U8", "[2]", "[0,2]") + R"(,"z":)" +
                            entryOf("U8", "[0]", "[2,2]") + R"(,"b":)" +
                            entryOf("U8", "[2]", "[2,4]") + "}",
                        "1234"),
        3);
}

void SafetensorsFileTest::validFilesAreRead() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, tensors);
    const auto opened = openSafetensors(m_folder.write("good.safetensors", bytes.toStdString()));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const WeightSource& source = *opened.value();
    QCOMPARE(source.tensors().size(), static_cast<std::size_t>(tensors));
    for (const TensorInfo& tensor : source.tensors()) {
        std::vector<std::byte> raw(tensor.byteSize);
        QVERIFY(source.readRawRows(tensor, 0, tensor.rows(), raw));
        QCOMPARE(source.find(tensor.name), &tensor);
    }
    QVERIFY(!source.find("absent"));
}

void SafetensorsFileTest::everyTypeHasItsSize() {
    const std::vector<std::pair<std::string, int>> bits = {
        {"BOOL", 8},    {"U8", 8},      {"I8", 8},          {"I16", 16},        {"U16", 16},
        {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
        {"F64", 64},    {"I64", 64},    {"U64", 64},        {"C64", 64},        {"F8_E4M3", 8},
        {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6},
        {"F6_E3M2", 6}, {"F4", 4}};
    for (const auto& [type, size] : bits) {
        TinySafetensors file;
        file.add("a", type, {3, 8}, std::string(static_cast<std::size_t>(3 * size), '\1'));
        const auto opened = openSafetensors(m_folder.write("types.safetensors", file.toBytes()));
        QVERIFY2(opened, type.c_str());
        QVERIFY(opened.value()->tensors()[0].typeName() == type);
        std::vector<std::byte> raw(static_cast<std::size_t>(size));
        QVERIFY(opened.value()->readRawRows(opened.value()->tensors()[0], 1, 1, raw));
    }
}

void SafetensorsFileTest::typesThatCannotBeComputedWithAreRefusedWhenRead() {
    TinySafetensors file;
    file.add("a", "F8_E4M3", {2, 2}, "1234");
    const auto opened = openSafetensors(m_folder.write("f8.safetensors", file.toBytes()));
    QVERIFY(opened);
    std::array<float, 4> values{};
    const auto read = opened.value()->readRows(opened.value()->tensors()[0], 0, 2, values);
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::Unsupported);
    QVERIFY(read.error().message.find("tensor a is stored as F8_E4M3") != std::string::npos);
    const std::array<std::uint64_t, 2> shape = {2, 2};
    QCOMPARE(readTensor(*opened.value(), "a", shape).error().code, ErrorCode::Unsupported);
}

void SafetensorsFileTest::tensorsAreCheckedWhenRead() {
    TinySafetensors file;
    file.addFloats("good", {2, 3});
    const std::array<float, 6> bad = {0, 1, 2, 3, std::numeric_limits<float>::infinity(), 5};
    file.add("bad", "F32", {2, 3}, bytesOf(std::span<const float>(bad)));
    const auto opened = openSafetensors(m_folder.write("check.safetensors", file.toBytes()));
    QVERIFY(opened);
    const std::array<std::uint64_t, 2> shape = {2, 3};
    const auto good = readTensor(*opened.value(), "good", shape);
    QVERIFY(good);
    QCOMPARE(good.value()[5], 0.25F + 0.125F * 5);
    const auto notFinite = readTensor(*opened.value(), "bad", shape);
    QCOMPARE(notFinite.error().code, ErrorCode::Numeric);
    QVERIFY(notFinite.error().message.find("tensor bad") != std::string::npos);
    QVERIFY(notFinite.error().message.find("row 1, column 1") != std::string::npos);
    QCOMPARE(readTensor(*opened.value(), "none", shape).error().code, ErrorCode::NotFound);
    const std::array<std::uint64_t, 2> turned = {3, 2};
    const auto wrongShape = readTensor(*opened.value(), "good", turned);
    QCOMPARE(wrongShape.error().code, ErrorCode::CorruptFile);
    QVERIFY(wrongShape.error().message.find("[2, 3]") != std::string::npos);
}

void SafetensorsFileTest::valuesSurviveMisalignment() {
    TinySafetensors file;
    file.add("odd", "U8", {1}, "x");
    file.addFloats("floats", {4});
    const std::array<std::uint16_t, 2> halves = {0x3C00, 0xC000};
    file.add("halves", "F16", {2}, bytesOf(std::span<const std::uint16_t>(halves)));
    const auto opened = openSafetensors(m_folder.write("odd.safetensors", file.toBytes()));
    QVERIFY(opened);
    const std::array<std::uint64_t, 1> four = {4};
    QCOMPARE(readTensor(*opened.value(), "floats", four).value()[3], 0.625F);
    const std::array<std::uint64_t, 1> two = {2};
    QCOMPARE(readTensor(*opened.value(), "halves", two).value(), std::vector<float>({1.0F, -2.0F}));
}

void SafetensorsFileTest::aFileCutShortWhileOpenIsAnError() {
    TinySafetensors file;
    file.addFloats("a", {64, 64});
    const auto path = m_folder.write("cut.safetensors", file.toBytes());
    const auto opened = openSafetensors(path);
    QVERIFY(opened);
    std::filesystem::resize_file(path, 1000);
    const std::array<std::uint64_t, 2> shape = {64, 64};
    const auto read = readTensor(*opened.value(), "a", shape);
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::CorruptFile);
    QVERIFY(read.error().message.find("was cut short while reading a (byte 1000)") !=
            std::string::npos);
}

void SafetensorsFileTest::shardsAreOneSource() {
    TinySafetensors first;
    first.addFloats("a", {2});
    TinySafetensors second;
    second.addFloats("b", {3});
    m_folder.write("model-1.safetensors", first.toBytes());
    m_folder.write("model-2.safetensors", second.toBytes());
    const auto index =
        m_folder.write("model.safetensors.index.json",
                       R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
    const auto opened = openSafetensorsIndex(index);
    QVERIFY(opened);
    QCOMPARE(opened.value()->tensors().size(), std::size_t(2));
    const std::array<std::uint64_t, 1> three = {3};
    QCOMPARE(readTensor(*opened.value(), "b", three).value()[2], 0.5F);
}

/// Published indexes name tensors that were left out when the model was saved anew, such as the
/// rotary frequencies of each layer.
void SafetensorsFileTest::whatNoShardHoldsIsMissedWhenItIsNeeded() {
    TinySafetensors first;
    first.addFloats("a", {2});
    TinySafetensors second;
    second.addFloats("b", {3});
    m_folder.write("model-1.safetensors", first.toBytes());
    m_folder.write("model-2.safetensors", second.toBytes());
    const auto opened = openSafetensorsIndex(
        m_folder.write("model.safetensors.index.json",
                       R"({"weight_map":{"a":"model-2.safetensors","b":"model-1.safetensors",)"
                       R"("q":"model-1.safetensors"}})"));
    QVERIFY2(opened.hasValue(), opened ? "" : opened.error().message.c_str());
    const std::array<std::uint64_t, 1> two = {2};
    QCOMPARE(readTensor(*opened.value(), "a", two).value()[1], 0.375F);
    const auto missing = readTensor(*opened.value(), "q", two);
    QVERIFY(!missing);
    QCOMPARE(missing.error().message, std::string("the model has no tensor q"));
    QVERIFY(missing.error().hint.find("incomplete") != std::string::npos);
}

void SafetensorsFileTest::badIndexesAreRefused_data() {
    QTest::addColumn<QByteArray>("index");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const char* index, const char* problem) {
        QTest::newRow(name) << QByteArray(index) << QString(problem);
    };
    row("noMap", "{}", "weight_map");
    row("emptyMap", R"({"weight_map":{}})", "weight_map");
    row("mapIsAList", R"({"weight_map":["a"]})", "weight_map");
    row("nameIsANumber", R"({"weight_map":{"a":1}})", "no string");
    row("emptyName", R"({"weight_map":{"a":""}})", "plain file name");
    row("parentFolder", R"({"weight_map":{"a":"../one.safetensors"}})", "plain file name");
    row("twoDots", R"({"weight_map":{"a":"..safetensors"}})", "is not one");
    row("absolutePath", R"({"weight_map":{"a":"/etc/one.safetensors"}})", "plain file name");
    row("backslash", R"({"weight_map":{"a":"..\\one.safetensors"}})", "plain file name");
    row("nulInName", R"({"weight_map":{"a":"one\u0000.safetensors"}})", "plain file name");
    row("otherKind", R"({"weight_map":{"a":"one.bin"}})", "is not one");
    row("missingShard", R"({"weight_map":{"a":"none.safetensors"}})", "does not exist");
    row("tensorInBothShards",
        R"({"weight_map":{"a":"one.safetensors","c":"again.safetensors"}})",
        "tensor a appears twice");
}

void SafetensorsFileTest::badIndexesAreRefused() {
    QFETCH(QByteArray, index);
    QFETCH(QString, problem);
    TinySafetensors one;
    one.addFloats("a", {2});
    m_folder.write("one.safetensors", one.toBytes());
    TinySafetensors two;
    two.addFloats("b", {2});
    m_folder.write("two.safetensors", two.toBytes());
    TinySafetensors again;
    again.addFloats("a", {2});
    again.addFloats("c", {2});
    m_folder.write("again.safetensors", again.toBytes());
    const auto opened = openSafetensorsIndex(m_folder.write("bad.index.json", index.toStdString()));
    QVERIFY(!opened);
    const QString message = QString::fromStdString(opened.error().message);
    QVERIFY2(message.contains(problem), qPrintable(message));
}

void SafetensorsFileTest::shardsOfAHuggingFaceCacheAreOneSource() {
    const TemporaryFolder cache;
    const CachedRepository repository(cache);
    TinySafetensors first;
    first.addFloats("a", {2});
    TinySafetensors second;
    second.addFloats("b", {3});
    repository.write(repository.root / "blobs/f00d", first.toBytes());
    repository.write(repository.root / "blobs/beef", second.toBytes());
    repository.write(repository.root / "blobs/cafe",
                     R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
    const auto link = [&](const char* blob, const char* name) {
        std::filesystem::create_symlink(std::filesystem::path("../../blobs") / blob,
                                        repository.snapshot / name);
    };
    link("f00d", "one.safetensors");
    link("beef", "two.safetensors");
    link("cafe", "model.safetensors.index.json");
    // Also through a link to the snapshot, as people make them.
    std::filesystem::create_directory_symlink(repository.snapshot, cache.path() / "model");
    for (const auto& folder : {repository.snapshot, cache.path() / "model"}) {
        const auto opened = openSafetensorsIndex(folder / "model.safetensors.index.json");
        QVERIFY2(opened.hasValue(), opened ? "" : opened.error().message.c_str());
        const std::array<std::uint64_t, 1> three = {3};
        QCOMPARE(readTensor(*opened.value(), "b", three).value()[2], 0.5F);
    }
}

void SafetensorsFileTest::aShardThatIsALinkOutIsRefused_data() {
    QTest::addColumn<bool>("isInCache");
    QTest::addColumn<QString>("target"); // from the folder of the index
    QTest::newRow("a folder beside the model's") << false << "../elsewhere/real.safetensors";
    QTest::newRow("another snapshot's neighbour, outside of a cache") << false << "../blobs/f00d";
    QTest::newRow("another repository of the cache")
        << true << "../../../models--other--model/blobs/f00d";
    QTest::newRow("a repository whose name begins alike")
        << true << "../../../models--some--model-2/blobs/f00d";
}

void SafetensorsFileTest::aShardThatIsALinkOutIsRefused() {
    QFETCH(bool, isInCache);
    QFETCH(QString, target);
    const TemporaryFolder cache;
    const CachedRepository repository(cache);
    const auto folder = isInCache ? repository.snapshot : repository.root / "model";
    std::filesystem::create_directories(folder);
    TinySafetensors file;
    file.addFloats("a", {2});
    const auto real = folder / target.toStdString();
    std::filesystem::create_directories(real.lexically_normal().parent_path());
    repository.write(real.lexically_normal(), file.toBytes());
    std::filesystem::create_symlink(target.toStdString(), folder / "link.safetensors");
    repository.write(folder / "link.index.json", R"({"weight_map":{"a":"link.safetensors"}})");
    const auto opened = openSafetensorsIndex(folder / "link.index.json");
    QVERIFY(!opened);
    QCOMPARE(opened.error().code, ErrorCode::InvalidInput);
    const std::string& message = opened.error().message;
    QVERIFY2(message.find("link.safetensors is a link that leads out of the model's folder, to ") !=
                 std::string::npos,
             message.c_str());
    // The hint helps.
    std::filesystem::remove(folder / "link.safetensors");
    std::filesystem::copy_file(real, folder / "link.safetensors");
    QVERIFY(openSafetensorsIndex(folder / "link.index.json"));
}

void SafetensorsFileTest::aShardWhoseLinkLeadsNowhereIsMissing() {
    const TemporaryFolder cache;
    const CachedRepository repository(cache);
    for (const char* target : {"../../blobs/gone", "link.safetensors"}) {
        std::filesystem::remove(repository.snapshot / "link.safetensors");
        std::filesystem::create_symlink(target, repository.snapshot / "link.safetensors");
        repository.write(repository.snapshot / "i.json",
                         R"({"weight_map":{"a":"link.safetensors"}})");
        const auto opened = openSafetensorsIndex(repository.snapshot / "i.json");
        QCOMPARE(opened.error().code, ErrorCode::NotFound);
        QVERIFY(opened.error().message.find("is a link to a file that is not there") !=
                std::string::npos);
        QVERIFY(opened.error().hint.find("Fetch the model again") != std::string::npos);
    }
}

void SafetensorsFileTest::manyTinyTensorsStayWithinMemory() {
    std::string header;
    for (int i = 0; i < 150'000; ++i)
        header += (i == 0 ? "{\"" : ",\"") + std::to_string(i) +
                  R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    const std::string bytes = safetensorsFile(header + "}", "");
    const auto path = m_folder.write("many.safetensors", bytes);
    const PeakAllocation peak;
    const auto opened = openSafetensors(path);
    QVERIFY(opened);
    QCOMPARE(opened.value()->tensors().size(), std::size_t(150'000));
    QVERIFY2(peak.bytes() <= bytes.size() + (std::size_t(64) << 20U),
             qPrintable(QString::number(peak.bytes())));
}

QTEST_APPLESS_MAIN(SafetensorsFileTest)
#include "safetensors_file_test.moc"
