// SPDX-License-Identifier: GPL-3.0-only
#pragma once

// What nearly every file of the window includes, compiled once (see CMakeLists.txt). A file still
// includes everything it uses. Of the project's own headers only those two stand here that nearly
// every file reads anyway: a change to any other one would recompile everything.

#include "engine/session/engine_command.h"
#include "engine/session/engine_event.h"

#include <QAbstractTableModel>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QPointer>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>
