// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/workspaces/lesson_obstacles.h"

#include "ui/views/controls/decoder_switch.h"

#include <QFileInfo>
#include <QObject>
#include <QStringList>

#include <algorithm>
#include <array>
#include <charconv>

namespace ui {

using namespace engine;

namespace {

QString words(const std::string& text) { return QString::fromStdString(text); }

/// A decoder or a setting that there is not, a value that the setting cannot have.
QString decoderObstacle(const LessonAction& action, const ModelLoaded& model) {
    const auto decoder = std::ranges::find(model.decoders, action.decoder, &DecoderInfo::name);
    if (decoder == model.decoders.end()) {
        QStringList names;
        for (const DecoderInfo& each : model.decoders)
            names << words(each.name);
        return QObject::tr("it uses the decoder \"%1\", which is not installed. Installed are %2. "
                           "Change the lesson's file, or install the decoder's module.")
            .arg(words(action.decoder), names.join(QStringLiteral(", ")));
    }
    for (const auto& [name, text] : action.settings) {
        const SettingInfo* setting = decoder->find(name);
        if (setting == nullptr)
            return QObject::tr("it sets \"%1\", but %2 has no such setting. Parameters shows those "
                               "that it has. Change the lesson's file.")
                .arg(words(name), words(decoder->title));
        if (const auto value = parseSettingValue(*setting, text); !value)
            return QObject::tr("it sets \"%1\" to \"%2\". %3 Change the lesson's file.")
                .arg(words(name), words(text), words(value.error().message));
    }
    return {};
}

QString actionObstacle(const LessonAction& action, const ModelLoaded& model) {
    if (!action.decoder.empty())
        return decoderObstacle(action, model);
    if (!action.flip.empty() && namedSublayer(action.flip).layer >= model.model.layerCount)
        return QObject::tr("it flips \"%1\", but this model has only the layers 0 to %2. Open a "
                           "larger model, or change the lesson's file.")
            .arg(words(action.flip))
            .arg(model.model.layerCount - 1);
    return {};
}

bool usesDecoder(const Lesson& lesson, const std::string& decoder) {
    return std::ranges::any_of(lesson.steps, [&](const LessonStep& step) {
        return std::ranges::any_of(
            std::array{&step.prepare, &step.actions, &step.solution}, [&](const auto* actions) {
                return std::ranges::find(*actions, decoder, &LessonAction::decoder) !=
                       actions->end();
            });
    });
}

/// Whether a decoder of the lesson, or the chosen one, may skip no layer of this model.
bool locksEverything(const Lesson& lesson, const RunStore& run) {
    const int layers = run.model()->model.layerCount;
    return std::ranges::any_of(run.model()->decoders, [&](const DecoderInfo& decoder) {
        const bool isChosen = run.decoder() != nullptr && run.decoder()->name == decoder.name;
        if (!isChosen && !usesDecoder(lesson, decoder.name))
            return false;
        for (int layer = 0; layer < layers; ++layer)
            if (!decoder.isLocked(layer, layers))
                return false;
        return true;
    });
}

/// What the lesson does, as far as the model in use can tell.
QString stepsObstacle(const Lesson& lesson, const ModelLoaded& model) {
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const LessonStep& step = lesson.steps[i];
        for (const auto* actions : {&step.prepare, &step.actions, &step.solution})
            for (const LessonAction& action : *actions)
                if (const QString why = actionObstacle(action, model); !why.isEmpty())
                    return QObject::tr("in step %1 %2").arg(i + 1).arg(why);
    }
    return {};
}

} // namespace

bool hasLessonsModel(const LessonGround& ground, bool isPlanted) {
    const ModelLoaded* model = ground.run.model();
    return model != nullptr && model->model.silentCopies.empty() != isPlanted &&
           QFileInfo(words(model->path)) == QFileInfo(ground.defaultModelPath);
}

QString lessonObstacle(const Lesson& lesson, const LessonGround& ground) {
    if (ground.isReplay)
        return QObject::tr("a recording is shown, and a lesson needs a model. Open SWIFT Studio "
                           "without a recording.");
    const RunStore& run = ground.run;
    const ModelLoaded* model = run.model();
    if (lesson.needs.model != "any") {
        const bool isHere = hasLessonsModel(ground, lesson.needs.model == "planted");
        if (!isHere && !QFileInfo::exists(ground.defaultModelPath))
            return QObject::tr("it loads the default model, which is not on this computer. Fetch "
                               "it with installer/run.sh.");
        return isHere ? stepsObstacle(lesson, *model) : QString();
    }
    if (model == nullptr)
        return run.loading() != nullptr
                   ? QObject::tr("the model is being loaded. Begin the lesson again in a moment.")
                   : QObject::tr("no model is loaded. Open one first, in Model.");
    // Of a model that this program has not trained only the decoder itself knows.
    const bool isForSpace =
        model->model.tunedMasks > 0 || (run.decoder() != nullptr && run.decoder()->name == "space");
    if (lesson.needs.spaceModel && !isForSpace)
        return QObject::tr("it needs a model that was trained for SPACE. Open one that the recipe "
                           "SPACE of Tune has made, or choose the decoder SPACE in Parameters, "
                           "which says what it needs.");
    if (lesson.needs.freeSublayers && locksEverything(lesson, run))
        return QObject::tr("all layers of this model are locked, so nothing can be skipped. Open a "
                           "model with more layers.");
    return stepsObstacle(lesson, *model);
}

NamedSublayer namedSublayer(const std::string& name) {
    NamedSublayer sublayer{!name.starts_with("mlp"), 0};
    const std::size_t gap = name.find(' ');
    if (gap != name.npos)
        std::from_chars(name.data() + gap + 1, name.data() + name.size(), sublayer.layer);
    return sublayer;
}

} // namespace ui
