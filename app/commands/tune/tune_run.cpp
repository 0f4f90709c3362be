// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_run.h"

#include "app/commands/tune/model_tune_run.h"
#include "app/commands/tune/tune_work.h"
#include "app/program_paths.h"
#include "engine/loading/drafts/draft_adapter.h"
#include "engine/loading/drafts/draft_adapter_writer.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "engine/tuning/model_numbers.h"
#include "engine/tuning/result/draft_prices.h"
#include "engine/tuning/result/trained_adapter.h"
#include "engine/tuning/trainer_registry.h"
#include "engine/tuning/training/evaluation.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace app {

using namespace engine;

namespace {

/// An adapter of whatever model; for OutputPlace::isOwn.
Result<bool> isDraftAdapter(const std::filesystem::path& path) {
    const auto description = readDraftDescription(path);
    if (!description && description.error().code == ErrorCode::Io)
        return description.error();
    return description.hasValue();
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
    const auto used = readTextFile(path, kMostAdapterBytes);
    if (std::filesystem::exists(path, failure) && !(used && used.value() == bytes)) {
        ENGINE_TRY_DO(keepUsedAdapter(path));
    }
    return writeFileAtomically(path, bytes);
}

/// What drafts for a model without this run: the user's adapter, else the one that came with the
/// program. None where there is none that can be used.
std::optional<DraftAdapter> presentAdapter(const ModelConfig& config,
                                           const std::string& fingerprint) {
    const std::filesystem::path users = usersDraftAdapter(fingerprint);
    for (const std::filesystem::path& path : {users, adapterFolder() / users.filename()}) {
        auto read = readDraftAdapter(path);
        if (read && checkFits(read.value(), config, fingerprint))
            return std::move(read).value();
    }
    return std::nullopt;
}

/// A pause makes a pass longer, and the shortest counts: so pauses need not be left out, which
/// could make one shorter.
double passClockMs() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

/// One run of the recipe draft.
class AdapterTuneRun {
public:
    explicit AdapterTuneRun(TuneWork& work)
        : m_work(work) {}

    Result<void> run() {
        const TuneOptions& options = m_work.options();
        TrainerMaker makeTrainer;
        if (!options.onlyCollects) {
            ENGINE_TRY(makeTrainer, findTrainer(moduleFolder()));
        }
        OutputPlace place =
            outputPlace(options.out, options.model, options.data, {}, {}, isDraftAdapter);
        ENGINE_TRY_DO(checkOutput(place));
        place = placeAsOfNow(std::move(place));
        ENGINE_TRY(const PromptSet data, m_work.readData());
        ENGINE_TRY_DO(m_work.openFiles(std::numeric_limits<int>::max()));
        ENGINE_TRY_DO(m_work.encode(data));
        const TuningPlan& plan = m_work.plan();
        ENGINE_TRY(const DraftSizes sizes,
                   draftSizesFor(m_work.config(), plan.layers, plan.window));
        ENGINE_TRY_DO(m_work.checkFits(trainedWeights(sizes)));
        ENGINE_TRY(TuningFolder folder, m_work.openFolder());
        m_work.report().start(
            {m_work.name(), m_work.fingerprint(), plan, trainedWeights(sizes), m_work.estimate()});
        ENGINE_TRY(RowStore rows, RowStore::open(folder.path(), folder.rowsRun()));
        const int headTokens = std::min(plan.head, m_work.config().vocabSize);
        ENGINE_TRY_DO(m_work.gather(rows, folder, kNoToken, [&](Transformer& model) {
            return tellPrices("start", model, adapterToMeasure(sizes, headTokens));
        }));
        if (options.onlyCollects) {
            m_work.report().collectingDone(folder.path(), rows.answerTokens());
            return {};
        }
        ENGINE_TRY(const HeadList head, makeHeadList(rows, plan.head, m_work.config().vocabSize));
        ENGINE_TRY(const TrainingResult trained, train(makeTrainer, rows, folder, sizes, head));
        ENGINE_TRY(const std::string bytes, write(place, rows, trained, sizes, head));
        if (options.isUsed)
            ENGINE_TRY_DO(m_work.told(use(makeTrainer, rows, trained, bytes)));
        tell(rows, trained, head, bytes.size());
        if (trained.failure)
            return *trained.failure;
        if (!options.keepsWork)
            folder.remove();
        return {};
    }

private:
    /// What drafting with such an adapter costs here. A backend that has no networks that draft
    /// trains all the same.
    Result<void> tellPrices(const char* when, Transformer& model, const DraftAdapter& adapter) {
        const auto measured = [&]() -> Result<DraftPrices> {
            ENGINE_TRY(const auto draft, makeDraftModel(model, adapter));
            return measurePrices(model, *draft, passClockMs, m_work.stop());
        }();
        m_hasReportedPrices = measured.hasValue();
        if (measured)
            m_work.report().prices(when, measured.value());
        else if (measured.error().code == ErrorCode::Cancelled)
            return measured.error();
        else
            m_work.report().note(measured.error().message);
        return {};
    }

    /// Where they could not be told at the start, with the adapter itself.
    Result<void> tellPricesOf(const DraftAdapter& adapter) {
        if (m_hasReportedPrices)
            return {};
        ENGINE_TRY(const LoadedModel model, m_work.load(m_work.files()));
        return tellPrices("end", *model.transformer, adapter);
    }

    /// `start`: see TrainerPlan.
    Result<std::unique_ptr<Trainer>> openTrainer(const TrainerMaker& make,
                                                 const DraftSizes& sizes,
                                                 std::vector<TokenId> headIds,
                                                 NamedArrays start = {}) {
        const TuningPlan& plan = m_work.plan();
        const bool wantsLastLayer = plan.start == LayerStart::LastLayer && start.empty();
        ENGINE_TRY(const TrainerModel model,
                   readTrainerModel(m_work.config(), m_work.weights(), wantsLastLayer));
        if (wantsLastLayer && model.lastLayer.empty())
            m_work.report().note(
                "The model's last layer is of another kind than that of an adapter, so "
                "this starts at random.");
        TrainerPlan terms;
        terms.sizes = sizes;
        terms.headIds = std::move(headIds);
        terms.unroll = plan.unroll;
        terms.depthDecay = plan.depthDecay;
        terms.streamLoss = plan.streamLoss;
        terms.averaging = plan.averaging;
        terms.seed = plan.seed;
        terms.threads = plan.threads;
        terms.usesBfloat16 = plan.usesBfloat16;
        terms.start = std::move(start);
        return make(terms, model);
    }

    /// The trainer's memory is free behind it.
    Result<TrainingResult> train(const TrainerMaker& make,
                                 const RowStore& rows,
                                 const TuningFolder& folder,
                                 const DraftSizes& sizes,
                                 const HeadList& head) {
        ENGINE_TRY(const auto trainer, openTrainer(make, sizes, head.ids));
        return m_work.train(rows, folder, *trainer, [&](const Evaluation& best) {
            keepBest(folder.bestFile(), *trainer, rows, sizes, head, best);
        });
    }

    /// So that the state can be used while the training goes on. A training is not lost for it.
    void keepBest(const std::filesystem::path& file,
                  const Trainer& trainer,
                  const RowStore& rows,
                  const DraftSizes& sizes,
                  const HeadList& head,
                  const Evaluation& best) {
        const TrainingResult state = {.weights = trainer.result(),
                                      .best = best,
                                      .isHeldOut = !rows.texts(RowSplit::Validation).empty(),
                                      .steps = best.step};
        const RunOrigin origin = m_work.origin(rows);
        const DraftAdapter adapter = makeTrainedAdapter(state, sizes, head, origin);
        auto bytes = draftAdapterBytes(adapter, adapterDescriptionOf(adapter, state, head, origin));
        const auto written = bytes ? writeFileAtomically(file, bytes.value())
                                   : Result<void>(std::move(bytes).error());
        if (written)
            m_work.report().keptBest(file, best, state.isHeldOut);
        else
            m_work.report().note(written.error().message);
    }

    /// Returns the bytes of the file.
    Result<std::string> write(const OutputPlace& place,
                              const RowStore& rows,
                              const TrainingResult& trained,
                              const DraftSizes& sizes,
                              const HeadList& head) {
        const RunOrigin origin = m_work.origin(rows);
        const DraftAdapter adapter = makeTrainedAdapter(trained, sizes, head, origin);
        ENGINE_TRY(
            std::string bytes,
            draftAdapterBytes(adapter, adapterDescriptionOf(adapter, trained, head, origin)));
        ENGINE_TRY_DO(writeOutput(place, bytes));
        if (const auto told = tellPricesOf(adapter); !told) // the adapter is there all the same
            m_work.report().note(told.error().message);
        return bytes;
    }

    /// On the answers on which the new adapter was judged.
    Result<Evaluation>
    judge(const TrainerMaker& make, const RowStore& rows, const DraftAdapter& adapter) {
        NamedArrays start;
        for (const auto& [network, tensor] : adapterTensors(adapter.sizes))
            start[tensor.name] = adapter.tensors.at(network);
        ENGINE_TRY(const auto trainer,
                   openTrainer(make, adapter.sizes, adapter.headIds, std::move(start)));
        const TuningPlan& plan = m_work.plan();
        const std::vector<TextPlace> texts =
            textsToEvaluate(rows, RowSplit::Validation, plan.validationRows, plan.seed);
        return evaluateDrafts(*trainer, rows, texts, m_work.stop());
    }

    /// The better one drafts from now on: the new adapter or the one that does so already.
    Result<void> use(const TrainerMaker& make,
                     const RowStore& rows,
                     const TrainingResult& trained,
                     const std::string& bytes) {
        const std::string& fingerprint = m_work.fingerprint();
        const auto present = presentAdapter(m_work.config(), fingerprint);
        if (!present)
            return useAdapter(bytes, fingerprint);
        if (!trained.isHeldOut) {
            m_work.report().note("No answers are held out, so nothing says whether the new adapter "
                                 "is better than the one in use, which stays.");
            return {};
        }
        const DraftSizes& sizes = present->sizes;
        const int context = m_work.contextLength();
        const std::int64_t reach =
            sizes.window == 0 ? context : std::int64_t{sizes.layerCount} * (sizes.window - 1) + 1;
        if (reach > m_work.plan().promptRows(context)) {
            m_work.report().note("The adapter in use looks further back than the answers were "
                                 "collected, so the two cannot be compared, and it stays.");
            return {};
        }
        // Both as their files hold them.
        ENGINE_TRY(const DraftAdapter made, readDraftAdapter(m_work.options().out.path));
        ENGINE_TRY(const Evaluation own, judge(make, rows, made));
        ENGINE_TRY(const Evaluation others, judge(make, rows, *present));
        const bool isBetter = own.tokensPerRound() >= others.tokensPerRound();
        m_work.report().note(
            fmt::format("On the held-out answers the new adapter writes {:.3f} "
                        "tokens a round and the one in use {:.3f}, so {}.",
                        own.tokensPerRound(),
                        others.tokensPerRound(),
                        isBetter ? "the new one was put to use" : "that one stayed in use"));
        return isBetter ? useAdapter(bytes, fingerprint) : Result<void>();
    }

    void tell(const RowStore& rows,
              const TrainingResult& trained,
              const HeadList& head,
              std::size_t bytes) {
        m_work.report().done({.path = m_work.options().out.path,
                              .bytes = bytes,
                              .answerTokens = rows.trainingTokens(),
                              .collectSeconds = m_work.collectSeconds(rows),
                              .coverage = head.coverage},
                             trained);
    }

    TuneWork& m_work;
    bool m_hasReportedPrices = false;
};

} // namespace

Result<void> runTuning(const TuneOptions& options,
                       const TuningPlan& plan,
                       const Console& console,
                       const std::stop_token& stop) {
    TuneWork work(options, plan, console, stop);
    return plan.changesModel() ? runModelTuning(work) : AdapterTuneRun(work).run();
}

} // namespace app
