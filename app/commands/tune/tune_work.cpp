// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_work.h"

#include "app/commands/tune/self_prompts.h"
#include "app/streams/counted.h"
#include "engine/base/forward_clock.h"
#include "engine/base/system_memory.h"
#include "engine/base/time/utc_time.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/model_parts.h"
#include "engine/tuning/tuning_need.h"

#include <algorithm>
#include <limits>
#include <system_error>

namespace app {

using namespace engine;

namespace {

/// From fewer, little can be learnt.
constexpr std::int64_t kFewTokens = 20'000;

/// How the model is computed, as far as its streams depend on it.
std::string computedAs(const ModelOptions& options, const std::string& fingerprint) {
    std::string text = fingerprint + " " + chosenBackend(options.backend);
    for (const auto& [name, value] : options.settings)
        if (name != "threads")
            text += fmt::format(" {}={}", name, settingText(value));
    return text;
}

/// Whether there is such a file with something in it.
bool holdsBytes(const std::filesystem::path& file) {
    std::error_code failure;
    return std::filesystem::file_size(file, failure) > 0 && !failure;
}

std::string licenceOfData(const TuneOptions& options, std::size_t file) {
    const auto& licences = options.licences;
    return licences.empty() ? "unknown" : licences[licences.size() == 1 ? 0 : file];
}

} // namespace

double tuneClockMs() {
    const auto now = ForwardClock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

OutputPlace placeAsOfNow(OutputPlace place) {
    std::error_code ignored;
    const Result<bool> own =
        std::filesystem::exists(place.path, ignored) ? place.isOwn(place.path) : Result<bool>(true);
    if (own && own.value())
        place.mayOverwrite = false;
    return place;
}

TuneWork::TuneWork(const TuneOptions& options,
                   const TuningPlan& plan,
                   const Console& console,
                   std::stop_token stop)
    : m_options(options)
    , m_plan(plan)
    , m_stop(std::move(stop))
    , m_report(console, tuneClockMs) {}

Result<void>
TuneWork::gather(RowStore& rows, TuningFolder& folder, TokenId forbidden, const ModelTask& first) {
    ENGINE_TRY_DO(checkRoomOf(rows));
    const bool isAnew = rows.shardCount() == 0 && !holdsBytes(folder.selfPromptsFile()) &&
                        !holdsBytes(RowStore::unfinishedFile(folder.path()));
    const double startMs = tuneClockMs();
    auto gathered = told(collect(rows, folder, forbidden, first));
    if (isAnew)
        m_collectSeconds = (tuneClockMs() - startMs) / 1e3;
    if (gathered)
        gathered = checkTokens(rows.trainingTokens());
    if (!gathered)
        leave(folder, rows, gathered.error());
    return gathered;
}

/// What no later run can use would only be in its way. Prompts that the model has written are of
/// use to one, unless it would be refused as this one was.
void TuneWork::leave(TuningFolder& folder, const RowStore& rows, const Error& error) const {
    const bool hasPrompts =
        error.code != ErrorCode::InvalidInput && holdsBytes(folder.selfPromptsFile());
    const bool isEmpty = rows.shardCount() == 0 && !hasPrompts &&
                         !holdsBytes(RowStore::unfinishedFile(folder.path()));
    const bool isUseless = rows.isComplete() || (isEmpty && !m_options.resumes);
    if (isUseless && error.code != ErrorCode::Cancelled && !m_options.keepsWork)
        folder.remove();
}

Result<void> TuneWork::told(Result<void> result) {
    if (!result && result.error().code == ErrorCode::Cancelled)
        m_report.note("Everything so far is kept: the same command with --resume goes on.");
    return result;
}

Result<void> TuneWork::openFiles(int mostContext) {
    ENGINE_TRY(ModelFiles files, openModel(m_options.model));
    m_files.emplace(std::move(files));
    ENGINE_TRY(m_config, m_files->config());
    ENGINE_TRY(m_weights, m_files->weights());
    m_name = fileFactsOf(*m_files, *m_weights).name;
    ENGINE_TRY(m_fingerprint, modelFingerprint(m_config, *m_weights));
    ENGINE_TRY(const int context, app::contextLength(m_options.model, m_config));
    m_contextLength = std::min(context, mostContext);
    m_plan.threads = threadCountOf(m_options.model, chosenBackend(m_options.model.backend));
    return {};
}

Result<PromptSet> TuneWork::readData() const {
    return m_options.data.paths.empty() ? PromptSet() : readPrompts(m_options.data, m_stop);
}

Result<void> TuneWork::encode(const PromptSet& data) {
    ENGINE_TRY(m_tokenizer, openTokenizer(*m_files));
    if (!m_tokenizer)
        return Error{ErrorCode::NotFound,
                     fmt::format("{} has no tokenizer, so prompts cannot be read.",
                                 m_files->path().string()),
                     "Add tokenizer.json or tokenizer.model."};
    ENGINE_TRY_DO(checkTokenizerFits(*m_tokenizer, m_config));
    ENGINE_TRY(PromptEncoder encoder, PromptEncoder::make(*m_files, *m_tokenizer, m_options.isRaw));
    if (m_options.selfPrompts > 0)
        ENGINE_TRY_DO(encoder.userTurn()); // before anything is done
    m_encoder.emplace(std::move(encoder));
    m_endIds = m_config.eosIds;
    const auto ends = m_encoder->endIds();
    m_endIds.insert(m_endIds.end(), ends.begin(), ends.end());
    if (m_options.resumes || m_options.retrains)
        m_plan.split = TuningFolder::splitRuleFor(m_options.out.path);
    m_prompts = encoded(data.prompts);
    return {};
}

TunePrompts TuneWork::encoded(const std::vector<DataPrompt>& prompts) {
    const auto note = [this](const std::string& sentence) { m_report.note(sentence); };
    return encodePrompts(prompts, *m_encoder, m_contextLength, note, m_plan.split);
}

/// Of an earlier run a part of the files is there already.
Result<void> TuneWork::checkFits(std::int64_t trained) {
    FreeBytes left{.memory = availableMemoryBytes(), .disk = std::numeric_limits<double>::max()};
    const std::filesystem::path out = std::filesystem::absolute(m_options.out.path);
    std::error_code failure;
    const bool isFirst = !std::filesystem::exists(TuningFolder::folderFor(out), failure);
    const auto space = std::filesystem::space(out.parent_path(), failure);
    if (isFirst && !failure)
        left.disk = static_cast<double>(space.available);
    if (m_options.diskGb && m_plan.minutes > 0.0)
        m_plan.answerTokens =
            std::clamp(answersThatFit(m_plan, m_config, trained, *m_options.diskGb * 1e9),
                       std::min(kLeastAnswerTokens, m_plan.answerTokens),
                       m_plan.answerTokens);
    m_weightCount = m_options.onlyCollects ? 0 : trained;
    ENGINE_TRY_DO(checkTuningFits(m_plan, m_config, m_weightCount, left));
    m_estimate = estimateOf(m_plan, m_config, m_weightCount);
    return checkLimits(m_options, m_estimate);
}

/// An earlier run may have been allowed more. The answers to its last prompt may go beyond what it
/// had planned.
Result<void> TuneWork::checkRoomOf(const RowStore& rows) const {
    TuningPlan made = m_plan;
    made.answerTokens = rows.trainingTokens();
    if (made.answerTokens <= m_plan.answerTokens + kAnswersAtOnce * m_plan.longestAnswer)
        return {};
    return checkLimits(m_options, estimateOf(made, m_config, m_weightCount));
}

Result<TuningFolder> TuneWork::openFolder() const {
    EarlierWork earlier = EarlierWork::Refuse;
    if (m_options.retrains)
        earlier = EarlierWork::KeepRows;
    else if (m_options.resumes)
        earlier = EarlierWork::GoOn;
    else if (m_options.beginsAnew || m_options.out.mayOverwrite)
        earlier = EarlierWork::Replace;
    const std::string model = computedAs(m_options.model, m_fingerprint);
    std::string prompts = m_prompts.hash;
    if (m_options.selfPrompts > 0) // they follow from the model and the seed
        prompts += fmt::format("+{} of its own", m_options.selfPrompts);
    return TuningFolder::open(m_options.out.path,
                              {m_plan.rowsText(model, prompts, m_contextLength),
                               m_plan.allText(model, prompts, m_contextLength)},
                              earlier);
}

/// The model is in memory for as long as it answers.
Result<void> TuneWork::collect(RowStore& rows,
                               const TuningFolder& folder,
                               TokenId forbidden,
                               const ModelTask& first) {
    if (rows.isComplete())
        return {};
    ENGINE_TRY(const LoadedModel model, load(*m_files));
    if (first)
        ENGINE_TRY_DO(first(*model.transformer));
    ENGINE_TRY_DO(addSelfPrompts(*model.transformer, folder, forbidden));
    CollectPlan plan;
    plan.answerTokens = m_plan.answerTokens;
    plan.longestAnswer = m_plan.longestAnswer;
    plan.promptRows = m_plan.promptRows(m_contextLength);
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
         .stop = m_stop,
         .keepSeconds = m_options.checkpointMinutes * 60.0});
}

Result<void>
TuneWork::addSelfPrompts(Transformer& transformer, const TuningFolder& folder, TokenId forbidden) {
    if (m_options.selfPrompts == 0)
        return {};
    ENGINE_TRY(const std::vector<DataPrompt> written,
               writeSelfPrompts(
                   {.file = folder.selfPromptsFile(),
                    .count = m_options.selfPrompts,
                    .seed = m_plan.seed,
                    .transformer = transformer,
                    .tokenizer = *m_tokenizer,
                    .encoder = *m_encoder,
                    .contextLength = m_contextLength,
                    .endIds = m_endIds,
                    .forbidden = forbidden,
                    .onProgress =
                        [this](int count) { m_report.selfPrompts(count, m_options.selfPrompts); },
                    .stop = m_stop}));
    const auto count = static_cast<int>(written.size());
    m_report.selfPrompts(count, m_options.selfPrompts);
    if (count < m_options.selfPrompts)
        m_report.note(fmt::format("The model wrote {} instead of {}; the others cannot be used.",
                                  counted(count, "prompt"),
                                  m_options.selfPrompts));
    TunePrompts own = encoded(written);
    std::ranges::move(own.prompts, std::back_inserter(m_prompts.prompts));
    return {};
}

Result<void> TuneWork::checkTokens(std::int64_t tokens) {
    if (tokens < kLeastAnswerTokens)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("Only {} can be trained on; at least {} are needed.",
                                 counted(tokens, "answer token"),
                                 kLeastAnswerTokens),
                     "Give more prompts, --answer-tokens or --minutes."};
    if (tokens < kFewTokens)
        m_report.note(fmt::format("{} answer tokens are few: little is learnt from "
                                  "fewer than {}.",
                                  tokens,
                                  kFewTokens));
    return {};
}

Result<TrainingResult> TuneWork::train(const RowStore& rows,
                                       const TuningFolder& folder,
                                       Trainer& trainer,
                                       const BestTask& onBest) {
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
                   .evaluated =
                       [&](const Evaluation& evaluation, bool isBest) {
                           m_report.evaluated(evaluation, isBest);
                           if (isBest && onBest)
                               onBest(evaluation);
                       },
                   .checkpointed = [this](const auto& path) { m_report.checkpointed(path); },
                   .noted = [this](const std::string& text) { m_report.note(text); }},
         .stop = m_stop});
    ENGINE_TRY_DO(told(trained ? Result<void>() : trained.error()));
    return trained;
}

Result<LoadedModel> TuneWork::load(const ModelFiles& files) const {
    return loadModel(m_options.model, files, m_contextLength, m_stop);
}

std::optional<double> TuneWork::collectSeconds(const RowStore& rows) const {
    if (!m_collectSeconds && m_plan.minutes > 0.0)
        return rows.seconds();
    return m_collectSeconds;
}

RunOrigin TuneWork::origin(const RowStore& rows) const {
    return {.model = m_name,
            .fingerprint = m_fingerprint,
            .dataFiles = dataFiles(),
            .shards = rows.hashes(),
            .answerTokens = rows.trainingTokens(),
            .plan = m_plan,
            .date = utcNow()};
}

/// Names without folders, and licences.
std::vector<DataOrigin> TuneWork::dataFiles() const {
    std::vector<DataOrigin> files;
    const auto& paths = m_options.data.paths;
    for (std::size_t i = 0; i < paths.size(); ++i)
        files.push_back(
            {std::filesystem::path(paths[i]).filename().string(), licenceOfData(m_options, i)});
    if (m_options.selfPrompts > 0)
        files.push_back({kSelfPromptsName, "the model's own text"});
    return files;
}

} // namespace app
