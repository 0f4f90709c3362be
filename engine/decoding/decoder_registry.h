// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/modules/run_time_module.h"
#include "engine/base/result.h"
#include "engine/decoding/decoder.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/target.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace engine {

class SkipSetMemory;

/// What a decoder is made from. `transformer` and `memory` must outlive it.
struct DecoderContext {
    Transformer& transformer;
    SamplingOptions sampling = {};
    int contextLength = 0;           ///< tokens, prompt and output together
    SettingValues settings = {};     ///< resolved
    SkipSetMemory* memory = nullptr; ///< skip sets of earlier runs; null = none are kept
    StepClock clock = {};            ///< for decisions by time; empty = the steady clock
};

using DecoderFactory = std::function<Result<std::unique_ptr<Decoder>>(const DecoderContext&)>;

/// Name to decoder. "vanilla" is built in; the others are modules (libdecoder_NAME.so) beside the
/// program, opened when they are first asked for. What a module throws, here or in any call of a
/// decoder made here, comes back as an error. Thread: any, one at a time.
class DecoderRegistry {
public:
    /// The folder need not exist.
    explicit DecoderRegistry(const std::filesystem::path& moduleFolder);

    /// Opens every module and describes all decoders, by name. A module that cannot be opened is
    /// left out and told in `refused`, if given.
    std::vector<DecoderInfo> list(std::vector<Error>* refused = nullptr);

    /// Errors: NotFound (suggests the nearest name, lists all); Unsupported (a module of another
    /// build, or one that cannot be opened: says why).
    Result<DecoderInfo> info(const std::string& name);

    /// Makes a decoder; `context.settings` are what the user gave, they are resolved here.
    /// Errors: as info(), resolveSettings() and those of the decoder.
    Result<std::unique_ptr<Decoder>> make(const std::string& name, DecoderContext context);

    /// Called by a module's registration function; one module may register several decoders. A
    /// decoder with profiles gets its setting "profile" here. A name that is taken, or defaults
    /// and profiles outside their own ranges, are a bug of the module: it is refused.
    void add(DecoderInfo info, DecoderFactory factory);

private:
    struct Entry {
        DecoderInfo info;
        DecoderFactory factory;
    };

    Result<const Entry*> find(const std::string& name);
    Result<void> openModule(const std::string& module);
    void openAll(std::vector<Error>* refused);

    ModuleFolder m_modules;
    std::map<std::string, Entry> m_entries;
    std::map<std::string, Error> m_refused; // module to reason: each is opened once
    std::vector<std::string> m_opened;
};

/// What a decoder module exports besides its build id, made by ENGINE_DECODER_MODULE.
using RegisterDecodersFunction = void (*)(DecoderRegistry&);

} // namespace engine

/// Defines the function that a decoder module must export; `registration` is a function that takes
/// the DecoderRegistry and adds one or more decoders.
#define ENGINE_DECODER_MODULE(registration)                                                        \
    extern "C" __attribute__((visibility("default"))) void swiftStudioRegisterDecoders(            \
        ::engine::DecoderRegistry& registry) {                                                     \
        registration(registry);                                                                    \
    }                                                                                              \
    static_assert(true)
