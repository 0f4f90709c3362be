// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_run.h"

#include "app/commands/tune/self_prompts.h"
#include "app/commands/tune/tune_prompts.h"
#include "app/commands/tune/tune_report.h"
#include "app/program_paths.h"
#include "engine/base/forward_clock.h"
#include "engine/base/time/utc_time.h"
#include "engine/loading/drafts/draft_adapter_writer.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "engine/tuning/model_numbers.h"
#include "engine/tuning/result/draft_prices.h"
#include "engine/tuning/result/trained_adapter.h"
#include "engine/tuning/trainer_registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

namespace app {

using namespace engine;

namespace {

/// From fewer, little can be learnt.
constexpr std::int64_t kFewTokens = 20'000;

double tuneClockMs() {
    const auto now = ForwardClock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

/// An adapter of whatever model; for OutputPlace::isOwn.
Result<bool> isDraftAdapter(const std::filesystem::path& path) {
    const auto description = readDraftDescription(path);
    if (!description && description.error().code == ErrorCode::Io)
        return description.error();
    return description.hasValue();
}

/// How the model is computed, as far as its streams depend on it.
std::string computedAs(const ModelOptions& options, const std::string& fingerprint) {
    std::string text = fingerprint + " " + chosenBackend(options.backend);
    for (const auto& [name, value] : options.settings)
        if (name != "threads")
            text += fmt::format(" {}={}", name, settingText(value));
    return text;
}

/// The file becomes the one that is used when nobody asks for another.
Result<void> useAdapter(const std::string& bytes, const std::string& fingerprint) {
    const std::filesystem::path path = usersDraftAdapter(fingerprint);
    std::error_code failure;
    std::filesystem::create_directories(path.parent_path(), failure);
    if (failure)
        return Error{
            ErrorCode::Io,
            fmt::format("{} cannot be made: {}.", path.parent_path().string(), failure.message()),
            "Check SWIFT_STUDIO_DATA and its permissions."};
    return writeFileAtomically(path, bytes);
}

std::string licenceOfData(const TuneOptions& options, std::size_t file) {
    const auto& licences = options.licences;
    return licences.empty() ? "unknown" : licences[licences.size() == 1 ? 0 : file];
}

/// One run of the command.
class TuneRun {
public:
    TuneRun(const TuneOptions& options,
            const TuningPlan& plan,
            const Console& console,
            std::stop_token stop)
        : m_options(options)
        , m_plan(plan)
        , m_stop(std::move(stop))
        , m_report(console, tuneClockMs) {}

    Result<void> run() {
        TrainerMaker makeTrainer;
        if (!m_options.onlyCollects) {
            ENGINE_TRY(makeTrainer, findTrainer(moduleFolder()));
        }
        const OutputPlace place =
            outputPlace(m_options.out, m_options.model, m_options.data, {}, {}, isDraftAdapter);
        ENGINE_TRY_DO(checkOutput(place));
        PromptSet data;
        if (!m_options.data.paths.empty()) {
            ENGINE_TRY(data, readPrompts(m_options.data, m_stop));
        }
        ENGINE_TRY_DO(openFiles());
        ENGINE_TRY_DO(encode(data));
        ENGINE_TRY(const DraftSizes sizes, draftSizesFor(m_config, m_plan.layers, m_plan.window));
        m_sizes = sizes;
        ENGINE_TRY(TuningFolder folder, openFolder());
        m_report.start({m_name, m_fingerprint, m_plan, trainedWeights(sizes)});
        ENGINE_TRY(RowStore rows, RowStore::open(folder.path(), folder.rowsRun()));
        if (const auto gathered = gather(rows, folder); !gathered) {
            leave(folder, rows, gathered.error());
            return gathered.error();
        }
        if (m_options.onlyCollects) {
            m_report.collectingDone(folder.path(), rows.answerTokens());
            return {};
        }
        ENGINE_TRY(const HeadList head, makeHeadList(rows, m_plan.head, m_config.vocabSize));
        ENGINE_TRY(const auto trainer, openTrainer(makeTrainer, sizes, head));
        auto trained = train(rows, folder, *trainer);
        ENGINE_TRY_DO(told(trained ? Result<void>() : trained.error()));
        ENGINE_TRY_DO(finish(place, rows, trained.value(), sizes, head));
        if (!m_options.keepsWork)
            folder.remove();
        return {};
    }

private:
    Result<void> gather(RowStore& rows, const TuningFolder& folder) {
        const double startMs = tuneClockMs();
        ENGINE_TRY_DO(told(collect(rows, folder)));
        m_collectSeconds = (tuneClockMs() - startMs) / 1e3;
        return checkTokens(rows.trainingTokens());
    }

    /// What no later run can use would only be in its way.
    void leave(TuningFolder& folder, const RowStore& rows, const Error& error) const {
        std::error_code ignored;
        const bool isEmpty =
            rows.shardCount() == 0 &&
            !std::filesystem::exists(RowStore::unfinishedFile(folder.path()), ignored);
        const bool isUseless = rows.isComplete() || (isEmpty && !m_options.resumes);
        if (isUseless && error.code != ErrorCode::Cancelled && !m_options.keepsWork)
            folder.remove();
    }

    /// Says how to go on with what was stopped.
    Result<void> told(Result<void> result) {
        if (!result && result.error().code == ErrorCode::Cancelled)
            m_report.remark("Everything so far is kept: the same command with --resume goes on.");
        return result;
    }

    Result<void> openFiles() {
        ENGINE_TRY(ModelFiles files, openModel(m_options.model));
        m_files.emplace(std::move(files));
        m_name = m_files->path().filename().string();
        ENGINE_TRY(m_config, m_files->config());
        ENGINE_TRY(m_weights, m_files->weights());
        ENGINE_TRY(m_fingerprint, modelFingerprint(m_config, *m_weights));
        ENGINE_TRY(m_contextLength, contextLength(m_options.model, m_config));
        m_plan.threads = threadCountOf(m_options.model, chosenBackend(m_options.model.backend));
        return {};
    }

    Result<void> encode(const PromptSet& data) {
        ENGINE_TRY(m_tokenizer, openTokenizer(*m_files));
        if (!m_tokenizer)
            return Error{ErrorCode::NotFound,
                         fmt::format("{} has no tokenizer, so prompts cannot be read.",
                                     m_files->path().string()),
                         "Add tokenizer.json or tokenizer.model."};
        ENGINE_TRY_DO(checkTokenizerFits(*m_tokenizer, m_config));
        ENGINE_TRY(PromptEncoder encoder,
                   PromptEncoder::make(*m_files, *m_tokenizer, m_options.isRaw));
        if (m_options.selfPrompts > 0)
            ENGINE_TRY_DO(encoder.userTurn()); // before anything is done
        m_encoder.emplace(std::move(encoder));
        m_endIds = m_config.eosIds;
        const auto ends = m_encoder->endIds();
        m_endIds.insert(m_endIds.end(), ends.begin(), ends.end());
        m_prompts = encoded(data.prompts);
        // They follow from the model and the seed.
        if (m_options.selfPrompts > 0)
            m_prompts.hash += fmt::format("+{} of its own", m_options.selfPrompts);
        return {};
    }

    TunePrompts encoded(const std::vector<DataPrompt>& prompts) {
        return encodePrompts(prompts,
                             *m_encoder,
                             m_contextLength,
                             [this](const std::string& sentence) { m_report.remark(sentence); });
    }

    Result<TuningFolder> openFolder() const {
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
    Result<void> collect(RowStore& rows, const TuningFolder& folder) {
        if (rows.isComplete())
            return {};
        ModelOptions options = m_options.model;
        options.draftAdapter = kNoDraftAdapter;
        ENGINE_TRY(const LoadedModel model, loadModel(options, *m_files, m_contextLength, m_stop));
        const int headTokens = std::min(m_plan.head, m_config.vocabSize);
        ENGINE_TRY_DO(
            tellPrices("start", *model.transformer, adapterToMeasure(m_sizes, headTokens)));
        ENGINE_TRY_DO(addSelfPrompts(*model.transformer, folder));
        CollectPlan plan;
        plan.answerTokens = m_plan.answerTokens;
        plan.longestAnswer = m_plan.longestAnswer;
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
             .nowMs = tuneClockMs,
             .onProgress =
                 [this](const CollectProgress& progress) { m_report.collected(progress); },
             .stop = m_stop,
             .keepSeconds = m_options.checkpointMinutes * 60.0});
    }

    Result<void> addSelfPrompts(Transformer& transformer, const TuningFolder& folder) {
        if (m_options.selfPrompts == 0)
            return {};
        ENGINE_TRY(const std::vector<DataPrompt> written,
                   writeSelfPrompts({.file = folder.selfPromptsFile(),
                                     .count = m_options.selfPrompts,
                                     .seed = m_plan.seed,
                                     .transformer = transformer,
                                     .tokenizer = *m_tokenizer,
                                     .encoder = *m_encoder,
                                     .contextLength = m_contextLength,
                                     .endIds = m_endIds,
                                     .onProgress =
                                         [this](int count) {
                                             m_report.selfPrompts(count, m_options.selfPrompts);
                                         },
                                     .stop = m_stop}));
        const auto count = static_cast<int>(written.size());
        m_report.selfPrompts(count, m_options.selfPrompts);
        if (count < m_options.selfPrompts)
            m_report.remark(fmt::format("The model wrote {} prompts instead of {}; the others were "
                                        "too short, without an end, or there before.",
                                        count,
                                        m_options.selfPrompts));
        TunePrompts own = encoded(written);
        std::ranges::move(own.prompts, std::back_inserter(m_prompts.prompts));
        return {};
    }

    /// What drafting with such an adapter costs here. A backend that has no networks that draft
    /// trains all the same.
    Result<void> tellPrices(const char* when, Transformer& model, const DraftAdapter& adapter) {
        const auto measured = [&]() -> Result<DraftPrices> {
            ENGINE_TRY(const auto draft, makeDraftModel(model, adapter));
            return measurePrices(model, *draft, tuneClockMs, m_stop);
        }();
        m_hasToldPrices = measured.hasValue();
        if (measured)
            m_report.prices(when, measured.value());
        else if (measured.error().code == ErrorCode::Cancelled)
            return measured.error();
        else
            m_report.remark(measured.error().message);
        return {};
    }

    /// Where they could not be told at the start, with the adapter itself.
    Result<void> tellPricesOf(const DraftAdapter& adapter) {
        if (m_hasToldPrices)
            return {};
        ModelOptions options = m_options.model;
        options.draftAdapter = kNoDraftAdapter;
        ENGINE_TRY(const LoadedModel model, loadModel(options, *m_files, m_contextLength, m_stop));
        return tellPrices("end", *model.transformer, adapter);
    }

    Result<void> checkTokens(std::int64_t tokens) {
        if (tokens < kLeastAnswerTokens)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("Only {} answer tokens can be trained on; at least {} are "
                                     "needed.",
                                     tokens,
                                     kLeastAnswerTokens),
                         "Give more prompts, --answer-tokens or --minutes."};
        if (tokens < kFewTokens)
            m_report.remark(fmt::format("{} answer tokens are few: an adapter learns little from "
                                        "fewer than {}.",
                                        tokens,
                                        kFewTokens));
        return {};
    }

    Result<std::unique_ptr<Trainer>>
    openTrainer(const TrainerMaker& make, const DraftSizes& sizes, const HeadList& head) {
        ENGINE_TRY(const TrainerModel model,
                   readTrainerModel(m_config, *m_weights, m_plan.start == LayerStart::LastLayer));
        if (m_plan.start == LayerStart::LastLayer && model.lastLayer.empty())
            m_report.remark("The model's last layer is of another kind than that of an adapter, so "
                            "this starts at random.");
        TrainerPlan plan;
        plan.sizes = sizes;
        plan.headIds = head.ids;
        plan.unroll = m_plan.unroll;
        plan.depthDecay = m_plan.depthDecay;
        plan.streamLoss = m_plan.streamLoss;
        plan.averaging = m_plan.averaging;
        plan.seed = m_plan.seed;
        plan.threads = m_plan.threads;
        plan.usesBfloat16 = m_plan.usesBfloat16;
        return make(plan, model);
    }

    Result<TrainingResult>
    train(const RowStore& rows, const TuningFolder& folder, Trainer& trainer) {
        CheckpointFiles checkpoints(folder.path(), {folder.run(), rows.hash()});
        return trainDrafts(
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
    }

    Result<void> finish(const OutputPlace& place,
                        const RowStore& rows,
                        const TrainingResult& trained,
                        const DraftSizes& sizes,
                        const HeadList& head) {
        AdapterOrigin origin;
        origin.model = m_name;
        origin.fingerprint = m_fingerprint;
        const auto& paths = m_options.data.paths;
        for (std::size_t i = 0; i < paths.size(); ++i)
            origin.dataFiles.push_back(
                {std::filesystem::path(paths[i]).filename().string(), licenceOfData(m_options, i)});
        if (m_options.selfPrompts > 0)
            origin.dataFiles.push_back({kSelfPromptsName, "the model's own text"});
        origin.shards = rows.hashes();
        origin.answerTokens = rows.trainingTokens();
        origin.plan = m_plan;
        origin.date = utcNow();
        const DraftAdapter adapter = makeTrainedAdapter(trained, sizes, head, origin);
        ENGINE_TRY(
            const std::string bytes,
            draftAdapterBytes(adapter, adapterDescriptionOf(adapter, trained, head, origin)));
        ENGINE_TRY_DO(writeOutput(place, bytes));
        if (m_options.isUsed)
            ENGINE_TRY_DO(useAdapter(bytes, m_fingerprint));
        if (const auto told = tellPricesOf(adapter); !told) // the adapter is there all the same
            m_report.remark(told.error().message);
        m_report.done({.path = m_options.out.path,
                       .bytes = bytes.size(),
                       .answerTokens = origin.answerTokens,
                       .collectSeconds = std::max(rows.seconds(), m_collectSeconds),
                       .coverage = head.coverage},
                      trained);
        return {};
    }

    const TuneOptions& m_options;
    TuningPlan m_plan;
    std::stop_token m_stop;
    TuneReport m_report;
    std::optional<ModelFiles> m_files;
    std::string m_name;
    ModelConfig m_config;
    std::unique_ptr<WeightSource> m_weights;
    std::string m_fingerprint;
    int m_contextLength = 0;
    DraftSizes m_sizes;
    bool m_hasToldPrices = false;
    double m_collectSeconds = 0.0; // of this run; the shards know it only with a limit of time
    std::unique_ptr<Tokenizer> m_tokenizer;
    std::optional<PromptEncoder> m_encoder; // refers to m_tokenizer
    TunePrompts m_prompts;
    std::vector<TokenId> m_endIds;
};

} // namespace

Result<void> runTuning(const TuneOptions& options,
                       const TuningPlan& plan,
                       const Console& console,
                       const std::stop_token& stop) {
    return TuneRun(options, plan, console, stop).run();
}

} // namespace app
