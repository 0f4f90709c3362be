// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lossless/lossless_case.h"

#include "engine/loading/model_files.h"
#include "engine/model/skip_sets/skip_set.h"
#include "tests/support/few_cases.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/models/plain_model.h"

#include <QDir>

#include <algorithm>

namespace support {

using namespace engine;

namespace {

constexpr int kLeastForJson = 128; // tokens of a vocabulary: all of ASCII and some more

struct Answer {
    std::vector<TokenId> tokens;
    std::string fault;
    int drafted = 0;
    int accepted = 0;
};

/// Whether the cached numbers equal those of a new prefill.
bool equalsFreshPrefill(SpyTransformer& spy, std::span<const TokenId> tokens) {
    std::vector<std::byte> found = liveBytes(*spy.seenCache);
    auto cache = spy.makeCache(static_cast<Position>(tokens.size()));
    ENGINE_CHECK(cache.hasValue(), "no memory");
    CachedSequence fresh(std::move(cache).value());
    ENGINE_CHECK(fresh.fill(spy, tokens, {}).hasValue(), "a prefill failed");
    return liveBytes(fresh.cache()) == found;
}

/// Decodes one prompt to its end and checks the invariants between steps.
Answer decode(Decoder& decoder, const LosslessCase& tried, std::size_t which, SpyTransformer* spy) {
    Answer answer;
    const std::vector<TokenId>& prompt = tried.prompts[which];
    const auto begun = decoder.begin({.tokens = prompt,
                                      .maxTokens = tried.maxTokens,
                                      .endIds = tried.endIds,
                                      .task = "case",
                                      .vocabulary = tried.vocabulary},
                                     {});
    if (!begun)
        return {{}, begun.error().message};
    const auto isAtEnd = [&] {
        return static_cast<int>(answer.tokens.size()) >= tried.maxTokens ||
               decoder.remainingContext() <= 0 ||
               (!answer.tokens.empty() &&
                std::find(tried.endIds.begin(), tried.endIds.end(), answer.tokens.back()) !=
                    tried.endIds.end());
    };
    std::vector<TokenId> all = prompt;
    while (!isAtEnd()) {
        auto step = decoder.step();
        if (!step)
            return {{}, step.error().message};
        answer.drafted += step.value().draft.size();
        answer.accepted += static_cast<int>(step.value().path.size());
        const auto& tokens = step.value().tokens;
        answer.tokens.insert(answer.tokens.end(), tokens.begin(), tokens.end());
        all.insert(all.end(), tokens.begin(), tokens.end());
        if (decoder.cachedTokens() != static_cast<int>(all.size()) - 1)
            answer.fault = fmt::format(
                "{} rows are cached behind {} tokens", decoder.cachedTokens(), all.size());
        if (spy != nullptr && !equalsFreshPrefill(*spy, std::span(all).first(all.size() - 1)))
            answer.fault =
                fmt::format("the cache of {} rows is no fresh prefill's", all.size() - 1);
        if (!answer.fault.empty())
            return answer;
    }
    if (auto report = decoder.endAnswer(); !report)
        answer.fault = report.error().message;
    return answer;
}

} // namespace

std::vector<CaseModel> caseModels() {
    std::vector<CaseModel> models;
    const ModelConfig config = layeredConfig(5);
    models.push_back({"random", plainModel(config, randomWeights(config, 7))});
    // Their drafts are as confident as those of a trained network. Such drafts are mostly wrong if
    // the skipped layers matter, and mostly right if they hardly do.
    for (const float voice : {1.0F, 0.1F}) {
        MemoryWeights weights = randomWeights(config, 8);
        for (int layer = 1; layer < config.layerCount - 1; ++layer)
            quietenLayer(weights, layer, voice);
        sharpenHead(weights);
        models.push_back(
            {fmt::format("peaked, inner layers at {}", voice), plainModel(config, weights)});
    }
    const QDir folder(SWIFT_STUDIO_SHARED_DIR "/golden/models");
    for (const QString& name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
        const auto files = valueOf(ModelFiles::open(folder.filePath(name).toStdString()));
        auto golden = files.config();
        const auto weights = files.weights();
        ENGINE_CHECK(golden.hasValue() && weights.hasValue(), "{}", name.toStdString());
        models.push_back({name.toStdString(), plainModel(golden.value(), *weights.value())});
    }
    return models;
}

std::string randomSkipSet(CaseRandom& random, int first, int end, double part) {
    SkipSet set;
    for (int layer = first; layer < end; ++layer) {
        if (random.part() < part)
            set.attention.push_back(layer);
        if (random.part() < part)
            set.mlp.push_back(layer);
    }
    return skipSetJson(set);
}

std::shared_ptr<const TokenTrie> caseVocabulary(int vocabSize) {
    std::vector<std::string> texts = {""};
    const char first = vocabSize < kLeastForJson ? 'a' : ' ';
    for (char letter = first; letter <= '~'; ++letter)
        texts.emplace_back(1, letter);
    texts.insert(texts.end(), {"\n", "\xC3", "\xA4"});
    CaseRandom random(static_cast<std::uint64_t>(vocabSize));
    const std::string letters = "{}[]\":, \n0123abctrue\\\xC3\xA4";
    while (static_cast<int>(texts.size()) < vocabSize) {
        std::string text;
        for (int left = random.whole(1, 4); left > 0; --left)
            text += letters[static_cast<std::size_t>(
                random.whole(0, static_cast<int>(letters.size()) - 1))];
        texts.push_back(std::move(text));
    }
    texts.resize(static_cast<std::size_t>(vocabSize));
    return std::make_shared<const TokenTrie>(std::move(texts));
}

Grammar randomGrammar(CaseRandom& random, int vocabSize) {
    static const std::vector<Grammar> grammars = {
        {GrammarKind::Regex, "[a-m]{4,30}"},
        {GrammarKind::Regex, "(?:a|b)*a(?:a|b){3}"},
        {GrammarKind::Regex, "(?:[a-h]|x[^x]|y{2,3})*"},
        {GrammarKind::Json},
        {GrammarKind::Regex, "(?:[0-9]+[ ,])*(?:true|tree|trace)"},
        {GrammarKind::Regex, "[^a-z]*"},
        {GrammarKind::Regex, "(?:(?:ab|a|b[0-9]?)+\\n?){2,}"},
        {GrammarKind::Schema, "{}"},
        {GrammarKind::Schema,
         R"({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"},
             "more": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name", "n"]})"},
        {GrammarKind::Schema,
         R"({"type": "array", "items": {"enum": ["red", "green", 1, null]}, "minItems": 4})"},
        {GrammarKind::Schema,
         R"({"type": "array", "minItems": 3, "items": {"allOf": [{"type": "number",
             "minimum": -12.75}, {"exclusiveMaximum": 1000.5, "multipleOf": 0.01}]}})"}};
    constexpr int kOfLetters = 3; // the first ones
    const int last = vocabSize < kLeastForJson ? kOfLetters : static_cast<int>(grammars.size());
    return grammars[static_cast<std::size_t>(random.whole(0, last - 1))];
}

void addRandomLaw(CaseRandom& random, SamplingOptions& sampling, int vocabSize) {
    if (random.oneIn(2))
        sampling.repetitionPenalty = random.oneIn(4) ? 0.7 : 1.0 + 0.8 * random.part();
    sampling.repetitionWindow = random.oneIn(2) ? 0 : random.whole(1, 12);
    if (random.oneIn(2))
        sampling.presencePenalty = 1.5 * random.part() - 0.5;
    if (random.oneIn(2))
        sampling.frequencyPenalty = 1.0 * random.part() - 0.4;
    for (int count = random.oneIn(2) ? 0 : random.whole(1, 4); count > 0; --count)
        sampling.logitBias.push_back({random.whole(0, vocabSize / 4 - 1) * 4 + count - 1,
                                      4.0 * random.part() - 1.0}); // no token twice
    if (random.oneIn(2))
        sampling.minP = 0.3 * random.part();
    if (random.oneIn(2))
        sampling.typicalP = 0.3 + 0.7 * random.part();
}

LosslessCase randomCase(CaseRandom& random, Transformer& transformer, bool samples, bool hasLaw) {
    LosslessCase made;
    const int vocab = transformer.config().vocabSize;
    for (int prompt = 0; prompt < 2; ++prompt) {
        std::vector<TokenId> tokens;
        for (int left = random.oneIn(6) ? 1 : random.whole(2, 12); left > 0; --left)
            tokens.push_back(random.whole(0, vocab - 1));
        made.prompts.push_back(std::move(tokens));
    }
    made.maxTokens = random.oneIn(8) ? 1 : random.whole(2, 16);
    made.contextLength = random.oneIn(4) ? random.whole(13, 24) : 64;
    if (samples) {
        made.sampling.temperature = 0.3 + 1.2 * random.part();
        made.sampling.topP = random.oneIn(2) ? 1.0 : 0.5 + 0.5 * random.part();
        made.sampling.topK = random.oneIn(2) ? 0 : random.whole(1, 30);
        made.sampling.seed = static_cast<std::uint64_t>(random.whole(0, 1 << 30));
    }
    if (hasLaw)
        addRandomLaw(random, made.sampling, vocab);
    if (hasLaw && random.oneIn(2)) {
        made.sampling.grammar = randomGrammar(random, vocab);
        made.vocabulary = caseVocabulary(vocab);
        made.endIds = {0};
    } else if (random.oneIn(2)) { // an end that vanilla itself meets somewhere
        auto vanilla = makeVanillaDecoder(transformer, made.sampling, made.contextLength);
        const Answer answer = decode(*vanilla.value(), made, 0, nullptr);
        if (!answer.tokens.empty())
            made.endIds = {random.oneOf(answer.tokens)};
    }
    return made;
}

std::string compareWithVanilla(DecoderRegistry& registry,
                               const std::string& decoder,
                               const LosslessCase& tried,
                               Transformer& transformer,
                               DraftCounts* counts) {
    auto vanilla = makeVanillaDecoder(transformer, tried.sampling, tried.contextLength);
    SpyTransformer spy(transformer);
    auto tested = registry.make(decoder,
                                {.transformer = spy,
                                 .sampling = tried.sampling,
                                 .contextLength = tried.contextLength,
                                 .settings = tried.settings});
    if (!tested)
        return tested.error().message;
    for (std::size_t prompt = 0; prompt < tried.prompts.size(); ++prompt) {
        const Answer expected = decode(*vanilla.value(), tried, prompt, nullptr);
        const Answer found = decode(*tested.value(), tried, prompt, &spy);
        counts->drafted += found.drafted;
        counts->accepted += found.accepted;
        if (!found.fault.empty())
            return found.fault;
        if (found.tokens != expected.tokens)
            return fmt::format("answer {} has other tokens", prompt);
    }
    return {};
}

std::string runLosslessCases(DecoderRegistry& registry,
                             std::vector<CaseModel>& models,
                             const LosslessRun& run) {
    const int sample = takesFewCases() ? (run.sampleCases + 6) / 7 : run.sampleCases;
    const int count = takesAllCases() ? run.allCases : sample;
    DraftCounts counts;
    for (int index = 0; index < count; ++index) {
        CaseRandom random(run.firstSeed + static_cast<std::uint64_t>(index));
        CaseModel& model = models[static_cast<std::size_t>(index) % models.size()];
        LosslessCase tried = randomCase(random, *model.transformer, run.samples, run.hasLaw);
        tried.settings = run.settings(random, model.transformer->config().layerCount);
        const std::string fault =
            compareWithVanilla(registry, run.decoder, tried, *model.transformer, &counts);
        if (!fault.empty())
            return fmt::format("case {} on {}: {}", index, model.name, fault);
    }
    qInfo(
        "%d cases, %d drafted tokens, %d of them accepted", count, counts.drafted, counts.accepted);
    const int least = (takesAllCases() ? run.leastDrafted : run.leastDrafted / 2) * count;
    return counts.drafted > least ? std::string() : "hardly anything was drafted";
}

std::string changeSettingsWhileRunning(DecoderRegistry& registry,
                                       Transformer& transformer,
                                       const LosslessRun& run) {
    const auto info = registry.info(run.decoder);
    if (!info)
        return info.error().message;
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    auto vanilla = makeVanillaDecoder(transformer, {}, 256);
    const LosslessCase expected{.prompts = {prompt},
                                .endIds = {},
                                .maxTokens = 120,
                                .contextLength = 256,
                                .sampling = {},
                                .settings = {}};
    const std::vector<TokenId> reference = decode(*vanilla.value(), expected, 0, nullptr).tokens;
    const std::uint64_t seeds = takesAllCases() ? 10 : 3;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CaseRandom random(run.firstSeed + seed);
        auto tested =
            registry.make(run.decoder, {.transformer = transformer, .contextLength = 256});
        if (!tested || !tested.value()->begin({prompt}, {}))
            return "the decoder did not begin";
        std::vector<TokenId> found;
        while (found.size() < 100) {
            const bool isPlain = random.oneIn(8); // as the baseline is measured while running
            const auto step = isPlain ? tested.value()->plainStep() : tested.value()->step();
            if (!step)
                return step.error().message;
            found.insert(found.end(), step.value().tokens.begin(), step.value().tokens.end());
            const auto values = resolveSettings(
                info.value(), run.settings(random, transformer.config().layerCount));
            if (!values)
                return values.error().message;
            if (const auto configured = tested.value()->configure(values.value(), values.value());
                !configured)
                return configured.error().message;
        }
        if (!std::equal(found.begin(), found.begin() + 100, reference.begin()))
            return fmt::format("seed {}: other tokens", seed);
    }
    return {};
}

} // namespace support
