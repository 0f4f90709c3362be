// SPDX-License-Identifier: Apache-2.0
// Every decoder there is tells of each draft why it is no longer, and what it tells is true of the
// tree: what people read beside it is not guessed from settings. No draft goes on behind an end.
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace engine;

namespace {

constexpr int kLength = 90;
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4};
const std::vector<TokenId> kEndIds = {7};

Transformer& model() {
    static const auto made = support::layeredModel(8, 5);
    return *made;
}

int depthOf(const DraftTree& tree) {
    int deepest = 0;
    for (int node = 0; node < tree.size(); ++node)
        deepest = std::max(deepest, tree.depth(node));
    return deepest;
}

bool endsAnswer(TokenId token) {
    return std::find(kEndIds.begin(), kEndIds.end(), token) != kEndIds.end();
}

/// Whether the end that a tree tells is the end that it has; `room` is what the answer still took.
bool isTrue(const DraftTree& tree, int room) {
    const DraftEnd& end = tree.end();
    const int depth = depthOf(tree);
    switch (end.reason) {
    case DraftEndReason::NotReported:
        return false;
    case DraftEndReason::Unsure:
    case DraftEndReason::Unlikely:
    case DraftEndReason::Price:
        return end.value < end.limit || (tree.size() == 0 && end.limit == 0.0);
    case DraftEndReason::Length:
        return depth == static_cast<int>(end.limit);
    case DraftEndReason::Nodes:
        return tree.size() == static_cast<int>(end.limit);
    case DraftEndReason::Room:
        return depth == room - 1;
    case DraftEndReason::EndToken:
        return std::any_of(tree.nodes().begin(), tree.nodes().end(), [](const DraftNode& node) {
            return endsAnswer(node.token);
        });
    case DraftEndReason::Budget:
    case DraftEndReason::Measuring:
        return tree.size() == 0;
    case DraftEndReason::Nothing:
        return true;
    }
    return false;
}

/// Whether no node hangs behind a token that ends the answer: its children could never be accepted.
bool endsWhereTheAnswerEnds(const DraftTree& tree) {
    const auto nodes = tree.nodes();
    return std::none_of(nodes.begin(), nodes.end(), [nodes](const DraftNode& node) {
        return node.parent >= 0 && endsAnswer(nodes[static_cast<std::size_t>(node.parent)].token);
    });
}

/// Answers the prompt twice, as a second turn drafts from what the first one taught. Ends of
/// answers are passed over.
std::vector<DraftTree> draftsOf(const std::string& name, const SettingValues& settings) {
    const auto decoder = support::openDecoder(
        name, {.transformer = model(), .contextLength = 320, .settings = settings});
    std::vector<DraftTree> drafts;
    for (int turn = 0; turn < 2; ++turn) {
        ENGINE_CHECK(
            decoder->begin({.tokens = kPrompt, .maxTokens = kLength, .endIds = kEndIds}, {})
                .hasValue(),
            "a prompt was refused");
        for (int left = kLength; left > 0;) {
            const auto step = support::valueOf(decoder->step());
            const DraftTree& draft = step.draft;
            ENGINE_CHECK(isTrue(draft, left),
                         "{}: a draft of {} nodes, {} deep, with {} places left says {} ({}, {})",
                         name,
                         draft.size(),
                         depthOf(draft),
                         left,
                         static_cast<int>(draft.end().reason),
                         draft.end().value,
                         draft.end().limit);
            ENGINE_CHECK(endsWhereTheAnswerEnds(draft), "{}: a draft goes on behind an end", name);
            left -= static_cast<int>(step.tokens.size());
            drafts.push_back(draft);
            if (endsAnswer(step.tokens.back()))
                break;
        }
        ENGINE_CHECK(decoder->endAnswer().hasValue(), "an answer did not end");
    }
    return drafts;
}

std::set<DraftEndReason> reasonsOf(const std::vector<DraftTree>& drafts) {
    std::set<DraftEndReason> reasons;
    for (const DraftTree& draft : drafts)
        reasons.insert(draft.end().reason);
    return reasons;
}

} // namespace

class DraftEndTest : public QObject {
    Q_OBJECT

private slots:

    void everyDecoderTellsWhyItsDraftsEnd_data() {
        QTest::addColumn<QString>("decoder");
        for (const std::string& name : support::decoderNames())
            if (name != "vanilla")
                QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }

    void everyDecoderTellsWhyItsDraftsEnd() {
        QFETCH(const QString, decoder);
        const std::string name = decoder.toStdString();
        try {
            QVERIFY(!draftsOf(name, support::neededSettings(name)).empty());
        } catch (const std::exception& exception) {
            QFAIL(exception.what());
        }
    }

    void aThresholdThatNothingReachesMakesDraftsUnsure() {
        const auto reasons = reasonsOf(draftsOf("swift", {{"epsilon", 1.0}, {"max_draft", 4.0}}));
        QVERIFY(reasons.contains(DraftEndReason::Unsure));
        QVERIFY(!reasons.contains(DraftEndReason::Length));
    }

    void withoutAThresholdTheLengthEndsThem() {
        const auto reasons =
            reasonsOf(draftsOf("swift", {{"epsilon", 0.0}, {"max_draft", 3.0}, {"weigh", 0.0}}));
        QVERIFY(reasons.contains(DraftEndReason::Length));
        QVERIFY(!reasons.contains(DraftEndReason::Unsure));
    }

    void behindTheBudgetNothingIsDrafted() {
        const auto drafts = draftsOf("jacobi", {{"mode", std::string("hybrid")}, {"budget", 12.0}});
        QVERIFY(reasonsOf(drafts).contains(DraftEndReason::Budget));
    }
};

QTEST_GUILESS_MAIN(DraftEndTest)
#include "draft_end_test.moc"
