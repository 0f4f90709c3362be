// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/settings/setting_text.h"

#include "ui/language/tr.h"
#include "ui/shell/figure_text.h"
#include "ui/views/search_offer/ratio_in_use.h"

#include <array>
#include <cmath>

namespace ui {

using namespace engine;

namespace {

struct Help {
    const char* setting;
    const char* text;
};

// By name: decoders that share a setting's name mean the same by it. Other settings show their own
// meaning.
constexpr std::array<Help, 13> kHelp = {{
    {"r",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "How much of the model a draft skips. Skipping more makes a draft cheaper, "
                       "but more often wrong. The first and the last layer always run. The text of "
                       "the answer stays the same.")},
    {"gamma",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "Candidate skip sets are scored on the first \u03b3 tokens of an answer: "
                       "the score is the share of these tokens that a draft with this set predicts "
                       "correctly. In the paper's Table 9, acceptance stops rising at 32. A longer "
                       "window makes each trial more expensive.")},
    {"epsilon",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "A draft ends as soon as its best guess is less probable than this. Higher "
                       "values give short drafts that are rarely wrong, lower values give long "
                       "drafts that are wrong more often. The paper gives no value; the authors' "
                       "code uses 0.8.")},
    {"beta",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "Every \u03b2-th trial is chosen by Bayesian optimisation, the others at "
                       "random. 1 = every trial.")},
    {"S",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "The search ends after this many trials at the latest. 0 keeps the start "
                       "set.")},
    {"stop_score",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "The search ends when a skip set scores better than this, or when patience "
                       "or S runs out, whichever comes first.")},
    {"patience",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "The search ends after this many trials in a row without a better set.")},
    {"max_draft",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "A draft is never longer than this, however confident it "
                       "is.")},
    {"siblings",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "How many alternatives to a drafted token are checked along with it: few "
                       "when the draft is confident, more when it is not. The paper uses 1,3,5,10; "
                       "\u201cpublished\u201d is the schedule of the authors' code.")},
    {"temperature",
     QT_TRANSLATE_NOOP(
         "ui::SettingText",
         "0 always takes the most probable token. Higher values choose more freely.")},
    {"top_p",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "Only the most probable tokens that together reach this probability can be "
                       "chosen. 1 = all.")},
    {"top_k",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "Only this many of the most probable tokens can be chosen. 0 = all.")},
    {"seed",
     QT_TRANSLATE_NOOP("ui::SettingText",
                       "The same seed, prompt and settings give the same answer again. The seed "
                       "has no effect at temperature 0.")},
}};

const Help* helpOf(const std::string& setting) {
    for (const Help& help : kHelp)
        if (setting == help.setting)
            return &help;
    return nullptr;
}

/// A paper's symbol: the setting's own name, or a Greek letter with at most an index.
bool isSymbol(const QString& word, const QString& settingName) {
    if (word == settingName)
        return word.size() == 1;
    return !word.isEmpty() && word.size() <= 2 && word.front().script() == QChar::Script_Greek;
}

/// Decoders differ in which layers their skip sets never name.
QString ratioNote(const RunStore& store) {
    const double* ratio = numberIn(store.settings(), "r");
    if (ratio == nullptr || store.model() == nullptr || store.decoder() == nullptr)
        return {};
    const int all = store.model()->model.layerCount;
    const int layers = all - static_cast<int>(store.lockedLayers(all).size());
    const bool areEndsLocked = layers < all;
    if (layers <= 0)
        return {};
    const std::string* budget = textIn(store.settings(), "budget");
    if (budget != nullptr && *budget == "bytes")
        return tr("%1 % of the bytes of %2 inner sublayers; ends stay locked")
            .arg(std::lround(*ratio * 100))
            .arg(2 * layers);
    const int skipped = static_cast<int>(std::floor(2 * layers * *ratio + 1e-9));
    return (areEndsLocked ? tr("%1 of %2 inner sublayers; ends stay locked")
                          : tr("%1 of %2 sublayers"))
        .arg(skipped)
        .arg(2 * layers);
}

/// The ratio asked for, and the one in use if it is another.
QString ratioNotes(const RunStore& store) {
    const QString inUse = otherRatioText(store);
    return inUse.isEmpty() ? ratioNote(store) : ratioNote(store) + QLatin1Char('\n') + inUse;
}

/// What 0 stands for with a model that a training has made for the decoder.
QString tunedNote(const RunStore& store, const std::string& setting) {
    const double* value = numberIn(store.settings(), setting);
    if (value == nullptr || *value != 0.0 || store.model() == nullptr || store.decoder() == nullptr)
        return {};
    const std::string& decoder = store.decoder()->name;
    const ModelFacts& model = store.model()->model;
    if (setting == "exit_layer" && decoder.starts_with("layerskip") && model.tunedExit > 0)
        return tr("%1 now: the exit that this model was trained for").arg(model.tunedExit);
    if (setting == "masks" && decoder == "space" && model.tunedMasks > 0)
        return tr("at most %1 now: as many as this model was trained with").arg(model.tunedMasks);
    return {};
}

/// Why a search has ended.
QString searchNote(const RunStore& store) {
    const int tried = store.search().trialsOfSearch();
    if (tried == 0 || store.phase() != DecoderPhase::Accelerate)
        return {};
    const QString best = decimalText(store.search().trials().back().best);
    return tr("stopped at %1 with score %2").arg(tried).arg(best);
}

} // namespace

const double* numberIn(const SettingValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : std::get_if<double>(&found->second);
}

const std::string* textIn(const SettingValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
}

SettingValue valueIn(const SettingValues& values, const SettingInfo& setting) {
    const auto found = values.find(setting.name);
    return found == values.end() ? setting.initial : found->second;
}

SettingTitle settingTitle(const SettingInfo& setting) {
    const QString title = QString::fromStdString(setting.title).simplified();
    const QString last = title.section(QLatin1Char(' '), -1);
    const QString before = title.chopped(last.size()).trimmed();
    if (!before.isEmpty() && isSymbol(last, QString::fromStdString(setting.name)))
        return {last, before};
    return {{}, title.isEmpty() ? QString::fromStdString(setting.name) : title};
}

QString effectText(SettingEffect effect) {
    switch (effect) {
    case SettingEffect::NextStep:
        return tr("live");
    case SettingEffect::NextTrial:
        return tr("next trial");
    case SettingEffect::NextAnswer:
        return tr("next answer");
    case SettingEffect::NewSearch:
        return tr("new search");
    case SettingEffect::NextLoad:
        return tr("next load");
    }
    return {};
}

QString effectSentence(SettingEffect effect) {
    switch (effect) {
    case SettingEffect::NextStep:
        return tr("A change takes effect at the next step.");
    case SettingEffect::NextTrial:
        return tr("A change takes effect at the next trial of the search.");
    case SettingEffect::NextAnswer:
        return tr("A change takes effect with the next answer.");
    case SettingEffect::NewSearch:
        return tr("A change starts a new search.");
    case SettingEffect::NextLoad:
        return tr("A change takes effect when the model is loaded again.");
    }
    return {};
}

QString settingHelp(const SettingInfo& setting) {
    const Help* help = helpOf(setting.name);
    QString text = help != nullptr ? tr(help->text) : QString::fromStdString(setting.meaning);
    if (setting.kind == SettingKind::Number || setting.kind == SettingKind::Integer) {
        const QString range = QString::fromStdString(settingRange(setting));
        const QString unit = QString::fromStdString(setting.unit);
        text += QLatin1Char(' ') + (unit.isEmpty() ? tr("Range: %1.").arg(range)
                                                   : tr("Range: %1 %2.").arg(range, unit));
    }
    return text + QLatin1Char(' ') + effectSentence(setting.effect);
}

QString needNote(const DecoderInfo& decoder, const SettingValues& values, const std::string& name) {
    const SettingInfo* setting = decoder.find(name);
    if (setting == nullptr || hasEffect(*setting, values))
        return {};
    const SettingInfo& needed = *decoder.find(setting->needs.setting);
    return tr("No effect now: needs %1 = %2.")
        .arg(settingTitle(needed).whole(), shownValue(needed, setting->needs.value));
}

QString settingNote(const RunStore& store, const std::string& setting) {
    if (store.decoder() != nullptr)
        if (QString note = needNote(*store.decoder(), store.settings(), setting); !note.isEmpty())
            return note;
    if (setting == "r")
        return ratioNotes(store);
    if (setting == "S")
        return searchNote(store);
    return tunedNote(store, setting);
}

QString shownValue(const SettingInfo& setting, const SettingValue& value) {
    const QString text = QString::fromStdString(settingText(setting, value));
    return text.isEmpty() ? tr("(empty)") : text;
}

} // namespace ui
