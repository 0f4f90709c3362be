// SPDX-License-Identifier: Apache-2.0
// Perplexity of a fixed text on the cpu backend in each form of weights, against a float32
// reference on exactly the weights that are held: what is left is what rounding the activations
// does. Each form runs with each type of keys and values, and the others stand beside the first of
// them. The text: the first prompts of long_context_qa, Wikipedia passages and questions, one
// behind the other.
#include "app/commands/options/model_options.h"
#include "app/commands/options/text_options.h"
#include "app/data/prompt_source.h"
#include "app/exit_codes.h"
#include "app/streams/console.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/cpu/cpu_backend.h"
#include "tests/support/lossless/perplexity.h"
#include "tests/support/models/held_weights.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace study {

using namespace engine;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
    app::ModelOptions model;
    std::string data = "../shared/data/long_context_qa.jsonl";
    std::vector<std::string> forms = {"file", "f32", "int8", "bf16"};
    std::vector<std::string> keyValues = {"f16", "int8"};
    std::string reference = "cpu";
    double most = 0.5;
    int tokens = 2000;
    bool json = false;
};

Result<std::vector<TokenId>> textOf(const Options& options, const Tokenizer& tokenizer) {
    std::string text;
    const auto wanted = static_cast<std::size_t>(options.tokens);
    std::vector<TokenId> ids;
    ENGINE_TRY(const PromptSet set, app::readPrompts({.paths = {options.data}}));
    ENGINE_TRY_DO(app::forEachPrompt(set.prompts, [&](const DataPrompt& prompt) -> Result<bool> {
        text += prompt.record.turns.front() + "\n\n";
        ENGINE_TRY(ids, tokenizer.encode(text, true));
        return ids.size() < wanted;
    }));
    if (ids.size() < wanted)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The text has {} tokens.", ids.size()),
                     "Ask for fewer with --tokens."};
    ids.resize(wanted);
    return ids;
}

struct Found {
    double perplexity = 0.0;
    std::string arithmetic;
    std::string kvType;

    double percentAbove(const Found& base) const {
        return 100.0 * (perplexity / base.perplexity - 1.0);
    }
};

/// The same weights and text, otherwise computed.
struct Bases {
    Found inFile;     ///< float32, with the weights of the file
    Found held;       ///< float32, with exactly the weights that are held
    Found keysValues; ///< with the first type of keys and values
};

Result<Found> perplexity(const app::ModelOptions& model,
                         const ModelConfig& config,
                         const WeightSource& weights,
                         std::span<const TokenId> text) {
    ENGINE_TRY(const app::LoadedModel loaded,
               app::loadNetwork(model, {"the model", config, weights}, {}));
    ENGINE_TRY(const auto each, support::surprises(*loaded.transformer, text));
    return Found{support::perplexityOf(each),
                 loaded.transformer->arithmeticName(),
                 std::string(loaded.transformer->kvTypeName())};
}

Result<WeightForm> formNamed(const std::string& name) {
    ENGINE_TRY(const cpu::Options options, cpu::optionsOf({.settings = {{"weights", name}}}));
    return options.weights;
}

void tell(const std::string& weights,
          const Found& found,
          const Bases& bases,
          const Options& options,
          const app::Console& console) {
    const double above = found.percentAbove(bases.held);
    console.text(fmt::format("{:<5} {:<32} {:<8} {:9.4f}, float32 on the same weights {:9.4f} "
                             "({:+.3f} %, {} {} %), on the file's {:9.4f} ({:+.3f} %), with {} "
                             "{:9.4f} ({:+.3f} %)\n",
                             weights,
                             found.arithmetic,
                             found.kvType,
                             found.perplexity,
                             bases.held.perplexity,
                             above,
                             std::abs(above) <= options.most ? "within" : "NOT within",
                             options.most,
                             bases.inFile.perplexity,
                             found.percentAbove(bases.inFile),
                             bases.keysValues.kvType,
                             bases.keysValues.perplexity,
                             found.percentAbove(bases.keysValues)));
    console.jsonLine({{"event", "form"},
                      {"weights", weights},
                      {"precision", found.arithmetic},
                      {"kv", found.kvType},
                      {"tokens", options.tokens},
                      {"perplexity", found.perplexity},
                      {"reference", options.reference},
                      {"reference_perplexity", bases.held.perplexity},
                      {"percent", above},
                      {"file_perplexity", bases.inFile.perplexity},
                      {"file_percent", found.percentAbove(bases.inFile)},
                      {"kv_perplexity", bases.keysValues.perplexity},
                      {"kv_percent", found.percentAbove(bases.keysValues)}});
}

Result<void> run(const Options& options, const app::Console& console) {
    ENGINE_TRY(const ModelFiles files, app::openModel(options.model));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const auto tokenizer, app::openTokenizer(files));
    ENGINE_TRY(const auto text, textOf(options, *tokenizer));
    app::ModelOptions reference = options.model;
    reference.backend = options.reference;
    if (options.reference == "cpu")
        reference.settings = {{"weights", "f32"}, {"kv", "f32"}};
    Bases bases;
    ENGINE_TRY(bases.inFile, perplexity(reference, config, *weights, text));
    for (const std::string& name : options.forms) {
        ENGINE_TRY(const WeightForm form, formNamed(name));
        const support::HeldWeights held(*weights, form);
        ENGINE_TRY(bases.held, perplexity(reference, config, held, text));
        for (const std::string& type : options.keyValues) {
            app::ModelOptions own = options.model;
            own.settings.insert_or_assign("weights", name);
            own.settings.insert_or_assign("kv", type);
            ENGINE_TRY(const Found found, perplexity(own, config, *weights, text));
            if (type == options.keyValues.front())
                bases.keysValues = found;
            tell(name, found, bases, options, console);
        }
    }
    return {};
}

} // namespace

} // namespace study

int main(int argc, char** argv) {
    CLI::App app("Perplexity of a text in each form of weights, against a float32 reference.");
    study::Options options;
    app::addModelOptions(app, options.model);
    app.add_option("--data", options.data, "File of prompts that make the text")
        ->capture_default_str();
    app.add_option("--forms", options.forms)->delimiter(',')->capture_default_str();
    app.add_option("--kvs", options.keyValues, "Types of keys and values")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--most", options.most, "Percent from the float32 reference that are within")
        ->capture_default_str();
    app.add_option("--reference", options.reference, "Backend: cpu, plain (slow) or torch")
        ->capture_default_str();
    app.add_option("--tokens", options.tokens)->check(CLI::Range(2, 8192))->capture_default_str();
    app.add_flag("--json", options.json);
    CLI11_PARSE(app, argc, argv);
    const app::Console console(options.json);
    const auto ran = study::run(options, console);
    if (ran)
        return app::kSuccess;
    console.error(ran.error());
    return app::exitCodeOf(ran.error().code);
}
