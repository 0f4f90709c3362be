// SPDX-License-Identifier: GPL-3.0-only
#include "ui/language/engine_words.h"

#include <QCoreApplication>

namespace ui {

using namespace engine;

namespace {

void translate(std::string& text) {
    if (!text.empty())
        text = engineText(text).toStdString();
}

} // namespace

QString engineText(const std::string& english) {
    return english.empty() ? QString() : QCoreApplication::translate("engine", english.c_str());
}

SettingInfo inWindowLanguage(SettingInfo setting) {
    for (std::string* text : {&setting.title, &setting.unit, &setting.meaning, &setting.group})
        translate(*text);
    for (std::string& title : setting.choiceTitles)
        translate(title);
    return setting;
}

DecoderInfo inWindowLanguage(DecoderInfo decoder) {
    for (std::string* text : {&decoder.title, &decoder.summary, &decoder.explanation})
        translate(*text);
    for (SettingInfo& setting : decoder.settings)
        setting = inWindowLanguage(std::move(setting));
    return decoder;
}

} // namespace ui
