// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/variants.h"

#include "app/commands/options/decoder_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace app {

using namespace engine;

namespace {

constexpr const char* kVanilla = "vanilla";
constexpr const char* kExample = "For instance --decoders vanilla,a=swift,b=swift --set a.r=0.3.";

bool isName(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
    });
}

/// "a=swift", or "swift".
Result<Variant> readVariant(DecoderRegistry& registry, const std::string& typed) {
    const std::size_t equals = typed.find('=');
    if (equals == std::string::npos)
        return Variant{.name = typed, .decoder = typed};
    Variant variant{.name = typed.substr(0, equals), .decoder = typed.substr(equals + 1)};
    if (!isName(variant.name))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("\"{}\" in --decoders has no name before the equals sign that "
                                 "consists of letters, digits, _ and -.",
                                 typed),
                     kExample};
    const std::vector<DecoderInfo> known = registry.list();
    const bool isTaken = std::any_of(known.begin(), known.end(), [&](const DecoderInfo& decoder) {
        return decoder.name == variant.name;
    });
    if (isTaken)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The name {} in --decoders belongs to a decoder, so it cannot "
                                 "name a variant of {}.",
                                 variant.name,
                                 variant.decoder),
                     kExample};
    return variant;
}

std::vector<std::string> namesOf(const std::vector<Variant>& variants) {
    std::vector<std::string> names;
    for (const Variant& variant : variants)
        names.push_back(variant.name);
    return names;
}

/// --set names something that is not compared.
Error unknownVariant(const std::string& text,
                     const std::string& name,
                     const std::vector<Variant>& variants) {
    std::vector<std::string> ofDecoder;
    for (const Variant& variant : variants)
        if (variant.decoder == name)
            ofDecoder.push_back(variant.name);
    const std::string near = nearestName(name, namesOf(variants));
    std::string hint = "Add it to --decoders.";
    if (!ofDecoder.empty())
        hint =
            fmt::format("Its variants here are {}: name one of them.", fmt::join(ofDecoder, ", "));
    else if (!near.empty())
        hint = fmt::format("Did you mean {}? {}", near, hint);
    return {ErrorCode::InvalidInput,
            fmt::format("--set {} sets {}, which is not compared.", text, name),
            std::move(hint)};
}

} // namespace

std::string Variant::inWords() const {
    if (name == decoder)
        return name;
    std::vector<std::string> words;
    for (const auto& [setting, value] : settings)
        words.push_back(fmt::format("{}={}", setting, settingText(value)));
    return fmt::format(
        "{} = {}{}{}", name, decoder, words.empty() ? "" : " with ", fmt::join(words, ", "));
}

Result<std::vector<Variant>> readVariants(DecoderRegistry& registry,
                                          const std::vector<std::string>& decoders,
                                          const std::vector<std::string>& settings) {
    std::vector<Variant> variants;
    for (const std::string& typed : decoders) {
        ENGINE_TRY(Variant variant, readVariant(registry, typed));
        const auto names = namesOf(variants);
        if (std::find(names.begin(), names.end(), variant.name) != names.end())
            return Error{ErrorCode::InvalidInput,
                         fmt::format("--decoders names {} twice.", variant.name),
                         fmt::format("Give each variant a name of its own. {}", kExample)};
        variants.push_back(std::move(variant));
    }
    if (std::none_of(variants.begin(), variants.end(), [](const Variant& variant) {
            return variant.isVanilla();
        }))
        variants.insert(variants.begin(), {.name = kVanilla, .decoder = kVanilla});
    std::map<std::string, std::vector<std::string>> typed; // by variant
    for (const std::string& text : settings) {
        const std::size_t dot = text.substr(0, text.find('=')).find('.');
        if (dot == std::string::npos) {
            for (const Variant& variant : variants)
                if (variant.decoder != kVanilla)
                    typed[variant.name].push_back(text);
            if (typed.empty())
                return Error{ErrorCode::InvalidInput,
                             fmt::format("--set {} is for decoders that draft, but only vanilla is "
                                         "compared.",
                                         text),
                             "Name one with --decoders, or leave --set out."};
            continue;
        }
        const std::string name = text.substr(0, dot);
        const auto names = namesOf(variants);
        if (std::find(names.begin(), names.end(), name) == names.end())
            return unknownVariant(text, name, variants);
        typed[name].push_back(text.substr(dot + 1));
    }
    for (Variant& variant : variants) {
        ENGINE_TRY(const DecoderInfo info, registry.info(variant.decoder));
        variant.lockedLayers = info.lockedCount();
        ENGINE_TRY(variant.settings, parseSettings(registry, variant.decoder, typed[variant.name]));
    }
    return variants;
}

} // namespace app
