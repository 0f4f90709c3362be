// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/self_drafter.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/programs/live_bytes.h"
#include "tests/support/transformers/forward_helpers.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace engine;

namespace {

using Ids = std::vector<TokenId>;

const Ids kPrompt = {12, 150, 3, 77, 41, 9};

Transformer& transformer() {
    static const std::unique_ptr<Transformer> made = [] {
        const ModelConfig config = support::tinyConfig();
        support::MemoryWeights weights = support::randomWeights(config, 8);
        for (float& weight : weights.values("lm_head.weight"))
            weight *= 3.0F; // confidences from low to high
        return support::plainModel(config, weights);
    }();
    return *made;
}

LayerPlan skippingPlan() {
    LayerPlan plan = LayerPlan::full(3);
    plan.attention[1] = SublayerAction::Skip;
    plan.mlp[2] = SublayerAction::Skip;
    return plan;
}

/// A target behind the prompt and one more token.
Target makeTarget(const SamplingOptions& sampling, int maxTokens = 40) {
    Target target = Target::make(transformer(), sampling, 64, 48).value();
    ENGINE_CHECK(target.begin({kPrompt, maxTokens}, {}).hasValue(), "the prompt was refused");
    ENGINE_CHECK(maxTokens == 1 || target.plainStep().hasValue(), "a step failed");
    return target;
}

/// A draft by a drafter; its plan has the number 1.
Draft madeBy(SelfDrafter& drafter,
             Target& target,
             const LayerPlan& plan,
             const DraftStopRule& stopRule,
             DraftTerms terms) {
    drafter.use(plan, 1);
    terms.stopRule = &stopRule;
    auto made = drafter.draft(target, terms);
    ENGINE_CHECK(made.hasValue(), "no draft");
    return std::move(made).value();
}

DraftTree
draftOf(Target& target, const LayerPlan& plan, const DraftStopRule& rule, const DraftTerms& terms) {
    SelfDrafter drafter;
    return madeBy(drafter, target, plan, rule, terms).tree;
}

/// The tokens that the cache, the pending token and the path down to a node make up.
Ids sequenceTo(const Target& target, const DraftTree& tree, int node) {
    Ids path;
    for (; node >= 0; node = tree.node(node).parent)
        path.insert(path.begin(), tree.node(node).token);
    Ids sequence = kPrompt;
    sequence.insert(sequence.end(), target.output().begin(), target.output().end());
    sequence.insert(sequence.end(), path.begin(), path.end());
    return sequence;
}

/// What a plan says behind a node: the prompt was read by the full model, the rest by the plan.
std::vector<double>
draftLogits(const Target& target, const DraftTree& tree, const LayerPlan& plan, int node) {
    const Ids sequence = sequenceTo(target, tree, node);
    KvCache cache = support::emptyCache(transformer(), 64);
    const auto committed = static_cast<std::size_t>(target.length());
    (void)support::runChain(
        transformer(), cache, LayerPlan::full(3), std::span(sequence).first(committed), 4);
    return support::runChain(transformer(), cache, plan, std::span(sequence).subspan(committed), 1)
        .back();
}

/// Notes what it is asked and stops when told to.
struct WatchingStopRule final : DraftStopRule {
    explicit WatchingStopRule(int stopsAt)
        : m_stopsAt(stopsAt) {}

    std::optional<DraftEnd> stopsAfter(double confidence, int steps) const override {
        confidences.push_back(confidence);
        stepCounts.push_back(steps);
        return unsureOrLong(confidence, 0.0, steps, m_stopsAt);
    }

    int m_stopsAt;
    mutable std::vector<double> confidences;
    mutable std::vector<int> stepCounts;
};

SamplingOptions samplingOf(bool isGreedy) {
    return isGreedy ? SamplingOptions{} : SamplingOptions{.temperature = 0.8, .seed = 3};
}

/// By the definition, over the whole vocabulary.
double probabilityOf(std::span<const double> logits, TokenId token) {
    double total = 0.0;
    for (const double logit : logits)
        total += std::exp(logit);
    return std::exp(logits[static_cast<std::size_t>(token)]) / total;
}

} // namespace

class SelfDrafterTest : public QObject {
    Q_OBJECT

private slots:
    void draftsLeaveTheLiveCacheAlone();
    void verifiedNodesSeeWhatASequenceWouldSee();
    void withNothingSkippedTheDraftIsAcceptedInFull_data();
    void withNothingSkippedTheDraftIsAcceptedInFull();
    void theSpineIsWhatThePlanPrefers();

    void greedySiblingsAreTheNextBest_data() {
        QTest::addColumn<int>("count");
        QTest::newRow("within a summary") << 4;
        QTest::newRow("a whole summary") << 10;
        QTest::newRow("more than a summary has") << 13;
    }

    void greedySiblingsAreTheNextBest();
    void siblingsAreAsManyAsTheConfidenceAsksFor();
    void theTreeIsSpineFirstAndKeepsItsSize();
    void theStopRuleIsAskedBehindEachPass();
    void aDraftLeavesRoomForTheBonus();
    void aDraftEndsAtATokenThatEndsTheAnswer();
    void theStepTellsWhatTheDraftTook();
    void drawnSiblingsAreDifferentAndKnowTheirSource();
    void sharedNoiseDraftsWhatVanillaWouldDraw();
    void roundsOfRejectionDrawAnew();
    void oddSchedulesAreRefused_data();
    void oddSchedulesAreRefused();
    void schedulesAreRead();
};

void SelfDrafterTest::draftsLeaveTheLiveCacheAlone() {
    for (const bool isGreedy : {true, false}) {
        Target target = makeTarget(samplingOf(isGreedy));
        const auto before = support::liveBytes(target.cache());
        const Position length = target.length();
        const TokenId pending = target.pending();
        LayerPlan exits = LayerPlan::full(3);
        exits.exitAfterLayer = 0;
        for (const LayerPlan& plan : {LayerPlan::full(3), skippingPlan(), exits})
            for (const VerifyRule rule : {VerifyRule::Match, VerifyRule::Rejection}) {
                const DraftTerms options = {{{1, 2, 3, 4}}, 12, rule};
                const DraftTree tree = draftOf(target, plan, ConfidenceStopRule(0.0, 6), options);
                QCOMPARE(tree.draftSteps(), 6);
                QCOMPARE(target.length(), length);
                QCOMPARE(target.pending(), pending);
                QVERIFY(support::liveBytes(target.cache()) == before);
            }
    }
}

void SelfDrafterTest::verifiedNodesSeeWhatASequenceWouldSee() {
    Target target = makeTarget({});
    const DraftTree tree = draftOf(target,
                                   skippingPlan(),
                                   ConfidenceStopRule(0.0, 4),
                                   {.siblings = {{3, 3, 3, 3}}, .maxNodes = 12});
    QCOMPARE(tree.size(), 12);
    Ids tokens = {target.pending()};
    for (const DraftNode& node : tree.nodes())
        tokens.push_back(node.token);
    const auto rows =
        support::logitsOf(transformer(),
                          target.cache(), // the draft's own rows still lie behind its length
                          LayerPlan::full(3),
                          AttentionLayout::tree(target.length(), tree.layoutParents()),
                          tokens);
    for (int node = -1; node < tree.size(); ++node) {
        KvCache cache = support::emptyCache(transformer(), 64);
        const auto alone = support::runChain(
            transformer(), cache, LayerPlan::full(3), sequenceTo(target, tree, node), 64);
        QVERIFY(rows[static_cast<std::size_t>(node + 1)] == alone.back()); // to the last bit
    }
}

void SelfDrafterTest::withNothingSkippedTheDraftIsAcceptedInFull_data() {
    QTest::addColumn<bool>("isGreedy");
    QTest::newRow("greedy") << true;
    QTest::newRow("shared noise") << false;
}

void SelfDrafterTest::withNothingSkippedTheDraftIsAcceptedInFull() {
    QFETCH(bool, isGreedy);
    Target target = makeTarget(samplingOf(isGreedy));
    SelfDrafter drafter;
    while (target.remainingTokens() > 0) {
        Draft made = madeBy(drafter,
                            target,
                            LayerPlan::full(3),
                            ConfidenceStopRule(0.0, 5),
                            {.siblings = {{1, 2, 3, 4}}, .maxNodes = 9});
        const int steps = made.tree.draftSteps();
        const auto step = target.verify(std::move(made));
        QVERIFY(step.hasValue());
        QCOMPARE(static_cast<int>(step.value().path.size()), steps);
        QCOMPARE(static_cast<int>(step.value().tokens.size()), steps + 1);
        for (int i = 0; i < steps; ++i)
            QCOMPARE(step.value().path[static_cast<std::size_t>(i)], i);
    }
}

void SelfDrafterTest::theSpineIsWhatThePlanPrefers() {
    Target target = makeTarget({});
    const DraftTree tree =
        draftOf(target, skippingPlan(), ConfidenceStopRule(0.0, 5), {.maxNodes = 5});
    QCOMPARE(tree.size(), 5);
    bool differs = false;
    for (int node = 0; node < 5; ++node) {
        const auto logits = draftLogits(target, tree, skippingPlan(), node - 1);
        QCOMPARE(tree.node(node).token, argmax(logits));
        QCOMPARE(tree.node(node).probability, probabilityOf(logits, tree.node(node).token));
        QVERIFY(tree.drawnFrom(node - 1) == nullptr);
        differs = differs || argmax(draftLogits(target, tree, LayerPlan::full(3), node - 1)) !=
                                 tree.node(node).token;
    }
    QVERIFY(differs); // otherwise nothing here shows that the plan was used
}

void SelfDrafterTest::greedySiblingsAreTheNextBest() {
    QFETCH(int, count);
    Target target = makeTarget({});
    const DraftTree tree = draftOf(target,
                                   skippingPlan(),
                                   ConfidenceStopRule(0.0, 3),
                                   {.siblings = {{count, count, count, count}}, .maxNodes = 99});
    for (int parent = -1; parent < 2; ++parent) {
        const auto logits = draftLogits(target, tree, skippingPlan(), parent);
        Ids order(logits.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = static_cast<TokenId>(i);
        std::stable_sort(order.begin(), order.end(), [&](TokenId a, TokenId b) {
            return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
        });
        const std::vector<int> children = tree.children(parent);
        QCOMPARE(children.size(), static_cast<std::size_t>(count));
        for (std::size_t rank = 0; rank < children.size(); ++rank) {
            const DraftNode& node = tree.node(children[rank]);
            QCOMPARE(node.token, order[rank]);
            QCOMPARE(node.rank, static_cast<int>(rank));
            QVERIFY(std::abs(node.probability - probabilityOf(logits, node.token)) < 1e-14);
        }
    }
}

void SelfDrafterTest::siblingsAreAsManyAsTheConfidenceAsksFor() {
    const SiblingSchedule schedule = {{1, 3, 5, 10}};
    QCOMPARE(schedule.choicesAt(1.0), 1);
    QCOMPARE(schedule.choicesAt(0.951), 1);
    QCOMPARE(schedule.choicesAt(0.95), 3);
    QCOMPARE(schedule.choicesAt(0.8), 5);
    QCOMPARE(schedule.choicesAt(0.5), 10);
    QCOMPARE(schedule.choicesAt(0.0), 10);
    std::set<std::size_t> widths;
    for (const double temperature : {0.0, 1.0}) {
        Target target = makeTarget({.temperature = temperature});
        const DraftTree tree = draftOf(target,
                                       skippingPlan(),
                                       ConfidenceStopRule(0.0, 12),
                                       {.siblings = {{1, 2, 3, 4}}, .maxNodes = 48});
        for (int depth = 0; depth < tree.draftSteps(); ++depth) {
            const auto width = tree.children(depth - 1).size();
            const double confidence = tree.confidences()[static_cast<std::size_t>(depth)];
            QCOMPARE(static_cast<int>(width),
                     (SiblingSchedule{{1, 2, 3, 4}}.choicesAt(confidence)));
            widths.insert(width);
        }
    }
    QVERIFY(widths.size() > 2);
}

void SelfDrafterTest::theTreeIsSpineFirstAndKeepsItsSize() {
    Target target = makeTarget({});
    for (const int maxNodes : {1, 3, 4, 7, 11, 20, 25}) {
        const DraftTree tree = draftOf(target,
                                       skippingPlan(),
                                       ConfidenceStopRule(0.0, 4),
                                       {.siblings = {{5, 5, 5, 5}}, .maxNodes = maxNodes});
        const int spine = std::min(maxNodes, 4);
        QCOMPARE(tree.size(), std::min(maxNodes, 20));
        QCOMPARE(tree.draftSteps(), spine); // no pass is wasted on what cannot be kept
        for (int node = 0; node < tree.size(); ++node) {
            const int depth = node < spine ? node : (node - spine) / 4;
            const int rank = node < spine ? 0 : 1 + (node - spine) % 4;
            QCOMPARE(tree.node(node).parent, depth - 1);
            QCOMPARE(tree.node(node).rank, rank);
        }
    }
}

void SelfDrafterTest::theStopRuleIsAskedBehindEachPass() {
    for (const double temperature : {0.0, 0.7}) {
        Target target = makeTarget({.temperature = temperature, .seed = 5});
        const WatchingStopRule rule(3);
        const DraftTree tree = draftOf(target, skippingPlan(), rule, {.maxNodes = 10});
        QCOMPARE(tree.draftSteps(), 3); // the pass that stopped it is kept
        QCOMPARE(tree.size(), 3);
        QCOMPARE(rule.stepCounts, (std::vector<int>{1, 2, 3}));
        for (int node = 0; node < 3; ++node) {
            const double confidence = rule.confidences[static_cast<std::size_t>(node)];
            QCOMPARE(confidence, tree.confidences()[static_cast<std::size_t>(node)]);
            QCOMPARE(confidence, tree.node(node).probability);
            // At temperature 1 whatever the sampler does, and of the token that was chosen.
            QCOMPARE(confidence,
                     probabilityOf(draftLogits(target, tree, skippingPlan(), node - 1),
                                   tree.node(node).token));
        }
    }
}

void SelfDrafterTest::aDraftLeavesRoomForTheBonus() {
    for (int room = 1; room <= 5; ++room) {
        Target target = makeTarget({}, room == 1 ? 1 : room + 1);
        QCOMPARE(target.remainingTokens(), room);
        const DraftTree tree =
            draftOf(target, LayerPlan::full(3), ConfidenceStopRule(0.0, 9), {.maxNodes = 9});
        QCOMPARE(tree.draftSteps(), room - 1);
        const auto step = target.verify(tree, VerifyRule::Match);
        QVERIFY(step.hasValue());
        QCOMPARE(static_cast<int>(step.value().tokens.size()), room);
    }
}

/// Whatever the token: what would stand behind it could never be emitted.
void SelfDrafterTest::aDraftEndsAtATokenThatEndsTheAnswer() {
    for (const double temperature : {0.0, 1.0}) {
        Target free = makeTarget({.temperature = temperature, .seed = 6});
        const DraftTerms terms{.siblings = {{1, 2, 3, 4}}, .maxNodes = 24};
        const ConfidenceStopRule rule(0.0, 6);
        const DraftTree whole = draftOf(free, skippingPlan(), rule, terms);
        QCOMPARE(whole.draftSteps(), 6);
        for (int place = 0; place < 6; ++place) {
            const Ids ends = {whole.node(place).token};
            Target target =
                Target::make(transformer(), {.temperature = temperature, .seed = 6}, 64, 48)
                    .value();
            QVERIFY(target.begin({kPrompt, 40, ends}, {}).hasValue());
            QVERIFY(target.plainStep().hasValue());
            const DraftTree ended = draftOf(target, skippingPlan(), rule, terms);
            int first = 0; // of its occurrences
            while (whole.node(first).token != ends.front())
                ++first;
            QCOMPARE(ended.draftSteps(), first + 1); // no pass behind it
            QCOMPARE(ended.node(first).token, ends.front());
            QVERIFY(ended.end() == DraftEnd{DraftEndReason::EndToken});
            for (const DraftNode& node : ended.nodes())
                QVERIFY(node.parent < first); // nothing stands behind it
        }
    }
}

void SelfDrafterTest::theStepTellsWhatTheDraftTook() {
    Target target = makeTarget({});
    double nowMs = 0.0;
    target.useClock([&nowMs] { return nowMs += 10.0; });
    SelfDrafter drafter;
    Draft made =
        madeBy(drafter, target, skippingPlan(), ConfidenceStopRule(0.0, 3), {.maxNodes = 9});
    QCOMPARE(made.planId, std::uint64_t{1});
    QCOMPARE(made.ms, 10.0); // from one look at the clock to the next
    QCOMPARE(made.layerLoads, 3 * skippingPlan().layerLoads());
    const double loads = made.layerLoads;
    const DecodeStep step = target.verify(std::move(made)).value();
    QCOMPARE(step.planId, std::uint64_t{1});
    QCOMPARE(step.draftLayers, loads);
    QCOMPARE(step.draftMs, 10.0);
    QCOMPARE(step.verifyLayers, 3.0);
    Draft none = Draft::empty({DraftEndReason::Nothing});
    none.planId = 1;
    none.ms = 10.0;
    const DecodeStep plain = target.verify(std::move(none)).value();
    QVERIFY(plain.isPlain() && plain.draft.end() == DraftEnd{DraftEndReason::Nothing});
    QCOMPARE(plain.planId, std::uint64_t{0}); // the full model alone
    QCOMPARE(plain.draftMs, 0.0);
}

void SelfDrafterTest::drawnSiblingsAreDifferentAndKnowTheirSource() {
    Target target = makeTarget({.temperature = 1.5, .topK = 12});
    const DraftTree tree = draftOf(target,
                                   skippingPlan(),
                                   ConfidenceStopRule(0.0, 3),
                                   {{{10, 10, 10, 10}}, 32, VerifyRule::Rejection});
    for (int parent = -1; parent < 2; ++parent) {
        const Distribution* source = tree.drawnFrom(parent);
        QVERIFY(source != nullptr);
        const Distribution expected =
            target.sampler().distribution(draftLogits(target, tree, skippingPlan(), parent));
        QCOMPARE(source->ids, expected.ids);
        QCOMPARE(source->probabilities, expected.probabilities);
        std::set<TokenId> drawn;
        for (const int child : tree.children(parent)) {
            const TokenId token = tree.node(child).token;
            QVERIFY(std::binary_search(source->ids.begin(), source->ids.end(), token));
            drawn.insert(token);
        }
        QCOMPARE(drawn.size(), tree.children(parent).size());
    }
    QVERIFY(tree.drawnFrom(2) == nullptr);
}

void SelfDrafterTest::sharedNoiseDraftsWhatVanillaWouldDraw() {
    Target target = makeTarget({.temperature = 1.0, .seed = 21});
    const DraftTree tree =
        draftOf(target, skippingPlan(), ConfidenceStopRule(0.0, 6), {.maxNodes = 6});
    bool isArgmaxThroughout = true;
    for (int node = 0; node < 6; ++node) {
        const auto logits = draftLogits(target, tree, skippingPlan(), node - 1);
        const auto place = static_cast<Position>(target.output().size()) + node;
        QCOMPARE(tree.node(node).token, target.sampler().choose(logits, place));
        QVERIFY(tree.drawnFrom(node - 1) == nullptr);
        isArgmaxThroughout = isArgmaxThroughout && tree.node(node).token == argmax(logits);
    }
    QVERIFY(!isArgmaxThroughout);
}

void SelfDrafterTest::roundsOfRejectionDrawAnew() {
    Target target = makeTarget({.temperature = 3.0, .seed = 2});
    const DraftTerms options = {{}, 4, VerifyRule::Rejection};
    SelfDrafter drafter;
    std::set<TokenId> firsts;
    for (int round = 0; round < 12; ++round) {
        const Draft made =
            madeBy(drafter, target, skippingPlan(), ConfidenceStopRule(0.0, 1), options);
        firsts.insert(made.tree.node(0).token);
    }
    QVERIFY(firsts.size() > 4); // the same noise would give the same token each time
    SelfDrafter again;
    SelfDrafter other;
    for (int round = 0; round < 3; ++round) {
        const ConfidenceStopRule rule(0.0, 4);
        const Draft one = madeBy(again, target, skippingPlan(), rule, options);
        const Draft two = madeBy(other, target, skippingPlan(), rule, options);
        QVERIFY(std::ranges::equal(one.tree.nodes(), two.tree.nodes()));
    }
}

void SelfDrafterTest::oddSchedulesAreRefused_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"",
                             "1",
                             "1,3,5",
                             "1,3,5,",
                             ",3,5,10",
                             "1,3,5,10,",
                             "1,3,5,10,20",
                             "1,,5,10",
                             "0,3,5,10",
                             "1,3,5,65",
                             "-1,3,5,10",
                             "+1,3,5,10",
                             "1;3;5;10",
                             " 1,3,5,10",
                             "1, 3,5,10",
                             "1,3,5,10 ",
                             "1.5,3,5,10",
                             "1,3,5,99999999999999999999",
                             "a,b,c,d"})
        QTest::newRow(text) << text;
}

void SelfDrafterTest::oddSchedulesAreRefused() {
    QFETCH(QString, text);
    const auto parsed = SiblingSchedule::parse(text.toStdString());
    QVERIFY(!parsed.hasValue());
    QCOMPARE(parsed.error().code, ErrorCode::InvalidInput);
    const QString message = QString::fromStdString(parsed.error().message);
    QVERIFY(message.contains('"' + text + '"'));
    QVERIFY(!parsed.error().hint.empty());
}

void SelfDrafterTest::schedulesAreRead() {
    QCOMPARE(SiblingSchedule::parse("1,3,5,10").value(), (SiblingSchedule{{1, 3, 5, 10}}));
    QCOMPARE(SiblingSchedule::parse("64,1,64,1").value(), (SiblingSchedule{{64, 1, 64, 1}}));
}

QTEST_APPLESS_MAIN(SelfDrafterTest)

#include "self_drafter_test.moc"
