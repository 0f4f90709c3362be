// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_work.h"

#include "engine/base/forward_clock.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"

#include <algorithm>
#include <system_error>

namespace app {

using namespace engine;

namespace {

/// Below, nothing can be learnt; below the second, little.
constexpr std::int64_t kLeastTokens = 1'000;
constexpr std::int64_t kFewTokens = 20'000;

/// How the model is computed, as far as its streams depend on it.
std::string computedAs(const ModelOptions& options, const std::string& fingerprint) {
    std::string text = fingerprint + " " + chosenBackend(options.backend);
    for (const auto& [name, value] : options.settings)
        if (name != "threads")
            text += fmt::format(" {}={}", name, settingText(value));
    return text;
}

} // namespace

double tuneClockMs() {
    const auto now = ForwardClock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

TuneWork::TuneWork(const TuneOptions& options,
                   const TuningPlan& plan,
                   const Console& console,
                   std::stop_token stop)
    : m_options(options)
    , m_plan(plan)
    , m_stop(std::move(stop))
    , m_report(console, tuneClockMs) {}

Result<void> TuneWork::gather(RowStore& rows, TuningFolder& folder, TokenId forbidden) {
    const double startMs = tuneClockMs();
    auto gathered = told(collect(rows, folder, forbidden));
    m_collectSeconds = (tuneClockMs() - startMs) / 1e3;
    if (gathered)
        gathered = checkTokens(rows.trainingTokens());
    if (!gathered)
        leave(folder, rows, gathered.error());
    return gathered;
}

/// What no later run can use would only be in its way.
void TuneWork::leave(TuningFolder& folder, const RowStore& rows, const Error& error) const {
    std::error_code ignored;
    const bool isEmpty = rows.shardCount() == 0 &&
                         !std::filesystem::exists(RowStore::unfinishedFile(folder.path()), ignored);
    const bool isUseless = rows.isComplete() || (isEmpty && !m_options.resumes);
    if (isUseless && error.code != ErrorCode::Cancelled && !m_options.keepsWork)
        folder.remove();
}

Result<void> TuneWork::told(Result<void> result) {
    if (!result && result.error().code == ErrorCode::Cancelled)
        m_report.remark("Everything so far is kept: the same command with --resume goes on.");
    return result;
}

Result<void> TuneWork::openFiles(int mostContext) {
    ENGINE_TRY(ModelFiles files, openModel(m_options.model));
    m_files.emplace(std::move(files));
    m_name = m_files->path().filename().string();
    ENGINE_TRY(m_config, m_files->config());
    ENGINE_TRY(m_weights, m_files->weights());
    ENGINE_TRY(m_fingerprint, modelFingerprint(m_config, *m_weights));
    ENGINE_TRY(const int context, app::contextLength(m_options.model, m_config));
    m_contextLength = std::min(context, mostContext);
    m_plan.threads = threadCountOf(m_options.model, chosenBackend(m_options.model.backend));
    return {};
}

Result<void> TuneWork::encode(const PromptSet& data) {
    ENGINE_TRY(m_tokenizer, openTokenizer(*m_files));
    if (!m_tokenizer)
        return Error{ErrorCode::NotFound,
                     fmt::format("{} has no tokenizer, so prompts cannot be read.",
                                 m_files->path().string()),
                     "Add tokenizer.json or tokenizer.model."};
    ENGINE_TRY_DO(checkTokenizerFits(*m_tokenizer, m_config));
    ENGINE_TRY(const PromptEncoder encoder,
               PromptEncoder::make(*m_files, *m_tokenizer, m_options.isRaw));
    m_endIds = m_config.eosIds;
    const auto ends = encoder.endIds();
    m_endIds.insert(m_endIds.end(), ends.begin(), ends.end());
    m_prompts =
        encodePrompts(data.prompts, encoder, m_contextLength, [this](const std::string& sentence) {
            m_report.remark(sentence);
        });
    return {};
}

Result<TuningFolder> TuneWork::openFolder() const {
    EarlierWork earlier = EarlierWork::Refuse;
    if (m_options.retrains)
        earlier = EarlierWork::KeepRows;
    else if (m_options.resumes)
        earlier = EarlierWork::GoOn;
    else if (m_options.out.mayOverwrite)
        earlier = EarlierWork::Replace;
    const std::string model = computedAs(m_options.model, m_fingerprint);
    return TuningFolder::open(m_options.out.path,
                              {m_plan.rowsText(model, m_prompts.hash, m_contextLength),
                               m_plan.allText(model, m_prompts.hash, m_contextLength)},
                              earlier);
}

/// The model is in memory for as long as it answers.
Result<void> TuneWork::collect(RowStore& rows, const TuningFolder& folder, TokenId forbidden) {
    if (rows.isComplete())
        return {};
    ENGINE_TRY(const LoadedModel model, load(*m_files));
    CollectPlan plan;
    plan.answerTokens = m_plan.answerTokens;
    plan.longestAnswer = m_plan.longestAnswer;
    plan.promptRows = m_plan.changesModel() ? m_contextLength : 0;
    plan.seed = m_plan.seed;
    plan.seconds = m_plan.minutes * 60.0 * TuningPlan::kCollectShare;
    return collectRows(
        rows,
        folder.path(),
        folder.rowsRun(),
        plan,
        {.transformer = *model.transformer,
         .contextLength = m_contextLength,
         .prompts = m_prompts.prompts,
         .endIds = m_endIds,
         .forbidden = forbidden,
         .nowMs = tuneClockMs,
         .onProgress = [this](const CollectProgress& progress) { m_report.collected(progress); },
         .stop = m_stop});
}

Result<void> TuneWork::checkTokens(std::int64_t tokens) {
    if (tokens < kLeastTokens)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Only {} answer tokens can be trained on; at least {} are "
                                 "needed.",
                                 tokens,
                                 kLeastTokens),
                     "Give more prompts, --answer-tokens or --minutes."};
    if (tokens < kFewTokens)
        m_report.remark(fmt::format("{} answer tokens are few: little is learnt from "
                                    "fewer than {}.",
                                    tokens,
                                    kFewTokens));
    return {};
}

Result<TrainingResult>
TuneWork::train(const RowStore& rows, const TuningFolder& folder, Trainer& trainer) {
    CheckpointFiles checkpoints(folder.path(), {folder.run(), rows.hash()});
    auto trained = trainDrafts(
        {.rows = rows,
         .trainer = trainer,
         .plan = m_plan,
         .checkpoints = checkpoints,
         .checkpointMinutes = m_options.checkpointMinutes,
         .secondsBefore = rows.seconds(),
         .nowMs = tuneClockMs,
         .watch = {.stepped = [this](const auto& step) { m_report.stepped(step); },
                   .evaluated = [this](const Evaluation& evaluation,
                                       bool isBest) { m_report.evaluated(evaluation, isBest); },
                   .checkpointed = [this](const auto& path) { m_report.checkpointed(path); },
                   .remarked = [this](const std::string& text) { m_report.remark(text); }},
         .stop = m_stop});
    ENGINE_TRY_DO(told(trained ? Result<void>() : trained.error()));
    return trained;
}

Result<LoadedModel> TuneWork::load(const ModelFiles& files) const {
    ModelOptions options = m_options.model;
    options.draftAdapter = kNoDraftAdapter;
    return loadModel(options, files, m_contextLength, m_stop);
}

double TuneWork::collectSeconds(const RowStore& rows) const {
    return std::max(rows.seconds(), m_collectSeconds);
}

std::vector<std::string> TuneWork::dataFiles() const {
    std::vector<std::string> names;
    for (const std::string& path : m_options.data.paths)
        names.push_back(std::filesystem::path(path).filename().string());
    return names;
}

} // namespace app
