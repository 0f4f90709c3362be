// SPDX-License-Identifier: Apache-2.0
#include "engine/text/tokenizer.h"
#include "tests/plugins/torch/torch_support.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/transformers/forward_helpers.h"

#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <dlfcn.h>

using namespace engine;

namespace {

/// The file that holds an address of this process.
QString libraryOf(const void* address) {
    Dl_info facts{};
    return dladdr(address, &facts) != 0 ? QString::fromLocal8Bit(facts.dli_fname) : QString();
}

std::vector<std::vector<double>> runTorch(Transformer& transformer) {
    KvCache cache = support::emptyCache(transformer, 16);
    return support::runChain(
        transformer, cache, LayerPlan::full(3), torch_support::randomIds(12), 12);
}

} // namespace

/// Sentencepiece and LibTorch each bring a protobuf of their own: neither may see the other's.
class TorchAndSentencepieceTest : public QObject {
    Q_OBJECT

private slots:
    void bothWorkInOneProcess();
    void ourLibrariesExportNoProtobuf();
};

void TorchAndSentencepieceTest::bothWorkInOneProcess() {
    if (!support::hasGoldenData())
        QSKIP("The golden data does not lie beside the checkout.");
    const ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 11);
    const auto before = torch_support::makeTorch(config, weights, Precision::F32);
    const auto expected = runTorch(*before);
    const QString folder = support::goldenPath("tokenizers/spm_llama2");
    const auto files = ModelFiles::open(folder.toStdString());
    QVERIFY2(files.hasValue(), files ? "" : files.error().message.c_str());
    const auto tokenizer = loadTokenizer(files.value());
    QVERIFY2(tokenizer.hasValue(), tokenizer ? "" : tokenizer.error().message.c_str());
    int cases = 0;
    for (const QJsonObject& line : support::readJsonLines(folder + "/cases.jsonl")) {
        if (line["tag"] != "ascii")
            continue;
        const auto ids = tokenizer.value()->encode(line["text"].toString().toStdString(), false);
        QVERIFY(ids.hasValue());
        QCOMPARE(ids.value(), support::integersOf(line["ids"]));
        ++cases;
    }
    QVERIFY(cases > 5);
    QCOMPARE(runTorch(*before), expected);
    const auto after = torch_support::makeTorch(config, weights, Precision::F32);
    QCOMPARE(runTorch(*after), expected);
}

void TorchAndSentencepieceTest::ourLibrariesExportNoProtobuf() {
    const QString nm = QStandardPaths::findExecutable("nm");
    if (nm.isEmpty())
        QSKIP("There is no nm (binutils) to list symbols with.");
    const QString engineLibrary =
        libraryOf(reinterpret_cast<const void*>(&engine::rotaryFrequencies));
    QVERIFY(engineLibrary.contains("libswift_engine"));
    for (const QString& library :
         {engineLibrary, QString(SWIFT_STUDIO_MODULE_DIR "/libbackend_torch.so")}) {
        QProcess process;
        process.start(nm, {"-D", "--defined-only", "-C", library});
        QVERIFY(process.waitForFinished(-1));
        QCOMPARE(process.exitCode(), 0);
        const QByteArray symbols = process.readAllStandardOutput();
        QVERIFY(symbols.contains("swiftStudio") || symbols.contains("engine::"));
        QVERIFY2(!symbols.contains("google::protobuf"), qPrintable(library));
        QVERIFY2(!symbols.contains("sentencepiece::"), qPrintable(library));
        QVERIFY2(!symbols.contains("FLAGS_"), qPrintable(library));
    }
}

QTEST_GUILESS_MAIN(TorchAndSentencepieceTest)
#include "torch_and_sentencepiece_test.moc"
