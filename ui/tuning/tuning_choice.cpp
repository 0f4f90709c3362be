// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_choice.h"

#include "ui/tuning/compare/comparison_arguments.h"

#include <QFileInfo>
#include <QJsonArray>

#include <algorithm>
#include <array>

namespace ui {

namespace {

/// A profile of the command. For minutes, time is to decide and not the profile, so it is the
/// largest one.
struct NamedLength {
    TuningLength length;
    const char* name;
    const char* profile;
    qint64 answerTokens;
};

constexpr std::array kLengths = {
    NamedLength{TuningLength::Quick, "quick", "quick", 300'000},
    NamedLength{TuningLength::Full, "full", "full", 1'200'000},
    NamedLength{TuningLength::Overnight, "overnight", "overnight", 4'000'000},
    NamedLength{TuningLength::Minutes, "minutes", "overnight", 4'000'000},
};

constexpr std::array kRecipeKeys = {"draft", "layerskip", "space"}; // [TuningRecipe]

const NamedLength& named(TuningLength length) {
    return *std::ranges::find(kLengths, length, &NamedLength::length);
}

void addModel(QStringList& arguments, const TuningModel& model) {
    arguments << QStringLiteral("--model") << model.path;
    if (model.isPlanted)
        arguments << QStringLiteral("--planted");
}

/// The files of prompts.
QStringList dataOf(const TuningChoice& choice, const QString& adapter) {
    QStringList data = choice.data;
    if (choice.usesChats)
        data << chatPromptsPath(adapter);
    return data;
}

} // namespace

qint64 TuningChoice::answerTokens() const {
    return tokens > 0 ? tokens : named(length).answerTokens;
}

QString recipeKey(TuningRecipe recipe) {
    return QLatin1String(kRecipeKeys.at(static_cast<std::size_t>(recipe)));
}

TuningRecipe recipeOfKey(const QString& key) {
    for (std::size_t i = 0; i < kRecipeKeys.size(); ++i)
        if (key == QLatin1String(kRecipeKeys.at(i)))
            return static_cast<TuningRecipe>(i);
    return TuningRecipe::Draft;
}

QStringList argumentsOf(const TuningChoice& choice, const QString& adapter) {
    QStringList arguments{QStringLiteral("tune"), QStringLiteral("--json")};
    addModel(arguments, choice.model);
    if (choice.changesModel())
        arguments << QStringLiteral("--recipe") << recipeKey(choice.recipe);
    arguments << QStringLiteral("--out") << (choice.changesModel() ? choice.output : adapter);
    for (const QString& path : dataOf(choice, adapter))
        arguments << QStringLiteral("--data") << path;
    if (choice.usesChats) { // whose files the others are is not known
        for (qsizetype i = 0; i < choice.data.size(); ++i)
            arguments << QStringLiteral("--licence") << QStringLiteral("unknown");
        arguments << QStringLiteral("--licence") << QStringLiteral("the user's own");
    }
    if (choice.selfPrompts > 0)
        arguments << QStringLiteral("--self-prompts") << QString::number(choice.selfPrompts);
    arguments << QStringLiteral("--profile") << QLatin1String(named(choice.length).profile);
    if (choice.length == TuningLength::Minutes)
        arguments << QStringLiteral("--minutes") << QString::number(choice.minutes);
    if (choice.tokens > 0)
        arguments << QStringLiteral("--answer-tokens") << QString::number(choice.tokens);
    if (choice.changesModel() && choice.isFull)
        arguments << QStringLiteral("--set") << QStringLiteral("full=on");
    if (choice.isUsed && !choice.changesModel())
        arguments << QStringLiteral("--use");
    return arguments;
}

QString chatPromptsPath(const QString& adapter) {
    return QFileInfo(adapter).path() + QStringLiteral("/chats.jsonl");
}

bool hasPromptsToCompare(const TuningChoice& choice) {
    return !choice.data.isEmpty() || choice.usesChats;
}

QStringList
argumentsOfComparison(const TuningChoice& choice, const QString& adapter, const QString& copy) {
    QStringList arguments{choice.changesModel() ? QStringLiteral("tune")
                                                : QStringLiteral("compare"),
                          QStringLiteral("--json")};
    addModel(arguments, choice.model);
    for (const QString& path : dataOf(choice, adapter))
        arguments << QStringLiteral("--data") << path;
    arguments << QStringLiteral("--held-out") << QStringLiteral("--total")
              << QString::number(kComparedPrompts) << QStringLiteral("--max-tokens")
              << QString::number(kComparedTokens);
    if (choice.changesModel())
        return arguments << QStringLiteral("--compare") << copy;
    arguments << QStringLiteral("--draft-adapter") << adapter;
    arguments << QStringLiteral("--decoders")
              << QStringLiteral("%1,%2=auto,%3=auto")
                     .arg(QLatin1String(kPlainVariant),
                          QLatin1String(kWithVariant),
                          QLatin1String(kWithoutVariant));
    arguments << QStringLiteral("--set")
              << QStringLiteral("%1.draft_adapter=off").arg(QLatin1String(kWithoutVariant));
    return arguments;
}

QJsonObject toJson(const TuningChoice& choice) {
    return {{QStringLiteral("model"), choice.model.path},
            {QStringLiteral("name"), choice.model.name},
            {QStringLiteral("is_planted"), choice.model.isPlanted},
            {QStringLiteral("hidden_size"), choice.model.hiddenSize},
            {QStringLiteral("weights"), choice.model.weights},
            {QStringLiteral("lora_weights"), choice.model.loraWeights},
            {QStringLiteral("is_float32"), choice.model.isFloat32},
            {QStringLiteral("draft_weights"), choice.model.draftWeights},
            {QStringLiteral("recipe"), recipeKey(choice.recipe)},
            {QStringLiteral("tokens"), choice.tokens},
            {QStringLiteral("is_full"), choice.isFull},
            {QStringLiteral("output"), choice.output},
            {QStringLiteral("data"), QJsonArray::fromStringList(choice.data)},
            {QStringLiteral("self_prompts"), choice.selfPrompts},
            {QStringLiteral("uses_chats"), choice.usesChats},
            {QStringLiteral("length"), QLatin1String(named(choice.length).name)},
            {QStringLiteral("minutes"), choice.minutes},
            {QStringLiteral("is_used"), choice.isUsed}};
}

std::optional<TuningChoice> tuningChoiceOf(const QJsonObject& object) {
    const QString length = object[QLatin1String("length")].toString();
    const auto* known = std::ranges::find_if(
        kLengths, [&](const NamedLength& one) { return length == QLatin1String(one.name); });
    TuningChoice choice;
    choice.model = {object[QLatin1String("model")].toString(),
                    object[QLatin1String("name")].toString(),
                    object[QLatin1String("is_planted")].toBool(),
                    object[QLatin1String("hidden_size")].toInt(),
                    object[QLatin1String("weights")].toInteger(),
                    object[QLatin1String("lora_weights")].toInteger(),
                    object[QLatin1String("is_float32")].toBool(),
                    object[QLatin1String("draft_weights")].toInteger()};
    choice.recipe = recipeOfKey(object[QLatin1String("recipe")].toString());
    choice.tokens = std::max<qint64>(0, object[QLatin1String("tokens")].toInteger());
    choice.isFull = object[QLatin1String("is_full")].toBool();
    choice.output = object[QLatin1String("output")].toString();
    for (const auto& path : object[QLatin1String("data")].toArray())
        choice.data << path.toString();
    choice.selfPrompts = std::max(0, object[QLatin1String("self_prompts")].toInt());
    choice.usesChats = object[QLatin1String("uses_chats")].toBool();
    choice.minutes = object[QLatin1String("minutes")].toInt(choice.minutes);
    choice.isUsed = object[QLatin1String("is_used")].toBool(true);
    const bool hasPlace = !choice.changesModel() || !choice.output.isEmpty();
    if (known == kLengths.end() || choice.model.path.isEmpty() || !choice.hasPrompts() || !hasPlace)
        return std::nullopt;
    choice.length = known->length;
    return choice;
}

} // namespace ui
