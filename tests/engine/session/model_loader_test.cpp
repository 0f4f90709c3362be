// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/model_loader.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

namespace {

/// The most that a configuration may say.
constexpr int kLongest = 1 << 30;

} // namespace

class ModelLoaderTest : public QObject {
    Q_OBJECT

private slots:

    void init() {
        m_folder = std::make_unique<test_support::TemporaryFolder>();
        m_config = support::letterConfig(8);
        m_config.contextLength = kLongest;
        auto weights = support::randomWeights(m_config, 1);
        support::writeFolderModel(m_folder->path(), m_config, weights);
    }

    /// The weights are small: what does not fit are the keys and values.
    void aContextThatDoesNotFitIsRefusedBeforeAnythingIsPacked() {
        double told = 0.0;
        const auto refused = load(kLongest, told);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::NoMemory);
        QCOMPARE(told, 0.0);
        const QString message = QString::fromStdString(refused.error().message);
        QVERIFY2(message.count(" GB ") == 2 && message.contains("1073741824 tokens"),
                 qPrintable(message));
        QVERIFY(load(1000, told).hasValue());
        QCOMPARE(told, 1.0);
    }

    void theFingerprintIsToldWhateverIsKept() {
        double told = 0.0;
        const auto without = load(1000, told);
        const auto with = load(1000, told, {.folder = m_folder->path() / "packed"});
        QVERIFY(without.hasValue() && with.hasValue());
        QCOMPARE(without.value().fingerprint.size(), std::size_t{32});
        QCOMPARE(without.value().fingerprint, with.value().fingerprint);
    }

private:
    /// `told`: how much of the weights was told to be done.
    Result<SessionModel>
    load(int contextLength, double& told, PackedCacheOptions packedCache = {}) {
        ModelLoadWork work;
        work.progress = [&told](std::string_view stage, double part) {
            told = stage == "weights" ? part : told;
        };
        const ModelLoader loader = makeModelLoader(SWIFT_STUDIO_MODULE_DIR, std::move(packedCache));
        return loader({.path = m_folder->path().string(), .contextLength = contextLength}, work);
    }

    std::unique_ptr<test_support::TemporaryFolder> m_folder;
    ModelConfig m_config;
};

QTEST_GUILESS_MAIN(ModelLoaderTest)
#include "model_loader_test.moc"
