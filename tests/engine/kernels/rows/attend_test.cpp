// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/kernels/rows/narrow_floats.h"
#include "tests/engine/kernels/rows/row_variants.h"
#include "tests/support/few_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace engine;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What attention is computed from, wherever it lies in a cache.
struct Problem {
    int groupSize = 1;
    int headDim = 64;
    int keyCount = 1;
    KvElement element = KvElement::F32;
    std::vector<float> queries; // [groupSize, headDim]
    std::vector<float> keys;    // [keyCount, headDim], by ordinal, numbers that `element` can hold
    std::vector<float> values;  // alike
};

/// What is left of rows [rows, headDim] that were stored.
void roundRows(std::vector<float>& rows, int headDim, KvElement element) {
    std::vector<std::byte> stored(toSize(kvRowBytes(element, headDim)));
    for (std::size_t row = 0; row < rows.size(); row += toSize(headDim)) {
        scalarRowKernels().storeKeyValue(rows.data() + row, headDim, element, stored.data());
        for (int i = 0; i < headDim; ++i)
            rows[row + toSize(i)] = kvNumber(stored.data(), element, headDim, i);
    }
}

/// Random keys and values; `spread` is that of the queries, and so of the scores.
Problem makeProblem(int groupSize, int headDim, int keyCount, KvElement element, float spread = 1) {
    Problem problem{groupSize, headDim, keyCount, element, {}, {}, {}};
    const auto seed = static_cast<unsigned>(1000 * groupSize + headDim + 7 * keyCount);
    const float scale = spread / std::sqrt(static_cast<float>(headDim));
    problem.queries = randomRow(groupSize * headDim, seed, scale);
    problem.keys = randomRow(keyCount * headDim, seed + 1);
    problem.values = randomRow(keyCount * headDim, seed + 2);
    for (std::vector<float>* plane : {&problem.keys, &problem.values})
        roundRows(*plane, headDim, element);
    return problem;
}

/// A plane of slots with the rows of `from` in theirs and NaN everywhere else. Ends where memory
/// does.
EdgeRow<std::byte> makePlane(const Problem& problem,
                             const std::vector<float>& from,
                             const std::vector<std::int32_t>& keySlots) {
    const int dim = problem.headDim;
    const int rowBytes = kvRowBytes(problem.element, dim);
    const int slotCount = *std::max_element(keySlots.begin(), keySlots.end()) + 1;
    EdgeRow<std::byte> plane(slotCount * rowBytes);
    const auto storeRow = [&](const float* row, int slot) {
        scalarRowKernels().storeKeyValue(row, dim, problem.element, plane.data() + slot * rowBytes);
    };
    const std::vector<float> none(toSize(dim), kNan);
    for (int slot = 0; slot < slotCount; ++slot)
        storeRow(none.data(), slot);
    for (int key = 0; key < problem.keyCount; ++key)
        storeRow(from.data() + key * dim, keySlots[toSize(key)]);
    return plane;
}

/// Where a problem's keys lie, and how the list of runs says so.
struct Placement {
    std::vector<std::int32_t> keySlots; // [keyCount], by ordinal
    std::vector<KeyRun> runs;
};

Placement inOneRun(int keyCount) {
    Placement placement{std::vector<std::int32_t>(toSize(keyCount)), {{0, keyCount}}};
    std::iota(placement.keySlots.begin(), placement.keySlots.end(), 0);
    return placement;
}

/// Runs of random lengths, some of them empty, in random places with gaps between them.
Placement scattered(int keyCount, int longestRun, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<std::int32_t> counts;
    for (int placed = 0; placed < keyCount;) {
        const int any = static_cast<int>(generator() % toSize(longestRun + 1));
        counts.push_back(std::min(any, keyCount - placed));
        placed += counts.back();
    }
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), generator);
    Placement placement;
    placement.runs.resize(counts.size());
    std::int32_t slot = 3;
    for (const std::size_t run : order) {
        placement.runs[run] = {slot, counts[run]};
        slot += counts[run] + static_cast<std::int32_t>(generator() % 3);
    }
    for (const KeyRun run : placement.runs)
        for (std::int32_t i = 0; i < run.count; ++i)
            placement.keySlots.push_back(run.slot + i);
    return placement;
}

std::vector<float>
attend(const RowKernels& kernels, const Problem& problem, const Placement& placement) {
    EdgeRow<float> queries(problem.queries);
    EdgeRow<std::byte> keys = makePlane(problem, problem.keys, placement.keySlots);
    EdgeRow<std::byte> values = makePlane(problem, problem.values, placement.keySlots);
    EdgeRow<float> scratch(attendScratchFloats(problem.headDim));
    EdgeRow<float> out(problem.groupSize * problem.headDim);
    std::fill_n(scratch.data(), attendScratchFloats(problem.headDim), kNan);
    std::fill_n(out.data(), problem.groupSize * problem.headDim, kNan);
    kernels.attend({queries.data(),
                    keys.data(),
                    values.data(),
                    placement.runs.data(),
                    static_cast<std::int32_t>(placement.runs.size()),
                    problem.groupSize,
                    problem.headDim,
                    problem.element,
                    scratch.data(),
                    out.data()});
    return out.values();
}

std::vector<float> attend(const RowKernels& kernels, const Problem& problem) {
    return attend(kernels, problem, inOneRun(problem.keyCount));
}

/// The definition, in double precision.
std::vector<double> reference(const Problem& problem) {
    const int dim = problem.headDim;
    std::vector<double> out(toSize(problem.groupSize * dim), 0.0);
    for (int head = 0; head < problem.groupSize; ++head) {
        std::vector<double> weights;
        for (int key = 0; key < problem.keyCount; ++key) {
            double score = 0.0;
            for (int i = 0; i < dim; ++i)
                score += static_cast<double>(problem.queries[toSize(head * dim + i)]) *
                         problem.keys[toSize(key * dim + i)];
            weights.push_back(score);
        }
        const double highest = *std::max_element(weights.begin(), weights.end());
        double total = 0.0;
        for (double& weight : weights)
            total += weight = std::exp(weight - highest);
        for (int key = 0; key < problem.keyCount; ++key)
            for (int i = 0; i < dim; ++i)
                out[toSize(head * dim + i)] +=
                    weights[toSize(key)] / total * problem.values[toSize(key * dim + i)];
    }
    return out;
}

double highestError(const RowKernels& kernels, const Problem& problem) {
    const std::vector<float> out = attend(kernels, problem);
    const std::vector<double> expected = reference(problem);
    double highest = 0.0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double error = std::abs(out[i] - expected[i]);
        highest = error <= highest ? highest : error; // NaN counts as higher
    }
    return highest;
}

/// Neighbouring rows of a prompt, the first of which has `firstCount` keys; each sees the last
/// `window` of its keys, or all.
struct PromptRows {
    Problem problem; // queries [rows, groupSize, headDim]
    int rows;
    int firstCount;
    int window;
    float softCap;

    int width() const { return problem.groupSize * problem.headDim; }

    KeyRun run(int row) const {
        const int hidden = window > 0 ? std::max(firstCount + row - window, 0) : 0;
        return {2 + hidden, firstCount + row - hidden, hidden % kAttendSectionKeys};
    }
};

PromptRows
makeRows(int rows, int groupSize, int headDim, int firstCount, int window, KvElement element) {
    const int keys = firstCount + rows - 1;
    PromptRows prompt{
        makeProblem(groupSize, headDim, keys, element), rows, firstCount, window, 0.0F};
    prompt.problem.queries = randomRow(rows * prompt.width(), 77U, 0.5F);
    return prompt;
}

/// Each row alone: section after section.
std::vector<float> attendAlone(const RowKernels& kernels,
                               const PromptRows& prompt,
                               const std::byte* keys,
                               const std::byte* values) {
    const Problem& problem = prompt.problem;
    std::vector<float> out(toSize(prompt.rows * prompt.width()));
    std::vector<float> scratch(toSize(attendScratchFloats(problem.headDim)));
    std::vector<float> parts;
    std::vector<AttendTotal> totals;
    for (int row = 0; row < prompt.rows; ++row) {
        const KeyRun run = prompt.run(row);
        const int count = (run.lead + run.count + kAttendSectionKeys - 1) / kAttendSectionKeys;
        parts.resize(toSize(count * prompt.width()));
        totals.resize(toSize(count * problem.groupSize));
        std::vector<AttendSums> sections;
        for (int section = 0; section < count; ++section) {
            sections.push_back({parts.data() + section * prompt.width(),
                                totals.data() + section * problem.groupSize});
            kernels.attend({.queries = problem.queries.data() + row * prompt.width(),
                            .keys = keys,
                            .values = values,
                            .runs = &run,
                            .runCount = 1,
                            .groupSize = problem.groupSize,
                            .headDim = problem.headDim,
                            .element = problem.element,
                            .scratch = scratch.data(),
                            .out = sections.back().values,
                            .section = section,
                            .totals = sections.back().totals,
                            .softCap = prompt.softCap});
        }
        kernels.joinSections(problem.groupSize,
                             problem.headDim,
                             sections.data(),
                             count,
                             out.data() + row * prompt.width());
    }
    return out;
}

bool areRowsTheSame(const RowKernels& kernels, const PromptRows& prompt) {
    const Problem& problem = prompt.problem;
    std::vector<std::int32_t> places(toSize(problem.keyCount));
    std::iota(places.begin(), places.end(), 2);
    EdgeRow<std::byte> keys = makePlane(problem, problem.keys, places);
    EdgeRow<std::byte> values = makePlane(problem, problem.values, places);
    const int scratchFloats =
        attendRowsScratchFloats(prompt.rows * problem.groupSize, problem.headDim);
    EdgeRow<float> queries(problem.queries);
    EdgeRow<float> scratch(scratchFloats);
    EdgeRow<float> out(prompt.rows * prompt.width());
    std::fill_n(scratch.data(), scratchFloats, kNan);
    std::vector<KeyRun> runs;
    for (int row = 0; row < prompt.rows; ++row)
        runs.push_back(prompt.run(row));
    kernels.attendRows({queries.data(),
                        keys.data(),
                        values.data(),
                        runs.data(),
                        prompt.rows,
                        problem.groupSize,
                        problem.headDim,
                        problem.element,
                        scratch.data(),
                        out.data(),
                        prompt.width(),
                        prompt.softCap});
    return hasSameBits(out.values(), attendAlone(kernels, prompt, keys.data(), values.data()));
}

constexpr KvElement kElements[] = {
    KvElement::F32, KvElement::BF16, KvElement::F16, KvElement::Int8};

} // namespace

class AttendTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase_data() { addVariants(); }

    void rowsAgreeWithDoublePrecision();
    void longContextsAgreeWithDoublePrecision();
    void anyWidthOfHeadsIsTaken();
    void dividingTheKeysInAnotherWayChangesNoBit();
    void headsDoNotNoticeEachOther();
    void keysAreCutInBlocksFromTheFirstOne();
    void hiddenKeysKeepTheirPlaces();
    void scoresFarApartNeitherOverflowNorVanish();
    void whatIsNotFiniteIsCarriedOn();
    void bothVectorSetsGiveTheSameBits();
    void rowsOfAPromptKeepTheBitsThatTheyHaveAlone_data();
    void rowsOfAPromptKeepTheBitsThatTheyHaveAlone();
};

void AttendTest::rowsAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    support::FewCases few;
    for (const KvElement element : kElements)
        for (int groupSize = 1; groupSize <= 9; ++groupSize)
            for (const int headDim : {64, 128})
                for (const int keyCount : {1, 2, 3, 15, 16, 17, 63, 64, 65, 80, 131}) {
                    if (few.skipsNext())
                        continue;
                    const Problem problem = makeProblem(groupSize, headDim, keyCount, element);
                    QVERIFY(highestError(kernels, problem) < 1.5e-6);
                }
}

void AttendTest::longContextsAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    for (const KvElement element : kElements)
        for (const float spread : {0.1F, 4.0F}) {
            const int keys = support::takesFewCases() ? 1500 : 5000;
            const double error = highestError(kernels, makeProblem(3, 64, keys, element, spread));
            // A score of 20, rounded to float32, leaves some 2e-6 of its weight uncertain.
            QVERIFY2(error < (spread < 1.0F ? 1e-6 : 8e-6), qPrintable(QString::number(error)));
        }
}

void AttendTest::anyWidthOfHeadsIsTaken() {
    FETCH_KERNELS;
    support::FewCases few;
    for (const KvElement element : kElements)
        for (int headDim = 1; headDim <= kMaxHeadDim; headDim += headDim < 70 ? 1 : 31)
            for (const int groupSize : {1, 4, 7}) {
                if (few.skipsNext())
                    continue;
                const Problem problem = makeProblem(groupSize, headDim, 21, element);
                QVERIFY(highestError(kernels, problem) < 1.5e-6);
            }
    QVERIFY(highestError(kernels, makeProblem(8, kMaxHeadDim, 70, KvElement::BF16)) < 1.5e-6);
}

void AttendTest::dividingTheKeysInAnotherWayChangesNoBit() {
    FETCH_KERNELS;
    support::FewCases few;
    for (const KvElement element : kElements)
        for (const int keyCount : {1, 5, 64, 67, 200, 333})
            for (const int headDim : {64, 38}) {
                const Problem problem = makeProblem(3, headDim, keyCount, element, 2.0F);
                std::vector<float> expected;
                for (unsigned seed = 0; seed < 12; ++seed) {
                    if (few.skipsNext())
                        continue;
                    expected = expected.empty() ? attend(kernels, problem) : expected;
                    const int longestRun = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 7 : 150;
                    const Placement placement = scattered(keyCount, longestRun, seed);
                    QVERIFY(hasSameBits(attend(kernels, problem, placement), expected));
                }
            }
}

void AttendTest::headsDoNotNoticeEachOther() {
    FETCH_KERNELS;
    for (int groupSize = 2; groupSize <= 11; groupSize += support::takesFewCases() ? 3 : 1)
        for (const int headDim : {64, 50}) {
            const Problem group = makeProblem(groupSize, headDim, 90, KvElement::BF16);
            const std::vector<float> together = attend(kernels, group);
            for (int head = 0; head < groupSize; ++head) {
                Problem single = group;
                single.groupSize = 1;
                const auto begin = group.queries.begin() + head * headDim;
                single.queries.assign(begin, begin + headDim);
                const auto from = together.begin() + head * headDim;
                QVERIFY(
                    hasSameBits(attend(kernels, single), std::vector<float>(from, from + headDim)));
            }
        }
}

/// The first block of a longer row is the whole of a shorter one: keys that weigh nothing add
/// nothing, so a row of 64 keys must keep its bits when they follow.
void AttendTest::keysAreCutInBlocksFromTheFirstOne() {
    FETCH_KERNELS;
    Problem problem = makeProblem(4, 64, kAttendBlockKeys, KvElement::F32);
    const std::vector<float> expected = attend(kernels, problem);
    for (int head = 0; head < problem.groupSize; ++head)
        problem.queries[toSize(head * 64)] = 4.0F;
    for (int key = 0; key < problem.keyCount; ++key)
        problem.keys[toSize(key * 64)] = 0.0F;
    const std::vector<float> before = attend(kernels, problem);
    QVERIFY(!hasSameBits(before, expected));
    std::vector<float> faint(64, 0.0F);
    faint[0] = -1000.0F; // a score of -4000
    for (int more = 0; more < 100; ++more) {
        problem.keys.insert(problem.keys.end(), faint.begin(), faint.end());
        problem.values.insert(problem.values.end(), 64, 1.0F);
        ++problem.keyCount;
    }
    QVERIFY(hasSameBits(attend(kernels, problem), before));
}

/// Keys that weigh nothing before the others are the same as keys that a window hides.
void AttendTest::hiddenKeysKeepTheirPlaces() {
    FETCH_KERNELS;
    for (const KvElement element : kElements)
        for (const int hidden : {1, 6, 16, 37, 63})
            for (const int keyCount : {1, 30, 200}) {
                Problem problem = makeProblem(9, 32, hidden + keyCount, element);
                for (int head = 0; head < problem.groupSize; ++head)
                    problem.queries[toSize(head * 32)] = 4.0F;
                for (int key = 0; key < problem.keyCount; ++key)
                    problem.keys[toSize(key * 32)] = key < hidden ? -1000.0F : 0.0F;
                const std::vector<float> expected = attend(kernels, problem);
                problem.keyCount = keyCount;
                for (std::vector<float>* plane : {&problem.keys, &problem.values})
                    plane->erase(plane->begin(), plane->begin() + hidden * 32);
                Placement placement = inOneRun(keyCount);
                placement.runs.front().lead = hidden;
                QVERIFY(hasSameBits(attend(kernels, problem, placement), expected));
            }
}

void AttendTest::scoresFarApartNeitherOverflowNorVanish() {
    FETCH_KERNELS;
    for (const float sharp : {1e4F, -1e4F, 1e30F}) {
        Problem problem = makeProblem(2, 16, 150, KvElement::F32);
        std::fill(problem.queries.begin(), problem.queries.end(), 1.0F);
        for (std::size_t i = 0; i < problem.keys.size(); ++i)
            problem.keys[i] = sharp * static_cast<float>(i / 16 + 1);
        const std::size_t best = sharp > 0 ? 149 : 0;
        const std::vector<float> out = attend(kernels, problem);
        for (std::size_t i = 0; i < out.size(); ++i)
            QCOMPARE(out[i], problem.values[best * 16 + i % 16]);
    }
}

void AttendTest::whatIsNotFiniteIsCarriedOn() {
    FETCH_KERNELS;
    for (const KvElement element : kElements)
        for (const std::size_t key : {0U, 20U, 63U, 64U, 99U}) {
            const Problem whole = makeProblem(5, 32, 100, element);
            Problem problem = whole;
            problem.keys[key * 32 + 5] = kNan;
            for (const float value : attend(kernels, problem))
                QVERIFY(std::isnan(value));
            problem = whole;
            problem.values[key * 32 + 5] = kInfinity;
            const std::vector<float> out = attend(kernels, problem);
            for (std::size_t i = 0; i < out.size(); ++i)
                if (element == KvElement::Int8) // all numbers of the group have its scale
                    QVERIFY(std::isnan(out[i]));
                else
                    QCOMPARE(out[i] == kInfinity, i % 32 == 5);
        }
    Problem lost = makeProblem(2, 32, 100, KvElement::F32);
    std::fill(lost.keys.begin(), lost.keys.end(), kNan);
    for (const float value : attend(kernels, lost))
        QVERIFY(std::isnan(value));
}

void AttendTest::bothVectorSetsGiveTheSameBits() {
    FETCH_KERNELS;
    const RowKernels* other = runnableKernels("AVX2");
    if (variant != "AVX-512" || other == nullptr)
        QSKIP("there is nothing to compare with");
    support::FewCases few;
    for (const KvElement element : kElements)
        for (int groupSize = 1; groupSize <= 9; ++groupSize)
            for (const int headDim : {10, 64, 80, 128})
                for (const int keyCount : {1, 17, 64, 201}) {
                    if (few.skipsNext())
                        continue;
                    const Problem problem =
                        makeProblem(groupSize, headDim, keyCount, element, 3.0F);
                    QVERIFY(hasSameBits(attend(kernels, problem), attend(*other, problem)));
                }
}

void AttendTest::rowsOfAPromptKeepTheBitsThatTheyHaveAlone_data() {
    QTest::addColumn<int>("element");
    QTest::addColumn<int>("headDim");
    for (const KvElement element : kElements)
        for (const int headDim : {1, 50, 64, 256})
            QTest::addRow("element %d, width %d", static_cast<int>(element), headDim)
                << static_cast<int>(element) << headDim;
}

void AttendTest::rowsOfAPromptKeepTheBitsThatTheyHaveAlone() {
    FETCH_KERNELS;
    QFETCH(const int, element);
    QFETCH(const int, headDim);
    support::FewCases few(17);
    const std::pair<int, int> countsAndWindows[] = {
        {1, 0}, {40, 0}, {64, 0}, {1150, 0}, {130, 0}, {30, 1}, {70, 20}, {100, 64}, {150, 100}};
    for (const int groupSize : {1, 3, 17})
        for (const int rows : {1, 7, 33})
            for (const auto& [firstCount, window] : countsAndWindows) {
                if (few.skipsNext() || (firstCount > 1000 && rows * headDim > 500))
                    continue;
                PromptRows prompt = makeRows(
                    rows, groupSize, headDim, firstCount, window, static_cast<KvElement>(element));
                prompt.softCap = rows == 7 ? 5.0F : 0.0F;
                QVERIFY(areRowsTheSame(kernels, prompt));
            }
}

QTEST_GUILESS_MAIN(AttendTest)
#include "attend_test.moc"
