// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/model_grids.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

namespace neve::datafile {
namespace {

// A model is known by an attribute that holds a word (any text where it is empty), or by variables that stand
// together in a group.
struct Sign {
  const char* attribute = nullptr;
  const char* word = "";
  std::vector<const char*> variables;
};

struct ModelGrid {
  const char* name;
  std::vector<Sign> signs;             // one is enough
  std::vector<const char*> variables;  // shell patterns
};

// One table, a row for each model: it is as long as there are models.
const std::vector<ModelGrid>& model_grids() {
  static const std::vector<ModelGrid> table = {
      {"WRF",
       {{"TITLE", "WRF", {}},
        {"TITLE", "METGRID", {}},
        {"TITLE", "GEOGRID", {}},
        {nullptr, "", {"XLAT", "XLONG"}},
        {nullptr, "", {"XLAT", "XTIME"}},
        {nullptr, "", {"XLAT_M", "XLONG_M"}}},
       {"XLAT",      "XLONG",       "XLAT_[A-Z]", "XLONG_[A-Z]", "CLAT",     "CLONG",    "XTIME",
        "ITIMESTEP", "Times",       "ZNU",        "ZNW",         "ZS",       "DZS",      "DN",
        "DNW",       "RDN",         "RDNW",       "FNM",         "FNP",      "CF[123]",  "CFN",
        "CFN1",      "C[1234][HF]", "HYBRID_OPT", "RDX",         "RDY",      "RESM",     "ZETATOP",
        "P_TOP",     "P00",         "T00",        "TLP",         "TISO",     "P_STRAT",  "TLP_STRAT",
        "MAPFAC_*",  "MF_VX_INV",   "SINALPHA",   "COSALPHA",    "E",        "F",        "HGT",
        "HGT_M",     "HGT_[UV]",    "LANDMASK",   "LAKEMASK",    "XLAND",    "LU_INDEX", "IVGTYP",
        "ISLTYP",    "SCT_DOM",     "SCB_DOM",    "LANDUSEF",    "SOILCTOP", "SOILCBOT"}},
      {"NEMO",
       {{nullptr, "", {"nav_lat", "nav_lon"}},
        {nullptr, "", {"glamt", "gphit"}},
        {"title", "NEMO", {}},
        {"DOMAIN_number_total", "", {}}},
       {"nav_lat*",
        "nav_lon*",
        "nav_lev",
        "glam[tuvf]",
        "gphi[tuvf]",
        "e1[tuvf]",
        "e2[tuvf]",
        "e1e2[tuvf]",
        "e3[tuvfw]_0",
        "e3[uv]w_0",
        "e3[tuvfw]_ps",
        "e3[uv]w_ps",
        "e3[tw]_1d",
        "gdep[tuvw]",
        "gdep[tuvw]_0",
        "gdep[tw]_1d",
        "gde3w_0",
        "hdep[tuvw]",
        "h[tuvf]_0",
        "depth[tuvwf]",
        "depth[tuvwf]_bounds",
        "time_counter",
        "time_counter_*",
        "time_instant",
        "time_instant_*",
        "time_centered",
        "time_centered_*",
        "bounds_lon*",
        "bounds_lat*",
        "bounds_nav_*",
        "[tuvf]mask",
        "[tuvf]maskutil",
        "mbathy",
        "misf",
        "mikt",
        "bathy_metry",
        "bathy_meter",
        "bathy_level",
        "isfdraft",
        "isf_draft",
        "mbk[tuvf]",
        "bottom_level",
        "top_level",
        "ff",
        "ff_[tf]",
        "nav_model"}},
      {"ROMS",
       {{"type", "ROMS", {}},
        {nullptr, "", {"s_rho", "Cs_r"}},
        {nullptr, "", {"lon_rho", "lat_rho"}},
        {nullptr, "", {"x_rho", "y_rho", "pm", "pn"}}},
       {"lon_rho",    "lat_rho",    "lon_u",       "lat_u",      "lon_v",  "lat_v",     "lon_psi",
        "lat_psi",    "lon_vert",   "lat_vert",    "x_rho",      "y_rho",  "x_u",       "y_u",
        "x_v",        "y_v",        "x_psi",       "y_psi",      "x_vert", "y_vert",    "z_rho",
        "z_w",        "h",          "hraw",        "zice",       "pm",     "pn",        "dndx",
        "dmde",       "angle",      "f",           "xl",         "el",     "spherical", "s_rho",
        "s_w",        "Cs_r",       "Cs_w",        "hc",         "sc_r",   "sc_w",      "theta_[sb]",
        "Tcline",     "Vtransform", "Vstretching", "ocean_time", "mask_*", "grid",      "visc_factor",
        "diff_factor"}},
      {"CAM",
       {{nullptr, "", {"hyam", "hybm"}},
        {nullptr, "", {"hyai", "hybi"}},
        {"source", "CAM", {}},
        {"source", "CCM History", {}}},
       {"lat",     "lon",     "lat_*",        "lon_*",        "slat",   "slon",      "w_stag",      "gw",
        "area",    "lev",     "ilev",         "hyam",         "hybm",   "hyai",      "hybi",        "P0",
        "date",    "datesec", "date_written", "time_written", "time",   "time_bnds", "time_bounds", "ntrm",
        "ntrn",    "ntrk",    "ndbase",       "nsbase",       "nbdate", "nbsec",     "mdt",         "nlon",
        "wnummax", "rlon",    "ndcur",        "nscur",        "nsteph"}},
      {"POP or CICE",
       {{nullptr, "", {"TLAT", "TLONG"}},
        {nullptr, "", {"ULAT", "ULONG"}},
        {nullptr, "", {"TLAT", "TLON"}},
        {nullptr, "", {"ULAT", "ULON"}},
        {"source", "POP", {}},
        {"source", "POP2", {}},
        {"source", "CICE", {}}},
       {"TLAT",
        "TLONG",
        "TLON",
        "ULAT",
        "ULONG",
        "ULON",
        "NLAT",
        "NLON",
        "ELAT",
        "ELON",
        "KM[TU]",
        "KM[TU][ENSW]",
        "REGION_MASK",
        "TAREA",
        "UAREA",
        "tarea",
        "uarea",
        "HU[SW]",
        "HT[NE]",
        "DX[TU]",
        "DY[TU]",
        "dx[tu]",
        "dy[tu]",
        "H[TU]",
        "ANGLE",
        "ANGLET",
        "dz",
        "dzw",
        "z_t",
        "z_t_*",
        "z_w",
        "z_w_top",
        "z_w_bot",
        "time",
        "time_bound",
        "time_bounds",
        "tmask",
        "umask",
        "nmask",
        "emask",
        "blkmask",
        "lat[tune]_bounds",
        "lon[tune]_bounds",
        "VGRD[bisa]",
        "NCAT",
        "lat_aux_grid",
        "moc_z",
        "SIGMA_*_grid"}},
      {"CLM",
       {{nullptr, "", {"levgrnd", "landfrac"}},
        {nullptr, "", {"landfrac", "landmask"}},
        {"source", "Community Land Model", {}},
        {"source", "Community Terrestrial Systems Model", {}}},
       {"lat",          "lon",      "area",     "topo",     "landfrac",    "landmask",
        "pftmask",      "nbedrock", "levgrnd",  "levsoi",   "levlak",      "levdcmp",
        "ZSOI",         "DZSOI",    "ZLAKE",    "DZLAKE",   "mcdate",      "mcsec",
        "mdcur",        "mscur",    "nstep",    "time",     "time_bounds", "date_written",
        "time_written", "grid1d_*", "land1d_*", "cols1d_*", "pfts1d_*"}},
      {"ICON",
       {{nullptr, "", {"clon", "clat"}},
        {nullptr, "", {"vlon", "vlat"}},
        {nullptr, "", {"elon", "elat"}},
        {"uuidOfHGrid", "", {}},
        {"grid_file_uri", "", {}},
        {"number_of_grid_used", "", {}}},
       {"[cve]lon",
        "[cve]lat",
        "[cve]lon_*",
        "[cve]lat_*",
        "lon_*_centre",
        "lat_*_centre",
        "longitude_*",
        "latitude_*",
        "lon_edge_*",
        "lat_edge_*",
        "cell_area",
        "cell_area_p",
        "dual_area",
        "dual_area_p",
        "cell_elevation",
        "z_ifc",
        "z_mc",
        "zg",
        "zghalf",
        "topography_[cv]",
        "cell_sea_land_mask",
        "edge_sea_land_mask",
        "edge_length",
        "dual_edge_length",
        "edge_cell_distance",
        "edge_vert_distance",
        "edgequad_area",
        "quadrilateral_area",
        "zonal_normal_*",
        "meridional_normal_*",
        "cartesian_*",
        "*_cartesian_*",
        "vertex_of_cell",
        "edge_of_cell",
        "neighbor_cell_index",
        "adjacent_cell_of_edge",
        "edge_vertices",
        "cells_of_vertex",
        "edges_of_vertex",
        "vertices_of_vertex",
        "orientation_of_normal",
        "edge_orientation",
        "edge_system_orientation",
        "refin_[cev]_ctrl",
        "parent_*",
        "child_*",
        "phys_*_id",
        "index_[cev]_*",
        "start_idx_[cev]",
        "end_idx_[cev]",
        "cell_index",
        "edge_index",
        "vertex_index",
        "ifs2icon_*"}},
      {"MITgcm",
       {{nullptr, "", {"XC", "YC"}},
        {nullptr, "", {"RC", "RF"}},
        {nullptr, "", {"hFacC"}},
        {"MITgcm_version", "", {}},
        {"source", "MITgcm", {}}},
       {"XC",      "YC",         "XG",       "YG",       "XU",      "YU",      "XV",     "YV",
        "Xp1",     "Yp1",        "Zp1",      "Zu",       "Zl",      "RC",      "RF",     "RU",
        "RL",      "dr[FC]",     "dx[CGFV]", "dy[CGFU]", "rA",      "rA[wsz]", "hFac*",  "mask[CWS]",
        "maskInC", "maskIn[WS]", "Depth",    "R_low",    "Ro_surf", "fCori",   "fCoriG", "AngleCS",
        "AngleSN", "CS",         "SN",       "iter",     "k",       "k_l",     "k_u",    "k_p1"}},
      {"MOM",
       {{nullptr, "", {"geolon", "geolat"}}, {nullptr, "", {"geolon_t", "geolat_t"}}},
       {"geolon",      "geolat",      "geolon_*",   "geolat_*",   "area_[tucv]*", "areacello*",
        "deptho",      "depth_ocean", "dx[tuCB]*",  "dy[tuCB]*",  "wet",          "wet_*",
        "hfgeou",      "Coriolis",    "average_T1", "average_T2", "average_DT",   "time_bnds",
        "time_bounds", "sin_rot",     "cos_rot",    "kmt",        "kmu"}},
      {"FVCOM",
       {{"source", "FVCOM", {}}, {nullptr, "", {"lonc", "latc", "siglay"}}},
       {"x",    "y",        "xc",     "yc",     "lon",           "lat",
        "lonc", "latc",     "siglay", "siglev", "siglay_center", "siglev_center",
        "h",    "h_center", "nv",     "nbe",    "nbve",          "nbsn",
        "ntve", "ntsn",     "art1",   "art2",   "a1u",           "a2u",
        "aw0",  "awx",      "awy",    "time",   "Itime",         "Itime2",
        "Times"}},
      {"MPAS",
       {{nullptr, "", {"lonCell", "latCell"}},
        {nullptr, "", {"xCell", "yCell", "zCell"}},
        {"mesh_spec", "", {}},
        {"on_a_sphere", "", {"latCell"}}},
       {"lon[CEV]*",
        "lat[CEV]*",
        "[xyz]Cell",
        "[xyz]Edge",
        "[xyz]Vertex",
        "indexTo*ID",
        "areaCell",
        "areaTriangle",
        "kiteAreasOnVertex",
        "dcEdge",
        "dvEdge",
        "angleEdge",
        "weightsOnEdge",
        "edgesOn*",
        "cellsOn*",
        "verticesOn*",
        "nEdgesOn*",
        "fCell",
        "fEdge",
        "fVertex",
        "meshDensity",
        "maxLevelCell",
        "minLevelCell",
        "bottomDepth",
        "refBottomDepth",
        "refZMid",
        "zgrid",
        "rdzw",
        "dzu",
        "rdzu",
        "fzm",
        "fzp",
        "cf[123]",
        "xtime",
        "Time",
        "ter",
        "landmask",
        "xland"}}};
  return table;
}

// Whole words: a file of CAMS is none of CAM.
bool holds_word(const std::string& text, const std::string& word) {
  const auto is_inside = [&](size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (word.empty() || ((at == 0 || !is_inside(at - 1)) && !is_inside(at + word.size()))) return true;
  }
  return false;
}

bool shows(const GroupSigns& group, const Sign& sign) {
  if (sign.attribute != nullptr) {
    const std::string text = group.attribute(sign.attribute);
    if (text.empty() || !holds_word(text, sign.word)) return false;
  }
  return std::all_of(sign.variables.begin(), sign.variables.end(),
                     [&](const char* name) { return group.has_variable(name); });
}

}  // namespace

std::vector<std::string> models_of(const GroupSigns& group) {
  std::vector<std::string> models;
  for (const ModelGrid& model : model_grids()) {
    const bool is_it = std::any_of(model.signs.begin(), model.signs.end(),
                                   [&](const Sign& sign) { return shows(group, sign); });
    if (is_it) models.emplace_back(model.name);
  }
  return models;
}

bool is_grid_name(const std::string& model, const std::string& name) {
  for (const ModelGrid& of : model_grids()) {
    if (model != of.name) continue;
    return std::any_of(of.variables.begin(), of.variables.end(),
                       [&](const char* pattern) { return ::fnmatch(pattern, name.c_str(), 0) == 0; });
  }
  return false;
}

}  // namespace neve::datafile
