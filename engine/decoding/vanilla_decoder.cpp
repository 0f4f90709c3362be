// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder.h"
#include "engine/decoding/target.h"

namespace engine {

namespace {

class VanillaDecoder final : public Decoder {
public:
    explicit VanillaDecoder(Target target)
        : m_target(std::move(target)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        return m_target.begin(prompt, work);
    }

    Result<DecodeStep> step() override { return m_target.plainStep(); }

    Result<DecodeStep> plainStep() override { return m_target.plainStep(); }

    Result<void> changeSampling(const SamplingOptions& sampling) override {
        return m_target.changeSampling(sampling);
    }

    int remainingContext() const override { return m_target.remainingContext(); }

    int cachedTokens() const override { return m_target.length(); }

private:
    Target m_target;
};

} // namespace

Result<std::unique_ptr<Decoder>>
makeVanillaDecoder(Transformer& transformer, const SamplingOptions& sampling, int contextLength) {
    ENGINE_TRY(Target target, Target::make(transformer, sampling, contextLength, 0));
    return std::unique_ptr<Decoder>(std::make_unique<VanillaDecoder>(std::move(target)));
}

} // namespace engine
