// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

namespace engine {

namespace {

/// Runs code of a module; what it throws becomes an error. Bugs of ours keep their sentence.
template <typename Call> auto guarded(const std::string& name, Call&& call) -> decltype(call()) {
    const std::string module = fmt::format("the decoder {}", name);
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::NoMemory,
                     fmt::format("There is not enough memory for {}.", module),
                     "Choose a shorter context or a smaller model."};
    } catch (const std::exception& failure) {
        return moduleFailure(module, failure.what());
    } catch (...) {
        return moduleFailure(module, "an exception of an unknown type");
    }
}

/// A module's decoder whose exceptions reach the host as errors.
class GuardedDecoder final : public Decoder {
public:
    GuardedDecoder(std::string name, std::unique_ptr<Decoder> decoder)
        : m_name(std::move(name))
        , m_decoder(std::move(decoder)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        return guarded(m_name, [&] { return m_decoder->begin(prompt, work); });
    }

    Result<DecodeStep> step() override {
        return guarded(m_name, [&] { return checked(m_decoder->step()); });
    }

    Result<DecodeStep> plainStep() override {
        return guarded(m_name, [&] { return checked(m_decoder->plainStep()); });
    }

    Result<SearchReport> endAnswer() override {
        return guarded(m_name, [&] { return m_decoder->endAnswer(); });
    }

    Result<void> configure(const SettingValues& values) override {
        return guarded(m_name, [&] { return m_decoder->configure(values); });
    }

    int remainingContext() const override { return m_decoder->remainingContext(); }

    int cachedTokens() const override { return m_decoder->cachedTokens(); }

private:
    static Result<DecodeStep> checked(Result<DecodeStep> step) {
        if (step)
            ENGINE_CHECK(!step.value().tokens.empty() &&
                             step.value().facts.size() == step.value().tokens.size(),
                         "a step of {} tokens with {} facts",
                         step.value().tokens.size(),
                         step.value().facts.size());
        return step;
    }

    std::string m_name;
    std::unique_ptr<Decoder> m_decoder;
};

} // namespace

DecoderRegistry::DecoderRegistry(const std::filesystem::path& moduleFolder)
    : m_modules(moduleFolder, "decoder") {
    add({.name = "vanilla",
         .title = "Vanilla",
         .summary = "One token a pass of the whole model: what all others are compared with.",
         .source = "",
         .settings = {}},
        [](const DecoderContext& context) {
            return makeVanillaDecoder(context.transformer, context.sampling, context.contextLength);
        });
}

std::vector<DecoderInfo> DecoderRegistry::list(std::vector<Error>* refused) {
    openAll(refused);
    std::vector<DecoderInfo> infos;
    for (const auto& [name, entry] : m_entries)
        infos.push_back(entry.info);
    return infos;
}

Result<DecoderInfo> DecoderRegistry::info(const std::string& name) {
    ENGINE_TRY(const Entry* entry, find(name));
    return entry->info;
}

Result<std::unique_ptr<Decoder>> DecoderRegistry::make(const std::string& name,
                                                       DecoderContext context) {
    ENGINE_TRY(const Entry* entry, find(name));
    ENGINE_TRY(context.settings, resolveSettings(entry->info, context.settings));
    auto made = guarded(name, [&] { return entry->factory(context); });
    if (!made)
        return made;
    ENGINE_CHECK(made.value() != nullptr, "the decoder {} was not made", name);
    return std::unique_ptr<Decoder>(
        std::make_unique<GuardedDecoder>(name, std::move(made).value()));
}

void DecoderRegistry::add(DecoderInfo info, DecoderFactory factory) {
    ENGINE_CHECK(factory != nullptr, "decoder '{}' has no factory", info.name);
    ENGINE_CHECK(!m_entries.contains(info.name), "decoder '{}' is registered twice", info.name);
    std::string name = info.name;
    m_entries.emplace(std::move(name), Entry{std::move(info), std::move(factory)});
}

/// The module of that name first; a decoder may also come from a module of another name.
Result<const DecoderRegistry::Entry*> DecoderRegistry::find(const std::string& name) {
    const auto known = [&]() -> const Entry* {
        const auto found = m_entries.find(name);
        return found == m_entries.end() ? nullptr : &found->second;
    };
    if (known() == nullptr) {
        const std::vector<std::string> modules = m_modules.names();
        if (std::find(modules.begin(), modules.end(), name) != modules.end())
            ENGINE_TRY_DO(openModule(name));
    }
    if (known() == nullptr)
        openAll(nullptr);
    if (const Entry* entry = known())
        return entry;
    std::vector<std::string> names;
    for (const auto& [other, entry] : m_entries)
        names.push_back(other);
    const std::string near = nearestName(name, names);
    return Error{ErrorCode::NotFound,
                 fmt::format("There is no decoder \"{}\".", name),
                 fmt::format("{}Decoders: {}.",
                             near.empty() ? "" : fmt::format("Did you mean {}? ", near),
                             fmt::join(names, ", "))};
}

Result<void> DecoderRegistry::openModule(const std::string& module) {
    if (std::find(m_opened.begin(), m_opened.end(), module) != m_opened.end())
        return {};
    if (const auto known = m_refused.find(module); known != m_refused.end())
        return known->second;
    auto before = m_entries;
    auto opened = m_modules.open(module, "swiftStudioRegisterDecoders", [this](void* function) {
        reinterpret_cast<RegisterDecodersFunction>(function)(*this);
    });
    if (!opened) {
        m_entries = std::move(before); // a module may have registered something and then thrown
        m_refused.emplace(module, opened.error());
        return opened;
    }
    m_opened.push_back(module);
    return {};
}

void DecoderRegistry::openAll(std::vector<Error>* refused) {
    for (const std::string& module : m_modules.names()) {
        const auto opened = openModule(module);
        if (!opened && refused != nullptr)
            refused->push_back(opened.error());
    }
}

} // namespace engine
