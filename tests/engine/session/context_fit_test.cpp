// SPDX-License-Identifier: Apache-2.0
#include "engine/session/context_fit.h"

#include <QTest>

using namespace engine;

class ContextFitTest : public QObject {
    Q_OBJECT

private slots:

    void whatFitsIsSentWhole() {
        const ContextFit fit =
            fitContext(ContextPolicy::DropOldest, std::vector{10, 20, 30}, 5, 872);
        QVERIFY(fit.isEnough);
        QCOMPARE(fit.droppedMessages, 0);
        QCOMPARE(fit.sentTokens, 65);
    }

    void theOldestExchangesAreDroppedAsPairs() {
        const ContextFit fit =
            fitContext(ContextPolicy::DropOldest, std::vector{300, 300, 200, 200, 100}, 10, 572);
        QVERIFY(fit.isEnough);
        QCOMPARE(fit.isSent, std::vector<bool>({false, false, true, true, true}));
        QCOMPARE(fit.droppedMessages, 2);
        QCOMPARE(fit.droppedTokens, 600);
        QCOMPARE(fit.sentTokens, 510);
    }

    void cuttingTheMiddleKeepsTheFirstExchange() {
        const ContextFit fit =
            fitContext(ContextPolicy::CutMiddle, std::vector{100, 100, 300, 300, 100}, 10, 572);
        QVERIFY(fit.isEnough);
        QCOMPARE(fit.isSent, std::vector<bool>({true, true, false, false, true}));
    }

    void theNewestWordsAlwaysStayEvenWhenTheyDoNotFit() {
        const ContextFit fit =
            fitContext(ContextPolicy::DropOldest, std::vector{10, 10, 900}, 5, 384);
        QVERIFY(!fit.isEnough);
        QCOMPARE(fit.isSent, std::vector<bool>({false, false, true}));
    }

    void askingDropsNothing() {
        const ContextFit fit = fitContext(ContextPolicy::Ask, std::vector{900, 900, 9}, 5, 384);
        QVERIFY(!fit.isEnough);
        QCOMPARE(fit.droppedMessages, 0);
    }

    void anAnswerHasRoomInASmallContextToo() {
        QCOMPARE(promptRoom(1000, 128), 872);
        QCOMPARE(promptRoom(64, 128), 48);
        QCOMPARE(promptRoom(64, 1), 63);
        QCOMPARE(promptRoom(2, 128), 1); // one token at least
    }
};

QTEST_APPLESS_MAIN(ContextFitTest)
#include "context_fit_test.moc"
