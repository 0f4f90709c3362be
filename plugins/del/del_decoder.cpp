// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/del_decoder.h"

#include <algorithm>

namespace del {

using namespace engine;

namespace {

/// Slots behind the context: for the longest draft, and for the rows of a pass of the head.
constexpr int kScratchRows = std::max(kMostDraft + 1, HeadReader::kRowsAtOnce) + 1;

} // namespace

Result<std::unique_ptr<Decoder>>
DelDecoder::make(const DecoderContext& context, bool isByTime, DelDraws draws) {
    const ModelConfig& config = context.transformer.config();
    if (config.layerCount < 2)
        return Error{ErrorCode::Unsupported,
                     "DEL drafts by leaving the model before its last layer, and this model has "
                     "one layer.",
                     "Choose another decoder, such as lookup."};
    ENGINE_TRY(const DelSettings settings,
               DelSettings::make(context.settings, isByTime, config.layerCount));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kScratchRows));
    target.useClock(context.clock);
    return std::unique_ptr<Decoder>(new DelDecoder(std::move(target), settings, draws));
}

DelDecoder::DelDecoder(Target target, const DelSettings& settings, DelDraws draws)
    : TargetDecoder(std::move(target))
    , m_drafter(draws.draft)
    , m_verifyDraws(draws.verify)
    , m_settings(settings)
    , m_policy(settings.isByTime ? makeTimePolicy(config()) : makeLayerPolicy(config()))
    , m_statistics(config().layerCount, settings.decay) {
    m_policy->configure(settings);
}

Result<void> DelDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    const int unread = m_settings.startsFused ? kPrefillRows : m_settings.contextRows;
    ENGINE_TRY_DO(m_target.begin(prompt, work, unread));
    if (!m_settings.keepsStatistics) {
        m_statistics.clear();
        m_offers.clear();
        m_chosen = {};
        m_exit = 1;
    }
    m_isFirst = m_offers.empty();
    return {};
}

/// One round: draft with the exit that was chosen, verify from there on, compare the exits where
/// the model agreed, choose anew.
Result<DecodeStep> DelDecoder::round() {
    Round round = nextRound();
    ENGINE_TRY(Draft drafted, draft(round));
    ENGINE_TRY(DecodeStep step, verify(std::move(drafted), round));
    describe(round, step);
    ENGINE_TRY_DO(learn(round, step));
    choose();
    return step;
}

Result<DecodeStep> DelDecoder::plainRound() {
    const bool isMeasured = m_target.unread().empty();
    ENGINE_TRY(DecodeStep step, m_target.plainStep());
    if (isMeasured)
        m_policy->learnRound(step, 0);
    return step;
}

Result<SearchReport> DelDecoder::configure(const SettingValues& values,
                                           const SettingValues& /*given*/) {
    ENGINE_TRY(m_settings, DelSettings::make(values, m_settings.isByTime, config().layerCount));
    m_policy->configure(m_settings);
    m_statistics.changeDecay(m_settings.decay);
    if (!m_offers.empty())
        choose();
    return SearchReport();
}

/// What the next round is drafted with, unless it is a first or a plain one.
void DelDecoder::choose() {
    m_offers = m_policy->offers(m_statistics);
    m_chosen = bestOf(m_offers);
}

/// The first round drafts one token at the first layer (or the exit that is set), or none. Where no
/// draft pays the round is plain; its row still shows what the exits would have predicted.
DelDecoder::Round DelDecoder::nextRound() {
    Round round;
    round.isFirst = m_isFirst;
    round.unread = static_cast<int>(m_target.unread().size());
    round.offer = m_chosen;
    if (m_isFirst)
        round.offer = {std::max(m_settings.fixedExit, 1), m_settings.startsFused ? 1 : 0, 0.0};
    else if (m_chosen.steps == 0 && m_settings.draftsAnyway())
        round.offer.steps = 1;
    round.isProbe = !m_isFirst && m_policy->wantsPlainRound();
    if (round.isProbe)
        round.offer.steps = 0;
    if (round.offer.steps > 0)
        m_exit = round.offer.exit;
    round.compared = m_policy->comparedExits(m_exit, m_isFirst);
    round.context = m_policy->contextRows(std::min(round.unread, m_settings.contextRows),
                                          round.compared.size());
    return round;
}

Result<Draft> DelDecoder::draft(const Round& round) {
    if (round.offer.steps == 0)
        return Draft::empty({round.isProbe ? DraftEndReason::Measuring : DraftEndReason::Price});
    useExit(round);
    const auto stopRule = round.isFirst ? std::make_unique<ConfidenceStopRule>(0.0, 1)
                                        : m_policy->stopRule(m_statistics, round.offer);
    return m_drafter.draft(m_target,
                           {.rule = m_settings.verification,
                            .maxDepth = round.isFirst ? 1 : m_settings.mostDraft,
                            .stopRule = stopRule.get()});
}

/// Drafts leave the model at the exit of this round from now on. The last token of an answer has no
/// draft, and so no other plan.
void DelDecoder::useExit(const Round& round) {
    const int exit = round.offer.exit;
    const int layers = config().layerCount;
    if (m_target.remainingTokens() > 1) {
        const char* reason = m_plan.id() == 0 ? "start" : round.isFirst ? "restart" : "better";
        m_plan.use(
            exitPlan(layers, exit), static_cast<double>(layers - exit) / layers, reason, m_report);
    }
    m_earlier.clear();
    for (const int compared : round.compared)
        if (compared < exit)
            m_earlier.push_back(compared - 1);
    m_drafter.use({.exitLayers = exit,
                   .planId = m_plan.id(),
                   .keepsUnsure = m_settings.rule != DelRule::Paper || m_settings.isLengthChosen,
                   .earlierLayers = m_earlier});
}

/// The rest of the model over the draft, or all of it; keeps the streams behind the exits.
Result<DecodeStep> DelDecoder::verify(Draft drafted, Round& round) {
    std::vector<int> later;
    std::size_t next = 0;
    for (const int exit : round.compared)
        if (exit > drafted.layersRun)
            later.push_back(exit - 1);
        else
            round.streams[exit] =
                exit == drafted.layersRun ? drafted.hidden : drafted.earlier[next++];
    const bool needsLast = !round.compared.empty() && round.context > 0;
    if (needsLast)
        later.push_back(config().layerCount - 1);
    if (m_later.size() < later.size())
        m_later.resize(later.size());
    std::vector<HandOut> handOuts;
    for (std::size_t i = 0; i < later.size(); ++i) {
        m_later[i].clear();
        handOuts.push_back({later[i], &m_later[i]});
        const bool isLast = needsLast && i + 1 == later.size();
        (isLast ? round.lastStream : round.streams[later[i] + 1]) = &m_later[i];
    }
    const VerifyRule rule = m_settings.verification;
    return m_target.verify(std::move(drafted),
                           {.rule = rule,
                            .draws = rule == VerifyRule::Rejection ? m_verifyDraws : nullptr,
                            .handOuts = handOuts});
}

Result<void> DelDecoder::learn(const Round& round, const DecodeStep& step) {
    if (round.unread == 0)
        m_policy->learnRound(step, round.offer.exit);
    if (round.compared.empty()) {
        learnDraft(round, step);
        return {};
    }
    ENGINE_TRY_DO(compareExits(round, step));
    m_isFirst = false;
    return {};
}

/// What was drafted is known without another pass. Only greedy: a drawn token is no shadow token.
void DelDecoder::learnDraft(const Round& round, const DecodeStep& step) {
    if (m_settings.rule != DelRule::Ours || step.isPlain() || !m_target.sampler().isGreedy())
        return;
    std::vector<ShadowToken> shadows;
    const std::size_t judged =
        std::min(step.tokens.size(), static_cast<std::size_t>(step.draft.size()));
    for (std::size_t i = 0; i < judged; ++i) {
        const DraftNode& node = step.draft.node(static_cast<int>(i));
        const double agreement = i < step.path.size() ? 1.0 : 0.0;
        shadows.push_back({node.token, node.probability, agreement});
    }
    m_statistics.record(round.offer.exit, shadows);
    m_policy->learnShadows(round.offer.exit, shadows);
}

Result<std::vector<HeadSummary>> DelDecoder::read(std::span<const HiddenPiece> rows) {
    return m_heads.read(
        m_target, rows, [&](int count, double ms) { m_policy->learnHead(count, ms); });
}

/// Rows, from the pending token's on, that were on the model's own path. As published, sampled
/// rounds end at the exit's first other best token, and rounds that should not have been drafted
/// are not cut at all.
Result<int> DelDecoder::validRows(const Round& round, const DecodeStep& step) {
    const int own = static_cast<int>(step.tokens.size());
    if (m_settings.rule != DelRule::Code || step.isPlain())
        return own;
    const int all = step.draft.size() + 1;
    if (!round.isFirst && m_chosen.steps == 0)
        return all;
    if (m_target.sampler().isGreedy())
        return own;
    const HiddenPiece rows(*round.streams.at(round.offer.exit), round.unread, all);
    ENGINE_TRY(const auto summaries, read({&rows, 1}));
    for (int row = 0; row < all; ++row)
        if (summaries[static_cast<std::size_t>(row)].best() !=
            m_target.lastSummaries()[static_cast<std::size_t>(row)].best())
            return row + 1;
    return all;
}

/// Shadow tokens of every exit over the valid rows, and in a round that read the prompt over its
/// last rows, beside what the full model said there.
Result<void> DelDecoder::compareExits(const Round& round, const DecodeStep& step) {
    ENGINE_TRY(const int valid, validRows(round, step));
    const int context = round.context;
    const int first = round.unread - context;
    const int count = context + valid;
    std::vector<HeadSummary> full;
    if (context > 0) {
        const HiddenPiece rows(*round.lastStream, first, context);
        ENGINE_TRY(full, read({&rows, 1}));
    }
    const auto own = m_target.lastSummaries().first(static_cast<std::size_t>(valid));
    full.insert(full.end(), own.begin(), own.end());
    std::vector<HiddenPiece> rows;
    for (const int exit : round.compared)
        rows.emplace_back(*round.streams.at(exit), first, count);
    ENGINE_TRY(const auto summaries, read(rows));
    // As printed alpha divides by the index of the mismatch; the prompt's rows have none.
    const bool isPrinted = m_settings.rule == DelRule::Paper && context == 0;
    std::vector<ShadowToken> shadows(full.size());
    for (std::size_t i = 0; i < round.compared.size(); ++i) {
        for (std::size_t row = 0; row < full.size(); ++row)
            shadows[row] = compare(summaries[i * full.size() + row],
                                   full[row],
                                   m_target.sampler(),
                                   m_settings.comparesLaws);
        m_statistics.record(round.compared[i], shadows, count - (isPrinted ? 1 : 0));
        m_policy->learnShadows(round.compared[i], shadows);
    }
    return {};
}

/// The table that the round was chosen from.
void DelDecoder::describe(const Round& round, DecodeStep& step) {
    if (m_offers.empty())
        return;
    StepTable table = m_policy->table(m_statistics, m_offers);
    table.chosenRow = step.draftLayers > 0.0 ? rowOfExit(table, round.offer.exit) : -1;
    step.tables.push_back(std::move(table));
    step.choice = m_policy->choice(m_statistics, m_offers, round.offer);
    step.choice.isProbe = round.isProbe && !step.choice.drafter.empty();
    step.choice.nodes = step.draft.size();
}

} // namespace del
