// SPDX-License-Identifier: Apache-2.0
// The profiles of SWIFT do what the paper, its code and we say of them, counted.
#include "engine/adaptation/task_search.h"
#include "plugins/swift/swift_settings.h"
#include "tests/plugins/swift/swift_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/file_content.h"
#include "tests/support/lossless/lossless_case.h"

#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <set>

using namespace engine;
using namespace swift_support;
using support::registry;

namespace {

SettingValues profile(const char* name, const SettingValues& more = {}) {
    SettingValues values = {{"profile", std::string(name)}};
    for (const auto& [setting, value] : more)
        values[setting] = value;
    return values;
}

swift::SwiftSettings settingsOf(const SettingValues& given) {
    const auto values = support::valueOf(resolveSettings(swift::swiftInfo(), given));
    return support::valueOf(swift::SwiftSettings::make(values, true, 7));
}

/// A search without a model, whose n-th scored set has `scores(n)`.
struct InventedSearch {
    InventedSearch(const SettingValues& given, std::function<double(int)> scores)
        : settings(settingsOf(given).search)
        , config(support::layeredConfig(kLayers))
        , search(TaskSearch::make(
                     settings, {.config = config, .task = "task", .influence = {}}, report)
                     .value())
        , window{1,
                 [this, scores](const LayerPlan&) -> Result<Matchness> {
                     return Matchness{scores(++scored), {}, {}};
                 },
                 {},
                 {}} {}

    void runToItsEnd() {
        while (!search.isOver())
            ENGINE_CHECK(search.advance(window, report).hasValue(), "the scores cannot fail");
    }

    int count(std::string_view kind) const {
        return static_cast<int>(
            std::count_if(report.trials.begin(), report.trials.end(), [&](const auto& trial) {
                return trial.kind == kind;
            }));
    }

    SearchSettings settings;
    ModelConfig config;
    SearchReport report;
    TaskSearch search;
    ScoredWindow window;
    int scored = 0;
};

/// The steps of one answer of a new decoder.
std::vector<DecodeStep> run(const SettingValues& given, int maxTokens = 100) {
    const auto decoder = make(given);
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    return support::answer(*decoder, {.tokens = prompt, .maxTokens = maxTokens, .task = "task"});
}

int nodesAtDepth(const DraftTree& tree, int depth) {
    int found = 0;
    for (int node = 0; node < tree.size(); ++node)
        found += tree.depth(node) == depth ? 1 : 0;
    return found;
}

} // namespace

class SwiftProfilesTest : public QObject {
    Q_OBJECT

private slots:
    void aSearchOfThePaperIsCountedAsItsTable12();
    void aSearchOfThePaperEndsByTrialsPatienceOrScore();
    void thePaperScoresOneSetAfterEveryStep();
    void thePaperNeverScoresAgainRestartsOrLowers();
    void aDraftOfThePaperKeepsAllItsSiblings();
    void theCodeKeepsItsOwnSiblingsAndStartSet();
    void aTreeWithoutEarlyStopHas251Rows();
    void oursIsTheDefaultAndEachAdditionIsASettingOfItsOwn();
    void theBetterASetTheLessOfItsShareASearchTakes();
    void everyProfileAndPresetIsWithoutContradictions();
    void aScheduleThatNoTreeHoldsIsRefused();
};

/// Trial 299 is better, so that patience lasts; trial 575 is above the stop score.
void SwiftProfilesTest::aSearchOfThePaperIsCountedAsItsTable12() {
    InventedSearch invented(profile("paper"), [](int scored) {
        const int trial = scored - 1; // the first is the start set
        return trial >= 575 ? 0.98 : trial >= 299 ? 0.73 : 0.45;
    });
    invented.runToItsEnd();
    QCOMPARE(invented.count("random"), 552);
    QCOMPARE(invented.count("bayesian"), 23);
    QCOMPARE(invented.count("start"), 1);
    QCOMPARE(invented.report.trials.size(), std::size_t{576});
    QCOMPARE(invented.search.trials(), 575);
    QCOMPARE(invented.search.bestScore(), 0.98);
}

void SwiftProfilesTest::aSearchOfThePaperEndsByTrialsPatienceOrScore() {
    const SettingValues random = profile("paper", {{"bayesian", 0.0}});
    InventedSearch byTrials(random, [](int scored) { return scored * 1e-4; });
    byTrials.runToItsEnd();
    QCOMPARE(byTrials.search.trials(), 1000);
    InventedSearch byPatience(random, [](int scored) { return scored < 3 ? 0.1 : 0.5; });
    byPatience.runToItsEnd();
    QCOMPARE(byPatience.search.trials(), 302); // the second is the best, then 300 are no better
    InventedSearch byScore(random, [](int scored) { return scored < 9 ? 0.95 : 31.0 / 32; });
    byScore.runToItsEnd();
    QCOMPARE(byScore.search.trials(), 8);
}

void SwiftProfilesTest::thePaperScoresOneSetAfterEveryStep() {
    const auto decoder = make(profile("paper", {{"stop_score", 1.0}}));
    int trials = 0;
    for (TokenId first = 3; first < 6; ++first) {
        const std::vector<TokenId> prompt = {first, 1, 4, 1, 5};
        std::size_t made = 0;
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 100, .task = "task"})) {
            const std::size_t expected = made > 32 ? 1 : 0;
            QCOMPARE(step.search.trials.size(), expected);
            made += step.tokens.size();
            for (const TrialRecord& trial : step.search.trials)
                trials += trial.counts ? 1 : 0;
        }
        QVERIFY(decoder->endAnswer().value().trials.empty());
    }
    QVERIFY(trials > 100);
}

void SwiftProfilesTest::thePaperNeverScoresAgainRestartsOrLowers() {
    const auto decoder = make(profile(
        "paper",
        {{"S", 20.0}, {"epsilon", 0.0}, {"max_draft", 4.0}, {"dynamic_verification", 0.0}}));
    std::set<std::string> kinds;
    std::set<std::string> reasons;
    int drafted = 0;
    int accepted = 0;
    for (TokenId first = 0; first < 6; ++first) {
        const std::vector<TokenId> prompt = {first, 1, 4, 1, 5};
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 100, .task = "task"})) {
            for (const TrialRecord& trial : step.search.trials)
                kinds.insert(trial.kind);
            for (const PlanChange& change : step.search.planChanges) {
                reasons.insert(change.reason);
                QCOMPARE(change.skipRatio, 0.45);
            }
            drafted += step.draft.draftSteps();
            accepted += static_cast<int>(step.path.size());
        }
    }
    QVERIFY(drafted > 1000 && accepted < drafted / 2); // enough to lower r, were that switched on
    QCOMPARE(kinds, (std::set<std::string>{"random", "start"}));
    reasons.erase("better");
    QCOMPARE(reasons, std::set<std::string>{"start"});
}

/// As many nodes at each depth as the schedule says for its first choice's probability.
void SwiftProfilesTest::aDraftOfThePaperKeepsAllItsSiblings() {
    const SiblingSchedule schedule{{1, 3, 5, 10}};
    std::set<int> widths;
    std::vector<support::CaseModel> models = support::caseModels();
    if (!support::takesAllCases())
        models.resize(std::min(models.size(), std::size_t{5})); // two of the golden data
    for (const support::CaseModel& known : models) {
        const auto decoder = support::openDecoder("swift",
                                                  {.transformer = *known.transformer,
                                                   .contextLength = 256,
                                                   .settings = profile("paper")});
        const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
        for (const DecodeStep& step :
             support::answer(*decoder, {.tokens = prompt, .maxTokens = 60})) {
            int rows = 1;
            for (int depth = 1; depth <= step.draft.draftSteps(); ++depth) {
                const double sure = step.draft.confidences()[static_cast<std::size_t>(depth - 1)];
                QCOMPARE(nodesAtDepth(step.draft, depth), schedule.choicesAt(sure));
                widths.insert(schedule.choicesAt(sure));
                rows += schedule.choicesAt(sure);
                QVERIFY(depth == step.draft.draftSteps() || sure >= 0.8);
            }
            QCOMPARE(step.verifiedRows, rows);
            QVERIFY(rows <= 83 && step.draft.draftSteps() <= 25);
        }
    }
    QVERIFY(widths.size() >= 2);
}

void SwiftProfilesTest::theCodeKeepsItsOwnSiblingsAndStartSet() {
    const auto steps = run(profile("code"));
    QVERIFY(steps.front().search.planChanges.front().plan == SkipSpace::inner(kLayers).oddLayers());
    const SiblingSchedule schedule{{3, 5, 8, 10}};
    for (const DecodeStep& step : steps)
        for (int depth = 1; depth <= step.draft.draftSteps(); ++depth)
            QCOMPARE(
                nodesAtDepth(step.draft, depth),
                schedule.choicesAt(step.draft.confidences()[static_cast<std::size_t>(depth - 1)]));
}

/// 25 depths of 10 choices and the root, where nothing is sure.
void SwiftProfilesTest::aTreeWithoutEarlyStopHas251Rows() {
    int most = 0;
    for (const DecodeStep& step : run(profile("paper", {{"early_stop", 0.0}})))
        most = std::max(most, step.verifiedRows);
    QCOMPARE(most, 251);
}

void SwiftProfilesTest::theBetterASetTheLessOfItsShareASearchTakes() {
    const swift::SwiftSettings ours = settingsOf({{"search_share", 0.25}});
    QCOMPARE(ours.searchShareAt(0.0), 0.25);
    QCOMPARE(ours.searchShareAt(0.5), 0.25);
    QCOMPARE(ours.searchShareAt(0.75), 0.125);
    QCOMPARE(ours.searchShareAt(1.0), 0.025);
    QCOMPARE(settingsOf(profile("paper")).searchShareAt(0.5), 0.0);
}

/// Each is named by what is off in the paper's profile; nothing else differs.
void SwiftProfilesTest::oursIsTheDefaultAndEachAdditionIsASettingOfItsOwn() {
    const DecoderInfo info = swift::swiftInfo();
    const SettingValues ours = resolveSettings(info, {}).value();
    QCOMPARE(textOf(ours, "profile"), std::string("ours"));
    const SettingValues paper = resolveSettings(info, profile("paper")).value();
    std::set<std::string> added;
    for (const auto& [name, value] : ours)
        if (paper.at(name) != value && name != "profile")
            added.insert(name);
    QCOMPARE(added,
             (std::set<std::string>{"calibrate",
                                    "draft_vocabulary",
                                    "lower_below",
                                    "rescore",
                                    "restart_drop",
                                    "rows_per_trial",
                                    "search_share",
                                    "shared_noise",
                                    "short_windows",
                                    "start",
                                    "tree_nodes",
                                    "trials_to_double",
                                    "weigh"}));
    for (const std::string& name : added) {
        const std::string group = name == "start" ? "Search" : "Beyond the paper";
        QCOMPARE(info.find(name)->group, group);
        QVERIFY(settingsOf(profile("paper", {{name, ours.at(name)}})).draft.maxNodes > 0);
        QVERIFY(settingsOf(profile("ours", {{name, paper.at(name)}})).draft.maxNodes > 0);
    }
    // The additions to the search that show within one answer, one by one.
    const auto kindsWith = [](const SettingValues& more) {
        std::set<std::string> kinds;
        const auto decoder = make(profile("paper", more));
        for (const int tokens : {60, 20}) {
            const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
            for (const DecodeStep& step :
                 support::answer(*decoder, {.tokens = prompt, .maxTokens = tokens}))
                for (const TrialRecord& trial : step.search.trials)
                    kinds.insert(trial.kind);
            const auto end = decoder->endAnswer();
            for (const TrialRecord& trial : end.value().trials)
                kinds.insert(trial.kind + " after the answer");
        }
        return kinds;
    };
    const std::set<std::string> plain = {"random", "start"};
    QCOMPARE(kindsWith({{"bayesian", 0.0}}), plain);
    QVERIFY(
        kindsWith({{"bayesian", 0.0}, {"short_windows", 1.0}}).contains("random after the answer"));
    QVERIFY(kindsWith({{"bayesian", 0.0}, {"short_windows", 1.0}, {"rescore", 1.0}})
                .contains("rescore after the answer"));
    QVERIFY(!kindsWith({{"score_start", 0.0}}).contains("start"));
}

void SwiftProfilesTest::everyProfileAndPresetIsWithoutContradictions() {
    const DecoderInfo info = swift::swiftInfo();
    for (const SettingProfile& known : info.profiles) {
        QVERIFY(checkTogether(info, {{"profile", known.name}}).hasValue());
        QVERIFY(checkTogether(info, known.values).hasValue());
        QVERIFY(!known.meaning.empty());
    }
    const QDir presets("resources/presets");
    const QStringList names = presets.entryList({"*.json"});
    QVERIFY(names.size() >= 4);
    for (const QString& name : names) {
        const QJsonObject values =
            QJsonDocument::fromJson(support::fileBytes(presets.filePath(name)))
                .object()["values"]
                .toObject();
        QVERIFY2(!values.isEmpty(), qPrintable(name));
        SettingValues given;
        for (auto value = values.begin(); value != values.end(); ++value)
            given[value.key().toStdString()] = value->isString()
                                                   ? SettingValue(value->toString().toStdString())
                                                   : SettingValue(value->toDouble());
        const auto together = checkTogether(info, given);
        QVERIFY2(together.hasValue(), together ? "" : together.error().message.c_str());
        const auto made = swift::SwiftSettings::make(resolveSettings(info, given).value(), true, 7);
        QVERIFY2(made.hasValue(), qPrintable(name));
    }
}

void SwiftProfilesTest::aScheduleThatNoTreeHoldsIsRefused() {
    const auto refused = registry().make(
        "swift", {.transformer = model(), .contextLength = 64, .settings = {{"tree_nodes", 6.0}}});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QCOMPARE(QString::fromStdString(refused.error().message),
             QString("A draft tree of 6 nodes (tree_nodes) cannot hold the 10 choices that "
                     "siblings=1,3,5,10 keeps side by side."));
    const SettingValues chain = {{"tree_nodes", 6.0}, {"dynamic_verification", 0.0}};
    QVERIFY(
        registry().make("swift", {.transformer = model(), .contextLength = 64, .settings = chain}));
}

QTEST_GUILESS_MAIN(SwiftProfilesTest)

#include "swift_profiles_test.moc"
