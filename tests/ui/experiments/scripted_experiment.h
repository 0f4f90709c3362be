// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace support {

/// A stand-in for swift-run that obeys the contract of `experiment`: it appends what it was called
/// with, and each line of its input, to OUT/told. The recipe's name is what it does: "done" ends
/// well at once, "work" goes on until it is stopped or its input ends, "remark" says something and
/// does so, too, "fail" ends with an error, "crash" is killed. With --resume it does what it did in
/// OUT before, or else "work".
class ScriptedExperiment {
public:
    ScriptedExperiment() {
        QFile script(program());
        const bool isWritten =
            script.open(QIODevice::WriteOnly) && script.write(kScript) > 0 &&
            script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        Q_ASSERT(isWritten);
    }

    QString program() const { return m_folder.filePath(QStringLiteral("swift-run")); }

    QString folder() const { return m_folder.filePath(QStringLiteral("experiments")); }

    /// What the process of a run was told, line by line; the first line of each start is its
    /// arguments.
    static QStringList told(const QString& runFolder) {
        QFile file(runFolder + QStringLiteral("/told"));
        if (!file.open(QIODevice::ReadOnly))
            return {};
        return QString::fromUtf8(file.readAll()).split(u'\n', Qt::SkipEmptyParts);
    }

private:
    static constexpr const char* kScript = R"(#!/bin/sh
out="$4"
mkdir -p "$out"
does="$2"
if [ "$does" = --resume ]; then
    does=work
    [ ! -e "$out/does" ] || read -r does < "$out/does"
else
    echo "$does" > "$out/does"
fi
echo "$@" >> "$out/told"
[ -e "$out/plan.json" ] || : > "$out/plan.json"
if [ "$does" = remark ]; then
    echo "[chat template: a made-up one]" >&2
    echo "Prompt 3 (code) was left out: it is too long." >&2
    echo "Part 2 is run again: its file is damaged." >&2
    does=work
fi
case "$does" in
work)
    while read -r line; do
        echo "$line" >> "$out/told"
        [ "$line" = stop ] && exit 130
    done
    echo "end of input" >> "$out/told"
    exit 130 ;;
fail)
    echo "Something else." >&2
    echo "swift-run: There is no model." >&2
    echo "  Give --model." >&2
    exit 3 ;;
crash)
    echo "[chat template: a made-up one]" >&2
    kill -9 $$ ;;
esac
)";

    QTemporaryDir m_folder;
};

} // namespace support
