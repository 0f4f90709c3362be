// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/library/recent_models.h"

#include "ui/bridge/settings_text.h"
#include "ui/files/clean_path.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr const char* kArray = "recent_models";

} // namespace

RecentModels::RecentModels(QSettings& settings, QObject* parent)
    : QObject(parent)
    , m_settings(settings) {
    const int count = std::min(m_settings.beginReadArray(kArray), kMost);
    for (int i = 0; i < count; ++i) {
        m_settings.setArrayIndex(i);
        const QString path = m_settings.value("path").toString();
        const QString name = m_settings.value("name").toString();
        if (path.isEmpty())
            continue;
        RecentModel model{path, name.isEmpty() ? nameOf(path) : name};
        model.load.backend = m_settings.value("backend").toString().toStdString();
        model.load.contextLength = std::max(0, m_settings.value("context").toInt());
        model.load.settings = settingsFrom(m_settings.value("load").toString());
        m_list.push_back(std::move(model));
    }
    m_settings.endArray();
}

void RecentModels::add(const RecentModel& model) {
    const QString path = cleanPath(model.path);
    std::erase_if(m_list, [&](const RecentModel& known) { return known.path == path; });
    m_list.insert(m_list.begin(),
                  {path, model.name.isEmpty() ? nameOf(path) : model.name, model.load});
    if (m_list.size() > kMost)
        m_list.resize(kMost);
    keep();
}

void RecentModels::remove(const QString& path) {
    const QString clean = cleanPath(path);
    if (std::erase_if(m_list, [&](const RecentModel& known) { return known.path == clean; }) > 0)
        keep();
}

engine::LoadModel RecentModels::loadOf(const QString& path) const {
    const auto known = std::ranges::find(m_list, cleanPath(path), &RecentModel::path);
    engine::LoadModel load = known == m_list.end() ? engine::LoadModel() : known->load;
    load.path = path.toStdString();
    return load;
}

bool RecentModels::isGone(const RecentModel& model) { return !QFileInfo::exists(model.path); }

QString RecentModels::nameOf(const QString& path) {
    const QFileInfo info(cleanPath(path));
    return info.suffix().compare("gguf", Qt::CaseInsensitive) == 0 ? info.completeBaseName()
                                                                   : info.fileName();
}

void RecentModels::keep() {
    m_settings.beginWriteArray(kArray, static_cast<int>(m_list.size()));
    for (std::size_t i = 0; i < m_list.size(); ++i) {
        m_settings.setArrayIndex(static_cast<int>(i));
        m_settings.setValue("path", m_list[i].path);
        m_settings.setValue("name", m_list[i].name);
        const engine::LoadModel& load = m_list[i].load;
        m_settings.setValue("backend", QString::fromStdString(load.backend));
        m_settings.setValue("context", load.contextLength);
        m_settings.setValue("load", settingsText(load.settings));
    }
    m_settings.endArray();
    emit changed();
}

} // namespace ui
