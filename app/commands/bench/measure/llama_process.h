// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"

#include <nlohmann/json_fwd.hpp>

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// llama.cpp's answer to a prompt.
struct LlamaAnswer {
    std::vector<engine::TokenId> tokens;
    double promptMs = 0.0; ///< all but the prompt's last token
    double decodeMs = 0.0; ///< everything after that
};

/// How to start the child process.
struct LlamaLaunch {
    std::filesystem::path python;
    std::filesystem::path script; ///< tests/benchmarks/llama_cpp_bench.py describes the protocol
    std::filesystem::path model;
    int threads = 1;
    int contextLength = 0;
    std::stop_token stop = {}; ///< polled while waiting for an answer
};

/// llama.cpp in a process of its own, driven through pipes with one line per command. The process
/// ends with this object. Thread: one.
class LlamaProcess {
public:
    /// Waits until the model is loaded. Errors: NotFound when the interpreter, the script or
    /// llama-cpp-python is missing (says what to run); Cancelled; Io when the child ends.
    static engine::Result<std::unique_ptr<LlamaProcess>> start(const LlamaLaunch& launch);

    /// Whether interpreter and script are there. Errors: NotFound (says what to run).
    static engine::Result<void> checkParts(const std::filesystem::path& python,
                                           const std::filesystem::path& script);

    ~LlamaProcess();
    LlamaProcess(const LlamaProcess&) = delete;
    LlamaProcess& operator=(const LlamaProcess&) = delete;

    const std::string& version() const { return m_version; }

    /// At most `maxTokens` tokens, always the most probable one. Errors: Cancelled; Io.
    engine::Result<LlamaAnswer> decode(std::span<const engine::TokenId> prompt,
                                       std::span<const engine::TokenId> endIds,
                                       int maxTokens);

    /// Milliseconds of reading the whole prompt. Errors: Cancelled; Io.
    engine::Result<double> prefillMs(std::span<const engine::TokenId> prompt);

private:
    LlamaProcess(pid_t process, int channel, std::stop_token stop);

    engine::Result<void> awaitReady(const LlamaLaunch& launch);
    engine::Result<nlohmann::json> ask(const std::string& command);
    engine::Result<nlohmann::json> readAnswer();
    engine::Result<std::string> readLine();

    pid_t m_process;
    int m_channel; // both ends of the connection
    std::stop_token m_stop;
    std::string m_received; // beyond the last line
    std::string m_version;
};

} // namespace app
