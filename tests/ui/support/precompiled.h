// SPDX-License-Identifier: GPL-3.0-only
#pragma once

// What nearly every test of the window includes, compiled once.

#include "tests/support/patience.h"
#include "ui/precompiled.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
