// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/workspaces/lesson_hand.h"

#include "ui/chat/session/chat_session.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <algorithm>
#include <charconv>

namespace ui {

using namespace engine;

namespace {

/// The round of the answer that kept most drafted tokens; the first one of those.
int bestRound(const Answer& answer) {
    const auto best = std::ranges::max_element(
        answer.steps, {}, [](const StepFinished& step) { return step.path.size(); });
    return static_cast<int>(best - answer.steps.begin());
}

/// Null for a decoder or a setting that there is not.
const SettingInfo*
settingOf(const RunStore& run, const std::string& decoder, const std::string& setting) {
    const auto& decoders = run.model()->decoders;
    const auto found = std::ranges::find(decoders, decoder, &DecoderInfo::name);
    return found == decoders.end() ? nullptr : found->find(setting);
}

/// Takes the layer out of the list, or puts it in.
void toggle(std::vector<int>& layers, int layer) {
    const auto place = std::ranges::lower_bound(layers, layer);
    if (place != layers.end() && *place == layer)
        layers.erase(place);
    else
        layers.insert(place, layer);
}

} // namespace

StudioHand::StudioHand(LessonParts parts)
    : m_parts(std::move(parts))
    , m_manual(m_parts.context) {}

QString StudioHand::obstacle(const Lesson& lesson) const {
    if (m_parts.context.bridge.isReplay())
        return QObject::tr("a recording is shown, and a lesson needs a model. Open SWIFT Studio "
                           "without a recording.");
    const bool loadsModel = lesson.needs.model != "any";
    const ModelLoaded* model = run().model();
    if (model == nullptr)
        return loadsModel ? QString()
                          : QObject::tr("no model is loaded. Open one first, in Model.");
    // Only the decoder itself knows whether a model was trained for it.
    if (lesson.needs.spaceModel && (run().decoder() == nullptr || run().decoder()->name != "space"))
        return QObject::tr("it needs a model that was trained for SPACE. Open one and choose the "
                           "decoder SPACE in Parameters, which says what it needs.");
    if (lesson.needs.freeSublayers && !loadsModel &&
        static_cast<int>(run().lockedLayers(model->model.layerCount).size()) ==
            model->model.layerCount)
        return QObject::tr("all layers of this model are locked, so nothing can be skipped. Open a "
                           "model with more layers.");
    return {};
}

bool StudioHand::isReady() const {
    const bool isIdle = run().model() != nullptr && run().loading() == nullptr &&
                        !run().answers().isRunning() && !m_parts.finder.isRunning() &&
                        !m_parts.sides.run().isRunning();
    if (!isIdle)
        return false;
    if (m_isDone && !m_isDone())
        return false;
    m_isDone = nullptr;
    return true;
}

void StudioHand::act(const Lesson& lesson, const LessonAction& action) {
    if (!action.model.empty()) {
        const bool isPlanted = action.model == "planted";
        const auto isLoaded = [this, isPlanted] {
            return run().model() != nullptr &&
                   run().model()->model.silentCopies.empty() != isPlanted;
        };
        if (!isLoaded())
            m_parts.loadModel(isPlanted);
        m_isDone = isLoaded;
    } else if (!action.decoder.empty()) {
        chooseDecoder(action);
    } else if (!action.ask.empty()) {
        ask(lesson, action);
    } else if (!action.stop.empty()) {
        goToStop(action);
    } else if (!action.flip.empty()) {
        flip(action.flip);
    } else if (action.skipsNothing) {
        m_manual.use({}, QObject::tr("skip nothing"));
    } else if (action.searches) {
        m_parts.finder.start(m_parts.chat.newestQuestion());
    } else if (!action.compares.empty()) {
        m_parts.sides.setQuestion(m_parts.chat.asideOf(QString::fromStdString(action.compares)),
                                  true);
    } else if (action.maskRow >= 0) {
        m_parts.slowMotion.chooseRow(action.maskRow);
    } else if (!action.lens.empty()) {
        m_parts.lens.chooseFinalCell();
    }
}

void StudioHand::chooseDecoder(const LessonAction& action) {
    ChooseDecoder choice{action.decoder, startingSettings(run(), action.decoder)};
    for (const auto& [name, text] : action.settings)
        if (const SettingInfo* setting = settingOf(run(), action.decoder, name))
            if (auto value = parseSettingValue(*setting, text))
                choice.settings[name] = std::move(value).value();
    m_parts.context.bridge.send(std::move(choice));
    m_isDone = [this, name = action.decoder] {
        return run().decoder() != nullptr && run().decoder()->name == name;
    };
}

/// In a chat of the lesson's own, so that none of the user's is touched.
void StudioHand::ask(const Lesson& lesson, const LessonAction& action) {
    if (m_lesson != lesson.name)
        m_parts.chat.newChat();
    m_lesson = lesson.name;
    AnswerSettings settings = m_parts.chat.settingsAt(SettingsPlace::Chat);
    settings.maxTokens = action.maxTokens;
    m_parts.chat.setSettingsAt(SettingsPlace::Chat, settings);
    const Answer* latest = run().answers().latest();
    m_parts.chat.send(QString::fromStdString(action.ask));
    m_isDone = [this, before = latest == nullptr ? 0 : latest->promptId] {
        const Answer* answer = run().answers().latest();
        return answer != nullptr && answer->promptId != before && !answer->isRunning();
    };
}

void StudioHand::goToStop(const LessonAction& action) {
    const Answer* answer = run().answers().latest();
    if (answer == nullptr || answer->steps.empty())
        return;
    m_parts.slowMotion.showRound(answer->promptId, action.round == "best" ? bestRound(*answer) : 0);
    const WalkScene* scene = m_parts.slowMotion.scene();
    if (scene == nullptr)
        return;
    const auto stop = std::ranges::find(scene->walk.stops, action.stop, &roundStopName);
    if (stop != scene->walk.stops.end())
        m_parts.slowMotion.goTo(static_cast<int>(stop - scene->walk.stops.begin()));
}

void StudioHand::flip(const std::string& sublayer) {
    const std::size_t gap = sublayer.find(' ');
    int layer = 0;
    std::from_chars(sublayer.data() + gap + 1, sublayer.data() + sublayer.size(), layer);
    SkipSet set;
    if (m_manual.pending())
        set = *m_manual.pending();
    else if (const BestSet* used = run().search().used())
        set = used->change.plan.skipped;
    toggle(sublayer.starts_with("mlp") ? set.mlp : set.attention, layer);
    m_manual.use(set, QObject::tr("flip a sublayer"));
}

void StudioHand::show(const std::string& view) { m_parts.showView(QString::fromStdString(view)); }

LessonFacts StudioHand::facts() const {
    LessonFacts facts = factsOfRun(run());
    for (const LessonFactSource* source : std::initializer_list<const LessonFactSource*>{
             &m_parts.slowMotion, &m_parts.lens, &m_parts.sides})
        source->tellFacts(facts);
    return facts;
}

} // namespace ui
