// SPDX-License-Identifier: Apache-2.0
// Logits, summaries and cache of the cpu backend are the same bits however a sequence is cut into
// passes: token by token, in pieces, as a path through a tree behind drafts with skipped layers.
// SWIFT_STUDIO_EXACTNESS_CASES sets how many random cases each shape, form and instruction set
// gets.
#include "engine/kernels/kernel_set.h"
#include "engine/model/cpu/cpu_transformer.h"
#include "tests/support/forward_helpers.h"
#include "tests/support/stored_weights.h"

#include <QTest>

#include <random>

using namespace engine;

namespace {

constexpr int kTokens = 96; // more than one block of keys

ModelConfig shapeOf(int index) {
    ModelConfig config = support::tinyConfig();
    config.hiddenSize = index == 1 ? 96 : 64;
    config.mlpSize = index == 2 ? 224 : 96;
    config.headCount = index == 2 ? 8 : 4;
    config.kvHeadCount = index == 0 ? 4 : 2;
    config.headDim = index == 0 ? 16 : index == 1 ? 24 : 20;
    config.vocabSize = 160 + 600 * index; // the largest one is summarised in three pieces
    config.qkvBias = index == 1;
    config.tiedHead = index == 2;
    if (index == 1)
        config.layerWindows = {0, 24, 0};
    return config;
}

/// One network and what vanilla decoding of a sequence gives with it.
struct Subject {
    Subject(int shape, TensorType type, const KernelSet& kernels, int threads)
        : config(shapeOf(shape)) {
        const support::StoredWeights source(support::randomWeights(config, 3), type);
        TransformerOptions options;
        options.weights = WeightForm::File;
        options.threads = threads;
        auto weights = cpu::packWeights(config, source, options);
        ENGINE_CHECK(weights.hasValue(), "{}", weights.error().message);
        transformer = std::make_unique<cpu::CpuTransformer>(
            config, std::move(weights).value(), options, kernels);
        std::mt19937 random(5);
        for (int i = 0; i < kTokens; ++i)
            ids.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(config.vocabSize)));
    }

    ModelConfig config;
    std::unique_ptr<cpu::CpuTransformer> transformer;
    std::vector<TokenId> ids;
};

struct Vanilla {
    explicit Vanilla(Subject& subject)
        : cache(support::emptyCache(*subject.transformer, kTokens + 64)) {
        const LayerPlan plan = LayerPlan::full(subject.config.layerCount);
        const int row = 0;
        for (int i = 0; i < kTokens; ++i) {
            const auto result = subject.transformer->forward(
                {.plan = plan,
                 .layout = AttentionLayout::chain(i, 1),
                 .tokens = std::span(subject.ids).subspan(static_cast<std::size_t>(i), 1),
                 .logitRows = {&row, 1},
                 .summaryRows = {&row, 1}},
                cache);
            ENGINE_CHECK(result.hasValue(), "{}", result.error().message);
            logits.push_back(result.value().logits);
            summaries.push_back(result.value().summaries.front());
            cache.commit(1);
        }
    }

    KvCache cache;
    std::vector<std::vector<double>> logits;
    std::vector<HeadSummary> summaries;
};

bool isSameSummary(const HeadSummary& a, const HeadSummary& b) {
    return a.ids == b.ids && a.logits == b.logits && a.count == b.count &&
           a.logSumExp == b.logSumExp;
}

bool isSameCache(KvCache& a, KvCache& b, Position length) {
    auto& first = dynamic_cast<HostKvStorage&>(a.storage());
    auto& second = dynamic_cast<HostKvStorage&>(b.storage());
    const KvShape& shape = first.shape();
    const auto slotBytes =
        static_cast<std::size_t>(shape.headDim) * (shape.type == KvType::F32 ? 4 : 2);
    const auto plane = static_cast<std::size_t>(shape.capacity) * slotBytes;
    const std::size_t used = static_cast<std::size_t>(length) * slotBytes;
    for (int layer = 0; layer < shape.layerCount; ++layer)
        for (std::size_t head = 0; head < static_cast<std::size_t>(shape.kvHeadCount); ++head)
            if (std::memcmp(first.keys(layer) + head * plane,
                            second.keys(layer) + head * plane,
                            used) != 0 ||
                std::memcmp(first.values(layer) + head * plane,
                            second.values(layer) + head * plane,
                            used) != 0)
                return false;
    return true;
}

/// A random way to come to a place of the sequence, to draft there and to verify.
class Case {
public:
    Case(Subject& subject, Vanilla& vanilla, unsigned seed)
        : m_subject(subject)
        , m_vanilla(vanilla)
        , m_random(seed)
        , m_cache(support::emptyCache(*subject.transformer, kTokens + 64)) {}

    /// What differs first; empty when nothing does.
    QString run() {
        const int prefix = below(kTokens - 12);
        while (m_cache.length() < prefix) {
            const int rows = std::min(1 + below(40), prefix - m_cache.length());
            if (!pass(rows))
                return "a piece of the prompt";
        }
        draft();
        return verify();
    }

private:
    int below(int bound) { return static_cast<int>(m_random() % static_cast<unsigned>(bound)); }

    /// The next tokens in one pass.
    bool pass(int rows) {
        const int begin = m_cache.length();
        const auto logits = support::logitsOf(
            *m_subject.transformer,
            m_cache,
            LayerPlan::full(m_subject.config.layerCount),
            AttentionLayout::chain(begin, rows),
            std::span(m_subject.ids)
                .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows)));
        m_cache.commit(rows);
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (logits[i] != m_vanilla.logits[static_cast<std::size_t>(begin) + i])
                return false;
        return true;
    }

    /// Rows of random tokens under a random plan, which are forgotten.
    void draft() {
        LayerPlan plan = LayerPlan::full(m_subject.config.layerCount);
        for (auto* actions : {&plan.attention, &plan.mlp})
            for (SublayerAction& action : *actions)
                if (below(2) == 0)
                    action = SublayerAction::Skip;
        for (int step = 0; step < below(4); ++step) {
            const TokenId token = below(m_subject.config.vocabSize);
            support::logitsOf(*m_subject.transformer,
                              m_cache,
                              plan,
                              AttentionLayout::chain(m_cache.length() + step, 1),
                              {&token, 1});
        }
    }

    /// A tree that holds the sequence's next tokens among others.
    QString verify() {
        const int length = m_cache.length();
        const int path = 1 + below(7);
        std::vector<int> parents;
        std::vector<TokenId> tokens;
        std::vector<int> pathNodes;
        while (static_cast<int>(pathNodes.size()) < path || below(3) > 0) {
            const bool isOnPath = static_cast<int>(pathNodes.size()) < path && below(2) == 0;
            const int node = static_cast<int>(parents.size());
            if (node >= 40)
                break;
            if (isOnPath) {
                parents.push_back(pathNodes.empty() ? -1 : pathNodes.back());
                tokens.push_back(
                    m_subject.ids[static_cast<std::size_t>(length) + pathNodes.size()]);
                pathNodes.push_back(node);
            } else {
                parents.push_back(below(node + 1) - 1);
                tokens.push_back(below(m_subject.config.vocabSize));
            }
        }
        const AttentionLayout layout = AttentionLayout::tree(length, parents);
        const LayerPlan plan = LayerPlan::full(m_subject.config.layerCount);
        const auto result = m_subject.transformer->forward({.plan = plan,
                                                            .layout = layout,
                                                            .tokens = tokens,
                                                            .logitRows = pathNodes,
                                                            .summaryRows = pathNodes},
                                                           m_cache);
        if (!result)
            return QString::fromStdString(result.error().message);
        std::vector<Position> kept;
        for (std::size_t i = 0; i < pathNodes.size(); ++i) {
            const std::size_t at = static_cast<std::size_t>(length) + i;
            const auto row = result.value().logitRow(static_cast<int>(i));
            if (!std::equal(row.begin(), row.end(), m_vanilla.logits[at].begin()))
                return QString("logits at %1").arg(at);
            if (!isSameSummary(result.value().summaries[i], m_vanilla.summaries[at]))
                return QString("summary at %1").arg(at);
            kept.push_back(length + pathNodes[i]);
        }
        m_cache.keepPath(kept);
        return isSameCache(m_cache, m_vanilla.cache, m_cache.length()) ? QString() : "cache";
    }

    Subject& m_subject;
    Vanilla& m_vanilla;
    std::mt19937 m_random;
    KvCache m_cache;
};

int caseCount() {
    bool isNumber = false;
    const int wanted = qEnvironmentVariableIntValue("SWIFT_STUDIO_EXACTNESS_CASES", &isNumber);
    return isNumber ? wanted : 12;
}

/// Of two rows or more it adds the columns of the first tile's numbers in another order: what a
/// kernel that is faster for several rows might do.
void multiplyInAnotherOrder(const TileMatrix& matrix,
                            const TileInput& input,
                            int firstTile,
                            int tileCount,
                            const TileOutput& out) {
    multiplyTilesScalar(matrix, input, firstTile, tileCount, out);
    if (input.rows < 2)
        return;
    for (int row = 0; row < input.rows; ++row) {
        float& value = out.values[static_cast<std::size_t>(row) * out.stride +
                                  static_cast<std::size_t>(firstTile) * kTileRows];
        value = std::nextafter(value, 2.0F * value); // by one last bit
    }
}

} // namespace

class CpuExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void aPassIsTheSameBitsInAnyCompany_data() {
        QTest::addColumn<int>("shape");
        QTest::addColumn<TensorType>("type");
        QTest::addColumn<InstructionSet>("set");
        for (const TensorType type :
             {TensorType::F32, TensorType::BF16, TensorType::Q8_0, TensorType::Q4_1})
            for (const InstructionSet set :
                 {InstructionSet::Scalar, InstructionSet::Avx2, InstructionSet::Avx512})
                for (int shape = 0; shape < 3; ++shape)
                    if (set <= bestInstructionSet())
                        QTest::addRow("shape %d, %s, %s",
                                      shape,
                                      tensorTypeName(type).data(),
                                      instructionSetName(set).data())
                            << shape << type << set;
    }

    void aPassIsTheSameBitsInAnyCompany() {
        QFETCH(const int, shape);
        QFETCH(const TensorType, type);
        QFETCH(const InstructionSet, set);
        Subject subject(shape, type, kernelSet(set), 2);
        Vanilla vanilla(subject);
        for (int i = 0; i < caseCount(); ++i)
            QCOMPARE(Case(subject, vanilla, static_cast<unsigned>(i)).run(), QString());
    }

    void threadsChangeNothing() {
        for (const TensorType type : {TensorType::BF16, TensorType::Q4_1}) {
            Subject one(1, type, kernelSet(bestInstructionSet()), 1);
            Vanilla expected(one);
            for (const int threads : {2, 3, 5}) {
                Subject several(1, type, kernelSet(bestInstructionSet()), threads);
                Vanilla vanilla(several);
                QVERIFY(vanilla.logits == expected.logits);
                QVERIFY(isSameCache(vanilla.cache, expected.cache, kTokens));
            }
        }
    }

    void anOrderThatDependsOnTheRowsIsFound() {
        const KernelSet broken{InstructionSet::Scalar, scalarRowKernels(), multiplyInAnotherOrder};
        Subject subject(0, TensorType::F32, broken, 1);
        Vanilla vanilla(subject);
        int found = 0;
        for (int i = 0; i < 12; ++i)
            found += Case(subject, vanilla, static_cast<unsigned>(i)).run().isEmpty() ? 0 : 1;
        QVERIFY(found > 6); // the rest never ran several rows
    }
};

QTEST_GUILESS_MAIN(CpuExactnessTest)
#include "cpu_exactness_test.moc"
