// SPDX-License-Identifier: Apache-2.0
#include "app/data/kept_drafts.h"

#include <QTest>

class KeptDraftsTest : public QObject {
    Q_OBJECT

private slots:

    void aShareStandsBehindItsCounts() {
        engine::DecodeMetrics metrics;
        metrics.rounds = 37;
        metrics.accepted = 141;
        metrics.draftSteps = 149;
        QCOMPARE(app::keptDrafts(metrics), std::string("141/149 (.95)"));
        metrics.accepted = 149;
        QCOMPARE(app::keptDrafts(metrics), std::string("149/149 (1.00)"));
        metrics.accepted = 0;
        QCOMPARE(app::keptDrafts(metrics), std::string("0/149 (.00)"));
    }

    /// A search takes time before it drafts.
    void withoutDraftsThereIsNoShare() {
        engine::DecodeMetrics metrics;
        metrics.searchMs = 12.0;
        QCOMPARE(app::keptDrafts(metrics), std::string("-"));
    }
};

QTEST_APPLESS_MAIN(KeptDraftsTest)
#include "kept_drafts_test.moc"
