// SPDX-License-Identifier: Apache-2.0
// Another program gets its turns on the processor while an experiment searches and compares.
#include "app/commands/compare/answer_difference.h"
#include "app/commands/search/skip_set_search.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <memory>
#include <optional>
#include <vector>

using namespace engine;

namespace {

/// Counts passes, and those of them for which nobody has the turn.
class TurnWatcher final : public support::WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        ++passes;
        outside += turn.expired() ? 1 : 0;
        return inner().forwardInto(request, cache, result);
    }

    std::weak_ptr<void> turn;
    int passes = 0;
    int outside = 0;
};

} // namespace

class TurnsTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        const ModelConfig config = support::letterConfig(6);
        support::MemoryWeights weights = support::randomWeights(config, 3);
        support::writeFolderModel(m_folder.path() / "model", config, weights);
        app::ModelOptions options;
        options.model = (m_folder.path() / "model").string();
        options.backend = "plain";
        auto loaded = app::loadDataModel(options, true, {});
        QVERIFY2(loaded.hasValue(), loaded ? "" : loaded.error().message.c_str());
        m_model.emplace(std::move(loaded).value());
        auto watcher = std::make_unique<TurnWatcher>(std::move(m_model->loaded.transformer));
        m_watcher = watcher.get();
        m_model->loaded.transformer = std::move(watcher);
    }

    void everyTrialOfASearchTakesTurnsOfItsOwn_data();
    void everyTrialOfASearchTakesTurnsOfItsOwn();
    void whatADifferenceCostsIsComputedInTurns();

private:
    app::AnswerRequest request() {
        m_turns = m_overlapping = m_watcher->passes = m_watcher->outside = 0;
        app::AnswerRequest made{.model = *m_model, .maxTokens = 12, .stop = {}};
        made.takeTurn = [this]() -> std::shared_ptr<void> {
            ++m_turns;
            m_overlapping += m_watcher->turn.expired() ? 0 : 1;
            const std::shared_ptr<void> turn = std::make_shared<int>();
            m_watcher->turn = turn;
            return turn;
        };
        return made;
    }

    test_support::TemporaryFolder m_folder;
    std::optional<app::DataModel> m_model;
    TurnWatcher* m_watcher = nullptr; // of the model
    int m_turns = 0;
    int m_overlapping = 0; ///< turns that began before the one before had ended
};

void TurnsTest::everyTrialOfASearchTakesTurnsOfItsOwn_data() {
    QTest::addColumn<bool>("isBayesian");
    QTest::newRow("random") << false;
    QTest::newRow("bayes") << true;
}

void TurnsTest::everyTrialOfASearchTakesTurnsOfItsOwn() {
    QFETCH(bool, isBayesian);
    std::vector<DataPrompt> prompts;
    for (const char* text : {"abc ab", "da be"}) {
        DataRecord record;
        record.task = "a";
        record.turns = {text};
        prompts.push_back({"prompts.jsonl", std::move(record)});
    }
    std::vector<int> turnsAtTrials;
    app::SearchWatcher watcher;
    watcher.onTrial = [&](const TrialRecord&) {
        QVERIFY(m_watcher->turn.expired());
        turnsAtTrials.push_back(m_turns);
    };
    watcher.onNote = [](const std::string&) {};
    watcher.onProgress = [](const std::string&) {};
    app::TrialSearch search;
    search.isBayesian = isBayesian;
    search.trials = 13; // more than the random ones before the first suggestion
    const auto found = app::searchByTrials(search, prompts, request(), watcher);
    QVERIFY2(found.hasValue(), found ? "" : found.error().message.c_str());
    QCOMPARE(found.value().prompts, 2);
    QCOMPARE(turnsAtTrials.size(), std::size_t{13});
    for (std::size_t i = 1; i < turnsAtTrials.size(); ++i) // its choice, and a pass on each window
        QCOMPARE(turnsAtTrials[i] - turnsAtTrials[i - 1], 1 + 2);
    QVERIFY(m_watcher->passes > 0);
    QCOMPARE(m_watcher->outside, 0);
    QCOMPARE(m_overlapping, 0);
}

void TurnsTest::whatADifferenceCostsIsComputedInTurns() {
    app::Answers vanilla;
    vanilla.turns.push_back({{1, 2, 3}, {4, 5, 6}, {}});
    app::Answers other = vanilla;
    const app::AnswerRequest asked = request();
    const auto none = app::findDifference(vanilla, other, asked);
    QVERIFY(none.hasValue() && !none.value());
    QCOMPARE(m_turns, 0); // no pass is needed for that
    other.turns.front().tokens.back() = 7;
    const auto difference = app::findDifference(vanilla, other, asked);
    QVERIFY2(difference.hasValue(), difference ? "" : difference.error().message.c_str());
    QVERIFY(difference.value().has_value());
    QCOMPARE(difference.value()->position, 2);
    QVERIFY(difference.value()->margin.has_value());
    QCOMPARE(m_watcher->passes, 2); // what stands before it, and the token behind that
    QVERIFY(m_turns >= 2);
    QCOMPARE(m_watcher->outside, 0);
    QCOMPARE(m_overlapping, 0);
}

QTEST_GUILESS_MAIN(TurnsTest)
#include "turns_test.moc"
