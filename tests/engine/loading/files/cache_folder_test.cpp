// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/cache/cache_folder.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <chrono>
#include <fstream>

using namespace engine;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLarge = (std::size_t{9} << 20U) + 5; // three chunks, the last one cut
constexpr std::uint64_t kNoLimit = 1'000'000'000;

std::vector<std::byte> someBytes(std::size_t count, unsigned seed = 1) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::byte>((i + seed) * 2654435761U >> 13U);
    return bytes;
}

/// What is kept under a key, or why it cannot be had.
Result<std::vector<std::byte>>
read(const CacheFolder& folder, std::string_view key, std::size_t byteSize) {
    ENGINE_TRY(const CachedFile file, folder.open(key, byteSize));
    std::vector<std::byte> bytes(byteSize);
    for (std::size_t chunk = 0; chunk < file.chunkCount(); ++chunk)
        ENGINE_TRY_DO(file.readChunk(chunk, bytes));
    return bytes;
}

void flipByte(const fs::path& path, std::uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
}

void setAge(const fs::path& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

std::size_t filesIn(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

} // namespace

class CacheFolderTest : public QObject {
    Q_OBJECT

private slots:

    void keptBytesAreReadBack_data() {
        QTest::addColumn<qulonglong>("byteSize");
        for (const qulonglong size :
             {0ULL, 1ULL, 4ULL << 20U, (4ULL << 20U) + 1, qulonglong{kLarge}})
            QTest::addRow("%llu bytes", size) << size;
    }

    void keptBytesAreReadBack() {
        QFETCH(const qulonglong, byteSize);
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.path() / "made", kNoLimit);
        const auto bytes = someBytes(byteSize);
        QVERIFY(folder.keep("a key", bytes, {}).hasValue());
        const auto back = read(folder, "a key", byteSize);
        QVERIFY(back.hasValue());
        QVERIFY(back.value() == bytes);
        QCOMPARE(filesIn(parent.path() / "made"), std::size_t{1});
    }

    void anotherKeyOrSizeFindsNothing() {
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.path(), kNoLimit);
        QVERIFY(folder.keep("mine", someBytes(1000), {}).hasValue());
        QCOMPARE(read(folder, "yours", 1000).error().code, ErrorCode::NotFound);
        QCOMPARE(read(folder, "mine", 999).error().code, ErrorCode::CorruptFile);
        // Whoever gives it the other one's name is not believed.
        fs::rename(folder.fileOf("mine"), folder.fileOf("yours"));
        QCOMPARE(read(folder, "yours", 1000).error().code, ErrorCode::CorruptFile);
    }

    void noDamagedByteIsEverHandedOut() {
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.path(), kNoLimit);
        const auto bytes = someBytes(kLarge);
        const fs::path path = folder.fileOf("key");
        const std::uint64_t end = cachedFileBytes("key", kLarge);
        const std::uint64_t start = end - kLarge;
        // Magic, size, length of the key, key, checksums, the head's own, filling, each chunk.
        for (const std::uint64_t offset : {std::uint64_t{0},
                                           std::uint64_t{8},
                                           std::uint64_t{16},
                                           std::uint64_t{24},
                                           std::uint64_t{27},
                                           std::uint64_t{50},
                                           std::uint64_t{51},
                                           start - 1,
                                           start,
                                           start + (5U << 20U),
                                           end - 1}) {
            QVERIFY(folder.keep("key", bytes, {}).hasValue());
            QCOMPARE(fs::file_size(path), end);
            flipByte(path, offset);
            const auto back = read(folder, "key", kLarge);
            QVERIFY2(!back, qPrintable(QString::number(offset)));
            QCOMPARE(back.error().code, ErrorCode::CorruptFile);
        }
        for (const std::uint64_t size :
             {std::uint64_t{0}, std::uint64_t{7}, start, end - 1, end + 1}) {
            QVERIFY(folder.keep("key", bytes, {}).hasValue());
            fs::resize_file(path, size);
            QCOMPARE(read(folder, "key", kLarge).error().code, ErrorCode::CorruptFile);
        }
    }

    void aFileThatIsCutWhileItIsOpenGivesAnError() {
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.path(), kNoLimit);
        QVERIFY(folder.keep("key", someBytes(kLarge), {}).hasValue());
        const auto file = folder.open("key", kLarge);
        QVERIFY(file.hasValue());
        fs::resize_file(folder.fileOf("key"), 5U << 20U);
        std::vector<std::byte> memory(kLarge);
        QVERIFY(file.value().readChunk(0, memory).hasValue());
        QCOMPARE(file.value().readChunk(2, memory).error().code, ErrorCode::CorruptFile);
    }

    void thoseUsedLongestAgoGoFirst() {
        const test_support::TemporaryFolder parent;
        const std::uint64_t each = cachedFileBytes("a", 10'000);
        const CacheFolder folder(parent.path(), 3 * each);
        for (const char* key : {"a", "b", "c"})
            QVERIFY(folder.keep(key, someBytes(10'000), {}).hasValue());
        setAge(folder.fileOf("a"), 30);
        setAge(folder.fileOf("b"), 20);
        setAge(folder.fileOf("c"), 10);
        QVERIFY(folder.open("a", 10'000).hasValue()); // now b is the oldest
        QVERIFY(folder.keep("d", someBytes(10'000), {}).hasValue());
        QVERIFY(read(folder, "a", 10'000).hasValue());
        QVERIFY(!fs::exists(folder.fileOf("b")));
        QVERIFY(read(folder, "c", 10'000).hasValue());
        QVERIFY(read(folder, "d", 10'000).hasValue());
        // One that takes all of the room.
        QVERIFY(folder.keep("e", someBytes(25'000), {}).hasValue());
        QCOMPARE(filesIn(parent.path()), std::size_t{1});
        QVERIFY(read(folder, "e", 25'000).hasValue());
    }

    void whatIsAboveTheLimitIsNotKept() {
        const test_support::TemporaryFolder parent;
        const std::uint64_t limit = cachedFileBytes("key", 10'000);
        const CacheFolder folder(parent.path(), limit);
        QVERIFY(folder.keep("key", someBytes(10'000), {}).hasValue());
        const auto refused = folder.keep("two", someBytes(20'000), {});
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Unsupported);
        QVERIFY(read(folder, "key", 10'000).hasValue());
    }

    void filesOfOthersStay() {
        const test_support::TemporaryFolder parent;
        const std::string digits(32, 'a');
        for (const std::string& name : {std::string("notes.txt"),
                                        digits,
                                        digits + ".txt",
                                        fmt::format("A{}.packed", digits.substr(1))})
            setAge(parent.write(name, std::string(50'000, 'x')), 100);
        const CacheFolder folder(parent.path(), cachedFileBytes("key", 10'000));
        QVERIFY(folder.keep("key", someBytes(10'000), {}).hasValue());
        QCOMPARE(filesIn(parent.path()), std::size_t{5});
    }

    void whatADeadProgramLeftUnfinishedIsRemoved() {
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.path(), kNoLimit);
        const std::string name = folder.fileOf("old").filename().string() + ".part-";
        setAge(parent.write(name + "abcdef", "x"), 2);
        parent.write(name + "ghijkl", "x"); // somebody may still be writing this one
        QVERIFY(folder.keep("key", someBytes(10), {}).hasValue());
        QVERIFY(!fs::exists(parent.path() / (name + "abcdef")));
        QVERIFY(fs::exists(parent.path() / (name + "ghijkl")));
    }

    void whoStopsWritingLeavesNothing() {
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.path(), kNoLimit);
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(folder.keep("key", someBytes(10), stop.get_token()).error().code,
                 ErrorCode::Cancelled);
        QCOMPARE(filesIn(parent.path()), std::size_t{0});
    }

    void aFolderThatCannotBeIsAnError() {
        const test_support::TemporaryFolder parent;
        const CacheFolder folder(parent.write("file", "x"), kNoLimit);
        const auto kept = folder.keep("key", someBytes(10), {});
        QVERIFY(!kept);
        QCOMPARE(kept.error().code, ErrorCode::Io);
        QVERIFY(!folder.open("key", 10));
    }
};

QTEST_GUILESS_MAIN(CacheFolderTest)
#include "cache_folder_test.moc"
