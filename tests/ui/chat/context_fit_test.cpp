// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/context_fit.h"

#include <QtTest>

using namespace ui;

class ContextFitTest : public QObject {
    Q_OBJECT

private slots:

    void whatFitsIsSentWhole() {
        const ContextFit fit =
            fitContext(ContextPolicy::DropOldest, std::vector{10, 20, 30}, 5, 1000);
        QVERIFY(fit.isEnough);
        QCOMPARE(fit.droppedMessages, 0);
        QCOMPARE(fit.sentTokens, 65);
    }

    void theOldestExchangesAreDroppedAsPairs() {
        const ContextFit fit =
            fitContext(ContextPolicy::DropOldest, std::vector{300, 300, 200, 200, 100}, 10, 700);
        QVERIFY(fit.isEnough);
        QCOMPARE(fit.isSent, std::vector<bool>({false, false, true, true, true}));
        QCOMPARE(fit.droppedMessages, 2);
        QCOMPARE(fit.droppedTokens, 600);
        QCOMPARE(fit.sentTokens, 510);
    }

    void cuttingTheMiddleKeepsTheFirstExchange() {
        const ContextFit fit =
            fitContext(ContextPolicy::CutMiddle, std::vector{100, 100, 300, 300, 100}, 10, 700);
        QVERIFY(fit.isEnough);
        QCOMPARE(fit.isSent, std::vector<bool>({true, true, false, false, true}));
    }

    void theNewestWordsAlwaysStayEvenWhenTheyDoNotFit() {
        const ContextFit fit =
            fitContext(ContextPolicy::DropOldest, std::vector{10, 10, 900}, 5, 512);
        QVERIFY(!fit.isEnough);
        QCOMPARE(fit.isSent, std::vector<bool>({false, false, true}));
    }

    void askingDropsNothing() {
        const ContextFit fit = fitContext(ContextPolicy::Ask, std::vector{900, 900, 9}, 5, 512);
        QVERIFY(!fit.isEnough);
        QCOMPARE(fit.droppedMessages, 0);
    }

    void anAnswerHasRoomInASmallContextToo() {
        const ContextFit fit = fitContext(ContextPolicy::Ask, std::vector{40}, 0, 64);
        QVERIFY(fit.isEnough);
        QVERIFY(!fitContext(ContextPolicy::Ask, std::vector{60}, 0, 64).isEnough);
    }

    void policiesAreReadBackFromTheirNames() {
        for (const ContextPolicy policy : {ContextPolicy::Ask,
                                           ContextPolicy::NewChatWithSummary,
                                           ContextPolicy::DropOldest,
                                           ContextPolicy::CutMiddle})
            QCOMPARE(policyNamed(policyName(policy)), policy);
        QCOMPARE(policyNamed(QStringLiteral("nonsense")), ContextPolicy::Ask);
    }
};

QTEST_APPLESS_MAIN(ContextFitTest)
#include "context_fit_test.moc"
