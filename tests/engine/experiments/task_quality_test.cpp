// SPDX-License-Identifier: Apache-2.0
// ROUGE, results of calculations and exact match on cases that can be counted by hand.
#include "engine/experiments/task_quality.h"

#include <QTest>

using namespace engine;

namespace {

using Texts = std::vector<std::string>;

bool isNear(double a, double b) { return std::abs(a - b) < 1e-12; }

} // namespace

class TaskQualityTest : public QObject {
    Q_OBJECT

private slots:
    void rougeCountsWordsPairsAndTheLongestCommonSequence();
    void rougeCountsARepeatedWordNoOftenerThanTheReferenceHasIt();
    void rougeTakesTheBestReferenceForEachScore();
    void textsWithoutCommonWordsHaveNoOverlap();
    void signsBeyondAsciiPartWordsToo();
    void theLastNumberIsTheResult_data();
    void theLastNumberIsTheResult();
    void exactMatchForgivesCaseArticlesAndPunctuation_data();
    void exactMatchForgivesCaseArticlesAndPunctuation();
    void exactMatchForgivesSignsWithinWords();
    void anAnswerMayBeAnArticle();
};

/// 4 of 5 and 6 words; 2 of 4 and 5 pairs ("the cat", "the mat"); 4 words in their order ("the cat
/// the mat").
void TaskQualityTest::rougeCountsWordsPairsAndTheLongestCommonSequence() {
    const RougeScores scores = rouge("The cat sat, the mat!", Texts{"the cat is on the mat"});
    QVERIFY(isNear(scores.rouge1, 2.0 * 4 / (5 + 6)));
    QVERIFY(isNear(scores.rouge2, 2.0 * 2 / (4 + 5)));
    QVERIFY(isNear(scores.rougeL, 2.0 * 4 / (5 + 6)));
    const RougeScores turned = rouge("mat the cat", Texts{"the cat mat"});
    QVERIFY(isNear(turned.rouge1, 1.0));
    QVERIFY(isNear(turned.rougeL, 2.0 * 2 / 6));
}

void TaskQualityTest::rougeCountsARepeatedWordNoOftenerThanTheReferenceHasIt() {
    QVERIFY(isNear(rouge("the the the the", Texts{"the end"}).rouge1, 2.0 * 1 / (4 + 2)));
}

void TaskQualityTest::rougeTakesTheBestReferenceForEachScore() {
    const RougeScores scores = rouge("one two", Texts{"nothing at all", "one two", "two"});
    QVERIFY(isNear(scores.rouge1, 1.0) && isNear(scores.rouge2, 1.0) && isNear(scores.rougeL, 1.0));
}

void TaskQualityTest::textsWithoutCommonWordsHaveNoOverlap() {
    for (const char* answer : {"", "...", "three"}) {
        const RougeScores scores = rouge(answer, Texts{"one two"});
        QCOMPARE(scores.rouge1 + scores.rouge2 + scores.rougeL, 0.0);
    }
    QCOMPARE(rouge("one", Texts{}).rouge1, 0.0);
    QCOMPARE(rouge("one", Texts{"one"}).rouge2, 0.0); // there are no pairs
    QCOMPARE(rouge("\u00C4pfel und Birnen", Texts{"\u00C4pfel"}).rouge1, 0.5);
}

void TaskQualityTest::signsBeyondAsciiPartWordsToo() {
    const char* written = "\u201CYes\u201D, he said\u2014twice\u2026 and\u00A0left\u2049";
    const RougeScores scores = rouge(written, Texts{"'Yes', he said - twice... and left?!"});
    QVERIFY(isNear(scores.rouge1, 1.0) && isNear(scores.rouge2, 1.0) && isNear(scores.rougeL, 1.0));
    QVERIFY(isExactMatch("\u00ABOslo\u00BB", Texts{"Oslo"}));
    QVERIFY(!isExactMatch("x\u2080", Texts{"x"})); // a digit
}

void TaskQualityTest::theLastNumberIsTheResult_data() {
    QTest::addColumn<QString>("answer");
    QTest::addColumn<QString>("reference");
    QTest::addColumn<bool>("isSame");
    QTest::newRow("worked") << "2 + 3 = 5, so she has $5."
                            << "2+3=<<2+3=5>>5\n#### 5" << true;
    QTest::newRow("other") << "The answer is 6."
                           << "#### 5" << false;
    QTest::newRow("thousands") << "It costs 1,200.00 dollars"
                               << "#### 1200" << true;
    QTest::newRow("negative") << "It is -3."
                              << "#### 3" << false;
    QTest::newRow("range is no sign") << "1-3"
                                      << "#### 3" << true;
    QTest::newRow("fraction") << "about 0.5"
                              << "#### .5" << true;
    QTest::newRow("words") << "five"
                           << "#### 5" << false;
    QTest::newRow("huge") << QString(400, '9') << "#### 5" << false;
}

void TaskQualityTest::theLastNumberIsTheResult() {
    QFETCH(QString, answer);
    QFETCH(QString, reference);
    QFETCH(bool, isSame);
    QCOMPARE(hasSameResult(answer.toStdString(), Texts{reference.toStdString()}), isSame);
}

void TaskQualityTest::exactMatchForgivesCaseArticlesAndPunctuation_data() {
    QTest::addColumn<QString>("answer");
    QTest::addColumn<bool>("isSame");
    QTest::newRow("same") << "Great Lakes" << true;
    QTest::newRow("dressed") << " The great lakes.\n" << true;
    QTest::newRow("more behind it") << "Great Lakes\nQuestion: What else?" << true;
    QTest::newRow("in a sentence") << "They are the Great Lakes." << false;
    QTest::newRow("empty") << "" << false;
}

void TaskQualityTest::exactMatchForgivesCaseArticlesAndPunctuation() {
    QFETCH(QString, answer);
    QFETCH(bool, isSame);
    QCOMPARE(isExactMatch(answer.toStdString(), Texts{"Alps", "The Great Lakes", "the"}), isSame);
}

void TaskQualityTest::exactMatchForgivesSignsWithinWords() {
    QVERIFY(isExactMatch("US", Texts{"the U.S."}));
    QVERIFY(isExactMatch("1000", Texts{"1,000"}));
    QVERIFY(isExactMatch("twenty one", Texts{"Twenty-one"}));
    QVERIFY(!isExactMatch("100", Texts{"1,000"}));
}

/// A letter of a choice is one.
void TaskQualityTest::anAnswerMayBeAnArticle() {
    QVERIFY(isExactMatch("A.", Texts{"A"}));
    QVERIFY(isExactMatch("A\nBecause it is.", Texts{"A"}));
    QVERIFY(!isExactMatch("B", Texts{"A"}));
    QVERIFY(!isExactMatch("...", Texts{"A"}));
}

QTEST_GUILESS_MAIN(TaskQualityTest)
#include "task_quality_test.moc"
