// SPDX-License-Identifier: Apache-2.0
// The most memory that loading and decoding ever hold, beyond what the program holds before: at
// most 1.10 times the packed weights and the keys and values.
#include "engine/loading/network/synthetic_model.h"
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/cpu/packing/cpu_weights.h"
#include "tests/support/models/file_model.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <fstream>
#include <string>

using namespace engine;

namespace {

constexpr int kContext = 2048;

/// 36 million weights: 72 MB as bfloat16.
ModelConfig mediumConfig() {
    ModelConfig config = syntheticConfig("1b", 3).value();
    config.hiddenSize = 1024;
    config.mlpSize = 2816;
    config.headCount = 16;
    config.kvHeadCount = 4;
    config.headDim = 64;
    config.vocabSize = 2000;
    return config;
}

/// A line of /proc/self/status, bytes.
double statusBytes(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(name + ":"))
            return std::stod(line.substr(name.size() + 1)) * 1024.0;
    return 0.0;
}

/// The most resident memory since it was made. Files are read, never mapped, so what is added is
/// memory of the program's own.
class PeakMemory {
public:
    PeakMemory() {
        std::ofstream("/proc/self/clear_refs") << "5"; // the peak begins anew
        m_before = statusBytes("VmRSS");
    }

    bool isMeasured() const { return m_before > 0.0 && statusBytes("VmHWM") < 1.5 * m_before; }

    double addedBytes() const { return statusBytes("VmHWM") - m_before; }

private:
    double m_before = 0.0;
};

/// Reads a prompt of some pieces and a few tokens more.
void decode(Transformer& transformer) {
    auto cache = transformer.makeCache(kContext);
    ENGINE_CHECK(cache.hasValue(), "no cache of {}", kContext);
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    for (const int rows : {32, 32, 1, 1, 4, 1}) {
        const std::vector<TokenId> tokens(static_cast<std::size_t>(rows), 7);
        const auto layout = AttentionLayout::chain(cache.value().length(), rows);
        const int last[] = {rows - 1};
        const ForwardRequest request{
            .plan = plan, .layout = layout, .tokens = tokens, .summaryRows = last};
        ENGINE_CHECK(
            transformer.forward(request, cache.value()).hasValue(), "a pass of {} rows", rows);
        cache.value().commit(rows);
    }
}

} // namespace

class PackingMemoryTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        const SyntheticWeights weights(mediumConfig(), TensorType::BF16);
        m_source = support::writeShards(weights, m_folder.path(), 3).value();
        // What is resident for the first time then is the program's own code.
        ModelConfig small = mediumConfig();
        small.vocabSize = small.mlpSize = 64;
        const auto transformer = makeCpuTransformer(small,
                                                    SyntheticWeights(small, TensorType::BF16),
                                                    {.threads = 2, .weights = WeightForm::Int8});
        QVERIFY(transformer.hasValue());
        decode(*transformer.value());
    }

    void loadingAndDecodingHoldLittleButTheWeights_data() {
        QTest::addColumn<int>("form");
        QTest::addColumn<bool>("isKept");
        QTest::newRow("bfloat16") << int(WeightForm::File) << false;
        QTest::newRow("8-bit") << int(WeightForm::Int8) << false;
        QTest::newRow("8-bit, packed and kept") << int(WeightForm::Int8) << true;
        QTest::newRow("8-bit, as it was kept") << int(WeightForm::Int8) << true;
    }

    void loadingAndDecodingHoldLittleButTheWeights() {
        QFETCH(const int, form);
        QFETCH(const bool, isKept);
        cpu::Options options{.threads = 2, .weights = static_cast<WeightForm>(form)};
        options.cacheSlots = kContext;
        if (isKept)
            options.packedCache = {.folder = m_folder.path() / "packed", .keepsAll = true};
        const PeakMemory peak;
        if (!peak.isMeasured())
            QSKIP("this system does not tell the peak of resident memory");
        const auto transformer = makeCpuTransformer(mediumConfig(), *m_source, options);
        QVERIFY(transformer.hasValue());
        decode(*transformer.value());
        const double weightBytes = static_cast<double>(transformer.value()->weightBytes());
        const ModelConfig config = mediumConfig();
        constexpr double kTokens = 71;
        constexpr double kHalf = 2; // bytes
        const double kvBytes =
            kTokens * kHalf * 2.0 * config.layerCount * config.kvHeadCount * config.headDim;
        const double added = peak.addedBytes();
        const auto told = QString("%1 MB for %2 MB of weights and %3 MB of keys and values")
                              .arg(added / 1e6)
                              .arg(weightBytes / 1e6)
                              .arg(kvBytes / 1e6);
        qInfo("%s", qPrintable(told));
        QVERIFY2(weightBytes > 36e6, qPrintable(told));
        QVERIFY2(added <= 1.10 * (weightBytes + kvBytes), qPrintable(told));
        QVERIFY2(added >= 0.95 * weightBytes, qPrintable(told)); // the measure sees them
    }

    /// The measure would see a second copy, even of one matrix in eight.
    void aSecondCopyShows() {
        const PeakMemory peak;
        if (!peak.isMeasured())
            QSKIP("this system does not tell the peak of resident memory");
        const auto weights = cpu::packWeights(
            mediumConfig(), *m_source, {.threads = 2, .weights = WeightForm::File});
        QVERIFY(weights.hasValue());
        const std::span packed(weights.value().memory.data(), weights.value().memory.size());
        const std::vector<std::byte> copy(packed.begin(),
                                          packed.begin() + static_cast<long>(packed.size() / 8));
        QVERIFY(copy.size() == packed.size() / 8);
        QVERIFY(peak.addedBytes() > 1.10 * static_cast<double>(packed.size()));
    }

private:
    test_support::TemporaryFolder m_folder;
    std::unique_ptr<WeightSource> m_source;
};

QTEST_GUILESS_MAIN(PackingMemoryTest)
#include "packing_memory_test.moc"
