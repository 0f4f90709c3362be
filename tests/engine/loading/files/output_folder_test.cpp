// SPDX-License-Identifier: Apache-2.0
// Which folders results may replace, and that they do it as a whole.
#include "engine/loading/files/output_place.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

namespace fs = std::filesystem;

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

QTEST_GUILESS_MAIN(OutputFolderTest)
#include "output_folder_test.moc"
