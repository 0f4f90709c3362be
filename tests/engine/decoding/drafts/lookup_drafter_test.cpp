// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/lookup_drafter.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace engine;

namespace {

using Ids = std::vector<TokenId>;

Ids randomIds(std::mt19937& random, std::size_t count, unsigned alphabet) {
    Ids ids(count);
    for (TokenId& id : ids)
        id = static_cast<TokenId>(random() % alphabet);
    return ids;
}

Ids joined(Ids first, const Ids& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// Where the longest match ends and how long it is, by trying every place.
struct Searched {
    int length = 0;
    std::size_t end = 0; // of the earlier occurrence: index of its last token
};

Searched searchEverywhere(const Ids& tokens, const Ids& drafted) {
    const Ids all = joined(tokens, drafted);
    Searched best;
    for (std::size_t end = 0; end + 1 < tokens.size(); ++end) { // something must follow
        int length = 0;
        while (length < LookupDrafter::kLongest && static_cast<std::size_t>(length) <= end &&
               static_cast<std::size_t>(length) < all.size() &&
               tokens[end - static_cast<std::size_t>(length)] ==
                   all[all.size() - 1 - static_cast<std::size_t>(length)])
            ++length;
        if (length > 0 && length >= best.length) // of equally long ones the later one
            best = {length, end};
    }
    return best;
}

bool isAsSearched(const LookupDrafter& drafter, const Ids& tokens, const Ids& drafted) {
    const Searched wanted = searchEverywhere(tokens, drafted);
    const LookupMatch found = drafter.find(drafted);
    if (found.length != wanted.length)
        return false;
    return found.length == 0 ||
           std::ranges::equal(found.continuation, std::span(tokens).subspan(wanted.end + 1));
}

} // namespace

class LookupDrafterTest : public QObject {
    Q_OBJECT

private slots:

    void theLongestMostRecentMatchIsFound_data() {
        QTest::addColumn<unsigned>("alphabet");
        for (const unsigned alphabet : {1U, 2U, 3U, 7U, 40U})
            QTest::addRow("%u tokens", alphabet) << alphabet;
    }

    void theLongestMostRecentMatchIsFound();
    void draftedTokensTakePartInTheMatch();
    void anEditedPromptLeavesNoTrace();
    void aRepetitionIsFoundInItself();
    void nothingIsFoundInNothing();
    void longTextsAreFoundAsFast();
};

void LookupDrafterTest::theLongestMostRecentMatchIsFound() {
    QFETCH(unsigned, alphabet);
    std::mt19937 random(alphabet);
    for (int round = 0; round < 12; ++round) {
        LookupDrafter drafter;
        Ids tokens = randomIds(random, random() % 30, alphabet);
        drafter.begin(tokens);
        for (int step = 0; step < 60; ++step) {
            QVERIFY(isAsSearched(drafter, tokens, {}));
            tokens.push_back(static_cast<TokenId>(random() % alphabet));
            drafter.append(tokens.back());
        }
        QVERIFY(std::ranges::equal(drafter.tokens(), tokens));
    }
}

void LookupDrafterTest::draftedTokensTakePartInTheMatch() {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        const Ids tokens = randomIds(random, 1 + random() % 50, 3);
        LookupDrafter drafter;
        drafter.begin(tokens);
        QVERIFY(isAsSearched(drafter, tokens, randomIds(random, random() % 25, 3)));
    }
}

void LookupDrafterTest::anEditedPromptLeavesNoTrace() {
    std::mt19937 random(6);
    LookupDrafter drafter;
    Ids tokens;
    for (int round = 0; round < 300; ++round) {
        tokens.resize(random() % (tokens.size() + 1)); // keeps a beginning
        tokens = joined(tokens, randomIds(random, random() % 40, 2));
        drafter.begin(tokens);
        for (int step = 0; step < 5; ++step) {
            QVERIFY(isAsSearched(drafter, tokens, randomIds(random, random() % 4, 2)));
            tokens.push_back(static_cast<TokenId>(random() % 2));
            drafter.append(tokens.back());
        }
    }
}

void LookupDrafterTest::aRepetitionIsFoundInItself() {
    LookupDrafter drafter;
    const Ids tokens = {9, 1, 2, 3, 1, 2, 3, 1};
    drafter.begin(tokens);
    const LookupMatch match = drafter.find();
    QCOMPARE(match.length, 4);
    QCOMPARE(Ids(match.continuation.begin(), match.continuation.end()), (Ids{2, 3, 1}));
}

void LookupDrafterTest::nothingIsFoundInNothing() {
    LookupDrafter drafter;
    QCOMPARE(drafter.find().length, 0);
    QCOMPARE(drafter.find(Ids{4}).length, 0);
    drafter.begin(Ids{4});
    QCOMPARE(drafter.find().length, 0);
    QCOMPARE(drafter.find(Ids{4}).length, 0);
    drafter.append(5);
    QCOMPARE(drafter.find().length, 0);
    QCOMPARE(drafter.find(Ids{4}).length, 1);
    drafter.begin({});
    QCOMPARE(drafter.find(Ids{4}).length, 0);
}

/// Quadratic work would take minutes here.
void LookupDrafterTest::longTextsAreFoundAsFast() {
    LookupDrafter drafter;
    for (int step = 0; step < 200'000; ++step) {
        drafter.append(step % 3 == 0 ? 7 : 8);
        const int length = drafter.find().length;
        QVERIFY(step < 3 || length == std::min(step - 2, LookupDrafter::kLongest));
    }
}

QTEST_APPLESS_MAIN(LookupDrafterTest)

#include "lookup_drafter_test.moc"
