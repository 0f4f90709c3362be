// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

/// A folder that is removed with the test.
namespace test_support {

class TemporaryFolder {
public:
    std::filesystem::path path() const { return m_folder.path().toStdString(); }

    /// Writes (over) a file in the folder and returns its path.
    std::filesystem::path write(const std::string& name, std::string_view bytes) const {
        const std::filesystem::path file = path() / name;
        // A new file each time, because some file systems wait for the disk when an old one is
        // truncated.
        std::filesystem::remove(file);
        std::ofstream stream(file, std::ios::binary | std::ios::trunc);
        stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return file;
    }

private:
    QTemporaryDir m_folder;
};

} // namespace test_support
