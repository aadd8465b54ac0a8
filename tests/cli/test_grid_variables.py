# SPDX-License-Identifier: BSD-3-Clause
"""A bound for a whole data file moves fields, never what says where and when their values are."""

import json

import numpy as np
import pytest

from .conftest import climate

RNG_SEED = 11
SIDE = 40  # squared, as f4: more than the least that is coded


class Made:
    """A file whose variables all hold noise, so that a bound would move every one of them."""

    def __init__(self, path):
        import netCDF4

        self.file = netCDF4.Dataset(path, "w")
        self.rng = np.random.default_rng(RNG_SEED)
        self.grid = {}  # path: what the reason must say
        self.fields = []
        for name in ("y", "x"):
            self.file.createDimension(name, SIDE)
        self.file.createDimension("n", 4)
        self.file.createDimension("line", SIDE * SIDE)

    def add(self, name, reason=None, dims=("y", "x"), dtype="f4", group=None, **attributes):
        variable = (group or self.file).createVariable(name, dtype, dims)
        variable[:] = self.rng.normal(size=variable.shape)
        variable.setncatts(attributes)
        path = f"{'' if group is None else group.path}/{name}"
        if reason is None:
            self.fields.append(path)
        else:
            self.grid[path] = reason
        return variable


def cf(m):
    m.add("latitude", "named by /tas:coordinates")
    m.add("longitude", "named by /tas:coordinates")
    m.add(
        "tas",
        coordinates="latitude longitude",
        ancillary_variables="tas_error",
        cell_measures="area: cells",
        grid_mapping="crs: px py",
    )
    m.add("tas_error", "ancillary variable: named by /tas:ancillary_variables")
    m.add("cells", "cell measure: named by /tas:cell_measures")
    m.add("px", "grid mapping: named by /tas:grid_mapping")
    m.add("py", "grid mapping: named by /tas:grid_mapping")
    m.add("north", "coordinate: units 'degrees_north'", units="degrees_north")
    m.add("east", "coordinate: units 'degreeE'", units="degreeE")
    m.add("stamp", "time: units 'hours since'", units="hours since 1970-01-01")
    m.add("when", "time: it has an attribute calendar", calendar="360_day")
    m.add("up", "coordinate: axis 'Z'", axis="Z", bounds="up_bnds")
    m.add("up_bnds", "cell bounds: named by /up:bounds", dims=("y", "x", "n"))
    m.add("seasons", "cell bounds: named by /month:climatology")
    m.add("month", "it has an attribute climatology", climatology="seasons")
    m.add("rotated", "standard_name 'grid_latitude'", standard_name="grid_latitude")
    m.add(
        "s",
        "standard_name 'ocean_s_coordinate_g1'",
        standard_name="ocean_s_coordinate_g1",
        formula_terms="C: stretch depth: floor",
    )
    m.add("stretch", "vertical coordinate: named by /s:formula_terms")
    m.add("floor", "vertical coordinate: named by /s:formula_terms")
    m.add("quality", "flags: it has an attribute flag_values", flag_values=np.float32([1, 2]))
    m.add("global_one", "named by /:coordinates")
    m.file.coordinates = "global_one"
    # Not CF's spelling, but people's.
    m.add("north2", "coordinate: units 'degrees north'", units="degrees north")
    m.add("north3", "coordinate: units 'Degrees_North'", units="Degrees_North")
    m.add("day", "time: units 'day as'", units="day as %Y%m%d.%f")
    m.add("hour", "time: units 'hours after'", units="hours after 2001-01-01")
    m.add("column", "vertical coordinate: it has an attribute positive", ("line",), positive="down")
    m.add("rlut", positive="up")
    m.add("from_far", units="kg from somewhere else")
    m.add("old_axis", "named by /old:_CoordinateAxes")
    m.add("old", _CoordinateAxes="old_axis")
    # What only looks like one: an axis of several letters, units of angle, names of models.
    m.add("sst", axis="TYX")
    m.add("wind_from", units="degrees", standard_name="wind_from_direction")
    for name in ("f", "h", "dz", "E", "F", "angle", "area", "Depth", "HGT", "T"):
        m.add(name)


def dimension_scales(m):
    for name in ("a", "b"):
        m.file.createDimension(name, 1000)
        m.add(name, "coordinate: of a dimension", dims=(name,), dtype="f8")
    m.add("field", dims=("a",), dtype="f8")


def groups(m):
    inner = m.file.createGroup("model").createGroup("ocean")
    other = m.file.createGroup("other")
    m.add("lat2", "named by /model/ocean/temp:coordinates")
    m.add("lon2", "named by /model/ocean/temp:coordinates", group=inner)
    m.add("temp", group=inner, coordinates="lat2 lon2 /other/level ../side deep")
    m.add("side", "named by /model/ocean/temp:coordinates", group=m.file["model"])
    m.add("level", "named by /model/ocean/temp:coordinates", group=other)
    m.add("deep", "named by /model/ocean/temp:coordinates", group=other)
    # Another of the same name, which the reference does not reach.
    m.add("lat2", group=other)


def ugrid(m):
    topology = m.file.createVariable("mesh", "i4", ())
    topology.setncatts(
        {
            "cf_role": "mesh_topology",
            "topology_dimension": np.int32(2),
            "node_coordinates": "node_x node_y",
            "face_node_connectivity": "nodes",
        }
    )
    m.add("node_x", "mesh: named by /mesh:node_coordinates")
    m.add("node_y", "mesh: named by /mesh:node_coordinates")
    m.add("nodes", "mesh: named by /mesh:face_node_connectivity")
    m.add("level", mesh="mesh", location="face")


def sgrid(m):
    topology = m.file.createVariable("grid", "i4", ())
    topology.setncatts({"cf_role": "grid_topology", "edge1_coordinates": "lon_u lat_u"})
    m.add("lon_u", "mesh: named by /grid:edge1_coordinates")
    m.add("lat_u", "mesh: named by /grid:edge1_coordinates")
    m.add("u", grid="grid")


def csm(m):
    m.add("lev", "vertical coordinate: named by", A_var="lev", B_var="hyb")
    m.grid["/lev"] = "units 'degrees_north'"
    m.file["lev"].units = "degrees_north"
    m.add("hyb", "vertical coordinate: named by /lev:B_var")
    m.add("t", associate="old_lat")
    m.add("old_lat", "named by /t:associate")


def model(name, grid, fields, **attributes):
    def make(m):
        m.file.setncatts(attributes)
        for variable in grid:
            m.add(variable, f"{name} grid variable")
        for variable in fields:
            m.add(variable)

    make.__name__ = name.replace(" ", "_")
    return make


CONVENTIONS = [
    cf,
    dimension_scales,
    groups,
    ugrid,
    sgrid,
    csm,
    model(
        "WRF",
        [
            "XLAT",
            "XLONG_U",
            "XTIME",
            "ZNU",
            "MAPFAC_UX",
            "SINALPHA",
            "E",
            "F",
            "HGT",
            "LU_INDEX",
            "LANDMASK",
        ],
        ["T", "PB", "U10", "H", "ALBEDO"],
        TITLE=" OUTPUT FROM WRF V4.1 MODEL",
    ),
    model(
        "NEMO",
        [
            "nav_lat",
            "nav_lon",
            "glamt",
            "gphiu",
            "e1t",
            "e2v",
            "e3t_0",
            "gdept_0",
            "bounds_lon",
            "bounds_lat",
            "tmask",
            "time_instant_bounds",
            "e3t_ps",
            "hdept",
            "isfdraft",
        ],
        ["tos", "e3t", "so"],
    ),
    model(
        "ROMS",
        ["lon_rho", "lat_rho", "h", "pm", "pn", "angle", "f", "Cs_r", "s_rho", "mask_rho", "hc"],
        ["zeta", "temp", "u"],
    ),
    model("CAM", ["hyam", "hybm", "gw", "P0", "datesec", "time_bnds"], ["T", "PS", "date_of_rain"]),
    model(
        "POP or CICE",
        ["TLAT", "TLONG", "ULAT", "KMT", "REGION_MASK", "dz", "TAREA", "HTN", "ANGLET"],
        ["TEMP", "SSH"],
    ),
    model(
        "CLM",
        ["levgrnd", "landfrac", "landmask", "area", "topo", "ZSOI", "pfts1d_lat"],
        ["TSOI", "H2OSOI"],
    ),
    model(
        "ICON",
        [
            *("clon", "clat", "clon_vertices", "vlon", "elat", "cell_area", "edge_of_cell"),
            *("z_ifc", "topography_c"),
        ],
        ["temp", "pres_sfc"],
    ),
    model(
        "MITgcm",
        ["XC", "YC", "RC", "rA", "rAz", "hFacC", "Depth", "drF", "dxG", "AngleCS"],
        ["THETA", "SALT", "T"],
    ),
    model("MOM", ["geolon", "geolat", "area_t", "wet", "dxCu", "deptho"], ["thetao", "uo"]),
    model(
        "MPAS",
        ["lonCell", "latCell", "areaCell", "zgrid", "dcEdge", "edgesOnCell"],
        ["theta", "rho"],
    ),
    model(
        "FVCOM",
        ["lonc", "latc", "siglay", "h", "art1"],
        ["zeta", "salinity"],
        source="FVCOM_3.0 run",
    ),
]


@pytest.fixture
def made(tmp_path):
    def make(fill):
        path = tmp_path / "made.nc"
        m = Made(path)
        fill(m)
        m.file.close()
        return path, m

    return make


def variables_of(report):
    return {v["name"]: v for v in report["variables"]}


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda c: c.__name__)
def test_a_bound_for_the_file_keeps_the_grid(neve, made, convention):
    path, m = made(convention)
    copy = path.with_name("copy.nc")
    report = neve("convert", path, copy, "--bound", "rel=1e-2", "--json").json
    variables = variables_of(report)
    assert m.grid and m.fields
    for name, reason in m.grid.items():
        assert reason in variables[name]["lossless_because"], name
        assert not variables[name]["coded"] or variables[name]["bound"] == "lossless", name
    for name in m.fields:
        assert "lossless_because" not in variables[name], name
        assert variables[name]["max_abs_error"] > 0, name
    assert report["lossless_grid_variables"] == len(m.grid)
    verdict = neve("verify", path, copy, "--json").json
    assert verdict["ok"]
    found = variables_of(verdict)
    assert all(found[name]["max_abs_error"] == 0 for name in m.grid)


def test_clocks_of_roms_are_named_by_their_fields(neve, made):
    def fill(m):
        m.add("lon_rho", "ROMS grid variable")
        m.add("lat_rho", "ROMS grid variable")
        m.add("sms_time", "time: named by /sustr:time", units="days")
        m.add("sustr", time="sms_time")

    test_a_bound_for_the_file_keeps_the_grid(neve, made, fill)


def test_variables_beside_a_dimension_of_their_name(neve, made):
    """netCDF-C gives them another name in HDF5, and theirs to the dimension."""

    def fill(m):
        m.file.createDimension("lat", 4)
        m.file.createDimension("lon", 5)
        m.add("lat", "coordinate: named by /tas:coordinates")
        m.add("lon", "coordinate: named by /tas:coordinates")
        m.add("tas", coordinates="lat lon")
        m.add("depth")
        m.grid = {path.replace("/", "/_nc4_non_coord_"): why for path, why in m.grid.items()}

    test_a_bound_for_the_file_keeps_the_grid(neve, made, fill)
    path, copy = made(fill)[0], made(fill)[0].with_name("copy.nc")

    def bounds(*options):
        report = neve("convert", path, copy, "--json", *options).json
        return {name: v.get("bound") for name, v in variables_of(report).items()}

    assert bounds("--field", "lat:abs=0.1")["/_nc4_non_coord_lat"] == "abs=0.1"
    assert bounds("--bound", "abs=0.1", "--field", "lat:lossless")["/tas"] == "abs=0.1"
    # The dimension itself is nothing that a rule could be for.
    neve("convert", path, copy, "--field", "y:lossless", expect=2)


def test_a_rule_that_names_a_variable_bounds_it(neve, made):
    path, _ = made(cf)
    copy = path.with_name("copy.nc")

    def bounds(*options):
        report = variables_of(neve("convert", path, copy, "--json", *options).json)
        return {name: v.get("bound") for name, v in report.items()}

    named = bounds("--field", "latitude:abs=0.1", "--field", "*:rel=1e-2")
    assert named["/latitude"] == "abs=0.1" and named["/tas"] == "rel=0.01"
    assert named["/longitude"] == "lossless"
    # A pattern describes variables: t* is meant for temperatures and must not move the time.
    by_pattern = bounds("--field", "*:abs=0.1", "--field", "north:abs=0.3")
    assert by_pattern["/north"] == "abs=0.3" and by_pattern["/latitude"] == "lossless"
    assert bounds("--field", "/latitude:abs=0.5")["/latitude"] == "abs=0.5"
    rules = path.with_name("rules.toml")
    rules.write_text('[[rule]]\nmatch = ["longitude", "t*"]\nbound = "abs=0.25"\n')
    of_file = bounds("--rules", rules)
    assert of_file["/longitude"] == "abs=0.25" and of_file["/tas"] == "abs=0.25"
    assert of_file["/tas_error"] == of_file["/latitude"] == "lossless"


def test_a_pattern_of_nothing_but_grid_is_refused_by_name(neve, made):
    path, _ = made(cf)
    outcome = neve("convert", path, path.with_name("no.nc"), "--field", "lat*:abs=1", expect=2)
    assert "/latitude (coordinate: named by /tas:coordinates)" in outcome.err
    assert "gives their full name" in outcome.err


def test_the_report_counts_and_explain_says_why(neve, made):
    path, m = made(cf)
    copy = path.with_name("copy.nc")
    short = neve("convert", path, copy, "--bound", "rel=1e-2").out
    assert f"{len(m.grid)} variables describe the grid and are kept lossless" in short
    assert "/latitude: lossless" not in short
    explained = neve("convert", path, copy, "--bound", "rel=1e-2", "--explain").out
    assert "/latitude: lossless, coordinate: named by /tas:coordinates" in explained
    # Without a bound there is nothing to be kept from one.
    lossless = neve("convert", path, copy, "--json")
    assert json.loads(lossless.out)["lossless_grid_variables"] == 0


REAL = {
    "wrfout_ci_test_file.nc": (
        ["XLAT", "XLONG", "XLAT_U", "XLONG_V", "MAPFAC_M", "F", "HGT"],
        ["T2", "QVAPOR"],
    ),
    "nemo_1m_20150101-20150201_grid-T.nc": (
        ["nav_lat", "nav_lon", "bounds_lon", "bounds_lat"],
        ["tos"],
    ),
    "ctorca.nc": (["nav_lat", "nav_lon"], ["sosstsst"]),
    "global_oce_latlon_d0000-0360.nc": (["hFacC"], ["T", "S", "Eta"]),
    "hybrid_height.nc": (["surface_altitude"], ["air_potential_temperature"]),
    "A1B_north_america.nc": (["time", "time_bnds"], ["air_temperature"]),
    "ostia_monthly.nc": ([], ["surface_temperature"]),
    "foam.ocean.nc": ([], ["V"]),
    "rectilinear_grid_3D.nc": ([], ["t", "rhumidity"]),
    "TREFHT.B06.67.atm.1890-1999ANN.nc": ([], ["TREFHT"]),
}
ALWAYS = {
    "time",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "time_bnds",
    "time_counter",
    "lev",
    "XTIME",
    "level_height",
    "sigma",
    "grid_latitude",
    "forecast_reference_time",
    "time_centered",
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(neve, tmp_path, name):
    source, copy = climate(name, tmp_path), tmp_path / name
    grid, fields = REAL[name]
    neve("convert", source, copy, "--bound", "rel=1e-3", "--threads", 2)
    verdict = variables_of(neve("verify", source, copy, "--json").json)
    exact = {f"/{n}" for n in (*grid, *ALWAYS)} & set(verdict)
    assert exact >= {f"/{n}" for n in grid}
    assert {n: verdict[n].get("max_abs_error", 0) for n in exact} == dict.fromkeys(exact, 0)
    assert all(verdict[f"/{n}"]["max_abs_error"] > 0 for n in fields)
