# SPDX-License-Identifier: BSD-3-Clause
"""What programs meet that build against an installed Neve: symbols, needed libraries, C++17."""

from __future__ import annotations

import re
import subprocess

import pytest
from test_install import ROOT, library_dir, prefix, run  # noqa: F401 - prefix is a fixture

HEADERS = sorted((ROOT / "include" / "neve").glob("*.h*"))
COMPRESSORS = ("libzstd", "liblz4", "libz")
SYSTEM = ("libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64", "libdl")
PARALLEL = ("libmpi", "libhdf5", "libhdf5_openmpi", "libhdf5_mpich")


def exported(library):
    """(kind, name as C++ has it) of each symbol that a library shows."""
    lines = run("nm", "-D", "-C", "--defined-only", library).splitlines()
    return [line.split(maxsplit=2)[1:] for line in lines]


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*?)\.so", run("readelf", "-d", file))


def declared_words():
    text = "\n".join(header.read_text() for header in HEADERS)
    return set(re.findall(r"\w+", re.sub(r"//.*|/\*.*?\*/", "", text)))


def path_of(symbol):
    """The names of a symbol, outermost first: ["neve", "Frame", "parse"]."""
    name = re.sub(r"\[abi:\w+\]", "", symbol)
    name = re.sub(r"^(vtable|typeinfo|typeinfo name) for ", "", name)
    while "<" in name.replace("operator<", ""):
        name, before = re.sub(r"<[^<>]*>", "", name), name
        if name == before:
            break
    name = name.split("(")[0].split(" ")[-1]
    return [re.sub(r"^(operator).*", r"\1", part) for part in name.split("::")]


@pytest.mark.parametrize("name", ["libneve.so", "libneve_mpi.so"])
def test_a_library_shows_what_headers_declare(prefix, name):  # noqa: F811
    symbols = exported(library_dir(prefix) / name)
    assert len(symbols) > 80
    words = declared_words()
    strange = [
        symbol
        for _, symbol in symbols
        if not all(part.lstrip("~") in words for part in path_of(symbol))
        or path_of(symbol)[0].split("_")[0] != "neve"
    ]
    assert strange == []


def test_libraries_that_others_load_show_nothing_of_their_own():
    """Python's module, and the library that goes into traced programs: no C++ run-time library."""
    (module,) = (ROOT / "build" / "python" / "neve").glob("_core*.so")
    assert [name for _, name in exported(module)] == ["PyInit__core"]
    traced = [name for _, name in exported(ROOT / "build" / "lib" / "libneve_trace.so")]
    assert {"write", "MPI_File_open"} <= set(traced)
    runtime = r"(__cxa|__gxx|__dynamic|__gcclib|.*(::|typeinfo|vtable))"
    assert [name for name in traced if re.match(runtime, name)] == []


def test_symbols_of_rooms_and_of_others_are_recognized():
    words = declared_words()
    assert path_of("neve::Frame::parse(neve::Span<std::byte const>)") == ["neve", "Frame", "parse"]
    assert set(path_of("vtable for neve::PlotfileSource")) <= words
    assert "make_codebook" not in words
    assert path_of("fmt::v9::detail::throw_format_error(char const*)")[0] == "fmt"


@pytest.mark.parametrize(
    ("file", "also"),
    [
        ("libneve.so", ()),
        ("libneve_mpi.so", PARALLEL),
        ("bin/neve", PARALLEL),
    ],
)
def test_what_is_needed_at_run_time(prefix, file, also):  # noqa: F811
    path = prefix / file if "/" in file else library_dir(prefix) / file
    libraries = needed(path)
    assert libraries
    assert [name for name in libraries if name not in (*COMPRESSORS, *SYSTEM, *also)] == []


def compiled(language, standard, text, prefix, folder):  # noqa: F811
    source = folder / f"x.{language}"
    source.write_text(text)
    compiler = {"cpp": "mpicxx", "c": "mpicc"}[language]
    defines = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    command = (compiler, f"-std={standard}", *warnings, *defines, f"-I{prefix / 'include'}")
    done = subprocess.run([*command, "-fsyntax-only", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("standard", ["c++17", "c++20", "c++23"])
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_headers_compile_alone(prefix, tmp_path, header, standard):  # noqa: F811
    compiled("cpp", standard, f"#include <neve/{header.name}>\n", prefix, tmp_path)


@pytest.mark.parametrize("standard", ["c99", "c17"])
def test_headers_of_c_compile_as_c(prefix, tmp_path, standard):  # noqa: F811
    headers = [header.name for header in HEADERS if header.suffix == ".h"]
    assert len(headers) == 11
    # dladdr, which trace.h's inline functions call, is no standard C.
    text = "#define _GNU_SOURCE\n" + "".join(f"#include <neve/{name}>\n" for name in headers)
    compiled("c", standard, text + "int main(void) { return 0; }\n", prefix, tmp_path)


USE_OF_SPANS = """
#include <neve/frame.hpp>
#include <array>
#include <vector>
int main() {
  const float values[6] = {0, 1, 2, 3, 4, 5};
  const uint64_t shape[] = {2, 3};
  neve::ArrayOptions options;
  options.bound = {neve::BoundMode::lossless, 0};
  auto plain = neve::encode_array(neve::DType::f32, shape, values, options);
  auto of_array = neve::encode_array(neve::DType::f32, std::array<uint64_t, 1>{6}, values,
                                     options);
  auto of_vector = neve::encode_array(neve::DType::f32, std::vector<uint64_t>{3, 2}, values,
                                      options);
  if (!plain.ok() || !of_array.ok() || !of_vector.ok()) return 1;
  auto described = neve::describe_frame(*plain);
  return described.ok() && neve::Box{} == neve::Box{} && !(neve::Bound{} != neve::Bound{}) ? 0 : 2;
}
"""


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_a_program_of_either_standard_runs(prefix, tmp_path, standard):  # noqa: F811
    """One library serves both: what differs between the standards is in no signature."""
    source, program = tmp_path / "x.cpp", tmp_path / "x"
    source.write_text(USE_OF_SPANS)
    lib = library_dir(prefix)
    link = (f"-L{lib}", f"-Wl,-rpath,{lib}", "-lneve")
    run("c++", f"-std={standard}", source, "-o", program, f"-I{prefix / 'include'}", *link)
    run(program)
