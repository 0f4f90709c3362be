// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.h"
#include "app/commands/options/model_options.h"
#include "app/program_paths.h"
#include "engine/decoding/decoder_registry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

struct DecodersOptions {
    std::string name;
};

std::string_view kindName(SettingKind kind) {
    constexpr std::array<std::string_view, 5> kKindNames = {
        "number", "integer", "flag", "choice", "text"};
    return kKindNames.at(static_cast<std::size_t>(kind));
}

Json valueJson(const SettingInfo& setting, const SettingValue& value) {
    const double* number = std::get_if<double>(&value);
    if (number == nullptr)
        return std::get<std::string>(value);
    if (setting.kind == SettingKind::Flag)
        return *number != 0.0;
    if (setting.kind == SettingKind::Integer)
        return static_cast<std::int64_t>(*number);
    return *number;
}

/// `settings`: all of the decoder's.
Json settingJson(std::span<const SettingInfo> settings, const SettingInfo& setting) {
    Json line = {{"name", setting.name},
                 {"title", setting.title},
                 {"kind", kindName(setting.kind)},
                 {"default", valueJson(setting, setting.initial)}};
    if (setting.kind == SettingKind::Number || setting.kind == SettingKind::Integer) {
        line["minimum"] = valueJson(setting, setting.minimum);
        line["maximum"] = valueJson(setting, setting.maximum);
    }
    if (setting.kind == SettingKind::Choice)
        line["choices"] = setting.choices;
    line["unit"] = setting.unit;
    line["meaning"] = setting.meaning;
    line["effect"] = settingEffectName(setting.effect);
    line["group"] = setting.group;
    if (const SettingInfo* needed = findSetting(settings, setting.needs.setting))
        line["needs"] = {{needed->name, valueJson(*needed, setting.needs.value)}};
    return line;
}

Json decoderJson(const DecoderInfo& info) {
    Json settings = Json::array();
    for (const SettingInfo& setting : info.settings)
        settings.push_back(settingJson(info.settings, setting));
    Json profiles = Json::array();
    for (const SettingProfile& profile : info.profiles) {
        Json values = Json::object();
        for (const auto& [name, value] : profile.values)
            values[name] = valueJson(*info.find(name), value);
        profiles.push_back(
            {{"name", profile.name}, {"meaning", profile.meaning}, {"values", std::move(values)}});
    }
    return {{"name", info.name},
            {"title", info.title},
            {"summary", info.summary},
            {"source", info.source},
            {"explanation", info.explanation},
            {"settings", std::move(settings)},
            {"profiles", std::move(profiles)}};
}

/// Wrapped at words to lines of `width` columns.
void printParagraph(const Console& console, std::string_view text, std::size_t width) {
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > width) {
            const std::size_t space = text.rfind(' ', width);
            end = space == std::string_view::npos ? text.find(' ') : space;
            end = std::min(end, text.size());
        }
        console.line(fmt::format("  {}", text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void printSetting(const Console& console,
                  std::span<const SettingInfo> settings,
                  const SettingInfo& setting) {
    const std::string initial = settingText(setting, setting.initial);
    console.line(fmt::format("  {:<18} {}{}{}; default {}; a change takes effect: {}",
                             setting.name,
                             settingRange(setting),
                             setting.unit.empty() ? "" : " ",
                             setting.unit,
                             initial.empty() ? "none" : initial,
                             settingEffectName(setting.effect)));
    const std::string need = needText(settings, setting);
    if (!need.empty())
        console.line(fmt::format("  {:<18} {}", "", need));
    if (!setting.meaning.empty())
        console.line(fmt::format("  {:<18} {}", "", setting.meaning));
}

/// `isAlone`: only this decoder was asked for, so its explanation is included.
void printDecoder(const Console& console, const DecoderInfo& info, bool isAlone) {
    console.line(fmt::format("{} ({})", info.name, info.title));
    console.line(
        fmt::format("  {}{}{}", info.summary, info.source.empty() ? "" : " Source: ", info.source));
    if (isAlone)
        printParagraph(console, info.explanation, 96);
    std::string group;
    for (const SettingInfo& setting : info.settings) {
        if (setting.group != group)
            console.line(fmt::format("  {}:", setting.group));
        group = setting.group;
        printSetting(console, info.settings, setting);
    }
    for (const SettingProfile& profile : info.profiles) {
        std::string values;
        for (const auto& [name, value] : profile.values)
            values += fmt::format(" {}={}", name, settingText(*info.find(name), value));
        console.line(fmt::format("  profile={}", profile.name));
        printParagraph(console, profile.meaning, 96);
        if (!values.empty())
            printParagraph(console, "Sets" + values, 96);
    }
}

Result<void> runDecoders(const DecodersOptions& options, CommandContext& context) {
    DecoderRegistry registry(moduleFolder());
    std::vector<DecoderInfo> decoders;
    std::vector<Error> refused;
    if (options.name.empty()) {
        decoders = registry.list(&refused);
    } else {
        ENGINE_TRY(DecoderInfo info, registry.info(options.name));
        decoders.push_back(std::move(info));
    }
    for (const DecoderInfo& info : decoders) {
        if (!context.console.isJson())
            printDecoder(context.console, info, !options.name.empty());
        context.console.jsonLine(decoderJson(info));
    }
    for (const Error& error : refused) {
        Console::note("swift-run: " + error.message);
        Console::note("  " + error.hint);
        context.console.jsonLine(
            {{"event", "refused"}, {"message", error.message}, {"hint", error.hint}});
    }
    return {};
}

} // namespace

void addDecodersCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("decoders", "List the decoders, their settings and profiles");
    const auto options = std::make_shared<DecodersOptions>();
    command->add_option("name", options->name, "Show only this decoder");
    addRun(*command, chosen, options, runDecoders);
}

} // namespace app
