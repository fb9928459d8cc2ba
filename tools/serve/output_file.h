// SPDX-License-Identifier: Apache-2.0
// A file that a run writes: made before the run, and complete or untouched at its end.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace serve {

/// The constructor makes a file beside the path, which Commit renames to it: what was there stays
/// until then. What is no regular file, as a pipe, is opened and written directly. So is the file
/// to which the standard output or error goes, after what was printed there; and by Commit a file
/// beside which there can be none, or that is mounted by itself.
class OutputFile {
 public:
    /// @param what  the noun of messages: "the report"
    /// @throws std::runtime_error  there can be no such file
    /// @throws InterruptedEarly  while a pipe had no reader
    OutputFile(std::string path, std::string what);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Writes what the path has until Commit. Does nothing where Commit writes behind what is
    /// there: to a pipe, or to the file of the standard output.
    /// @throws std::runtime_error
    void WriteUntilThen(const std::string& text) const;
    /// Writes all of the text; once.
    /// @throws std::runtime_error  it cannot be written; the path has what it had
    void Commit(const std::string& text);

 private:
    void OpenTarget();
    [[noreturn]] void Fail() const;

    std::string path_;
    std::string what_;
    std::string target_;     // path_, less its symbolic links
    std::string temporary_;  // empty: none
    bool shared_ = false;    // the descriptor is the standard output's or error's
    bool inPlace_ = false;   // the descriptor is the target's, which has what it had
    int descriptor_ = -1;
};

/// Opens the file if there is a path.
/// @throws std::runtime_error, InterruptedEarly
void OpenIfNamed(std::optional<OutputFile>& file, const std::string& path, const char* what);

/// Commits a file, if there is one. That it cannot be written is told, and keeps back no other.
/// @param option  the one that names the file
/// @return  whether it is written, or there is none
bool Written(std::optional<OutputFile>& file, const std::function<std::string()>& makeText,
             const char* option);

/// An OutputFile at once.
/// @throws std::runtime_error
void WriteFile(const std::string& path, const std::string& what, const std::string& text);

/// A file that an option names.
struct NamedFile {
    std::string option;  // "--summary"
    std::string path;    // empty: none
};

/// For a file that is written while the program prints.
/// @throws std::runtime_error  the standard output or error goes to that file
void ExpectNoStandardStream(const NamedFile& output);

/// @throws std::runtime_error  two outputs, or an output and an input, are the same file
void ExpectDistinct(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace serve
