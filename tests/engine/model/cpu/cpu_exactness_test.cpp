// SPDX-License-Identifier: Apache-2.0
// Logits, summaries and cache of the cpu backend are the same bits however a sequence is cut into
// passes: token by token, in pieces, as a path through a tree behind drafts with skipped layers, on
// one thread or two. SWIFT_STUDIO_EXACTNESS_CASES sets how many random cases each shape, form and
// instruction set gets.
#include "engine/base/to_size.h"
#include "tests/engine/model/cpu/exact_case.h"
#include "tests/support/few_cases.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using support::ExactCase;
using support::ExactForm;
using support::ExactSubject;
using support::VanillaRun;

Q_DECLARE_METATYPE(support::ExactForm)

namespace {

int caseCount() {
    bool isNumber = false;
    const int wanted = qEnvironmentVariableIntValue("SWIFT_STUDIO_EXACTNESS_CASES", &isNumber);
    return isNumber ? wanted : support::takesAllCases() ? 4 : 2;
}

struct NamedForm {
    const char* name;
    ExactForm form;
};

/// Those that every shape is tried in.
constexpr NamedForm kForms[] = {{"float32", {TensorType::F32, WeightForm::File}},
                                {"bfloat16", {TensorType::BF16, WeightForm::File}},
                                {"8-bit", {TensorType::Q8_0, WeightForm::File}},
                                {"4-bit, minima", {TensorType::Q4_1, WeightForm::File}}};

/// Those that one shape is tried in.
constexpr NamedForm kOtherForms[] = {{"float16", {TensorType::F16, WeightForm::File}},
                                     {"4-bit", {TensorType::Q4_0, WeightForm::File}},
                                     {"MXFP4", {TensorType::MXFP4, WeightForm::File}},
                                     {"4-bit as 8-bit", {TensorType::Q4_1, WeightForm::Int8}},
                                     {"rounded to 8-bit", {TensorType::F32, WeightForm::Int8}}};

/// Those of the wide shape.
constexpr NamedForm kWideForms[] = {{"Q4_K", {TensorType::Q4_K, WeightForm::File}},
                                    {"Q5_K", {TensorType::Q5_K, WeightForm::File}},
                                    {"Q6_K", {TensorType::Q6_K, WeightForm::File}},
                                    {"IQ4_XS", {TensorType::IQ4_XS, WeightForm::File}},
                                    {"Q3_K", {TensorType::Q3_K, WeightForm::File}}};

constexpr InstructionSet kSets[] = {
    InstructionSet::Scalar, InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Amx};

/// Those of this processor.
std::vector<InstructionSet> usableSets() {
    std::vector<InstructionSet> sets;
    for (const InstructionSet set : kSets)
        if (set <= bestInstructionSet())
            sets.push_back(set);
    return sets;
}

/// Each form with each instruction set; if they take turns, the next form has the next set, as the
/// same form has in the next shape.
void addRows(int shape, std::span<const NamedForm> forms, bool takeTurns) {
    const std::vector<InstructionSet> sets = usableSets();
    for (std::size_t i = 0; i < forms.size(); ++i)
        for (std::size_t j = 0; j < sets.size(); ++j)
            if (!takeTurns || j == (toSize(shape) + i) % sets.size())
                QTest::addRow(
                    "shape %d, %s, %s", shape, forms[i].name, instructionSetName(sets[j]).data())
                    << shape << forms[i].form << sets[j];
}

/// Of two rows or more the first number of each call is wrong by one last bit: the least that a
/// kernel which sums several rows in another order than one would do.
template <TileKernel kernel>
void changeWithTheRows(const TileMatrix& matrix,
                       const TileInput& input,
                       int firstTile,
                       int tileCount,
                       const TileOutput& out) {
    kernel(matrix, input, firstTile, tileCount, out);
    if (input.rows < 2)
        return;
    for (int row = 0; row < input.rows; ++row) {
        float& value = out.values[static_cast<std::size_t>(row) * out.stride +
                                  static_cast<std::size_t>(firstTile) * kTileRows];
        value = std::nextafter(value, 2.0F * value);
    }
}

/// Attention over keys that lie in several places is wrong by one last bit: the least that sums
/// which are cut by slots instead of by keys would do.
void attendBySlots(const AttendArguments& arguments) {
    scalarRowKernels().attend(arguments);
    if (arguments.runCount > 1)
        arguments.out[0] = std::nextafter(arguments.out[0], 2.0F * arguments.out[0]);
}

KernelSet brokenSet(InstructionSet set) {
    KernelSet broken = kernelSet(set);
    broken.multiplyTiles = set == InstructionSet::Amx      ? changeWithTheRows<multiplyTilesAmx>
                           : set == InstructionSet::Avx512 ? changeWithTheRows<multiplyTilesAvx512>
                           : set == InstructionSet::Avx2   ? changeWithTheRows<multiplyTilesAvx2>
                                                           : changeWithTheRows<multiplyTilesScalar>;
    return broken;
}

/// The first node of a tree behind some tokens whose logits are not those that it has as the only
/// row of a pass, after its ancestors; -1 if there is none. Every eighth node begins a branch.
int differingNode(ExactSubject& subject, int prefix, int nodes) {
    const LayerPlan plan = LayerPlan::full(subject.config.layerCount);
    const std::span<const TokenId> ids = subject.ids;
    KvCache cache = subject.emptyCache();
    support::runChain(*subject.transformer, cache, plan, ids.first(toSize(prefix)), 64);
    std::vector<int> parents;
    std::vector<std::vector<double>> alone;
    for (int node = 0; node < nodes; ++node) {
        parents.push_back(node % 8 == 0 ? node / 3 - 1 : node - 1);
        const auto layout = AttentionLayout::tree(prefix, parents, node, prefix);
        alone.push_back(support::logitsOf(
                            *subject.transformer, cache, plan, layout, ids.subspan(toSize(node), 1))
                            .front());
    }
    const auto together = support::logitsOf(*subject.transformer,
                                            cache,
                                            plan,
                                            AttentionLayout::tree(prefix, parents),
                                            ids.first(toSize(nodes)));
    const auto found = std::mismatch(alone.begin(), alone.end(), together.begin()).first;
    return found == alone.end() ? -1 : static_cast<int>(found - alone.begin());
}

/// Whether more than so many of 6 cases find a difference.
bool isFoundMoreOftenThan(int least, ExactSubject& subject) {
    VanillaRun vanilla(subject);
    int found = 0;
    for (unsigned i = 0; i < 6 && found <= least; ++i)
        found += ExactCase(subject, vanilla, i).run().isEmpty() ? 0 : 1;
    return found > least;
}

} // namespace

class CpuExactnessTest : public QObject {
    Q_OBJECT

private slots:

    void aPassIsTheSameBitsInAnyCompany_data() { addAll(3); }

    void aPassIsTheSameBitsInAnyCompany() {
        QFETCH(const int, shape);
        QFETCH(const ExactForm, form);
        QFETCH(const InstructionSet, set);
        ExactSubject one(shape, form, kernelSet(set), 1);
        ExactSubject two(shape, form, kernelSet(set), 2);
        VanillaRun vanilla(one);
        for (int i = 0; i < caseCount(); ++i) {
            ExactSubject& subject = i % 4 == 0 ? two : one;
            QCOMPARE(ExactCase(subject, vanilla, static_cast<unsigned>(i)).run(), QString());
        }
    }

    void rowsBehindWindowsAreTheSameBitsInAnyCompany_data() {
        QTest::addColumn<ExactForm>("form");
        QTest::addColumn<InstructionSet>("set");
        const std::vector<InstructionSet> sets = usableSets();
        std::size_t turn = 0; // in a sample each type of keys has one of the sets
        for (const KvType type : {KvType::F32, KvType::BF16, KvType::F16, KvType::Int8}) {
            for (std::size_t j = 0; j < sets.size(); ++j)
                if (support::takesAllCases() || j == turn % sets.size())
                    QTest::addRow(
                        "%s, %s", kvTypeName(type).data(), instructionSetName(sets[j]).data())
                        << ExactForm{.kvType = type} << sets[j];
            ++turn;
        }
    }

    void rowsBehindWindowsAreTheSameBitsInAnyCompany() {
        QFETCH(const ExactForm, form);
        QFETCH(const InstructionSet, set);
        ExactSubject subject(support::kWindowShape, form, kernelSet(set), 2);
        VanillaRun vanilla(subject);
        const LayerPlan plan = LayerPlan::full(subject.config.layerCount);
        for (const std::size_t rows : {2U, 7U, 16U, 40U, 200U}) {
            KvCache cache = subject.emptyCache();
            const auto logits =
                support::runChain(*subject.transformer, cache, plan, subject.ids, rows);
            QVERIFY2(logits == vanilla.logits, qPrintable(QString::number(rows)));
            QVERIFY(support::isSameCache(cache, vanilla.cache, cache.length()));
        }
        for (const int prefix : {3, 150})
            for (const int nodes : {7, 40, 2, 16}) {
                if (nodes < 7 && !support::takesAllCases())
                    break;
                QCOMPARE(differingNode(subject, prefix, nodes), -1);
            }
        for (int i = 0; i < caseCount(); ++i)
            QCOMPARE(ExactCase(subject, vanilla, static_cast<unsigned>(i)).run(), QString());
    }

    void threadsChangeNothing() {
        for (const TensorType type : {TensorType::BF16, TensorType::Q4_1}) {
            ExactSubject one(1, {type}, kernelSet(bestInstructionSet()), 1);
            VanillaRun expected(one);
            for (const int threads : {2, 3, 5}) {
                ExactSubject several(1, {type}, kernelSet(bestInstructionSet()), threads);
                VanillaRun vanilla(several);
                QVERIFY(vanilla.logits == expected.logits);
                QVERIFY(
                    support::isSameCache(vanilla.cache, expected.cache, vanilla.cache.length()));
            }
        }
    }

    void anOrderThatDependsOnTheRowsIsFound_data() { addAll(1); }

    void anOrderThatDependsOnTheRowsIsFound() {
        QFETCH(const int, shape);
        QFETCH(const ExactForm, form);
        QFETCH(const InstructionSet, set);
        ExactSubject subject(shape, form, brokenSet(set), 1);
        QVERIFY(isFoundMoreOftenThan(2, subject)); // the rest never ran several rows
    }

    void anAttentionThatDependsOnTheSlotsIsFound() {
        RowKernels rows = scalarRowKernels();
        rows.attend = attendBySlots;
        const KernelSet broken{InstructionSet::Scalar, rows, multiplyTilesScalar};
        ExactSubject subject(0, {}, broken, 1);
        QVERIFY(isFoundMoreOftenThan(1, subject)); // the rest accepted no path with others between
    }

private:
    static void addAll(int shapes) {
        QTest::addColumn<int>("shape");
        QTest::addColumn<ExactForm>("form");
        QTest::addColumn<InstructionSet>("set");
        const bool takesSample = !support::takesAllCases();
        for (int shape = 0; shape < shapes; ++shape)
            addRows(shape, kForms, takesSample);
        addRows(0, kOtherForms, support::takesFewCases());
        addRows(support::kWideShape, kWideForms, support::takesFewCases());
        for (int shape = support::kWideShape + 1; shape <= support::kWideShape + 3; ++shape)
            addRows(shape, kForms, takesSample);
    }
};

QTEST_GUILESS_MAIN(CpuExactnessTest)
#include "cpu_exactness_test.moc"
