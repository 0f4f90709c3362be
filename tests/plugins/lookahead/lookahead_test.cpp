// SPDX-License-Identifier: Apache-2.0
// Lookahead against a slow reference: every cell of its window by a pass of its own, its pool by
// plain vectors.
#include "engine/decoding/target.h"
#include "plugins/lookahead/lookahead_settings.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <QTest>

#include <map>
#include <set>

using namespace engine;
using support::Ids;
using support::joined;
using support::registry;
using support::tableOf;
using support::tokensOf;

namespace {

using Grid = std::vector<Ids>;

const Ids kPrompt = {3, 1, 4, 1, 5, 9, 2, 6};

Transformer& model() {
    static const auto made = support::layeredModel(3, 5);
    return *made;
}

SettingValues settingsOf(int w, int n, int g) {
    return {{"w", static_cast<double>(w)},
            {"n", static_cast<double>(n)},
            {"g", static_cast<double>(g)}};
}

std::unique_ptr<Decoder> decoderOf(const std::string& name,
                                   const SettingValues& settings,
                                   int contextLength = 300,
                                   const SamplingOptions& sampling = {}) {
    return support::openDecoder(name,
                                {.transformer = model(),
                                 .sampling = sampling,
                                 .contextLength = contextLength,
                                 .settings = settings});
}

std::vector<DecodeStep>
answer(Decoder& decoder, const Ids& prompt, int length, const Ids& ends = {}) {
    return support::answer(decoder, {.tokens = prompt, .maxTokens = length, .endIds = ends});
}

/// The tokens of each row of a table, its words left out.
Grid cellsOf(const StepTable& table) {
    Grid grid;
    for (const auto& row : table.rows) {
        grid.emplace_back();
        for (const TableCell& cell : row)
            if (const auto* token = std::get_if<TokenCell>(&cell))
                grid.back().push_back(token->token);
    }
    return grid;
}

HeadSummary freshSummary(const Ids& tokens) { return support::freshSummary(model(), tokens); }

/// What a cell of a window sees from the pending token on: row 0 up to its column, then the cells
/// of its column down to itself. Row 0 begins with the pending token.
Ids seenBy(const Grid& window, std::size_t row, std::size_t column) {
    Ids seen(window[0].begin(), window[0].begin() + static_cast<std::ptrdiff_t>(column) + 1);
    for (std::size_t below = 1; below <= row; ++below)
        seen.push_back(window[below][column]);
    return seen;
}

Ids withoutFirst(const Ids& ids) { return {ids.begin() + 1, ids.end()}; }

/// The pool by plain vectors, newest first.
using ReferencePool = std::map<TokenId, Grid>;

void insert(ReferencePool& pool, TokenId key, const Ids& ngram, std::size_t most) {
    Grid& held = pool[key];
    std::erase(held, ngram);
    held.insert(held.begin(), ngram);
    held.resize(std::min(held.size(), most));
}

/// The paths from the root to each node.
std::set<Ids> pathsOf(const DraftTree& tree) {
    std::set<Ids> paths;
    for (int node = 0; node < tree.size(); ++node) {
        Ids path;
        for (int at = node; at >= 0; at = tree.node(at).parent)
            path.insert(path.begin(), tree.node(at).token);
        paths.insert(path);
    }
    return paths;
}

std::set<Ids> prefixesOf(const Grid& ngrams, std::size_t most) {
    std::set<Ids> prefixes;
    for (const Ids& ngram : ngrams)
        for (std::size_t length = 1; length <= std::min(ngram.size(), most); ++length)
            prefixes.insert({ngram.begin(), ngram.begin() + static_cast<std::ptrdiff_t>(length)});
    return prefixes;
}

int depthOf(const DecodeStep& step, int side) {
    int depth = 0;
    for (int at = side; at >= 0; ++depth) {
        const int parent = step.sides[static_cast<std::size_t>(at)].parent;
        at = parent < 0 ? -1 : parent - step.draft.size();
    }
    return depth;
}

/// All that a decoder has guessed and drafted.
std::vector<std::pair<std::vector<SideRow>, Ids>> traceOf(const std::vector<DecodeStep>& steps) {
    std::vector<std::pair<std::vector<SideRow>, Ids>> trace;
    for (const DecodeStep& step : steps) {
        Ids drafted;
        for (const DraftNode& node : step.draft.nodes())
            drafted.push_back(node.token);
        trace.emplace_back(step.sides, drafted);
    }
    return trace;
}

void addShapes() {
    QTest::addColumn<int>("w");
    QTest::addColumn<int>("n");
    for (const auto& [w, n] : {std::pair(5, 3), std::pair(7, 5), std::pair(15, 5), std::pair(1, 4)})
        QTest::addRow("W %d, N %d", w, n) << w << n;
    QTest::addRow("bigrams") << 6 << 2;
}

} // namespace

class LookaheadTest : public QObject {
    Q_OBJECT

private slots:

    void theWindowIsThePapers_data() { addShapes(); }

    void theWindowIsThePapers();

    void aCellSeesItsColumnOnly_data() { addShapes(); }

    void aCellSeesItsColumnOnly();
    void thePoolHoldsTheNewestNgramsAndIsTheDraft();
    void aFullMatchGivesNTokens();
    void nothingIsLeftOfTheLastPrompt();
    void noCellStandsBeyondTheContext();
    void endsAreNotGuessedBehind();
    void aChangedSeedChangesGuessesAndNoGreedyToken();
    void sampledTokensAreVanillasWithOtherOptionsToo();
    void automaticSettingsSuitTheBackend();
    void ngramsOfOneTokenAreRefused();
};

void LookaheadTest::theWindowIsThePapers() {
    QFETCH(const int, w);
    QFETCH(const int, n);
    const auto decoder = decoderOf("lookahead", settingsOf(w, n, 5));
    Ids text = kPrompt;
    Grid expected; // what the last pass left, without the pending token
    int number = 0;
    for (const DecodeStep& step : answer(*decoder, kPrompt, 24)) {
        const StepTable* table = tableOf(step, "window");
        if (table == nullptr)
            break; // the last token, which nothing is guessed behind
        Grid window = cellsOf(*table);
        const Ids next = window.back();
        window.pop_back();
        const bool isWarm = number >= n - 2;
        const auto columns = static_cast<std::size_t>(isWarm ? w : w + n - 2 - number);
        QCOMPARE(window.size(), static_cast<std::size_t>(isWarm ? n - 1 : number + 1));
        for (const Ids& row : window)
            QCOMPARE(row.size(), columns);
        QCOMPARE(window[0][0], text.back());
        QCOMPARE(step.sides.size(), window.size() * columns - 1);
        QCOMPARE(step.verifiedRows, 1 + step.draft.size() + static_cast<int>(step.sides.size()));
        QVERIFY(isWarm || step.tokens.size() == 1);
        if (number == 0)
            for (const TokenId token : window[0])
                QVERIFY(std::find(kPrompt.begin(), kPrompt.end(), token) != kPrompt.end());
        else
            for (std::size_t row = 0; row < window.size(); ++row)
                QCOMPARE(row == 0 ? withoutFirst(window[0]) : window[row], expected[row]);
        QCOMPARE(next.size(), columns);
        for (std::size_t column = 0; column < columns; ++column) {
            const Ids seen = withoutFirst(seenBy(window, window.size() - 1, column));
            QCOMPARE(next[column], freshSummary(joined(text, seen)).best());
        }
        expected.clear();
        if (isWarm) { // the rows move up, and the lowest is what was found
            expected.assign(window.begin() + (n > 2 ? 1 : 0), window.end());
            if (n > 2)
                expected.push_back(next);
            else
                expected = {next};
            expected[0] = withoutFirst(expected[0]);
        } else { // all rows lose their first column, row 0 that behind the pending token
            expected.push_back(withoutFirst(withoutFirst(window[0])));
            for (std::size_t row = 1; row < window.size(); ++row)
                expected.push_back(withoutFirst(window[row]));
            expected.push_back(withoutFirst(next));
        }
        text = joined(text, step.tokens);
        ++number;
    }
    QVERIFY(number > n + 3);
}

void LookaheadTest::aCellSeesItsColumnOnly() {
    QFETCH(const int, w);
    QFETCH(const int, n);
    Target target = Target::make(model(), {}, 300, 200).value();
    QVERIFY(target.begin({kPrompt}, {}).hasValue());
    PromptFiller filler;
    filler.begin(kPrompt, {}, 3);
    lookahead::GuessWindow window;
    window.begin({w, n}, filler);
    for (int round = 0; round < n + 2; ++round) {
        const Ids text = joined(kPrompt, target.output());
        Grid grid(window.rows().begin(), window.rows().end());
        grid[0].insert(grid[0].begin(), target.pending());
        Draft draft; // what is verified and what is guessed must not see each other
        mergeNgrams(draft.tree, Grid{{5, 6}, {5, 7}, {8}}, {.nodes = round, .depth = 2});
        const int nodes = draft.tree.size();
        draft.sides = window.sides(nodes);
        QVERIFY(target.verify(std::move(draft)).hasValue());
        int side = 0;
        for (std::size_t row = 0; row < grid.size(); ++row)
            for (std::size_t column = row == 0 ? 1 : 0; column < grid[row].size(); ++column) {
                const Ids seen = withoutFirst(seenBy(grid, row, column));
                const HeadSummary fresh = freshSummary(joined(text, seen));
                const int place = 1 + nodes + side++;
                const HeadSummary found = target.seenRow(place).summary;
                QVERIFY(found.ids == fresh.ids && found.logits == fresh.logits);
                if (row + 1 == grid.size())
                    QCOMPARE(window.newestRow(static_cast<int>(column), nodes), place);
            }
        QCOMPARE(side, static_cast<int>(target.lastSummaries().size()) - 1 - nodes);
        Ngram next;
        for (int column = 0; column < window.columns(); ++column) {
            const auto place = static_cast<std::size_t>(window.newestRow(column, nodes));
            next.push_back(target.lastSummaries()[place].best());
        }
        window.advance(std::move(next));
    }
}

void LookaheadTest::thePoolHoldsTheNewestNgramsAndIsTheDraft() {
    constexpr int kLength = 120;
    const auto decoder = decoderOf("lookahead", settingsOf(6, 4, 3));
    ReferencePool pool;
    TokenId pending = kPrompt.back();
    int emitted = 0;
    int drafts = 0;
    std::size_t mostHeld = 0;
    for (const DecodeStep& step : answer(*decoder, kPrompt, kLength)) {
        const Grid held = pool[pending];
        mostHeld = std::max(mostHeld, held.size());
        const auto room = static_cast<std::size_t>(kLength - emitted - 1);
        QVERIFY(pathsOf(step.draft) == prefixesOf(held, room));
        QCOMPARE(static_cast<std::size_t>(step.draft.size()), pathsOf(step.draft).size());
        const StepTable* shown = tableOf(step, "pool");
        QCOMPARE(shown != nullptr, step.draft.size() > 0);
        if (shown != nullptr) {
            Grid rows = cellsOf(*shown);
            for (Ids& row : rows) {
                QCOMPARE(row.front(), pending);
                row.erase(row.begin());
            }
            QCOMPARE(rows, held);
            QCOMPARE(shown->chosenRow >= 0, !step.path.empty());
            if (!step.path.empty())
                QCOMPARE(rows[static_cast<std::size_t>(shown->chosenRow)][0], step.tokens[0]);
            ++drafts;
        }
        if (const StepTable* table = tableOf(step, "window"); table && table->rows.size() == 4) {
            const Grid window = cellsOf(*table);
            for (std::size_t column = 0; column < window[0].size(); ++column)
                insert(pool,
                       window[0][column],
                       {window[1][column], window[2][column], window[3][column]},
                       3);
        }
        pending = step.tokens.back();
        emitted += static_cast<int>(step.tokens.size());
    }
    QVERIFY(drafts > 10);
    QCOMPARE(mostHeld, std::size_t{3});
}

void LookaheadTest::aFullMatchGivesNTokens() {
    const Ids expected = tokensOf(answer(*decoderOf("vanilla", {}), kPrompt, 60));
    for (int n = 2; n <= 5; ++n) {
        SettingValues settings = settingsOf(3, n, 8);
        settings.emplace("pool_from_prompt", 1.0);
        settings.emplace("keep_pool", 1.0);
        const auto decoder = decoderOf("lookahead", settings);
        QCOMPARE(tokensOf(answer(*decoder, kPrompt, 60)), expected);
        const auto again = answer(*decoder, kPrompt, 60); // the pool knows the answer
        QCOMPARE(tokensOf(again), expected);
        int full = 0;
        for (const DecodeStep& step : again) {
            QVERIFY(step.tokens.size() <= static_cast<std::size_t>(n));
            if (&step == &again.back() || static_cast<int>(step.path.size()) < n - 1)
                continue;
            QCOMPARE(static_cast<int>(step.tokens.size()), n);
            ++full;
        }
        QVERIFY2(full >= 3, qPrintable(QString::number(full)));
    }
}

void LookaheadTest::nothingIsLeftOfTheLastPrompt() {
    for (const double readsPrompt : {0.0, 1.0}) {
        SettingValues settings = settingsOf(5, 3, 4);
        settings.emplace("pool_from_prompt", readsPrompt);
        const auto fresh = answer(*decoderOf("lookahead", settings), kPrompt, 50);
        const auto used = decoderOf("lookahead", settings);
        (void)answer(*used, {7, 7, 3}, 40);
        QVERIFY(traceOf(answer(*used, kPrompt, 50)) == traceOf(fresh));
        QVERIFY(traceOf(answer(*used, kPrompt, 50)) == traceOf(fresh));
        settings.emplace("keep_pool", 1.0);
        const auto keeping = decoderOf("lookahead", settings);
        QVERIFY(traceOf(answer(*keeping, kPrompt, 50)) == traceOf(fresh));
        QVERIFY(traceOf(answer(*keeping, kPrompt, 50)) != traceOf(fresh));
    }
}

void LookaheadTest::noCellStandsBeyondTheContext() {
    const Ids vanilla = tokensOf(answer(*decoderOf("vanilla", {}), kPrompt, 40));
    const int begin = static_cast<int>(kPrompt.size());
    for (int room = 1; room <= 30; ++room) {
        const auto decoder = decoderOf("lookahead", settingsOf(7, 5, 4), begin + room);
        int length = begin;
        const auto steps = answer(*decoder, kPrompt, 100);
        for (const DecodeStep& step : steps) {
            for (int side = 0; side < static_cast<int>(step.sides.size()); ++side)
                QVERIFY(length - 1 + depthOf(step, side) < begin + room);
            length += static_cast<int>(step.tokens.size());
        }
        QVERIFY(steps.back().sides.empty() || steps.back().tokens.size() > 1);
        QCOMPARE(tokensOf(steps),
                 Ids(vanilla.begin(), vanilla.begin() + static_cast<std::ptrdiff_t>(room)));
    }
}

void LookaheadTest::endsAreNotGuessedBehind() {
    const auto decoder = decoderOf("lookahead", settingsOf(6, 4, 3));
    const auto steps = answer(*decoder, kPrompt, 40);
    const Ids text = joined(kPrompt, tokensOf(steps));
    Ids guessed; // what the windows found that the text has not
    for (const DecodeStep& step : steps)
        if (const StepTable* table = tableOf(step, "window")) {
            const Grid window = cellsOf(*table);
            for (const TokenId token : window.back())
                if (std::find(text.begin(), text.end(), token) == text.end())
                    guessed.push_back(token);
        }
    QVERIFY(!guessed.empty());
    const Ids ends = {guessed.front()};
    bool wasFound = false;
    for (const DecodeStep& step : answer(*decoder, kPrompt, 40, ends)) {
        const StepTable* table = tableOf(step, "window");
        if (table == nullptr)
            continue;
        const Grid window = cellsOf(*table);
        const Ids& next = window.back();
        wasFound = wasFound || std::find(next.begin(), next.end(), ends[0]) != next.end();
        for (const SideRow& side : step.sides)
            QVERIFY(side.token != ends[0]);
    }
    QVERIFY(wasFound);
}

void LookaheadTest::aChangedSeedChangesGuessesAndNoGreedyToken() {
    const auto first = answer(*decoderOf("lookahead", settingsOf(8, 3, 3)), kPrompt, 40);
    const auto other =
        answer(*decoderOf("lookahead", settingsOf(8, 3, 3), 300, {.seed = 9}), kPrompt, 40);
    QVERIFY(traceOf(first) != traceOf(other));
    QCOMPARE(tokensOf(first), tokensOf(other));
    QVERIFY(traceOf(first) ==
            traceOf(answer(*decoderOf("lookahead", settingsOf(8, 3, 3)), kPrompt, 40)));
}

void LookaheadTest::sampledTokensAreVanillasWithOtherOptionsToo() {
    SettingValues settings = settingsOf(4, 3, 4);
    settings.emplace("keep_pool", 1.0);
    const auto decoder = decoderOf("lookahead", settings);
    for (const SamplingOptions& sampling :
         {SamplingOptions{}, {.temperature = 0.5, .seed = 2}, {.temperature = 1.1, .topK = 9}}) {
        QVERIFY(decoder->changeSampling(sampling).hasValue());
        const auto vanilla = decoderOf("vanilla", {}, 300, sampling);
        QCOMPARE(tokensOf(answer(*decoder, kPrompt, 60)), tokensOf(answer(*vanilla, kPrompt, 60)));
    }
}

void LookaheadTest::automaticSettingsSuitTheBackend() {
    const SettingValues automatic =
        resolveSettings(registry().info("lookahead").value(), {}).value();
    const auto chosen = [&](int nodes) {
        const auto made = lookahead::LookaheadSettings::make(automatic, nodes).value();
        return std::vector<int>{made.shape.columns, made.shape.size, made.ngrams};
    };
    QCOMPARE(chosen(7), (std::vector<int>{3, 3, 3}));
    QCOMPARE(chosen(64), (std::vector<int>{16, 5, 16}));
    QCOMPARE(chosen(1), (std::vector<int>{2, 3, 2}));
    QCOMPARE(chosen(10'000), (std::vector<int>{64, 5, 64}));
    const auto steps = answer(*decoderOf("lookahead", {}), kPrompt, 60);
    QCOMPARE(model().preferredTreeNodes(), 7);
    for (const DecodeStep& step : steps)
        QVERIFY(step.verifiedRows <= 2 * (3 + 3));
}

void LookaheadTest::ngramsOfOneTokenAreRefused() {
    const auto made = registry().make(
        "lookahead",
        {.transformer = model(), .contextLength = 64, .settings = settingsOf(5, 1, 5)});
    QVERIFY(!made);
    QCOMPARE(made.error().code, ErrorCode::InvalidInput);
    QVERIFY(made.error().message.find("n-gram") != std::string::npos);
}

QTEST_GUILESS_MAIN(LookaheadTest)
#include "lookahead_test.moc"
