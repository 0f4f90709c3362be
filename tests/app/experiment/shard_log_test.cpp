// SPDX-License-Identifier: Apache-2.0
// What a part of an experiment keeps of the tokens of an answer.
#include "app/commands/experiment/shards/shard_log.h"
#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

namespace {

constexpr TokenId kLetter = 0;      ///< "a"
constexpr TokenId kFirstHalf = 10;  ///< the first byte of "é"
constexpr TokenId kSecondHalf = 11; ///< its second one
constexpr TokenId kEnd = 13;

DecodeStep stepOf(std::vector<TokenId> tokens) {
    DecodeStep step;
    step.tokens = std::move(tokens);
    step.facts.resize(step.tokens.size());
    return step;
}

} // namespace

class ShardLogTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        auto loaded =
            tiny::load("tokenizer.json", tiny::json("[" + tiny::addedToken(kEnd, "<end>") + "]"));
        QVERIFY2(loaded.hasValue(), loaded ? "" : loaded.error().message.c_str());
        m_words = std::move(loaded).value();
    }

    void theTokensOfARoundAreTheTextThatTheyComplete();
    void theTextOfEachTurnBeginsAnew();
    void eachRecordIsToldOnceItIsWritten();

private:
    /// The tokens of the rounds that a log keeps of what `work` tells it.
    template <typename Work> std::vector<std::vector<std::string>> kept(const Work& work) const {
        const test_support::TemporaryFolder folder;
        auto journal = PartJournal::begin(folder.path() / "0000.part.jsonl", "{}\n");
        if (!journal)
            qFatal("%s", journal.error().message.c_str());
        app::ShardLog log(std::move(journal).value(), ShardResult(), *m_words, 0.0, {});
        log.beginAnswer("swift", "math", 0, 0, true);
        work(log);
        const auto result = log.finish();
        if (!result)
            qFatal("%s", result.error().message.c_str());
        std::vector<std::vector<std::string>> tokens;
        for (const ShardRound& round : result.value().rounds)
            tokens.push_back(round.tokens);
        return tokens;
    }

    std::unique_ptr<Tokenizer> m_words;
};

/// A round may end in the middle of a character; an end is no text, but a token.
void ShardLogTest::theTokensOfARoundAreTheTextThatTheyComplete() {
    const auto tokens = kept([](app::ShardLog& log) {
        log.add(stepOf({kLetter, kFirstHalf}));
        log.add(stepOf({kSecondHalf, kLetter, kEnd}));
    });
    const std::vector<std::vector<std::string>> expected = {{"a", ""}, {"\xC3\xA9", "a", ""}};
    QCOMPARE(tokens, expected);
}

void ShardLogTest::theTextOfEachTurnBeginsAnew() {
    const auto tokens = kept([](app::ShardLog& log) {
        log.add(stepOf({kLetter, kFirstHalf}));
        log.add(SearchReport());
        log.add(stepOf({kLetter}));
    });
    const std::vector<std::vector<std::string>> expected = {{"a", ""}, {"a"}};
    QCOMPARE(tokens, expected);
}

/// A search beside the drafts is not told; behind a file that cannot be written nothing is.
void ShardLogTest::eachRecordIsToldOnceItIsWritten() {
    std::vector<std::string> told;
    const auto tell = [&told](const ShardRecord& record) {
        told.emplace_back(std::holds_alternative<ShardTrial>(record)    ? "trial"
                          : std::holds_alternative<ShardDraw>(record)   ? "draw"
                          : std::holds_alternative<ShardAnswer>(record) ? "answer"
                                                                        : "other");
    };
    TrialRecord trial;
    trial.isBest = true;
    TrialRecord beside = trial;
    beside.isBeside = true;
    DecodeStep step = stepOf({kLetter});
    step.search.trials = {trial, beside, trial};
    const auto work = [&](app::ShardLog& log) {
        log.beginAnswer("swift", "math", 0, 0, false);
        log.add(step);
        log.add(ShardRecord(ShardAnswer()));
        log.add(ShardRecord(ShardDraw()));
    };
    const test_support::TemporaryFolder folder;
    auto journal = PartJournal::begin(folder.path() / "0000.part.jsonl", "{}\n");
    QVERIFY(journal);
    app::ShardLog log(std::move(journal).value(), ShardResult(), *m_words, 0.0, tell);
    work(log);
    QCOMPARE(told, (std::vector<std::string>{"trial", "trial", "answer", "draw"}));
    told.clear();
    auto full = PartJournal::begin("/dev/full", "");
    QVERIFY(full);
    app::ShardLog failing(std::move(full).value(), ShardResult(), *m_words, 0.0, tell);
    work(failing);
    QVERIFY(told.empty());
    QVERIFY(!failing.check());
}

QTEST_GUILESS_MAIN(ShardLogTest)
#include "shard_log_test.moc"
