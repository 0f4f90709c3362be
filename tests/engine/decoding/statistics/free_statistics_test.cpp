// SPDX-License-Identifier: Apache-2.0
// What free candidates are promised in texts that repeat more, or less, than others.
#include "engine/decoding/free/free_candidates.h"

#include <QTest>

#include <cmath>

using namespace engine;
using OtherSource = FreeStatistics::OtherSource;

class FreeStatisticsTest : public QObject {
    Q_OBJECT

private slots:

    void aTextThatRepeatsLittleIsPromisedLessAndOneThatRepeatsMuchMore() {
        const int rate = FreeStatistics::lookupRate(3, OtherSource::Silent);
        const double known = FreeStatistics().probability(rate);
        for (const bool isHit : {false, true}) {
            FreeStatistics statistics;
            for (int place = 0; place < 40; ++place)
                statistics.judge(statistics.probability(rate), isHit);
            QVERIFY(isHit ? statistics.probability(rate) > known + 0.1
                          : statistics.probability(rate) < known - 0.1);
            statistics.beginText();
            QCOMPARE(statistics.probability(rate), known);
        }
    }

    /// judge() is given probabilities that were shifted, and compares with those that were not.
    void aTextThatKeepsItsPromiseIsPromisedTheSame() {
        const int rate = FreeStatistics::lookupRate(3, OtherSource::Silent);
        FreeStatistics statistics;
        const double known = statistics.probability(rate); // .45
        for (int place = 0; place < 200; ++place)
            statistics.judge(statistics.probability(rate), place % 20 < 9);
        QVERIFY(std::abs(statistics.probability(rate) - known) < 0.1);
    }
};

QTEST_GUILESS_MAIN(FreeStatisticsTest)
#include "free_statistics_test.moc"
