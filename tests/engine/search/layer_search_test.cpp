// SPDX-License-Identifier: Apache-2.0
#include "engine/search/layer_search.h"
#include "engine/search/numerics/search_random.h"

#include <QTest>

#include <algorithm>
#include <numeric>
#include <set>

using namespace engine;

namespace {

using Bits = std::vector<std::uint8_t>;

int countOf(const Bits& bits) { return std::accumulate(bits.begin(), bits.end(), 0); }

LayerSearchOptions optionsFor(int layers, double ratio, std::uint64_t seed) {
    const SkipSpace space = SkipSpace::inner(layers);
    return {.space = space,
            .budget = SkipBudget::unit(space.dims(), space.skippedCount(ratio)),
            .seed = seed};
}

/// A planted score in [0, 1]: 1 for the set of the highest gains, less for each other choice.
struct PlantedScore {
    std::vector<double> gains; // [dims]

    explicit PlantedScore(int dims, std::uint64_t seed)
        : gains(SearchRandom(seed).uniformPoint(dims)) {}

    double operator()(const Bits& bits) const {
        double found = 0.0;
        for (std::size_t i = 0; i < bits.size(); ++i)
            found += bits[i] != 0 ? gains[i] : 0.0;
        std::vector<double> sorted = gains;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        return found / std::accumulate(sorted.begin(), sorted.begin() + countOf(bits), 1e-300);
    }
};

Trial nextTrial(LayerSearch& search) {
    auto trial = search.nextTrial({});
    if (!trial)
        qFatal("a trial failed: %s", trial.error().message.c_str());
    return std::move(trial).value();
}

/// All searches over the same options, with their names.
std::vector<std::pair<const char*, std::unique_ptr<LayerSearch>>>
allSearches(const LayerSearchOptions& options) {
    std::vector<std::pair<const char*, std::unique_ptr<LayerSearch>>> searches;
    searches.emplace_back("random", makeRandomSearch(options));
    searches.emplace_back("continuous", makeBayesianSearch(options, {}));
    searches.emplace_back("discrete",
                          makeBayesianSearch(options, {.maximiser = BayesianMaximiser::Discrete}));
    searches.emplace_back(
        "as published",
        makeBayesianSearch(options,
                           {.registerContinuousPoint = true, .tieBreak = TieBreak::Lexicographic}));
    return searches;
}

/// Best score after `drawn` random trials, from which both learn, and `suggested` of the search.
double bestScore(LayerSearch& search,
                 const LayerSearchOptions& options,
                 const PlantedScore& score,
                 int suggested) {
    const auto random = makeRandomSearch(options);
    double best = 0.0;
    for (int i = 0; i < 24 + suggested; ++i) {
        const Trial trial = nextTrial(i < 24 ? *random : search);
        best = std::max(best, score(trial.bits));
        search.record(trial, score(trial.bits));
    }
    return best;
}

} // namespace

class LayerSearchTest : public QObject {
    Q_OBJECT

private slots:
    void everyKindOfTrialHasAName();
    void everyCandidateSkipsExactlyTheCount();
    void byteBudgetsAreKept();
    void theSameSeedGivesTheSameTrials();
    void randomTrialsFollowTheWeights();
    void withNothingRecordedASetIsDrawn();
    void bayesianSearchBeatsRandomSearch_data();
    void bayesianSearchBeatsRandomSearch();
    void continuousPointsAreRegisteredOnRequest();
    void equalCoordinatesAreSkippedByNameOnRequest();
    void aFreeRatioSkipsWhatIsAboveHalf();
    void aStopCancelsASuggestion();
    void smallModelsGetFullPlans();
    void wrongShapesAreBugs();
};

void LayerSearchTest::everyKindOfTrialHasAName() {
    std::set<std::string_view> names;
    for (const TrialKind kind : {TrialKind::Start,
                                 TrialKind::Random,
                                 TrialKind::Bayesian,
                                 TrialKind::Rescore,
                                 TrialKind::Manual})
        names.insert(trialKindName(kind));
    QCOMPARE(names.size(), std::size_t{5});
    QVERIFY(!names.contains("unknown"));
}

void LayerSearchTest::everyCandidateSkipsExactlyTheCount() {
    constexpr int kLayers = 12;
    const LayerSearchOptions options = optionsFor(kLayers, 0.45, 5);
    for (auto& [name, search] : allSearches(options)) {
        // A start set of another size (10 instead of 9) must not spoil what is suggested.
        const Trial start = makeTrial(TrialKind::Start, options.space, options.space.oddLayers());
        QCOMPARE(countOf(start.bits), 10);
        search->record(start, 0.9);
        std::set<std::vector<int>> seen;
        for (int i = 0; i < 12; ++i) {
            const Trial trial = nextTrial(*search);
            QCOMPARE(countOf(trial.bits), 9);
            QVERIFY(trial.plan == options.space.plan(trial.bits));
            for (const int layer : {0, kLayers - 1})
                QVERIFY(trial.plan.runsAttention(layer) && trial.plan.runsMlp(layer));
            seen.emplace(trial.bits.begin(), trial.bits.end());
            search->record(trial, 0.05 * i);
        }
        QVERIFY2(seen.size() > 4, name);
    }
}

void LayerSearchTest::byteBudgetsAreKept() {
    LayerSearchOptions options = optionsFor(12, 0.45, 5);
    options.budget.total = 500.0;
    for (std::size_t i = 0; i < options.budget.costs.size(); ++i)
        options.budget.costs[i] = i < 10 ? 21.0 : 88.0;
    for (auto& [name, search] : allSearches(options))
        for (int i = 0; i < 8; ++i) {
            const Trial trial = nextTrial(*search);
            double spent = 0.0;
            for (std::size_t j = 0; j < trial.bits.size(); ++j)
                spent += trial.bits[j] * options.budget.costs[j];
            QVERIFY2(spent > 300.0 && spent <= 500.0, name);
            search->record(trial, 0.1 * (i % 3));
        }
}

void LayerSearchTest::theSameSeedGivesTheSameTrials() {
    const auto first = allSearches(optionsFor(12, 0.45, 5));
    const auto again = allSearches(optionsFor(12, 0.45, 5));
    const auto other = allSearches(optionsFor(12, 0.45, 6));
    for (std::size_t i = 0; i < first.size(); ++i) {
        int differences = 0;
        for (int trial = 0; trial < 6; ++trial) {
            const Trial one = nextTrial(*first[i].second);
            const Trial two = nextTrial(*again[i].second);
            const Trial three = nextTrial(*other[i].second);
            QCOMPARE(one.bits, two.bits);
            QCOMPARE(one.point, two.point);
            differences += one.bits != three.bits ? 1 : 0;
            first[i].second->record(one, 0.1 * trial);
            again[i].second->record(two, 0.1 * trial);
            other[i].second->record(three, 0.1 * trial);
        }
        QVERIFY2(differences > 0, first[i].first);
    }
}

void LayerSearchTest::randomTrialsFollowTheWeights() {
    LayerSearchOptions options = optionsFor(4, 0.25, 3); // 1 of 4
    options.weights = {1.0, 0.0, 2.0, 5.0};
    const auto search = makeRandomSearch(options);
    std::vector<int> counts(4, 0);
    constexpr int kDraws = 8000;
    for (int i = 0; i < kDraws; ++i) {
        const Trial trial = nextTrial(*search);
        for (std::size_t j = 0; j < 4; ++j)
            counts[j] += trial.bits[j];
    }
    for (std::size_t j = 0; j < 4; ++j)
        QVERIFY(std::abs(counts[j] / double(kDraws) - options.weights[j] / 8.0) < 0.028);
    QCOMPARE(counts[1], 0);
}

void LayerSearchTest::withNothingRecordedASetIsDrawn() {
    const LayerSearchOptions options = optionsFor(12, 0.45, 5);
    const auto search = makeBayesianSearch(options, {});
    const Trial drawn = nextTrial(*search);
    QCOMPARE(drawn.kind, TrialKind::Random);
    search->record(drawn, 0.5);
    QCOMPARE(nextTrial(*search).kind, TrialKind::Bayesian);
}

void LayerSearchTest::bayesianSearchBeatsRandomSearch_data() {
    QTest::addColumn<int>("maximiser");
    QTest::newRow("continuous") << int(BayesianMaximiser::ContinuousTopK);
    QTest::newRow("discrete") << int(BayesianMaximiser::Discrete);
}

void LayerSearchTest::bayesianSearchBeatsRandomSearch() {
    QFETCH(int, maximiser);
    constexpr int kSuggested = 26;
    double lead = 0.0;
    double sum = 0.0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const LayerSearchOptions options = optionsFor(16, 0.4, seed);
        const PlantedScore score(options.space.dims(), seed + 50);
        const auto bayesian =
            makeBayesianSearch(options, {.maximiser = BayesianMaximiser(maximiser)});
        const auto random = makeRandomSearch(optionsFor(16, 0.4, seed + 1000));
        const double found = bestScore(*bayesian, options, score, kSuggested);
        const double drawn = bestScore(*random, options, score, kSuggested);
        QVERIFY(found >= drawn);
        lead += found - drawn;
        sum += found;
    }
    qInfo("mean best %.4f, mean lead %.4f", sum / 5.0, lead / 5.0);
    QVERIFY(lead / 5.0 > 0.05);
    QVERIFY(sum / 5.0 > 0.95);
}

void LayerSearchTest::continuousPointsAreRegisteredOnRequest() {
    const LayerSearchOptions options = optionsFor(12, 0.45, 5);
    for (const bool isContinuous : {false, true}) {
        const auto search = makeBayesianSearch(options, {.registerContinuousPoint = isContinuous});
        bool isAlwaysBinary = true;
        for (int i = 0; i < 6; ++i) {
            const Trial trial = nextTrial(*search);
            const std::vector<double> binary(trial.bits.begin(), trial.bits.end());
            isAlwaysBinary = isAlwaysBinary && trial.point == binary;
            search->record(trial, 0.3 + 0.1 * (i % 4));
        }
        QCOMPARE(isAlwaysBinary, !isContinuous);
    }
}

void LayerSearchTest::equalCoordinatesAreSkippedByNameOnRequest() {
    const LayerSearchOptions options = optionsFor(12, 0.45, 5);
    const auto search = makeBayesianSearch(
        options, {.registerContinuousPoint = true, .tieBreak = TieBreak::Lexicographic});
    const PlantedScore score(options.space.dims(), 4);
    int tieCount = 0;
    for (int i = 0; i < 15; ++i) {
        const Trial trial = nextTrial(*search);
        search->record(trial, score(trial.bits));
        if (trial.kind != TrialKind::Bayesian)
            continue;
        std::vector<std::pair<double, std::string>> order;
        for (std::size_t j = 0; j < trial.point.size(); ++j)
            order.emplace_back(-trial.point[j], fmt::format("x{}", j));
        std::sort(order.begin(), order.end());
        Bits wanted(trial.bits.size(), 0);
        for (std::size_t j = 0; j < 9; ++j)
            wanted[std::stoul(order[j].second.substr(1))] = 1;
        QCOMPARE(trial.bits, wanted);
        tieCount += order[8].first == order[9].first ? 1 : 0;
    }
    QVERIFY(tieCount > 0); // else the names were never asked
}

void LayerSearchTest::aFreeRatioSkipsWhatIsAboveHalf() {
    const SkipSpace space = SkipSpace::all(6);
    const LayerSearchOptions options{
        .space = space, .budget = SkipBudget::unit(space.dims(), 3), .seed = 2};
    for (const auto maximiser : {BayesianMaximiser::ContinuousTopK, BayesianMaximiser::Discrete}) {
        const auto search = makeBayesianSearch(
            options,
            {.maximiser = maximiser, .registerContinuousPoint = true, .isRatioFree = true});
        std::set<int> sizes;
        for (int i = 0; i < 15; ++i) {
            const Trial trial = nextTrial(*search);
            for (std::size_t j = 0; j < trial.bits.size(); ++j)
                QCOMPARE(trial.bits[j] != 0, trial.point[j] > 0.5);
            sizes.insert(countOf(trial.bits));
            search->record(trial, trial.bits[2] + trial.bits[7] - 0.5 * trial.bits[4]);
        }
        QVERIFY(sizes.size() > 2);
    }
}

void LayerSearchTest::aStopCancelsASuggestion() {
    const LayerSearchOptions options = optionsFor(12, 0.45, 5);
    std::stop_source source;
    source.request_stop();
    for (const auto maximiser : {BayesianMaximiser::ContinuousTopK, BayesianMaximiser::Discrete}) {
        const auto search = makeBayesianSearch(options, {.maximiser = maximiser});
        search->record(nextTrial(*search), 0.5);
        for (int i = 0; i < 3; ++i) {
            const auto stopped = search->nextTrial(source.get_token());
            QVERIFY(!stopped.hasValue());
            QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
            QVERIFY(!stopped.error().message.empty());
            QCOMPARE(countOf(nextTrial(*search).bits), 9);
        }
    }
}

void LayerSearchTest::smallModelsGetFullPlans() {
    for (auto& [name, search] : allSearches(optionsFor(2, 0.5, 1)))
        for (int i = 0; i < 3; ++i) {
            const Trial trial = nextTrial(*search);
            QVERIFY2(trial.plan == LayerPlan::full(2), name);
            search->record(trial, 1.0);
        }
}

void LayerSearchTest::wrongShapesAreBugs() {
    LayerSearchOptions options = optionsFor(12, 0.45, 5);
    const auto search = makeBayesianSearch(options, {});
    Trial trial = nextTrial(*search);
    trial.point.pop_back();
    QVERIFY_EXCEPTION_THROWN(search->record(trial, 0.5), EngineBug);
    options.weights = {1.0};
    QVERIFY_EXCEPTION_THROWN(makeRandomSearch(options), EngineBug);
    options.weights.assign(20, -1.0);
    QVERIFY_EXCEPTION_THROWN(makeBayesianSearch(options, {}), EngineBug);
}

QTEST_APPLESS_MAIN(LayerSearchTest)
#include "layer_search_test.moc"
