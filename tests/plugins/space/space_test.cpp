// SPDX-License-Identifier: Apache-2.0
// SPACE's rounds: how many rows they have, where those stand, what each of them sees, which masks
// the next candidates come from, and what a model must have.
#include "plugins/space/mask_groups.h"
#include "plugins/space/place_rates.h"
#include "tests/plugins/space/space_support.h"
#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/transformers/spy_transformer.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

using namespace engine;
using space::MaskGroups;
using space::PlaceRates;
using space::planRound;
using support::fixedRows;
using support::Ids;
using support::joined;
using support::makeSpace;
using support::SpaceModel;
using support::tableOf;

namespace {

constexpr TokenId kAnyMask = 17;

Transformer& randomModel() {
    static const std::unique_ptr<Transformer> made = support::layeredModel(3, 7);
    return *made;
}

/// Remembers the newest pass of another transformer.
class RecordingTransformer final : public support::WrappingTransformer {
public:
    explicit RecordingTransformer(Transformer& watched)
        : WrappingTransformer(watched)
        , m_config(watched.config()) {}

    const ModelConfig& config() const override { return m_config; }

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        ++passes;
        tokens.assign(request.tokens.begin(), request.tokens.end());
        positions.clear();
        for (int row = 0; row < request.layout.rowCount(); ++row)
            positions.push_back(request.layout.position(row));
        ENGINE_TRY_DO(inner().forwardInto(request, cache, result));
        summaries = result.summaries;
        return {};
    }

    int preferredTreeNodes() const override { return preferred; }

    int passes = 0;
    int preferred = 7;
    Ids tokens;                         // [rows]
    std::vector<Position> positions;    // [rows]
    std::vector<HeadSummary> summaries; // of the pending token's row and all behind it

    void trainedWith(int masks) { m_config.tunedMasks = masks; }

private:
    ModelConfig m_config;
};

Transformer& tunedModel() {
    static const std::unique_ptr<Transformer> made = support::plainSpaceModel();
    return *made;
}

/// What the model says behind each of the masks that end these tokens, from a fresh cache: a group
/// as a sequence of its own.
std::vector<HeadSummary> groupAlone(Ids tokens, int masks) {
    tokens.insert(tokens.end(), static_cast<std::size_t>(masks), SpaceModel::kMask);
    KvCache cache = support::emptyCache(tunedModel(), 400);
    const LayerPlan plan = LayerPlan::full(tunedModel().config().layerCount);
    const auto logits = support::runChain(tunedModel(), cache, plan, tokens, 400);
    std::vector<HeadSummary> summaries;
    for (auto row = logits.end() - masks; row != logits.end(); ++row)
        summaries.push_back(summarise(*row));
    return summaries;
}

bool isEqual(const HeadSummary& a, const HeadSummary& b) {
    return a.ids == b.ids && a.logits == b.logits && a.logSumExp == b.logSumExp;
}

/// The candidates of a step.
Ids draftOf(const DecodeStep& step) { return support::draftedTokens(step.draft); }

} // namespace

class SpaceTest : public QObject {
    Q_OBJECT

private slots:
    void theFirstRoundReadsThePromptAndOneGroup();
    void aRoundIsOneTokenAndKMasksBehindEachCandidate();
    void everyMaskSeesItsOwnGroupAlone();
    void theUsedGroupGivesTheNextCandidates();
    void acceptedRowsAreGatheredWhateverTheirNumber();
    void noRowIsSpentOnWhatCannotBeEmitted();
    void candidatesEndWithAnEnd();
    void groupsThatAreLeftOutMoveTheRowsOfTheOthers();
    void roundsAreCutWhereTheyAreSeldomReached();
    void whatAPlaceHasShownFades();
    void masksSuitTheBackend();
    void masksAreThoseThatTheModelWasTrainedWith();
    void modelsWithoutAMaskTokenAreRefused();
    void badSettingsAreToldWhy();
};

void SpaceTest::theFirstRoundReadsThePromptAndOneGroup() {
    RecordingTransformer model(tunedModel());
    const auto decoder = makeSpace(model, fixedRows(5)).value();
    const Ids prompt = SpaceModel::tokensOf("the quiet fox");
    QVERIFY(decoder->begin({prompt, 40}, {}).hasValue());
    QCOMPARE(model.passes, 0);
    const DecodeStep step = decoder->step().value();
    QCOMPARE(model.passes, 1);
    QCOMPARE(model.tokens, joined(prompt, Ids(5, SpaceModel::kMask)));
    QCOMPARE(step.verifiedRows, 1 + 5);
    QCOMPARE(step.tokens.size(), std::size_t{1});
    QCOMPARE(step.draft.size(), 0);
    for (std::size_t row = 0; row < model.positions.size(); ++row)
        QCOMPARE(model.positions[row], static_cast<Position>(row));
    QCOMPARE(draftOf(decoder->step().value()).size(), std::size_t{5});
}

void SpaceTest::aRoundIsOneTokenAndKMasksBehindEachCandidate() {
    for (int k = 1; k <= space::kMostMasks; ++k) {
        RecordingTransformer model(randomModel());
        SettingValues settings = fixedRows(k);
        settings["mask_token"] = static_cast<double>(kAnyMask);
        const auto decoder = makeSpace(model, settings).value();
        QVERIFY(decoder->begin({Ids{3, 1, 4}, 60}, {}).hasValue());
        QVERIFY(decoder->step().hasValue());
        const int cached = decoder->cachedTokens();
        const DecodeStep step = decoder->step().value();
        QCOMPARE(step.verifiedRows, 1 + k * (k + 2));
        QCOMPARE(static_cast<int>(model.tokens.size()), 1 + k * (k + 2));
        std::vector<Position> expected;
        for (int candidate = 0; candidate <= k; ++candidate)
            expected.push_back(cached + candidate);
        for (int group = 0; group <= k; ++group)
            for (int mask = 1; mask <= k; ++mask)
                expected.push_back(cached + group + mask);
        QCOMPARE(model.positions, expected);
        QCOMPARE(Ids(model.tokens.begin() + 1 + k, model.tokens.end()),
                 Ids(static_cast<std::size_t>(k * (k + 1)), kAnyMask));
    }
}

void SpaceTest::everyMaskSeesItsOwnGroupAlone() {
    constexpr int kMasks = 3;
    RecordingTransformer model(tunedModel());
    const auto decoder = makeSpace(model, fixedRows(kMasks)).value();
    std::array<int, kMasks + 1> seen{}; // rounds by accepted candidates
    for (const std::string& prompt : support::spacePrompts()) {
        Ids all = SpaceModel::tokensOf(prompt);
        QVERIFY(decoder->begin({all, 40}, {}).hasValue());
        for (int left = 40; left > 10;) {
            const DecodeStep step = decoder->step().value();
            const Ids candidates = draftOf(step);
            const std::size_t groups = candidates.size() + 1;
            QCOMPARE(step.sides.size(), groups * kMasks);
            Ids before = all;
            for (std::size_t group = 0; group < groups; ++group) {
                const std::vector<HeadSummary> alone = groupAlone(before, kMasks);
                for (std::size_t mask = 0; mask < kMasks; ++mask)
                    QVERIFY(isEqual(model.summaries[groups + group * kMasks + mask], alone[mask]));
                if (group + 1 < groups)
                    before.push_back(candidates[group]);
            }
            all = joined(std::move(all), step.tokens);
            left -= static_cast<int>(step.tokens.size());
            ++seen[step.path.size()];
        }
    }
    for (const int rounds : seen)
        QVERIFY(rounds > 0);
}

void SpaceTest::theUsedGroupGivesTheNextCandidates() {
    const auto decoder = makeSpace(tunedModel(), fixedRows(4)).value();
    Ids all = SpaceModel::tokensOf("the hungry te");
    QVERIFY(decoder->begin({all, 60}, {}).hasValue());
    Ids promised;
    for (int left = 60; left > 14;) {
        const DecodeStep step = decoder->step().value();
        QCOMPARE(draftOf(step), promised);
        const Ids context = joined(all, Ids(step.tokens.begin(), step.tokens.end() - 1));
        all = joined(std::move(all), step.tokens);
        left -= static_cast<int>(step.tokens.size());
        promised.clear();
        for (HeadSummary summary :
             groupAlone(context, 4)) { // masks stand where the newest token is
            summary.remove(SpaceModel::kMask);
            promised.push_back(summary.best());
        }
        const StepTable* groups = tableOf(step, "groups");
        const StepTable* next = tableOf(step, "candidates");
        QVERIFY(groups != nullptr && next != nullptr);
        QCOMPARE(groups->chosenRow, static_cast<int>(step.path.size()));
        QCOMPARE(static_cast<int>(groups->rows.size()), step.draft.size() + 1);
        QCOMPARE(groups->columns.size(), std::size_t{6});
        const auto& used = groups->rows[static_cast<std::size_t>(groups->chosenRow)];
        QCOMPARE(next->rows.size(), std::size_t{4});
        for (std::size_t mask = 0; mask < 4; ++mask) {
            QVERIFY(used[2 + mask] == TableCell(TokenCell{promised[mask]}));
            QVERIFY(next->rows[mask][1] == TableCell(TokenCell{promised[mask]}));
        }
    }
}

/// Of i accepted candidates the rows of the pending token and of these stay, those of masks go.
void SpaceTest::acceptedRowsAreGatheredWhateverTheirNumber() {
    constexpr int kMasks = 3;
    support::SpyTransformer spy(tunedModel());
    const auto decoder = makeSpace(spy, fixedRows(kMasks)).value();
    std::array<int, kMasks + 1> seen{}; // rounds by accepted candidates
    for (const std::string& prompt : support::spacePrompts()) {
        Ids all = SpaceModel::tokensOf(prompt);
        QVERIFY(decoder->begin({all, 60}, {}).hasValue());
        for (int left = 60; left > 0;) {
            const DecodeStep step = decoder->step().value();
            all = joined(std::move(all), step.tokens);
            left -= static_cast<int>(step.tokens.size());
            const std::span<const TokenId> cached = std::span(all).first(all.size() - 1);
            QCOMPARE(decoder->cachedTokens(), static_cast<int>(cached.size()));
            CachedSequence fresh(support::emptyCache(tunedModel(), 400));
            QVERIFY(fresh.fill(tunedModel(), cached, {}).hasValue());
            QVERIFY(support::liveBytes(*spy.seenCache) == support::liveBytes(fresh.cache()));
            ++seen[step.path.size()];
        }
    }
    for (const int rounds : seen)
        QVERIFY(rounds > 0);
}

void SpaceTest::noRowIsSpentOnWhatCannotBeEmitted() {
    RecordingTransformer model(tunedModel());
    const auto decoder = makeSpace(model, fixedRows(8)).value();
    const Ids prompt = SpaceModel::tokensOf("the golden");
    int wholeRounds = 0;
    for (int answer = 1; answer <= 24; ++answer) {
        QVERIFY(decoder->begin({prompt, answer}, {}).hasValue());
        auto pending = static_cast<Position>(prompt.size()) - 1;
        for (int left = answer; left > 0;) {
            const DecodeStep step = decoder->step().value();
            QVERIFY(step.draft.size() <= left - 1);
            const auto sides = static_cast<std::ptrdiff_t>(step.sides.size());
            // A mask's candidate comes one behind it, the model's own token in between.
            for (auto at = model.positions.end() - sides; at != model.positions.end(); ++at)
                QVERIFY(*at - pending <= left - 2);
            QVERIFY(left > 1 || step.verifiedRows == 1);
            wholeRounds += sides == 9 * 8 ? 1 : 0;
            left -= static_cast<int>(step.tokens.size());
            pending += static_cast<Position>(step.tokens.size());
            QVERIFY(left >= 0);
        }
    }
    QVERIFY(wholeRounds > 0);
}

void SpaceTest::candidatesEndWithAnEnd() {
    const auto decoder = makeSpace(tunedModel(), fixedRows(8)).value();
    const TokenId end = SpaceModel::tokensOf(".").front();
    int ended = 0;
    for (const std::string& prompt : support::spacePrompts()) {
        const Ids ends = {end, SpaceModel::kLineEnd};
        QVERIFY(decoder->begin({SpaceModel::tokensOf(prompt), 120, ends}, {}).hasValue());
        for (TokenId last = kNoToken; last != end && last != SpaceModel::kLineEnd;) {
            const DecodeStep step = decoder->step().value();
            const Ids candidates = draftOf(step);
            for (std::size_t i = 0; i + 1 < candidates.size(); ++i)
                QVERIFY(candidates[i] != end && candidates[i] != SpaceModel::kLineEnd);
            ended += !candidates.empty() && candidates.back() == end && candidates.size() < 8;
            last = step.tokens.back();
        }
    }
    QVERIFY(ended > 0);
}

void SpaceTest::groupsThatAreLeftOutMoveTheRowsOfTheOthers() {
    const std::vector<int> counts = {2, 0, 1};
    const MaskGroups groups(kAnyMask, counts);
    const std::vector<SideRow> expected = {{kAnyMask, -1}, {kAnyMask, 2}, {kAnyMask, 1}};
    QVERIFY(
        std::equal(groups.sides().begin(), groups.sides().end(), expected.begin(), expected.end()));
    QCOMPARE(groups.groupCount(), 3);
    QCOMPARE(groups.maskCount(1), 0);
    QCOMPARE(groups.row(0, 1), 4); // behind the pending token and two candidates
    QCOMPARE(groups.row(2, 0), 5);
}

void SpaceTest::roundsAreCutWhereTheyAreSeldomReached() {
    const PlaceRates fresh; // a half everywhere: reach .5, .25, .125, ...
    const auto whole = planRound(fresh, {.masks = 3, .candidates = 3, .room = 99});
    QCOMPARE(whole.candidates, 3);
    QCOMPARE(whole.masks, std::vector<int>({3, 3, 3, 3}));
    const auto cut = planRound(fresh, {.masks = 8, .candidates = 8, .room = 99, .leastReach = 0.2});
    QCOMPARE(cut.candidates, 2);
    QCOMPARE(cut.masks, std::vector<int>({2, 2, 2})); // used: .5, .25, .25
    const auto narrow =
        planRound(fresh, {.masks = 8, .candidates = 8, .room = 99, .leastReach = 0.126});
    QCOMPARE(narrow.masks, std::vector<int>({2, 2, 2}));
    const auto end = planRound(fresh, {.masks = 4, .candidates = 4, .room = 4});
    QCOMPARE(end.candidates, 3);
    QCOMPARE(end.masks, std::vector<int>({2, 1, 0, 0}));
    QCOMPARE(planRound(fresh, {.masks = 4, .candidates = 4, .room = 1}).masks,
             std::vector<int>({0}));
    PlaceRates sure;
    for (int round = 0; round < 60; ++round)
        sure.learn(2, 2);
    const auto skips =
        planRound(sure, {.masks = 2, .candidates = 2, .room = 99, .leastReach = 0.2});
    QCOMPARE(skips.masks, std::vector<int>({0, 0, 2})); // the first two are hardly ever used
    PlaceRates hopeless;
    for (int round = 0; round < 60; ++round)
        hopeless.learn(1, 0);
    const auto nothing =
        planRound(hopeless, {.masks = 5, .candidates = 5, .room = 99, .leastReach = 0.2});
    QCOMPARE(nothing.candidates, 0);
    QCOMPARE(nothing.masks, std::vector<int>({0}));
}

void SpaceTest::whatAPlaceHasShownFades() {
    PlaceRates rates;
    rates.learn(2, 1);
    QVERIFY(rates.rate(1) > 0.5 && rates.rate(2) < 0.5 && rates.rate(3) == 0.5);
    QCOMPARE(rates.reach(0), 1.0);
    QCOMPARE(rates.reach(2), rates.rate(1) * rates.rate(2));
    for (int round = 0; round < 300; ++round)
        rates.learn(0, 0);
    QVERIFY(std::abs(rates.rate(1) - 0.5) < 1e-3 && std::abs(rates.rate(2) - 0.5) < 1e-3);
}

void SpaceTest::masksSuitTheBackend() {
    for (const auto& [preferred, masks] : {std::pair(7, 2), {2, 1}, {1, 1}, {14, 3}, {64, 5}}) {
        RecordingTransformer model(tunedModel());
        model.preferred = preferred;
        const auto decoder = makeSpace(model, {}).value();
        QVERIFY(decoder->begin({SpaceModel::tokensOf("the"), 40}, {}).hasValue());
        const int wanted = std::min(masks, 2); // a half is expected of each place at first
        QCOMPARE(decoder->step().value().verifiedRows, 1 + wanted);
        const auto whole = makeSpace(model, {{"adaptive", 0.0}}).value();
        QVERIFY(whole->begin({SpaceModel::tokensOf("the"), 40}, {}).hasValue());
        QCOMPARE(whole->step().value().verifiedRows, 1 + masks);
    }
}

/// As far as they suit the backend, and unless the user wants another number.
void SpaceTest::masksAreThoseThatTheModelWasTrainedWith() {
    struct Case {
        int preferred;
        int trained;
        double wanted;
        int masks;
    };

    for (const Case& each : {Case{64, 2, 0.0, 2},
                             Case{64, 6, 0.0, 6},
                             Case{7, 6, 0.0, 2},
                             Case{64, 2, 4.0, 4},
                             Case{64, 0, 0.0, 5}}) {
        RecordingTransformer model(tunedModel());
        model.preferred = each.preferred;
        model.trainedWith(each.trained);
        const auto decoder = makeSpace(model, {{"adaptive", 0.0}, {"masks", each.wanted}}).value();
        QVERIFY(decoder->begin({SpaceModel::tokensOf("the"), 40}, {}).hasValue());
        QCOMPARE(decoder->step().value().verifiedRows, 1 + each.masks);
    }
}

void SpaceTest::modelsWithoutAMaskTokenAreRefused() {
    const auto refused = makeSpace(randomModel(), {});
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    QCOMPARE(refused.error().message,
             std::string("SPACE drafts with a mask token that the model has been trained to fill "
                         "in, and this model names none."));
    QVERIFY(refused.error().hint.find("mask_token_id") != std::string::npos);
    QVERIFY(makeSpace(randomModel(), {{"mask_token", 17.0}}).hasValue());
    QVERIFY(makeSpace(tunedModel(), {}).hasValue());
}

void SpaceTest::badSettingsAreToldWhy() {
    const auto beyond = makeSpace(tunedModel(), {{"mask_token", 30.0}});
    QCOMPARE(beyond.error().message,
             std::string("The mask token 30 is outside the vocabulary of 30."));
    const auto unsampled = makeSpace(tunedModel(), {{"space_paper_sampling", 1.0}});
    QCOMPARE(unsampled.error().code, ErrorCode::InvalidInput);
    QVERIFY(unsampled.error().message.find("none are sampled") != std::string::npos);
    QVERIFY(makeSpace(tunedModel(),
                      {{"space_paper_sampling", 1.0}, {"candidates", std::string("sampled")}})
                .hasValue());
    QVERIFY(makeSpace(tunedModel(), {{"profile", std::string("paper")}}).hasValue());
    const auto decoder = makeSpace(tunedModel(), {}).value();
    const auto info = support::registry().info("space");
    const auto values = resolveSettings(info.value(), {{"mask_token", 99.0}});
    QVERIFY(!decoder->configure(values.value(), values.value()).hasValue());
    QVERIFY(decoder->begin({SpaceModel::tokensOf("the"), 8}, {}).hasValue()); // nothing was changed
    QVERIFY(decoder->step().hasValue());
}

QTEST_GUILESS_MAIN(SpaceTest)
#include "space_test.moc"
