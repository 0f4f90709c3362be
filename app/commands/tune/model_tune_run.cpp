// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/model_tune_run.h"

#include "app/program_paths.h"
#include "engine/tuning/model/mask_token.h"
#include "engine/tuning/model/tuned_model.h"
#include "engine/tuning/model_numbers.h"
#include "engine/tuning/trainer_registry.h"

#include <algorithm>
#include <limits>
#include <set>

namespace app {

using namespace engine;

namespace {

/// Longer texts would need too much memory in training.
constexpr int kMostContext = 2048;

constexpr const char* kRejected = "-rejected";

class ModelTuneRun {
public:
    explicit ModelTuneRun(TuneWork& work)
        : m_work(work) {}

    Result<void> run() {
        const TuneOptions& options = m_work.options();
        ModelTrainerMaker makeTrainer;
        if (!options.onlyCollects) {
            ENGINE_TRY(makeTrainer, findModelTrainer(moduleFolder()));
        }
        for (const bool isKept : {true, false})
            ENGINE_TRY_DO(checkOutputFolder(placeFor(isKept)));
        m_place = placeAsOfNow(placeFor(true));
        ENGINE_TRY(const PromptSet data, m_work.readData());
        ENGINE_TRY_DO(m_work.openFiles(kMostContext));
        ENGINE_TRY_DO(checkModelPlan(trainerPlan(anyToken()), m_work.config()));
        ENGINE_TRY_DO(m_work.encode(data));
        ENGINE_TRY_DO(planModel());
        const ModelTrainerPlan terms = trainerPlan(m_plan.maskToken);
        const std::int64_t trained = trainedWeights(terms, m_work.config());
        ENGINE_TRY_DO(m_work.checkFits(trained));
        ENGINE_TRY(TuningFolder folder, m_work.openFolder());
        if (const auto same = checkTokenizer(folder, data); !same) {
            if (!options.resumes && !options.retrains)
                folder.remove();
            return same;
        }
        m_work.report().start(
            {m_work.name(), m_work.fingerprint(), m_work.plan(), trained, m_work.estimate()});
        ENGINE_TRY(RowStore rows, RowStore::open(folder.path(), folder.rowsRun()));
        ENGINE_TRY_DO(m_work.gather(rows, folder, m_plan.maskToken));
        if (options.onlyCollects) {
            m_work.report().collectingDone(folder.path(), rows.answerTokens());
            return {};
        }
        ENGINE_TRY(const TrainingResult result, train(makeTrainer, terms, rows, folder));
        ENGINE_TRY_DO(m_work.told(finish(rows, folder, result)));
        if (result.failure)
            return *result.failure;
        if (!options.keepsWork)
            folder.remove();
        return {};
    }

private:
    /// --overwrite is said of the output, and not of where a model goes that is not kept.
    OutputPlace placeFor(bool isKept) const {
        const TuneOptions& options = m_work.options();
        OutputPlace place =
            outputPlace(options.out, options.model, options.data, {}, {}, isTunedModel);
        if (!isKept) {
            place.path += kRejected;
            place.isOwn = isRejectedModel;
            place.mayOverwrite = false;
            place.overwriteOption.clear();
        }
        return place;
    }

    /// A token that every vocabulary has; for checks before the mask is known.
    static TokenId anyToken() { return 0; }

    int judgedExit() const {
        const int exit = m_work.plan().exit;
        const int layers = m_work.config().layerCount;
        return exit > 0 ? exit : std::min(std::max(2, layers / 2), layers - 1);
    }

    ModelTrainerPlan trainerPlan(TokenId maskToken) const {
        const TuningPlan& plan = m_work.plan();
        ModelTrainerPlan terms;
        terms.recipe = plan.recipe;
        terms.isFull = plan.isFull;
        terms.rank = plan.rank;
        terms.averaging = plan.averaging;
        terms.seed = plan.seed;
        terms.threads = plan.threads;
        terms.dropout = plan.dropout;
        terms.exitScale = plan.exitScale;
        terms.rotation = plan.rotation;
        terms.judgedExit = judgedExit();
        terms.maskToken = maskToken;
        terms.masks = plan.masks;
        terms.places = plan.places;
        terms.plainShare = plan.plainShare;
        terms.isSoft = plan.isSoft;
        return terms;
    }

    /// Says what cannot be written before there is any work for it.
    Result<void> planModel() {
        TokenId maskToken = kNoToken;
        if (m_work.plan().recipe == TuningRecipe::Space) {
            std::set<TokenId> used(m_work.endIds().begin(), m_work.endIds().end());
            const TunePrompts probes = encodedProbes(m_work.encoder());
            for (const TunePrompts* prompts : {&m_work.prompts(), &probes})
                for (const TuningPrompt& prompt : prompts->prompts)
                    used.insert(prompt.tokens.begin(), prompt.tokens.end());
            ENGINE_TRY(const auto text, m_work.files().chatTemplate());
            const std::string chatTemplate = text ? text->text : std::string();
            ENGINE_TRY(maskToken,
                       chooseMaskToken({.config = m_work.config(),
                                        .tokenizer = m_work.tokenizer(),
                                        .chatTemplate = chatTemplate,
                                        .usedTokens = used},
                                       m_work.plan().maskToken));
        }
        ENGINE_TRY(m_plan,
                   planTunedModel(m_work.files(), m_work.config(), m_work.weights(), maskToken));
        return {};
    }

    /// What cannot be encoded is left out.
    static TunePrompts encodedProbes(const PromptEncoder& encoder) {
        return encodePrompts(
            probePrompts(), encoder, std::numeric_limits<int>::max(), [](const std::string&) {});
    }

    /// What is going to be written makes the same tokens of the prompts.
    Result<void> checkTokenizer(const TuningFolder& folder, const PromptSet& data) {
        ENGINE_TRY_DO(writeTunedFrame(folder.modelPath(), m_plan));
        ENGINE_TRY(const ModelFiles files, ModelFiles::open(folder.modelPath()));
        ENGINE_TRY(const auto tokenizer, openTokenizer(files));
        ENGINE_CHECK(tokenizer != nullptr, "no tokenizer among {} files", m_plan.files.size());
        ENGINE_TRY(const PromptEncoder encoder,
                   PromptEncoder::make(files, *tokenizer, m_work.options().isRaw));
        const TunePrompts again =
            encodePrompts(data.prompts, encoder, m_work.contextLength(), [](const std::string&) {});
        if (again.hash == m_work.prompts().hash &&
            encodedProbes(encoder).hash == encodedProbes(m_work.encoder()).hash)
            return {};
        return Error{ErrorCode::Unsupported,
                     fmt::format("The tokenizer of {} cannot be written as a model folder: its "
                                 "copy makes other tokens of texts.",
                                 m_work.files().path().string()),
                     "Use the model's Hugging Face folder."};
    }

    Result<TrainingResult> train(const ModelTrainerMaker& make,
                                 const ModelTrainerPlan& terms,
                                 const RowStore& rows,
                                 const TuningFolder& folder) {
        ENGINE_TRY(ModelNumbers numbers, readModelNumbers(m_work.config(), m_work.weights()));
        ENGINE_TRY(const auto trainer, make(terms, std::move(numbers)));
        return m_work.train(rows, folder, *trainer);
    }

    /// Of these files, on the same texts each time.
    Result<TextReading> read(const ModelFiles& files, const RowStore& rows, bool isHeldOut) const {
        ENGINE_TRY(const LoadedModel model, m_work.load(files));
        const TokenId named = model.config.maskTokenId;
        return readTexts(*model.transformer,
                         rows,
                         {.split = isHeldOut ? RowSplit::Validation : RowSplit::Training,
                          .seed = m_work.plan().seed},
                         m_plan.maskToken == kNoToken ? named : m_plan.maskToken,
                         m_work.stop());
    }

    Result<void>
    finish(const RowStore& rows, const TuningFolder& folder, const TrainingResult& trained) {
        ENGINE_TRY(const TextReading before, read(m_work.files(), rows, trained.isHeldOut));
        ENGINE_TRY(
            const std::uint64_t bytes,
            writeTunedModel(
                folder.modelPath(), m_plan, m_work.config(), m_work.weights(), trained.weights));
        ENGINE_TRY(const ModelFiles written, ModelFiles::open(folder.modelPath()));
        ENGINE_TRY(const TextReading after, read(written, rows, trained.isHeldOut));
        const ModelQuality quality = compareReadings(before, after, trained.isHeldOut);
        const RunOrigin origin = m_work.origin(rows);
        ENGINE_TRY_DO(
            writeTuningFile(folder.modelPath(), m_plan, origin, judgedExit(), trained, quality));
        const OutputPlace place = quality.isKept() ? m_place : placeFor(false);
        ENGINE_TRY_DO(publishFolder(place, folder.modelPath()));
        if (!quality.isKept())
            m_work.report().note(fmt::format("{} So the model was written to {}, and nothing to "
                                             "{}.",
                                             quality.failing(),
                                             place.path.string(),
                                             m_work.options().out.path));
        m_work.report().done({.path = place.path.string(),
                              .bytes = bytes,
                              .answerTokens = origin.answerTokens,
                              .collectSeconds = m_work.collectSeconds(rows),
                              .maskToken = m_plan.maskToken,
                              .quality = quality},
                             trained);
        return {};
    }

    TuneWork& m_work;
    OutputPlace m_place; // of a model that is kept
    TunedModelPlan m_plan;
};

} // namespace

Result<void> runModelTuning(TuneWork& work) { return ModelTuneRun(work).run(); }

} // namespace app
