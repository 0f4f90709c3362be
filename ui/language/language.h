// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QLocale>
#include <QStringList>

class QSettings;

namespace ui {

/// The languages that the window can have: "en", and each folder of texts, such as "de". An empty
/// `folder` has none.
QStringList languagesIn(const QString& folder);

/// What a language calls itself: "Deutsch".
QString languageTitle(const QString& code);

/// What the user chose: a code, or "system".
QString keptLanguage(const QSettings& settings);

/// For the next start.
void keepLanguage(QSettings& settings, const QString& choice);

/// The language of a choice: for "system", or a language that is not there, the first of the user's
/// languages (those of the system, as in QLocale::uiLanguages) that is; "en" if none is.
QString
languageOf(const QString& choice, const QStringList& languages, const QStringList& usersOwn);

/// Gives the program this language: texts, and the form of days and times. Call it before the first
/// text is made. Errors: as Catalogue::read; then all stays English.
engine::Result<void> useLanguage(const QString& code, const QString& folder);

/// The language that useLanguage() has given the program, "en" before.
QString windowLanguage();

} // namespace ui
