// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "tests/support/models/tiny_gguf.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <limits>

using namespace engine;
using namespace test_support;

namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

std::string made(const std::function<void(TinyGguf&)>& fill) {
    TinyGguf file;
    fill(file);
    return file.toBytes();
}

/// A file with one tensor entry over 64 bytes of data.
std::string
withTensor(const std::vector<std::uint64_t>& dimensions, std::uint32_t type, std::uint64_t offset) {
    TinyGguf file;
    file.addTensorInfo("t", dimensions, type, offset);
    return file.toBytes() + std::string(64, '\0');
}

} // namespace

/// The rules of the format (the GGUF specification) and the public faults of other readers, one
/// file each.
class GgufFileTest : public QObject {
    Q_OBJECT

private slots:
    void badFilesAreRefused_data();
    void badFilesAreRefused();
    void allValueTypesAreRead();
    void version2IsRead();
    void questionsOfTheWrongTypeGetNoAnswer();
    void emptyAndScalarTensorsAreLegal();
    void alignmentMovesTheData();
    void aTextFileGivesOneClearSentence();
    void aFileCutShortWhileOpenIsAnError();
    void manyKeysAreReadInGoodTime();
    void arraysStayWithinMemory();
    void halfPrecisionIsExact();
};

void GgufFileTest::badFilesAreRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const std::string& bytes, const char* problem) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString(problem);
    };
    const auto value = [](GgufType type, const std::string& bytes) {
        return made([&](TinyGguf& file) { file.addValue("k", type, bytes); });
    };
    row("empty", "", "it is empty");
    row("magicOnly", "GGUF", "the version needs 4 bytes");
    row("bigEndian", "GGUF" + std::string("\0\0\0\3", 4) + std::string(16, '\0'), "big-endian");
    row("version1", made([](TinyGguf& file) { file.version = 1; }), "version 1");
    row("version4", made([](TinyGguf& file) { file.version = 4; }), "version 4");
    // A key whose length + 1 wraps to 0, and one that is longer than the file.
    row("cve202423496StringLengthWraps",
        value(GgufType::String, bytesOf(kHuge)),
        "is said to have 18446744073709551615 bytes");
    row("stringLongerThanFile",
        value(GgufType::String, bytesOf(std::uint64_t(1) << 20U)),
        "do not fit");
    row("keyLongerThanCap",
        made([](TinyGguf& file) { file.addU32(std::string(65'537, 'k'), 1); }),
        "at most 65536");
    row("cve202421825ArrayCountTimesSizeWraps",
        value(GgufType::Array, ggufArray(GgufType::String, (kHuge / 8) + 2, "")),
        "do not fit");
    row("arrayOfNumbersWraps",
        value(GgufType::Array, ggufArray(GgufType::F64, std::uint64_t(1) << 61U, "")),
        "do not fit");
    row("arrayLongerThanFile",
        value(GgufType::Array, ggufArray(GgufType::U8, 1000, "abc")),
        "do not fit");
    row("cve202421836TensorCountWraps",
        made([](TinyGguf& file) { file.tensorCount = (std::uint64_t(1) << 61U) + 1; }),
        "at most 200000");
    row("cve202423605KeyCountWraps",
        made([](TinyGguf& file) { file.keyCount = (std::uint64_t(1) << 60U) + 1; }),
        "at most 65536");
    row("tensorCountAboveFile",
        made([](TinyGguf& file) { file.tensorCount = 150'000; }),
        "do not fit");
    row("keyCountAboveFile", made([](TinyGguf& file) { file.keyCount = 60'000; }), "do not fit");
    row("cve202421802TooManyDimensions",
        withTensor({1, 1, 1, 1, 1}, 0, 0),
        "5 dimensions; at most 4");
    row("dimensionCountHuge",
        "GGUF" + bytesOf(3U) + bytesOf(std::uint64_t(1)) + bytesOf(std::uint64_t(0)) +
            ggufString("t") + bytesOf(0xFFFFFFFFU) + std::string(64, '\0'),
        "at most 4");
    // The error path frees what was never filled: three good keys, then a broken one.
    row("cve202432878ErrorPathIsClean",
        made([](TinyGguf& file) {
            file.addStrings("a", {"x", "y"});
            file.addString("b", "a text longer than any short string");
            file.addValue("c", static_cast<GgufType>(77), "");
        }),
        "unknown type 77");
    row("cve202441130TensorWithoutData", withTensor({8, 8}, 0, 0), "the file ends");
    row("cve202553630DataSizeWraps",
        withTensor({std::uint64_t(1) << 62U}, 0, kHuge - 31),
        "overflows");
    row("cve202627940OffsetPlusSizeWraps", withTensor({8}, 0, kHuge - 31), "the file ends");
    row("cve202633298TensorBytesWrap",
        withTensor({std::uint64_t(1) << 32U, std::uint64_t(1) << 32U}, 0, 0),
        "overflows");
    row("bytesWrapBehindAZero",
        withTensor({0, std::uint64_t(1) << 32U, std::uint64_t(1) << 32U}, 0, 0),
        "overflows");
    row("cve20267482OffsetBeyondFile", withTensor({8}, 0, 1 << 20U), "the file ends");
    row("cve20267482SizeBeyondFile", withTensor({1 << 20U}, 0, 0), "the file ends");
    row("issue24759PaddingWraps", withTensor({8}, 0, kHuge - 30), "not aligned");
    const auto alignment = [](std::uint32_t bytes) {
        return made([&](TinyGguf& file) { file.addU32("general.alignment", bytes); });
    };
    row("alignmentZero", alignment(0), "power of two");
    row("alignmentThree", alignment(3), "power of two");
    row("issue24997AlignmentWithoutBound", alignment(1U << 17U), "power of two");
    row("issue24997AlignmentOfAnotherType",
        made([](TinyGguf& file) { file.addString("general.alignment", "32"); }),
        "power of two");
    row("offsetNotAligned", withTensor({8}, 0, 4), "not aligned");
    row("rowsNotWholeBlocks", withTensor({33, 1}, 8, 0), "whole blocks of 32");
    row("kQuantOfNarrowRows", withTensor({64, 4}, 12, 0), "whole blocks of 256");
    row("duplicateKey",
        made([](TinyGguf& file) {
            file.addU32("same", 1);
            file.addU32("same", 2);
        }),
        "\"same\" appears twice");
    row("duplicateTensor",
        made([](TinyGguf& file) {
            file.addFloats("same", {2});
            file.addFloats("same", {2});
        }),
        "same appears twice");
    row("overlappingTensors",
        made([](TinyGguf& file) {
            file.addFloats("a", {16});
            file.addTensorInfo("b", {8}, 0, 32);
        }),
        "tensor b overlaps tensor a");
    row("nestedArray",
        value(GgufType::Array, ggufArray(GgufType::Array, 1, "")),
        "array of arrays");
    row("arrayOfUnknownItems",
        value(GgufType::Array, ggufArray(static_cast<GgufType>(13), 1, "")),
        "unknown type 13");
    row("boolIsTwo", value(GgufType::Bool, "\2"), "truth value");
    row("keyIsNotUtf8", made([](TinyGguf& file) { file.addU32("\xff", 1); }), "not UTF-8");
    row("integerBeyond63Bits",
        value(GgufType::Array, ggufArray(GgufType::U64, 1, bytesOf(kHuge))),
        "too large");
    row("unsupportedTypeByName", withTensor({256}, 16, 0), "tensor t has the type IQ2_XXS");
    row("unknownTypeByNumber", withTensor({256}, 99, 0), "type number 99");
    row("splitFile",
        made([](TinyGguf& file) {
            file.addValue("split.count", GgufType::U16, bytesOf(std::uint16_t(3)));
        }),
        "one of 3 parts");
}

void GgufFileTest::badFilesAreRefused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, problem);
    const TemporaryFolder folder;
    const auto path = folder.write("bad.gguf", bytes.toStdString());
    const PeakAllocation peak;
    const auto opened = GgufFile::open(path);
    QVERIFY(!opened);
    const ErrorCode code = opened.error().code;
    QVERIFY(code == ErrorCode::CorruptFile || code == ErrorCode::Unsupported);
    const QString message = QString::fromStdString(opened.error().message);
    QVERIFY2(message.contains(problem), qPrintable(message));
    QVERIFY2(message.contains("bad.gguf"), qPrintable(message));
    QVERIFY2(message.contains("(byte ") || problem.contains("parts"), qPrintable(message));
    QVERIFY(!opened.error().hint.empty());
    QVERIFY(peak.bytes() < 1'000'000);
}

void GgufFileTest::allValueTypesAreRead() {
    TinyGguf file;
    file.addValue("u8", GgufType::U8, bytesOf(std::uint8_t(200)));
    file.addValue("i8", GgufType::I8, bytesOf(std::int8_t(-3)));
    file.addValue("u16", GgufType::U16, bytesOf(std::uint16_t(60'000)));
    file.addValue("i16", GgufType::I16, bytesOf(std::int16_t(300)));
    file.addU32("u32", 4'000'000'000U);
    file.addValue("i32", GgufType::I32, bytesOf(std::int32_t(-70'000)));
    file.addF32("f32", 0.5F);
    file.addValue("bool", GgufType::Bool, "\1");
    file.addString("string", "text");
    file.addValue("u64", GgufType::U64, bytesOf(kHuge));
    file.addValue("i64", GgufType::I64, bytesOf(std::int64_t(-5)));
    file.addValue("f64", GgufType::F64, bytesOf(0.1));
    file.addStrings("strings", {"a", "", "a long string that needs an allocation"});
    file.addArray<std::int16_t>("i16s", GgufType::I16, {-1, 2});
    file.addArray<std::uint32_t>("u32s", GgufType::U32, {4'000'000'000U});
    file.addArray<float>("floats", GgufType::F32, {1.5F, -2});
    file.addArray<double>("doubles", GgufType::F64, {0.25});
    file.addValue("bools", GgufType::Array, ggufArray(GgufType::Bool, 2, std::string("\0\1", 2)));
    file.addStrings("none", {});
    const TemporaryFolder folder;
    const auto opened = GgufFile::open(folder.write("all.gguf", file.toBytes()));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const GgufFile& gguf = *opened.value();
    QCOMPARE(gguf.unsignedValue("u8"), std::optional<std::uint64_t>(200));
    QCOMPARE(gguf.unsignedValue("i16"), std::optional<std::uint64_t>(300));
    QCOMPARE(gguf.unsignedValue("u64"), std::optional<std::uint64_t>(kHuge));
    QCOMPARE(gguf.numberValue("i8"), std::optional(-3.0));
    QCOMPARE(gguf.numberValue("f32"), std::optional(0.5));
    QCOMPARE(gguf.numberValue("f64"), std::optional(0.1));
    QCOMPARE(gguf.numberValue("u32"), std::optional(4e9));
    QCOMPARE(gguf.boolValue("bool"), std::optional(true));
    QVERIFY(gguf.stringValue("string") == "text");
    QCOMPARE(gguf.stringArray("strings")->at(2),
             std::string("a long string that needs an allocation"));
    QVERIFY(gguf.stringArray("none")->empty());
    QCOMPARE(*gguf.integerArray("i16s"), std::vector<std::int64_t>({-1, 2}));
    QCOMPARE(*gguf.integerArray("u32s"), std::vector<std::int64_t>({4'000'000'000}));
    QCOMPARE(*gguf.floatArray("floats"), std::vector<float>({1.5F, -2}));
    QCOMPARE(*gguf.floatArray("doubles"), std::vector<float>({0.25F}));
    const auto described = gguf.describeMetadata();
    QCOMPARE(described.size(), std::size_t(19));
    QCOMPARE(described[0].first, std::string("u8"));
    QCOMPARE(described[12].second, std::string("[3 strings]"));
    QCOMPARE(described[17].second, std::string("[2 truth values]"));
}

void GgufFileTest::version2IsRead() {
    TinyGguf file;
    file.version = 2;
    file.addFloats("t", {3, 2});
    const TemporaryFolder folder;
    const auto opened = GgufFile::open(folder.write("two.gguf", file.toBytes()));
    QVERIFY(opened);
    QCOMPARE(opened.value()->version(), 2U);
    const std::vector<std::uint64_t> shape = {2, 3};
    QCOMPARE(opened.value()->find("t")->shape, shape);
    QCOMPARE(readTensor(*opened.value(), "t", shape).value()[5], 0.875F);
}

void GgufFileTest::questionsOfTheWrongTypeGetNoAnswer() {
    TinyGguf file;
    file.addF32("number", 1);
    file.addValue("negative", GgufType::I32, bytesOf(std::int32_t(-1)));
    file.addArray<std::uint8_t>("tokenizer.ggml.scores", GgufType::U8, {1, 2, 3});
    const TemporaryFolder folder;
    const auto opened = GgufFile::open(folder.write("types.gguf", file.toBytes()));
    QVERIFY(opened);
    const GgufFile& gguf = *opened.value();
    QVERIFY(!gguf.unsignedValue("number") && !gguf.unsignedValue("negative"));
    QVERIFY(!gguf.stringValue("number") && !gguf.boolValue("number"));
    QVERIFY(!gguf.unsignedValue("absent") && !gguf.stringArray("number"));
    // Bytes are never looked at as floats.
    QVERIFY(!gguf.floatArray("tokenizer.ggml.scores"));
    QVERIFY(gguf.integerArray("tokenizer.ggml.scores"));
}

void GgufFileTest::emptyAndScalarTensorsAreLegal() {
    TinyGguf file;
    file.addTensorInfo("issue24263ZeroDimension", {32, 0}, 8, 0);
    file.addFloats("scalar", {});
    const TemporaryFolder folder;
    const auto opened = GgufFile::open(folder.write("zero.gguf", file.toBytes()));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const TensorInfo* empty = opened.value()->find("issue24263ZeroDimension");
    QCOMPARE(empty->byteSize, std::uint64_t(0));
    QVERIFY(opened.value()->readRawRows(*empty, 0, 0, {}));
    QVERIFY(opened.value()->readRows(*empty, 0, 0, {}));
    QCOMPARE(readTensor(*opened.value(), "scalar", {}).value(), std::vector<float>({0.25F}));
}

void GgufFileTest::alignmentMovesTheData() {
    for (const std::uint32_t alignment : {1U, 8U, 4096U, 65'536U}) {
        TinyGguf file;
        file.alignment = alignment;
        file.addU32("general.alignment", alignment);
        file.addFloats("a", {3});
        file.addFloats("b", {2});
        const TemporaryFolder folder;
        const auto opened = GgufFile::open(folder.write("aligned.gguf", file.toBytes()));
        QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
        const std::vector<std::uint64_t> two = {2};
        QCOMPARE(readTensor(*opened.value(), "b", two).value(),
                 std::vector<float>({0.25F, 0.375F}));
    }
}

void GgufFileTest::aTextFileGivesOneClearSentence() {
    const TemporaryFolder folder;
    const auto opened = GgufFile::open(folder.write("text.gguf", "Dear reader,\nthis is text.\n"));
    QVERIFY(!opened);
    QVERIFY(opened.error().message.ends_with(
        "is no GGUF file: it does not begin with \"GGUF\" (byte 0); it looks like text."));
}

void GgufFileTest::aFileCutShortWhileOpenIsAnError() {
    TinyGguf file;
    file.addFloats("t", {256, 16});
    const TemporaryFolder folder;
    const auto path = folder.write("cut.gguf", file.toBytes());
    const auto opened = GgufFile::open(path);
    QVERIFY(opened);
    std::filesystem::resize_file(path, 500);
    const std::vector<std::uint64_t> shape = {16, 256};
    const auto read = readTensor(*opened.value(), "t", shape);
    QVERIFY(!read);
    QVERIFY(read.error().message.find("was cut short while reading t (byte 500)") !=
            std::string::npos);
}

void GgufFileTest::manyKeysAreReadInGoodTime() {
    TinyGguf file;
    for (int i = 0; i < 65'536; ++i)
        file.addU32("key " + std::to_string(i), 1);
    const std::string bytes = file.toBytes();
    const TemporaryFolder folder;
    const auto path = folder.write("keys.gguf", bytes);
    const support::ProcessorClock clock;
    const PeakAllocation peak;
    QVERIFY(GgufFile::open(path));
    QVERIFY(clock.ms() < support::kEndsSoonMs);
    QVERIFY(peak.bytes() <= bytes.size() + (std::size_t(64) << 20U));
}

void GgufFileTest::arraysStayWithinMemory() {
    // Empty strings take 8 bytes in the file and 32 in memory: a file of them is refused.
    TinyGguf file;
    const std::uint64_t count = 2'000'000;
    file.addValue(
        "k", GgufType::Array, ggufArray(GgufType::String, count, std::string(count * 8, '\0')));
    const std::string bytes = file.toBytes();
    const TemporaryFolder folder;
    const auto path = folder.write("arrays.gguf", bytes);
    const PeakAllocation peak;
    const auto opened = GgufFile::open(path);
    QVERIFY(peak.bytes() <= bytes.size() + (std::size_t(64) << 20U));
    QVERIFY(!opened);
    QVERIFY(opened.error().message.find("more memory") != std::string::npos);
}

void GgufFileTest::halfPrecisionIsExact() {
    QCOMPARE(floatFromHalf(0x3C00), 1.0F);
    QCOMPARE(floatFromHalf(0xC248), -3.140625F);
    QCOMPARE(floatFromHalf(0x7BFF), 65504.0F);
    QCOMPARE(floatFromHalf(0x0001), 0x1.0p-24F);
    QCOMPARE(floatFromHalf(0x83FF), -1023.0F * 0x1.0p-24F);
    QCOMPARE(floatFromHalf(0x0400), 0x1.0p-14F);
    QVERIFY(std::signbit(floatFromHalf(0x8000)) && floatFromHalf(0x8000) == 0.0F);
    QVERIFY(std::isinf(floatFromHalf(0x7C00)) && std::isinf(floatFromHalf(0xFC00)));
    QVERIFY(std::isnan(floatFromHalf(0x7E00)));
    QCOMPARE(floatFromBfloat16(0xC049), -3.140625F);
}

QTEST_APPLESS_MAIN(GgufFileTest)
#include "gguf_file_test.moc"
