// SPDX-License-Identifier: Apache-2.0
// Nodes beside a chain that was drafted by early exit: they come to the exit with its last token.
#include "engine/decoding/drafts/exit_drafter.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/spy_transformer.h"

#include <QTest>

using namespace engine;

namespace {

constexpr int kLayers = 5;
constexpr int kBeside = 4;
constexpr TokenId kGuess = 40;

Target targetOf(Transformer& model) {
    static const std::vector<TokenId> prompt = {31, 4, 15, 92, 65, 35, 89, 79, 32};
    Target target = Target::make(model, {}, 120, 16).value();
    ENGINE_CHECK(target.begin({prompt}, {}, 5).hasValue(), "the prompt was refused");
    return target;
}

/// Siblings at the root, within the chain and behind its end, one with a child.
void addBeside(DraftTree& chain) {
    const int end = chain.size() - 1;
    const int first = chain.add(kGuess, -1, 0.2);
    chain.add(kGuess + 1, first, 0.2);
    chain.add(kGuess + 2, end / 2, 0.2);
    chain.add(kGuess + 3, end, 0.2);
}

} // namespace

class ExitBesideTest : public QObject {
    Q_OBJECT

private slots:

    void theResumedVerificationIsTheWholeOne_data() {
        QTest::addColumn<int>("exit");
        QTest::addColumn<bool>("keepsUnsure");
        for (int exit = 1; exit < kLayers; ++exit)
            for (const bool keeps : {true, false})
                QTest::addRow("exit %d, %s", exit, keeps ? "keeps" : "drops") << exit << keeps;
    }

    /// What an unsure chain drops has brought its last token to the exit already: the further pass
    /// is then for what is beside it alone.
    void theResumedVerificationIsTheWholeOne() {
        QFETCH(int, exit);
        QFETCH(bool, keepsUnsure);
        const auto model = support::layeredModel(kLayers, 21);
        support::SpyTransformer spy(*model);
        Target resumed = targetOf(spy);
        Target whole = targetOf(*model);
        ExitDrafter drafter;
        drafter.use({.exitLayers = exit, .keepsUnsure = keepsUnsure, .addBeside = addBeside});
        const ConfidenceStopRule rule(0.02, 99);
        while (resumed.output().size() < 20) {
            const auto unread = static_cast<long>(resumed.unread().size());
            const long rowLayers = spy.rowLayers;
            const int passes = spy.passes;
            auto made = drafter.draft(resumed, {.maxDepth = 4, .stopRule = &rule});
            QVERIFY(made.hasValue());
            const DraftTree draft = made.value().tree;
            const int chain = draft.draftSteps();
            QCOMPARE(draft.size(), chain + kBeside);
            const bool dropped = spy.passes - passes > chain + 1;
            QVERIFY(!(dropped && keepsUnsure));
            QCOMPARE(made.value().layerLoads, double(exit) * (spy.passes - passes));
            const auto step = resumed.verify(std::move(made).value());
            const auto expected = whole.verify(draft, VerifyRule::Match);
            QVERIFY(step.hasValue() && expected.hasValue());
            QCOMPARE(spy.rowLayers - rowLayers, (unread + 1 + draft.size()) * kLayers);
            QCOMPARE(step.value().tokens, expected.value().tokens);
            QCOMPARE(step.value().path, expected.value().path);
            for (std::size_t row = 0; row < whole.lastSummaries().size(); ++row)
                QVERIFY(resumed.lastSummaries()[row].logits == whole.lastSummaries()[row].logits);
            QVERIFY(support::liveBytes(resumed.cache()) == support::liveBytes(whole.cache()));
        }
    }

    void drawnTokensAreJoinedByNoOthers() {
        const auto model = support::layeredModel(kLayers, 21);
        Target target = targetOf(*model);
        ExitDrafter drafter;
        drafter.use({.addBeside = addBeside});
        QVERIFY_EXCEPTION_THROWN(
            (void)drafter.draft(target, {.rule = VerifyRule::Rejection, .maxDepth = 3}),
            std::exception);
    }
};

QTEST_GUILESS_MAIN(ExitBesideTest)
#include "exit_beside_test.moc"
