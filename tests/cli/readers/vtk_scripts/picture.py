# SPDX-License-Identifier: BSD-3-Clause
"""picture.py FILE FIELD LOW HIGH COORD OUT.png PIXELS [MAP]: the plane z = COORD (-: a file of two
dimensions) as ParaView draws it by Neve's reader: black at LOW to white at HIGH, or by a MAP.
"""

import sys

import plugin
from paraview import simple

path, field, low, high, coord, out, pixels = sys.argv[1:8]
reader = plugin.reader([path])
reader.UpdatePipeline()
shown = reader
if coord != "-":
    shown = simple.Slice(Input=reader)
    shown.SliceType = "Plane"
    shown.SliceType.Origin = [0.0, 0.0, float(coord)]
    shown.SliceType.Normal = [0.0, 0.0, 1.0]
    if hasattr(shown, "Triangulatetheslice"):
        shown.Triangulatetheslice = 0
view = simple.CreateView("RenderView")
view.ViewSize = [int(pixels), int(pixels)]
view.Background = [0.0, 0.0, 1.0]
for setting, value in (
    ("UseColorPaletteForBackground", 0),
    ("OrientationAxesVisibility", 0),
    ("CameraParallelProjection", 1),
):
    if hasattr(view, setting):
        setattr(view, setting, value)
if hasattr(view, "UseFXAA"):
    view.UseFXAA = 0
display = simple.Show(shown, view)
display.Representation = "Surface"
simple.ColorBy(display, ("CELLS", field))
table = simple.GetColorTransferFunction(field)
if len(sys.argv) > 8:
    table.ApplyPreset(sys.argv[8], True)
    table.MapControlPointsToLogSpace()
    table.UseLogScale = 1
    table.RescaleTransferFunction(float(low), float(high))
    display.SetScalarBarVisibility(view, True)
    bar = simple.GetScalarBar(table, view)
    bar.WindowLocation = "Any Location"
    bar.Position, bar.ScalarBarLength = [0.8, 0.2], 0.6
    bar.HorizontalTitle = 1
    bar.TitleColor = bar.LabelColor = [0.0, 0.0, 0.0]
    view.Background = [1.0, 1.0, 1.0]
else:
    table.ColorSpace = "RGB"
    table.RGBPoints = [float(low), 0.0, 0.0, 0.0, float(high), 1.0, 1.0, 1.0]
display.Ambient, display.Diffuse, display.Specular = 1.0, 0.0, 0.0
bounds = shown.GetDataInformation().GetBounds()
middle = [(bounds[2 * d] + bounds[2 * d + 1]) / 2 for d in range(3)]
half = max(bounds[1] - bounds[0], bounds[3] - bounds[2]) / 2
simple.Render(view)  # the first one places the camera
if len(sys.argv) > 8:  # room for the bar
    middle[0], half = middle[0] + 0.3 * half, 1.3 * half
view.CameraFocalPoint = middle
view.CameraPosition = [middle[0], middle[1], middle[2] + 10 * half]
view.CameraViewUp = [0.0, 1.0, 0.0]
view.CameraParallelScale = half
simple.Render(view)
simple.SaveScreenshot(out, view)
