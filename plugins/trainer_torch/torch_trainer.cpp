// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/torch_trainer.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/network/draft_block.h"
#include "plugins/trainer_torch/network/plan_check.h"
#include "plugins/trainer_torch/optimised_trainer.h"
#include "plugins/trainer_torch/rows/pack_tensors.h"
#include "plugins/trainer_torch/torch_calls.h"
#include "plugins/trainer_torch/training_loss.h"

#include <cmath>
#include <numeric>

namespace trainer_torch {

using namespace engine;

namespace {

class TorchTrainer final : public OptimisedTrainer {
public:
    TorchTrainer(const TrainerPlan& plan, const TrainerModel& model)
        : OptimisedTrainer(initialWeights(plan, model), plan.averaging, plan.threads)
        , m_plan(plan)
        , m_frozen(freeze(plan, model, at::kFloat))
        , m_reader(m_plan.sizes, m_frozen)
        , m_training(m_plan.sizes, m_frozen, plan.usesBfloat16 ? at::kBFloat16 : at::kFloat)
        , m_drafting(m_plan.sizes, m_frozen, at::kFloat) {}

private:
    void check(std::span<const TrainingText> texts) const override {
        checkTexts(texts, m_plan.sizes.hiddenSize, static_cast<int>(m_frozen.headRows.size()));
    }

    PackTerms packTerms(int depths) const {
        return {.depths = depths, .layers = m_plan.sizes.layerCount, .window = m_plan.sizes.window};
    }

    /// Gradients of all packs add up before the weights change.
    Result<std::optional<StepLosses>> addGradients(std::span<const TrainingText> texts,
                                                   const StepTerms& terms) override {
        const std::vector<Pack> packs = packRows(texts, packTerms(m_plan.unroll));
        if (packs.empty())
            return std::optional<StepLosses>();
        StepLosses losses;
        const auto weights = rowWeights(m_plan, chainTotals(packs, m_plan.unroll));
        for (const Pack& pack : packs) {
            if (terms.stop.stop_requested())
                return stoppedStep();
            const PackLoss loss = packLoss(m_training,
                                           optimiser().weights(),
                                           m_reader.read(pack, texts, m_plan.unroll),
                                           weights,
                                           terms,
                                           m_plan.sizes.normEpsilon);
            if (!std::isfinite(loss.total.item<double>()))
                return notFinite("the loss");
            losses.likelihood += loss.likelihood.item<double>();
            losses.overlap += loss.overlap.item<double>();
            losses.stream += loss.stream.item<double>();
            loss.total.backward();
        }
        return std::optional(losses);
    }

    DraftHits judge(const TrainingText& text) const override {
        const std::span<const TrainingText> texts(&text, 1);
        const BlockWeights weights = m_drafting.prepare(optimiser().average());
        DraftHits hits;
        for (const Pack& pack : packRows(texts, packTerms(kDepths)))
            addHits(weights, m_reader.read(pack, texts, kDepths), hits);
        return hits;
    }

    /// Rows whose tokens so far are those of the text have read what drafting would have read.
    void addHits(const BlockWeights& weights, const PackTensors& pack, DraftHits& hits) const {
        const std::vector<at::Tensor> streams = m_drafting.unroll(weights, pack);
        std::vector<std::int64_t> alive(toSize(pack.chainRows.numel()));
        std::iota(alive.begin(), alive.end(), 0);
        for (std::size_t depth = 0; depth < streams.size(); ++depth) {
            const std::int64_t count = streams[depth].size(0);
            std::erase_if(alive, [count](std::int64_t row) { return row >= count; });
            if (alive.empty())
                return;
            hits.tried[depth] += static_cast<std::int64_t>(alive.size());
            const at::Tensor best =
                m_drafting.logits(weights, streams[depth].index_select(0, wholeNumbers(alive)))
                    .argmax(1);
            const auto* drafted = best.const_data_ptr<std::int64_t>();
            std::vector<std::int64_t> right;
            for (const std::int64_t row : alive)
                if (m_frozen.headIds[toSize(*drafted++)] ==
                    pack.depths[depth].following[toSize(row)])
                    right.push_back(row);
            alive = std::move(right);
            hits.hits[depth] += static_cast<std::int64_t>(alive.size());
        }
    }

    TrainerPlan m_plan;
    FrozenModel m_frozen;
    PackReader m_reader;
    DraftBlock m_training;
    DraftBlock m_drafting; // whatever the precision of training
};

} // namespace

Result<std::unique_ptr<Trainer>> makeTorchTrainer(const TrainerPlan& plan,
                                                  const TrainerModel& model) {
    ENGINE_TRY_DO(checkPlan(plan, model));
    return guarded([&]() -> Result<std::unique_ptr<Trainer>> {
        const TorchScope scope(plan.threads);
        return std::unique_ptr<Trainer>(std::make_unique<TorchTrainer>(plan, model));
    });
}

} // namespace trainer_torch
