// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/target_decoder.h"

namespace engine {

namespace {

class VanillaDecoder final : public TargetDecoder {
public:
    explicit VanillaDecoder(Target target)
        : TargetDecoder(std::move(target)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        return m_target.begin(prompt, work);
    }

private:
    Result<DecodeStep> round() override { return plainRound(); }
};

} // namespace

Result<std::unique_ptr<Decoder>>
makeVanillaDecoder(Transformer& transformer, const SamplingOptions& sampling, int contextLength) {
    ENGINE_TRY(Target target, Target::make(transformer, sampling, contextLength, 0));
    return std::unique_ptr<Decoder>(std::make_unique<VanillaDecoder>(std::move(target)));
}

} // namespace engine
