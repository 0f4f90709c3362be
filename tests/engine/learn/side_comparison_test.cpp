// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/sides/side_comparison.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

/// A token whose two best logits are so far apart.
EmittedToken tokenOf(TokenId id, double gap) {
    const double second = 0.25;
    EmittedToken token{id, std::string(1, static_cast<char>('a' + id)), {}};
    token.fact.targetProbability = second * std::exp(gap);
    token.choices = {{id, token.text, token.fact.targetProbability}, {id + 1, "other", second}};
    return token;
}

EngineEvent stepOf(int step, const std::vector<TokenId>& ids, double ms, double gap = 0.5) {
    StepFinished finished;
    finished.step = step;
    finished.verifyMs = ms;
    for (const TokenId id : ids) {
        finished.tokens.push_back(tokenOf(id, gap));
        finished.text += finished.tokens.back().text;
    }
    return {0.0, finished, 7};
}

EngineEvent endOf(const SideAnswer& side, FinishReason reason = FinishReason::EndToken) {
    PromptFinished finished;
    finished.text = side.text;
    finished.reason = reason;
    return {0.0, finished, 7};
}

EngineFailed failedWith(ErrorCode code) {
    EngineFailed failed;
    failed.error = {code, "It failed.", ""};
    return failed;
}

SideAnswer answerOf(const std::vector<TokenId>& ids, bool isFinished = true, double gap = 0.5) {
    SideAnswer side;
    int step = 0;
    for (const TokenId id : ids)
        side.apply(stepOf(step++, {id}, 2.0, gap));
    if (isFinished)
        side.apply(endOf(side));
    return side;
}

} // namespace

class SideComparisonTest : public QObject {
    Q_OBJECT

private slots:
    void aSideAddsUpItsOwnRounds();
    void equalAnswersAreCounted();
    void answersAreEqualSoFarWhileOneIsBehind();
    void theFirstDifferenceIsNamedWithBothTokens();
    void anAnswerThatEndsEarlierDiffersThere();
    void aStoppedAnswerDiffersInNothing();
    void aSmallGapIsANearTie();
    void aDriftOfProbabilitiesIsTold();
    void theClosestCallsComeFirst();
    void aFailureEndsASide();
};

void SideComparisonTest::aSideAddsUpItsOwnRounds() {
    SideAnswer side;
    QCOMPARE(side.tokensPerSecond(), 0.0);
    QVERIFY(side.apply(stepOf(0, {1}, 2.0)));
    QVERIFY(side.apply(stepOf(1, {2, 3, 4}, 6.0)));
    QCOMPARE(side.decodeMs, 8.0);
    QCOMPARE(side.tokensPerSecond(), 500.0);
    QCOMPARE(side.rounds.size(), std::size_t{2});
    QCOMPARE(side.rounds[1].firstToken, 1);
    QCOMPARE(side.rounds[1].tokens, 3);
    QCOMPARE(side.rounds[1].beginMs, 2.0);
    QCOMPARE(side.rounds[1].endMs, 8.0);
    QCOMPARE(QString::fromStdString(side.text), QStringLiteral("bcde"));
    QVERIFY(!side.apply({0.0, PromptProgress{}, 7}));
    side.apply(endOf(side));
    QVERIFY(side.isWhole());
    QVERIFY(!side.apply(stepOf(2, {5}, 1.0))); // nothing comes behind the end
}

void SideComparisonTest::equalAnswersAreCounted() {
    const SideComparison compared = compareSides(answerOf({1, 2, 3}), answerOf({1, 2, 3}));
    QCOMPARE(compared.equal, 3);
    QVERIFY(compared.areEqual() && compared.isOver);
    QCOMPARE(compared.probabilityDrift, 0.0);
}

void SideComparisonTest::answersAreEqualSoFarWhileOneIsBehind() {
    const SideComparison compared =
        compareSides(answerOf({1, 2}, false), answerOf({1, 2, 3, 4}, false));
    QCOMPARE(compared.equal, 2);
    QVERIFY(!compared.difference && !compared.isOver && !compared.areEqual());
    // The one that is behind goes on, so what the other has more is no difference yet.
    QVERIFY(!compareSides(answerOf({1, 2}, false), answerOf({1, 2, 3})).difference);
}

void SideComparisonTest::theFirstDifferenceIsNamedWithBothTokens() {
    const SideComparison compared = compareSides(answerOf({1, 2, 3}), answerOf({1, 9, 3}));
    QCOMPARE(compared.equal, 1);
    QVERIFY(compared.difference && !compared.areEqual());
    QCOMPARE(compared.difference->position, 1);
    QCOMPARE(compared.difference->left->id, 2);
    QCOMPARE(compared.difference->right->id, 9);
    QVERIFY(std::abs(*compared.difference->gap - 0.5) < 1e-9);
    QVERIFY(!compared.difference->isNearTie);
}

void SideComparisonTest::anAnswerThatEndsEarlierDiffersThere() {
    const SideComparison compared = compareSides(answerOf({1, 2}), answerOf({1, 2, 3}, false));
    QVERIFY(compared.difference && !compared.difference->left);
    QCOMPARE(compared.difference->position, 2);
    QCOMPARE(compared.difference->right->id, 3);
    QVERIFY(!compared.difference->gap);
}

void SideComparisonTest::aStoppedAnswerDiffersInNothing() {
    SideAnswer stopped = answerOf({1, 2}, false);
    stopped.apply(endOf(stopped, FinishReason::Cancelled));
    const SideComparison compared = compareSides(stopped, answerOf({1, 2, 3}));
    QVERIFY(!compared.difference && compared.isOver);
    QVERIFY(!compared.isWhole && !compared.areEqual());
    QCOMPARE(compared.equal, 2);
}

void SideComparisonTest::aSmallGapIsANearTie() {
    QVERIFY(compareSides(answerOf({1}, true, 0.9e-3), answerOf({2})).difference->isNearTie);
    QVERIFY(!compareSides(answerOf({1}, true, 1.1e-3), answerOf({2})).difference->isNearTie);
}

void SideComparisonTest::aDriftOfProbabilitiesIsTold() {
    SideAnswer other = answerOf({1, 2});
    other.tokens[1].fact.targetProbability += 0.125;
    QCOMPARE(compareSides(answerOf({1, 2}), other).probabilityDrift, 0.125);
}

void SideComparisonTest::theClosestCallsComeFirst() {
    SideAnswer side;
    side.apply(stepOf(0, {1}, 1.0, 0.5));
    side.apply(stepOf(1, {2}, 1.0, 0.1));
    side.apply(stepOf(2, {3}, 1.0, 0.9));
    side.tokens[2].choices.clear(); // nothing is known of it
    const std::vector<CloseCall> calls = closestCalls(side, 5);
    QCOMPARE(calls.size(), std::size_t{2});
    QCOMPARE(calls[0].position, 1);
    QCOMPARE(calls[0].first.id, 2);
    QCOMPARE(calls[1].position, 0);
    QCOMPARE(closestCalls(side, 1).size(), std::size_t{1});
}

void SideComparisonTest::aFailureEndsASide() {
    SideAnswer side = answerOf({1}, false);
    QVERIFY(side.apply({0.0, failedWith(ErrorCode::NoMemory), 7}));
    QVERIFY(side.isOver() && !side.isWhole() && side.error);
    SideAnswer stopped;
    stopped.apply({0.0, failedWith(ErrorCode::Cancelled), 7});
    QVERIFY(stopped.isOver() && !stopped.isWhole() && !stopped.error);
}

QTEST_GUILESS_MAIN(SideComparisonTest)
#include "side_comparison_test.moc"
