// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/confidence_rates.h"

#include <QTest>

using namespace engine;

namespace {

/// A round of one drafted token of this confidence.
DecodeStep roundOf(double confidence, bool isAccepted) {
    DecodeStep step;
    step.planId = 1;
    step.draft.add(1, -1, confidence);
    step.draft.addConfidence(confidence);
    if (isAccepted)
        step.path.push_back(0);
    step.tokens.resize(step.path.size() + 1);
    return step;
}

} // namespace

class ConfidenceRatesTest : public QObject {
    Q_OBJECT

private slots:

    void sureTokensAreTakenToBeAcceptedMoreOftenThanUnsureOnes() {
        for (const double expected : {0.2, 0.5, 0.8, 0.97, 1.0}) {
            const ConfidenceRates rates(expected);
            QCOMPARE(rates.overall(), expected);
            for (double confidence = 0.05; confidence < 0.8; confidence += 0.125) {
                QVERIFY(rates.at(confidence) >= 0.0);
                QVERIFY(rates.at(confidence) <= rates.at(confidence + 0.125));
            }
            QVERIFY(rates.at(0.05) < rates.at(0.95));
            QVERIFY(rates.at(0.95) <= 1.0);
        }
    }

    /// The drafts of a set that always agrees with the full model are accepted where both are
    /// unsure, too; that shows before many unsure tokens are seen.
    void tokensOfOneConfidenceSpeakForThoseOfOthers() {
        ConfidenceRates rates(0.8);
        const double before = rates.at(0.3);
        for (int i = 0; i < 30; ++i)
            rates.observe(roundOf(0.7, true));
        QVERIFY2(rates.at(0.3) > 0.8, qPrintable(QString::number(rates.at(0.3))));
        QVERIFY(rates.at(0.3) > before + 0.2);
    }

    void enoughTokensOfAConfidenceOutweighAllOthers() {
        ConfidenceRates rates(0.9);
        for (int i = 0; i < 60; ++i) {
            rates.observe(roundOf(0.95, true));
            rates.observe(roundOf(0.3, false));
        }
        QVERIFY2(rates.at(0.95) > 0.9, qPrintable(QString::number(rates.at(0.95))));
        QVERIFY2(rates.at(0.3) < 0.1, qPrintable(QString::number(rates.at(0.3))));
    }

    void theNewestTokensCountMost() {
        ConfidenceRates rates;
        for (int i = 0; i < 300; ++i)
            rates.observe(roundOf(0.5, false));
        QVERIFY(rates.at(0.5) < 0.1);
        for (int i = 0; i < 100; ++i)
            rates.observe(roundOf(0.5, true));
        QVERIFY(rates.at(0.5) > 0.7);
    }
};

QTEST_GUILESS_MAIN(ConfidenceRatesTest)
#include "confidence_rates_test.moc"
