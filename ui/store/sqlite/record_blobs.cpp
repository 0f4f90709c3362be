// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/sqlite/record_blobs.h"

#include <QDataStream>
#include <QIODevice>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr quint8 kTraceVersion = 1;
constexpr quint8 kChoicesVersion = 1;
constexpr quint8 kMostChoices = 32;
constexpr qsizetype kTraceBytes = 29;
constexpr qsizetype kIdBytes = 4;

void prepare(QDataStream& stream) {
    stream.setByteOrder(QDataStream::LittleEndian);
    stream.setFloatingPointPrecision(QDataStream::SinglePrecision);
}

TokenTrace readTrace(QDataStream& stream) {
    qint32 begin = 0;
    qint32 end = 0;
    quint8 origin = 0;
    qint32 rank = 0;
    qint32 step = 0;
    TokenTrace token;
    stream >> begin >> end >> origin >> rank >> token.fact.draftProbability >>
        token.fact.targetProbability >> step >> token.stepMs;
    token.begin = begin;
    token.end = end;
    // An unknown origin makes the offsets, and so the whole trace, invalid.
    if (origin > static_cast<quint8>(engine::TokenOrigin::Bonus))
        token.end = -1;
    else
        token.fact.origin = static_cast<engine::TokenOrigin>(origin);
    token.fact.rank = rank;
    token.step = step;
    return token;
}

bool isSound(const TokenTrace& token, int lowestBegin, qsizetype textLength) {
    return token.begin >= lowestBegin && token.end >= token.begin && token.end <= textLength &&
           std::isfinite(token.fact.draftProbability) &&
           std::isfinite(token.fact.targetProbability) && std::isfinite(token.stepMs);
}

void put(QJsonObject& json, const char* name, const std::optional<double>& value) {
    if (value && std::isfinite(*value))
        json.insert(QLatin1String(name), *value);
}

std::optional<double> number(const QJsonObject& json, const char* name) {
    const QJsonValue value = json.value(QLatin1String(name));
    return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
}

} // namespace

QByteArray packTokenIds(const QList<TokenTrace>& tokens) {
    QByteArray blob;
    blob.reserve(tokens.size() * kIdBytes);
    QDataStream stream(&blob, QIODevice::WriteOnly);
    prepare(stream);
    for (const TokenTrace& token : tokens)
        stream << static_cast<qint32>(token.id);
    return blob;
}

QByteArray packTrace(const QList<TokenTrace>& tokens) {
    QByteArray blob;
    blob.reserve(1 + tokens.size() * kTraceBytes);
    QDataStream stream(&blob, QIODevice::WriteOnly);
    prepare(stream);
    stream << kTraceVersion;
    for (const TokenTrace& token : tokens)
        stream << static_cast<qint32>(token.begin) << static_cast<qint32>(token.end)
               << static_cast<quint8>(token.fact.origin) << static_cast<qint32>(token.fact.rank)
               << token.fact.draftProbability << token.fact.targetProbability
               << static_cast<qint32>(token.step) << token.stepMs;
    return blob;
}

QList<TokenTrace> unpackTokenIds(const QByteArray& blob) {
    QList<TokenTrace> tokens(blob.size() / kIdBytes);
    QDataStream stream(blob);
    prepare(stream);
    for (TokenTrace& token : tokens) {
        qint32 id = 0;
        stream >> id;
        token.id = id;
    }
    return tokens;
}

bool unpackTrace(const QByteArray& blob, qsizetype textLength, QList<TokenTrace>& tokens) {
    if (blob.size() != 1 + tokens.size() * kTraceBytes)
        return false;
    QDataStream stream(blob);
    prepare(stream);
    quint8 version = 0;
    stream >> version;
    if (version != kTraceVersion)
        return false;
    QList<TokenTrace> traced = tokens;
    int lowestBegin = 0;
    for (TokenTrace& token : traced) {
        const engine::TokenId id = token.id;
        token = readTrace(stream);
        token.id = id;
        if (!isSound(token, lowestBegin, textLength))
            return false;
        lowestBegin = token.end;
    }
    tokens = traced;
    return true;
}

QByteArray packChoices(const QList<TokenTrace>& tokens) {
    const auto hasChoices = [](const TokenTrace& token) { return !token.choices.isEmpty(); };
    if (std::none_of(tokens.cbegin(), tokens.cend(), hasChoices))
        return {};
    QByteArray blob;
    QDataStream stream(&blob, QIODevice::WriteOnly);
    prepare(stream);
    stream << kChoicesVersion;
    for (const TokenTrace& token : tokens) {
        const QList<engine::TokenChoice> kept =
            token.choices.first(std::min<qsizetype>(token.choices.size(), kMostChoices));
        stream << static_cast<quint8>(kept.size());
        for (const engine::TokenChoice& choice : kept)
            stream << static_cast<qint32>(choice.id) << choice.probability
                   << QByteArray::fromStdString(choice.text);
    }
    return blob;
}

void unpackChoices(const QByteArray& blob, QList<TokenTrace>& tokens) {
    QDataStream stream(blob);
    prepare(stream);
    quint8 version = 0;
    stream >> version;
    if (blob.isEmpty() || version != kChoicesVersion)
        return;
    QList<TokenTrace> filled = tokens;
    for (TokenTrace& token : filled) {
        quint8 count = 0;
        stream >> count;
        for (int i = 0; i < count && stream.status() == QDataStream::Ok; ++i) {
            qint32 id = 0;
            double probability = 0.0;
            QByteArray text;
            stream >> id >> probability >> text;
            token.choices.append({id, text.toStdString(), probability});
        }
    }
    if (stream.status() == QDataStream::Ok && stream.atEnd())
        tokens = filled;
}

QJsonArray attachmentsToJson(const QList<Attachment>& attachments) {
    QJsonArray json;
    for (const Attachment& attachment : attachments)
        json.append(QJsonObject{{QStringLiteral("name"), attachment.name},
                                {QStringLiteral("text"), attachment.text},
                                {QStringLiteral("tokens"), attachment.tokens}});
    return json;
}

QList<Attachment> attachmentsFromJson(const QJsonArray& json) {
    QList<Attachment> attachments;
    for (const QJsonValue& value : json)
        attachments.append({value[QLatin1String("name")].toString(),
                            value[QLatin1String("text")].toString(),
                            value[QLatin1String("tokens")].toInt()});
    return attachments;
}

QJsonObject figuresToJson(const MessageFigures& figures) {
    QJsonObject json{{QStringLiteral("model"), figures.modelName},
                     {QStringLiteral("decoder"), figures.decoderName},
                     {QStringLiteral("prompt_tokens"), figures.promptTokens},
                     {QStringLiteral("output_tokens"), figures.outputTokens},
                     {QStringLiteral("steps"), figures.steps},
                     {QStringLiteral("accepted_tokens"), figures.acceptedTokens},
                     {QStringLiteral("draft_steps"), figures.draftSteps},
                     {QStringLiteral("finish_reason"), figures.finishReason}};
    if (!figures.task.isEmpty())
        json.insert(QStringLiteral("task"), figures.task);
    put(json, "task_likeness", figures.taskLikeness);
    put(json, "first_token_ms", figures.firstTokenMs);
    put(json, "decode_ms", figures.decodeMs);
    put(json, "tokens_per_second", figures.tokensPerSecond);
    put(json, "tokens_per_step", figures.tokensPerStep);
    put(json, "speedup", figures.speedup);
    put(json, "baseline_tokens_per_second", figures.baselineTokensPerSecond);
    // As text: a number of JSON holds 53 bits, a seed has 64.
    if (figures.seed)
        json.insert(QStringLiteral("seed"), QString::number(*figures.seed));
    return json;
}

MessageFigures figuresFromJson(const QJsonObject& json) {
    MessageFigures figures;
    figures.modelName = json.value(QStringLiteral("model")).toString();
    figures.decoderName = json.value(QStringLiteral("decoder")).toString();
    figures.promptTokens = json.value(QStringLiteral("prompt_tokens")).toInt();
    figures.outputTokens = json.value(QStringLiteral("output_tokens")).toInt();
    figures.steps = json.value(QStringLiteral("steps")).toInt();
    figures.acceptedTokens = json.value(QStringLiteral("accepted_tokens")).toInteger();
    figures.draftSteps = json.value(QStringLiteral("draft_steps")).toInteger();
    figures.finishReason = json.value(QStringLiteral("finish_reason")).toString();
    figures.task = json.value(QStringLiteral("task")).toString();
    figures.taskLikeness = number(json, "task_likeness");
    figures.firstTokenMs = number(json, "first_token_ms");
    figures.decodeMs = number(json, "decode_ms");
    figures.tokensPerSecond = number(json, "tokens_per_second");
    figures.tokensPerStep = number(json, "tokens_per_step");
    figures.speedup = number(json, "speedup");
    figures.baselineTokensPerSecond = number(json, "baseline_tokens_per_second");
    bool isNumber = false;
    const quint64 seed = json.value(QStringLiteral("seed")).toString().toULongLong(&isNumber);
    if (isNumber)
        figures.seed = seed;
    return figures;
}

} // namespace ui
