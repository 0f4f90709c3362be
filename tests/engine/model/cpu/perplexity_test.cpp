// SPDX-License-Identifier: Apache-2.0
// Perplexity of a text with the default model in each form of weights, against float32 arithmetic
// on exactly the weights that are held. tests/benchmarks/perplexity_study takes 2,000 tokens; this
// is a part of the same text.
#include "engine/experiments/data/data_stream.h"
#include "engine/loading/model_files.h"
#include "engine/model/cpu/cpu_backend.h"
#include "engine/text/tokenizer.h"
#include "tests/support/lossless/perplexity.h"
#include "tests/support/models/held_weights.h"
#include "tests/support/value_of.h"

#include <QFileInfo>
#include <QTest>

using namespace engine;
using support::valueOf;

namespace {

constexpr const char* kModelPath = SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr const char* kTextPath = SWIFT_STUDIO_SHARED_DIR "/data/long_context_qa.jsonl";
constexpr std::size_t kTokens = 512;

/// Rounding the activations to 8 bits moves a part of the text by more than all of it.
constexpr double kMostPercent = 1.0;

} // namespace

class PerplexityTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase() {
        if (!QFileInfo::exists(kModelPath))
            QSKIP("the default model was not fetched");
        if (!QFileInfo::exists(kTextPath))
            QSKIP("the shared data does not lie beside the checkout");
        m_files.emplace(valueOf(ModelFiles::open(kModelPath)));
        m_weights = valueOf(m_files->weights());
        DataStream stream = valueOf(DataStream::open(kTextPath, {.limit = 2, .onlyTask = {}}));
        std::string text;
        while (const auto item = valueOf(stream.next()))
            if (const auto* record = std::get_if<DataRecord>(&*item))
                text += record->turns.front() + "\n\n";
        m_text = valueOf(valueOf(loadTokenizer(*m_files))->encode(text, true));
        QVERIFY(m_text.size() >= kTokens);
        m_text.resize(kTokens);
    }

    void everyFormIsAsGoodAsItsWeights_data() {
        QTest::addColumn<WeightForm>("form");
        QTest::newRow("as in the file") << WeightForm::File;
        QTest::newRow("bfloat16") << WeightForm::Bf16;
    }

    void everyFormIsAsGoodAsItsWeights() {
        QFETCH(const WeightForm, form);
        const double found = perplexity(*m_weights, form);
        const support::HeldWeights held(*m_weights, form);
        const double expected = perplexity(held, WeightForm::F32);
        qInfo("%.4f, float32 %.4f: %+.3f %%", found, expected, 100.0 * (found / expected - 1.0));
        QVERIFY(expected > 2.0 && expected < 60.0); // the model reads English
        QVERIFY(std::abs(found / expected - 1.0) <= kMostPercent / 100.0);
    }

    /// The 8-bit form holds the file's 4-bit numbers without loss, and computes alike.
    void widerFormsOfTheSameNumbersGiveTheSame() {
        const support::HeldWeights narrow(*m_weights, WeightForm::File);
        const support::HeldWeights wide(*m_weights, WeightForm::Int8);
        for (const char* name :
             {"model.layers.7.mlp.up_proj.weight", "model.layers.29.self_attn.o_proj.weight"}) {
            const TensorInfo& tensor = *narrow.find(name);
            std::vector<float> rows[2];
            for (const auto* source : {&narrow, &wide}) {
                auto& own = rows[source == &wide];
                own.resize(static_cast<std::size_t>(3 * tensor.columns()));
                QVERIFY(source->readRows(*source->find(name), 5, 3, own).hasValue());
            }
            QVERIFY(rows[0] == rows[1]);
        }
    }

private:
    double perplexity(const WeightSource& source, WeightForm form) const {
        cpu::Options options;
        options.weights = form;
        const auto transformer =
            valueOf(makeCpuTransformer(valueOf(m_files->config()), source, options));
        return support::perplexityOf(valueOf(support::surprises(*transformer, m_text)));
    }

    std::optional<ModelFiles> m_files;
    std::unique_ptr<WeightSource> m_weights;
    std::vector<TokenId> m_text;
};

QTEST_GUILESS_MAIN(PerplexityTest)
#include "perplexity_test.moc"
