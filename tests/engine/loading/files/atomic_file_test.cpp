// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/json/json_text.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

using namespace engine;

namespace {

std::string contentOf(const std::filesystem::path& path) {
    const auto text = readTextFile(path, 10'000'000);
    return text ? text.value() : "unreadable: " + text.error().message;
}

std::size_t filesIn(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// Lets files grow to `bytes` only, as a full disk would, while it lives.
class SmallFilesOnly {
public:
    explicit SmallFilesOnly(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit = {bytes, m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }

    SmallFilesOnly(const SmallFilesOnly&) = delete;
    SmallFilesOnly& operator=(const SmallFilesOnly&) = delete;

    ~SmallFilesOnly() { ::setrlimit(RLIMIT_FSIZE, &m_before); }

private:
    rlimit m_before{};
};

} // namespace

class AtomicFileTest : public QObject {
    Q_OBJECT

private slots:
    void aNewFileHoldsTheBytes();
    void anOldFileIsReplacedAsAWhole();
    void aFailedWriteKeepsTheOldFileAndLeavesNothing();
    void whatIsNoRegularFileIsNotReplaced();
    void aMissingFolderIsAnError();
    void aLinkKeepsItsPlace();
    void writersAtOnceLeaveOneWholeFile();
    void jsonStringsAreEscaped();
};

void AtomicFileTest::aNewFileHoldsTheBytes() {
    const test_support::TemporaryFolder folder;
    const std::string bytes("a\0b\n", 4);
    QVERIFY(writeFileAtomically(folder.path() / "new", bytes));
    QCOMPARE(contentOf(folder.path() / "new"), bytes);
    QCOMPARE(filesIn(folder.path()), std::size_t(1));
}

void AtomicFileTest::anOldFileIsReplacedAsAWhole() {
    const test_support::TemporaryFolder folder;
    const auto path = folder.write("file", std::string(100'000, 'x'));
    QVERIFY(writeFileAtomically(path, "short"));
    QCOMPARE(contentOf(path), std::string("short"));
    QCOMPARE(filesIn(folder.path()), std::size_t(1));
}

void AtomicFileTest::aFailedWriteKeepsTheOldFileAndLeavesNothing() {
    const test_support::TemporaryFolder folder;
    const auto path = folder.write("file", "old");
    const SmallFilesOnly fullDisk(1000);
    const auto result = writeFileAtomically(path, std::string(100'000, 'x'));
    QVERIFY(!result);
    QVERIFY(result.error().code == ErrorCode::Io);
    QVERIFY(result.error().message.find(path.string()) != std::string::npos);
    QCOMPARE(contentOf(path), std::string("old"));
    QCOMPARE(filesIn(folder.path()), std::size_t(1));
}

void AtomicFileTest::whatIsNoRegularFileIsNotReplaced() {
    const test_support::TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "folder");
    QCOMPARE(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    std::filesystem::create_symlink("pipe", folder.path() / "link to a pipe");
    for (const char* name : {"folder", "pipe", "link to a pipe"}) {
        const auto result = writeFileAtomically(folder.path() / name, "bytes");
        QVERIFY(!result);
        QVERIFY(result.error().code == ErrorCode::InvalidInput);
    }
    QVERIFY(std::filesystem::is_fifo(folder.path() / "pipe"));
    QCOMPARE(filesIn(folder.path()), std::size_t(3));
}

void AtomicFileTest::aMissingFolderIsAnError() {
    const test_support::TemporaryFolder folder;
    const auto result = writeFileAtomically(folder.path() / "none" / "file", "bytes");
    QVERIFY(!result);
    QVERIFY(result.error().code == ErrorCode::Io);
}

void AtomicFileTest::aLinkKeepsItsPlace() {
    const test_support::TemporaryFolder folder;
    const auto file = folder.write("file", "old");
    std::filesystem::create_symlink("file", folder.path() / "link");
    QVERIFY(writeFileAtomically(folder.path() / "link", "new"));
    QVERIFY(std::filesystem::is_symlink(folder.path() / "link"));
    QCOMPARE(contentOf(file), std::string("new"));
}

void AtomicFileTest::writersAtOnceLeaveOneWholeFile() {
    constexpr int kRounds = 20;
    const test_support::TemporaryFolder folder;
    const auto path = folder.path() / "file";
    int failures[2] = {0, 0};
    const auto writeMany = [&](std::size_t who, const std::string& bytes) {
        for (int round = 0; round < kRounds; ++round)
            failures[who] += writeFileAtomically(path, bytes) ? 0 : 1;
    };
    const std::string first(50'000, 'a');
    const std::string second(70'000, 'b');
    {
        const std::jthread one(writeMany, 0, first);
        const std::jthread two(writeMany, 1, second);
    }
    QCOMPARE(failures[0] + failures[1], 0);
    const std::string content = contentOf(path);
    QVERIFY(content == first || content == second);
    QCOMPARE(filesIn(folder.path()), std::size_t(1));
}

void AtomicFileTest::jsonStringsAreEscaped() {
    QCOMPARE(jsonString("a\"b\\c\n\x01 caf\xC3\xA9"),
             std::string("\"a\\\"b\\\\c\\n\\u0001 caf\xC3\xA9\""));
    QCOMPARE(jsonString("\xFF"), std::string("\"\xEF\xBF\xBD\""));
}

QTEST_APPLESS_MAIN(AtomicFileTest)
#include "atomic_file_test.moc"
