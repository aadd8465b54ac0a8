# SPDX-License-Identifier: BSD-3-Clause
"""docs/amrex.md, literally: its own text is put into AMReX's test programs, built and run.

AMREX_HOME names AMReX's sources; without it nothing here runs. AMReX_ROOT may name an installed
AMReX (2D, MPI, particles), which is else built for the recipe with CMake.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

from .conftest import BUILD, ROOT, environment

AMREX_HOME = os.environ.get("AMREX_HOME")
pytestmark = pytest.mark.skipif(
    not AMREX_HOME, reason="AMREX_HOME, which names AMReX's sources, is not set"
)

CORE_INPUTS = (
    "max_step=4 amr.plot_int=4 geometry.prob_lo='-1 2 0' geometry.prob_hi='0 3 1' "
    "amr.do_tracers=0 amr.max_level=1"
)
CORE_SOURCE = "Source/AmrCoreAdv.cpp"
LEVEL_INPUTS = "max_step=4 amr.check_int=-1 amr.plot_int=-1 amr.max_level=1"


def recipes(language):
    text = (ROOT / "docs" / "amrex.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def recipe(language, part):
    (found,) = [block for block in recipes(language) if part in block]
    return found


def run(folder, command, **changes):
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=3000,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Neve, installed as its readers install it."""
    folder = tmp_path_factory.mktemp("opt") / "neve"
    run(ROOT, f"cmake --install {BUILD} --prefix {folder}")
    return folder


def replace_loosely(text, old, new):
    """`old` may be broken into lines otherwise."""
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    found, count = re.subn(pattern, lambda _: new, text)
    assert count == 1, f"{old!r} stands {count} times in the program"
    return found


def apply_diff(text):
    """The three lines that change, of docs/amrex.md's diff."""
    lines = recipe("diff", "WriteMultiLevelPlotfile").splitlines()
    taken = [line[1:].strip() for line in lines if line.startswith("-")]
    given = [line[1:].strip() for line in lines if line.startswith("+")]
    assert len(taken) == len(given) == 2
    for old, new in zip(taken, given, strict=True):
        text = replace_loosely(text, old, new)
    return text


def checkpoint_too(text):
    """docs/amrex.md's two calls, behind the plotfile's; what is read back is compared."""
    write = recipe("cpp", "neve::amrex::WriteCheckpoint(")
    read = recipe("cpp", "neve::amrex::ReadCheckpoint(")
    at = text.index("#ifdef AMREX_PARTICLES", text.index("neve::amrex::WriteMultiLevelPlotfile"))
    return (
        text[:at]
        + '    {\n    const std::string name = plotfilename + "_chk";\n'
        + f'    std::ostringstream header;\n    header << "a header\\n";\n    {write}'
        + "    auto const& written = phi_new;\n"
        + "    amrex::Vector<amrex::MultiFab> phi_new(finest_level+1);\n"
        + f"    {read}"
        + "    for (int l = 0; l <= finest_level; ++l) {\n"
        + "      amrex::MultiFab other(phi_new[l].boxArray(), "
        + "phi_new[l].DistributionMap(), 1, 0);\n"
        + "      other.ParallelCopy(written[l], 0, 0, 1);\n"
        + "      amrex::MultiFab::Subtract(other, phi_new[l], 0, 0, 1, 0);\n"
        + '      if (other.norm0() != 0) amrex::Abort("the checkpoint differs");\n'
        + "    }\n    }\n"
        + text[at:]
    )


def copied(tmp_path, name):
    folder = tmp_path / name
    shutil.copytree(f"{AMREX_HOME}/Tests/Amr/{name}", folder)
    return folder


def with_gnu_make(folder, prefix):
    lines = recipe("make", "XTRALIBS").replace("/opt/neve", str(prefix))
    path = folder / "GNUmakefile"
    path.write_text(lines + path.read_text())


def gnu_make(folder, **variables):
    words = " ".join(f"{name}={value}" for name, value in variables.items())
    run(folder, f"make -j2 AMREX_HOME={AMREX_HOME} USE_CCACHE=TRUE {words}")
    (program,) = folder.glob("main*.ex")
    return program


def verified(folder, native, ours):
    """Every value within the bound that the file states of what AMReX wrote; else verify fails."""
    run(folder, f"{BUILD}/bin/neve verify {native} {ours}")


def the_input_file_decides(folder, program):
    """docs/amrex.md's options at the end of the program's input file; nothing is built anew."""
    lines = recipe("ini", "neve.bound").replace("density", "phi").splitlines()
    wanted = [line for line in lines if "pressure" not in line and "every" not in line]
    text = (folder / "inputs").read_text() + "\n" + "\n".join(wanted) + "\n"
    (folder / "inputs_neve").write_text(text)
    given = f"inputs_neve {CORE_INPUTS} amr.plot_file=asked/plt"
    out = run(folder, f"mpirun -n 2 {program} {given} neve.verbose=1")
    assert "neve: rel=0.0001, phi abs=1e-06, effort balanced, covered auto, behind encode" in out
    for step in ("00000", "00004"):
        verified(folder, f"native/plt{step}", f"asked/plt{step}.h5")
    log = [json.loads(line) for line in (folder / "plotfiles.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log] == [0, 4]
    assert all(0 <= line["worst_of_bound"] <= 1 for line in log)
    info = json.loads(run(folder, f"{BUILD}/bin/neve info --json asked/plt00004.h5"))
    assert info["levels"][0]["fields"][0]["bound"] == "abs=1e-06"
    wrong = f"mpirun -n 2 {program} inputs {CORE_INPUTS} neve.efort=max"
    done = subprocess.run(
        wrong, shell=True, cwd=folder, env=environment(), capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "neve.efort" in done.stdout + done.stderr


def test_gnu_make_plotfile_and_checkpoint(tmp_path, prefix):
    core = copied(tmp_path, "Advection_AmrCore")
    folder, source = core / "Exec", core / CORE_SOURCE
    program = gnu_make(folder)
    run(folder, f"mpirun -n 2 {program} inputs {CORE_INPUTS} amr.plot_file=native/plt")

    with_gnu_make(folder, prefix)
    source.write_text(checkpoint_too(apply_diff(source.read_text())))
    program.unlink()
    program = gnu_make(folder)
    run(folder, f"mpirun -n 2 {program} inputs {CORE_INPUTS} amr.plot_file=diags/plt")
    for step in ("00000", "00004"):
        verified(folder, f"native/plt{step}", f"diags/plt{step}.h5")
        assert (folder / f"diags/plt{step}").is_dir()
        assert (folder / f"diags/plt{step}_chk/Header").read_text() == "a header\n"
    the_input_file_decides(folder, program)


def test_cmake(tmp_path, prefix):
    core = copied(tmp_path, "Advection_AmrCore")
    root = os.environ.get("AMReX_ROOT")
    if not root:
        root = tmp_path / "amrex"
        run(
            tmp_path,
            f"cmake -S {AMREX_HOME} -B build-amrex -DCMAKE_BUILD_TYPE=Release -DAMReX_SPACEDIM=2 "
            f"-DAMReX_LINEAR_SOLVERS=OFF -DCMAKE_INSTALL_PREFIX={root} && "
            "cmake --build build-amrex -j2 --target install",
        )
    source = core / CORE_SOURCE
    shutil.copytree(core / "Source", core / "NativeSource")
    source.write_text(checkpoint_too(apply_diff(source.read_text())))
    lines = recipe("cmake", "find_package(neve").replace("amrex_3d", "amrex_2d")
    (core / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(my_code C CXX)\n"
        "find_package(AMReX REQUIRED)\n"
        "file(GLOB sources Source/*.cpp)\nfile(GLOB native_sources NativeSource/*.cpp)\n"
        "add_executable(my_code ${sources})\nadd_executable(native ${native_sources})\n"
        "foreach(code my_code native)\n"
        "  target_include_directories(${code} PRIVATE Source Source/Src_K Exec)\n"
        "  target_link_libraries(${code} PRIVATE AMReX::amrex_2d)\nendforeach()\n" + lines
    )
    run(
        core,
        f"cmake -S . -B build -DAMReX_ROOT={root} -Dneve_ROOT={prefix} && cmake --build build -j2",
    )
    run(core, f"mpirun -n 2 build/my_code Exec/inputs {CORE_INPUTS} amr.plot_file=plt")
    run(core, f"mpirun -n 2 build/native Exec/inputs {CORE_INPUTS} amr.plot_file=native")
    verified(core, "native00004", "plt00004.h5")


def test_plotfiles_of_amr(tmp_path, prefix):
    level = copied(tmp_path, "Advection_AmrLevel")
    folder, source = level / "Exec" / "SingleVortex", level / "Source" / "main.cpp"
    program = gnu_make(folder, ADR_DIR=level)
    run(folder, f"mpirun -n 2 {program} inputs {LEVEL_INPUTS} amr.plot_file=native")

    include, call = recipe("cpp", "neve::amrex::WritePlotfile(amr").strip().splitlines()
    text = source.read_text()
    text = replace_loosely(text, "#include <AMReX_Amr.H>", f"#include <AMReX_Amr.H>\n{include}")
    call, _, replaced = call.partition("// instead of ")
    source.write_text(replace_loosely(text, f"{replaced.strip()};", call.strip()))
    with_gnu_make(folder, prefix)
    program.unlink()
    program = gnu_make(folder, ADR_DIR=level)
    run(folder, f"mpirun -n 2 {program} inputs {LEVEL_INPUTS}")
    verified(folder, "native00004", "plt00004.h5")
