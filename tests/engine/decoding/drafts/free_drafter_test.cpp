// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/free_drafter.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace engine;

namespace {

using Ids = std::vector<TokenId>;
using OtherSource = FreeStatistics::OtherSource;
using SuccessorKey = FreeStatistics::SuccessorKey;

constexpr int kVocab = 30;

/// A row whose successors are exactly these, with these probabilities.
HeadSummary summaryOf(const Ids& ids, const std::vector<double>& probabilities) {
    HeadSummary summary;
    summary.count = static_cast<int>(ids.size());
    for (std::size_t rank = 0; rank < ids.size(); ++rank) {
        summary.ids[rank] = ids[rank];
        summary.logits[rank] = std::log(probabilities[rank]);
    }
    return summary;
}

/// A finder and all that it looks at.
struct Sources {
    LookupDrafter lookup;
    SuccessorTable successors{kVocab, 64};
    FreeStatistics statistics;
    SamplingOptions sampling;

    std::vector<FreeCandidate> find(const Ids& drafted = {}, FreeSources asked = {}) const {
        return FreeCandidateFinder{lookup, successors, statistics, sampling, asked}.find(
            {drafted, static_cast<Position>(drafted.size())});
    }
};

Ids tokensOf(const std::vector<FreeCandidate>& candidates) {
    Ids ids;
    for (const FreeCandidate& candidate : candidates)
        ids.push_back(candidate.token);
    return ids;
}

SeenRow randomRow(std::mt19937& random) {
    std::vector<double> logits(kVocab);
    std::normal_distribution<double> normal(0.0, 2.0);
    for (double& logit : logits)
        logit = normal(random);
    return {static_cast<TokenId>(random() % kVocab),
            static_cast<TokenId>(random() % kVocab),
            summarise(logits)};
}

/// A drafter that has read and answered something.
void exercise(FreeDrafter& drafter, unsigned seed) {
    std::mt19937 random(seed);
    Ids prompt(20);
    for (TokenId& id : prompt)
        id = static_cast<TokenId>(random() % 8);
    drafter.begin({.tokens = prompt}, {});
    for (int round = 0; round < 30; ++round) {
        Ids emitted(1 + random() % 3);
        for (TokenId& id : emitted)
            id = static_cast<TokenId>(random() % 8);
        std::vector<SeenRow> rows(1 + random() % 6);
        for (SeenRow& row : rows)
            row = randomRow(random);
        drafter.observe(emitted, rows);
    }
}

double pathOf(const DraftTree& tree, int index) {
    double path = 1.0;
    for (; index >= 0; index = tree.node(index).parent)
        path *= tree.node(index).probability;
    return path;
}

/// All paths' tokens and products, in the order of the products.
std::vector<std::pair<double, Ids>> pathsOf(const DraftTree& tree) {
    std::vector<std::pair<double, Ids>> paths;
    for (int index = 0; index < tree.size(); ++index) {
        Ids ids;
        for (int at = index; at >= 0; at = tree.node(at).parent)
            ids.insert(ids.begin(), tree.node(at).token);
        paths.emplace_back(pathOf(tree, index), std::move(ids));
    }
    std::sort(paths.begin(), paths.end(), std::greater<>());
    return paths;
}

} // namespace

class FreeDrafterTest : public QObject {
    Q_OBJECT

private slots:
    void ratesForgetWhatIsLongAgo();
    void eachStatisticHasARateOfItsOwn();
    void nothingIsProposedWhereNothingIsKnown();
    void thePairSpeaksBeforeTheToken();
    void agreementMakesLikelier();
    void probabilitiesNeverExceedOne();
    void switchedOffSourcesAreSilent();
    void sharedNoiseFindsWhatVanillaDraws();
    void treesKeepTheirLimits();
    void theLikeliestPathsAreChosen();
    void theLikeliestChainComesFirst();
    void repetitionIsDraftedToItsEnd();
    void aSourceThatFailsIsNotAskedUntilItPays();
    void aDraftEndsAtATokenThatEndsTheAnswer();
    void emittedTokensAreTrials();
    void theSameCallsGiveTheSameTrees();
    void successorsOutliveTheDrafter();
};

void FreeDrafterTest::ratesForgetWhatIsLongAgo() {
    DecayedRate rate(0.25, 4.0, 0.5);
    QCOMPARE(rate.value(), 0.25);
    rate.add(true);
    QCOMPARE(rate.value(), 2.0 / 5.0); // (1 + 4 * .25) / (1 + 4)
    rate.add(false);
    QCOMPARE(rate.value(), 1.5 / 5.5); // (.5 + 1) / (1.5 + 4)
    QCOMPARE(rate.trials(), 1.5);
    for (int trial = 0; trial < 60; ++trial)
        rate.add(true);
    QCOMPARE(rate.trials(), 2.0);
    QCOMPARE(rate.value(), 3.0 / 6.0); // the prior is never forgotten
}

void FreeDrafterTest::eachStatisticHasARateOfItsOwn() {
    std::set<int> rates;
    const auto others = {OtherSource::Silent, OtherSource::Differs, OtherSource::Agrees};
    int count = 0;
    for (const OtherSource other : others) {
        for (const int length : {1, 2, 3, 4, 5, 7, 10, 16}) {
            rates.insert(FreeStatistics::lookupRate(length, other));
            ++count;
        }
        for (const SuccessorKey key :
             {SuccessorKey::Pair, SuccessorKey::LoneToken, SuccessorKey::TokenBesidePair})
            for (const int rank : {0, 1, 2})
                for (const double probability : {0.95, 0.8, 0.6, 0.4, 0.2, 0.1, 0.01}) {
                    rates.insert(FreeStatistics::successorRate(key, rank, probability, other));
                    ++count;
                }
    }
    QCOMPARE(static_cast<int>(rates.size()), count);
    QCOMPARE(*rates.begin(), 0);
    QCOMPARE(*rates.rbegin(), count - 1);
    FreeStatistics statistics;
    const int rate = FreeStatistics::lookupRate(3, OtherSource::Silent);
    const double before = statistics.probability(rate);
    const double neighbour = statistics.probability(rate + 1);
    for (int trial = 0; trial < 50; ++trial)
        statistics.add(rate, true);
    QVERIFY(statistics.probability(rate) > 0.9 && before < 0.6);
    QCOMPARE(statistics.probability(rate + 1), neighbour);
    QCOMPARE(FreeStatistics::lookupRate(16, OtherSource::Silent),
             FreeStatistics::lookupRate(LookupDrafter::kLongest, OtherSource::Silent));
    QCOMPARE(FreeStatistics::successorRate(SuccessorKey::Pair, 9, 0.0, OtherSource::Silent),
             FreeStatistics::successorRate(SuccessorKey::Pair, 2, 0.04, OtherSource::Silent));
}

void FreeDrafterTest::nothingIsProposedWhereNothingIsKnown() {
    Sources sources;
    QVERIFY(sources.find().empty());
    sources.lookup.begin(Ids{1, 2, 3});
    QVERIFY(sources.find().empty());
    FreeDrafter drafter(kVocab);
    drafter.begin({.tokens = Ids{1, 2, 3}}, {});
    const Draft draft = drafter.propose({});
    QCOMPARE(draft.tree.size(), 0);
    QCOMPARE(draft.expectedTokens(), 1.0);
}

void FreeDrafterTest::thePairSpeaksBeforeTheToken() {
    Sources sources;
    sources.lookup.begin(Ids{1, 2});
    sources.successors.record(1, 2, summaryOf({10, 11}, {0.8, 0.1}));
    sources.successors.record(5, 2, summaryOf({12, 10}, {0.6, 0.3})); // the token's newest
    const auto candidates = sources.find();
    QCOMPARE(tokensOf(candidates), (Ids{10, 12, 11}));
    const auto rate = [](SuccessorKey key, int rank, double probability) {
        return FreeStatistics::successorRate(key, rank, probability, OtherSource::Silent);
    };
    QCOMPARE(candidates[0].rates[1], rate(SuccessorKey::Pair, 0, 0.8));
    QCOMPARE(candidates[1].rates[1], rate(SuccessorKey::TokenBesidePair, 0, 0.6));
    QCOMPARE(candidates[2].rates[1], rate(SuccessorKey::Pair, 1, 0.1));
    for (const FreeCandidate& candidate : candidates) {
        QCOMPARE(candidate.rates[0], -1);
        QCOMPARE(candidate.probability, sources.statistics.probability(candidate.rates[1]));
    }
    // Behind a drafted token the pair is its own.
    sources.successors.record(2, 10, summaryOf({20}, {0.9}));
    QCOMPARE(tokensOf(sources.find({10})), (Ids{20}));
    // A pair that was never seen leaves the token alone.
    sources.lookup.begin(Ids{7, 2});
    QCOMPARE(sources.find().front().rates[1], rate(SuccessorKey::LoneToken, 0, 0.6));
}

void FreeDrafterTest::agreementMakesLikelier() {
    Sources sources;
    sources.lookup.begin(Ids{1, 2, 9, 4, 1, 2}); // a match of two: 9 comes next
    const double alone = sources.find().front().probability;
    sources.successors.record(1, 2, summaryOf({9, 8}, {0.4, 0.3}));
    const auto agreeing = sources.find();
    QCOMPARE(agreeing.front().token, 9);
    QCOMPARE(agreeing.front().rates[0], FreeStatistics::lookupRate(2, OtherSource::Agrees));
    QCOMPARE(agreeing.front().rates[1],
             FreeStatistics::successorRate(SuccessorKey::Pair, 0, 0.4, OtherSource::Agrees));
    QVERIFY(agreeing.front().probability > alone);
    QCOMPARE(tokensOf(agreeing), (Ids{9, 8})); // each token once
    sources.successors.record(1, 2, summaryOf({8, 7}, {0.4, 0.3}));
    const auto differing = sources.find();
    for (const FreeCandidate& candidate : differing)
        if (candidate.token == 9)
            QVERIFY(candidate.probability < alone);
    QCOMPARE(differing.size(), std::size_t{3});
}

void FreeDrafterTest::probabilitiesNeverExceedOne() {
    std::mt19937 random(4);
    Sources sources;
    Ids tokens;
    for (int step = 0; step < 400; ++step) {
        tokens.push_back(static_cast<TokenId>(random() % 5));
        sources.lookup.append(tokens.back());
        const SeenRow row = randomRow(random);
        sources.successors.record(row.previous % 5, row.token % 5, row.summary);
        double total = 0.0;
        std::set<TokenId> seen;
        const auto candidates = sources.find();
        for (const FreeCandidate& candidate : candidates) {
            total += candidate.probability;
            QVERIFY(candidate.probability > 0.0 && seen.insert(candidate.token).second);
            for (const int rate : candidate.rates)
                if (rate >= 0)
                    sources.statistics.add(rate, true); // everything looks sure
        }
        QVERIFY(total < 1.0 + 1e-12);
        QVERIFY(std::is_sorted(candidates.begin(),
                               candidates.end(),
                               [](const FreeCandidate& a, const FreeCandidate& b) {
                                   return a.probability > b.probability;
                               }));
    }
}

void FreeDrafterTest::switchedOffSourcesAreSilent() {
    Sources sources;
    sources.lookup.begin(Ids{1, 2, 9, 1, 2});
    sources.successors.record(1, 2, summaryOf({8}, {0.9}));
    QCOMPARE(sources.find().size(), std::size_t{2});
    QCOMPARE(tokensOf(sources.find({}, {true, false})), (Ids{9}));
    QCOMPARE(tokensOf(sources.find({}, {false, true})), (Ids{8}));
    QVERIFY(sources.find({}, {false, false}).empty());
}

/// When what the model says has not changed, the draw of a whole law within the table is known.
void FreeDrafterTest::sharedNoiseFindsWhatVanillaDraws() {
    const Ids ids = {3, 4, 5, 6, 7};
    const std::vector<double> law = {0.4, 0.25, 0.15, 0.12, 0.08};
    for (const double temperature : {0.5, 1.0, 1.7}) {
        int others = 0; // draws that are not the most probable token
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            Sources sources;
            sources.sampling = {.temperature = temperature, .seed = seed};
            sources.lookup.begin(Ids{1, 2});
            sources.successors.record(1, 2, summaryOf(ids, law));
            std::vector<double> logits(kVocab, -1e4);
            for (std::size_t i = 0; i < ids.size(); ++i)
                logits[static_cast<std::size_t>(ids[i])] = std::log(law[i]);
            const TokenId drawn = Sampler(sources.sampling).choose(logits, 0);
            QCOMPARE(sources.find().front().token, drawn);
            others += drawn == 3 ? 0 : 1;
        }
        QVERIFY(others > 20);
    }
}

void FreeDrafterTest::treesKeepTheirLimits() {
    for (unsigned seed = 0; seed < 20; ++seed) {
        FreeDrafter drafter(kVocab);
        exercise(drafter, seed);
        for (const int nodes : {0, 1, 3, 7, 40})
            for (const int depth : {0, 1, 2, 20})
                for (const double least : {0.0, 0.05, 0.5}) {
                    const Draft draft =
                        drafter.propose({.maxNodes = nodes, .maxDepth = depth, .leastGain = least});
                    const DraftTree& tree = draft.tree;
                    QVERIFY(tree.size() <= nodes);
                    double expected = 1.0;
                    int deepest = 0;
                    for (int index = 0; index < tree.size(); ++index) {
                        QVERIFY(tree.node(index).parent < index && tree.depth(index) <= depth);
                        QVERIFY(pathOf(tree, index) >= least);
                        expected += pathOf(tree, index);
                        deepest = std::max(deepest, tree.depth(index));
                        std::set<TokenId> siblings;
                        for (const int child : tree.children(index))
                            QVERIFY(siblings.insert(tree.node(child).token).second);
                    }
                    QVERIFY(std::abs(draft.expectedTokens() - expected) < 1e-12);
                    QCOMPARE(tree.draftSteps(), deepest);
                    QVERIFY(nodes == 0 || depth == 0 || least > 0.0 || tree.size() > 0);
                }
    }
}

/// Fewer nodes are the best of more nodes.
void FreeDrafterTest::theLikeliestPathsAreChosen() {
    for (unsigned seed = 0; seed < 20; ++seed) {
        FreeDrafter drafter(kVocab);
        exercise(drafter, seed);
        const Draft large = drafter.propose({.maxNodes = 200, .maxDepth = 12});
        const auto all = pathsOf(large.tree);
        QVERIFY(all.size() == 200);
        QCOMPARE(large.gains.size(), std::size_t{200});
        for (std::size_t i = 0; i < 200; ++i)
            QVERIFY(std::abs(large.gains[i] - all[i].first) < 1e-15);
        for (const int nodes : {1, 2, 3, 4, 7, 20}) {
            const auto some = pathsOf(drafter.propose({.maxNodes = nodes, .maxDepth = 12}).tree);
            QCOMPARE(some.size(), static_cast<std::size_t>(nodes));
            for (std::size_t i = 0; i < some.size(); ++i)
                QCOMPARE(some[i].first, all[i].first);
        }
    }
}

void FreeDrafterTest::theLikeliestChainComesFirst() {
    for (unsigned seed = 0; seed < 20; ++seed) {
        FreeDrafter drafter(kVocab);
        exercise(drafter, seed);
        const DraftTree tree = drafter.propose({.maxNodes = 12, .maxDepth = 8}).tree;
        QCOMPARE(tree.size(), 12);
        int end = -1;
        while (!tree.children(end).empty()) {
            const std::vector<int> children = tree.children(end);
            QCOMPARE(children.front(), end + 1); // the spine's slots follow each other
            for (const int child : children) {
                QVERIFY(tree.node(child).probability <= tree.node(children.front()).probability);
                QCOMPARE(children[static_cast<std::size_t>(tree.node(child).rank)], child);
            }
            end = children.front();
        }
        QVERIFY(end >= 0);
    }
}

void FreeDrafterTest::repetitionIsDraftedToItsEnd() {
    FreeDrafter drafter(kVocab);
    Ids prompt;
    for (int round = 0; round < 12; ++round)
        for (const TokenId id : {4, 9, 2, 7, 5})
            prompt.push_back(id);
    drafter.begin({.tokens = prompt}, {});
    for (const TokenId id : {4, 9, 2, 7, 5, 4, 9, 2, 7, 5})
        drafter.observe(Ids{id}, {});
    const Draft draft = drafter.propose({.maxNodes = 8, .maxDepth = 8});
    Ids drafted;
    for (const DraftNode& node : draft.tree.nodes()) {
        QCOMPARE(node.parent, static_cast<int>(drafted.size()) - 1);
        drafted.push_back(node.token);
    }
    QCOMPARE(drafted, (Ids{4, 9, 2, 7, 5, 4, 9, 2}));
    QVERIFY(draft.expectedTokens() > 5.0);
}

void FreeDrafterTest::aSourceThatFailsIsNotAskedUntilItPays() {
    FreeDrafter drafter(kVocab);
    std::vector<SeenRow> rows;
    for (TokenId token = 0; token < kVocab; ++token)
        rows.push_back({kNoToken, token, summaryOf({(token + 1) % kVocab}, {0.8})});
    drafter.begin({.tokens = Ids{1}}, {});
    drafter.observe(Ids{2}, rows);
    const FreeDraftOptions options = {.maxNodes = 1, .maxDepth = 1, .leastGain = 0.3};
    QCOMPARE(drafter.propose(options).tree.size(), 1);
    std::mt19937 random(3);
    TokenId last = 2;
    for (int step = 0; step < 40; ++step) { // never what the table says
        last = (last + 2 + static_cast<TokenId>(random() % 20)) % kVocab;
        drafter.observe(Ids{last}, {});
    }
    drafter.begin({.tokens = Ids{11, 25}}, {});
    QCOMPARE(drafter.propose(options).tree.size(), 0);
    for (int step = 0; step < 60; ++step) { // now it is right, and counted though not drafted
        last = (drafter.lookup().tokens().back() + 1) % kVocab;
        drafter.begin({.tokens = Ids{last == 0 ? 29 : last - 1}}, {}); // nothing to look up
        drafter.observe(Ids{last}, {});
    }
    drafter.begin({.tokens = Ids{11, 25}}, {});
    QCOMPARE(drafter.propose(options).tree.size(), 1);
}

/// What stands behind such a token could never be emitted.
void FreeDrafterTest::aDraftEndsAtATokenThatEndsTheAnswer() {
    FreeDrafter drafter(kVocab);
    drafter.begin({.tokens = Ids{1, 2, 3, 4, 5, 6, 1, 2}}, {}); // 3, 4, 5, 6 followed
    const FreeDraftOptions options{.maxNodes = 8, .maxDepth = 8};
    const DraftTree whole = drafter.propose(options).tree;
    QVERIFY(whole.size() > 3);
    QCOMPARE(whole.node(1).token, 4);
    for (int place = 0; place < 3; ++place) {
        const Ids ends = {29, whole.node(place).token};
        FreeDraftOptions ended = options;
        ended.endIds = ends;
        const Draft draft = drafter.propose(ended);
        QCOMPARE(draft.tree.size(), place + 1);
        QCOMPARE(draft.tree.node(place).token, ends.back());
        QCOMPARE(draft.gains.size(), static_cast<std::size_t>(place) + 1);
        QVERIFY(draft.tree.end() == DraftEnd{DraftEndReason::EndToken});
    }
}

void FreeDrafterTest::emittedTokensAreTrials() {
    FreeDrafter drafter(kVocab);
    const std::vector<SeenRow> rows = {{kNoToken, 1, summaryOf({2, 3}, {0.6, 0.2})}};
    drafter.begin({.tokens = Ids{1}}, {});
    const auto probabilities = [&] {
        const DraftTree tree = drafter.propose({.maxNodes = 2, .maxDepth = 1}).tree;
        std::vector<double> found;
        for (const DraftNode& node : tree.nodes())
            found.push_back(node.probability);
        return found;
    };
    QVERIFY(probabilities().empty());
    drafter.observe(Ids{5}, rows); // a row of the pass; nothing was known before
    drafter.begin({.tokens = Ids{1}}, {});
    const std::vector<double> before = probabilities();
    drafter.observe(Ids{2}, {}); // the first was right, the second was not
    drafter.begin({.tokens = Ids{1}}, {});
    const std::vector<double> after = probabilities();
    QCOMPARE(before.size(), std::size_t{2});
    QCOMPARE(after.size(), std::size_t{2});
    // A rate of prior p behind one trial: (hit + 8 p) / 9.
    QVERIFY(std::abs(after[0] - (1.0 + 8.0 * before[0]) / 9.0) < 1e-12);
    QVERIFY(std::abs(after[1] - 8.0 * before[1] / 9.0) < 1e-12);
}

void FreeDrafterTest::theSameCallsGiveTheSameTrees() {
    for (unsigned seed = 0; seed < 5; ++seed) {
        FreeDrafter one(kVocab);
        FreeDrafter other(kVocab);
        exercise(one, seed);
        exercise(other, seed);
        const Draft first = one.propose({.maxNodes = 30, .maxDepth = 9});
        const Draft second = other.propose({.maxNodes = 30, .maxDepth = 9});
        QVERIFY(std::ranges::equal(first.tree.nodes(), second.tree.nodes()));
        QCOMPARE(first.expectedTokens(), second.expectedTokens());
        QVERIFY(std::ranges::equal(one.propose({.maxNodes = 30, .maxDepth = 9}).tree.nodes(),
                                   first.tree.nodes())); // drafting changes nothing
    }
}

void FreeDrafterTest::successorsOutliveTheDrafter() {
    const test_support::TemporaryFolder folder;
    const SkipSetMemory learned(folder.path(), "00ff", 4);
    {
        FreeDrafter drafter(kVocab);
        QVERIFY(drafter.remember(&learned).empty() && drafter.isRemembering());
        drafter.begin({.tokens = Ids{1, 2}}, {});
        drafter.observe(Ids{3}, std::vector<SeenRow>{{1, 2, summaryOf({9}, {0.9})}});
        QVERIFY(drafter.keep().empty()); // too little to be worth a write
        QVERIFY(!std::filesystem::exists(folder.path() / "successors"));
    }
    FreeDrafter next(kVocab);
    next.begin({.tokens = Ids{1, 2}}, {});
    QCOMPARE(next.propose({}).tree.size(), 0);
    QVERIFY(next.remember(&learned).empty());
    QCOMPARE(next.propose({}).tree.size(), 1);
    QCOMPARE(next.propose({}).tree.node(0).token, 9);
    QVERIFY(next.remember(nullptr).empty() && !next.isRemembering());
    const SkipSetMemory reader = learned.readOnly(); // nothing is loaded twice
    QVERIFY(next.remember(&reader).empty() && next.isRemembering());
    const auto file = folder.path() / "successors" / "00ff.bin";
    std::filesystem::resize_file(file, 50);
    FreeDrafter third(kVocab);
    QVERIFY(third.remember(&learned).find("00ff.bin.broken-1") != std::string::npos);
    std::filesystem::create_directory(file);
    QVERIFY(third.remember(&learned).find("were not read") != std::string::npos);
}

QTEST_APPLESS_MAIN(FreeDrafterTest)

#include "free_drafter_test.moc"
