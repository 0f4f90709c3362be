// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/backends/backend_registry.h"
#include "tests/support/models/tiny_model.h"

#include <QMetaType>

#include <memory>
#include <random>
#include <vector>

Q_DECLARE_METATYPE(engine::Precision)

/// What the tests of the torch backend share.
namespace torch_support {

/// The torch backend, through its module. Fails by exception.
inline engine::TransformerFactory torchFactory() {
    engine::BackendRegistry registry(SWIFT_STUDIO_MODULE_DIR);
    auto factory = registry.find("torch");
    ENGINE_CHECK(factory.hasValue(), "no torch backend: {}", factory.error().message);
    return std::move(factory).value();
}

inline std::unique_ptr<engine::Transformer> makeTorch(const engine::ModelConfig& config,
                                                      const engine::WeightSource& weights,
                                                      engine::Precision precision) {
    auto made = torchFactory()(config, weights, {.precision = precision});
    ENGINE_CHECK(made.hasValue(), "torch did not load: {}", made.error().message);
    return std::move(made).value();
}

inline std::vector<engine::TokenId> randomIds(std::size_t count, int vocabSize = 160) {
    std::mt19937 random(5);
    std::vector<engine::TokenId> ids(count);
    for (engine::TokenId& id : ids)
        id = static_cast<engine::TokenId>(random() % static_cast<unsigned>(vocabSize));
    return ids;
}

} // namespace torch_support
