// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/chosen_layout.h"

#include <QJsonDocument>
#include <QJsonObject>

namespace ui {

namespace {

/// Empty: the task is the file's name.
std::string taskFieldOf(const engine::DataLayout& layout) {
    return layout.taskSource == engine::TaskSource::Field ? layout.task : std::string();
}

} // namespace

QStringList layoutArguments(const engine::DataLayout& layout) {
    const engine::DataLayout usual;
    QStringList arguments;
    const auto add =
        [&](const char* option, const std::string& field, const std::string& usualField) {
            const QString name = QString::fromLatin1(option);
            if (field == usualField)
                return;
            if (field.empty()) // behind an equals sign it would not be seen
                arguments << name << QString();
            else // a column may be called like an option
                arguments << name + u'=' + QString::fromStdString(field);
        };
    add("--text-field", layout.prompt, usual.prompt);
    add("--task-field", taskFieldOf(layout), usual.task);
    add("--reference-field", layout.reference, usual.reference);
    add("--id-field", layout.id, usual.id);
    if (!layout.hasHeader)
        arguments << QStringLiteral("--no-header");
    return arguments;
}

QString layoutText(const engine::DataLayout& layout) {
    const auto text = [](const std::string& field) { return QString::fromStdString(field); };
    const QJsonObject object{{QStringLiteral("prompt"), text(layout.prompt)},
                             {QStringLiteral("task"), text(taskFieldOf(layout))},
                             {QStringLiteral("reference"), text(layout.reference)},
                             {QStringLiteral("id"), text(layout.id)},
                             {QStringLiteral("has_header"), layout.hasHeader}};
    return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

std::optional<engine::DataLayout> layoutFrom(const QString& text) {
    const QJsonObject object = QJsonDocument::fromJson(text.toUtf8()).object();
    const auto field = [&](const char* name) {
        return object[QLatin1String(name)].toString().toStdString();
    };
    engine::DataLayout layout;
    layout.prompt = field("prompt");
    if (layout.prompt.empty())
        return std::nullopt;
    const std::string task = field("task");
    layout.taskSource = task.empty() ? engine::TaskSource::File : engine::TaskSource::Field;
    if (!task.empty())
        layout.task = task;
    layout.reference = field("reference");
    layout.id = field("id");
    layout.hasHeader = object[QLatin1String("has_header")].toBool(true);
    return layout;
}

} // namespace ui
