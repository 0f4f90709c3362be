// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/packing/weight_copy.h"
#include "engine/model/weight_share.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <cstring>
#include <fstream>
#include <random>

using namespace engine;
using engine::cpu::WeightCopy;
namespace fs = std::filesystem;

namespace {

constexpr double kMuchMemory = 1e12;

/// Every width is a whole number of groups.
ModelConfig smallConfig() {
    ModelConfig config = support::layeredConfig(2);
    config.hiddenSize = 64;
    config.mlpSize = 96;
    config.headDim = 16;
    return config;
}

/// Random numbers that 4 bits stand for exactly: in each group of 32 some whole steps above a
/// minimum, none and 15 among them.
support::MemoryWeights fourBitWeights(const ModelConfig& config, unsigned seed) {
    support::MemoryWeights weights = support::randomWeights(config, seed);
    std::mt19937 random(seed);
    for (const TensorInfo& tensor : weights.tensors()) {
        if (tensor.shape.size() < 2)
            continue;
        std::vector<float>& values = weights.values(tensor.name);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const unsigned steps = i % 32 == 0 ? 0U : i % 32 == 1 ? 15U : random() % 16U;
            values[i] = (static_cast<float>(steps) - 7.0F) / 64.0F;
        }
    }
    return weights;
}

cpu::Weights pack(const support::MemoryWeights& source, WeightForm form, std::string state = {}) {
    cpu::Options options{.threads = 2, .weights = form};
    auto weights = support::valueOf(cpu::packWeights(smallConfig(), source, options));
    weights.fileState = std::move(state);
    return weights;
}

/// A copy to its end; behind it, what was to be kept is kept.
cpu::Weights copyOf(const cpu::Weights& weights, const PackedCacheOptions& cache = {}) {
    WorkerPool pool(2);
    auto copying = support::valueOf(WeightCopy::begin(weights, smallConfig(), cache, kMuchMemory));
    while (!support::valueOf(copying->makePiece(pool))) {
    }
    cpu::Weights copy = copying->take();
    if (copy.keeper.joinable())
        copy.keeper.join();
    return copy;
}

std::vector<float> numbersOf(const TileMatrix& matrix) {
    const auto columns = static_cast<std::size_t>(matrix.columns);
    std::vector<float> numbers(static_cast<std::size_t>(matrix.rows) * columns);
    for (int row = 0; row < matrix.rows; ++row)
        readPackedRow(matrix,
                      row,
                      std::span(numbers).subspan(static_cast<std::size_t>(row) * columns, columns));
    return numbers;
}

/// Bytes of the tiles of a matrix whose groups of 32 columns take so many in a tile of 16 rows.
double bytesOf(int rows, int columns, int groupBytes) {
    return (rows + 15) / 16 * (columns / 32) * static_cast<double>(groupBytes);
}

std::unique_ptr<Transformer> cpuModel(const support::MemoryWeights& weights,
                                      const cpu::Options& options) {
    return support::valueOf(makeCpuTransformer(smallConfig(), weights, options));
}

/// The most probable token behind each of these, all in one pass.
std::vector<TokenId> guesses(Transformer& model, const LayerPlan& plan) {
    const std::vector<TokenId> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    KvCache cache = support::emptyCache(model, 64);
    const auto logits = support::logitsOf(
        model, cache, plan, AttentionLayout::chain(0, static_cast<int>(tokens.size())), tokens);
    std::vector<TokenId> best;
    for (const std::vector<double>& row : logits)
        best.push_back(
            static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin()));
    return best;
}

/// A head of 19 million weights whose copy of 12 MB lies in a packed cache.
class KeptCopy {
public:
    explicit KeptCopy(const fs::path& folder)
        : m_cache{.folder = folder, .fingerprint = "a model", .keepsAll = true}
        , m_config(smallConfig()) {
        m_config.vocabSize = 300'000;
        m_full = support::valueOf(cpu::packWeights(m_config,
                                                   support::randomWeights(m_config, 3),
                                                   {.threads = 2, .weights = WeightForm::Bf16}));
        m_full.fileState = "one";
        WorkerPool pool(2);
        const auto copying = begin();
        while (!copying->makePiece(pool).value()) {
        }
        m_made = copying->take();
        m_made.keeper.join();
    }

    std::unique_ptr<WeightCopy> begin() const {
        return WeightCopy::begin(m_full, m_config, m_cache, kMuchMemory).value();
    }

    /// Where it lies.
    fs::path file() const {
        for (const fs::directory_entry& entry : fs::directory_iterator(m_cache.folder))
            if (entry.file_size() > 10'000'000)
                return entry.path();
        return {};
    }

    bool isWhole(const cpu::Weights& copy) const {
        return std::memcmp(copy.memory.data(), m_made.memory.data(), m_made.memory.size()) == 0;
    }

private:
    PackedCacheOptions m_cache;
    ModelConfig m_config;
    cpu::Weights m_full;
    cpu::Weights m_made;
};

/// One for all functions: to round it takes long.
const KeptCopy& keptCopy() {
    static const test_support::TemporaryFolder folder;
    static const KeptCopy made(folder.path());
    return made;
}

double littleMemory() { return 1000.0; }

} // namespace

class WeightCopyTest : public QObject {
    Q_OBJECT

private slots:
    void numbersThatFourBitsHoldAreCopiedExactly_data();
    void numbersThatFourBitsHoldAreCopiedExactly();
    void otherNumbersMoveNoMoreThanByEvenSteps();
    void aLargeCopyIsMadeInPieces();
    void bytesAreThoseCountedByHand_data();
    void bytesAreThoseCountedByHand();
    void aPassOnTheCopyNamesTheSameTokensAndChangesNothing();
    void theCopyIsKeptAndReadTheNextTime();
    void aKeptCopyIsReadInPieces();
    void aKeptCopyThatIsDamagedIsMadeAnew();
    void aCopyThatWasDroppedIsMadeAgain();
    void narrowWeightsAreRefused();
    void aCopyThatDoesNotFitTwiceIsRefused();
    void aPassOnACopyThatIsNotThereIsABug();
};

void WeightCopyTest::numbersThatFourBitsHoldAreCopiedExactly_data() {
    QTest::addColumn<int>("form");
    QTest::newRow("float32") << static_cast<int>(WeightForm::F32);
    QTest::newRow("bfloat16") << static_cast<int>(WeightForm::Bf16);
}

void WeightCopyTest::numbersThatFourBitsHoldAreCopiedExactly() {
    QFETCH(const int, form);
    const cpu::Weights full = pack(fourBitWeights(smallConfig(), 3), static_cast<WeightForm>(form));
    const cpu::Weights copy = copyOf(full);
    for (std::size_t layer = 0; layer < full.layers.size(); ++layer) {
        std::vector<const cpu::Linear*> copied;
        copy.layers[layer].forEachLinear(
            [&](const cpu::Linear& linear) { copied.push_back(&linear); });
        std::size_t at = 0;
        full.layers[layer].forEachLinear([&](const cpu::Linear& linear) {
            QCOMPARE(numbersOf(copied[at]->matrix), numbersOf(linear.matrix));
            QCOMPARE(copied[at]->bias, linear.bias);
            QVERIFY(linear.matrix.rows == 0 || copied[at]->matrix.form == TileForm::Int4);
            ++at;
        });
        QCOMPARE(copy.layers[layer].attentionNorm, full.layers[layer].attentionNorm);
    }
    QCOMPARE(numbersOf(copy.outputHead().matrix), numbersOf(full.outputHead().matrix));
    QCOMPARE(copy.embedding.matrix.data, full.embedding.matrix.data);
}

/// Than by even steps between the least and the greatest of 32, and less where others are better.
void WeightCopyTest::otherNumbersMoveNoMoreThanByEvenSteps() {
    const cpu::Weights full = pack(support::randomWeights(smallConfig(), 4), WeightForm::F32);
    const cpu::Weights copy = copyOf(full);
    const std::vector<float> numbers = numbersOf(full.layers[1].mlps.front().down.matrix);
    const std::vector<float> copied = numbersOf(copy.layers[1].mlps.front().down.matrix);
    bool isBetter = false;
    for (std::size_t group = 0; group < numbers.size(); group += 32) {
        const auto [low, high] =
            std::minmax_element(numbers.begin() + static_cast<std::ptrdiff_t>(group),
                                numbers.begin() + static_cast<std::ptrdiff_t>(group) + 32);
        const double step = (*high - *low) / 15.0;
        double even = 0.0; // sums of squares
        double found = 0.0;
        for (std::size_t i = group; i < group + 32; ++i) {
            const double stepped = *low + step * std::round((numbers[i] - *low) / step);
            even += (numbers[i] - stepped) * (numbers[i] - stepped);
            found += (numbers[i] - copied[i]) * (numbers[i] - copied[i]);
        }
        QVERIFY(found > 0.0 && found < 1.02 * even);
        isBetter = isBetter || found < 0.9 * even;
    }
    QVERIFY(isBetter);
}

/// A head of 2.5 million weights; a piece has two.
void WeightCopyTest::aLargeCopyIsMadeInPieces() {
    ModelConfig config = smallConfig();
    config.vocabSize = 40000;
    const auto packed = cpu::packWeights(
        config, fourBitWeights(config, 3), {.threads = 2, .weights = WeightForm::Bf16});
    QVERIFY(packed.hasValue());
    const cpu::Weights& full = packed.value();
    WorkerPool pool(2);
    const auto copying = WeightCopy::begin(full, config, {}, kMuchMemory);
    QVERIFY(copying.hasValue());
    QVERIFY(!copying.value()->makePiece(pool).value());
    QVERIFY(copying.value()->makePiece(pool).value());
    const cpu::Weights copy = copying.value()->take();
    QVERIFY(numbersOf(copy.outputHead().matrix) == numbersOf(full.outputHead().matrix));
}

void WeightCopyTest::bytesAreThoseCountedByHand_data() {
    QTest::addColumn<int>("form");
    QTest::addColumn<int>("groupBytes"); // of 32 columns and 16 rows
    QTest::addColumn<double>("share");
    QTest::newRow("float32") << static_cast<int>(WeightForm::F32) << 32 * 16 * 4 << 0.15625;
    QTest::newRow("bfloat16") << static_cast<int>(WeightForm::Bf16) << 32 * 16 * 2 << 0.3125;
}

/// A group of the copy: for each of 16 rows 16 bytes of numbers, 2 of its scale, 2 of its minimum.
void WeightCopyTest::bytesAreThoseCountedByHand() {
    QFETCH(const int, form);
    QFETCH(const int, groupBytes);
    QFETCH(const double, share);
    const ModelConfig config = smallConfig();
    const auto read = [&](int bytes) {
        const int queries = config.headCount * config.headDim;
        const int keys = config.kvHeadCount * config.headDim;
        const double layer = bytesOf(queries, 64, bytes) + 2.0 * bytesOf(keys, 64, bytes) +
                             bytesOf(64, queries, bytes) + 2.0 * bytesOf(96, 64, bytes) +
                             bytesOf(64, 96, bytes);
        return config.layerCount * layer + bytesOf(config.vocabSize, 64, bytes);
    };
    const cpu::Weights full =
        pack(support::randomWeights(config, 4), static_cast<WeightForm>(form));
    const cpu::Weights copy = copyOf(full);
    constexpr int kCopyBytes = 16 * (16 + 2 + 2);
    QCOMPARE(full.bytesRead(config), read(groupBytes));
    QCOMPARE(copy.bytesRead(config), read(kCopyBytes));
    QCOMPARE(static_cast<double>(copy.memory.size()), read(kCopyBytes));
    const auto told = cpu::forecast(
        config, support::randomWeights(config, 4), {.weights = static_cast<WeightForm>(form)}, 1);
    QCOMPARE(static_cast<double>(told.value().copyBytes), read(kCopyBytes));
    const auto model = cpuModel(support::randomWeights(config, 4),
                                {.threads = 1, .weights = static_cast<WeightForm>(form)});
    QCOMPARE(model->copyShare(), 1.0);
    QVERIFY(model->makeCopyPiece().value());
    QCOMPARE(model->copyShare(), share);
    QCOMPARE(weightShare(LayerPlan::copy(config.layerCount), *model), share);
    QCOMPARE(weightShare(LayerPlan::full(config.layerCount), *model), 1.0);
}

void WeightCopyTest::aPassOnTheCopyNamesTheSameTokensAndChangesNothing() {
    support::MemoryWeights weights = fourBitWeights(smallConfig(), 3);
    const auto model = cpuModel(weights, {.threads = 2, .weights = WeightForm::Bf16});
    const LayerPlan full = LayerPlan::full(smallConfig().layerCount);
    const std::vector<TokenId> before = guesses(*model, full);
    QVERIFY(model->makeCopyPiece().value());
    QCOMPARE(guesses(*model, LayerPlan::copy(smallConfig().layerCount)), before);
    QCOMPARE(guesses(*model, full), before);
}

void WeightCopyTest::theCopyIsKeptAndReadTheNextTime() {
    const test_support::TemporaryFolder folder;
    const PackedCacheOptions cache{
        .folder = folder.path(), .fingerprint = "a model", .keepsAll = true};
    const support::MemoryWeights weights = support::randomWeights(smallConfig(), 4);
    const support::MemoryWeights others = support::randomWeights(smallConfig(), 5);
    const cpu::Weights made = copyOf(pack(weights, WeightForm::F32, "one"), cache);
    // Other numbers under the same state of the files show that nothing was rounded.
    const cpu::Weights read = copyOf(pack(others, WeightForm::F32, "one"), cache);
    const cpu::Weights apart = copyOf(pack(others, WeightForm::F32, "another"), cache);
    const cpu::Weights narrower = copyOf(pack(others, WeightForm::Bf16, "one"), cache);
    const auto isSame = [](const cpu::Weights& a, const cpu::Weights& b) {
        return std::memcmp(a.memory.data(), b.memory.data(), a.memory.size()) == 0;
    };
    QVERIFY(isSame(made, read));
    QVERIFY(!isSame(made, apart));
    QVERIFY(!isSame(made, narrower));
}

/// Of 12 MB each piece reads 8 MiB.
void WeightCopyTest::aKeptCopyIsReadInPieces() {
    const KeptCopy& kept = keptCopy();
    WorkerPool pool(2);
    const auto copying = kept.begin();
    int pieces = 1;
    while (!copying->makePiece(pool).value())
        ++pieces;
    QCOMPARE(pieces, 2);
    QVERIFY(kept.isWhole(copying->take()));
}

void WeightCopyTest::aKeptCopyThatIsDamagedIsMadeAnew() {
    const KeptCopy& kept = keptCopy();
    std::fstream(kept.file(), std::ios::in | std::ios::out).seekp(10'000'000).put('x').put('y');
    WorkerPool pool(2);
    const auto copying = kept.begin();
    int pieces = 1;
    while (!copying->makePiece(pool).value())
        ++pieces;
    QVERIFY(pieces > 8); // 19 million weights are rounded, two in a piece
    cpu::Weights copy = copying->take();
    QVERIFY(kept.isWhole(copy));
}

void WeightCopyTest::aCopyThatWasDroppedIsMadeAgain() {
    support::MemoryWeights weights = fourBitWeights(smallConfig(), 3);
    const auto model = cpuModel(weights, {.threads = 2, .weights = WeightForm::Bf16});
    const LayerPlan full = LayerPlan::full(smallConfig().layerCount);
    const LayerPlan plan = LayerPlan::copy(smallConfig().layerCount);
    const std::vector<TokenId> before = guesses(*model, full);
    for (int round = 0; round < 2; ++round) {
        QVERIFY(model->makeCopyPiece().value());
        QCOMPARE(guesses(*model, plan), before);
        model->dropCopy();
        QCOMPARE(model->copyShare(), 1.0);
        QCOMPARE(guesses(*model, full), before);
        QVERIFY_EXCEPTION_THROWN(guesses(*model, plan), EngineBug);
    }
    {
        const CopyUse first(*model);
        QVERIFY(model->makeCopyPiece().value());
        { const CopyUse second(*model); }
        QVERIFY(model->copyShare() < 1.0);
    }
    QCOMPARE(model->copyShare(), 1.0);
}

void WeightCopyTest::narrowWeightsAreRefused() {
    const cpu::Weights narrow = pack(support::randomWeights(smallConfig(), 4), WeightForm::Int8);
    QCOMPARE(WeightCopy::bytesFor(narrow), std::size_t{0});
    const auto model = cpuModel(support::randomWeights(smallConfig(), 4),
                                {.threads = 1, .weights = WeightForm::Int8});
    const auto refused = model->makeCopyPiece();
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    QCOMPARE(model->copyShare(), 1.0);
}

void WeightCopyTest::aCopyThatDoesNotFitTwiceIsRefused() {
    const cpu::Weights full = pack(support::randomWeights(smallConfig(), 4), WeightForm::F32);
    const double bytes = copyOf(full).bytesRead(smallConfig());
    const auto refused = WeightCopy::begin(full, smallConfig(), {}, 2.0 * bytes - 1.0);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    QVERIFY(WeightCopy::begin(full, smallConfig(), {}, 2.0 * bytes).hasValue());
    const auto model = cpuModel(support::randomWeights(smallConfig(), 4),
                                {.threads = 1, .freeMemory = &littleMemory});
    QCOMPARE(model->makeCopyPiece().error().code, ErrorCode::NoMemory);
}

void WeightCopyTest::aPassOnACopyThatIsNotThereIsABug() {
    const auto model = cpuModel(support::randomWeights(smallConfig(), 4), {.threads = 1});
    QVERIFY_EXCEPTION_THROWN(guesses(*model, LayerPlan::copy(smallConfig().layerCount)), EngineBug);
}

QTEST_GUILESS_MAIN(WeightCopyTest)
#include "weight_copy_test.moc"
