# SPDX-License-Identifier: BSD-3-Clause
"""A reader for ParaView of all that neve.open reads: plotfiles and checkpoints of AMReX, Chombo and
Neve. Load it by Tools > Manage Plugins > Load New, or LoadPlugin; docs/paraview.md says how
ParaView's Python finds the package neve.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from paraview.util.vtkAlgorithm import smdomain, smproperty, smproxy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkDataArraySelection
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkOverlappingAMR
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

import neve
from neve._vtk_amr import fill_amr

ALL_LEVELS = 0
HEADER = "Header"  # of an AMReX plotfile, which a dialogue can choose; its folder is meant


@smproxy.reader(
    name="NeveReader",
    label="Neve Reader",
    extensions=["h5", "hdf5", "vtkhdf"],
    filename_patterns=[HEADER],
    file_description="Plotfiles and checkpoints of AMReX, Chombo and Neve",
)
class NeveReader(VTKPythonAlgorithmBase):
    """Several files are the steps of a series."""

    def __init__(self) -> None:
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkOverlappingAMR")
        self._names: list[str] = []
        self._times: dict[str, float] = {}
        self._levels = ALL_LEVELS
        self._follow_external = False
        self._arrays = vtkDataArraySelection()
        self._arrays.AddObserver("ModifiedEvent", lambda *_: self.Modified())

    @smproperty.xml("""
        <StringVectorProperty name="FileNames" command="AddFileName" clean_command="ClearFileNames"
            repeat_command="1" number_of_elements="1" panel_visibility="advanced"
            animateable="0">
          <FileListDomain name="files"/>
          <Documentation>Plotfiles or checkpoints; several are a series.</Documentation>
        </StringVectorProperty>""")
    def AddFileName(self, name: str) -> None:
        if name and name != "None":
            self._names.append(name)
            self.Modified()

    def ClearFileNames(self) -> None:
        self._names, self._times = [], {}
        self.Modified()

    @smproperty.intvector(name="Levels", default_values=ALL_LEVELS)
    @smdomain.intrange(min=0, max=20)
    def SetLevels(self, count: int) -> None:
        """The number of levels to read, coarsest first; 0 reads all."""
        self._levels = count
        self.Modified()

    @smproperty.intvector(name="FollowExternal", default_values=0, panel_visibility="advanced")
    @smdomain.xml('<BooleanDomain name="bool"/>')
    def SetFollowExternal(self, value: int) -> None:
        self._follow_external = bool(value)
        self.Modified()

    @smproperty.dataarrayselection(name="Fields")
    def GetFields(self) -> vtkDataArraySelection:
        return self._arrays

    @smproperty.doublevector(
        name="TimestepValues", information_only="1", si_class="vtkSITimeStepsProperty"
    )
    def GetTimestepValues(self) -> list[float]:
        return [self._times[name] for name in self._steps()]

    def _steps(self) -> list[str]:
        """The files, earliest first."""
        return sorted(self._times, key=self._times.__getitem__)

    def _open(self, name: str) -> neve.plotfile.Plotfile:
        path = Path(name)
        if path.name == HEADER:
            path = path.parent
        return neve.open(path, follow_external=self._follow_external)

    def _guarded(self, read: Callable[[], None]) -> int:
        """ParaView shows what a filter says, and no Python exception."""
        try:
            read()
        except neve.Error as error:
            from vtkmodules.vtkCommonCore import vtkOutputWindow

            vtkOutputWindow.GetInstance().DisplayErrorText(f"Neve Reader: {error}\n")
            return 0
        return 1

    def RequestInformation(self, request: Any, inputs: Any, outputs: Any) -> int:
        return self._guarded(lambda: self._tell(outputs.GetInformationObject(0)))

    def _tell(self, out: Any) -> None:
        for name in self._names:
            if name not in self._times:
                with self._open(name) as file:
                    self._times[name] = file.time
                    for field in file.components:
                        self._arrays.AddArray(field)
        times = self.GetTimestepValues()
        out.Remove(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
        out.Remove(vtkStreamingDemandDrivenPipeline.TIME_RANGE())
        for time in times:
            out.Append(vtkStreamingDemandDrivenPipeline.TIME_STEPS(), time)
        for time in times[:1] + times[-1:]:
            out.Append(vtkStreamingDemandDrivenPipeline.TIME_RANGE(), time)

    def RequestData(self, request: Any, inputs: Any, outputs: Any) -> int:
        return self._guarded(lambda: self._read(outputs))

    def _read(self, outputs: Any) -> None:
        steps = self._steps()
        if not steps:
            raise neve.Error("no file is chosen")
        out = outputs.GetInformationObject(0)
        name = steps[0]
        asked = vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
        if out.Has(asked):
            time = out.Get(asked)
            name = max((n for n in steps if self._times[n] <= time), key=steps.index, default=name)
        with self._open(name) as file:
            wanted = [
                number
                for number, field in enumerate(file.components)
                if self._arrays.ArrayIsEnabled(field)
            ]
            count = len(file) if self._levels == ALL_LEVELS else min(self._levels, len(file))
            amr = vtkOverlappingAMR.GetData(outputs, 0)
            fill_amr(amr, file._source, wanted, count)
            amr.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), file.time)
