# SPDX-License-Identifier: BSD-3-Clause
"""docs/amrex.md and docs/amrex-codes.md, literally: their own text is put into AMReX's test
programs, into Nyx and into WarpX, built and run.

AMREX_HOME names AMReX's sources; without it nothing here runs. AMReX_ROOT may name an installed
AMReX (2D, MPI, particles), which is else built for the recipe with CMake. NYX_HOME and WARPX_HOME
name the sources of Nyx 24.02 and WarpX 24.10; each takes a quarter of an hour to build.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

from .conftest import BUILD, ROOT, environment

AMREX_HOME = os.environ.get("AMREX_HOME")
NYX_HOME = os.environ.get("NYX_HOME")
WARPX_HOME = os.environ.get("WARPX_HOME")
pytestmark = pytest.mark.skipif(
    not AMREX_HOME, reason="AMREX_HOME, which names AMReX's sources, is not set"
)

CORE_INPUTS = (
    "max_step=4 amr.plot_int=4 geometry.prob_lo='-1 2 0' geometry.prob_hi='0 3 1' "
    "amr.do_tracers=0 amr.max_level=1"
)
CORE_SOURCE = "Source/AmrCoreAdv.cpp"
LEVEL_INPUTS = (
    "max_step=8 amr.checkpoint_files_output=1 amr.check_int=4 amr.plot_int=8 amr.max_level=1"
)
NYX_INPUTS = "max_step=4 amr.check_int=2 amr.plot_int=4"
WARPX_INPUTS = (
    "max_step=4 amr.n_cell='32 32 64' amr.max_level=1 warpx.fine_tag_lo='-5e-6 -5e-6 -35e-6' "
    "warpx.fine_tag_hi='5e-6 5e-6 -25e-6' diag1.format=plotfile diag1.intervals=2"
)


def recipes(language):
    pages = [ROOT / "docs" / name for name in ("amrex.md", "amrex-codes.md")]
    text = "\n".join(page.read_text() for page in pages)
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


def apply_diff(text, part="mf, varnames"):
    """The two lines that change, of the diff with this part."""
    lines = recipe("diff", part).splitlines()
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
    others = ("neve.field.pressure", "neve.every", "neve.plotfiles")
    wanted = [line for line in lines if not line.startswith(others)]
    text = (folder / "inputs").read_text() + "\n" + "\n".join(wanted) + "\n"
    (folder / "inputs_neve").write_text(text)
    given = f"inputs_neve {CORE_INPUTS} amr.plot_file=asked/plt"
    out = run(folder, f"mpirun -n 2 {program} {given} neve.verbose=1")
    told = "rel=0.0001, phi abs=1e-06, effort balanced, covered auto, behind encode"
    assert f"neve: plotfiles: {told}" in out
    for step in ("00000", "00004"):
        verified(folder, f"native/plt{step}", f"asked/plt{step}.h5")
    log = [json.loads(line) for line in (folder / "plotfiles.jsonl").read_text().splitlines()]
    told = [(line["kind"], line["step"]) for line in log]  # the program writes both at each
    assert told == [("plotfile", 0), ("checkpoint", 0), ("plotfile", 4), ("checkpoint", 4)]
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
    for ranks in (1, 2, 4):
        out = f"diags{ranks}/plt"
        command = f"mpirun --oversubscribe -n {ranks} {program} inputs {CORE_INPUTS}"
        run(folder, f"{command} amr.plot_file={out}")
        for step in ("00000", "00004"):
            verified(folder, f"native/plt{step}", f"{out}{step}.h5")
            assert (folder / f"{out}{step}").is_dir()
            assert (folder / f"{out}{step}_chk/Header").read_text() == "a header\n"
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


def exact(folder, one, other):
    """Every value of one is the other's, bit for bit."""
    verdict = json.loads(run(folder, f"{BUILD}/bin/neve verify --json {one} {other}"))
    fields = [field for level in verdict["levels"] for field in level["fields"]]
    assert fields
    assert all(f["max_abs_error"] == 0 and f["special_mismatches"] == 0 for f in fields)


def continued(folder, program, inputs, checkpoint, last):
    """Restarts from Neve's checkpoint, to AMReX's own plotfiles, one for each count of ranks."""
    for ranks in (1, 2, 4):
        out = f"again{ranks}"
        run(
            folder,
            f"mpirun --oversubscribe -n {ranks} {program} {inputs} amr.restart={checkpoint} "
            f"amr.plot_file={out}/plt amr.check_file={out}/chk neve.plotfiles=0",
        )
        yield ranks, f"{out}/plt{last}"


def test_amr_level(tmp_path, prefix):
    level = copied(tmp_path, "Advection_AmrLevel")
    folder, source = level / "Exec" / "SingleVortex", level / "Source" / "main.cpp"
    program, given = gnu_make(folder, ADR_DIR=level), f"inputs {LEVEL_INPUTS}"
    native = "amr.plot_file=native/plt amr.check_file=native/chk"
    run(folder, f"mpirun -n 2 {program} {given} {native}")

    source.write_text(apply_diff(source.read_text(), "Amr amr(getLevelBld"))
    with_gnu_make(folder, prefix)
    program.unlink()
    program = gnu_make(folder, ADR_DIR=level)
    run(folder, f"mpirun -n 2 {program} {given}")
    verified(folder, "native/plt00008", "plt00008.h5")
    for step in ("00000", "00004", "00008"):
        ours, theirs = folder / f"chk{step}", folder / f"native/chk{step}"
        assert (ours / "Header").read_text() == (theirs / "Header").read_text()
        assert not list(ours.glob("Level_*/SD_*"))
    for _, plotfile in continued(folder, program, given, "chk00004", "00008"):
        exact(folder, "native/plt00008", plotfile)
    asked = "neve.plotfiles=0 neve.checkpoints=0 amr.plot_file=asked/plt amr.check_file=asked/chk"
    run(folder, f"mpirun -n 2 {program} {given} {asked}")
    assert (folder / "asked/chk00004/Level_0/SD_0_New_MF_H").exists()
    exact(folder, "native/plt00008", "asked/plt00008")


def test_call_of_amr(tmp_path, prefix):
    level = copied(tmp_path, "Advection_AmrLevel")
    folder, source = level / "Exec" / "SingleVortex", level / "Source" / "main.cpp"
    include, call = recipe("cpp", "neve::amrex::WritePlotfile(amr").strip().splitlines()
    text = source.read_text()
    text = replace_loosely(text, "#include <AMReX_Amr.H>", f"#include <AMReX_Amr.H>\n{include}")
    call, _, replaced = call.partition("// instead of ")
    source.write_text(replace_loosely(text, f"{replaced.strip()};", call.strip()))
    with_gnu_make(folder, prefix)
    program = gnu_make(folder, ADR_DIR=level)
    given = f"inputs {LEVEL_INPUTS} amr.check_int=-1 amr.plot_file=native/plt"
    run(folder, f"mpirun -n 2 {program} {given}")  # the first of them is AMReX's, at step 0
    run(folder, f"mpirun -n 2 {program} {given} amr.plot_int=-1")
    verified(folder, "native/plt00008", "plt00008.h5")


@pytest.mark.skipif(not NYX_HOME, reason="NYX_HOME, which names Nyx's sources, is not set")
def test_nyx(tmp_path, prefix):
    """Sums over ranks end in other bits for other counts of ranks, AMReX's restart included."""
    nyx = tmp_path / "Nyx"
    shutil.copytree(NYX_HOME, nyx, ignore=shutil.ignore_patterns(".git", "tmp_build_dir"))
    folder, source = nyx / "Exec" / "MiniSB", nyx / "Source" / "Driver" / "nyx_main.cpp"
    source.write_text(apply_diff(source.read_text(), "amrptr"))
    with_gnu_make(folder, prefix)
    run(folder, f"make -j2 AMREX_HOME={AMREX_HOME} USE_CCACHE=TRUE")
    (program,) = folder.glob("Nyx3d*.ex")
    given = f"inputs.32 {NYX_INPUTS}"
    own = "neve.plotfiles=0 neve.checkpoints=0 amr.plot_file=native/plt amr.check_file=native/chk"
    run(folder, f"mpirun -n 2 {program} {given} {own}")
    run(folder, f"mpirun -n 2 {program} {given}")
    verified(folder, "native/plt00004", "plt00004.h5")
    assert (folder / "plt00004/comoving_a").exists()
    for ranks, plotfile in continued(folder, program, given, "chk00002", "00004"):
        theirs = f"restart{ranks}/plt"
        run(
            folder,
            f"mpirun --oversubscribe -n {ranks} {program} {given} {own} "
            f"amr.restart=native/chk00002 amr.plot_file={theirs}",
        )
        exact(folder, f"{theirs}00004", plotfile)


@pytest.mark.skipif(not WARPX_HOME, reason="WARPX_HOME, which names WarpX's sources, is not set")
def test_warpx(tmp_path, prefix):
    warpx = tmp_path / "WarpX"
    shutil.copytree(WARPX_HOME, warpx, ignore=shutil.ignore_patterns(".git"))
    source = warpx / "Source" / "Diagnostics" / "FlushFormats" / "FlushFormatPlotfile.cpp"
    source.write_text(apply_diff(source.read_text(), "filename, nlev"))
    lists = warpx / "CMakeLists.txt"
    lists.write_text(lists.read_text() + recipe("cmake", "lib_3d"))
    run(
        warpx,
        f"cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DWarpX_DIMS=3 -DWarpX_OPENPMD=OFF "
        f"-DWarpX_QED=OFF -DWarpX_COMPUTE=NOACC -DWarpX_amrex_src={AMREX_HOME} "
        f"-Dneve_ROOT={prefix} && cmake --build build -j2",
    )
    given = "Examples/Physics_applications/laser_acceleration/inputs_base_3d " + WARPX_INPUTS
    for ranks in (1, 2, 4):
        command = f"mpirun --oversubscribe -n {ranks} build/bin/warpx.3d {given}"
        run(warpx, f"{command} diag1.file_prefix=native{ranks}/plt neve.plotfiles=0")
        run(warpx, f"{command} diag1.file_prefix=ours{ranks}/plt")
        verified(warpx, f"native{ranks}/plt000004", f"ours{ranks}/plt000004.h5")
        for name in ("WarpXHeader", "warpx_job_info"):
            assert (warpx / f"ours{ranks}/plt000004" / name).exists()
