// SPDX-License-Identifier: Apache-2.0
// What computesWith says of a tensor is what a backend does with it.
#include "engine/loading/network/network_tensors.h"
#include "engine/model/backends/backend_registry.h"
#include "tests/support/models/tiny_model.h"

#include <QTest>

#include <mutex>
#include <set>

using namespace engine;

namespace {

/// Weights that remember what they were asked for.
class RememberingWeights : public support::MemoryWeights {
public:
    explicit RememberingWeights(support::MemoryWeights weights)
        : MemoryWeights(std::move(weights)) {}

    const TensorInfo* find(std::string_view name) const override {
        const std::scoped_lock lock(m_mutex);
        asked.emplace(name);
        return MemoryWeights::find(name);
    }

    mutable std::set<std::string> asked;

private:
    mutable std::mutex m_mutex; // weights are read on several threads
};

} // namespace

class UsedTensorsTest : public QObject {
    Q_OBJECT

private slots:
    void backendsAskForWhatIsComputedWith_data();
    void backendsAskForWhatIsComputedWith();
};

void UsedTensorsTest::backendsAskForWhatIsComputedWith_data() {
    QTest::addColumn<int>("choices");
    for (int choices = 0; choices < 16; ++choices)
        QTest::addRow("biases and tying %d", choices) << choices;
}

void UsedTensorsTest::backendsAskForWhatIsComputedWith() {
    QFETCH(int, choices);
    ModelConfig config = support::tinyConfig();
    config.qkvBias = (choices & 1) != 0;
    config.outputBias = (choices & 2) != 0;
    config.mlpBias = (choices & 4) != 0;
    config.tiedHead = (choices & 8) != 0;
    ModelConfig everything = config;
    everything.qkvBias = everything.outputBias = everything.mlpBias = true;
    everything.tiedHead = false;
    ++everything.layerCount;
    everything.layerWindows.push_back(0);
    support::MemoryWeights held = support::randomWeights(everything, 16);
    for (const char* odd : {"model.layers.0.self_attn.rotary_emb.inv_freq",
                            "model.layers.-1.mlp.up_proj.weight",
                            "model.layers.0x.mlp.up_proj.weight",
                            "model.layers.mlp.up_proj.weight",
                            "model.layers.0",
                            "lm_head.bias",
                            "model.norm.bias",
                            ""})
        held.add(odd, {1}, {0.0F});
    const RememberingWeights weights(std::move(held));
    for (const char* backend : {"plain", "cpu"}) {
        weights.asked.clear();
        BackendRegistry backends{std::filesystem::path()};
        const auto factory = backends.find(backend);
        QVERIFY(factory);
        const auto made = factory.value()(config, weights, {});
        QVERIFY2(made.hasValue(), made ? "" : made.error().message.c_str());
        for (const TensorInfo& tensor : weights.tensors())
            QVERIFY2(computesWith(config, tensor.name) == weights.asked.contains(tensor.name),
                     (std::string(backend) + ": " + tensor.name).c_str());
    }
}

QTEST_APPLESS_MAIN(UsedTensorsTest)
#include "used_tensors_test.moc"
