// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_registry.h"
#include "engine/session/loading/model_inspection.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <filesystem>

using namespace engine;
namespace fs = std::filesystem;

namespace {

bool mentions(const Error& error, std::string_view text) {
    return error.message.find(text) != std::string::npos ||
           error.hint.find(text) != std::string::npos;
}

/// Copies a test module into a folder, under another name if given.
fs::path copyModule(const fs::path& folder, const std::string& name, const std::string& as = "") {
    const fs::path target = folder / ("libbackend_" + (as.empty() ? name : as) + ".so");
    fs::copy_file(fs::path(TEST_MODULE_DIR) / ("libbackend_" + name + ".so"), target);
    return target;
}

} // namespace

class BackendRegistryTest : public QObject {
    Q_OBJECT

private slots:
    void plainIsBuiltIn();
    void aMissingFolderLeavesTheBuiltInOnes();
    void modulesAreListedByTheirFileNames();
    void aModuleRegistersItselfWhenAskedFor();
    void aModuleDescribesItself();
    void whatIsFreeIsToldOfTheComputersMemoryAlone();
    void anUnknownNameListsTheChoices();
    void aNameCannotLeadOutOfTheFolder();
    void aModuleThatIsRefusedSaysWhy_data();
    void aModuleThatIsRefusedSaysWhy();
    void aFileThatIsNoLibraryIsRefused();
    void aModuleThatOthersMayWriteToIsRefused();
    void aLinkIsRefused();
    void aModuleThatThrowsLeavesNothingBehind();
};

void BackendRegistryTest::plainIsBuiltIn() {
    BackendRegistry registry(TEST_MODULE_DIR);
    QVERIFY(registry.find("plain").hasValue());
}

void BackendRegistryTest::aMissingFolderLeavesTheBuiltInOnes() {
    const test_support::TemporaryFolder folder;
    BackendRegistry registry(folder.path() / "nothing");
    QCOMPARE(registry.names(), (std::vector<std::string>{"cpu", "plain"}));
    QVERIFY(registry.find("plain").hasValue());
    QVERIFY(registry.find("cpu").hasValue());
}

void BackendRegistryTest::modulesAreListedByTheirFileNames() {
    const test_support::TemporaryFolder folder;
    for (const char* name :
         {"libbackend_b.so", "libbackend_a.so", "libbackend_.so", "libother.so", "backend_c.so"})
        folder.write(name, "");
    QCOMPARE(BackendRegistry(folder.path()).names(),
             (std::vector<std::string>{"a", "b", "cpu", "plain"}));
}

void BackendRegistryTest::aModuleRegistersItselfWhenAskedFor() {
    BackendRegistry registry(TEST_MODULE_DIR);
    const auto factory = registry.find("good");
    QVERIFY2(factory.hasValue(), factory ? "" : factory.error().message.c_str());
    // A second registry, and a second question, find the module that is already open.
    QVERIFY(registry.find("good").hasValue());
    QVERIFY(BackendRegistry(TEST_MODULE_DIR).find("good").hasValue());
}

void BackendRegistryTest::aModuleDescribesItself() {
    BackendRegistry registry(TEST_MODULE_DIR);
    std::vector<Error> refused;
    const auto infos = registry.list(&refused);
    QVERIFY(!refused.empty()); // the modules that are broken
    const auto good = std::find_if(
        infos.begin(), infos.end(), [](const BackendInfo& info) { return info.name == "good"; });
    QVERIFY(good != infos.end());
    QVERIFY(good->find("device") != nullptr);
    QVERIFY(mentions(good->devices().error(), "Needs more"));
    const auto options = registry.options("good", {{"device", "1"}});
    QCOMPARE(textOf(options.value().settings, "device"), std::string("1"));
    QVERIFY(mentions(registry.options("cpu", {{"device", "1"}}).error(), "--backend good"));
}

/// A backend with memory of its own is not told to fit because the computer has enough.
void BackendRegistryTest::whatIsFreeIsToldOfTheComputersMemoryAlone() {
    InspectModel question{.path = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf", .backend = "plain"};
    QVERIFY(inspectModel(TEST_MODULE_DIR, question).value().memory.freeBytes > 0);
    question.backend = "good";
    const auto elsewhere = inspectModel(TEST_MODULE_DIR, question);
    QVERIFY(elsewhere.hasValue());
    QCOMPARE(elsewhere.value().memory.freeBytes, std::uint64_t{0});
}

void BackendRegistryTest::anUnknownNameListsTheChoices() {
    const auto found = BackendRegistry(TEST_MODULE_DIR).find("abacus");
    QCOMPARE(found.error().code, ErrorCode::NotFound);
    QVERIFY(mentions(found.error(), "abacus"));
    QVERIFY(mentions(found.error(), "good") && mentions(found.error(), "plain"));
}

void BackendRegistryTest::aNameCannotLeadOutOfTheFolder() {
    const test_support::TemporaryFolder folder;
    fs::create_directory(folder.path() / "inner");
    fs::create_directory(folder.path() / "inner" / "libbackend_");
    copyModule(folder.path(), "good", "outer");
    BackendRegistry registry(folder.path() / "inner");
    for (const char* name : {"../outer", "/../../libbackend_outer", "", ".", "good\n"})
        QCOMPARE(registry.find(name).error().code, ErrorCode::NotFound);
}

void BackendRegistryTest::aModuleThatIsRefusedSaysWhy_data() {
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("reason");
    QTest::newRow("another build") << "stale"
                                   << "0.0.1-of-last-year";
    QTest::newRow("no exports") << "bare"
                                << "not a backend module";
    QTest::newRow("throws") << "throwing"
                            << "the registration broke down";
    QTest::newRow("another name") << "misnamed"
                                  << "registers no backend 'misnamed'";
}

void BackendRegistryTest::aModuleThatIsRefusedSaysWhy() {
    QFETCH(QString, module);
    QFETCH(QString, reason);
    const auto found = BackendRegistry(TEST_MODULE_DIR).find(module.toStdString());
    QVERIFY(!found);
    QCOMPARE(found.error().code, ErrorCode::Unsupported);
    QVERIFY2(mentions(found.error(), reason.toStdString()), found.error().message.c_str());
    QVERIFY(mentions(found.error(), "libbackend_" + module.toStdString() + ".so"));
    QVERIFY(!found.error().hint.empty());
}

void BackendRegistryTest::aFileThatIsNoLibraryIsRefused() {
    const test_support::TemporaryFolder folder;
    folder.write("libbackend_text.so", "I am a text.");
    const fs::path empty = folder.write("libbackend_empty.so", "");
    fs::create_directory(folder.path() / "libbackend_folder.so");
    for (const char* name : {"text", "empty", "folder"}) {
        const auto found = BackendRegistry(folder.path()).find(name);
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::Unsupported);
        QVERIFY(mentions(found.error(), std::string("libbackend_") + name));
    }
}

void BackendRegistryTest::aModuleThatOthersMayWriteToIsRefused() {
    const test_support::TemporaryFolder folder;
    const fs::path module = copyModule(folder.path(), "good");
    for (const fs::perms open : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(module, fs::perms::owner_all | open);
        const auto found = BackendRegistry(folder.path()).find("good");
        QVERIFY(!found);
        QVERIFY(mentions(found.error(), "chmod go-w"));
    }
    fs::permissions(module, fs::perms::owner_all);
    QVERIFY(BackendRegistry(folder.path()).find("good").hasValue());
}

void BackendRegistryTest::aLinkIsRefused() {
    const test_support::TemporaryFolder folder;
    const fs::path module = copyModule(folder.path(), "good");
    fs::create_symlink(module, folder.path() / "libbackend_linked.so");
    const auto found = BackendRegistry(folder.path()).find("linked");
    QVERIFY(!found);
    QVERIFY(mentions(found.error(), "regular file"));
}

void BackendRegistryTest::aModuleThatThrowsLeavesNothingBehind() {
    BackendRegistry registry(TEST_MODULE_DIR);
    QVERIFY(!registry.find("throwing"));
    QVERIFY(!registry.find("throwing")); // not even the name it had registered before it threw
}

QTEST_APPLESS_MAIN(BackendRegistryTest)
#include "backend_registry_test.moc"
