// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/result/trained_adapter.h"

#include "engine/base/modules/run_time_module.h"
#include "engine/tuning/result/run_origin_json.h"

namespace engine {

namespace {

using DescriptionJson = nlohmann::ordered_json;

DescriptionJson sizesJson(const DraftSizes& sizes) {
    return {{"hidden", sizes.hiddenSize},
            {"heads", sizes.headCount},
            {"kv_heads", sizes.kvHeadCount},
            {"head_size", sizes.headDim},
            {"mlp", sizes.mlpSize},
            {"layers", sizes.layerCount},
            {"window", sizes.window},
            {"streams", 1},
            {"epsilon", sizes.normEpsilon},
            {"theta", sizes.ropeTheta}};
}

DescriptionJson adapterMetricsJson(const TrainingResult& result) {
    DescriptionJson tasks = DescriptionJson::object();
    for (const auto& [task, hits] : result.best.byTask)
        tasks[task] = {{"acceptance", acceptanceOf(hits)},
                       {"tokens_per_round", tokensPerRound(hits)},
                       {"drafts", hits.tried[0]}};
    return {{"acceptance", acceptanceOf(result.best.all)},
            {"tokens_per_round", result.best.tokensPerRound()},
            {"held_out", result.isHeldOut},
            {"validation_rows", result.best.rows},
            {"step", result.best.step},
            {"tasks", std::move(tasks)}};
}

DescriptionJson trainingJson(const TrainingResult& result, const TuningPlan& plan) {
    return {{"seed", plan.seed},
            {"profile", plan.profile},
            {"steps", result.steps},
            {"step_rows", plan.stepRows},
            {"epochs", plan.epochs},
            {"rate", plan.rate},
            {"losses",
             {{"kind", "likelihood, then overlap"},
              {"unroll", plan.unroll},
              {"depth_decay", plan.depthDecay},
              {"stream", plan.streamLoss}}},
            {"averaging", plan.averaging},
            {"start", plan.start == LayerStart::Random ? "random" : "last_layer"},
            {"precision", plan.usesBfloat16 ? "bfloat16" : "float32"},
            {"threads", plan.threads},
            {"build", std::string(buildId())}};
}

} // namespace

DraftAdapter makeTrainedAdapter(const TrainingResult& result,
                                const DraftSizes& sizes,
                                const HeadList& head,
                                const RunOrigin& origin) {
    DraftAdapter adapter;
    adapter.fingerprints = {origin.fingerprint};
    adapter.sizes = sizes;
    adapter.headIds = head.ids;
    adapter.about = fmt::format(
        "Trained for {} on {} tokens of its own answers.", origin.model, origin.answerTokens);
    for (const auto& [network, tensor] : adapterTensors(sizes)) {
        const auto found = result.weights.find(tensor.name);
        ENGINE_CHECK(found != result.weights.end() && found->second.size() == tensor.count(),
                     "the trainer gives no tensor {} of {} numbers",
                     tensor.name,
                     tensor.count());
        adapter.tensors[network] = found->second;
    }
    return adapter;
}

std::string adapterDescriptionOf(const DraftAdapter& adapter,
                                 const TrainingResult& result,
                                 const HeadList& head,
                                 const RunOrigin& origin) {
    const DescriptionJson description = {
        {"version", 1},
        {"recipe", "draft"},
        {"fingerprints", adapter.fingerprints},
        {"sizes", sizesJson(adapter.sizes)},
        {"head",
         {{"kind", "list"}, {"tokens", adapter.headIds.size()}, {"coverage", head.coverage}}},
        {"about", adapter.about},
        {"data", dataJson(origin)},
        {"training", trainingJson(result, origin.plan)},
        {"metrics", adapterMetricsJson(result)},
        {"date", origin.date}};
    return description.dump(-1, ' ', true, DescriptionJson::error_handler_t::replace);
}

} // namespace engine
