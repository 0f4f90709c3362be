// SPDX-License-Identifier: Apache-2.0
// Which folders results may replace, and that they do it as a whole.
#include "engine/loading/files/output_place.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

using namespace engine;

namespace fs = std::filesystem;

namespace {

/// What the disk of a test cannot do.
struct Disk {
    bool canExchange = true;
    int failingRename = 0;    ///< which call fails, from 1; 0: none
    bool staysBroken = false; ///< and all calls behind that one
    int renames = 0;
    int syncFailure = 0; ///< errno of fsync; 0: it succeeds
};

Disk disk;

/// For one test function.
class DiskWith {
public:
    explicit DiskWith(const Disk& what) { disk = what; }

    ~DiskWith() { disk = {}; }
    Q_DISABLE_COPY_MOVE(DiskWith)
};

int failed(int code) {
    errno = code;
    return -1;
}

} // namespace

// In place of the system's calls, also for the engine.

extern "C" __attribute__((visibility("default"))) int
renameat2(int from, const char* old, int to, const char* name, unsigned flags) noexcept {
    if (!disk.canExchange)
        return failed(EINVAL);
    return static_cast<int>(::syscall(SYS_renameat2, from, old, to, name, flags));
}

extern "C" __attribute__((visibility("default"))) int rename(const char* old,
                                                             const char* name) noexcept {
    ++disk.renames;
    if (disk.renames == disk.failingRename ||
        (disk.staysBroken && disk.renames > disk.failingRename))
        return failed(EIO);
    return ::renameat(AT_FDCWD, old, AT_FDCWD, name);
}

extern "C" __attribute__((visibility("default"))) int fsync(int file) {
    return disk.syncFailure != 0 ? failed(disk.syncFailure) : ::fdatasync(file);
}

class OutputFolderTest : public QObject {
    Q_OBJECT

private slots:
    void aFolderThatIsNotThereIsMade();
    void anEarlierOutputIsReplacedAsAWhole();
    void foreignFilesAreReplacedOnlyWhenToldSo();
    void whatTheRunReadsIsNeverReplaced();
    void foldersWithMoreThanFilesAreNeverReplaced();
    void aFileOrALinkIsNoFolder();
    void aMissingParentIsNamed();
    void aPathWithoutANameIsRefused_data();
    void aPathWithoutANameIsRefused();
    void aDiskThatCannotExchangeReplacesAllTheSame();
    void aReplacementThatFailsLeavesTheOldOneInItsPlace_data();
    void aReplacementThatFailsLeavesTheOldOneInItsPlace();
    void whereTheOldOneLiesIsToldIfItCannotGetBack();
    void aFolderThatIsInItsPlaceIsNoFailure_data();
    void aFolderThatIsInItsPlaceIsNoFailure();

private:
    fs::path makeFolder(const std::string& name, const std::string& text) const {
        fs::create_directories(m_folder.path() / name);
        m_folder.write(name + "/file", text);
        return m_folder.path() / name;
    }

    std::string textIn(const fs::path& folder) const {
        std::ifstream stream(folder / "file");
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    OutputPlace place(const std::string& name) const { return {.path = m_folder.path() / name}; }

    void expectRefused(const OutputPlace& place, const std::string& named) const {
        const fs::path finished = makeFolder("finished", "new");
        for (const auto& refused : {checkOutputFolder(place), publishFolder(place, finished)}) {
            QVERIFY(!refused.hasValue());
            QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
            QVERIFY2(refused.error().message.find(named) != std::string::npos,
                     refused.error().message.c_str());
            QVERIFY(!refused.error().hint.empty());
        }
        QCOMPARE(textIn(finished), std::string("new"));
    }

    test_support::TemporaryFolder m_folder;
};

void OutputFolderTest::aFolderThatIsNotThereIsMade() {
    const fs::path finished = makeFolder("finished", "new");
    QVERIFY(checkOutputFolder(place("out")).hasValue());
    QVERIFY(!fs::exists(m_folder.path() / "out")); // checking leaves all as it is
    QVERIFY(publishFolder(place("out"), finished).hasValue());
    QCOMPARE(textIn(m_folder.path() / "out"), std::string("new"));
    QVERIFY(!fs::exists(finished));
    fs::create_directories(m_folder.path() / "empty");
    QVERIFY(publishFolder(place("empty"), makeFolder("finished", "newer")).hasValue());
    QCOMPARE(textIn(m_folder.path() / "empty"), std::string("newer"));
}

void OutputFolderTest::anEarlierOutputIsReplacedAsAWhole() {
    OutputPlace own = place("own");
    own.isOwn = [](const fs::path&) { return Result<bool>(true); };
    makeFolder("own", "old");
    m_folder.write("own/more", "of the old one");
    const fs::path finished = makeFolder("finished", "new");
    QVERIFY(publishFolder(own, finished).hasValue());
    QCOMPARE(textIn(own.path), std::string("new"));
    QVERIFY(!fs::exists(own.path / "more"));
    QVERIFY(!fs::exists(finished));
}

void OutputFolderTest::foreignFilesAreReplacedOnlyWhenToldSo() {
    OutputPlace foreign = place("foreign");
    foreign.overwriteOption = "--overwrite";
    makeFolder("foreign", "dear");
    expectRefused(foreign, "holds something else");
    QCOMPARE(textIn(foreign.path), std::string("dear"));
    foreign.mayOverwrite = true;
    QVERIFY(publishFolder(foreign, makeFolder("finished", "new")).hasValue());
    QCOMPARE(textIn(foreign.path), std::string("new"));
}

void OutputFolderTest::whatTheRunReadsIsNeverReplaced() {
    OutputPlace model = place("model");
    model.mayOverwrite = true;
    model.inputs = {makeFolder("model", "weights")};
    expectRefused(model, "reads");
    OutputPlace data = place("data");
    data.mayOverwrite = true;
    data.inputs = {makeFolder("data", "prompts") / "file"};
    expectRefused(data, "reads");
}

void OutputFolderTest::foldersWithMoreThanFilesAreNeverReplaced() {
    OutputPlace home = place("home");
    home.mayOverwrite = true;
    makeFolder("home", "dear");
    makeFolder("home/inner", "dearer");
    expectRefused(home, "more than files");
    QCOMPARE(textIn(home.path / "inner"), std::string("dearer"));
}

void OutputFolderTest::aFileOrALinkIsNoFolder() {
    m_folder.write("plain", "text");
    OutputPlace plain = place("plain");
    plain.mayOverwrite = true;
    expectRefused(plain, "is no folder");
    fs::create_directory_symlink(makeFolder("target", "dear"), m_folder.path() / "link");
    OutputPlace link = place("link");
    link.mayOverwrite = true;
    expectRefused(link, "is no folder");
}

void OutputFolderTest::aMissingParentIsNamed() {
    const auto refused = checkOutputFolder(place("nowhere/out"));
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::NotFound);
    QVERIFY(refused.error().message.find("nowhere") != std::string::npos);
}

void OutputFolderTest::aPathWithoutANameIsRefused_data() {
    QTest::addColumn<std::string>("path");
    const std::string folder = m_folder.path().string() + "/unnamed";
    QTest::newRow("the folder itself") << std::string(".");
    QTest::newRow("the folder above") << std::string("..");
    QTest::newRow("a folder itself") << folder + "/.";
    QTest::newRow("that above a folder") << folder + "/..";
    QTest::newRow("a slash at the end") << folder + "/";
}

void OutputFolderTest::aPathWithoutANameIsRefused() {
    QFETCH(const std::string, path);
    fs::create_directories(m_folder.path() / "unnamed");
    OutputPlace unnamed{.path = path};
    unnamed.mayOverwrite = true;
    expectRefused(unnamed, "is no name");
}

/// Whatever becomes of the old one, once the new one is in its place.
void OutputFolderTest::aDiskThatCannotExchangeReplacesAllTheSame() {
    const DiskWith without({.canExchange = false, .failingRename = 3});
    OutputPlace own = place("renamed");
    own.isOwn = [](const fs::path&) { return Result<bool>(true); };
    makeFolder("renamed", "old");
    const fs::path finished = makeFolder("finished", "new");
    QVERIFY(publishFolder(own, finished).hasValue());
    QCOMPARE(textIn(own.path), std::string("new"));
    QVERIFY(!fs::exists(finished));
    QVERIFY(!fs::exists(finished.string() + ".old"));
}

void OutputFolderTest::aReplacementThatFailsLeavesTheOldOneInItsPlace_data() {
    QTest::addColumn<int>("failing");
    QTest::newRow("the old one does not get away") << 1;
    QTest::newRow("the new one does not get there") << 2;
}

void OutputFolderTest::aReplacementThatFailsLeavesTheOldOneInItsPlace() {
    QFETCH(const int, failing);
    OutputPlace own = place("unchanged");
    own.isOwn = [](const fs::path&) { return Result<bool>(true); };
    makeFolder("unchanged", "old");
    const fs::path finished = makeFolder("finished", "new");
    const DiskWith without({.canExchange = false, .failingRename = failing});
    const auto failed = publishFolder(own, finished);
    QVERIFY(!failed.hasValue());
    QCOMPARE(failed.error().code, ErrorCode::Io);
    QCOMPARE(textIn(own.path), std::string("old"));
    QCOMPARE(textIn(finished), std::string("new"));
    QVERIFY(!fs::exists(finished.string() + ".old"));
}

void OutputFolderTest::whereTheOldOneLiesIsToldIfItCannotGetBack() {
    OutputPlace own = place("broken");
    own.isOwn = [](const fs::path&) { return Result<bool>(true); };
    makeFolder("broken", "old");
    const fs::path finished = makeFolder("finished", "new");
    const DiskWith without({.canExchange = false, .failingRename = 2, .staysBroken = true});
    const auto failed = publishFolder(own, finished);
    QVERIFY(!failed.hasValue());
    const fs::path old = finished.string() + ".old";
    QCOMPARE(textIn(old), std::string("old"));
    QCOMPARE(textIn(finished), std::string("new"));
    QVERIFY2(failed.error().message.find(old.string()) != std::string::npos,
             failed.error().message.c_str());
    fs::remove_all(old);
}

void OutputFolderTest::aFolderThatIsInItsPlaceIsNoFailure_data() {
    QTest::addColumn<int>("code");
    QTest::addColumn<bool>("isReported");
    QTest::newRow("folders cannot be synced there") << EINVAL << false;
    QTest::newRow("the disk fails") << EIO << true;
}

/// The rule of PartFile: who is told of a broken disk is told, too, that all is in its place.
void OutputFolderTest::aFolderThatIsInItsPlaceIsNoFailure() {
    QFETCH(const int, code);
    QFETCH(const bool, isReported);
    const fs::path finished = makeFolder("finished", "new");
    const OutputPlace synced = place(fmt::format("synced-{}", code));
    const DiskWith without({.syncFailure = code});
    const auto published = publishFolder(synced, finished);
    QCOMPARE(published.hasValue(), !isReported);
    QCOMPARE(textIn(synced.path), std::string("new"));
    if (isReported)
        QVERIFY2(published.error().message.find("has been written") != std::string::npos,
                 published.error().message.c_str());
}

QTEST_GUILESS_MAIN(OutputFolderTest)
#include "output_folder_test.moc"
