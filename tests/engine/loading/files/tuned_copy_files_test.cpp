// SPDX-License-Identifier: Apache-2.0
// What tuning.json beside a model tells its configuration.
#include "engine/loading/model_files.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/value_of.h"

#include <QTest>

using namespace engine;
using support::valueOf;
using namespace test_support;

class TunedCopyFilesTest : public QObject {
    Q_OBJECT

private slots:

    /// A model of two layers has one exit.
    void whatATrainingToldOfDraftingIsTaken() {
        const TemporaryFolder folder;
        std::string text = tinyConfigJson();
        const std::string oneLayer = "\"num_hidden_layers\":1";
        text.replace(text.find(oneLayer), oneLayer.size(), "\"num_hidden_layers\":2");
        folder.write("config.json", text);
        ModelFiles files = valueOf(ModelFiles::open(folder.path()));
        QCOMPARE(valueOf(files.config()).tunedExit, 0);
        const auto told = [&](const std::string& recipe, const std::string& mark = "1") {
            folder.write("tuning.json",
                         R"({"swift_studio_tuning":)" + mark + R"(,"recipe":)" + recipe + "}");
            return valueOf(files.config());
        };
        const ModelConfig layerskip = told(R"({"name":"layerskip","exit":1,"masks":3})");
        QCOMPARE(layerskip.tunedExit, 1);
        QCOMPARE(layerskip.tunedMasks, 0);
        const ModelConfig space = told(R"({"name":"space","exit":1,"masks":3})");
        QCOMPARE(space.tunedExit, 0);
        QCOMPARE(space.tunedMasks, 3);
        QVERIFY(layerskip.notes.empty() && space.notes.empty());
        const ModelConfig beyond = told(R"({"name":"layerskip","exit":2})");
        QCOMPARE(beyond.tunedExit, 0);
        QVERIFY(beyond.notes.size() == 1 &&
                beyond.notes[0].find("tuning.json") != std::string::npos);
        QCOMPARE(told(R"({"name":"draft","exit":1})").tunedExit, 0);
        folder.write("tuning.json",
                     R"({"recipe":{"name":"layerskip","exit":1}})"); // of another program
        QVERIFY(valueOf(files.config()).tunedExit == 0 && valueOf(files.config()).notes.empty());
        folder.write("tuning.json", "no JSON");
        QCOMPARE(valueOf(files.config()).notes.size(), std::size_t(1));
        QCOMPARE(told(R"({"name":"layerskip","exit":1})").tunedExit, 1);
        files.plantCopies();
        QCOMPARE(valueOf(files.config()).tunedExit, 2);
    }
};

QTEST_GUILESS_MAIN(TunedCopyFilesTest)
#include "tuned_copy_files_test.moc"
