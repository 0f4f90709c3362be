// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/packing/cpu_weights.h"
#include "engine/model/cpu/packing/packed_cache.h"
#include "tests/support/models/file_model.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/models/tiny_adapter.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>

using namespace engine;
namespace fs = std::filesystem;

namespace {

ModelConfig smallConfig() {
    ModelConfig config = support::tinyConfig();
    config.hiddenSize = 64;
    config.mlpSize = 96;
    config.headDim = 16;
    return config;
}

/// Weights as a file gives them; counts what is read of the matrices.
class WatchedSource final : public WeightSource {
public:
    explicit WatchedSource(const WeightSource& source, std::string state = "as it was")
        : m_source(source)
        , m_state(std::move(state)) {}

    std::span<const TensorInfo> tensors() const override { return m_source.tensors(); }

    const TensorInfo* find(std::string_view name) const override { return m_source.find(name); }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t first,
                          std::uint64_t count,
                          std::span<float> out) const override {
        m_reads += 1;
        return m_source.readRows(tensor, first, count, out);
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t first,
                             std::uint64_t count,
                             std::span<std::byte> out) const override {
        m_rawReads += 1;
        return m_source.readRawRows(tensor, first, count, out);
    }

    std::string fileState() const override { return m_state; }

    /// Since it was asked last.
    int rawReads() { return m_rawReads.exchange(0); }

    /// Of rows as float32, likewise.
    int reads() { return m_reads.exchange(0); }

    void setState(std::string state) { m_state = std::move(state); }

private:
    const WeightSource& m_source;
    std::string m_state;
    mutable std::atomic<int> m_rawReads = 0;
    mutable std::atomic<int> m_reads = 0;
};

cpu::Options optionsFor(const fs::path& folder, WeightForm form = WeightForm::File) {
    cpu::Options options;
    options.threads = 2;
    options.weights = form;
    options.packedCache = {.folder = folder, .fingerprint = "a model", .keepsAll = true};
    return options;
}

/// Packs or reads; behind it, what was to be kept is kept.
cpu::Weights load(const WeightSource& source, const cpu::Options& options) {
    auto weights = support::valueOf(cpu::packWeights(smallConfig(), source, options));
    if (weights.keeper.joinable())
        weights.keeper.join();
    return weights;
}

bool areSame(const cpu::Weights& a, const cpu::Weights& b) {
    return a.memory.size() == b.memory.size() &&
           std::memcmp(a.memory.data(), b.memory.data(), a.memory.size()) == 0 &&
           a.layers[1].mlps.front().down.matrix.data - a.memory.data() ==
               b.layers[1].mlps.front().down.matrix.data - b.memory.data() &&
           a.finalNorm == b.finalNorm;
}

std::vector<fs::path> filesIn(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        files.push_back(entry.path());
    return files;
}

} // namespace

class PackedCacheTest : public QObject {
    Q_OBJECT

private slots:
    void theSecondLoadReadsWhatTheFirstOnePacked_data();
    void theSecondLoadReadsWhatTheFirstOnePacked();
    void aDamagedFileIsRebuilt();
    void whatIsPackedOtherwiseIsKeptApart();
    void aChangedModelFileIsPackedAnew();
    void aDraftNetworkIsKeptForItsModelAndItsFile();
    void nothingIsKeptUnlessItIsAskedFor();
    void weightsThatGoAwayEarlyAreKeptWhenThatTakesNoTime();
    void readingMustBeFasterByMuch_data();
    void readingMustBeFasterByMuch();
    void theFirstBadTensorIsNamedWhateverTheThreadsDo();
    void whoStopsGetsNoWeights();

private:
    const support::MemoryWeights m_weights = support::randomWeights(smallConfig(), 1);
};

void PackedCacheTest::theSecondLoadReadsWhatTheFirstOnePacked_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("form");
    QTest::newRow("4-bit") << int(TensorType::Q4_1) << int(WeightForm::File);
    QTest::newRow("8-bit") << int(TensorType::Q8_0) << int(WeightForm::File);
    QTest::newRow("bfloat16 as 8-bit") << int(TensorType::BF16) << int(WeightForm::Int8);
    QTest::newRow("4-bit widened") << int(TensorType::Q4_1) << int(WeightForm::F32);
    QTest::newRow("float32 as bfloat16") << int(TensorType::F32) << int(WeightForm::Bf16);
}

void PackedCacheTest::theSecondLoadReadsWhatTheFirstOnePacked() {
    QFETCH(const int, type);
    QFETCH(const int, form);
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, static_cast<TensorType>(type));
    WatchedSource source(stored);
    const cpu::Options options = optionsFor(folder.path(), static_cast<WeightForm>(form));
    const cpu::Weights packed = load(source, options);
    QVERIFY(source.rawReads() > 0);
    QCOMPARE(filesIn(folder.path()).size(), std::size_t{1});
    const cpu::Weights read = load(source, options);
    QCOMPARE(source.rawReads(), 0);
    QVERIFY(areSame(packed, read));
}

void PackedCacheTest::aDamagedFileIsRebuilt() {
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, TensorType::Q8_0);
    WatchedSource source(stored);
    const cpu::Weights packed = load(source, optionsFor(folder.path()));
    const fs::path path = filesIn(folder.path()).at(0);
    const auto whole = static_cast<std::uint64_t>(fs::file_size(path));
    for (const std::uint64_t size : {std::uint64_t{0}, whole / 2, whole}) {
        fs::resize_file(path, size);
        fs::resize_file(path, whole); // zeros for what was there
        if (size == whole) {
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(whole - 100));
            file.put('?');
            file.put('?');
        }
        QVERIFY(source.rawReads() >= 0);
        const cpu::Weights again = load(source, optionsFor(folder.path()));
        QVERIFY2(source.rawReads() > 0, qPrintable(QString::number(size)));
        QVERIFY(areSame(packed, again));
        QVERIFY(areSame(packed, load(source, optionsFor(folder.path()))));
        QCOMPARE(source.rawReads(), 0); // the rebuilt one
    }
}

void PackedCacheTest::whatIsPackedOtherwiseIsKeptApart() {
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, TensorType::Q4_1);
    WatchedSource source(stored);
    std::size_t count = 0;
    for (const WeightForm form : {WeightForm::File, WeightForm::Int8, WeightForm::Bf16}) {
        load(source, optionsFor(folder.path(), form));
        QVERIFY(source.rawReads() > 0);
        QCOMPARE(filesIn(folder.path()).size(), ++count);
    }
    cpu::Options other = optionsFor(folder.path());
    other.packedCache.fingerprint = "another model";
    load(source, other);
    QVERIFY(source.rawReads() > 0);
    QCOMPARE(filesIn(folder.path()).size(), ++count);
    other.threads = 1; // what computes makes no difference
    other.instructionSet = "scalar";
    load(source, other);
    QCOMPARE(source.rawReads(), 0);
}

/// The fingerprint is made of samples: a change between them shows in the file's times alone.
void PackedCacheTest::aChangedModelFileIsPackedAnew() {
    const test_support::TemporaryFolder folder;
    const test_support::TemporaryFolder model;
    support::MemoryWeights weights = m_weights;
    QVERIFY(support::writeShards(weights, model.path(), 2).hasValue());
    // The clock of files is a coarse one.
    fs::last_write_time(model.path() / "part0.safetensors",
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
    const auto before = openSafetensorsIndex(model.path() / "model.safetensors.index.json");
    QVERIFY(before.hasValue());
    load(*before.value(), optionsFor(folder.path()));
    QCOMPARE(filesIn(folder.path()).size(), std::size_t{1});
    weights.values("model.layers.1.mlp.up_proj.weight")[7] += 1.0F;
    const auto after = support::writeShards(weights, model.path(), 2);
    QVERIFY(after.hasValue());
    QVERIFY(before.value()->fileState() != after.value()->fileState());
    const cpu::Weights cached = load(*after.value(), optionsFor(folder.path()));
    const cpu::Weights fresh = load(*after.value(), {.threads = 1, .weights = WeightForm::File});
    QVERIFY(areSame(cached, fresh));
    QCOMPARE(filesIn(folder.path()).size(), std::size_t{2});
}

void PackedCacheTest::aDraftNetworkIsKeptForItsModelAndItsFile() {
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, TensorType::Q8_0);
    WatchedSource source(stored);
    DraftAdapter adapter = support::makeAdapter(smallConfig(), support::AdapterKind::Random, 3);
    support::MemoryWeights numbers;
    int norms = 0;
    for (const auto& [name, tensor] : adapterTensors(adapter.sizes)) {
        numbers.add(name, tensor.shape, adapter.tensors[name]);
        norms += tensor.shape.size() == 1;
    }
    const auto file = std::make_shared<WatchedSource>(numbers, "the adapter");
    adapter.tensors.clear();
    adapter.stored = file;
    const auto readsOf = [&](const cpu::Options& options) {
        const auto model = support::valueOf(makeCpuTransformer(smallConfig(), source, options));
        file->reads();
        const auto made = support::valueOf(makeDraftModel(*model, adapter));
        return file->reads(); // behind it, what was to be kept is kept
    };
    const int all = readsOf(optionsFor(folder.path()));
    QVERIFY(all > norms);
    QCOMPARE(readsOf(optionsFor(folder.path())), norms);                  // they are no matrices
    QVERIFY(readsOf(optionsFor(folder.path(), WeightForm::F32)) > norms); // another head
    file->setState("trained further");
    QCOMPARE(readsOf(optionsFor(folder.path())), all);
    source.setState("another model");
    QCOMPARE(readsOf(optionsFor(folder.path())), all);
    cpu::Options nameless = optionsFor(folder.path());
    nameless.packedCache.fingerprint.clear();
    for (int i = 0; i < 2; ++i)
        QCOMPARE(readsOf(nameless), all);
}

void PackedCacheTest::nothingIsKeptUnlessItIsAskedFor() {
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, TensorType::Q8_0);
    const WatchedSource source(stored);
    cpu::Options options = optionsFor(folder.path());
    options.packedCache.limitBytes = 0;
    load(source, options);
    options = optionsFor(folder.path());
    options.packedCache.keepsAll = false; // packed in no time
    load(source, options);
    load(WatchedSource(stored, ""), optionsFor(folder.path())); // from no file
    QCOMPARE(filesIn(folder.path()).size(), std::size_t{0});
}

void PackedCacheTest::weightsThatGoAwayEarlyAreKeptWhenThatTakesNoTime() {
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, TensorType::F32);
    const WatchedSource source(stored);
    for (int i = 0; i < 20; ++i) {
        const fs::path own = folder.path() / std::to_string(i);
        QVERIFY(cpu::packWeights(smallConfig(), source, optionsFor(own)).hasValue());
        const auto kept = filesIn(own);
        QCOMPARE(kept.size(), std::size_t{1});
        QCOMPARE(kept[0].extension().string(), std::string(".packed"));
    }
}

void PackedCacheTest::readingMustBeFasterByMuch_data() {
    QTest::addColumn<double>("workMs");
    QTest::addColumn<int>("fileMegabytes");
    QTest::addColumn<int>("packedMegabytes");
    QTest::addColumn<bool>("isFaster");
    QTest::newRow("the default model") << 230.0 << 97 << 97 << true;
    QTest::newRow("a small model") << 20.0 << 10 << 10 << false;
    QTest::newRow("copied as it is") << 60.0 << 100 << 100 << false;
    QTest::newRow("bfloat16 to 8-bit") << 3000.0 << 2200 << 1200 << true;
    QTest::newRow("4-bit widened to float32") << 400.0 << 97 << 538 << false;
}

void PackedCacheTest::readingMustBeFasterByMuch() {
    QFETCH(const double, workMs);
    QFETCH(const int, fileMegabytes);
    QFETCH(const int, packedMegabytes);
    QFETCH(const bool, isFaster);
    const auto bytes = [](int megabytes) { return std::uint64_t(megabytes) * 1'000'000; };
    QCOMPARE(cpu::isReadingFaster({workMs, 2, bytes(fileMegabytes), bytes(packedMegabytes)}),
             isFaster);
}

void PackedCacheTest::theFirstBadTensorIsNamedWhateverTheThreadsDo() {
    support::MemoryWeights weights = m_weights;
    for (const char* name : {"model.layers.0.self_attn.k_proj.weight",
                             "model.layers.0.self_attn.v_proj.weight",
                             "model.layers.2.mlp.down_proj.weight",
                             "lm_head.weight"})
        weights.values(name)[3] = std::numeric_limits<float>::quiet_NaN();
    for (int i = 0; i < 30; ++i) {
        const auto refused = cpu::packWeights(smallConfig(), weights, {.threads = 1 + i % 3});
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Numeric);
        QVERIFY2(QString::fromStdString(refused.error().message).contains("layers.0.self_attn.k"),
                 refused.error().message.c_str());
    }
}

void PackedCacheTest::whoStopsGetsNoWeights() {
    const test_support::TemporaryFolder folder;
    const support::StoredWeights stored(m_weights, TensorType::Q8_0);
    const WatchedSource source(stored);
    cpu::Options options = optionsFor(folder.path());
    std::stop_source stop;
    options.stop = stop.get_token();
    options.threads = 1;
    options.progress = [&](double) { stop.request_stop(); }; // behind the first matrix
    for (int i = 0; i < 2; ++i) {                            // the second time something is kept
        const auto cancelled = cpu::packWeights(smallConfig(), source, options);
        QVERIFY(!cancelled);
        QCOMPARE(cancelled.error().code, ErrorCode::Cancelled);
        load(source, optionsFor(folder.path()));
    }
}

QTEST_GUILESS_MAIN(PackedCacheTest)
#include "packed_cache_test.moc"
