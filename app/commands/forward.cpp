// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"
#include "app/number_check.h"
#include "app/streams/counted.h"
#include "engine/decoding/round/cached_sequence.h"
#include "engine/model/skip_sets/skip_set.h"

#include <algorithm>
#include <numeric>

namespace app {

using namespace engine;

namespace {

struct ForwardOptions {
    ModelOptions model;
    std::string ids;
    std::string skipFile;
    std::optional<std::string> skipEntry;
    std::optional<int> exitAfter;
    std::string parents;
    int top = 5;
};

Result<LayerPlan> makePlan(const ForwardOptions& options, const ModelConfig& config) {
    LayerPlan plan = LayerPlan::full(config.layerCount);
    if (!options.skipFile.empty()) {
        ENGINE_TRY(plan, readSkipSetFile(options.skipFile, config.layerCount, options.skipEntry));
    }
    if (options.exitAfter && (*options.exitAfter < 0 || *options.exitAfter >= config.layerCount))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("--exit-after names layer {}, but the model's layers are 0 to {}.",
                                 *options.exitAfter,
                                 config.layerCount - 1),
                     "Give the number of the last layer to run."};
    plan.exitAfterLayer = options.exitAfter.value_or(plan.exitAfterLayer);
    return plan;
}

Result<std::vector<int>> parseParents(const std::string& text, std::size_t idCount) {
    if (text.empty())
        return std::vector<int>();
    ENGINE_TRY(const std::vector<int> parents, parseIds(text, "--parents"));
    if (parents.size() > idCount)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("--parents gives {} nodes, but --ids only {}.",
                                 parents.size(),
                                 counted(idCount, "id")),
                     "The last ids are the nodes of the tree, and each node needs one parent."};
    for (std::size_t node = 0; node < parents.size(); ++node)
        if (parents[node] < -1 || parents[node] >= static_cast<int>(node))
            return Error{ErrorCode::InvalidInput,
                         fmt::format("--parents: node {} has parent {}.", node, parents[node]),
                         "A parent is an earlier node, counted from 0, or -1 for the prefix."};
    return parents;
}

/// Runs ids through a model and prints the most probable next tokens at every position.
class ForwardRun {
public:
    ForwardRun(const ForwardOptions& options,
               CommandContext& context,
               LoadedModel& model,
               LayerPlan plan)
        : m_top(options.top)
        , m_context(context)
        , m_model(model)
        , m_plan(std::move(plan))
        , m_digits(model.transformer->precision() == Precision::F64 ? 17 : 9) {}

    Result<void>
    run(std::span<const TokenId> ids, std::span<const int> parents, std::stop_token stop) {
        ENGINE_TRY(KvCache cache,
                   m_model.transformer->makeCache(static_cast<Position>(ids.size())));
        const std::size_t prefix = ids.size() - parents.size();
        for (std::size_t begin = 0; begin < prefix; begin += kPrefillRows) {
            if (stop.stop_requested())
                return cancelledError();
            const auto piece =
                ids.subspan(begin, std::min<std::size_t>(kPrefillRows, prefix - begin));
            const int rows = static_cast<int>(piece.size());
            ENGINE_TRY_DO(pass(piece, AttentionLayout::chain(cache.length(), rows), cache));
            cache.commit(rows);
        }
        if (parents.empty())
            return {};
        return pass(
            ids.last(parents.size()), AttentionLayout::tree(cache.length(), parents), cache);
    }

private:
    Result<void>
    pass(std::span<const TokenId> tokens, const AttentionLayout& layout, KvCache& cache) {
        std::vector<int> rows(tokens.size());
        std::iota(rows.begin(), rows.end(), 0);
        ENGINE_TRY(
            ForwardResult result,
            m_model.transformer->forward(
                {.plan = m_plan, .layout = layout, .tokens = tokens, .logitRows = rows}, cache));
        for (const int row : rows) {
            ENGINE_TRY(const auto logits, result.logits.row(row));
            printRow(layout.position(row), tokens[static_cast<std::size_t>(row)], logits);
        }
        return {};
    }

    void printRow(Position position, TokenId token, std::span<const double> logits) const {
        std::vector<TokenId> order(logits.size());
        std::iota(order.begin(), order.end(), 0);
        const auto top = std::min<std::size_t>(static_cast<std::size_t>(m_top), order.size());
        const auto better = [logits](TokenId a, TokenId b) {
            const double left = logits[static_cast<std::size_t>(a)];
            const double right = logits[static_cast<std::size_t>(b)];
            return left != right ? left > right : a < b;
        };
        std::partial_sort(
            order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(), better);
        std::string json;
        std::string words;
        for (const TokenId id : std::span(order).first(top)) {
            const double logit = logits[static_cast<std::size_t>(id)];
            json += fmt::format(
                "{}{{\"id\":{},\"logit\":{:.{}g}}}", json.empty() ? "" : ",", id, logit, m_digits);
            words += fmt::format("  {} ({:.4f})", id, logit);
        }
        if (!m_context.console.isJson())
            m_context.console.line(fmt::format("{:>5} {:>7} ->{}", position, token, words));
        m_context.console.rawJsonLine(
            fmt::format("{{\"position\":{},\"token\":{},\"top\":[{}]}}", position, token, json));
    }

    int m_top;
    CommandContext& m_context;
    LoadedModel& m_model;
    LayerPlan m_plan;
    int m_digits; // significant digits that distinguish any two numbers of the precision
};

Result<void> runForward(const ForwardOptions& options, CommandContext& context) {
    const std::stop_token stop = context.interrupt.beginWork();
    ENGINE_TRY(const auto ids, parseIds(options.ids, "--ids"));
    ENGINE_TRY(const auto parents, parseParents(options.parents, ids.size()));
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY_DO(checkPrompt(ids, config.vocabSize, config.contextLength + 1));
    ENGINE_TRY(LayerPlan plan, makePlan(options, config));
    ENGINE_TRY(LoadedModel model,
               loadModel(options.model, files, static_cast<Position>(ids.size()), stop));
    return ForwardRun(options, context, model, std::move(plan)).run(ids, parents, stop);
}

} // namespace

void addForwardCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("forward", "Print the most probable next tokens at each position");
    const auto options = std::make_shared<ForwardOptions>();
    addModelOptions(*command, options->model);
    command->add_option("--ids", options->ids, "Token ids: 1,2,3")->required();
    CLI::Option* skip = command->add_option(
        "--skip",
        options->skipFile,
        "JSON file of sublayers to skip, 0-based: {\"attention\":[1,2],\"mlp\":[3]}");
    command
        ->add_option(
            "--skip-entry", options->skipEntry, "Name of the skip set, if the file holds several")
        ->needs(skip);
    command
        ->add_option("--exit-after",
                     options->exitAfter,
                     "Exit after this 0-based layer: apply the final norm and the head to its "
                     "output")
        ->transform(wholeFrom(0));
    command->add_option(
        "--parents",
        options->parents,
        "Treat the last ids as nodes of a tree: the number of each node's parent among them, -1 = "
        "the prefix");
    command->add_option("--top", options->top, "How many tokens to print for each position")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    command->footer("Example: swift-run forward --ids 1,2,3,4,5 --parents=-1,-1,0 --top 3");
    addRun(*command, chosen, options, runForward);
}

} // namespace app
