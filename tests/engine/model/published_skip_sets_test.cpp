// SPDX-License-Identifier: Apache-2.0
#include "engine/model/skip_sets/published_skip_sets.h"
#include "tests/support/temporary_folder.h"

#include <QMap>
#include <QTest>

using namespace engine;

namespace {

/// The tests run in the source folder.
constexpr const char* kShippedFile = "resources/published_skip_sets.json";

ModelConfig configOf(const std::string& architecture, int layerCount, int hiddenSize) {
    ModelConfig config;
    config.architecture = architecture;
    config.layerCount = layerCount;
    config.hiddenSize = hiddenSize;
    return config;
}

QStringList fittingNames(const ModelConfig& config) {
    QStringList names;
    const auto published = readPublishedSkipSets(kShippedFile);
    if (!published)
        return {QString::fromStdString(published.error().message)};
    for (const PublishedSkipSet& one : published.value())
        if (fits(one, config))
            names << QString::fromStdString(one.origin + "/" + one.name);
    names.sort();
    return names;
}

} // namespace

class PublishedSkipSetsTest : public QObject {
    Q_OBJECT

private slots:
    void theShippedFileHoldsNineSets();
    void eachSetFitsTheModelsOfItsSizeOnly();
    void modelsOfOtherFamiliesAndSizesAreOfferedNothing();
    void namesOfUnknownSizeFitNothing();
    void brokenFilesAreErrors();
};

void PublishedSkipSetsTest::theShippedFileHoldsNineSets() {
    const auto published = readPublishedSkipSets(kShippedFile);
    QVERIFY2(published, published ? "" : published.error().message.c_str());
    QCOMPARE(published.value().size(), std::size_t(9));
    QMap<QString, int> origins;
    for (const PublishedSkipSet& one : published.value()) {
        ++origins[QString::fromStdString(one.origin)];
        QVERIFY(!one.set.attention.empty() && !one.set.mlp.empty());
        if (one.name == "codellama-13b_humaneval")
            QVERIFY(one.set.attention ==
                    (std::vector<int>{7, 10, 11, 13, 14, 19, 20, 22, 28, 29, 30, 31, 33, 34}));
    }
    QCOMPARE(origins, (QMap<QString, int>{{"swift", 5}, {"self_sd", 4}}));
}

void PublishedSkipSetsTest::eachSetFitsTheModelsOfItsSizeOnly() {
    const QStringList thirteen = {"self_sd/codellama-13b",
                                  "self_sd/llama-2-13b",
                                  "self_sd/llama-2-13b-chat",
                                  "swift/codellama-13b_humaneval",
                                  "swift/llama-2-13b_chat_cnndm",
                                  "swift/llama-2-13b_cnndm"};
    QCOMPARE(fittingNames(configOf("llama", 40, 5120)), thirteen);
    QCOMPARE(fittingNames(configOf("llama", 48, 8192)),
             QStringList{"swift/codellama-34b_humaneval"});
    QCOMPARE(fittingNames(configOf("llama", 80, 8192)),
             (QStringList{"self_sd/llama-2-70b", "swift/llama-2-70b_cnndm"}));
}

void PublishedSkipSetsTest::modelsOfOtherFamiliesAndSizesAreOfferedNothing() {
    for (const ModelConfig& config : {configOf("llama", 30, 576),
                                      configOf("llama", 40, 4096),
                                      configOf("llama", 80, 5120),
                                      configOf("llama", 81, 8192),
                                      configOf("mistral", 40, 5120),
                                      configOf("qwen2", 40, 5120)})
        QCOMPARE(fittingNames(config), QStringList());
}

void PublishedSkipSetsTest::namesOfUnknownSizeFitNothing() {
    const ModelConfig config = configOf("llama", 40, 5120);
    QVERIFY(fits({"llama-2-13b", "x", {{1}, {}}}, config));
    for (const char* name : {"", "13b", "llama-2-130b", "llama-2-13bx", "vicuna-13b", "llama-2-3b"})
        QVERIFY2(!fits({name, "x", {{1}, {}}}, config), name);
    QVERIFY(!fits({"llama-2-13b", "x", {{40}, {}}}, config));
}

void PublishedSkipSetsTest::brokenFilesAreErrors() {
    const test_support::TemporaryFolder folder;
    QVERIFY(readPublishedSkipSets(folder.path() / "none").error().code == ErrorCode::NotFound);
    for (const char* text :
         {"", "[]", "{\"swift\":{\"a\":1}}", "{\"swift\":{\"a\":{\"mlp\":[-1]}}}"}) {
        const auto published = readPublishedSkipSets(folder.write("sets.json", text));
        QVERIFY2(!published, text);
        QVERIFY(published.error().code == ErrorCode::CorruptFile);
        QVERIFY(published.error().message.find("sets.json") != std::string::npos);
    }
}

QTEST_APPLESS_MAIN(PublishedSkipSetsTest)
#include "published_skip_sets_test.moc"
