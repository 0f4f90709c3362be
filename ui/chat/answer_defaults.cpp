// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/answer_defaults.h"

#include "engine/session/recording/event_json.h"

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSettings>
#include <QUrl>

#include <algorithm>
#include <array>

namespace ui {

using namespace engine;

namespace {

constexpr const char* kEverywhereKey = "answers/everywhere";
constexpr const char* kNewChatKey = "answers/new_chat";
constexpr const char* kNewFolderKey = "answers/new_chat_folder";
constexpr const char* kRecognisesTasksKey = "answers/recognise_tasks";
constexpr const char* kLastRunKey = "run/choices";
constexpr const char* kModelsGroup = "answers/models/";

constexpr QLatin1String kSystemPrompt("system_prompt");
constexpr QLatin1String kMaxTokens("max_tokens");
constexpr QLatin1String kStopStrings("stop_strings");

QJsonObject objectOf(const QVariant& text) {
    return QJsonDocument::fromJson(text.toString().toUtf8()).object();
}

QString textOf(const QJsonObject& json) {
    return QString::fromUtf8(QJsonDocument(json).toJson(QJsonDocument::Compact));
}

/// A path has slashes, which would split the key into groups.
QString modelKey(const QString& path) {
    return QLatin1String(kModelsGroup) + QString::fromLatin1(QUrl::toPercentEncoding(path));
}

/// The key of this model's defaults. One that was moved keeps those of its former place: where the
/// path has none, those of a model of the same name count that is gone from its own path.
QString keptKey(const QSettings& settings, const QString& path) {
    const QString own = modelKey(path);
    if (settings.contains(own))
        return own;
    const QString name = QFileInfo(path).fileName();
    for (const QString& key : settings.allKeys()) {
        if (!key.startsWith(QLatin1String(kModelsGroup)))
            continue;
        const QString encoded = key.mid(QLatin1String(kModelsGroup).size());
        const QFileInfo former(QUrl::fromPercentEncoding(encoded.toLatin1()));
        if (former.fileName() == name && !former.exists())
            return key;
    }
    return own;
}

QJsonValue valueToJson(const SettingValue& value) {
    return std::visit(
        [](const auto& held) -> QJsonValue {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
                return QString::fromStdString(held);
            else
                return held;
        },
        value);
}

SettingValue valueFromJson(const QJsonValue& json) {
    if (json.isDouble())
        return json.toDouble();
    return json.toString().toStdString();
}

/// Uses the names of the options in recordings, so that no option can be forgotten here.
QString samplingText(const SamplingOptions& sampling) {
    return QString::fromStdString(eventJson({0.0, SamplingChanged{sampling}}));
}

std::optional<SamplingOptions> samplingFrom(const QString& text) {
    const auto event = readEventJson(text.toStdString(), "the model's defaults", 0);
    if (!event || !event.value())
        return std::nullopt;
    const auto* changed = event.value()->as<SamplingChanged>();
    if (changed == nullptr || !changed->sampling.validate())
        return std::nullopt;
    return changed->sampling;
}

} // namespace

QJsonObject answerSettingsToJson(const AnswerSettings& settings) {
    QJsonObject json;
    if (settings.systemPrompt)
        json.insert(kSystemPrompt, *settings.systemPrompt);
    if (settings.maxTokens)
        json.insert(kMaxTokens, *settings.maxTokens);
    if (settings.stopStrings)
        json.insert(kStopStrings, QJsonArray::fromStringList(*settings.stopStrings));
    return json;
}

AnswerSettings answerSettingsFromJson(const QJsonObject& json) {
    AnswerSettings settings;
    if (const QJsonValue value = json.value(kSystemPrompt); value.isString())
        settings.systemPrompt = value.toString();
    if (const QJsonValue value = json.value(kMaxTokens); value.isDouble())
        settings.maxTokens = std::clamp(value.toInt(), 1, AnswerDefaults::kMostTokens);
    if (const QJsonValue value = json.value(kStopStrings); value.isArray()) {
        settings.stopStrings.emplace();
        for (const QJsonValue& text : value.toArray())
            if (!text.toString().isEmpty())
                settings.stopStrings->append(text.toString());
    }
    return settings;
}

namespace {

ModelDefaults defaultsFromText(const QVariant& text) {
    const QJsonObject json = objectOf(text);
    ModelDefaults defaults;
    defaults.answers = answerSettingsFromJson(json);
    defaults.decoder = json.value(QLatin1String("decoder")).toString().toStdString();
    const QJsonObject values = json.value(QLatin1String("decoder_settings")).toObject();
    for (auto value = values.begin(); value != values.end(); ++value)
        defaults.decoderSettings[value.key().toStdString()] = valueFromJson(value.value());
    defaults.sampling = samplingFrom(json.value(QLatin1String("sampling")).toString());
    return defaults;
}

QString textOf(const ModelDefaults& defaults) {
    QJsonObject json = answerSettingsToJson(defaults.answers);
    if (!defaults.decoder.empty()) {
        json.insert(QLatin1String("decoder"), QString::fromStdString(defaults.decoder));
        QJsonObject values;
        for (const auto& [name, value] : defaults.decoderSettings)
            values.insert(QString::fromStdString(name), valueToJson(value));
        json.insert(QLatin1String("decoder_settings"), values);
    }
    if (defaults.sampling)
        json.insert(QLatin1String("sampling"), samplingText(*defaults.sampling));
    return textOf(json);
}

} // namespace

AnswerDefaults::AnswerDefaults(QSettings& settings, QObject* parent)
    : QObject(parent)
    , m_settings(settings) {}

AnswerSettings AnswerDefaults::everywhere() const {
    return answerSettingsFromJson(objectOf(m_settings.value(QLatin1String(kEverywhereKey))));
}

void AnswerDefaults::setEverywhere(const AnswerSettings& settings) {
    m_settings.setValue(QLatin1String(kEverywhereKey), textOf(answerSettingsToJson(settings)));
    emit changed();
}

AnswerSettings AnswerDefaults::ofNewChat() const {
    return answerSettingsFromJson(objectOf(m_settings.value(QLatin1String(kNewChatKey))));
}

void AnswerDefaults::setOfNewChat(const AnswerSettings& settings) {
    if (settings.isEmpty())
        m_settings.remove(QLatin1String(kNewChatKey));
    else
        m_settings.setValue(QLatin1String(kNewChatKey), textOf(answerSettingsToJson(settings)));
}

QString AnswerDefaults::folderOfNewChat() const {
    return m_settings.value(QLatin1String(kNewFolderKey)).toString();
}

void AnswerDefaults::setFolderOfNewChat(const QString& folder) {
    if (folder.isEmpty())
        m_settings.remove(QLatin1String(kNewFolderKey));
    else
        m_settings.setValue(QLatin1String(kNewFolderKey), folder);
}

ModelDefaults AnswerDefaults::ofModel(const QString& path) const {
    return path.isEmpty() ? ModelDefaults()
                          : defaultsFromText(m_settings.value(keptKey(m_settings, path)));
}

void AnswerDefaults::setOfModel(const QString& path, const ModelDefaults& defaults) {
    if (path.isEmpty())
        return;
    m_settings.remove(keptKey(m_settings, path));
    if (!defaults.isEmpty())
        m_settings.setValue(modelKey(path), textOf(defaults));
    emit changed();
}

ModelDefaults AnswerDefaults::ofLastRun() const {
    return defaultsFromText(m_settings.value(QLatin1String(kLastRunKey)));
}

void AnswerDefaults::setOfLastRun(const ModelDefaults& choices) {
    m_settings.setValue(QLatin1String(kLastRunKey), textOf(choices));
}

bool AnswerDefaults::recognisesTasks() const {
    return m_settings.value(QLatin1String(kRecognisesTasksKey), true).toBool();
}

void AnswerDefaults::setRecognisesTasks(bool recognises) {
    m_settings.setValue(QLatin1String(kRecognisesTasksKey), recognises);
    emit changed();
}

ResolvedAnswerSettings AnswerDefaults::resolve(const AnswerSettings& chat,
                                               const QString& modelPath) const {
    const AnswerSettings model = ofModel(modelPath).answers;
    const AnswerSettings all = everywhere();
    ResolvedAnswerSettings resolved;
    resolved.systemPromptPlace = chat.systemPrompt    ? SettingsPlace::Chat
                                 : model.systemPrompt ? SettingsPlace::Model
                                                      : SettingsPlace::Everywhere;
    const std::array places = {&chat, &model, &all};
    const auto nearest = [&places](auto member, auto otherwise) {
        for (const AnswerSettings* place : places)
            if (place->*member)
                return *(place->*member);
        return otherwise;
    };
    resolved.systemPrompt = nearest(&AnswerSettings::systemPrompt, QString());
    resolved.maxTokens = nearest(&AnswerSettings::maxTokens, kMaxTokens);
    resolved.stopStrings = nearest(&AnswerSettings::stopStrings, QStringList());
    return resolved;
}

} // namespace ui
