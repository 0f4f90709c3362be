// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_registry.h"

#include "engine/decoding/step_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace engine {

namespace {

/// Runs code of a module; what it throws becomes an error.
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

/// A module's decoder whose exceptions and broken promises reach the host as errors.
class GuardedDecoder final : public Decoder {
public:
    GuardedDecoder(std::string name, std::unique_ptr<Decoder> decoder, const ModelConfig& config)
        : m_name(std::move(name))
        , m_decoder(std::move(decoder))
        , m_check(m_name, config.vocabSize, config.layerCount) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        m_check.begin(prompt);
        m_failure.reset();
        return guarded(m_name, [&] { return m_decoder->begin(prompt, work); });
    }

    Result<bool> readAhead(const Prompt& prompt, const PromptWork& work) override {
        return guarded(m_name, [&] { return m_decoder->readAhead(prompt, work); });
    }

    Result<DecodeStep> step() override {
        return guarded(m_name, [&] { return checked([&] { return m_decoder->step(); }); });
    }

    Result<DecodeStep> plainStep() override {
        return guarded(m_name, [&] { return checked([&] { return m_decoder->plainStep(); }); });
    }

    Result<SearchReport> endAnswer() override {
        return guarded(m_name, [&] { return reported([&] { return m_decoder->endAnswer(); }); });
    }

    SearchReport takeReport() override {
        auto taken = guarded(m_name, [&] {
            return reported([&] { return Result<SearchReport>(m_decoder->takeReport()); });
        });
        if (taken)
            return std::move(taken).value();
        m_failure = taken.error();
        return {};
    }

    Result<std::optional<SearchReport>> idle(const std::stop_token& stop) override {
        using Work = std::optional<SearchReport>;
        return guarded(m_name, [&]() -> Result<Work> {
            ENGINE_TRY(const Work done, m_decoder->idle(stop));
            if (done)
                m_check.passReport(*done);
            return done;
        });
    }

    Result<SearchReport> configure(const SettingValues& values,
                                   const SettingValues& given) override {
        return guarded(
            m_name, [&] { return reported([&] { return m_decoder->configure(values, given); }); });
    }

    Result<void> changeSampling(const SamplingOptions& sampling) override {
        return guarded(m_name, [&] { return m_decoder->changeSampling(sampling); });
    }

    std::vector<std::string> storeStatistics() override {
        using Sentences = std::vector<std::string>;
        auto stored =
            guarded(m_name, [&] { return Result<Sentences>(m_decoder->storeStatistics()); });
        return stored ? std::move(stored).value() : Sentences{stored.error().message};
    }

    int remainingContext() const override {
        // 1 when it throws: the answer goes on to the next step, which reports the failure.
        return number([&] { return m_decoder->remainingContext(); }, 1);
    }

    int cachedTokens() const override {
        return number([&] { return m_decoder->cachedTokens(); }, 0);
    }

private:
    template <typename Call> int number(Call&& call, int instead) const {
        const auto given = guarded(m_name, [&] { return Result<int>(call()); });
        if (given)
            return given.value();
        m_failure = given.error();
        return instead;
    }

    template <typename Call> Result<DecodeStep> checked(Call&& call) {
        if (m_failure)
            return *m_failure;
        ENGINE_TRY(DecodeStep step, call());
        m_check.passStep(step);
        return step;
    }

    template <typename Call> Result<SearchReport> reported(Call&& call) const {
        ENGINE_TRY(SearchReport report, call());
        m_check.passReport(report);
        return report;
    }

    std::string m_name;
    std::unique_ptr<Decoder> m_decoder;
    StepCheck m_check;
    mutable std::optional<Error> m_failure; // thrown where only a number can be answered
};

/// The setting that chooses among the profiles, for decoders that do not bring their own.
SettingInfo profileSetting(const DecoderInfo& info) {
    SettingInfo setting{.name = kProfileSetting, .title = "Profile", .kind = SettingKind::Choice};
    setting.initial = info.profiles.front().name;
    for (const SettingProfile& profile : info.profiles)
        setting.choices.push_back(profile.name);
    setting.meaning = "Settings that are changed together; those given beside it win.";
    setting.effect = SettingEffect::NewSearch;
    return setting;
}

/// A description that a user could not act on is a fault of the module.
void checkDescription(const DecoderInfo& info) {
    ENGINE_CHECK(!info.name.empty() && info.name.find_first_of(".=, \t\n") == std::string::npos,
                 "\"{}\" cannot be the name of a decoder",
                 info.name);
    SettingValues defaults;
    for (const SettingInfo& setting : info.settings) {
        const bool isNew = defaults.emplace(setting.name, setting.initial).second;
        ENGINE_CHECK(isNew, "decoder {} has two settings {}", info.name, setting.name);
    }
    for (const SettingInfo& setting : info.settings)
        ENGINE_CHECK(setting.needs.setting.empty() || defaults.contains(setting.needs.setting),
                     "decoder {}: {} needs the setting {}, which does not exist",
                     info.name,
                     setting.name,
                     setting.needs.setting);
    const auto checkValues = [&](const SettingValues& values) {
        const auto resolved = resolveSettings(info, values);
        ENGINE_CHECK(resolved.hasValue(), "decoder {}: {}", info.name, resolved.error().message);
    };
    checkValues(defaults);
    for (const SettingProfile& profile : info.profiles) {
        checkValues(profile.values);
        checkValues({{kProfileSetting, profile.name}});
    }
}

} // namespace

DecoderRegistry::DecoderRegistry(const std::filesystem::path& moduleFolder)
    : m_modules(moduleFolder, "decoder") {
    add({.name = "vanilla",
         .title = "Vanilla",
         .summary = "One token a pass of the whole model: what all others are compared with.",
         .source = "",
         .settings = {},
         .explanation =
             "The model reads its newest token and says what follows; that token is read next, and "
             "so on. Each token costs one pass through all layers, and on most machines the time "
             "of a pass is the time to fetch the weights from memory, not the arithmetic: one "
             "token after the other leaves the processor waiting. All other decoders try to get "
             "more than one token out of a pass without changing a single one of them. Vanilla is "
             "what their text must equal and what their speed is measured against; it is the best "
             "choice where drafts are rarely right."},
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
    return guarded(name, [&]() -> Result<std::unique_ptr<Decoder>> {
        ENGINE_TRY(auto decoder, entry->factory(context));
        ENGINE_CHECK(decoder != nullptr, "its factory made nothing");
        return std::unique_ptr<Decoder>(std::make_unique<GuardedDecoder>(
            name, std::move(decoder), context.transformer.config()));
    });
}

void DecoderRegistry::add(DecoderInfo info, DecoderFactory factory) {
    ENGINE_CHECK(factory != nullptr, "decoder '{}' has no factory", info.name);
    ENGINE_CHECK(!m_entries.contains(info.name), "decoder '{}' is registered twice", info.name);
    if (!info.profiles.empty() && info.find(kProfileSetting) == nullptr)
        info.settings.insert(info.settings.begin(), profileSetting(info));
    checkDescription(info);
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
        const std::size_t count = m_entries.size();
        reinterpret_cast<RegisterDecodersFunction>(function)(*this);
        ENGINE_CHECK(m_entries.size() > count, "it registers no decoder");
    });
    if (!opened) {
        m_entries = std::move(before); // a module may have registered something and then thrown
        if (opened.error().code != ErrorCode::NoMemory) // the next time there may be enough
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
